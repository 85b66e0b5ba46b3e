"""What pages, the API and commands ask about a cluster: each answer lives in the file of its question.

access       who can do what with a resource
principal    what can a principal do
listing      which ACLs, names and principals are there
history      what came and went
status       how does the cluster stand
"""

from aclweb.inventory.access.cells import AccessRow, Cell, ResourceAccess
from aclweb.inventory.access.principal import PrincipalAccess, Reach, principal_access
from aclweb.inventory.access.resource import topic_access
from aclweb.inventory.lists.history import Edit, edits_of, history, revision_delta
from aclweb.inventory.lists.listing import (
    AclListFilters,
    AclRow,
    NameRow,
    Page,
    PrincipalRow,
    all_acls,
    list_acls,
    list_names,
    list_principals,
)
from aclweb.inventory.lists.status import Badge, ClusterStatus, status

__all__ = [
    "AccessRow",
    "AclListFilters",
    "AclRow",
    "Badge",
    "Cell",
    "ClusterStatus",
    "Edit",
    "NameRow",
    "Page",
    "PrincipalAccess",
    "PrincipalRow",
    "Reach",
    "ResourceAccess",
    "all_acls",
    "edits_of",
    "history",
    "list_acls",
    "list_names",
    "list_principals",
    "principal_access",
    "revision_delta",
    "status",
    "topic_access",
]
