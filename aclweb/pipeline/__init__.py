"""What do the authorizer logs say, at scale?

`python -m aclweb.pipeline usage` reads the logs of a cluster's brokers with PySpark and
decides what they asked with the very core the site uses. Only this room and `aclweb.acl`
travel to Spark's executors: nothing here knows Django or a database.
"""
