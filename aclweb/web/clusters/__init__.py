"""Which clusters are there, in which state is each, and what is declared about it?

The list of clusters and the page of one. No other feature imports from here.
"""
