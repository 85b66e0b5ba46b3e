"""Which topics, groups and transactional ids are there: those that brokers list, and those that only ACLs name?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from aclweb.acl.model import PatternType, Resource, ResourceType
from aclweb.inventory.current import ClusterView
from aclweb.inventory.lists.rows import LazyRows

SOURCES = ("all", "brokers", "acls")
"""Where names are known from: those that brokers list, those that ACLs alone name, or both."""


@dataclass(frozen=True)
class NameRow:
    """One name, with the number of ACLs that match it. listed: whether brokers listed it."""

    name: str
    partitions: int | None
    internal: bool
    affecting: int
    listed: bool = True


def list_names(view: ClusterView, kind: ResourceType, text: str = "") -> Sequence[NameRow]:
    """Return the names that brokers list and that contain `text`, in capital or small letters, by name."""
    names = names_from(view, kind, "brokers", text)
    return LazyRows(len(names), lambda start, stop: name_rows(view, kind, names[start:stop]))


def listed_names(view: ClusterView, kind: ResourceType) -> tuple[str, ...]:
    """Return the names of this type that brokers listed, sorted; transactional ids cost a query once a view."""
    if kind is ResourceType.TRANSACTIONAL_ID:
        return view.listed_ids.names
    return view.loaded.names.get(kind, ())


def is_listed(view: ClusterView, kind: ResourceType, name: str) -> bool:
    """Whether brokers listed this name."""
    names = listed_names(view, kind)
    place = bisect_left(names, name)
    return place < len(names) and names[place] == name


def list_of(view: ClusterView, kind: ResourceType) -> Hashable:
    """Return what tells the list of this type from others within the revision: only transactional ids change in one."""
    return view.listed_ids.read if kind is ResourceType.TRANSACTIONAL_ID else None


def named_by_acls(view: ClusterView, kind: ResourceType) -> tuple[str, ...]:
    """Return the names of this type that ACLs name exactly and brokers did not list, sorted."""
    question = ("named_by_acls", kind, list_of(view, kind))
    return view.loaded.remember(question, lambda: _named_by_acls(view, kind))


def every_name(view: ClusterView, kind: ResourceType) -> tuple[str, ...]:
    """Return both, sorted."""
    question = ("every_name", kind, list_of(view, kind))
    return view.loaded.remember(
        question, lambda: tuple(sorted((*listed_names(view, kind), *named_by_acls(view, kind))))
    )


def names_from(view: ClusterView, kind: ResourceType, source: str, text: str = "") -> tuple[str, ...]:
    """Return the names of this type whose name contains `text`, sorted. source: one of SOURCES."""
    names = {"brokers": listed_names, "acls": named_by_acls, "all": every_name}[source](view, kind)
    if not text:
        return names
    question = ("names_from", kind, source, text.casefold(), list_of(view, kind))
    return view.loaded.remember(question, lambda: tuple(containing(names, text)))


def name_rows(view: ClusterView, kind: ResourceType, names: Iterable[str]) -> list[NameRow]:
    """Return a row for each of these names."""
    return [_name_row(view, kind, name) for name in names]


def containing(names: Iterable[str], text: str) -> Iterable[str]:
    """Return the names that contain the text, in capital or small letters."""
    wanted = text.casefold()
    return (name for name in names if wanted in name.casefold())


def _named_by_acls(view: ClusterView, kind: ResourceType) -> tuple[str, ...]:
    shelf = view.index.shelf(kind)
    if shelf is None:
        return ()
    exactly = {
        binding.resource_name
        for binding in shelf.unsorted
        if binding.pattern_type is PatternType.LITERAL and not binding.pattern.is_wildcard
    }
    return tuple(sorted(exactly.difference(listed_names(view, kind))))


def _name_row(view: ClusterView, kind: ResourceType, name: str) -> NameRow:
    topic = view.loaded.topic(name) if kind is ResourceType.TOPIC else None
    matching = len(view.index.affecting(Resource(kind, name), view.settings))
    return NameRow(
        name,
        topic.partitions if topic else None,
        topic.internal if topic else False,
        matching,
        is_listed(view, kind, name),
    )
