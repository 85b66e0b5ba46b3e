"""How long are analyses kept, how many of them, and how are they removed?"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Coalesce, Now

from aclweb.insights.models import Analysis, AnalysisRow
from aclweb.inventory.store import in_turn

# Rows of each table of a result that are kept, the first of those that the job wrote.
MOST_ROWS = 100_000

# Of one job and cluster: how many results, for how long, and how many rows the ones before the newest have.
MOST_KEPT = 5
KEPT_FOR = timedelta(days=90)
MOST_ROWS_OF_EARLIER = 300_000

# An analysis that ended so stays so, and has no rows.
WITHOUT_RESULT = (Analysis.State.FAILED, Analysis.State.CANCELLED)

_REMOVED_AT_ONCE = 1_000


def forget_old() -> None:
    """Delete analyses that are older than they are kept, or too many, and rows of those that have no result.

    Of each job of a cluster the newest with a result stays, and for the time that is kept the newest without one.
    """
    for row in Analysis.objects.filter(pk__in=_going()):
        forget_rows(Analysis.objects.filter(pk=row.pk))
        row.delete()
    # A worker may be killed between the end of an analysis and the removal of its rows.
    has_rows = Exists(AnalysisRow.objects.filter(analysis=OuterRef("pk")))
    for pk in Analysis.objects.filter(has_rows, state__in=WITHOUT_RESULT).values_list("pk", flat=True):
        forget_rows(Analysis.objects.filter(pk=pk))


def forget_rows(of: QuerySet[Analysis]) -> None:
    """Delete the rows of the one analysis that a query finds, in short transactions, as long as it finds it."""
    while True:
        with in_turn():
            row = of.select_for_update(no_key=True).first()
            if row is None:
                return
            own = AnalysisRow.objects.filter(analysis=row)
            keys = list(own.order_by("pk").values_list("pk", flat=True)[:_REMOVED_AT_ONCE])
            if not keys:
                return
            own.filter(pk__lte=keys[-1]).delete()


def _going() -> list[int]:
    ended = Analysis.objects.exclude(state__in=Analysis.OPEN).order_by("-pk")
    too_old = set(
        ended.annotate(at=Coalesce("finished_at", "asked_at"))
        .filter(at__lt=Now() - KEPT_FOR)
        .values_list("pk", flat=True)
    )
    seen: dict[tuple[int, str], tuple[int, int]] = {}
    without_result: set[tuple[int, str]] = set()
    going = []
    for pk, cluster, job, state, rows in ended.values_list("pk", "cluster_id", "job", "state", "rows_kept"):
        key = (cluster, job)
        if state in WITHOUT_RESULT:
            if pk in too_old or key in without_result:
                going.append(pk)
            without_result.add(key)
            continue
        count, total = seen.get(key, (0, 0))
        is_newest = not count
        if not is_newest and (pk in too_old or count >= MOST_KEPT or total + rows > MOST_ROWS_OF_EARLIER):
            going.append(pk)
            continue
        seen[key] = (count + 1, total + (0 if is_newest else rows))
    return going
