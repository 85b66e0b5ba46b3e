"""How many ACLs of a list share a principal, a resource pattern, a host or a role, and how many of them are DENY?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, countOf
from typing import Any

from aclweb.acl.model import WILDCARD, AclBinding, PatternType, PermissionType, ResourceType
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists.client_roles import ROLES, roles_of
from aclweb.inventory.lists.listing import AclListFilters, all_acls
from aclweb.inventory.lists.rows import LazyRows


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


_LITERAL = PatternType.LITERAL._value_
# What the ACLs of a group share, and the order of groups by it, `*` last as in the list of ACLs. Of a million ACLs each
# is asked, so without a call of Python's own: `_value_` and not `code`, which is one.
_SHARED: Mapping[str, tuple[Callable[[AclBinding], Any], Callable[[Any], Any]]] = {
    "principal": (attrgetter("principal"), lambda principal: principal),
    "resource": (
        attrgetter("resource_name", "resource_type._value_", "pattern_type._value_"),
        lambda pattern: (pattern[0] == WILDCARD and pattern[2] == _LITERAL, pattern),
    ),
    "host": (attrgetter("host"), lambda host: (host == WILDCARD, host)),
}
ROLE = "role"
GROUPED_BY = (*_SHARED, ROLE)
GROUP_SORTS = ("allow", "deny", "acls")
_Acls = list[AclBinding]


def grouped_acls(view: ClusterView, filters: AclListFilters, by: str, sort: str = "") -> Sequence[AclGroup]:
    """Return the groups of all ACLs that the filters let through.

    by: one of GROUPED_BY. sort: one of GROUP_SORTS, of most first; empty for their order by what they share.
    """
    return view.loaded.remember(
        ("grouped_acls", filters, view.settings, view.known_of_all, by, sort),
        lambda: _in_order(view, filters, by, sort),
    )


def _in_order(view: ClusterView, filters: AclListFilters, by: str, sort: str) -> Sequence[AclGroup]:
    roles = roles_of(view) if by == ROLE else {}
    groups = _grouped(all_acls(view, filters), by, roles)
    if sort:
        count = _COUNTS[sort]
        groups.sort(key=lambda group: -count(group))
    made: dict[int, AclGroup] = {}

    def shown(start: int, stop: int) -> list[AclGroup]:
        for place in range(start, stop):
            if place not in made:
                made[place] = _group(groups[place], roles)
        return [made[place] for place in range(start, stop)]

    return LazyRows(len(groups), shown)


def _grouped(bindings: Sequence[AclBinding], by: str, roles: Mapping[AclBinding, str]) -> list[_Acls]:
    """Return the ACLs of each group, the groups in the order of what they share."""

    def in_role(acl: AclBinding) -> tuple[str, str]:
        return roles[acl], acl.principal

    shared, order = (in_role, _role_order) if by == ROLE else _SHARED[by]
    found: dict[Any, _Acls] = {}
    for key, binding in zip(map(shared, bindings), bindings, strict=True):
        group = found.get(key)
        if group is None:
            found[key] = [binding]
        else:
            group.append(binding)
    return [found[key] for key in sorted(found, key=order)]


def _group(acls: _Acls, roles: Mapping[AclBinding, str]) -> AclGroup:
    return AclGroup(
        example=acls[0],
        acls=len(acls),
        allow=_number_of(PermissionType.ALLOW, acls),
        deny=_number_of(PermissionType.DENY, acls),
        role=roles.get(acls[0], ""),
        kinds=tuple(
            (ResourceType(code), number)
            for code, number in Counter(map(attrgetter("resource_type._value_"), acls)).most_common()
        ),
    )


def _number_of(permission: PermissionType, acls: _Acls) -> int:
    return countOf(map(attrgetter("permission_type._value_"), acls), permission._value_)


_COUNTS: Mapping[str, Callable[[_Acls], int]] = {
    "allow": partial(_number_of, PermissionType.ALLOW),
    "deny": partial(_number_of, PermissionType.DENY),
    "acls": len,
}


def _role_order(shared: tuple[str, str]) -> tuple[int, str]:
    role, principal = shared
    return _ROLE_ORDER[role], principal


_ROLE_ORDER = {name: place for place, name in enumerate(ROLES)}
