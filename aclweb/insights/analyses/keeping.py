"""How long are analyses kept, how many of them, and how are they removed?"""

from __future__ import annotations

from datetime import timedelta

from django.db.models.functions import Coalesce, Now

from aclweb.insights.models import OPEN, Analysis, AnalysisRow
from aclweb.inventory.store import in_turn

# Rows of each table of a result that are kept, the first of those that the job wrote.
MOST_ROWS = 100_000

# Of one job and cluster: how many that have ended, for how long, and how many rows the ones before the newest have.
MOST_KEPT = 5
KEPT_FOR = timedelta(days=90)
MOST_ROWS_OF_EARLIER = 300_000

_REMOVED_AT_ONCE = 1_000


def forget_old() -> None:
    """Delete analyses that are older than they are kept, or too many; the newest with a result of each job stays."""
    for row in Analysis.objects.filter(pk__in=_going()):
        forget_rows(row)
        row.delete()


def forget_rows(row: Analysis) -> None:
    """Delete the result of an analysis, in short transactions."""
    own = AnalysisRow.objects.filter(analysis=row).order_by("pk")
    while keys := list(own.values_list("pk", flat=True)[:_REMOVED_AT_ONCE]):
        with in_turn():
            AnalysisRow.objects.filter(analysis=row, pk__lte=keys[-1]).delete()


def _going() -> list[int]:
    ended = Analysis.objects.exclude(state__in=OPEN).order_by("-pk")
    too_old = set(
        ended.annotate(at=Coalesce("finished_at", "asked_at"))
        .filter(at__lt=Now() - KEPT_FOR)
        .values_list("pk", flat=True)
    )
    seen: dict[tuple[int, str], tuple[int, int]] = {}
    with_result: set[tuple[int, str]] = set()
    going = []
    for pk, cluster, job, state, rows in ended.values_list("pk", "cluster_id", "job", "state", "rows_kept"):
        key = (cluster, job)
        count, total = seen.get(key, (0, 0))
        is_newest = state == Analysis.State.DONE and key not in with_result
        if is_newest:
            with_result.add(key)
        elif pk in too_old or count >= MOST_KEPT or total + rows > MOST_ROWS_OF_EARLIER:
            going.append(pk)
            continue
        seen[key] = (count + 1, total + (0 if is_newest else rows))
    return going
