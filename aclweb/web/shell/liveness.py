"""Is this installation whole: its database, its queue, its workers and the beat?

Whoever probes must not cost much or hold up the site, however often and without signing in.
So a thread of each process that serves pages looks every few seconds (`watch`), and whoever
asks gets what it found last, at once. What has become old, because a look hangs, counts as
no. Where that thread does not run, one of those who ask looks, and the others do not wait.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import connections

from aclweb.celery import app
from aclweb.changes.models import UNDER_WAY, Change
from aclweb.inventory.findings import is_at_work, is_left_waiting
from aclweb.inventory.work import BEAT, QUEUES, SEARCHES, WATCHER, Life, pulses
from aclweb.runtime import storage

logger = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 5.0
# What was found longer ago than this says by itself that something hangs.
OLD_AFTER_SECONDS = 12.0
QUEUE_TIMEOUT_SECONDS = 2.0
_NOT_KNOWN = "not known"


@dataclass(frozen=True)
class State:
    """What was found: "ok" or what is wrong, in words, for the database, the queue, workers and the beat.

    life is None where the database could not be asked: then nobody is called silent.
    """

    database: str = "not asked yet"
    queue: str = "not asked yet"
    life: Life | None = None
    changes_wait: bool = False
    findings_wait: bool = False
    findings_at_work: bool = False

    @property
    def can_serve(self) -> bool:
        """Whether pages can be shown and forms stored."""
        return self.database == self.queue == "ok"

    @property
    def is_whole(self) -> bool:
        """Whether approved changes and syncs get done too."""
        return self.can_serve and self.life is not None and self.life.is_ready

    @property
    def sentence(self) -> str:
        """What everybody must know now; an empty text if nothing."""
        if self.life is None:
            return ""
        return self.life.sentence(
            changes_wait=self.changes_wait,
            findings_wait=self.findings_wait,
            findings_at_work=self.findings_at_work,
        )

    def as_dict(self) -> Mapping[str, object]:
        life = self.life
        workers = {
            name: {
                "state": life.words(name) if life else _NOT_KNOWN,
                "finished": at.isoformat(timespec="seconds") if life and (at := life.at.get(name)) else None,
            }
            for name in QUEUES
        }
        return {
            "database": self.database,
            "queue": self.queue,
            "worker": life.worker if life else _NOT_KNOWN,
            "beat": life.words(BEAT) if life else _NOT_KNOWN,
            "watcher": self._watcher,
            "workers": workers,
        }

    @property
    def _watcher(self) -> str:
        if not settings.ACLWEB_WATCH:
            return "switched off"
        return self.life.words(WATCHER) if self.life else _NOT_KNOWN


_UNASKED = State()
_HANGS = State("does not answer in time", "does not answer in time")

_NEVER = float("-inf")


class _LastLook:
    """What this process found last, and when by its own clock."""

    def __init__(self) -> None:
        self.found, self.at = _UNASKED, _NEVER
        self.is_watched = False
        self.looking = threading.Lock()

    def keep(self, found: State, at: float) -> None:
        self.found, self.at = found, at


_last = _LastLook()


def watch() -> None:
    """Have a thread of this process look again and again; it ends with the process."""
    _last.is_watched = True
    threading.Thread(target=_keep_looking, name="aclweb-liveness", daemon=True).start()


def state() -> State:
    """Return what was found last."""
    age = time.monotonic() - _last.at
    if age < LOOK_EVERY_SECONDS:
        return _last.found
    if (not _last.is_watched or _last.at == _NEVER) and _last.looking.acquire(blocking=False):
        try:
            return _look_and_keep()
        finally:
            _last.looking.release()
    if _last.found is _UNASKED:  # the first look of this process goes on
        return _UNASKED
    return _last.found if age < OLD_AFTER_SECONDS else _HANGS


def known_sentence() -> str:
    """Return what everybody must know by what was found last, without looking; an empty text if nothing."""
    return _last.found.sentence if time.monotonic() - _last.at < OLD_AFTER_SECONDS else ""


def _keep_looking() -> None:
    while True:
        with _last.looking:
            _look_and_keep()
        connections.close_all()  # of this thread
        time.sleep(LOOK_EVERY_SECONDS)


def _look_and_keep() -> State:
    found = _look()
    _last.keep(found, time.monotonic())
    return found


def forget() -> None:
    """Look anew when asked next."""
    _last.keep(_UNASKED, _NEVER)


def _look() -> State:
    life, waits, findings = None, False, (False, False)
    try:
        database = _database()
        if database == "ok":
            life = pulses.life()
            waits = Change.objects.filter(state__in=(Change.State.QUEUED, *UNDER_WAY)).exists()
            if life.is_silent(SEARCHES):
                findings = is_left_waiting(), is_at_work(pulses.SILENT_AFTER)
    except Exception:  # whatever is wrong, the answer is that it does not work; the log says why
        logger.exception("A readiness check failed.")
        database = "failed"
    try:
        queue = _queue()
    except Exception:
        logger.exception("A readiness check failed.")
        queue = "failed"
    return State(database, queue, life, waits, *findings)


def _database() -> str:
    """Return "ok", or in a sentence why nothing can be read or written there now."""
    return storage.database_problem() or "ok"


def _queue() -> str:
    with app.connection_for_write() as queue:
        queue.ensure_connection(max_retries=1, timeout=QUEUE_TIMEOUT_SECONDS)
    return "ok"
