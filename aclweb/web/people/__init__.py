"""Who signs in, with which role on which cluster, and which programs act for them?

The list of accounts and the page of one, the roles on a cluster, and API tokens. No other feature imports from here.
"""
