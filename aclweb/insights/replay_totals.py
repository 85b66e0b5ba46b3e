"""How much of a replay concerns each principal, each resource and each day?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from aclweb.acl.model import Resource
from aclweb.insights.models import Load
from aclweb.insights.replay import SAMPLES, Flip, Replay, Sample
from aclweb.insights.requests import NEWEST_DAYS, lines_by_day

MOST_REQUESTS = 2_000
"""Of so many distinct requests that would be refused, and as many that would be allowed, the days are added up."""


@dataclass(frozen=True)
class Total:
    """The lines of one principal, one resource or one day that would be refused, allowed, or not settled by ACLs.

    about: the principal, the Resource, or the day as 2026-11-20. samples: the requests that were logged most often;
    none of a day.
    """

    about: str | Resource
    denied: int = 0
    allowed: int = 0
    unclear: int = 0
    samples: tuple[Sample, ...] = ()

    @property
    def lines(self) -> int:
        return self.denied + self.allowed + self.unclear


def by_principal(found: Replay) -> tuple[Total, ...]:
    """Return a Total for each principal, those of most lines first."""
    return _added_up(found, lambda flip: flip.principal)


def by_resource(found: Replay) -> tuple[Total, ...]:
    """Return a Total for each resource, those of most lines first."""
    return _added_up(found, lambda flip: flip.resource)


def by_day(found: Replay) -> tuple[Total, ...]:
    """Return a Total for each day of the replay that has any, of the last 90 days of the log, the latest first.

    Of more than MOST_REQUESTS requests of a kind, those with most lines are added up: see `days_are_whole`. Empty where
    the load is gone meanwhile, or has no times.
    """
    load = Load.objects.filter(pk=found.load).defer("manifest").first()
    if load is None or load.last_at is None:
        return ()
    last = load.last_at.date()
    first = last - timedelta(days=(found.days or NEWEST_DAYS) - 1)
    kinds = [_days(load, flips, first, last) for flips in (found.denied, found.allowed, found.unclear)]
    days = sorted({day for of_kind in kinds for day in of_kind}, reverse=True)
    denied, allowed, unclear = kinds
    return tuple(Total(day, denied.get(day, 0), allowed.get(day, 0), unclear.get(day, 0)) for day in days)


def days_are_whole(found: Replay) -> bool:
    """Return whether `by_day` adds up all requests."""
    kinds = (found.denied, found.allowed, found.unclear)
    return all(sum(len(flip.requests) for flip in flips) <= MOST_REQUESTS for flips in kinds)


def _added_up(found: Replay, about: Callable[[Flip], str | Resource]) -> tuple[Total, ...]:
    sums: dict[str | Resource, Counter[str]] = defaultdict(Counter)
    samples: dict[str | Resource, list[Sample]] = defaultdict(list)
    for flip in found.flips:
        sums[about(flip)][flip.change] += flip.lines
        samples[about(flip)] += flip.samples
    totals = [
        Total(key, lines["loses"], lines["gains"], lines["depends"], _most_logged(samples[key]))
        for key, lines in sums.items()
    ]
    return tuple(sorted(totals, key=lambda total: (-total.lines, str(total.about))))


def _most_logged(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    return tuple(sorted(samples, key=lambda sample: -sample.lines)[:SAMPLES])


def _days(load: Load, flips: Sequence[Flip], first: date, last: date) -> Mapping[str, int]:
    """Return the lines of each day; flips: those with most lines first."""
    numbers = [number for flip in flips for number in flip.requests][:MOST_REQUESTS]
    return lines_by_day(load, numbers, first=first, last=last)
