"""What do the authorizer logs say, at scale? PySpark and the core; never Django, never the database."""
