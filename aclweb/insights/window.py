"""Which requests does a log hold in its last days, and may permits be missing there?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import QuerySet

from aclweb.acl.logged import Evidence
from aclweb.acl.model import PermissionType
from aclweb.insights.broker_days import late_days
from aclweb.insights.models import Load, RequestTotals
from aclweb.insights.requests import requests_of
from aclweb.insights.unused import evidence_of, why_permits_lack_since

WINDOWS = (7, 30, 90)
"""Of so many whole days, counted back from the last day of a log, the totals of each request are kept."""


@dataclass(frozen=True)
class Window:
    """The requests of a load in its last days.

    days: of WINDOWS, None for the whole log. start: the midnight at which they begin, None for the whole log.
    """

    load: Load
    days: int | None
    start: datetime | None

    @classmethod
    def of(cls, load: Load, days: int | None) -> Window:
        """Return the window of so many days; all of a load that has no time."""
        if days is None or load.last_at is None:
            return cls(load, None, None)
        midnight = load.last_at.replace(hour=0, minute=0, second=0, microsecond=0)
        return cls(load, days, midnight - timedelta(days=days - 1))

    @property
    def column(self) -> str:
        """The column of RequestTotals with the lines."""
        return "lines" if self.days is None else f"lines_{self.days}"

    def requests(self, *, principal: str | None = None, by_key: bool = False) -> QuerySet[RequestTotals]:
        """Return the totals of all requests of these days, or of those of one principal. by_key: see `requests_of`."""
        every = requests_of(self.load, principal=principal, by_key=by_key)
        return every if self.days is None else every.filter(**{f"{self.column}__gt": 0})

    @property
    def first_at(self) -> datetime | None:
        if self.start is None or self.load.first_at is None:
            return self.load.first_at
        return max(self.start, self.load.first_at)

    @property
    def permits_seen(self) -> bool:
        if self.start is None or not self.load.permits_seen:
            return self.load.permits_seen
        first = self.start.date()
        known = late_days(self.load, self.load.last_at.date(), first) if self.load.last_at else ()
        return any(row.permits and row.day >= first for row in known)

    @property
    def why_not(self) -> str:
        """Why it may lack permits; empty where it does not."""
        if self.start is None:
            return evidence_of(self.load).why_not[PermissionType.ALLOW]
        return why_permits_lack_since(self.load, self.start)


def evidence_in_days(found: Evidence, window: Window | None) -> Evidence:
    """Return what the log can claim, as far as the days that are looked at are enough for it."""
    if window is None or window.days is None or window.days >= found.days:
        return found
    too_few = (
        f"the last {window.days} days alone are looked at, and at least {found.days} days are needed "
        "(ACLWEB_UNUSED_DAYS)"
    )
    why_not = {permission: reason or too_few for permission, reason in found.why_not.items()}
    return replace(found, why_not=why_not)
