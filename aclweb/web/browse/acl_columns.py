"""Which columns has the list of ACLs, by which can it be sorted, and which address does so?

`?columns=principal,host` chooses them, `all` each of them; the ACL's own is always there. `?sort=principal`, or
`-principal` for the last first; those by use are of most or newest first alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from django.http import QueryDict

from aclweb.insights import queries
from aclweb.insights.models import Load
from aclweb.inventory.lists import COLUMN_SORTS, AclListFilters
from aclweb.web.browse.acl_filters import Choice, with_fields

_WORDS = {
    "operation": "ACL",
    "principal": "Principal",
    "resource": "Resource pattern",
    "host": "Host",
    "matches": "Matches",
    "load": "Load",
    "requests": "Requests in 30 days",
    "last-used": "Last used",
}
# What every row says, and the columns of a list for which nobody has chosen any.
_ALWAYS = "operation"
_AT_FIRST = ("principal", "resource", "host", "matches", "load", "last-used")
FIELD, CHOSEN = "columns", "column"
# In the place of the names of all columns.
_ALL = "all"
_NUMBERS = ("matches", *queries.USE_SORTS)
_SORTED = (*COLUMN_SORTS, *queries.USE_SORTS)


@dataclass(frozen=True)
class Column:
    """The head of one column, and the name by which a row knows its cell.

    url: what sorts by it, turns it round, or ends it; empty where it cannot. direction: "ascending", "descending" or
    empty, as `aria-sort` has it.
    """

    word: str
    is_number: bool
    url: str
    direction: str
    name: str = ""


def in_order(
    load: Load | None, query: Mapping[str, str], filters: AclListFilters, faults: tuple[str, ...]
) -> tuple[AclListFilters, tuple[str, ...]]:
    """Return the filters with the order that `sort=` of the address asks for; and what is unknown. load: of the log."""
    sort = query.get("sort", "")
    if sort in queries.USE_SORTS:
        filters = replace(filters, first_keys=queries.keys_by_use(load, sort))
    elif sort.removeprefix("-") in COLUMN_SORTS:
        filters = replace(filters, sort=sort)
    elif sort:
        known = ", ".join((*COLUMN_SORTS, *queries.USE_SORTS))
        faults = (*faults, f"sort is {sort!r}; use one of {known}.")
    return filters, faults


def asked(query: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the columns that the address asks for, in the list's order; and what is unknown.

    Those of the beginning where it asks for none that there is. The column that the list is sorted by is one of them.
    """
    text = query.get(FIELD, "")
    wanted = set(_WORDS if text == _ALL else text.split(",") if text else _AT_FIRST)
    faults = tuple(
        f"columns holds {name!r}; use some of {', '.join(name for name in _WORDS if name != _ALWAYS)}."
        for name in sorted(wanted - set(_WORDS))[:1]
    )
    if wanted.isdisjoint(_WORDS):
        wanted |= set(_AT_FIRST)
    wanted |= {_ALWAYS, query.get("sort", "").removeprefix("-")}
    return tuple(name for name in _WORDS if name in wanted), faults


def with_chosen(query: QueryDict) -> str:
    """Return the address in which the columns ticked in the form are one field, left out where they are as at first."""
    ticked = set(query.getlist(CHOSEN))
    chosen = [name for name in _WORDS if name in ticked and name != _ALWAYS]
    changed = query.copy()
    changed.pop(CHOSEN, None)
    text = _ALL if len(chosen) == len(_WORDS) - 1 else ",".join(chosen) or _ALWAYS
    return with_fields(changed, {FIELD: "" if text == ",".join(_AT_FIRST) else text})


def choices(shown: Collection[str]) -> list[Choice]:
    """Return each column that can be chosen, and whether it is shown."""
    return [Choice(name, word, None, name in shown, "") for name, word in _WORDS.items() if name != _ALWAYS]


def columns(query: QueryDict, shown: Collection[str], *, is_past: bool) -> list[Column]:
    """Return the head of each column of the list, in their order. shown: their names."""
    sort = query.get("sort", "")
    return [
        Column(
            f"{word} {'then' if is_past else 'now'}" if name == "matches" else word,
            name in _NUMBERS,
            with_fields(query, {"sort": _following(name, sort)}) if name in _SORTED else "",
            _direction(name, sort),
            name,
        )
        for name, word in _WORDS.items()
        if name in shown
    ]


def _direction(name: str, sort: str) -> str:
    if sort.removeprefix("-") != name:
        return ""
    return "ascending" if sort in COLUMN_SORTS else "descending"


def _following(name: str, sort: str) -> str:
    """Return the sort that a click on a column leads to; numbers begin with the largest."""
    if name in queries.USE_SORTS:
        return "" if sort == name else name
    first, second = (f"-{name}", name) if name in _NUMBERS else (name, f"-{name}")
    return {first: second, second: ""}.get(sort, first)
