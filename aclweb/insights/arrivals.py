"""Who was logged for the first time in the last seven days, from which new hosts, and who is back after a silence?

New is what no earlier record of the log has. Back is a principal of these seven days that was logged on none of
the 23 days before, and earlier than that. Where permits are not logged, nobody can tell either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.db.models import F, Max, Min, Q, Sum
from django.db.models.functions import Coalesce

from aclweb.acl.logged import NO_PERMITS
from aclweb.insights.kept import KeptOfLoads
from aclweb.insights.models import Load
from aclweb.insights.requests import requests_of
from aclweb.insights.unused import why_permits_lack_since

DAYS = 7
QUIET_DAYS = 23
SHOWN = 8
MOST_HOSTS = 2_000
"""So many new pairs of principal and host are looked at, those with most requests first."""


@dataclass(frozen=True)
class Arrival:
    """A principal, or one from a new host. lines, denied: in the seven days. host: "" for the principal itself."""

    principal: str
    host: str
    lines: int
    denied: int
    last_at: datetime


@dataclass(frozen=True)
class Arrived:
    """How many there are, and the first of them, those with most requests; is_cut: there may be more."""

    count: int
    rows: tuple[Arrival, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True)
class Arrivals:
    """What is new in the last week of a log. principals, hosts, back: None where nobody can tell.

    hosts: new ones of principals that are not new. why_not: why none can be told; why_not_back: the same of who is
    back. doubt: why more was perhaps permitted earlier, empty if nothing is missing.
    """

    principals: Arrived | None
    hosts: Arrived | None
    back: Arrived | None
    why_not: str = ""
    why_not_back: str = ""
    doubt: str = ""


def arrivals(load: Load) -> Arrivals | None:
    """Return who is new or back, None where the log has no times; at most three queries, two of them once a load."""
    if load.first_at is None or load.last_at is None:
        return None
    if not load.permits_seen:
        return Arrivals(None, None, None, NO_PERMITS, NO_PERMITS)
    begin = load.last_at.date() - timedelta(days=DAYS - 1)
    begins_at = datetime.combine(begin, time(), UTC)
    if load.first_at >= begins_at:
        why_not = "the log does not hold an earlier day"
        return Arrivals(None, None, None, why_not, why_not)
    before = begins_at - timedelta(days=QUIET_DAYS)
    doubt = why_permits_lack_since(load, max(before, _midnight(load.first_at)))
    found = _kept.get(load)
    if found is None:
        found = _arrivals(load, begins_at, before)
        _kept.keep(load, found)
    return replace(found, doubt=doubt)


def _arrivals(load: Load, begins_at: datetime, before: datetime) -> Arrivals:
    """Return who is new since the begin of the seven days, or back since that of the days before; but for doubts."""
    assert load.first_at is not None
    is_new, is_back = Q(begun__gte=begins_at), Q(month=F("week"), whole__gt=F("month"))
    may_be_back = load.first_at < before
    either = list(_by(load, "request__principal").filter(is_new | is_back if may_be_back else is_new))
    new = [row for row in either if row["begun"] >= begins_at]
    newcomers = {row["request__principal"] for row in new}
    pairs = list(
        _by(load, "request__principal", "request__host").filter(begun__gte=begins_at)[: MOST_HOSTS + 1]
    )
    hosts = [row for row in pairs[:MOST_HOSTS] if row["request__principal"] not in newcomers]
    back, why_not_back = None, ""
    if may_be_back:
        # Who is new has nothing before these seven days.
        back = _arrived([row for row in either if row["begun"] < begins_at])
    else:
        why_not_back = f"the log does not hold a day before the {QUIET_DAYS} days of silence"
    return Arrivals(
        principals=_arrived(new),
        hosts=_arrived(hosts, is_cut=len(pairs) > MOST_HOSTS),
        back=back,
        why_not_back=why_not_back,
    )


_kept: KeptOfLoads[Arrivals] = KeptOfLoads(64)


def _by(load: Load, *columns: str) -> Any:
    """Return a query for what was logged in the seven days by these columns: most requests first."""
    return (
        requests_of(load)
        .values(*columns)
        .annotate(
            begun=Min("first_at"),
            last=Max("last_at"),
            week=Sum("lines_7"),
            month=Sum("lines_30"),
            whole=Sum("lines"),
            denied=Coalesce(Sum("lines_7", filter=Q(request__allowed=False)), 0),
        )
        .filter(week__gt=0)
        .order_by("-week", *columns)
    )


def _arrived(rows: Sequence[dict[str, Any]], *, is_cut: bool = False) -> Arrived:
    shown = tuple(
        Arrival(
            row["request__principal"], row.get("request__host", ""), row["week"], row["denied"], row["last"]
        )
        for row in rows[:SHOWN]
    )
    return Arrived(len(rows), shown, is_cut)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
