"""How does a program see it?"""
