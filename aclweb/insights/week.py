"""What does the log tell of its last seven days: who was refused for the first time, more often, no more?

Seven days up to the last one of the log are compared with the seven before. Where the log does not reach back so
far, what needs those days is unknown and not 0. Groups of which a person said that they are expected, or to be
ignored, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from aclweb.acl.model import Operation, Resource, ResourceType
from aclweb.insights.coverage_days import coverage_days
from aclweb.insights.denials import InForceSince, State, groups_of, states_of
from aclweb.insights.models import DenialGroup, Load
from aclweb.inventory.models import Cluster

DAYS = 7
SHOWN = 8
"""So many groups of each kind are listed, those with most denials first; all are counted."""

TIMES_BEFORE = 2
LEAST_MORE = 20
"""A group grew if it has over TIMES_BEFORE times the denials of the seven days before, and at least so many more."""

_LEFT_OUT = (State.EXPECTED, State.IGNORED)


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


def log_week(cluster: Cluster, load: Load, *, in_force_since: InForceSince) -> LogWeek | None:
    """Return the last seven days of a load, None where it has no times; at most fifteen queries."""
    if load.first_at is None or load.last_at is None:
        return None
    end = load.last_at.date()
    begin = end - timedelta(days=DAYS - 1)
    begins_at = datetime.combine(begin, time(), UTC)
    reaches_before = load.first_at < begins_at
    reaches_back = load.first_at.date() <= begin - timedelta(days=DAYS)
    every = groups_of(load, 0)
    said = states_of(cluster, load, every, in_force_since).said
    left_out = [key for key, each in said.items() if each.state in _LEFT_OUT]
    lately = every.filter(lines_7__gt=0)
    sums = lately.aggregate(lines=Coalesce(Sum("lines_7"), 0))
    chosen = every.exclude(key__in=left_out).annotate(before=F("lines_14") - F("lines_7"))
    whole, both = (coverage_days(load, days=days).denials_whole for days in (DAYS, 2 * DAYS))
    is_new = Q(first_at__gte=begins_at)
    more = Q(lines_7__gt=F("before") * TIMES_BEFORE, lines_7__gte=F("before") + LEAST_MORE, before__gt=0)
    of_week = chosen.filter(lines_7__gt=0)

    def some(found: QuerySet[DenialGroup], by: str) -> Some:
        return Some(found.count(), _rows(found.order_by(f"-{by}", "key")[:SHOWN], reaches_back))

    return LogWeek(
        begin=begin,
        end=end,
        lines=sums["lines"],
        groups=lately.count(),
        before=_before(every) if reaches_back else None,
        first=some(of_week.filter(is_new), "lines_7") if reaches_before else None,
        grown=some(of_week.filter(more).exclude(is_new), "lines_7") if both == 2 * DAYS else None,
        ended=some(chosen.filter(lines_7=0, before__gt=0), "before")
        if reaches_back and whole == DAYS
        else None,
        bursts=some(of_week.filter(burst_day__gte=begin), "burst_lines"),
        left_out=lately.filter(key__in=left_out).count() if left_out else 0,
        whole=whole,
    )


def _before(groups: QuerySet[DenialGroup]) -> int:
    lines: int = groups.aggregate(lines=Coalesce(Sum(F("lines_14") - F("lines_7")), 0))["lines"]
    return lines


def _rows(groups: Sequence[Any] | QuerySet[DenialGroup], reaches_back: bool) -> tuple[Refused, ...]:
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
