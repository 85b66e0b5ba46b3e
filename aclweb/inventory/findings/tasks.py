"""Celery tasks: lint runs, which look through the ACLs in force."""

from __future__ import annotations

import logging

from aclweb.celery import app
from aclweb.inventory import leases
from aclweb.inventory.findings import lint_run as searching
from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)

# A search that takes longer is given up, and told as failed: a million ACLs take some minutes.
LONGEST_SEARCH_SECONDS = 1800


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
        searching.search(cluster, owner=leases.owner("searching"))
