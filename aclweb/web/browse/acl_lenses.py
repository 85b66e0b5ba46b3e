"""By what are the ACLs of the list put into groups, and which address lists the ACLs of one group?

`?by=principal`, `resource`, `host` or `role`, beside the filters of the list: all of them hold for the groups, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import QueryDict

from aclweb.acl.model import ANY_USER, NOUNS, WILDCARD
from aclweb.inventory import lists
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists import GROUP_SORTS, GROUPED_BY, AclGroup, ClientRole, begins_so, reach_of
from aclweb.web.browse.acl_filters import Choice, with_fields

FIELD = "by"
_COUNTS = {"allow": "Allow", "deny": "DENY", "acls": "ACLs"}


@dataclass(frozen=True)
class GroupRow:
    """One group; `url` lists its ACLs. role: what it is, and missing: what such a client needs beside it."""

    group: AclGroup
    url: str
    role: ClientRole | None = None
    missing: tuple[str, ...] = ()

    @property
    def kinds(self) -> str:
        """How many of its ACLs are about each type of resource: 2 for topics, 1 for groups."""
        return ", ".join(f"{number:,} for {NOUNS[kind][1]}" for kind, number in self.group.kinds)


def asked(query: QueryDict) -> tuple[str, tuple[str, ...]]:
    """Return what the address groups by, empty for the plain list; and a sentence for a word that is none."""
    by = query.get(FIELD, "")
    if by and by not in GROUPED_BY:
        return "", (f"by is {by!r}; use one of {', '.join(GROUPED_BY)}.",)
    return by, ()


def sort_asked(query: QueryDict) -> tuple[str, tuple[str, ...]]:
    """Return the sort of the groups, empty for the order of their names; and a sentence for a word that is none."""
    sort = query.get("sort", "")
    if sort and sort not in GROUP_SORTS:
        return "", (f"sort is {sort!r}; groups take one of {', '.join(GROUP_SORTS)}.",)
    return sort, ()


def tabs(query: QueryDict, by: str) -> list[Choice]:
    """Return the list and each way to group it, as links that keep the filters."""
    return [
        Choice(
            value,
            f"By {value}" if value else "ACLs",
            None,
            value == by,
            with_fields(query, {FIELD: value, "sort": ""}),
        )
        for value in ("", *GROUPED_BY)
    ]


def sorts(query: QueryDict, sort: str) -> list[Choice]:
    """Return the counts of a group, each as a link that sorts by it, or no longer where it does."""
    return [
        Choice(name, word, None, sort == name, with_fields(query, {"sort": "" if sort == name else name}))
        for name, word in _COUNTS.items()
    ]


def rows(query: QueryDict, view: ClusterView, by: str, groups: Iterable[AclGroup]) -> list[GroupRow]:
    """Return each group with the address of its ACLs."""
    left = {FIELD: "", "sort": ""}
    found = [(group, with_fields(query, {**left, **_shared(by, group)})) for group in groups]
    return [
        GroupRow(
            group, url, lists.ROLES[group.role], lists.missing(view, group.example.principal, group.role)
        )
        if group.role
        else GroupRow(group, url)
        for group, url in found
    ]


def _shared(by: str, group: AclGroup) -> dict[str, str]:
    """Return the filters that only ACLs of this group fit."""
    acl = group.example
    if by == "role":
        return {"role": group.role, **_shared("principal", group)}
    if by == "resource":
        return {
            "resource_type": acl.resource_type.name,
            "name": acl.resource_name,
            "match": "exact",
            "reach": reach_of(acl),
        }
    text, word_of_kafka = (acl.principal, ANY_USER) if by == "principal" else (acl.host, WILDCARD)
    return {by: text, "exactly": "1" if begins_so(text, word_of_kafka) else ""}
