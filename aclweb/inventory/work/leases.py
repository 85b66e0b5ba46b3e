"""Let one process at a time work on a cluster.

A lease ends by itself after its seconds, by the database's clock, so a worker that dies
blocks nobody for long. Whoever works renews it all the while (`renewed`), however long the
work takes. It keeps work from being done twice; it is not what keeps data right: a sync
that comes late is refused when it is stored (`sync`).
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import DatabaseError, connection
from django.db.models import ExpressionWrapper, F, Q
from django.db.models.fields import DateTimeField
from django.db.models.functions import Now

from aclweb.inventory.models import Cluster

logger = logging.getLogger(__name__)

# Work that takes longer than this hangs, and gives way to another worker.
LONGEST_WORK_SECONDS = 3600


def owner(work: str) -> str:
    """Return a name for one piece of work of this process, such as `sync worker-1:412:9f0c1a2b`."""
    return f"{work} {socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


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
    """Hold the cluster for the length of a block, however long that is; the block is told whether it got it."""
    got = take(cluster_id, owner=owner, seconds=seconds)
    if not got:
        yield False
        return
    try:
        with renewed(lambda: take(cluster_id, owner=owner, seconds=seconds), every_seconds=seconds / 3):
            yield True
    finally:
        release(cluster_id, owner=owner)


@contextmanager
def renewed(renew: Callable[[], bool], *, every_seconds: float) -> Iterator[None]:
    """Call `renew` again and again from a thread of its own while the block works.

    It ends when `renew` returns False, because the lease has passed to somebody else.
    """
    done = threading.Event()
    thread = threading.Thread(
        target=_renew, args=(renew, every_seconds, done), name="aclweb-lease", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        done.set()
        # A renewal under way must not outlive the block, or it would take back what is given up next.
        thread.join()


def _renew(renew: Callable[[], bool], every_seconds: float, done: threading.Event) -> None:
    deadline = time.monotonic() + LONGEST_WORK_SECONDS
    while not done.wait(every_seconds) and time.monotonic() < deadline:
        try:
            if not renew():
                return
        except DatabaseError:  # tried again in time: a lease lasts for three of these
            logger.warning("A lease could not be renewed.", exc_info=True)
        finally:
            connection.close()  # of this thread


def holder(cluster_id: int) -> str | None:
    """Return who works on the cluster now; None if nobody does."""
    row = Cluster.objects.filter(pk=cluster_id, lease_until__gte=Now()).annotate(who=F("lease_owner"))
    return row.values_list("who", flat=True).first() or None
