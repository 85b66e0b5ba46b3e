"""What did each broker write on each day of a load, and which of them are gone by now?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from aclweb.acl.logged import BrokerDay, with_gone
from aclweb.insights.kept import KeptOfLoads
from aclweb.insights.models import Load, LogDay, RetiredBroker

_KNOWN, _LATELY = "days_of_its_brokers", "late_days_of_its_brokers"  # attributes of a load that was asked
# So many days at least are read at once: what one page asks after another, of one window and then of a longer one.
_READ_DAYS = 90


@dataclass(frozen=True, slots=True)
class LoggedDay:
    """What one broker wrote on one day; hours, permit_hours: of the 24, as bits. gone: since when it is, or None."""

    broker: str
    day: date
    hours: int
    permit_hours: int
    lines: int
    permits: int
    gone: date | None


def broker_days(load: Load) -> Sequence[LoggedDay]:
    """Return the days of all brokers of a load; one query, and none for a load that was asked before."""
    known: Sequence[LoggedDay] | None = getattr(load, _KNOWN, None)
    if known is None:
        known = _read({load: Q()})[load]
        setattr(load, _KNOWN, known)
    return known


def late_days(load: Load, last: date, since: date) -> Sequence[LoggedDay]:
    """Return the days of each broker from `since` to the last one of the log, and perhaps earlier ones.

    Of a broker that wrote nothing in these, all that it wrote in. One query, and none for a load that was asked before.
    """
    known: Sequence[LoggedDay] | None = getattr(load, _KNOWN, None)
    if known is not None:
        return known
    since = min(since, last - timedelta(days=_READ_DAYS))
    begun, rows = getattr(load, _LATELY, (date.max, ()))
    if since < begun:
        rows = _kept_since(load, since)
        setattr(load, _LATELY, (since, rows))
    return rows


def read_late_days(loads: Collection[Load]) -> None:
    """Read what `late_days` returns of several loads in one query, so that none is needed for each."""
    since = {
        load: load.last_at.date() - timedelta(days=_READ_DAYS) for load in loads if load.last_at is not None
    }
    missing = {load: begin for load, begin in since.items() if _known_since(load, begin) is None}
    for load, rows in _read_since(missing).items():
        setattr(load, _LATELY, (missing[load], rows))


def _kept_since(load: Load, since: date) -> Sequence[LoggedDay]:
    """Return the days of each broker from `since` on, and the earlier ones of brokers without any; kept in memory."""
    known = _known_since(load, since)
    return known if known is not None else _read_since({load: since})[load]


def _known_since(load: Load, since: date) -> Sequence[LoggedDay] | None:
    return _kept.get(load, (retired_stamp(load), since))


def _read_since(wanted: Mapping[Load, date]) -> Mapping[Load, Sequence[LoggedDay]]:
    """Return what `_kept_since` does of each load, and keep it; one query."""
    found = _read({load: _since(load, begin) for load, begin in wanted.items()})
    for load, rows in found.items():
        if (stamp := retired_stamp(load)) is not None:
            _kept.keep(load, rows, (stamp, wanted[load]))
    return found


def _since(load: Load, since: date) -> Q:
    lately = LogDay.objects.filter(load=load, day__gte=since)
    return Q(day__gte=since) | ~Q(broker__in=lately.values("broker"))


def with_retired(loads: QuerySet[Load]) -> QuerySet[Load, Any]:
    """Return the same rows with what `retired_stamp` needs of each."""
    retired = RetiredBroker.objects.filter(cluster=OuterRef("cluster")).order_by().values("cluster")
    return loads.annotate(
        retired=Coalesce(Subquery(retired.annotate(number=Count("pk")).values("number")), 0),
        retired_at=Subquery(retired.annotate(last=Max("set_at")).values("last")),
    )


def retired_stamp(load: Any) -> tuple[int, datetime | None] | None:
    """Return what is another whenever another is said of which brokers are gone; None for a load without it."""
    return (load.retired, load.retired_at) if hasattr(load, "retired") else None


_MOST_KEPT = 20_000  # days of brokers, some 4 MB
_kept: KeptOfLoads[Sequence[LoggedDay]] = KeptOfLoads(_MOST_KEPT, len)


def denied_lines(loads: Collection[Load], days: int) -> Mapping[int, Sequence[tuple[date, int]]]:
    """Return how many lines of each of the last so many days of its log were denials, by the key of a load; one query.

    A load without a time is left out.
    """
    last = {load.pk: load.last_at.date() for load in loads if load.last_at is not None}
    if not last:
        return {}
    since = min(last.values()) - timedelta(days=days)
    rows = LogDay.objects.filter(load__in=last, day__gt=since).values_list("load", "day").order_by()
    found = {
        (load, day): lines for load, day, lines in rows.annotate(denied=Sum("decisions") - Sum("permits"))
    }
    return {
        load: [
            (day, found.get((load, day), 0))
            for day in (end - timedelta(days=n) for n in reversed(range(days)))
        ]
        for load, end in last.items()
    }


def days_with_gone(load: Load, last: date, since: date) -> Iterator[BrokerDay]:
    """Yield what brokers wrote from `since` to the last day of the log, each that is gone as if it still did.

    Of a broker that wrote nothing in these days, all days that it wrote in are given, so that each is among them.
    """
    rows = late_days(load, last, since)
    gone = {row.broker: row.gone for row in rows if row.gone is not None}
    return with_gone(
        (BrokerDay(row.broker, row.day, row.hours, row.permit_hours) for row in rows), gone, last
    )


def _read(wanted: Mapping[Load, Q]) -> dict[Load, Sequence[LoggedDay]]:
    """Return the days that are wanted of each load; one query."""
    found: dict[int, list[LoggedDay]] = {load.pk: [] for load in wanted}
    if found:
        said = RetiredBroker.objects.filter(cluster=OuterRef("load__cluster"), broker=OuterRef("broker"))
        any_of = reduce(or_, (Q(load=load) & days for load, days in wanted.items()))
        days = LogDay.objects.filter(any_of).annotate(gone=Subquery(said.values("since")[:1]))
        columns = "load", "broker", "day", "hours", "permit_hours", "lines", "permits", "gone"
        for load_key, *row in days.values_list(*columns):
            found[load_key].append(LoggedDay(*row))
    return {load: found[load.pk] for load in wanted}
