"""Celery tasks: lint runs on the ACLs in force."""

from __future__ import annotations

import logging

from aclweb.celery import app
from aclweb.inventory import leases
from aclweb.inventory.findings import lint_run
from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)

# A run that takes longer is given up, and has failed: a million ACLs take some minutes.
LONGEST_RUN_SECONDS = 1800


def ask_for_findings(cluster: Cluster) -> None:
    """Enqueue a lint run on what was read of the cluster last, unless somebody has asked for that."""
    if cluster.revision is None:
        return
    found = lint_run.run_of(cluster)
    if found is None:
        lint_run.begin(cluster, cluster.revision)
        lint_cluster.delay(cluster.pk)
    elif lint_run.is_waiting(found) and lint_run.enqueue_again(found):
        lint_cluster.delay(cluster.pk)


@app.task(name="inventory.search", ignore_result=True, acks_late=True, soft_time_limit=LONGEST_RUN_SECONDS)
def lint_cluster(cluster_id: int) -> None:
    """Work out and store what the ACLs of one cluster hold, unless that is done or somebody is at it."""
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is None:
        logger.info("Cluster %d is gone, so no lint run began.", cluster_id)
    else:
        try:
            lint_run.run(cluster, owner=leases.owner("searching"))
        except Cluster.DoesNotExist:
            logger.info("Cluster %s was removed during its lint run.", cluster.slug)
