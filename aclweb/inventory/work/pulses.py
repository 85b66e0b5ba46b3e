"""Which workers are alive? Each finished heartbeat task, and each tick of the beat, updates a row.

Every few seconds the beat sends a heartbeat task to each queue. A row is written when a
worker has finished it, so it proves the whole way: the beat, the queue, a worker that takes
tasks, and the database. The beat's own row tells a silent beat from silent workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from aclweb.inventory.models import Pulse

CHANGES, SYNCS, SEARCHES = "changes", "syncs", "searches"
QUEUES = (CHANGES, SYNCS, SEARCHES)
BEAT = "beat"
# Whoever watches clusters, so that an edit shows at once; a thread of the worker for syncs.
WATCHER = "watcher"

EVERY_SECONDS = 5
# Later than this is silent: four heartbeats, and still within the 30 s in which readiness tells.
SILENT_AFTER = timedelta(seconds=20)


@dataclass(frozen=True)
class Life:
    """When each queue and the beat last had a heartbeat (UTC), and how long ago by the database's clock."""

    at: Mapping[str, datetime]
    age: Mapping[str, timedelta]

    def is_silent(self, name: str) -> bool:
        """Return whether it gave no sign lately, or never gave one."""
        return name not in self.age or self.age[name] > SILENT_AFTER

    @property
    def is_ready(self) -> bool:
        """Whether approved changes and syncs get done. Searches may take an hour each, so they do not count."""
        return not any(self.is_silent(name) for name in (CHANGES, SYNCS, BEAT))

    def words(self, name: str) -> str:
        """Return `ok`, `silent since 2026-11-20 14:02:05 UTC` or `silent: no heartbeat yet`."""
        if not self.is_silent(name):
            return "ok"
        return f"silent since {self._time(name)}" if name in self.at else "silent: no heartbeat yet"

    @property
    def worker(self) -> str:
        """The state of the workers together, in words: `ok`, or that of the first that is silent."""
        for name in (CHANGES, SYNCS):
            if self.is_silent(name):
                return self.words(name)
        return "ok"

    def sentence(
        self, *, changes_wait: bool, findings_wait: bool = False, findings_at_work: bool = False
    ) -> str:
        """Return what everybody must know of workers that are silent; an empty text if nobody need know anything.

        A new installation whose workers were never heard of has nothing to tell before something waits.
        findings_at_work: a worker is at a search, or was until now, so that its heartbeats wait behind it.
        """
        if self.is_silent(CHANGES) and (CHANGES in self.at or changes_wait):
            since = f" since {self._time(CHANGES)}" if CHANGES in self.at else " yet"
            waits = " Approved changes wait." if changes_wait else ""
            return f"No worker for changes has finished a task{since}.{waits}"
        if self.is_silent(SYNCS) and SYNCS in self.at:
            return f"No worker has synced a cluster since {self._time(SYNCS)}. What pages show may be old."
        if self.is_silent(BEAT) and BEAT in self.at:
            return f"The beat has been silent since {self._time(BEAT)}, so no sync starts by itself."
        if self.is_silent(SEARCHES) and not findings_at_work and (SEARCHES in self.at or findings_wait):
            since = f" since {self._time(SEARCHES)}" if SEARCHES in self.at else " yet"
            waits = " Findings wait." if findings_wait else " Findings may be old."
            return f"No worker for findings has finished a task{since}.{waits}"
        return ""

    def _time(self, name: str) -> str:
        return f"{self.at[name]:%Y-%m-%d %H:%M:%S} UTC"


def note(name: str) -> None:
    """Store a heartbeat of this queue or of the beat now."""
    if not Pulse.objects.filter(pk=name).update(at=Now()):
        Pulse.objects.update_or_create(pk=name, defaults={"at": Now()})


def life() -> Life:
    """Return the last heartbeat of each queue and of the beat; one query."""
    age = ExpressionWrapper(Now() - F("at"), output_field=DurationField())
    rows = list(Pulse.objects.annotate(age=age).values_list("name", "at", "age"))
    return Life({name: at for name, at, _ in rows}, {name: old for name, _, old in rows})
