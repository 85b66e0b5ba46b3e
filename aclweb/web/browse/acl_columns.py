"""By which columns can the list of ACLs be sorted, and which address does so?

`?sort=principal`, or `-principal` for the last first. Those by use are of most or newest first alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.http import QueryDict

from aclweb.insights import queries
from aclweb.inventory.lists import COLUMN_SORTS, AclListFilters
from aclweb.inventory.models import Cluster
from aclweb.web.browse.acl_filters import with_fields

_WORDS = {
    "operation": "ACL",
    "principal": "Principal",
    "resource": "Resource pattern",
    "host": "Host",
    "matches": "Matches",
    "": "Load",
    "requests": "Requests in 30 days",
    "last-used": "Last used",
}
_NUMBERS = ("matches", *queries.USE_SORTS)


@dataclass(frozen=True)
class Column:
    """The head of one column.

    url: what sorts by it, turns it round, or ends it; empty where it cannot. direction: "ascending", "descending" or
    empty, as `aria-sort` has it.
    """

    word: str
    is_number: bool
    url: str
    direction: str


def in_order(
    cluster: Cluster, query: Mapping[str, str], filters: AclListFilters, faults: tuple[str, ...]
) -> tuple[AclListFilters, tuple[str, ...]]:
    """Return the filters with the order that `sort=` of the address asks for; and what is unknown."""
    sort = query.get("sort", "")
    if sort in queries.USE_SORTS:
        filters = replace(filters, first_keys=queries.keys_by_use(cluster, sort))
    elif sort.removeprefix("-") in COLUMN_SORTS:
        filters = replace(filters, sort=sort)
    elif sort:
        known = ", ".join((*COLUMN_SORTS, *queries.USE_SORTS))
        faults = (*faults, f"sort is {sort!r}; use one of {known}.")
    return filters, faults


def columns(query: QueryDict, *, is_past: bool) -> list[Column]:
    """Return the head of each column of the list, in their order."""
    sort = query.get("sort", "")
    return [
        Column(
            f"{word} {'then' if is_past else 'now'}" if name == "matches" else word,
            name in _NUMBERS,
            with_fields(query, {"sort": _following(name, sort)}) if name else "",
            _direction(name, sort),
        )
        for name, word in _WORDS.items()
    ]


def _direction(name: str, sort: str) -> str:
    if not name or sort.removeprefix("-") != name:
        return ""
    return "ascending" if sort in COLUMN_SORTS else "descending"


def _following(name: str, sort: str) -> str:
    """Return the sort that a click on a column leads to; numbers begin with the largest."""
    if name in queries.USE_SORTS:
        return "" if sort == name else name
    first, second = (f"-{name}", name) if name in _NUMBERS else (name, f"-{name}")
    return {first: second, second: ""}.get(sort, first)
