"""On which days of a month did a sync find that ACLs or names of a cluster had changed?"""

from __future__ import annotations

import calendar
import datetime
from dataclasses import dataclass

from django.db.models import Count, Exists
from django.db.models.functions import TruncDate

from aclweb.inventory.models import Cluster, Revision

FIRST_YEAR = 2011
"""Kafka is from this year: no cluster has an older revision."""


@dataclass(frozen=True)
class DayOfRevisions:
    """One day in UTC, and how many revisions were first read on it."""

    date: datetime.date
    revisions: int
    is_today: bool


@dataclass(frozen=True)
class MonthOfRevisions:
    """One month, in weeks that begin on Monday; None fills the days of other months.

    before, after: the first days of the months to go on to; None where no month on that side holds a revision.
    """

    first: datetime.date
    weeks: tuple[tuple[DayOfRevisions | None, ...], ...]
    before: datetime.date | None
    after: datetime.date | None

    @property
    def revisions(self) -> int:
        return sum(day.revisions for week in self.weeks for day in week if day is not None)


def month_of_revisions(cluster: Cluster, month: datetime.date, *, today: datetime.date) -> MonthOfRevisions:
    """Return the month that this day is in, or the nearest that can hold a revision; one query, or two."""
    month = max(datetime.date(FIRST_YEAR, 1, 1), min(month, today)).replace(day=1)
    after = _next(month)
    begin, end = (datetime.datetime.combine(day, datetime.time.min, datetime.UTC) for day in (month, after))
    earlier = Revision.objects.filter(cluster=cluster, read_at__lt=begin)
    days = (
        Revision.objects.filter(cluster=cluster, read_at__gte=begin, read_at__lt=end)
        .order_by()
        .values(day=TruncDate("read_at", tzinfo=datetime.UTC))
        .annotate(n=Count("pk"), earlier=Exists(earlier))
    )
    found = {row["day"]: row["n"] for row in days}
    is_first = not (any(row["earlier"] for row in days) if days else earlier.exists())
    weeks = calendar.Calendar().monthdatescalendar(month.year, month.month)
    return MonthOfRevisions(
        first=month,
        weeks=tuple(
            tuple(
                DayOfRevisions(day, found.get(day, 0), day == today) if day.month == month.month else None
                for day in week
            )
            for week in weeks
        ),
        before=None if is_first else (month - datetime.timedelta(days=1)).replace(day=1),
        after=after if after <= today else None,
    )


def _next(month: datetime.date) -> datetime.date:
    return (month + datetime.timedelta(days=31)).replace(day=1)
