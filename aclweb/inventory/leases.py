"""Let one process at a time work on a cluster.

A lease ends by itself after its seconds, by the database's clock, so a worker that dies
blocks nobody for long. It keeps work from being done twice; it is not what keeps data
right: a reading that comes late is refused when it is stored (`sync`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db.models import ExpressionWrapper, F, Q
from django.db.models.fields import DateTimeField
from django.db.models.functions import Now

from aclweb.inventory.models import Cluster


def take(cluster_id: int, *, owner: str, seconds: int) -> bool:
    """Take the cluster, or prolong a lease already held; return False if somebody else has it."""
    until = ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=Now()) | Q(lease_owner=owner)
    taken = Cluster.objects.filter(free, pk=cluster_id).update(lease_owner=owner, lease_until=until)
    return bool(taken)


def release(cluster_id: int, *, owner: str) -> None:
    """Give the cluster back; does nothing if the lease has passed to somebody else."""
    Cluster.objects.filter(pk=cluster_id, lease_owner=owner).update(lease_owner="", lease_until=None)


@contextmanager
def held(cluster_id: int, *, owner: str, seconds: int) -> Iterator[bool]:
    """Hold the cluster for the length of a block; the block is told whether it got it."""
    got = take(cluster_id, owner=owner, seconds=seconds)
    try:
        yield got
    finally:
        if got:
            release(cluster_id, owner=owner)


def holder(cluster_id: int) -> str | None:
    """Return who works on the cluster now; None if nobody does."""
    row = Cluster.objects.filter(pk=cluster_id, lease_until__gte=Now()).annotate(who=F("lease_owner"))
    return row.values_list("who", flat=True).first() or None
