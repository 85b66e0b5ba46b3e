"""`python -m aclweb.acl COMMAND`: the core as a tool, on a bare Python."""
