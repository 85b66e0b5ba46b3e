"""Celery tasks: syncs, fairly among the clusters.

The beat enqueues `sync_all`, which enqueues `sync_next` for as many clusters as may be synced at
once. Each `sync_next` takes the cluster that has waited longest in a lane with a free slot (`scheduling`)
and enqueues the next one when it is done. After a sync a lint run is enqueued where the findings are not there,
whatever made them old: the sync, or a declaration since the last one.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.conf import settings

from aclweb.celery import app
from aclweb.inventory import leases
from aclweb.inventory.checks import enqueue_what_waits
from aclweb.inventory.findings import ask_for_findings
from aclweb.inventory.models import Cluster
from aclweb.inventory.store import keep_columns
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync.watching import Watching
from aclweb.inventory.work import pulses, scheduling

logger = logging.getLogger(__name__)

# Seconds that a worker waits for its watches when it ends.
_END_SECONDS = 3.0

# Of one process: one thread of a worker stays free for the heartbeat.
_slots = {lane: threading.BoundedSemaphore(settings.ACLWEB_SYNCS_AT_ONCE) for lane in scheduling.Lane}


@app.task(name="inventory.sync_all", ignore_result=True)
def sync_all() -> None:
    """Have the clusters that are due synced, as many at once as one worker may; and those checked that wait for it."""
    enqueue_what_waits()
    for _ in scheduling.due()[: len(_slots) * settings.ACLWEB_SYNCS_AT_ONCE]:
        _enqueue_the_next()


@app.task(name="inventory.sync_next", ignore_result=True, acks_late=True)
def sync_next() -> None:
    """Sync the cluster that has waited longest, then enqueue the next; does nothing where none is due."""
    # Where all slots are taken, whoever ends a sync goes on with the next.
    if any(_sync_next_of(lane) for lane in scheduling.Lane) and scheduling.due().exists():
        _enqueue_the_next()


@app.task(name="inventory.sync", ignore_result=True, acks_late=True)
def sync_cluster(cluster_id: int) -> None:
    """Sync one cluster, unless another worker is at it or it is gone."""
    _sync(cluster_id, leases.owner("sync"))


def ask_for_sync(cluster: Cluster) -> bool:
    """Have a worker sync this cluster soon; return False where that was asked for a moment ago, or it is paused."""
    asked = scheduling.ask(cluster.pk)
    if asked:
        _enqueue_the_next()
    return asked


@worker_ready.connect
def _watch(sender: Any, **_: object) -> None:
    """Have a worker for syncs watch the clusters that tell of edits."""
    if settings.ACLWEB_WATCH and pulses.SYNCS in sender.app.amqp.queues.consume_from:
        watching = Watching(_enqueue_the_next)
        # Celery keeps weak references.
        worker_shutting_down.connect(lambda **_: watching.ask_to_end(), weak=False)
        worker_shutdown.connect(lambda **_: watching.end(_END_SECONDS), weak=False)
        watching.start()


def _sync_next_of(lane: scheduling.Lane) -> bool:
    """Sync the cluster that has waited longest in the lane; return False where none is due or no slot is free."""
    if not _slots[lane].acquire(blocking=False):
        return False
    try:
        owner = leases.owner("sync")
        cluster_id = scheduling.take_next(owner=owner, lane=lane)
        if cluster_id is None:
            return False
        _sync(cluster_id, owner)
    finally:
        _slots[lane].release()
    return True


def _sync(cluster_id: int, owner: str) -> None:
    row, seconds = Cluster.objects.filter(pk=cluster_id), settings.ACLWEB_LEASE_SECONDS
    with leases.held(row, owner=owner, seconds=seconds) as mine:
        cluster = Cluster.objects.select_related("revision").filter(pk=cluster_id).first()
        if cluster is None:
            logger.info("Cluster %d is gone, so it was not read.", cluster_id)
        elif not mine:
            logger.info("Cluster %s was not read: somebody else is working on it.", cluster.slug)
        elif cluster.is_paused:
            logger.info("Cluster %s was not read: it is paused.", cluster.slug)
        else:
            try:
                syncing.sync(cluster)
                ask_for_findings(cluster)
                keep_columns(cluster)  # last, since nobody waits for them: pages read rows meanwhile
            except Cluster.DoesNotExist:
                logger.info("Cluster %s was removed while it was read.", cluster.slug)


def _enqueue_the_next() -> None:
    # One that no worker takes before the beat enqueues anew is not needed any more.
    sync_next.apply_async(expires=4 * pulses.EVERY_SECONDS)
