"""Store a snapshot: compare it with what is stored, quarantine it or stage what differs, then publish.

Syncs are numbered when they begin. What differs is worked out and staged without any lock
(`staging`); a last short transaction, under a lock on the cluster's row, publishes it. A snapshot
of a sync that began before the newest stored one, or before the connection was changed, is dropped,
so that a slow sync never overwrites a newer snapshot.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Case, F, When
from django.db.models.functions import Now
from django.utils import timezone

from aclweb.acl.model import Delta
from aclweb.acl.notation import binding_key
from aclweb.audit import trail
from aclweb.clusters import ClusterState
from aclweb.inventory.current import broker_settings, declared, known_version
from aclweb.inventory.fields import storable
from aclweb.inventory.models import Cluster, Declaration, Revision
from aclweb.inventory.store import staging
from aclweb.inventory.sync import quarantine
from aclweb.inventory.sync.differ import Acls, Names, Snapshot, acls_that_differ, names_that_differ, removed
from aclweb.inventory.sync.result import ITSELF, SyncResult, state_and_sentence, stored_state
from aclweb.inventory.sync.writers import Written, written_by_aclweb
from aclweb.inventory.work import scheduling

logger = logging.getLogger(__name__)

OURS = Revision.Cause.OURS

_STORE_TRIES = 4
_NOT_BUILT_ON = (
    "Another snapshot was stored meanwhile, so this one, which had only what changed before, was dropped."
)

trail.register(
    "cluster.changed",
    "Revision {revision} of {cluster}: ACLs added: {added}, removed: {removed}; {origin}.",
)


@dataclass(frozen=True)
class Sync:
    """One sync that is to be stored.

    number: its place among the syncs of the cluster. after: that of the stored one that it builds on, where it read
    only what has changed since. expected: what aclweb itself has just
    written. accepted_by: who accepts the quarantined snapshot, if this one loses no more.
    began: by the monotonic clock, in seconds.
    """

    number: int
    after: int
    snapshot: Snapshot
    cause: Revision.Cause
    expected: Delta | None
    accepted_by: str | None
    began: float


def store(cluster: Cluster, sync: Sync) -> SyncResult:
    """Store the snapshot, however often another sync of the same cluster comes first."""
    for _ in range(_STORE_TRIES):
        try:
            return _store_once(cluster, sync)
        except staging.OvertakenError as error:
            logger.info("Cluster %s is compared again, because %s", cluster.slug, error)
    return _dropped(cluster, "Other workers are storing snapshots of this cluster, so this one was dropped.")


@dataclass(frozen=True)
class _Compared:
    """A snapshot and what it changes.

    row: the cluster as it was compared with. why_not: why the snapshot must wait for a person.
    elsewhere: how many ACLs of the delta aclweb did not write.
    """

    row: Cluster
    at: datetime
    acls: Acls
    names: Names
    why_not: dict[str, object] | None
    delta: Delta
    elsewhere: int
    cause: Revision.Cause

    @property
    def rows(self) -> staging.Rows:
        return staging.Rows(
            self.acls.add, self.names.add, tuple(self.acls.remove.values()), self.names.remove
        )

    @property
    def changes_acls(self) -> bool:
        return bool(self.acls.add or self.acls.remove)

    @property
    def makes_revision(self) -> bool:
        return self.row.revision is None or self.changes_acls or bool(self.names.add or self.names.remove)


def _store_once(cluster: Cluster, sync: Sync) -> SyncResult:
    """Compare, stage and publish the snapshot; raises OvertakenError if another was published meanwhile."""
    row = Cluster.objects.select_related("revision").get(pk=cluster.pk)
    if sync.number <= row.reading_stored:
        return _dropped(row)
    if sync.snapshot.is_partial and sync.after != row.reading_stored:
        return _dropped(row, _NOT_BUILT_ON)
    staging.clear(row)
    compared = _compare(row, sync)
    if (
        compared.why_not is not None
        and quarantine.accepted_by(row, compared.why_not, sync.accepted_by) is None
    ):
        return _quarantine(compared, sync, compared.why_not)

    staged = _stage(compared) if compared.rows.are_many else None
    result = _publish(compared, sync, staged)
    if result is None:
        if staged is not None:
            staging.take_back(staged)
        return _dropped(row)
    staging.update_topics(compared.names.moved)
    return result


def _compare(row: Cluster, sync: Sync) -> _Compared:
    """Return what the snapshot changes of what is stored, who made it, and whether it must wait for a person."""
    began = timezone.now()
    acls, names = acls_that_differ(row, sync.snapshot), names_that_differ(row, sync.snapshot)
    changes_acls = bool(acls.add or acls.remove)
    ours = written_by_aclweb(row, sync.expected) if changes_acls else Written()
    delta = Delta(add=tuple(acls.add.values()), remove=removed(acls))
    elsewhere = 0 if sync.cause == OURS and sync.expected is None else ours.lacks(delta)
    return _Compared(
        row=row,
        at=began,
        acls=acls,
        names=names,
        why_not=_why_not(row, sync.snapshot, acls, names, ours),
        delta=delta,
        elsewhere=elsewhere,
        cause=OURS if changes_acls and elsewhere == 0 else sync.cause,
    )


def _why_not(
    row: Cluster, snapshot: Snapshot, acls: Acls, names: Names, ours: Written
) -> dict[str, object] | None:
    """Return why this snapshot must wait for a person; what we removed is no loss."""
    removed = {binding_key(binding) for binding in ours.removed}
    topics_left = len(snapshot.topics) if snapshot.topics is not None else names.topics_stored
    return quarantine.why_quarantined(
        row,
        answered=snapshot.facts.cluster_id,
        losses=(
            quarantine.Loss("ACLs", len(acls.remove.keys() - removed), acls.stored, acls.count),
            quarantine.Loss("topics", names.topics_lost, names.topics_stored, topics_left),
        ),
    )


def _quarantine(compared: _Compared, sync: Sync, why_not: Mapping[str, object]) -> SyncResult:
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=compared.row.pk)
        if sync.number <= row.reading_stored:
            return _dropped(row)
        is_overtaken = row.revision_id != compared.row.revision_id
        if is_overtaken or quarantine.accepted_by(row, why_not, sync.accepted_by) is not None:
            raise staging.OvertakenError("another snapshot was stored or accepted meanwhile.")
        quarantine.keep(row, why_not)
        _reached(row)
    return SyncResult(row.revision, False, stored_state(row), str(why_not["sentence"]), held=True)


def _stage(compared: _Compared) -> Revision:
    """Return a revision that nobody sees yet, with all its rows."""
    staged = staging.create(compared.row, published=False, **_figures(compared))
    staging.stage(staged, compared.rows)
    return staged


def _publish(compared: _Compared, sync: Sync, staged: Revision | None) -> SyncResult | None:
    """Make the snapshot what is in force, in one short transaction; None where a later sync was stored.

    Only here the cluster's row is locked, so whatever was compared before is checked:
    raises OvertakenError if another revision is in force by now.
    """
    why_not = compared.why_not
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=compared.row.pk)
        if sync.number <= row.reading_stored:
            return None
        is_accepted = why_not is None or quarantine.accepted_by(row, why_not, sync.accepted_by) is not None
        if row.revision_id != compared.row.revision_id or not is_accepted:
            raise staging.OvertakenError("another snapshot was stored meanwhile.")
        revision = _write_revision(row, compared, staged)
        state, sentence = _bring_up_to_date(row, compared, sync, revision)

        # Last, because the audit trail's lock is held until the commit.
        if why_not is not None and sync.accepted_by is not None:
            quarantine.record_acceptance(row, actor=sync.accepted_by, reason=str(why_not["sentence"]))
        if revision is not None and compared.changes_acls:
            _record_change(row, revision, compared.delta, compared.elsewhere)
    delta = compared.delta
    return SyncResult(revision, compared.makes_revision, state, sentence, delta, read=True)


def _write_revision(row: Cluster, compared: _Compared, staged: Revision | None) -> Revision | None:
    """Return the revision in force after this snapshot: the staged one, a new one, or the one before."""
    if staged is not None:
        staging.publish(staged)
        return staged
    if not compared.makes_revision:
        return row.revision
    revision = staging.create(row, published=True, **_figures(compared))
    staging.write(revision, compared.rows)
    return revision


def _figures(compared: _Compared) -> dict[str, object]:
    """Return what a revision keeps of itself beside its rows."""
    acls, names = compared.acls, compared.names
    return {
        "read_at": compared.at,
        "cause": compared.cause,
        "acls": acls.count,
        "acls_added": len(acls.add),
        "acls_removed": len(acls.remove),
        "names_added": len(names.add),
        "names_removed": len(names.remove),
        "digest": acls.digest,
    }


def _dropped(
    row: Cluster,
    sentence: str = "A later sync, or a change of its connection, was stored first, so this one was dropped.",
) -> SyncResult:
    row = Cluster.objects.select_related("revision").get(pk=row.pk)
    return SyncResult(row.revision, False, stored_state(row), sentence)


def _bring_up_to_date(
    row: Cluster, compared: _Compared, sync: Sync, revision: Revision | None
) -> tuple[ClusterState, str]:
    """Store in the cluster's own row, which is locked, what a trusted snapshot shows."""
    snapshot, now = sync.snapshot, compared.at
    before = Declaration.values_of(row)
    problems = (
        *snapshot.problems,
        *broker_settings.take_over(row, snapshot.facts.settings, now, all_brokers=not snapshot.facts.silent),
    )
    state, sentence = state_and_sentence(row, snapshot, compared.acls.count, compared.names.topics_stored)
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
    row.topics_listed, row.groups_listed = snapshot.known.topics, snapshot.known.groups
    row.reading_stored = sync.number
    row.read_marks = snapshot.marks
    if not compared.rows.are_many:  # storing a first snapshot takes long, and says nothing of the next sync
        row.sync_seconds = time.monotonic() - sync.began
    row.cluster_id = snapshot.facts.cluster_id or row.cluster_id
    if snapshot.facts.kafka_version and known_version(row.authorizer, snapshot.facts.kafka_version):
        row.kafka_version = snapshot.facts.kafka_version
    row.held = None
    row.save(update_fields=_READ_FIELDS)
    _reached(row)
    declared.keep(row, before=before, actor=ITSELF, since=now)
    return state, sentence


def _reached(row: Cluster) -> None:
    """Have a cluster that answers again synced at the usual interval, or at once where somebody has asked meanwhile.

    row: as it is now, and locked.
    """
    if row.failures:
        is_not_due = When(next_sync_at__gt=Now(), then=scheduling.after_recovery())
        Cluster.objects.filter(pk=row.pk).update(
            failures=0, next_sync_at=Case(is_not_due, default=F("next_sync_at"))
        )


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
    "read_marks",
    "sync_seconds",
    "cluster_id",
    "kafka_version",
    "held",
]


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
