"""Which cluster is synced next? The one that has waited longest, and unreachable ones less and less often.

Nothing waits in a message queue by name: a worker that is free takes, from the database, the
cluster whose sync has been due for the longest time. So a cluster is never queued twice, the
order is fair however many there are, and a message that is lost costs nothing.

A cluster that does not answer costs a worker all its patience. So syncs run in two lanes, each
with as many at once: clusters that answered the last time never wait for those that did not.
"""

from __future__ import annotations

import enum
import random
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from aclweb.inventory import leases
from aclweb.inventory.models import Cluster

# Between two attempts to reach a cluster that does not answer; the first comes after the usual interval.
LONGEST_BACKOFF_SECONDS = 600
_JITTER = 0.25
# A sync takes a part of the time between two begins, one in so many, on a cluster where it takes long.
BUSY_SHARE = 4
LONGEST_INTERVAL_SECONDS = 1800
# A sync at once is asked for at most this often, however many people press the button.
ASKED_AGAIN_AFTER = timedelta(seconds=10)


# A cluster that was never tried may be either.
_ANSWERED = Q(failures=0, tried_at__isnull=False)
_NEVER_TRIED = Q(tried_at__isnull=True)


class Lane(enum.Enum):
    """Which clusters a sync may take: each of these in turn, the longest waiting first."""

    ANSWERED = (_ANSWERED, _NEVER_TRIED)
    UNANSWERED = (~_ANSWERED,)


def due() -> QuerySet[Cluster]:
    """Return the clusters whose sync is due and that nobody works on, the longest waiting first; no paused one."""
    is_due = Q(next_sync_at__isnull=True) | Q(next_sync_at__lte=Now())
    return Cluster.objects.filter(is_due, leases.is_free(), paused_at__isnull=True).order_by(
        F("next_sync_at").asc(nulls_first=True), "pk"
    )


def take_next(*, owner: str, lane: Lane = Lane.ANSWERED) -> int | None:
    """Take the lease of the cluster that has waited longest in the lane and return its id; None if none is due.

    Its next sync is due one interval after this one begins, and later where the last one took long.
    """
    for those in lane.value:
        for pk, took in due().filter(those).values_list("pk", "sync_seconds")[:20]:
            taken = (
                due()
                .order_by()
                .filter(those, pk=pk)
                .update(
                    lease_owner=owner,
                    lease_until=leases.later(settings.ACLWEB_LEASE_SECONDS),
                    next_sync_at=leases.later(interval_seconds(took)),
                )
            )
            if taken:
                return pk
    return None


def interval_seconds(took: float) -> float:
    """Return how long after the begin of a sync the next one is due. took: how long the last one took, in seconds.

    A cluster whose syncs take long keeps a worker busy for a quarter of the time at most.
    """
    usual: float = settings.ACLWEB_SYNC_INTERVAL_SECONDS
    return max(usual, min(BUSY_SHARE * took, LONGEST_INTERVAL_SECONDS))


def ask(cluster_id: int) -> bool:
    """Make the cluster's sync due now; return False where that was asked for a moment ago, or it is paused."""
    not_asked = Q(sync_asked_at__isnull=True) | Q(sync_asked_at__lt=Now() - ASKED_AGAIN_AFTER)
    if not Cluster.objects.filter(not_asked, pk=cluster_id, paused_at__isnull=True).update(
        sync_asked_at=Now()
    ):
        return False
    Cluster.objects.filter(pk=cluster_id, next_sync_at__gt=Now()).update(next_sync_at=Now())
    return True


def ring(cluster_id: int, *, whole: bool) -> float | None:
    """Make the cluster's sync due now, because its ACLs may have changed; return how many seconds the last one took.

    whole: whether the sync is to read everything. None where it is paused, removed or gone.
    """
    rows = Cluster.objects.filter(pk=cluster_id, paused_at__isnull=True)
    if whole:
        rows.update(sync_asked_at=Now())
    rows.filter(next_sync_at__gt=Now()).update(next_sync_at=Now())
    return rows.values_list("sync_seconds", flat=True).first()


def after_failure(failures: int) -> Any:
    """Return when to try again, for the database, after so many failures in a row (1 or more)."""
    interval = settings.ACLWEB_SYNC_INTERVAL_SECONDS
    seconds = min(interval * 2 ** min(failures - 1, 16), max(interval, LONGEST_BACKOFF_SECONDS))
    return leases.later(seconds * random.uniform(1 - _JITTER, 1 + _JITTER))  # noqa: S311


def after_recovery() -> Any:
    """Return when to sync a cluster again that answers after it did not."""
    return leases.later(settings.ACLWEB_SYNC_INTERVAL_SECONDS)
