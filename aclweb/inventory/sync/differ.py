"""Which ACLs and names of a snapshot differ from those that are stored?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from aclweb.acl.model import AclBinding, ResourcePattern, ResourceType
from aclweb.acl.notation import binding_key
from aclweb.clusters import (
    AclSnapshot,
    ClusterFacts,
    NamesKnown,
    Problem,
    TopicInfo,
)
from aclweb.inventory.current import (
    BINDING_COLUMNS,
    bindings_of,
)
from aclweb.inventory.fields import name_key
from aclweb.inventory.models import (
    Cluster,
    Revision,
    StoredAcl,
    StoredName,
    stored_in_force,
)
from aclweb.inventory.store import chunks

_ROWS_AT_ONCE = 2000
_AT_ONCE = 500  # names or keys in one SQL statement


Listed = TypeVar("Listed")


@dataclass(frozen=True)
class Snapshot:
    """What a cluster answered. Names are None where they are not known; earlier ones then stay.

    topics_stay: the topics are None because they are as they were. marks: as the cluster's row keeps them.
    """

    facts: ClusterFacts
    acls: AclSnapshot
    topics: tuple[TopicInfo, ...] | None
    groups: tuple[str, ...] | None
    known: NamesKnown
    problems: tuple[Problem, ...]
    by_key: Mapping[str, AclBinding]
    topics_stay: bool = False
    marks: Mapping[str, object] | None = None

    @property
    def is_partial(self) -> bool:
        """Whether anything of it is only what has changed since the last sync."""
        return self.acls.patterns is not None or self.topics_stay


@dataclass(frozen=True)
class Acls:
    """Bindings to add by key, rows to close by key, and how many there will be, with their digest."""

    add: Mapping[str, AclBinding]
    remove: Mapping[str, int]
    stored: int
    count: int
    digest: str


def acls_that_differ(row: Cluster, snapshot: Snapshot) -> Acls:
    stored_count = row.revision.acls if row.revision is not None else 0
    unreadable = frozenset(snapshot.acls.unreadable)
    if snapshot.acls.patterns is not None and row.revision is not None:
        return _of_patterns(row, row.revision, snapshot, snapshot.acls.patterns, unreadable)
    if not unreadable and row.revision is not None and row.revision.digest == digest_of(snapshot.by_key):
        return Acls({}, {}, stored_count, stored_count, row.revision.digest)

    in_force = StoredAcl.objects.filter(stored_in_force(row.revision_id), cluster=row)
    stored = dict(in_force.values_list("key", "pk"))
    kept = _keys_of(row, unreadable) if unreadable else frozenset()
    add = {key: binding for key, binding in snapshot.by_key.items() if key not in stored}
    remove = {key: pk for key, pk in stored.items() if key not in snapshot.by_key and key not in kept}
    after = (stored.keys() - remove.keys()) | add.keys()
    return Acls(add, remove, len(stored), len(after), digest_of(after))


def _of_patterns(
    row: Cluster,
    revision: Revision,
    snapshot: Snapshot,
    patterns: frozenset[ResourcePattern],
    unreadable: frozenset[ResourcePattern],
) -> Acls:
    """Return what differs of the only patterns that were read; all other rows stay."""
    if not patterns:
        return Acls({}, {}, revision.acls, revision.acls, revision.digest)
    stored = _stored_of(row, patterns)
    kept = _keys_of(row, unreadable) if unreadable else frozenset()
    add = {key: binding for key, binding in snapshot.by_key.items() if key not in stored}
    remove = {key: pk for key, pk in stored.items() if key not in snapshot.by_key and key not in kept}
    if not add and not remove:
        return Acls({}, {}, revision.acls, revision.acls, revision.digest)
    in_force = StoredAcl.objects.filter(stored_in_force(row.revision_id), cluster=row)
    before = set(in_force.values_list("key", flat=True))
    after = (before - remove.keys()) | add.keys()
    return Acls(add, remove, len(before), len(after), digest_of(after))


def _stored_of(row: Cluster, patterns: frozenset[ResourcePattern]) -> dict[str, int]:
    """Return the rows in force of these patterns, by their keys."""
    in_force = StoredAcl.objects.filter(stored_in_force(row.revision_id), cluster=row)
    names: dict[tuple[str, str], list[str]] = {}
    for pattern in patterns:
        names.setdefault((pattern.resource_type.name, pattern.pattern_type.name), []).append(pattern.name)
    found: dict[str, int] = {}
    for (resource_type, pattern_type), those in names.items():
        alike = in_force.filter(resource_type=resource_type, pattern_type=pattern_type)
        for start in range(0, len(those), _AT_ONCE):
            some = those[start : start + _AT_ONCE]
            found.update(alike.filter(resource_name__in=some).values_list("key", "pk"))
    return found


def digest_of(keys: Iterable[str]) -> str:
    """Return the SHA-256 over the sorted keys of bindings: what a revision keeps as its digest."""
    return hashlib.sha256("".join(f"{key}\n" for key in sorted(keys)).encode("ascii")).hexdigest()


def _keys_of(row: Cluster, patterns: frozenset[ResourcePattern]) -> frozenset[str]:
    """Return the keys stored for these patterns: what is known of them from earlier."""
    rows = StoredAcl.objects.filter(stored_in_force(row.revision_id), cluster=row).filter(
        resource_type__in={pattern.resource_type.name for pattern in patterns},
        pattern_type__in={pattern.pattern_type.name for pattern in patterns},
    )
    bindings = bindings_of(rows.values_list(*BINDING_COLUMNS).iterator(chunk_size=_ROWS_AT_ONCE))
    return frozenset(binding_key(binding) for binding in bindings if binding.pattern in patterns)


@dataclass(frozen=True)
class Names:
    """Names to add as (type, key, topic or group), rows to close, and rows of topics that moved."""

    add: tuple[tuple[str, str, TopicInfo], ...]
    remove: tuple[int, ...]
    moved: tuple[tuple[int, TopicInfo], ...]
    topics_stored: int
    topics_lost: int


def names_that_differ(row: Cluster, snapshot: Snapshot) -> Names:
    topic, group = ResourceType.TOPIC.name, ResourceType.GROUP.name
    in_force = StoredName.objects.filter(stored_in_force(row.revision_id), cluster=row)
    if snapshot.topics is None and snapshot.groups is None:
        return Names((), (), (), in_force.filter(resource_type=topic).count(), 0)
    stored = {
        (kind, key): (pk, partitions, internal)
        for kind, key, pk, partitions, internal in in_force.values_list(
            "resource_type", "key", "pk", "partitions", "internal"
        )
    }
    known: dict[tuple[str, str], TopicInfo] = {}
    if snapshot.topics is not None:
        known.update({(topic, name_key(info.name)): info for info in snapshot.topics})
    if snapshot.groups is not None:
        known.update({(group, name_key(name)): TopicInfo(name) for name in snapshot.groups})
    unread = {kind for kind, names in ((topic, snapshot.topics), (group, snapshot.groups)) if names is None}

    gone = [place for place in stored if place not in known and place[0] not in unread]
    hidden = _hidden(snapshot, {stored[place][0]: place for place in gone})
    gone = [place for place in gone if place not in hidden]
    return Names(
        add=tuple((*place, info) for place, info in known.items() if place not in stored),
        remove=tuple(stored[place][0] for place in gone),
        moved=tuple(
            (stored[place][0], info)
            for place, info in known.items()
            if place in stored and stored[place][1:] != (info.partitions, info.internal)
        ),
        topics_stored=sum(1 for kind, _ in stored if kind == topic),
        topics_lost=sum(1 for kind, _ in gone if kind == topic),
    )


def _hidden(snapshot: Snapshot, gone: Mapping[int, tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return which of these names may exist and only not be shown to us any more."""
    return frozenset(
        gone[pk]
        for pks in chunks(gone, _AT_ONCE)
        for pk, kind, name in StoredName.objects.filter(pk__in=pks).values_list("pk", "resource_type", "name")
        if not snapshot.known.sees(ResourceType[kind], name)
    )


def removed(acls: Acls) -> tuple[AclBinding, ...]:
    found: list[AclBinding] = []
    for pks in chunks(acls.remove.values(), _AT_ONCE):
        found += bindings_of(StoredAcl.objects.filter(pk__in=pks).values_list(*BINDING_COLUMNS))
    return tuple(found)
