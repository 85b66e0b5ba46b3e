"""The doors through which workers read clusters, and look through what they read.

The beat rings `sync_all`, which rings `sync_next` for as many clusters as may be synced at
once. Each `sync_next` takes the cluster that has waited longest (`scheduling`) and rings the
next one when it is done. After a sync the findings are asked for where they are not there,
whatever made them old: the sync, or a declaration since the last one.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from typing import Any

from celery.signals import worker_ready
from django.conf import settings

from aclweb.celery import app
from aclweb.inventory import leases, pulses, scheduling, searching
from aclweb.inventory import sync as syncing
from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)

# A search that takes longer is given up, and told as failed: a million ACLs take some minutes.
LONGEST_SEARCH_SECONDS = 1800

# Of one process: one thread of a worker stays free for the heartbeat.
_syncs_at_once = threading.BoundedSemaphore(settings.ACLWEB_SYNCS_AT_ONCE)


@app.task(name="inventory.pulse", ignore_result=True)
def pulse(queue: str) -> None:
    """Leave the sign of life of the workers of one queue."""
    pulses.note(queue)


@worker_ready.connect
def _greet(sender: Any, **_: object) -> None:
    """Have a worker that has just started leave its first sign of life, before the beat asks for one."""
    for queue in sender.app.amqp.queues.consume_from:
        pulse.apply_async((queue,), queue=queue)


@app.task(name="inventory.sync_all", ignore_result=True)
def sync_all() -> None:
    """Have the clusters that are due synced, as many at once as one worker may."""
    for _ in scheduling.due()[: settings.ACLWEB_SYNCS_AT_ONCE]:
        _ring_for_the_next()


@app.task(name="inventory.sync_next", ignore_result=True, acks_late=True)
def sync_next() -> None:
    """Sync the cluster that has waited longest, then ring for the next; does nothing where none is due."""
    if not _syncs_at_once.acquire(blocking=False):
        return  # whoever ends a sync goes on with the next
    try:
        owner = _owner("sync")
        cluster_id = scheduling.take_next(owner=owner)
        if cluster_id is None:
            return
        _sync(cluster_id, owner)
    finally:
        _syncs_at_once.release()
    if scheduling.due().exists():
        _ring_for_the_next()


@app.task(name="inventory.sync", ignore_result=True, acks_late=True)
def sync_cluster(cluster_id: int) -> None:
    """Sync one cluster, unless another worker is at it or it is gone."""
    _sync(cluster_id, _owner("sync"))


def ask_for_sync(cluster: Cluster) -> bool:
    """Have a worker sync this cluster soon; return False where that was asked for a moment ago."""
    asked = scheduling.ask(cluster.pk)
    if asked:
        _ring_for_the_next()
    return asked


def ask_for_findings(cluster: Cluster) -> None:
    """Have a worker look through what was read of the cluster last, unless somebody has asked for that."""
    if cluster.revision is None:
        return
    found = searching.search_of(cluster)
    if found is None:
        searching.begin(cluster, cluster.revision)
        search.delay(cluster.pk)
    elif searching.is_waited_for(found) and searching.rung_again(found):
        search.delay(cluster.pk)


@app.task(name="inventory.search", ignore_result=True, acks_late=True, soft_time_limit=LONGEST_SEARCH_SECONDS)
def search(cluster_id: int) -> None:
    """Work out and store what the ACLs of one cluster hold, unless that is done or somebody is at it."""
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is None:
        logger.info("Cluster %d is gone, so its ACLs were not looked through.", cluster_id)
    else:
        searching.search(cluster, owner=_owner("searching"))


def _sync(cluster_id: int, owner: str) -> None:
    with leases.held(cluster_id, owner=owner, seconds=settings.ACLWEB_LEASE_SECONDS) as mine:
        cluster = Cluster.objects.select_related("revision").filter(pk=cluster_id).first()
        if cluster is None:
            logger.info("Cluster %d is gone, so it was not read.", cluster_id)
        elif not mine:
            logger.info("Cluster %s was not read: somebody else is working on it.", cluster.slug)
        else:
            syncing.sync(cluster)
            ask_for_findings(cluster)


def _ring_for_the_next() -> None:
    # One that no worker takes before the beat rings anew is not needed any more.
    sync_next.apply_async(expires=4 * pulses.EVERY_SECONDS)


def _owner(work: str) -> str:
    return f"{work} {socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
