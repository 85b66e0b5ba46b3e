"""How does one installation run, and is it well?"""
