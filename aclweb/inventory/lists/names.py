"""Which topics, groups and transactional ids are there: those that brokers list, and those that only ACLs name?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aclweb.acl.model import PatternType, Resource, ResourceType
from aclweb.inventory.current import ClusterView, in_force
from aclweb.inventory.lists.rows import LazyRows
from aclweb.inventory.models import Cluster

SOURCES = ("all", "brokers", "acls")
"""Where names are known from: those that brokers list, those that ACLs alone name, or both."""


@dataclass(frozen=True)
class NameRow:
    """One topic or group, with the number of ACLs that match it. listed: whether the last sync listed it."""

    name: str
    partitions: int | None
    internal: bool
    affecting: int
    listed: bool = True


def list_names(cluster: Cluster, resource_type: ResourceType, text: str = "") -> Sequence[NameRow]:
    """Return the topics or groups whose name contains `text`, in capital or small letters, by name."""
    view = in_force(cluster)
    names = names_from(view, resource_type, "brokers", text)
    return LazyRows(len(names), lambda start, stop: name_rows(view, resource_type, names[start:stop]))


def listed_names(view: ClusterView, kind: ResourceType) -> tuple[str, ...]:
    """Return the names of this type that the last sync listed, sorted."""
    return view.loaded.names.get(kind, ())


def named_by_acls(view: ClusterView, kind: ResourceType) -> tuple[str, ...]:
    """Return the names of this type that ACLs name exactly and the last sync did not list, sorted."""
    return view.loaded.remember(("named_by_acls", kind), lambda: _named_by_acls(view, kind))


def every_name(view: ClusterView, kind: ResourceType) -> tuple[str, ...]:
    """Return both, sorted."""
    return view.loaded.remember(
        ("every_name", kind), lambda: tuple(sorted((*listed_names(view, kind), *named_by_acls(view, kind))))
    )


def names_from(view: ClusterView, kind: ResourceType, source: str, text: str = "") -> tuple[str, ...]:
    """Return the names of this type whose name contains `text`, sorted. source: one of SOURCES."""
    names = {"brokers": listed_names, "acls": named_by_acls, "all": every_name}[source](view, kind)
    if not text:
        return names
    question = ("names_from", kind, source, text.casefold())
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
        view.loaded.holds(kind, name),
    )
