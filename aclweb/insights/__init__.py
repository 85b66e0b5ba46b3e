"""What do the brokers' authorizer logs say: which ACLs were used, and what was denied?"""
