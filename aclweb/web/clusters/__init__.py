"""Which clusters are there, how is each, and what is declared of it?"""
