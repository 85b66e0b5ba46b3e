"""The doors through which workers learn from the logs.

`refresh_all` reads the logs of every cluster that has any, one after another with one Spark. A refresh that finds
another one at work on the same cluster leaves it to that one. Of the analyses that people ask for, a process
runs one at a time.
"""

from __future__ import annotations

import logging
import threading

from aclweb.celery import app
from aclweb.insights import refresh as refreshing
from aclweb.insights import unused_counts
from aclweb.insights.analyses import keeping, ringing, running, workspace
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import ANALYSES
from aclweb.insights.rounds import one_spark
from aclweb.inventory import leases
from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)

# Of one process: its other threads stay free for lint runs, logs and the heartbeat.
_slot = threading.BoundedSemaphore()


@app.task(name="insights.refresh", ignore_result=True, acks_late=True)
def refresh(cluster_id: int) -> None:
    """Read the logs of one cluster and load what they say; what failed is in the worker's log."""
    _refresh(cluster_id)


@app.task(name="insights.refresh_all", ignore_result=True, acks_late=True)
def refresh_all() -> None:
    """Read the logs of every cluster that has any and load what they say; what fails costs one cluster."""
    with one_spark(refreshing.LONGEST_RUN_SECONDS) as one:
        with_logs = Cluster.objects.filter(log_sources__isnull=False).order_by("pk").distinct()
        for cluster_id in list(with_logs.values_list("pk", flat=True)):
            try:
                _refresh(cluster_id, one.run)
            except Exception:  # the logs of the other clusters are read whatever it is
                logger.exception("The logs of cluster %d were not read.", cluster_id)


def _refresh(cluster_id: int, job: refreshing.Job | None = None) -> None:
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    if cluster is None:
        logger.info("Cluster %d is gone, so its logs were not read.", cluster_id)
        return
    try:
        refreshing.refresh(cluster, job)
    except InsightsError as error:
        logger.warning("Insights of cluster %s stay as they were. %s", cluster.slug, error)


@app.task(name=ringing.TASK, ignore_result=True, acks_late=True)
def analyse_next() -> None:
    """Run the analysis that has waited longest, then enqueue the next; does nothing where none waits."""
    # Where another thread runs one, it goes on with the next.
    if not _slot.acquire(blocking=False):
        return
    try:
        has_run = running.run_next(leases.owner("analysis"))
    finally:
        _slot.release()
    if has_run and ANALYSES.are_waiting():
        ringing.enqueue()


@app.task(name="insights.sweep", ignore_result=True, acks_late=True)
def sweep() -> None:
    """Enqueue again the analyses that wait, or whose worker was lost; forget old ones, and what lost ones left.

    Also counts the unused ACLs of clusters of which something moved.
    """
    if ANALYSES.are_waiting():
        ringing.enqueue()
    keeping.forget_old()
    workspace.remove_left()
    unused_counts.keep_counts()
