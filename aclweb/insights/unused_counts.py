"""How many ACLs of each cluster does its log show to be unused?

A worker counts them, as `unused` does for one cluster, so that a page about all clusters reads a row for each. A number
counts only for the ACLs, the settings and the retired brokers that it was counted with.
"""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.db.models import F, QuerySet

from aclweb.insights.broker_days import with_retired
from aclweb.insights.models import Load
from aclweb.insights.unused import evidence_of, unused_count
from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)


def with_counts(loads: QuerySet[Load]) -> QuerySet[Load, Any]:
    """Return the loads with what `is_counted` needs of each."""
    return with_retired(loads).annotate(acls_of=F("cluster__revision"))


def is_counted(load: Any) -> bool:
    """Return whether the number of a load is that of now; load: of `with_counts`."""
    return bool(load.unused_by == _counted_by(load))


def keep_counts() -> int:
    """Count again where something moved since; return for how many clusters."""
    loads = with_counts(Load.objects.filter(current=True)).defer("manifest").order_by("cluster", "-loaded_at")
    newest: dict[int, Any] = {}
    for load in loads:
        newest.setdefault(load.cluster_id, load)
    waiting = {key: load for key, load in newest.items() if not is_counted(load)}
    # A removed cluster is not among these, and keeps its loads until a worker has deleted them.
    clusters = Cluster.objects.in_bulk(waiting)
    for key, cluster in clusters.items():
        load = waiting[key]
        if cluster.revision_id == load.acls_of:
            number = unused_count(cluster, load, evidence_of(load))
            Load.objects.filter(pk=load.pk).update(unused=number, unused_by=_counted_by(load))
    return len(clusters)


def _counted_by(load: Any) -> str:
    retired = f"{load.retired}@{load.retired_at.timestamp():.6f}" if load.retired_at else "0"
    return ":".join(
        str(each)
        for each in (load.acls_of, settings.ACLWEB_UNUSED_DAYS, settings.ACLWEB_UNUSED_HOURS_PERCENT, retired)
    )
