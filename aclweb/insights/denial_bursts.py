"""On which day was one group of denials far larger than usual?

A day of the last NEWEST_DAYS of the log is a burst if it has at least LEAST denials, and over TIMES_USUAL times those
of the median day of these. What is kept of requests is counted by day, so the hour is unknown.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from aclweb.insights.denial_groups import NEWEST_DAYS
from aclweb.insights.models import Load, LogDay

TIMES_USUAL = 10
LEAST = 100


@dataclass(frozen=True)
class Burst:
    """The latest burst of a group. lines: its denials. usual: those of the median day of the span."""

    day: date
    lines: int
    usual: int


@dataclass(frozen=True)
class Span:
    """The days of the log that a day is compared with. days: how many of them from `begin` on were logged."""

    begin: date
    days: int


def burst_in(days: Collection[tuple[str, int]], of_log: int) -> Burst | None:
    """Return the latest burst; None without one.

    days: (day, denials), days without any left out. of_log: how many days the log has in the same span.
    """
    usual = _median([lines for _, lines in days], of_log)
    bursts = [(day, lines) for day, lines in days if lines >= LEAST and lines > TIMES_USUAL * usual]
    if not bursts:
        return None
    day, lines = max(bursts)
    return Burst(date.fromisoformat(day), lines, usual)


def burst_facts(days: Collection[tuple[str, int]], span: Span) -> dict[str, Any]:
    """Return what a DenialGroup keeps of its burst, by the names of its fields.

    days: as for `burst_in`; those before the span do not count.
    """
    begin = span.begin.isoformat()
    found = burst_in([(day, lines) for day, lines in days if day >= begin], span.days)
    return {
        "burst_day": found.day if found else None,
        "burst_lines": found.lines if found else 0,
        "burst_usual": found.usual if found else 0,
    }


def span_of(load: Load) -> Span:
    """Return the last NEWEST_DAYS of the log of a load.

    Where a load has no LogDay, as of results of earlier versions, each day from the first to the last counts.
    """
    if load.first_at is None or load.last_at is None:
        return Span(date.max, 0)
    last = load.last_at.date()
    begin = last - timedelta(days=NEWEST_DAYS - 1)
    logged = LogDay.objects.filter(load=load, day__gte=begin, day__lte=last)
    days = logged.values("day").distinct().count()
    return Span(begin, days or (last - max(load.first_at.date(), begin)).days + 1)


def _median(lines: Collection[int], of_log: int) -> int:
    """Return the denials of the median day, where all other days of the log have none."""
    silent = max(0, of_log - len(lines))
    place = (silent + len(lines)) // 2 - silent
    return sorted(lines)[place] if lines and place >= 0 else 0
