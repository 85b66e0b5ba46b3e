"""How does somebody make a cluster known, or say what it does not tell itself?"""
