"""Which ACLs, names, principals and revisions are there, and how is the cluster?"""

from aclweb.inventory.lists.ages import keys_added_since, keys_of_first_reading
from aclweb.inventory.lists.client_roles import ROLES, ClientRole, missing, roles_of
from aclweb.inventory.lists.cluster_status import Badge, ClusterStatus, paused_sentence, status
from aclweb.inventory.lists.completeness import names_known, transactional_ids_known
from aclweb.inventory.lists.completion import hosts_like, others_like, principals_like, resources_like
from aclweb.inventory.lists.groups import GROUP_SORTS, GROUPED_BY, AclGroup, grouped_acls
from aclweb.inventory.lists.listing import (
    COLUMN_SORTS,
    AclListFilters,
    AclRow,
    ListedAcls,
    PrincipalRow,
    acls_in,
    all_acls,
    begins_so,
    list_acls,
    list_principals,
    reach_of,
)
from aclweb.inventory.lists.names import (
    SOURCES,
    NameRow,
    containing,
    every_name,
    is_listed,
    list_names,
    list_of,
    listed_names,
    name_rows,
    named_by_acls,
    names_from,
)
from aclweb.inventory.lists.names_of_principals import called, principals_called
from aclweb.inventory.lists.not_seen import NotSeen, not_seen
from aclweb.inventory.lists.owners import (
    MatchedNames,
    Owned,
    OwnerBook,
    owner_of,
    owners_matched,
    owners_of,
)
from aclweb.inventory.lists.resource_history import RevisionOfResource, history_of
from aclweb.inventory.lists.revision_days import MonthOfRevisions, month_of_revisions
from aclweb.inventory.lists.revisions import counted, history, past_columns
from aclweb.inventory.lists.rows import LazyRows
from aclweb.inventory.lists.short_keys import acls_of_short_keys, may_be_short, short_key, with_key_like
from aclweb.inventory.lists.sync_runs import SyncRuns, sync_runs
from aclweb.inventory.lists.watches import how_soon, watched_clusters

__all__ = [
    "COLUMN_SORTS",
    "GROUPED_BY",
    "GROUP_SORTS",
    "ROLES",
    "SOURCES",
    "AclGroup",
    "AclListFilters",
    "AclRow",
    "Badge",
    "ClientRole",
    "ClusterStatus",
    "LazyRows",
    "ListedAcls",
    "MatchedNames",
    "MonthOfRevisions",
    "NameRow",
    "NotSeen",
    "Owned",
    "OwnerBook",
    "PrincipalRow",
    "RevisionOfResource",
    "SyncRuns",
    "acls_in",
    "acls_of_short_keys",
    "all_acls",
    "begins_so",
    "called",
    "containing",
    "counted",
    "every_name",
    "grouped_acls",
    "history",
    "history_of",
    "hosts_like",
    "how_soon",
    "is_listed",
    "keys_added_since",
    "keys_of_first_reading",
    "list_acls",
    "list_names",
    "list_of",
    "list_principals",
    "listed_names",
    "may_be_short",
    "missing",
    "month_of_revisions",
    "name_rows",
    "named_by_acls",
    "names_from",
    "names_known",
    "not_seen",
    "others_like",
    "owner_of",
    "owners_matched",
    "owners_of",
    "past_columns",
    "paused_sentence",
    "principals_called",
    "principals_like",
    "reach_of",
    "resources_like",
    "roles_of",
    "short_key",
    "status",
    "sync_runs",
    "transactional_ids_known",
    "watched_clusters",
    "with_key_like",
]
