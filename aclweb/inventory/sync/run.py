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

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from aclweb.acl.model import AclBinding, Delta
from aclweb.acl.notation import binding_key
from aclweb.audit import trail
from aclweb.clusters import (
    ClusterClient,
    ClusterError,
    ClusterState,
    Known,
    Problem,
    connect,
)
from aclweb.inventory.current import broker_settings as brokertold
from aclweb.inventory.current import (
    connection_of,
    declared,
    known_version,
    settings_of,
)
from aclweb.inventory.fields import storable
from aclweb.inventory.models import (
    Cluster,
    Declaration,
    Revision,
)
from aclweb.inventory.store import staging
from aclweb.inventory.sync import quarantine as holding
from aclweb.inventory.sync.differ import (
    Acls,
    Listed,
    Names,
    Reading,
    acls_that_differ,
    names_that_differ,
    removed,
)
from aclweb.inventory.sync.told import ITSELF, MIGRATING, SILENT, figures, state, told
from aclweb.inventory.work import scheduling

logger = logging.getLogger(__name__)


READING, OURS = Revision.Cause.READING, Revision.Cause.OURS


_STORE_TRIES = 4


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
    """Have a sync ask `written` what of aclweb's own edits it may be the first to find."""
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


def _begin(cluster: Cluster) -> int:
    with transaction.atomic():
        Cluster.objects.filter(pk=cluster.pk).update(readings_begun=F("readings_begun") + 1)
        return Cluster.objects.values_list("readings_begun", flat=True).get(pk=cluster.pk)


def _read(cluster: Cluster, client: ClusterClient | None) -> Reading:
    if client is None:
        with connect(connection_of(cluster)) as opened:
            return _read(cluster, opened)
    facts = client.describe()
    acls = client.read_acls()
    problems = list(acls.problems)
    if facts.migrating:
        problems.append(Problem("/migration", MIGRATING, hazard=True))
    problems += [Problem(address, SILENT.format(address=address)) for address in facts.silent]
    topics, topics_failed = _listed(client.read_topics, "topics", problems)
    groups, groups_failed = _listed(client.read_groups, "groups", problems)
    known = client.names_known(acls, settings_of(cluster))
    if topics_failed:
        known = replace(known, topics=Known(cluster.topics_listed))
    if groups_failed:
        known = replace(known, groups=Known(cluster.groups_listed))
    by_key = {binding_key(binding): binding for binding in acls.bindings}
    return Reading(
        facts,
        acls,
        topics if known.topics is not Known.UNKNOWN else None,
        groups if known.groups is not Known.UNKNOWN else None,
        known,
        tuple(problems),
        by_key,
    )


def _listed(
    read: Callable[[], Listed | None], what: str, problems: list[Problem]
) -> tuple[Listed | None, bool]:
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
    reading: Reading,
    *,
    cause: Revision.Cause,
    expected: Delta | None,
    accepted_by: str | None,
) -> SyncResult:
    """Store the snapshot, however often another sync of the same cluster comes first."""
    for _ in range(_STORE_TRIES):
        try:
            return _store_once(
                cluster, number, reading, cause=cause, expected=expected, accepted_by=accepted_by
            )
        except staging.OvertakenError as error:
            logger.info("Cluster %s is compared again, because %s", cluster.slug, error)
    row = Cluster.objects.select_related("revision").get(pk=cluster.pk)
    sentence = "Other workers are storing snapshots of this cluster, so this one was dropped."
    return SyncResult(row.revision, False, state(row), sentence)


def _store_once(
    cluster: Cluster,
    number: int,
    reading: Reading,
    *,
    cause: Revision.Cause,
    expected: Delta | None,
    accepted_by: str | None,
) -> SyncResult:
    """Compare the snapshot with what is stored, stage what differs, and publish it in one short transaction.

    Only the last step holds the lock on the cluster's row, so whatever was compared before
    it is checked there: raises OvertakenError if another revision is in force by then.
    """
    now = timezone.now()
    row = Cluster.objects.select_related("revision").get(pk=cluster.pk)
    if number <= row.reading_stored:
        return _dropped(row)
    staging.clear(row)
    acls = acls_that_differ(row, reading)
    names = names_that_differ(row, reading)
    ours = _ours(row, expected) if acls.add or acls.remove else Written()
    doubt = _doubt(row, reading, acls, names, ours)
    if doubt is not None and holding.accepted_by(row, doubt, accepted_by) is None:
        return _held_back(row, number, doubt, accepted_by)

    delta, elsewhere = Delta(), 0
    rows = staging.Rows(acls.add, names.add, tuple(acls.remove.values()), names.remove)
    changed = row.revision is None or bool(acls.add or acls.remove or names.add or names.remove)
    staged: Revision | None = None
    if changed:
        delta = Delta(add=tuple(acls.add.values()), remove=removed(acls))
        elsewhere = 0 if cause == OURS and expected is None else _made_elsewhere(delta, ours)
        if (acls.add or acls.remove) and elsewhere == 0:
            cause = OURS
        if rows.are_many:
            staged = staging.create(row, published=False, **figures(now, cause, acls, names))
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
                revision = staging.create(row, published=True, **figures(now, cause, acls, names))
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
    sentence = "A snapshot of a later sync was stored first, so this one was dropped."
    return SyncResult(row.revision, False, state(row), sentence)


def _held_back(row: Cluster, number: int, doubt: Mapping[str, object], accepted_by: str | None) -> SyncResult:
    with transaction.atomic():
        compared_with, row = row.revision_id, Cluster.objects.select_for_update().get(pk=row.pk)
        if number <= row.reading_stored:
            return _dropped(row)
        if row.revision_id != compared_with or holding.accepted_by(row, doubt, accepted_by) is not None:
            raise staging.OvertakenError("another snapshot was stored or accepted meanwhile.")
        holding.hold(row, doubt)
        _reached(row)
    return SyncResult(row.revision, False, state(row), str(doubt["sentence"]), held=True)


def _bring_up_to_date(
    row: Cluster, number: int, reading: Reading, revision: Revision | None, count: int, now: datetime
) -> tuple[ClusterState, str]:
    """Store in the cluster's own row, which is locked, what a believed snapshot shows."""
    before = Declaration.told_by(row)
    problems = (*reading.problems, *brokertold.take_over(row, reading.facts.settings, now))
    state, sentence = told(row, reading, count)
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
    declared.keep(row, before=before, actor=ITSELF, since=now)
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


def _doubt(
    row: Cluster, reading: Reading, acls: Acls, names: Names, ours: Written
) -> dict[str, object] | None:
    """Return why this snapshot must wait for a person; what we removed is no loss."""
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


def _ours(row: Cluster, expected: Delta | None) -> Written:
    """Return what aclweb itself wrote, or may have, and no stored snapshot has shown so far."""
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
        origin = "found in the first sync" if revision.number == 1 else "made elsewhere"
    else:
        origin = f"{elsewhere} of them made elsewhere and the others with aclweb"
    trail.record(
        actor=ITSELF,
        verb="cluster.changed",
        target=f"cluster:{row.slug}",
        cluster=row.name,
        revision=revision.number,
        added=len(delta.add),
        removed=len(delta.remove),
        elsewhere=elsewhere,
        origin=origin,
    )
