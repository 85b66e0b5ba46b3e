"""What waits for this person, and how is each cluster? The two cards below the question on the home page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Sum

from aclweb.accounts.models import User
from aclweb.changes.models import Change
from aclweb.changes.queries import Effect, effect_of, waiting_for
from aclweb.insights.broker_days import denied_lines
from aclweb.insights.models import Load
from aclweb.insights.unused_counts import is_counted, with_counts
from aclweb.inventory.findings import TREND_DAYS, Posture, Trend, postures, trends
from aclweb.web.browse import Spark, most_of, spark, steps
from aclweb.web.shell.frame import ClusterLine

CHANGES_SHOWN = 4


@dataclass(frozen=True)
class WaitingChange:
    change: Change
    effect: Effect | None


@dataclass(frozen=True)
class Figure:
    """One number of a cluster, and how it came to be so.

    grown: by how much since the first day that is known of the last TREND_DAYS; None where that is today. line: the
    path of its drawing, empty as `grown`.
    """

    number: int
    grown: int | None = None
    line: str = ""

    @property
    def size(self) -> int:
        """By how much it is another number now."""
        return abs(self.grown or 0)


@dataclass(frozen=True)
class Standing:
    """One cluster in the table of postures.

    figures: by the names of `posture.COUNTED`; empty until its ACLs have been linted. trend: where it is known of days
    before today. denials: lines of the last seven days of its log; None without one. denied: the bars of its last
    TREND_DAYS days. unused: how many of its ACLs the log shows to be unused; None where it cannot tell, or nobody has
    counted since something moved.
    """

    line: ClusterLine
    figures: Mapping[str, Figure]
    trend: Trend | None
    denials: int | None
    denied: Spark | None
    unused: Figure | None


def waiting_changes(person: User) -> list[WaitingChange]:
    """Return the newest changes that wait for this person's approval."""
    found = waiting_for(person).select_related("cluster", "author").order_by("-pk")[:CHANGES_SHOWN]
    return [WaitingChange(change, effect_of(change)) for change in found]


def standings(lines: Sequence[ClusterLine]) -> list[Standing]:
    """Return how each of these clusters is, in five queries for all of them."""
    clusters = [line.cluster for line in lines]
    found, before = postures(clusters), trends(clusters)
    loads = {
        load.cluster_id: load
        for load in with_counts(Load.objects.filter(cluster__in=clusters, current=True))
        .only("cluster_id", "last_at", "unused", "unused_by")
        .annotate(denied=Sum("denial_groups__lines_7"))
        .order_by("loaded_at")
    }
    days = {
        load: [(str(day), lines) for day, lines in each]
        for load, each in denied_lines(loads.values(), TREND_DAYS).items()
    }
    most = most_of(list(days.values()))
    standing = []
    for line in lines:
        key = line.cluster.pk
        load = loads.get(key)
        standing.append(
            Standing(
                line,
                _figures(found.get(key), before.get(key)),
                before.get(key),
                None if load is None else load.denied or 0,
                spark(days[load.pk], most) if load is not None and load.pk in days else None,
                Figure(load.unused)
                if load is not None and load.unused is not None and is_counted(load)
                else None,
            )
        )
    return standing


def _figures(posture: Posture | None, trend: Trend | None) -> Mapping[str, Figure]:
    """Return the numbers of now with those of the days before; what somebody dismissed today counts as today's."""
    if posture is None:
        return {}
    figures = {}
    for name, number in posture.numbers.items():
        values = (*trend.values(name)[:-1], number) if trend else (number,)
        known = [value for value in values if value is not None]
        figures[name] = Figure(number, number - known[0], steps(values)) if len(known) > 1 else Figure(number)
    return figures
