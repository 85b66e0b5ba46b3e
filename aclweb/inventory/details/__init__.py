"""What brokers tell beside ACLs and names: read and stored by syncs, and asked for by pages, API and commands."""

from aclweb.inventory.details.storing import MEMBERS_KEPT, is_due, key_of, read
from aclweb.inventory.details.told import (
    TYPE_SENTENCES,
    WORDS,
    GroupsTold,
    OfPrincipal,
    ToldList,
    group_told,
    groups_told_of,
    principal_of_user,
    told_details,
    told_groups,
    told_lists,
    told_lists_and_groups,
    told_of_principal,
)

__all__ = [
    "MEMBERS_KEPT",
    "TYPE_SENTENCES",
    "WORDS",
    "GroupsTold",
    "OfPrincipal",
    "ToldList",
    "group_told",
    "groups_told_of",
    "is_due",
    "key_of",
    "principal_of_user",
    "read",
    "told_details",
    "told_groups",
    "told_lists",
    "told_lists_and_groups",
    "told_of_principal",
]
