"""What does each command of `python -m aclweb.acl` do? One module for each, one function that runs it."""
