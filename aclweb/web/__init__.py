"""How does a person see it?"""
