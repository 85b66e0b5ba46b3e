"""Which load of a cluster's logs do pages show?"""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet

from aclweb.insights.broker_days import with_retired
from aclweb.insights.models import Load
from aclweb.inventory.models import Cluster


def current_load(cluster: Cluster, *, manifest: bool = False) -> Load | None:
    """Return the newest complete load of the cluster's logs; manifest: whether its manifest will be asked for."""
    return current_loads(cluster, manifest=manifest).first()


def newest_loads(clusters: Collection[Cluster]) -> dict[int, Load]:
    """Return `current_load` of each of these clusters that has one, by the key of the cluster; one query."""
    found = with_retired(Load.objects.filter(cluster__in=clusters, current=True).order_by("loaded_at"))
    return {load.cluster_id: load for load in found.defer("manifest")}


def current_loads(cluster: Cluster, *, manifest: bool = False) -> QuerySet[Load]:
    """Return the rows of which `current_load` is the first."""
    found = with_retired(Load.objects.filter(cluster=cluster, current=True).order_by("-loaded_at"))
    # The manifest is large and few pages show it: unless wanted, it is read when it is asked for.
    return found if manifest else found.defer("manifest")
