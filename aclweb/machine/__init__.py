"""How does all of it run on one machine?"""
