"""Which ACLs, names, principals and revisions are there, and how is the cluster?"""

from aclweb.inventory.lists.cluster_status import Badge, ClusterStatus, status
from aclweb.inventory.lists.completeness import names_known
from aclweb.inventory.lists.completion import hosts_like, others_like, principals_like, resources_like
from aclweb.inventory.lists.listing import (
    AclListFilters,
    AclRow,
    ListedAcls,
    NameRow,
    PrincipalRow,
    all_acls,
    list_acls,
    list_names,
    list_principals,
)
from aclweb.inventory.lists.owners import (
    MatchedNames,
    Owned,
    OwnerBook,
    owner_of,
    owners_matched,
    owners_of,
)
from aclweb.inventory.lists.revision_days import MonthOfRevisions, month_of_revisions
from aclweb.inventory.lists.revisions import history
from aclweb.inventory.lists.rows import LazyRows

__all__ = [
    "AclListFilters",
    "AclRow",
    "Badge",
    "ClusterStatus",
    "LazyRows",
    "ListedAcls",
    "MatchedNames",
    "MonthOfRevisions",
    "NameRow",
    "Owned",
    "OwnerBook",
    "PrincipalRow",
    "all_acls",
    "history",
    "hosts_like",
    "list_acls",
    "list_names",
    "list_principals",
    "month_of_revisions",
    "names_known",
    "others_like",
    "owner_of",
    "owners_matched",
    "owners_of",
    "principals_like",
    "resources_like",
    "status",
]
