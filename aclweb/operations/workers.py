"""Which worker processes are there, with which command line, and how is each seen to be alive?

One program a queue and one for the beat. Each worker is a process with threads: it has no
children that could die and take a shared lock with them, and a thread that waits for a slow
cluster costs nothing. `./run` starts them beside the site, `manage.py work` without it.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection

from aclweb.inventory.work import pulses
from aclweb.operations.program import Program
from aclweb.operations.supervisor import Layer
from aclweb.runtime.stale_process import identity

NAMES = (*pulses.QUEUES, pulses.BEAT)

# Rollouts and syncs wait for clusters most of the time; a search is all computing.
_THREADS = {
    pulses.CHANGES: 8,
    # As many for clusters that answer as for those that do not, and one for the heartbeat.
    pulses.SYNCS: 2 * settings.ACLWEB_SYNCS_AT_ONCE + 1,
    # Two for lint runs and logs, one that computes impacts, and one that runs analyses.
    pulses.SEARCHES: 4,
}
# A worker without a sign of life for so long is replaced. Readiness tells long before; a busy
# machine is no reason to end work that goes on.
SILENT_SECONDS = 90.0


class Hearing:
    """Which workers live, as far as one can tell here: asked of the database at most once a second."""

    def __init__(self) -> None:
        self._asked_at = float("-inf")
        self._life = pulses.Life({}, {})
        self._beat_heard_since: float | None = None

    def is_ready(self, name: str) -> bool:
        """Return whether its heartbeat is recent."""
        return not self._now().is_silent(name)

    def lives(self, name: str) -> bool:
        """Return False only if it must be taken to do nothing.

        Heartbeats come from the beat: a queue can be blamed only while that goes on and on. A
        search takes as long as it takes, so its workers are replaced only when they end.
        """
        life = self._now()
        if name == pulses.BEAT:
            return not life.is_silent(name)
        since = self._beat_heard_since
        is_steady = since is not None and time.monotonic() - since > pulses.SILENT_AFTER.total_seconds()
        return name == pulses.SEARCHES or not is_steady or not life.is_silent(name)

    def _now(self) -> pulses.Life:
        now = time.monotonic()
        if now - self._asked_at >= 1.0:
            self._asked_at = now
            try:
                self._life = pulses.life()
            except DatabaseError:  # says nothing of the workers; readiness tells it
                self._life = pulses.Life({}, {})
                self._beat_heard_since = None
                return self._life
            finally:
                connection.close()
            if self._life.is_silent(pulses.BEAT):
                self._beat_heard_since = None
            elif self._beat_heard_since is None:
                self._beat_heard_since = now
        return self._life


def program(
    name: str, *, directory: Path, hearing: Hearing, environment: Mapping[str, str], own_log: bool = True
) -> Program:
    """Return the worker of one queue, or the beat, as a program of the supervisor."""
    marker = f"{name}-{identity(directory)}"
    # Django's checks load every page and the API: twice the memory and twice the start, for what `./test` has checked.
    celery = [sys.executable, "-m", "celery", "-A", "aclweb.celery", "--skip-checks"]
    if name == pulses.BEAT:
        # Each message that it sends is a line of this level.
        level = "WARNING" if _log_level() == "INFO" else _log_level()
        # The schedule is in the database; the file's name is only how the process is known again.
        command = [*celery, "beat", "--loglevel", level, "--pidfile", "", "--schedule", marker]
    else:
        command = [
            *(*celery, "worker", "--queues", name, "--pool", "threads"),
            *("--concurrency", str(_THREADS[name]), "--loglevel", _log_level()),
            *("--without-gossip", "--without-mingle", "--hostname", f"{marker}@%h"),
        ]
    return Program(
        "beat" if name == pulses.BEAT else f"worker for {name}",
        Layer.WORKER,
        command,
        directory=directory,
        marker=marker,
        ready=lambda: hearing.is_ready(name),
        alive=lambda: hearing.lives(name),
        silent_seconds=SILENT_SECONDS,
        environment=environment,
        own_log=own_log,
    )


def _log_level() -> str:
    """Return ACLWEB_LOG_LEVEL as Celery writes it; what Celery is given replaces the level that Django set."""
    number = logging.getLevelNamesMapping()[settings.ACLWEB_LOG_LEVEL]
    return logging.getLevelName(max(number, logging.DEBUG))
