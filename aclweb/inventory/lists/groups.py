"""How many ACLs of a list share a principal, a resource pattern or a host, and how many of them are DENY?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aclweb.acl.model import WILDCARD, AclBinding, PermissionType
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists.listing import AclListFilters, all_acls


@dataclass(frozen=True)
class AclGroup:
    """ACLs that share something. example: one of them; acls: all of them, also those of unknown permission."""

    example: AclBinding
    acls: int
    allow: int
    deny: int


# What the ACLs of a group share, and the order of groups by it, `*` last as in the list of ACLs.
_SHARED: Mapping[str, tuple[Callable[[AclBinding], Hashable], Callable[[AclBinding], Any]]] = {
    "principal": (lambda acl: acl.principal, lambda acl: acl.principal),
    "resource": (
        lambda acl: (acl.resource_type, acl.resource_name, acl.pattern_type),
        lambda acl: (
            acl.pattern.is_wildcard,
            acl.resource_name,
            acl.resource_type.code,
            acl.pattern_type.code,
        ),
    ),
    "host": (lambda acl: acl.host, lambda acl: (acl.host == WILDCARD, acl.host)),
}
GROUPED_BY = tuple(_SHARED)
GROUP_SORTS = ("allow", "deny", "acls")


def grouped_acls(view: ClusterView, filters: AclListFilters, by: str, sort: str = "") -> Sequence[AclGroup]:
    """Return the groups of all ACLs that the filters let through.

    by: one of GROUPED_BY. sort: one of GROUP_SORTS, of most first; empty for their order by what they share.
    """
    return view.loaded.remember(
        ("grouped_acls", filters, view.settings, by, sort),
        lambda: _sorted(_grouped(all_acls(view, filters), by), by, sort),
    )


def _grouped(bindings: Iterable[AclBinding], by: str) -> list[AclGroup]:
    shared, _ = _SHARED[by]
    found: dict[Hashable, list[AclBinding]] = {}
    for binding in bindings:
        found.setdefault(shared(binding), []).append(binding)
    return [
        AclGroup(
            example=group[0],
            acls=len(group),
            allow=sum(acl.permission_type is PermissionType.ALLOW for acl in group),
            deny=sum(acl.is_deny for acl in group),
        )
        for group in found.values()
    ]


def _sorted(groups: list[AclGroup], by: str, sort: str) -> tuple[AclGroup, ...]:
    _, order = _SHARED[by]
    in_order = sorted(groups, key=lambda group: order(group.example))
    return tuple(sorted(in_order, key=lambda group: -getattr(group, sort)) if sort else in_order)
