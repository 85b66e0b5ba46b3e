"""A whole stack on one machine: the servers, a demo company, `./run` and its unattended check.

Nothing in `aclweb/` imports it, and no image that a company deploys holds it.
"""
