"""Are the logs of a cluster being read now, how far is that, and who has them read or has it cancelled?"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from aclweb.celery import app
from aclweb.insights.analyses import Progress
from aclweb.insights.errors import InsightsError
from aclweb.insights.models import Refresh
from aclweb.insights.refresh import LOADING
from aclweb.insights.telling import sentences_of, share_of
from aclweb.inventory import leases
from aclweb.inventory.models import Cluster

TASK = "insights.refresh"

# Whoever asks waits no longer than that for a worker; after it, one may ask again.
ASKED_FOR = timedelta(minutes=10)


def progress_of(cluster: Cluster, *, last: Refresh | None = None) -> Progress | None:
    """Return how far a worker is with the logs of a cluster; None where none reads them or is asked to.

    last: the row of the cluster, where the caller has just read it; mostly it says that there is nothing to ask.
    """
    if last is not None and not last.lease_owner and last.asked_at is None:
        return None
    row = _rows(cluster).filter(leases.is_held() | _is_asked()).first()
    if row is None:
        return None
    if not row.lease_owner:
        return Progress(True, 0, (f"{row.asked_by} asked for it, and it waits for a worker.",))
    return Progress(True, share_of(row), tuple(sentences_of(row)))


def may_be_cancelled(cluster: Cluster) -> bool:
    """Return whether a worker reads the logs and nobody has cancelled that yet."""
    return _cancellable(cluster).exists()


def ask(*, cluster: Cluster, person: str) -> None:
    """Have a worker read the logs of a cluster at once; does nothing where one does, or is asked to.

    Raises InsightsError where nobody has said where they are.
    """
    if not cluster.log_sources.exists():
        raise InsightsError(f"Nobody has said where the authorizer logs of {cluster} are.")
    Refresh.objects.get_or_create(cluster=cluster)
    free = _rows(cluster).filter(leases.is_free()).exclude(_is_asked())
    if free.update(asked_at=Now(), asked_by=person):
        enqueue(cluster.pk)


def enqueue(cluster_id: int) -> None:
    """Have a worker read the logs of a cluster; a message that no worker takes in time is not needed any more."""
    app.send_task(TASK, [cluster_id], expires=ASKED_FOR.total_seconds())


def cancel(*, cluster: Cluster, person: str) -> None:
    """End the reading of the logs; what pages show stays as it was. Raises InsightsError where nothing is to end."""
    if not _cancellable(cluster).update(cancelled_by=person):
        raise InsightsError("No worker reads the logs now, so there is nothing to cancel.")


def _cancellable(cluster: Cluster) -> QuerySet[Refresh]:
    return _rows(cluster).filter(leases.is_held(), cancelled_by="").exclude(step=LOADING)


def _rows(cluster: Cluster) -> QuerySet[Refresh]:
    return Refresh.objects.filter(cluster=cluster)


def _is_asked() -> Q:
    return Q(asked_at__gt=Now() - ASKED_FOR)
