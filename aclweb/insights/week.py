"""What does the log tell of its last seven days: who was refused for the first time, more often, no more?

Seven days up to the last one of the log are compared with the seven before. Where the log does not reach back so
far, what needs those days is unknown and not 0. Groups of which a person said that they are expected, or to be
ignored, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import attrgetter, or_
from typing import Any

from django.db.models import Case, Count, F, Q, QuerySet, Sum, When, Window
from django.db.models.functions import Coalesce, RowNumber

from aclweb.acl.model import Operation, Resource, ResourceType
from aclweb.insights.coverage_days import coverage_days
from aclweb.insights.denial_marks import accepted
from aclweb.insights.denials import groups_of
from aclweb.insights.models import DenialGroup, Load
from aclweb.inventory.models import Cluster

DAYS = 7
SHOWN = 8
"""So many groups of each kind are listed, those with most denials first; all are counted."""

TIMES_BEFORE = 2
LEAST_MORE = 20
"""A group grew if it has over TIMES_BEFORE times the denials of the seven days before, and at least so many more."""


@dataclass(frozen=True)
class Refused:
    """A group of denials. lines: in the week; before: in the seven days before, None where the log begins later."""

    key: str
    principal: str
    operation: Operation
    resource: Resource
    lines: int
    before: int | None
    last_at: datetime


@dataclass(frozen=True)
class Some:
    """How many groups there are of a kind, and the first of them."""

    count: int
    rows: tuple[Refused, ...] = ()


@dataclass(frozen=True)
class LogWeek:
    """What was denied in the last seven days of the log; days are those of the brokers' clocks.

    lines, groups: all denials, also those left out. before: denials of the seven days before.
    first: groups that the log never showed before. grown: see LEAST_MORE. ended: groups of the seven days before
    without any denial since. bursts: groups with a day far above their usual one. Each of these four is without
    the groups left out, and None where the log cannot tell: the first where it holds no earlier day, the second
    where a broker did not write its denials on each of the fourteen days, the third where not on each of the seven.
    left_out: groups of the week that people call expected, or want ignored. whole: on how many of the days
    every broker wrote its denials.
    """

    begin: date
    end: date
    lines: int
    groups: int
    before: int | None
    first: Some | None
    grown: Some | None
    ended: Some | None
    bursts: Some
    left_out: int
    whole: int

    @property
    def has_grown(self) -> bool:
        """Whether there were far more denials than in the seven days before, as LEAST_MORE has it of a group."""
        if self.before is None:
            return False
        return self.lines > self.before * TIMES_BEFORE and self.lines >= self.before + LEAST_MORE


def log_week(cluster: Cluster, load: Load) -> LogWeek | None:
    """Return the last seven days of a load, None where it has no times; at most three queries."""
    if load.first_at is None or load.last_at is None:
        return None
    end = load.last_at.date()
    begin = end - timedelta(days=DAYS - 1)
    begins_at = datetime.combine(begin, time(), UTC)
    reaches_before = load.first_at < begins_at
    reaches_back = load.first_at.date() <= begin - timedelta(days=DAYS)
    every = groups_of(load, 0)
    whole, both = (coverage_days(load, days=days).denials_whole for days in (DAYS, 2 * DAYS))
    before = F("lines_14") - F("lines_7")
    lately, is_new = Q(lines_7__gt=0), Q(first_at__gte=begins_at)
    more = Q(lines_7__gt=F("before") * TIMES_BEFORE, lines_7__gte=F("before") + LEAST_MORE, before__gt=0)
    kinds = {"bursts": (lately & Q(burst_day__gte=begin), "burst_lines")}
    if reaches_before:
        kinds["first"] = (lately & is_new, "lines_7")
    if both == 2 * DAYS:
        kinds["grown"] = (lately & more & ~is_new, "lines_7")
    if reaches_back and whole == DAYS:
        kinds["ended"] = (Q(lines_7=0, before__gt=0), "before")
    # The database looks them up: of so many keys no statement could hold each.
    is_said = Q(key__in=accepted(cluster).values("key"))
    groups = every.annotate(before=before)
    sums = groups.aggregate(
        lines=Coalesce(Sum("lines_7"), 0),
        groups=Count("pk", filter=lately),
        lines_before=Coalesce(Sum("before"), 0),
        left_out=Count("pk", filter=lately & is_said),
        **{f"of_{name}": Count("pk", filter=chosen & ~is_said) for name, (chosen, _) in kinds.items()},
    )
    rows = _first_of_each(groups.exclude(is_said), kinds)

    def some(name: str) -> Some | None:
        return Some(sums[f"of_{name}"], _rows(rows[name], reaches_back)) if name in kinds else None

    bursts = some("bursts")
    assert bursts is not None
    return LogWeek(
        begin=begin,
        end=end,
        lines=sums["lines"],
        groups=sums["groups"],
        before=sums["lines_before"] if reaches_back else None,
        first=some("first"),
        grown=some("grown"),
        ended=some("ended"),
        bursts=bursts,
        left_out=sums["left_out"],
        whole=whole,
    )


def _first_of_each(
    groups: QuerySet[DenialGroup], kinds: Mapping[str, tuple[Q, str]]
) -> Mapping[str, list[DenialGroup]]:
    """Return the first groups of each kind, those with most of its column; one query.

    kinds: by name, which groups are of it, and the column.
    """
    ranks: dict[str, Case | Window] = {}
    for name, (chosen, by) in kinds.items():
        is_of = Case(When(chosen, then=True), default=False)
        ranks |= {
            f"is_{name}": is_of,
            f"rank_{name}": Window(RowNumber(), partition_by=is_of, order_by=[F(by).desc(), "key"]),
        }
    wanted = reduce(or_, (Q(**{f"is_{name}": True, f"rank_{name}__lte": SHOWN}) for name in kinds))
    found = list(
        groups.filter(reduce(or_, (chosen for chosen, _ in kinds.values()))).annotate(**ranks).filter(wanted)
    )
    return {
        name: sorted(
            (
                group
                for group in found
                if getattr(group, f"is_{name}") and getattr(group, f"rank_{name}") <= SHOWN
            ),
            key=attrgetter(f"rank_{name}"),
        )
        for name in kinds
    }


def _rows(groups: Sequence[Any], reaches_back: bool) -> tuple[Refused, ...]:
    return tuple(
        Refused(
            key=group.key,
            principal=group.principal,
            operation=Operation[group.operation],
            resource=Resource(ResourceType[group.resource_type], group.resource_name),
            lines=group.lines_7,
            before=group.lines_14 - group.lines_7 if reaches_back else None,
            last_at=group.last_at,
        )
        for group in groups
    )
