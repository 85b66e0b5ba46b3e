"""Which load of a cluster's logs do pages show?"""

from __future__ import annotations

from aclweb.insights.models import Load
from aclweb.inventory.models import Cluster


def current_load(cluster: Cluster) -> Load | None:
    """Return the newest complete load of the cluster's logs."""
    # The manifest is large and one page shows it: it is read when it is asked for.
    return Load.objects.filter(cluster=cluster, current=True).defer("manifest").order_by("-loaded_at").first()
