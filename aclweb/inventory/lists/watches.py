"""Which clusters are watched, so that an edit shows within seconds, and how soon does it show of the others?"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from aclweb.clusters import KINDS
from aclweb.inventory.models import Cluster
from aclweb.inventory.work.scheduling import interval_seconds

_IS_WATCHED = Q(watch__lease_until__gt=Now(), watch__connected_at__isnull=False)


def watched_clusters() -> Sequence[tuple[str, bool]]:
    """Return the short name of each cluster that can be watched, and whether a worker watches it now; one query."""
    watchable = [name for name, kind in KINDS.items() if kind.watch is not None]
    rows = Cluster.objects.filter(kind__in=watchable, paused_at__isnull=True).annotate(
        is_watched=ExpressionWrapper(_IS_WATCHED, output_field=BooleanField())
    )
    return [(slug, bool(is_watched)) for slug, is_watched in rows.values_list("slug", "is_watched")]


def how_soon(cluster: Cluster) -> str:
    """Return as a sentence when an edit that is made elsewhere shows here; empty for a cluster that is paused."""
    if cluster.is_paused:
        return ""
    seconds = interval_seconds(cluster.sync_seconds)
    every = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    if cluster.failures:
        return "Edits made elsewhere show once a sync succeeds again."
    if cluster.source.watch is None:
        return f"Edits made elsewhere show at the next sync, every {every}, or after Sync now."
    if Cluster.objects.filter(_IS_WATCHED, pk=cluster.pk).exists():
        return f"{cluster.source.subject} is watched, so edits made elsewhere show within seconds."
    return f"{cluster.source.subject} is not watched now; edits made elsewhere show at the next sync, every {every}."
