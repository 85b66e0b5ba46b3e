"""Read a cluster and store what differs from what was stored before.

A reading is stored whole or not at all. What failed to be read deletes nothing: a
failed reading changes the cluster's state and its sentence, and a pattern that could
not be understood keeps the rows it had. A reading that lost too much to be believed, or
that comes from another cluster behind the same address, is held until a person accepts
it (`held`).

Readings are numbered when they begin. What differs is worked out and staged without any
lock (`staging`); a last short transaction, under a lock on the cluster's row, publishes it.
A reading that began before the newest stored one is dropped, so that a slow reading never
overwrites a fresh one.

What aclweb wrote itself is told as made with aclweb, also where a scheduled reading finds
it first because the worker that wrote it was lost (`register_writer`).
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from aclweb.acl.model import AclBinding, Delta, ResourcePattern, ResourceType
from aclweb.acl.notation import binding_key
from aclweb.audit import trail
from aclweb.clusters import (
    AclReading,
    ClusterClient,
    ClusterError,
    ClusterFacts,
    ClusterState,
    Known,
    NamesKnown,
    Problem,
    SourceKind,
    TopicInfo,
    connect,
)
from aclweb.inventory.current import (
    BINDING_COLUMNS,
    bindings_of,
    connection_of,
    declared,
    known_version,
    rules_of,
)
from aclweb.inventory.current import broker_settings as brokertold
from aclweb.inventory.fields import storable
from aclweb.inventory.models import (
    Cluster,
    Declaration,
    Revision,
    StoredAcl,
    StoredName,
    stored_in_force,
)
from aclweb.inventory.store import staging
from aclweb.inventory.sync import quarantine as holding
from aclweb.inventory.work import scheduling

logger = logging.getLogger(__name__)

READING, OURS = Revision.Cause.READING, Revision.Cause.OURS

_ROWS_AT_ONCE = 2000
_STORE_TRIES = 4
_MIGRATING = (
    "This cluster is moving from ZooKeeper to KRaft. Until that has ended, what ZooKeeper holds may differ from what "
    "brokers enforce, and nothing should be written here."
)
_SILENT = "The broker at {address} does not answer, so its groups and settings are not known; check whether it hangs."
_ITSELF = "aclweb"
_Listed = TypeVar("_Listed")

trail.register(
    "cluster.changed",
    "Revision {revision} of {cluster}: ACLs added: {added}, removed: {removed}; {origin}.",
)


@dataclass(frozen=True)
class Written:
    """What aclweb itself added and removed; what it added and took back again stands in both."""

    added: frozenset[AclBinding] = frozenset()
    removed: frozenset[AclBinding] = frozenset()

    def __or__(self, other: Written) -> Written:
        return Written(self.added | other.added, self.removed | other.removed)


# Rooms above this one that write to clusters.
_writers: list[Callable[[Cluster], Written]] = []


def register_writer(written: Callable[[Cluster], Written]) -> None:
    """Have a reading ask `written` what of aclweb's own edits it may be the first to find."""
    if written not in _writers:
        _writers.append(written)


@dataclass(frozen=True)
class SyncResult:
    """What one attempt to read a cluster gave.

    `revision` is the newest stored one, made by this reading if `changed`. `delta` holds
    the bindings that came and went with it. `held` readings stored nothing.
    """

    revision: Revision | None
    changed: bool
    state: ClusterState
    sentence: str
    delta: Delta = field(default_factory=Delta)
    read: bool = False  # the cluster answered, the answer was believed, and the database now says the same
    held: bool = False


def sync(
    cluster: Cluster,
    *,
    cause: Revision.Cause = READING,
    client: ClusterClient | None = None,
    expected: Delta | None = None,
    accepted_by: str | None = None,
) -> SyncResult:
    """Read the cluster, store what differs, and bring `cluster` itself up to date.

    client: an open client to read with; without one, a connection is opened and closed.
    expected: what aclweb itself has just written. Only other differences are told as made
        elsewhere, and losing these bindings is no reason to hold the reading.
    accepted_by: who accepts the reading that is held, if this one loses no more than it.

    Never raises for trouble with the cluster: its state and a sentence are stored and
    returned.
    """
    began = time.monotonic()
    number = _begin(cluster)
    try:
        reading = _read(cluster, client)
    except ClusterError as error:
        return _fail(cluster, number, error)
    result = _store(cluster, number, reading, cause=cause, expected=expected, accepted_by=accepted_by)
    cluster.refresh_from_db(from_queryset=Cluster.objects.select_related("revision"))
    if result.changed and result.revision is not None:
        logger.info(
            "Read cluster %s as revision %d: %d added, %d removed, %.1f s.",
            cluster.slug,
            result.revision.number,
            len(result.delta.add),
            len(result.delta.remove),
            time.monotonic() - began,
        )
    return result


@dataclass(frozen=True)
class _Reading:
    """What a cluster answered. Names are None where they are not known; earlier ones then stay."""

    facts: ClusterFacts
    acls: AclReading
    topics: tuple[TopicInfo, ...] | None
    groups: tuple[str, ...] | None
    known: NamesKnown
    problems: tuple[Problem, ...]
    by_key: Mapping[str, AclBinding]


def _begin(cluster: Cluster) -> int:
    with transaction.atomic():
        Cluster.objects.filter(pk=cluster.pk).update(readings_begun=F("readings_begun") + 1)
        return Cluster.objects.values_list("readings_begun", flat=True).get(pk=cluster.pk)


def _read(cluster: Cluster, client: ClusterClient | None) -> _Reading:
    if client is None:
        with connect(connection_of(cluster)) as opened:
            return _read(cluster, opened)
    facts = client.describe()
    acls = client.read_acls()
    problems = list(acls.problems)
    if facts.migrating:
        problems.append(Problem("/migration", _MIGRATING, hazard=True))
    problems += [Problem(address, _SILENT.format(address=address)) for address in facts.silent]
    topics, topics_failed = _listed(client.read_topics, "topics", problems)
    groups, groups_failed = _listed(client.read_groups, "groups", problems)
    known = client.names_known(acls, rules_of(cluster))
    if topics_failed:
        known = replace(known, topics=Known(cluster.topics_listed))
    if groups_failed:
        known = replace(known, groups=Known(cluster.groups_listed))
    by_key = {binding_key(binding): binding for binding in acls.bindings}
    return _Reading(
        facts,
        acls,
        topics if known.topics is not Known.UNKNOWN else None,
        groups if known.groups is not Known.UNKNOWN else None,
        known,
        tuple(problems),
        by_key,
    )


def _listed(
    read: Callable[[], _Listed | None], what: str, problems: list[Problem]
) -> tuple[_Listed | None, bool]:
    """Return the names, and whether reading them failed."""
    try:
        return read(), False
    except ClusterError as error:
        problems.append(Problem(what, f"The {what} could not be read, so those known before stay: {error}"))
        return None, True


def _fail(cluster: Cluster, number: int, error: ClusterError) -> SyncResult:
    sentence = storable(str(error))
    failures = Cluster.objects.values_list("failures", flat=True).get(pk=cluster.pk) + 1
    Cluster.objects.filter(pk=cluster.pk, reading_stored__lt=number).update(
        state=error.state,
        state_sentence=sentence,
        tried_at=timezone.now(),
        failures=failures,
        next_sync_at=scheduling.after_failure(failures),
    )
    cluster.refresh_from_db(from_queryset=Cluster.objects.select_related("revision"))
    logger.warning("Cluster %s was not read (%s): %s", cluster.slug, error.state, sentence)
    return SyncResult(cluster.revision, False, error.state, sentence)


def _store(
    cluster: Cluster,
    number: int,
    reading: _Reading,
    *,
    cause: Revision.Cause,
    expected: Delta | None,
    accepted_by: str | None,
) -> SyncResult:
    """Store the reading, however often another sync of the same cluster comes first."""
    for _ in range(_STORE_TRIES):
        try:
            return _store_once(
                cluster, number, reading, cause=cause, expected=expected, accepted_by=accepted_by
            )
        except staging.OvertakenError as error:
            logger.info("Cluster %s is compared anew, because %s", cluster.slug, error)
    row = Cluster.objects.select_related("revision").get(pk=cluster.pk)
    sentence = "Other workers are storing snapshots of this cluster, so this one was dropped."
    return SyncResult(row.revision, False, _state(row), sentence)


def _store_once(
    cluster: Cluster,
    number: int,
    reading: _Reading,
    *,
    cause: Revision.Cause,
    expected: Delta | None,
    accepted_by: str | None,
) -> SyncResult:
    """Compare the reading with what is stored, stage what differs, and publish it in one short transaction.

    Only the last step holds the lock on the cluster's row, so whatever was compared before
    it is checked there: raises OvertakenError if another revision is in force by then.
    """
    now = timezone.now()
    row = Cluster.objects.select_related("revision").get(pk=cluster.pk)
    if number <= row.reading_stored:
        return _dropped(row)
    staging.clear(row)
    acls = _acls_that_differ(row, reading)
    names = _names_that_differ(row, reading)
    ours = _ours(row, expected) if acls.add or acls.remove else Written()
    doubt = _doubt(row, reading, acls, names, ours)
    if doubt is not None and holding.accepted_by(row, doubt, accepted_by) is None:
        return _held_back(row, number, doubt, accepted_by)

    delta, elsewhere = Delta(), 0
    rows = staging.Rows(acls.add, names.add, tuple(acls.remove.values()), names.remove)
    changed = row.revision is None or bool(acls.add or acls.remove or names.add or names.remove)
    staged: Revision | None = None
    if changed:
        delta = Delta(add=tuple(acls.add.values()), remove=_removed(acls))
        elsewhere = 0 if cause == OURS and expected is None else _made_elsewhere(delta, ours)
        if (acls.add or acls.remove) and elsewhere == 0:
            cause = OURS
        if rows.are_many:
            staged = staging.create(row, published=False, **_figures(now, cause, acls, names))
            staging.stage(staged, rows)

    with transaction.atomic():
        compared_with, row = row.revision_id, Cluster.objects.select_for_update().get(pk=cluster.pk)
        acceptor = holding.accepted_by(row, doubt, accepted_by) if doubt is not None else None
        overtaken = number <= row.reading_stored
        if not overtaken:
            if row.revision_id != compared_with or (doubt is not None and acceptor is None):
                raise staging.OvertakenError("another snapshot was stored meanwhile.")
            revision = row.revision
            if staged is not None:
                staging.publish(staged)
                revision = staged
            elif changed:
                revision = staging.create(row, published=True, **_figures(now, cause, acls, names))
                staging.write(revision, rows)
            state, sentence = _bring_up_to_date(row, number, reading, revision, acls.count, now)

            # Last, because the audit trail's lock is held until the commit.
            if doubt is not None and accepted_by is not None:
                holding.record_acceptance(row, actor=accepted_by, reason=str(doubt["sentence"]))
            if revision is not None and (acls.add or acls.remove):
                _record_change(row, revision, delta, elsewhere)
    if overtaken:
        if staged is not None:
            staging.take_back(staged)
        return _dropped(row)
    staging.update_topics(names.moved)
    return SyncResult(revision, changed, state, sentence, delta, read=True)


def _dropped(row: Cluster) -> SyncResult:
    sentence = "A reading that began later was stored first, so this one was dropped."
    return SyncResult(row.revision, False, _state(row), sentence)


def _held_back(row: Cluster, number: int, doubt: Mapping[str, object], accepted_by: str | None) -> SyncResult:
    with transaction.atomic():
        compared_with, row = row.revision_id, Cluster.objects.select_for_update().get(pk=row.pk)
        if number <= row.reading_stored:
            return _dropped(row)
        if row.revision_id != compared_with or holding.accepted_by(row, doubt, accepted_by) is not None:
            raise staging.OvertakenError("another snapshot was stored or accepted meanwhile.")
        holding.hold(row, doubt)
        _reached(row)
    return SyncResult(row.revision, False, _state(row), str(doubt["sentence"]), held=True)


def _bring_up_to_date(
    row: Cluster, number: int, reading: _Reading, revision: Revision | None, count: int, now: datetime
) -> tuple[ClusterState, str]:
    """Store in the cluster's own row, which is locked, what a believed reading shows."""
    before = Declaration.told_by(row)
    problems = (*reading.problems, *brokertold.take_over(row, reading.facts.settings, now))
    state, sentence = _told(row, reading, count)
    row.revision = revision
    row.state, row.state_sentence = state, storable(sentence)
    row.problems = [
        {
            "where": storable(problem.where),
            "sentence": storable(problem.sentence),
            "hazard": problem.hazard,
        }
        for problem in problems
    ]
    row.tried_at = row.read_at = now
    row.topics_listed, row.groups_listed = reading.known.topics, reading.known.groups
    row.reading_stored = number
    row.cluster_id = reading.facts.cluster_id or row.cluster_id
    if reading.facts.kafka_version and known_version(row.authorizer, reading.facts.kafka_version):
        row.kafka_version = reading.facts.kafka_version
    row.held = None
    row.save(update_fields=_READ_FIELDS)
    _reached(row)
    declared.keep(row, before=before, actor=_ITSELF, since=now)
    return state, sentence


def _reached(row: Cluster) -> None:
    """Have a cluster that answers again synced at the usual interval."""
    recovered = Cluster.objects.filter(pk=row.pk, failures__gt=0)
    recovered.update(failures=0, next_sync_at=scheduling.after_recovery())


_READ_FIELDS = [
    "revision",
    "state",
    "state_sentence",
    "problems",
    "tried_at",
    "read_at",
    "topics_listed",
    "groups_listed",
    "settings_read",
    "authorizer",
    "super_users",
    "allow_everyone",
    "reading_stored",
    "cluster_id",
    "kafka_version",
    "held",
]


@dataclass(frozen=True)
class _Acls:
    """Bindings to add by key, rows to close by key, and how many there will be, with their digest."""

    add: Mapping[str, AclBinding]
    remove: Mapping[str, int]
    stored: int
    count: int
    digest: str


def _acls_that_differ(row: Cluster, reading: _Reading) -> _Acls:
    stored_count = row.revision.acls if row.revision is not None else 0
    unreadable = frozenset(reading.acls.unreadable)
    if not unreadable and row.revision is not None and row.revision.digest == digest_of(reading.by_key):
        return _Acls({}, {}, stored_count, stored_count, row.revision.digest)

    in_force = StoredAcl.objects.filter(stored_in_force(row.revision_id), cluster=row)
    stored = dict(in_force.values_list("key", "pk"))
    kept = _keys_of(row, unreadable) if unreadable else frozenset()
    add = {key: binding for key, binding in reading.by_key.items() if key not in stored}
    remove = {key: pk for key, pk in stored.items() if key not in reading.by_key and key not in kept}
    after = (stored.keys() - remove.keys()) | add.keys()
    return _Acls(add, remove, len(stored), len(after), digest_of(after))


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
class _Names:
    """Names to add as (type, key, topic or group), rows to close, and rows of topics that moved."""

    add: tuple[tuple[str, str, TopicInfo], ...]
    remove: tuple[int, ...]
    moved: tuple[tuple[int, TopicInfo], ...]
    topics_stored: int
    topics_lost: int


def _names_that_differ(row: Cluster, reading: _Reading) -> _Names:
    topic, group = ResourceType.TOPIC.name, ResourceType.GROUP.name
    in_force = StoredName.objects.filter(stored_in_force(row.revision_id), cluster=row)
    stored = {
        (kind, key): (pk, partitions, internal)
        for kind, key, pk, partitions, internal in in_force.values_list(
            "resource_type", "key", "pk", "partitions", "internal"
        )
    }
    known: dict[tuple[str, str], TopicInfo] = {}
    if reading.topics is not None:
        known.update({(topic, _name_key(info.name)): info for info in reading.topics})
    if reading.groups is not None:
        known.update({(group, _name_key(name)): TopicInfo(name) for name in reading.groups})
    unread = {kind for kind, names in ((topic, reading.topics), (group, reading.groups)) if names is None}

    gone = [place for place in stored if place not in known and place[0] not in unread]
    hidden = _hidden(reading, {stored[place][0]: place for place in gone})
    gone = [place for place in gone if place not in hidden]
    return _Names(
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


def _hidden(reading: _Reading, gone: Mapping[int, tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return which of these names may exist and only not be shown to us any more."""
    return frozenset(
        gone[pk]
        for pks in _chunks(tuple(gone))
        for pk, kind, name in StoredName.objects.filter(pk__in=pks).values_list("pk", "resource_type", "name")
        if not reading.known.sees(ResourceType[kind], name)
    )


def _name_key(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _doubt(
    row: Cluster, reading: _Reading, acls: _Acls, names: _Names, ours: Written
) -> dict[str, object] | None:
    """Return why this reading should not be believed without a person; what we removed is no loss."""
    removed = {binding_key(binding) for binding in ours.removed}
    topics_left = len(reading.topics) if reading.topics is not None else names.topics_stored
    return holding.doubt(
        row,
        answered=reading.facts.cluster_id,
        losses=(
            holding.Loss("ACLs", len(acls.remove.keys() - removed), acls.stored, acls.count),
            holding.Loss("topics", names.topics_lost, names.topics_stored, topics_left),
        ),
    )


def _figures(now: datetime, cause: Revision.Cause, acls: _Acls, names: _Names) -> dict[str, object]:
    """Return what a revision keeps of itself beside its rows."""
    return {
        "read_at": now,
        "cause": cause,
        "acls": acls.count,
        "acls_added": len(acls.add),
        "acls_removed": len(acls.remove),
        "names_added": len(names.add),
        "names_removed": len(names.remove),
        "digest": acls.digest,
    }


def _removed(acls: _Acls) -> tuple[AclBinding, ...]:
    found: list[AclBinding] = []
    for pks in _chunks(tuple(acls.remove.values())):
        found += bindings_of(StoredAcl.objects.filter(pk__in=pks).values_list(*BINDING_COLUMNS))
    return tuple(found)


def _chunks(pks: tuple[int, ...]) -> Iterable[tuple[int, ...]]:
    return (pks[start : start + 500] for start in range(0, len(pks), 500))


def _told(row: Cluster, reading: _Reading, count: int) -> tuple[ClusterState, str]:
    """Return the state that a believed reading shows, with its sentence."""
    if reading.acls.unreadable:
        patterns = (
            "1 resource" if len(reading.acls.unreadable) == 1 else f"{len(reading.acls.unreadable)} resources"
        )
        return ClusterState.UNREADABLE, (
            f"The ACLs of {patterns} are stored in a form that cannot be understood. What was known of them "
            f"before is kept; everything else was read: {_counted(count, 'ACL')} in all."
        )
    if row.kind == SourceKind.ZOOKEEPER and row.authorizer_declared == Cluster.Declared.OFF:
        return ClusterState.NO_AUTHORIZER, (
            f"ZooKeeper holds {_counted(count, 'ACL')}, but it is declared that the brokers run without an "
            "authorizer: nothing is enforced, and everybody may do everything."
        )
    if count == 0:
        return ClusterState.NO_ACLS, _nothing(row)
    topics = "topics unknown" if reading.topics is None else _counted(len(reading.topics), "topic")
    groups = "groups unknown" if reading.groups is None else _counted(len(reading.groups), "group")
    partial = [
        kind
        for kind, names, listed in (
            ("topics", reading.topics, reading.known.topics),
            ("groups", reading.groups, reading.known.groups),
        )
        if names is not None and listed is Known.VISIBLE and row.kind == SourceKind.ADMIN
    ]
    only = (
        f" There may be other {' and '.join(partial)}: only those that aclweb may describe are listed."
        if partial
        else ""
    )
    return ClusterState.OK, f"Read {_counted(count, 'ACL')}, {topics}, {groups}.{only}"


def _nothing(row: Cluster) -> str:
    if row.kind == SourceKind.SNAPSHOT:
        return f"The file {row.address} was read and holds no ACL."
    if row.kind == SourceKind.ZOOKEEPER and row.authorizer_declared != Cluster.Declared.ON:
        return (
            "ZooKeeper was read and holds no ACL. Whether the brokers run with an authorizer cannot be read "
            "there and nobody has declared it, so this may be a cluster that enforces nothing."
        )
    return "The authorizer is on and holds no ACL: every request is decided by the default alone."


def _state(row: Cluster) -> ClusterState:
    return ClusterState(row.state or ClusterState.OK)


def _counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def _ours(row: Cluster, expected: Delta | None) -> Written:
    """Return what aclweb itself wrote, or may have, and no stored reading has told so far."""
    known = expected or Delta()
    found = Written(frozenset(known.add), frozenset(known.remove))
    for written in _writers:
        found |= written(row)
    return found


def _made_elsewhere(delta: Delta, ours: Written) -> int:
    return len(set(delta.add) - ours.added) + len(set(delta.remove) - ours.removed)


def _record_change(row: Cluster, revision: Revision, delta: Delta, elsewhere: int) -> None:
    total = len(delta.add) + len(delta.remove)
    if elsewhere == 0:
        origin = "made with aclweb"
    elif elsewhere == total:
        origin = "found in the first reading" if revision.number == 1 else "made elsewhere"
    else:
        origin = f"{elsewhere} of them made elsewhere and the others with aclweb"
    trail.record(
        actor=_ITSELF,
        verb="cluster.changed",
        target=f"cluster:{row.slug}",
        cluster=row.name,
        revision=revision.number,
        added=len(delta.add),
        removed=len(delta.remove),
        elsewhere=elsewhere,
        origin=origin,
    )
