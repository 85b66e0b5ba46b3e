"""How did the latest syncs of a cluster go: when, for how long, with how many ACLs?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from aclweb.inventory.models import Cluster, SyncRun
from aclweb.inventory.stored_syncs import MOST_KEPT

# One as dear as several usual ones stands out.
_FAR_BEYOND = 3.0
_HEIGHT, _LOWEST, _PITCH = 60.0, 3.0, 10
MOST_SHOWN = 8


@dataclass(frozen=True)
class Bar:
    """One sync among others, of a picture 60 high. tone: "good", "warn" or "bad"."""

    run: SyncRun
    x: int
    height: float
    tone: str

    @property
    def y(self) -> float:
        return round(_HEIGHT - self.height, 1)


@dataclass(frozen=True)
class SyncRuns:
    """The latest syncs, the newest first. median, longest: seconds of those that did not fail; None without any."""

    rows: Sequence[SyncRun]
    median: float | None
    longest: float | None

    @property
    def bars(self) -> list[Bar]:
        """The syncs as bars, the oldest first."""
        most = max((run.seconds for run in self.rows), default=0.0) or 1.0
        return [
            Bar(run, _PITCH * place, round(max(_LOWEST, _HEIGHT * run.seconds / most), 1), self._tone(run))
            for place, run in enumerate(reversed(self.rows))
        ]

    @property
    def width(self) -> int:
        """How wide the picture of all bars is: as many as are kept have room, so that one bar is no wall."""
        return _PITCH * MOST_KEPT

    @property
    def shown(self) -> Sequence[SyncRun]:
        """The newest, and of the older ones those that found or missed something; a page has room for so many."""
        told = [run for run in self.rows[2:] if run.outcome != SyncRun.Outcome.UNCHANGED]
        return [*self.rows[:2], *told][:MOST_SHOWN]

    def _tone(self, run: SyncRun) -> str:
        if run.outcome in (SyncRun.Outcome.FAILED, SyncRun.Outcome.QUARANTINED):
            return "bad"
        is_far = self.median is not None and run.seconds > _FAR_BEYOND * self.median and run.seconds >= 1
        return "warn" if is_far else "good"


def sync_runs(cluster: Cluster) -> SyncRuns:
    """Return the latest syncs of the cluster, in one query."""
    rows = list(SyncRun.objects.filter(cluster=cluster)[:MOST_KEPT])
    took = [run.seconds for run in rows if run.outcome != SyncRun.Outcome.FAILED]
    return SyncRuns(rows, median(took) if took else None, max(took, default=None))
