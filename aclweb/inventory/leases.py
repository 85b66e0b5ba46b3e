"""Let one process at a time do a piece of work: the right to it is a lease on a row of the database.

A lease ends by itself after its seconds, by the database's clock, so a worker that dies
blocks nobody for long, on whatever host. Whoever works renews it all the while (`renewed`),
however long the work takes. It keeps work from being done twice; it is not what keeps data
right: a sync that comes late is refused when it is stored (`sync`).
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
from typing import Any

from django.db import DatabaseError, connection, models
from django.db.models import ExpressionWrapper, Q
from django.db.models.fields import DateTimeField
from django.db.models.functions import Now

logger = logging.getLogger(__name__)

# Work that takes longer than this hangs, and gives way to another worker.
LONGEST_WORK_SECONDS = 3600


class Leased(models.Model):
    """A row that one worker at a time works on: a cluster, a lint run, a change, a refresh of insights."""

    lease_owner = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True)  # by the database's clock

    class Meta:
        abstract = True


def owner(work: str) -> str:
    """Return a name for one piece of work of this process, such as `sync worker-1:412:9f0c1a2b`."""
    return f"{work} {socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def later(seconds: float) -> Any:
    """Return the moment so many seconds from now by the database's clock, for a filter or an update."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def is_held() -> Q:
    """Return the condition on rows that some worker holds now."""
    return Q(lease_until__gt=Now())


def is_free() -> Q:
    """Return the condition on rows that nobody holds, or whose lease ran out."""
    return Q(lease_until__isnull=True) | Q(lease_until__lte=Now())


def take(rows: models.QuerySet[Any], *, owner: str, seconds: float) -> bool:
    """Take the row, or renew a lease already held; return False if somebody else has it, or it is gone.

    rows: the one row, with whatever else must be true of it.
    """
    mine = Q(lease_owner=owner)
    return bool(rows.filter(is_free() | mine).update(lease_owner=owner, lease_until=later(seconds)))


def release(rows: models.QuerySet[Any], *, owner: str) -> None:
    """Give the row back; does nothing if the lease has passed to somebody else."""
    rows.filter(lease_owner=owner).update(lease_owner="", lease_until=None)


@contextmanager
def held(rows: models.QuerySet[Any], *, owner: str, seconds: float) -> Iterator[bool]:
    """Hold the row for the length of a block, however long that is; the block gets whether the lease is its own."""
    got = take(rows, owner=owner, seconds=seconds)
    if not got:
        yield False
        return
    try:
        with renewed(lambda: take(rows, owner=owner, seconds=seconds), every_seconds=seconds / 3):
            yield True
    finally:
        release(rows, owner=owner)


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


def holder(rows: models.QuerySet[Any]) -> str | None:
    """Return who holds the row now; None if nobody does."""
    return rows.filter(is_held()).values_list("lease_owner", flat=True).first() or None
