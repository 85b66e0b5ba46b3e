"""What pages, the API and commands ask about a cluster: each answer lives in the file of its question.

access       who can do what with a resource
principal    what can a principal do
listing      which ACLs, names and principals are there
history      what came and went
status       how does the cluster stand
"""

from aclweb.inventory.access import (
    AccessRow,
    Cell,
    PrincipalAccess,
    Reach,
    ResourceAccess,
    principal_access,
    topic_access,
)
from aclweb.inventory.lists import (
    AclListFilters,
    AclRow,
    Badge,
    ClusterStatus,
    Edit,
    NameRow,
    Page,
    PrincipalRow,
    all_acls,
    edits_of,
    history,
    list_acls,
    list_names,
    list_principals,
    revision_delta,
    status,
)

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
