"""The doors through which workers read clusters, and look through what they read.

`sync_all` rings once for each cluster and reads nothing itself, so one slow cluster
delays no other. A cluster that somebody is working on already is left to them. After a
reading the findings are asked for where they are not there, whatever made them old: the
reading, or a declaration since the last one.
"""

from __future__ import annotations

import logging
import os
import socket
import uuid

from django.conf import settings

from aclweb.celery import app
from aclweb.inventory import leases, searching
from aclweb.inventory import sync as syncing
from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)

# A search that takes longer is given up, and told as failed: a million ACLs take some minutes.
LONGEST_SEARCH_SECONDS = 1800


@app.task(name="inventory.sync", ignore_result=True, acks_late=True)
def sync_cluster(cluster_id: int) -> None:
    """Read one cluster, unless another worker is at it or it is gone."""
    owner = _owner("reading")
    with leases.held(cluster_id, owner=owner, seconds=settings.ACLWEB_LEASE_SECONDS) as mine:
        cluster = Cluster.objects.select_related("revision").filter(pk=cluster_id).first()
        if cluster is None:
            logger.info("Cluster %d is gone, so it was not read.", cluster_id)
        elif not mine:
            logger.info("Cluster %s was not read: somebody else is working on it.", cluster.slug)
        else:
            syncing.sync(cluster)
            ask_for_findings(cluster)


def ask_for_findings(cluster: Cluster) -> None:
    """Have a worker look through what was read of the cluster last, unless somebody has asked for that."""
    if cluster.revision is not None and searching.search_of(cluster) is None:
        search.delay(cluster.pk)


@app.task(name="inventory.search", ignore_result=True, acks_late=True, soft_time_limit=LONGEST_SEARCH_SECONDS)
def search(cluster_id: int) -> None:
    """Work out and store what the ACLs of one cluster hold, unless that is done or somebody is at it."""
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is None:
        logger.info("Cluster %d is gone, so its ACLs were not looked through.", cluster_id)
    else:
        searching.search(cluster, owner=_owner("searching"))


@app.task(name="inventory.sync_all", ignore_result=True)
def sync_all() -> None:
    """Have every cluster read; a reading that no worker took before the next round is dropped."""
    for cluster_id in Cluster.objects.order_by("pk").values_list("pk", flat=True):
        sync_cluster.apply_async((cluster_id,), expires=settings.ACLWEB_SYNC_INTERVAL_SECONDS)


def _owner(work: str) -> str:
    return f"{work} {socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
