"""In which order does a list of topics, groups or transactional ids come, and which address sorts it by a column?

`?sort=readers`, or `-readers` for the most first. What is unknown of a name comes last either way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from django.http import QueryDict

from aclweb.acl.model import Operation, Resource, ResourceType
from aclweb.insights.last_seen import last_seen_of_all
from aclweb.insights.models import Load
from aclweb.inventory.access import Able, able_with, able_with_each
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists import OwnerBook
from aclweb.web.browse.acl_columns import Column
from aclweb.web.browse.acl_filters import with_fields

# The operations whose principals are counted, by type, each with the name of its column and the head of it.
ABLE: Mapping[ResourceType, tuple[tuple[str, str, Operation], ...]] = {
    ResourceType.TOPIC: (("readers", "Readers", Operation.READ), ("writers", "Writers", Operation.WRITE)),
    ResourceType.GROUP: (("readers", "May consume", Operation.READ),),
    ResourceType.TRANSACTIONAL_ID: (("writers", "May use", Operation.WRITE),),
}
_NUMBERS = ("readers", "writers", "denials", "last")
_TEXTS = ("name", "kind", "owner")
_NEEDS_LOG = ("denials", "last")


def columns(
    query: QueryDict,
    kind: ResourceType,
    kind_word: str,
    *,
    has_owners: bool,
    has_log: bool,
    has_members: bool = False,
) -> list[Column]:
    """Return the head of each column of the list, in their order. has_members: whether types and members are shown."""
    words = {"name": kind_word}
    if kind is ResourceType.TOPIC:
        words["partitions"] = "Partitions"
    if has_members:
        words |= {"kind": "Type", "members": "Members"}
    if has_owners:
        words["owner"] = "Owner"
    words |= {name: word for name, word, _ in ABLE[kind]}
    words["acls"] = "ACLs that match it"
    if has_log:
        words |= {"denials": "Denials in the log", "last": "Last permitted"}
    sort = query.get("sort", "")
    sorts = sorts_of(kind)
    return [
        Column(
            word,
            name not in _TEXTS,
            with_fields(query, {"sort": _following(name, sort)}) if name in sorts else "",
            _direction(name, sort),
        )
        for name, word in words.items()
    ]


def sorts_of(kind: ResourceType) -> tuple[str, ...]:
    """Return what a list of this type can be sorted by."""
    return ("name", *(name for name, _, _ in ABLE[kind]), "denials", "last", "owner")


def fault_of(sort: str, kind: ResourceType, load: Load | None) -> str:
    """Return why the list cannot come in this order; empty where it can."""
    name = sort.removeprefix("-")
    if sort and name not in sorts_of(kind):
        return (
            f"sort is {sort!r}; use one of {', '.join(sorts_of(kind))}, with - before it for the last first."
        )
    if name in _NEEDS_LOG and load is None:
        return "No authorizer log has been read, so the names cannot be sorted by what it holds."
    return ""


def in_order(
    view: ClusterView,
    kind: ResourceType,
    names: tuple[str, ...],
    sort: str,
    *,
    load: Load | None,
    owners: OwnerBook,
    of: Hashable,
) -> Sequence[str]:
    """Return these names, which are sorted, in the order that is asked for; one of which `fault_of` says nothing.

    of: what tells them from other names of this type. An order is kept with the revision for the next page.
    """
    name, descending = sort.removeprefix("-"), sort.startswith("-")
    if name in ("", "name"):
        return names[::-1] if descending else names
    if name == "owner":
        # Who owns what may change within a revision.
        about: Hashable = owners.rows
    else:
        about = load.pk if load is not None else None
    question = ("names in order", kind, of, sort, view.settings, about)
    return view.loaded.remember(
        question, lambda: _sorted(names, _value(view, kind, names, name, load, owners), descending)
    )


def able_of(view: ClusterView, kind: ResourceType, names: Sequence[str]) -> list[list[tuple[str, Able]]]:
    """Return for each of these names how many may do each operation of ABLE, each with the word of its column."""
    operations = [operation for _, _, operation in ABLE[kind]]
    words = [word.lower() for _, word, _ in ABLE[kind]]
    return [
        list(zip(words, able_with(view, Resource(kind, name), operations), strict=True)) for name in names
    ]


def _value(
    view: ClusterView,
    kind: ResourceType,
    names: Sequence[str],
    name: str,
    load: Load | None,
    owners: OwnerBook,
) -> Callable[[str], Any]:
    """Return what a column sorts a name by; None for what is unknown of it."""
    if name == "owner":
        owner_of = dict(zip(names, owners.owners_of_each(kind.name, names), strict=True))
        return lambda each: owner_of[each].casefold() or None
    for column, _, operation in ABLE[kind]:
        if column == name:
            able = able_with_each(view, kind, operation)
            return lambda each: able[each].rank if able[each].words else None
    assert load is not None
    seen = last_seen_of_all(load, kind, view)
    if name == "denials":
        return lambda each: seen[each].denied if each in seen else 0
    return lambda each: seen[each].last_permitted if each in seen else None


def _sorted(names: Sequence[str], value: Callable[[str], Any], descending: bool) -> Sequence[str]:
    """Return the names by their value, those that are alike in it in their order, those without one last."""
    valued = [(value(name), name) for name in names]
    known = [(each, name) for each, name in valued if each is not None]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    return tuple(name for _, name in known) + tuple(name for each, name in valued if each is None)


def _direction(name: str, sort: str) -> str:
    if sort.removeprefix("-") != name:
        return ""
    return "descending" if sort.startswith("-") else "ascending"


def _following(name: str, sort: str) -> str:
    """Return the sort that a click on a column leads to; numbers begin with the largest."""
    first, second = (f"-{name}", name) if name in _NUMBERS else (name, f"-{name}")
    return {first: second, second: ""}.get(sort, first)
