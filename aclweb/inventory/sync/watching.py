"""Have a cluster synced within seconds after somebody has edited its ACLs, where the cluster tells of edits.

Each worker for syncs watches: a thread keeps as many watches as it can get leases for, one lease a cluster, so that
of several workers one watches a cluster. Each watch is a thread with a session of its own, so one that hangs
holds up no other. A watch makes the sync of its cluster due, and that is all it does: whatever is missed, because a
worker is lost or a session has ended, the next sync by the clock finds.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.models.functions import Now

from aclweb.clusters import KINDS, ClusterError, Connection, Moved
from aclweb.inventory import leases
from aclweb.inventory.current import connection_of
from aclweb.inventory.models import Cluster, ClusterWatch
from aclweb.inventory.work import pulses, scheduling

logger = logging.getLogger(__name__)

# A watch that could not be opened, or has ended, is opened anew after so long.
PAUSE_SECONDS = 60.0
# So soon after one sync that a watch has asked for it asks for the next, at most.
LEAST_SECONDS_BETWEEN = 1.0
_WAIT_SECONDS = 1.0


class Watching(threading.Thread):
    """The watches of this process. `ring` has a worker look for what is due."""

    def __init__(
        self,
        ring: Callable[[], object],
        *,
        every_seconds: float = pulses.EVERY_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        super().__init__(name="aclweb-watching", daemon=True)
        self._ring = ring
        self._every_seconds = every_seconds
        self._pause_seconds = pause_seconds
        self._owner = leases.owner("watch")
        self._watches: dict[int, _Watch] = {}
        self._not_before: dict[int, float] = {}
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self._look()
            except DatabaseError:
                logger.warning("Which clusters to watch could not be read.", exc_info=True)
            except Exception:
                logger.exception("Watching goes on after an error.")
            finally:
                connections.close_all()  # of this thread
            self._ended.wait(self._every_seconds)

    def ask_to_end(self) -> None:
        """Ask all watches to end, without waiting until they have."""
        self._ended.set()
        for watch in list(self._watches.values()):
            watch.ended.set()

    def end(self, timeout_seconds: float) -> None:
        """End all watches, and let other workers have their clusters at once."""
        self.ask_to_end()
        deadline = time.monotonic() + timeout_seconds
        for thread in (self, *self._watches.values()):
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))
        try:
            mine = ClusterWatch.objects.filter(lease_owner=self._owner)
            mine.update(lease_owner="", lease_until=None, connected_at=None)
        except DatabaseError:
            logger.warning("The leases of watches end by themselves.", exc_info=True)
        finally:
            connections.close_all()

    def _look(self) -> None:
        """End what is not to be watched any more, renew what is, and watch what nobody else does."""
        pulses.note(pulses.WATCHER)
        wanted = _to_watch(set(self._watches))
        for pk, watch in list(self._watches.items()):
            if not watch.is_alive():
                self._forget(pk)
                self._not_before[pk] = time.monotonic() + self._pause_seconds
            elif wanted.get(pk) != watch.connection or not self._take(pk):
                watch.ended.set()
                self._forget(pk)
        for pk, connection in wanted.items():
            if (
                pk in self._watches
                or time.monotonic() < self._not_before.get(pk, 0.0)
                or self._ended.is_set()
            ):
                continue
            ClusterWatch.objects.get_or_create(cluster_id=pk)
            if self._take(pk):
                self._watches[pk] = _Watch(pk, connection, self._ring, self._owner)
                self._watches[pk].start()

    def _take(self, pk: int) -> bool:
        row = ClusterWatch.objects.filter(cluster_id=pk)
        return leases.take(row, owner=self._owner, seconds=settings.ACLWEB_LEASE_SECONDS)

    def _forget(self, pk: int) -> None:
        del self._watches[pk]
        row = ClusterWatch.objects.filter(cluster_id=pk, lease_owner=self._owner)
        row.update(lease_owner="", lease_until=None, connected_at=None)


def _to_watch(watched: set[int]) -> Mapping[int, Connection]:
    """Return how to connect to each cluster that is to be watched: it answered the last time, or is watched already.

    A watch goes on while its cluster does not answer: it is the first to know when that is over.
    """
    watchable = [name for name, kind in KINDS.items() if kind.watch is not None]
    found: dict[int, Connection] = {}
    rows = Cluster.objects.filter(kind__in=watchable, paused_at__isnull=True, read_at__isnull=False)
    for row in rows.defer(None).defer("read_marks"):
        if row.failures and row.pk not in watched:
            continue
        try:
            found[row.pk] = connection_of(row)
        except ClusterError:  # its login cannot be decrypted, as each sync says
            continue
    return found


class _Watch(threading.Thread):
    """One cluster's watch, from the opening of its session to the end."""

    def __init__(self, pk: int, connection: Connection, ring: Callable[[], object], owner: str) -> None:
        super().__init__(name=f"aclweb-watch-{pk}", daemon=True)
        self.pk, self.connection, self.ended = pk, connection, threading.Event()
        self._ring, self._owner = ring, owner
        self._is_told_connected: bool | None = None
        self._due: Moved | None = None
        self._rung_at = float("-inf")
        self._pause = LEAST_SECONDS_BETWEEN

    def run(self) -> None:
        opened = self.connection.kind.watch
        try:
            assert opened is not None
            with closing(opened(self.connection)) as watch:
                # Whatever changed before it was there.
                self._due = Moved.SOMETHING
                while not self.ended.is_set():
                    self._tell_connected(watch.is_connected)
                    self._ring_if_due()
                    self._note(watch.wait(_WAIT_SECONDS if self._due is None else 0.1))
        except ClusterError as error:
            logger.warning("Cluster %d is not watched: %s", self.pk, error)
        except DatabaseError:
            logger.warning("The watch of cluster %d is opened anew.", self.pk, exc_info=True)
        except Exception:
            logger.exception("The watch of cluster %d ended.", self.pk)
        finally:
            connections.close_all()  # of this thread

    def _note(self, moved: Moved | None) -> None:
        if moved is not None and self._due is not Moved.EVERYTHING:
            self._due = moved

    def _ring_if_due(self) -> None:
        """Make the sync due for which something has happened, unless the last one was asked for a moment ago."""
        if self._due is None or time.monotonic() - self._rung_at < self._pause:
            return
        try:
            took = scheduling.ring(self.pk, whole=self._due is Moved.EVERYTHING)
            if took is not None:
                self._ring()
                self._pause = max(LEAST_SECONDS_BETWEEN, scheduling.BUSY_SHARE * took)
            self._due, self._rung_at = None, time.monotonic()
        finally:
            connections.close_all()  # a watch has nothing to ask for hours

    def _tell_connected(self, is_connected: bool) -> None:
        if is_connected is self._is_told_connected:
            return
        try:
            row = ClusterWatch.objects.filter(cluster_id=self.pk, lease_owner=self._owner)
            row.update(connected_at=Now() if is_connected else None)
            self._is_told_connected = is_connected
        finally:
            connections.close_all()
