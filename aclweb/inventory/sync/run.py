"""Sync a cluster: read it, and store what differs from what was stored before.

A snapshot is stored whole or not at all (`storing`). What failed to be read deletes nothing: a failed
sync changes the cluster's state and its sentence, and a pattern that could not be understood
keeps the rows it had. A snapshot that lost too much to be trusted, or that comes from another cluster
behind the same address, waits until a person accepts it (`quarantine`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from aclweb.acl.model import Delta
from aclweb.acl.notation import binding_key
from aclweb.clusters import (
    AclSnapshot,
    ClusterClient,
    ClusterError,
    Earlier,
    Known,
    Marks,
    Problem,
    TopicInfo,
    connect,
)
from aclweb.inventory import details
from aclweb.inventory.current import connection_of, settings_of
from aclweb.inventory.fields import storable
from aclweb.inventory.models import Cluster, Revision
from aclweb.inventory.sync import history
from aclweb.inventory.sync.differ import Listed, Snapshot
from aclweb.inventory.sync.last_read import LastRead
from aclweb.inventory.sync.result import MIGRATING, SILENT, SyncResult
from aclweb.inventory.sync.storing import Sync, store
from aclweb.inventory.work import scheduling

logger = logging.getLogger(__name__)


def sync(
    cluster: Cluster,
    *,
    cause: Revision.Cause = Revision.Cause.READING,
    client: ClusterClient | None = None,
    expected: Delta | None = None,
    accepted_by: str | None = None,
) -> SyncResult:
    """Read the cluster, store what differs, and bring `cluster` itself up to date.

    client: an open client to read with; without one, a connection is opened and closed.
    expected: what aclweb itself has just written. Only other differences count as made
        elsewhere, and losing these ACLs is no reason for quarantine.
    accepted_by: who accepts the quarantined snapshot, if this one loses no more.

    Never raises for trouble with the cluster: its state and a sentence are stored and
    returned.
    """
    began_at, began = timezone.now(), time.monotonic()
    # What aclweb itself has written is proven by reading everything.
    last = _begin(cluster, whole=cause == Revision.Cause.OURS)
    number = last.row.readings_begun
    with ExitStack() as own:
        try:
            reader = own.enter_context(connect(connection_of(cluster))) if client is None else client
            snapshot = _read(cluster, reader, last)
        except ClusterError as error:
            failed = _fail(cluster, number, error)
            history.keep(cluster, failed, began_at=began_at, seconds=time.monotonic() - began, whole=True)
            return failed
        result = store(
            cluster, Sync(number, last.row.reading_stored, snapshot, cause, expected, accepted_by, began)
        )
        whole = snapshot.acls.patterns is None
        history.keep(cluster, result, began_at=began_at, seconds=time.monotonic() - began, whole=whole)
        # After the ACLs, which people wait for, and nothing of a cluster that seems to be another one.
        if client is None and cluster.cluster_id in ("", snapshot.facts.cluster_id):
            details.read(cluster, reader, settings_of(cluster), number=number)
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


def _begin(cluster: Cluster, *, whole: bool) -> LastRead:
    """Number this sync; return what the last one read, nothing of it where this one is to read everything."""
    with transaction.atomic():
        Cluster.objects.filter(pk=cluster.pk).update(readings_begun=F("readings_begun") + 1)
        return LastRead.of(cluster, whole=whole)


def read_snapshot(cluster: Cluster, client: ClusterClient) -> Snapshot:
    """Return all that the cluster answers now, of which nothing is stored; raises ClusterError."""
    return _read(cluster, client, LastRead(cluster, timezone.now(), None))


def _read(cluster: Cluster, client: ClusterClient, last: LastRead) -> Snapshot:
    facts = client.describe()
    earlier = last.earlier(facts.cluster_id)
    marks = client.marks(earlier)
    acls = _acls(client, marks, earlier)
    problems = list(acls.problems)
    if facts.migrating:
        problems.append(Problem("/migration", MIGRATING, hazard=True))
    problems += [Problem(address, SILENT.format(address=address)) for address in facts.silent]
    topics_stay = earlier is not None and marks.topics is not None and marks.topics == earlier.marks.topics
    topics: tuple[TopicInfo, ...] | None = None
    topics_failed = False
    if not topics_stay:
        read_topics = partial(client.read_topics, earlier) if earlier is not None else client.read_topics
        topics, topics_failed = _listed(read_topics, "topics", problems)
    groups, groups_failed = _listed(client.read_groups, "groups", problems)
    known = client.names_known(acls, settings_of(cluster))
    if topics_failed:
        known = replace(known, topics=Known(cluster.topics_listed))
    if groups_failed:
        known = replace(known, groups=Known(cluster.groups_listed))
    by_key = {binding_key(binding): binding for binding in acls.bindings}
    return Snapshot(
        facts,
        acls,
        topics if known.topics is not Known.UNKNOWN else None,
        groups if known.groups is not Known.UNKNOWN else None,
        known,
        tuple(problems),
        by_key,
        topics_stay,
        last.marks_after(marks, acls, keeps_topics=not topics_failed),
    )


def _acls(client: ClusterClient, marks: Marks, earlier: Earlier | None) -> AclSnapshot:
    if earlier is None:
        return client.read_acls()
    if marks.acls is not None and marks.acls == earlier.marks.acls:
        return AclSnapshot((), patterns=frozenset())
    return client.read_acls(earlier)


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
    return SyncResult(cluster.revision, False, error.state, sentence, failed=True)
