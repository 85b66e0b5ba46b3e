"""What is there, who can do what with it, and what is wrong with it?

Lists of ACLs, topics and principals, the page of one resource or principal, search, findings, and what the logs show.
Import from here: which names of a request are unknown, and the address that removes ACLs in a what-if.
"""

from aclweb.web.browse.name_check import UnknownName, knows_principal, unknown_names
from aclweb.web.browse.resource_page import removals

__all__ = ["UnknownName", "knows_principal", "removals", "unknown_names"]
