"""Have a worker check the connection of a cluster, and find what it found last."""

from __future__ import annotations

from django.db import transaction
from django.db.models.functions import Now

from aclweb.audit import trail
from aclweb.inventory.checks import tasks
from aclweb.inventory.models import Cluster, ConnectionCheck

# Of one cluster; older ones leave.
MOST_KEPT = 5

State = ConnectionCheck.State


def ask(*, cluster: Cluster, actor: trail.Named | str) -> ConnectionCheck:
    """Have a worker check the cluster, also a paused one; one that waits for a worker already is returned."""
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        mine = ConnectionCheck.objects.filter(cluster=cluster)
        row = mine.filter(state=State.QUEUED).first()
        if row is None:
            name = actor if isinstance(actor, str) else actor.get_username()
            row = ConnectionCheck.objects.create(cluster=cluster, asked_by=name, asked_at=Now())
            row.refresh_from_db(fields=["asked_at"])
            ended = mine.exclude(state__in=(State.QUEUED, State.WORKING))
            mine.filter(pk__in=list(ended.values_list("pk", flat=True)[MOST_KEPT - 1 :])).delete()
        # After the commit, or a worker could miss the row. Where the queue is down, the beat enqueues it later.
        transaction.on_commit(tasks.enqueue, robust=True)
    return row


def latest(cluster: Cluster) -> ConnectionCheck | None:
    """Return the check that was asked for last, whatever its state; None where nobody has asked for one."""
    return ConnectionCheck.objects.filter(cluster=cluster).order_by("-pk").first()
