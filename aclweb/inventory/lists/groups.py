"""How many ACLs of a list share a principal, a resource pattern, a host or a role, and how many of them are DENY?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aclweb.acl.model import WILDCARD, AclBinding, PermissionType, ResourceType
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists.client_roles import ROLES, roles_of
from aclweb.inventory.lists.listing import AclListFilters, all_acls


@dataclass(frozen=True)
class AclGroup:
    """ACLs that share something. example: one of them; acls: all of them, also those of unknown permission.

    role: of its principal, where they share a role. kinds: how many of them are about each type of resource.
    """

    example: AclBinding
    acls: int
    allow: int
    deny: int
    role: str
    kinds: tuple[tuple[ResourceType, int], ...]


# What the ACLs of a group share, and the order of groups by it, `*` last as in the list of ACLs.
_SHARED: Mapping[str, tuple[Callable[[AclBinding], Hashable], Callable[[AclBinding], Any]]] = {
    "principal": (lambda acl: acl.principal, lambda acl: acl.principal),
    "resource": (
        lambda acl: (acl.resource_type, acl.resource_name, acl.pattern_type),
        lambda acl: (
            acl.has_wildcard_pattern,
            acl.resource_name,
            acl.resource_type.code,
            acl.pattern_type.code,
        ),
    ),
    "host": (lambda acl: acl.host, lambda acl: (acl.host == WILDCARD, acl.host)),
}
ROLE = "role"
GROUPED_BY = (*_SHARED, ROLE)
GROUP_SORTS = ("allow", "deny", "acls")


def grouped_acls(view: ClusterView, filters: AclListFilters, by: str, sort: str = "") -> Sequence[AclGroup]:
    """Return the groups of all ACLs that the filters let through.

    by: one of GROUPED_BY. sort: one of GROUP_SORTS, of most first; empty for their order by what they share.
    """
    return view.loaded.remember(
        ("grouped_acls", filters, view.settings, view.known_of_all, by, sort),
        lambda: _sorted(_grouped(view, all_acls(view, filters), by), by, sort),
    )


def _grouped(view: ClusterView, bindings: Iterable[AclBinding], by: str) -> list[AclGroup]:
    roles = roles_of(view) if by == ROLE else {}

    def in_role(acl: AclBinding) -> Hashable:
        return roles[acl], acl.principal

    shared = in_role if by == ROLE else _SHARED[by][0]
    found: dict[Hashable, list[AclBinding]] = {}
    for binding in bindings:
        found.setdefault(shared(binding), []).append(binding)
    return [
        AclGroup(
            example=group[0],
            acls=len(group),
            allow=sum(acl.permission_type is PermissionType.ALLOW for acl in group),
            deny=sum(acl.is_deny for acl in group),
            role=roles.get(group[0], ""),
            kinds=tuple(Counter(acl.resource_type for acl in group).most_common()),
        )
        for group in found.values()
    ]


def _sorted(groups: list[AclGroup], by: str, sort: str) -> tuple[AclGroup, ...]:
    in_order = sorted(groups, key=lambda group: _order(group, by))
    return tuple(sorted(in_order, key=lambda group: -getattr(group, sort)) if sort else in_order)


def _order(group: AclGroup, by: str) -> Any:
    if by == ROLE:
        return _ROLE_ORDER[group.role], group.example.principal
    return _SHARED[by][1](group.example)


_ROLE_ORDER = {name: place for place, name in enumerate(ROLES)}
