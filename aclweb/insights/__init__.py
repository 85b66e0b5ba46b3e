"""What was used, refused, or wasted, as the brokers' authorizer logs tell it?"""
