"""Stop connecting to a cluster for a while, and begin again, with a record of who did so.

A paused cluster is not synced and no change is written to it; what was read of it stays and answers. Only what
somebody asks for connects: a check of its connection, or a comparison before it is moved.
"""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from aclweb.audit import trail
from aclweb.inventory.models import Cluster

trail.register("cluster.paused", "{actor} paused {cluster}: nothing connects to it until it is resumed.")
trail.register("cluster.resumed", "{actor} resumed {cluster}: it is synced again.")


def pause(*, actor: trail.Named | str, cluster: Cluster) -> bool:
    """Pause the cluster; return False if it is paused already. What is under way at this moment is finished."""
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        if row.is_paused:
            return False
        row.paused_at = timezone.now()
        row.paused_by = actor if isinstance(actor, str) else actor.get_username()
        row.save(update_fields=["paused_at", "paused_by"])
        _record(actor, "cluster.paused", row)
    cluster.paused_at, cluster.paused_by = row.paused_at, row.paused_by
    return True


def resume(*, actor: trail.Named | str, cluster: Cluster) -> bool:
    """Have the cluster synced again, at once; return False if it is not paused."""
    with transaction.atomic():
        row = Cluster.objects.select_for_update().get(pk=cluster.pk)
        if not row.is_paused:
            return False
        row.paused_at, row.paused_by, row.next_sync_at = None, "", None
        row.save(update_fields=["paused_at", "paused_by", "next_sync_at"])
        _record(actor, "cluster.resumed", row)
    cluster.paused_at, cluster.paused_by = None, ""
    return True


def _record(actor: trail.Named | str, verb: str, row: Cluster) -> None:
    trail.record(actor=actor, verb=verb, target=f"cluster:{row.slug}", cluster=row.name)
