"""May a log claim that an ACL is unused?

People delete ACLs by that claim. So it is made only where every broker that the log names wrote
its log, with permits, in nearly all hours of a window that is long enough, and where every file could be
understood. Everything else is "cannot tell", with what is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from aclweb.acl.model import PermissionType

NO_PERMITS = "permits are not in the log: the brokers write them at level DEBUG only"
NO_HOURS = "the result does not say in which hours the brokers wrote; run the job again"
NO_TIME = "no record of the log begins with a time"

_DAY_HOURS = 24
ALL_HOURS = (1 << _DAY_HOURS) - 1
_NAMED = 3


@dataclass(frozen=True, slots=True)
class BrokerDay:
    """In which hours of one day one broker wrote its log, and permits into it; bit h is the hour from h o'clock."""

    broker: str
    day: date
    hours: int
    permit_hours: int


@dataclass(frozen=True)
class Wanted:
    """What a log must hold before anything is called unused: in `percent` % of the hours of so many days."""

    days: int = 30
    percent: int = 95

    @property
    def hours(self) -> int:
        return self.days * _DAY_HOURS


@dataclass(frozen=True)
class Evidence:
    """What a log can claim about ACLs that no request of it needed.

    days: the length of the window. start, end: of the window, on the brokers' clocks; None without
    a time. why_not: for each permission the reason that nothing can be claimed, empty where it can.
    brokers: all that the log names.
    """

    days: int
    start: datetime | None
    end: datetime | None
    why_not: Mapping[PermissionType, str]
    brokers: tuple[str, ...] = ()

    @property
    def window(self) -> str:
        return f"in the {self.days} {'day' if self.days == 1 else 'days'} to {self.end:%Y-%m-%d %H:%M}"

    @property
    def is_complete(self) -> bool:
        """Whether ACLs of both permissions can be called unused."""
        return not any(self.why_not.values())

    def claimable(self) -> list[str]:
        return [permission.name for permission, reason in self.why_not.items() if not reason]


def why_young_stays(since: datetime, days: int) -> str:
    """Return why an ACL that was added within the days that a log has to cover is not proposed for removal."""
    return f"It was added on {since:%Y-%m-%d}, within the {days} days, so it may be needed yet."


def age_unknown(found_at: datetime) -> str:
    """Return why nothing is known of the age of an ACL that the first sync found at this time."""
    return f"Its age is unknown: the first sync found it on {found_at:%Y-%m-%d}."


def evidence_in(
    found: Iterable[BrokerDay],
    *,
    first_at: datetime | None,
    last_at: datetime | None,
    permits_seen: bool,
    wanted: Wanted,
    unread: str = "",
    at_info: Collection[str] = (),
) -> Evidence:
    """Return what can be claimed by a log from `first_at` to `last_at`, in which these brokers wrote.

    unread: which files could not be read or understood, as the reason that nothing can be claimed; empty if none.
    at_info: brokers whose logs are declared to hold denials only.
    """
    if last_at is None:
        return Evidence(wanted.days, None, None, both(NO_TIME))
    end = _hour_after(last_at)
    start = end - timedelta(days=wanted.days)
    any_hours, permit_hours = _hours_in(found, start, end)
    brokers = tuple(any_hours)
    if not brokers:
        return Evidence(wanted.days, start, end, both(NO_HOURS))
    covered = (last_at - (first_at or last_at)) / timedelta(hours=1) + 1
    # Refusals are in every log; what a DENY forbade would be there.
    deny = _missing(covered, any_hours, wanted, "records") or unread
    allow = _without_permits(permit_hours, wanted.hours * wanted.percent / 100, at_info)
    if not allow:
        allow = (
            NO_PERMITS if not permits_seen else _missing(covered, permit_hours, wanted, "permits") or unread
        )
    return Evidence(
        wanted.days, start, end, {PermissionType.ALLOW: allow, PermissionType.DENY: deny}, brokers
    )


def why_permits_lack(
    found: Iterable[BrokerDay],
    *,
    start: datetime,
    last_at: datetime,
    percent: int,
    unread: str = "",
    at_info: Collection[str] = (),
) -> str:
    """Return why a log may lack permits of the whole days from `start` to its last record; empty if it may not.

    start: a midnight of the brokers' clocks. The other arguments are those of `evidence_in`.
    """
    end = _hour_after(last_at)
    _, permit_hours = _hours_in(found, start, end)
    if not permit_hours:
        return NO_HOURS
    total = int((end - start) / timedelta(hours=1))
    by_declaration = _without_permits(permit_hours, total * percent / 100, at_info)
    days = (last_at.date() - start.date()).days + 1
    return (
        by_declaration or _too_few(permit_hours, total, percent, f"the last {days} days", "permits") or unread
    )


def with_gone(found: Iterable[BrokerDay], gone: Mapping[str, date], last: date) -> Iterator[BrokerDay]:
    """Yield what brokers wrote, and for each that is gone the hours since then as if it had written in all.

    gone: since which day each broker did not run any more. last: the last day of the log. Of a broker that wrote on
    that day or later, only what it wrote is given.
    """
    away = dict(gone)
    there = set()
    for row in found:
        yield row
        there.add(row.broker)
        if row.broker in away and row.day >= away[row.broker]:
            del away[row.broker]
    for broker in sorted(away.keys() & there):
        for place in range((last - away[broker]).days + 1):
            yield BrokerDay(broker, away[broker] + timedelta(days=place), ALL_HOURS, ALL_HOURS)


def both(reason: str) -> dict[PermissionType, str]:
    """Return one reason for ACLs of both permissions."""
    return {PermissionType.ALLOW: reason, PermissionType.DENY: reason}


def _hour_after(last_at: datetime) -> datetime:
    return last_at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


def _hours_in(
    found: Iterable[BrokerDay], start: datetime, end: datetime
) -> tuple[dict[str, int], dict[str, int]]:
    """Return in how many hours of the window each broker wrote, and in how many permits; brokers are sorted."""
    rows = tuple(found)
    any_hours = dict.fromkeys(sorted({row.broker for row in rows}), 0)
    permit_hours = dict(any_hours)
    of_day: dict[date, int] = {}
    for row in rows:
        inside = of_day.get(row.day)
        if inside is None:
            midnight = datetime(row.day.year, row.day.month, row.day.day, tzinfo=end.tzinfo)
            inside = of_day[row.day] = _hours_inside(midnight, start, end)
        any_hours[row.broker] += (row.hours & inside).bit_count()
        permit_hours[row.broker] += (row.permit_hours & inside).bit_count()
    return any_hours, permit_hours


def _hours_inside(midnight: datetime, start: datetime, end: datetime) -> int:
    """Return the hours of a day that lie in the window, as bits."""
    first = max(0, int((start - midnight) / timedelta(hours=1)))
    behind = min(_DAY_HOURS, int((end - midnight) / timedelta(hours=1)))
    return ((1 << behind) - 1) & ~((1 << first) - 1) if first < behind else 0


def _missing(covered: float, hours: Mapping[str, int], wanted: Wanted, what: str) -> str:
    """Return what is missing before something may be claimed; empty if nothing is. covered: hours."""
    if covered < wanted.hours * wanted.percent / 100:
        return f"the log covers {_span(covered)}, and at least {wanted.days} days are needed (ACLWEB_UNUSED_DAYS)"
    return _too_few(hours, wanted.hours, wanted.percent, f"the last {wanted.days} days", what)


def _too_few(hours: Mapping[str, int], total: int, percent: int, window: str, what: str) -> str:
    """Return which brokers wrote in too few of so many hours; empty if none. window, what: as a sentence has them."""
    enough = total * percent / 100
    short = sorted((broker, found) for broker, found in hours.items() if found < enough)
    if not short:
        return ""
    named = "; ".join(f"{broker}: {what} in {found:,} of {total:,} hours" for broker, found in short[:_NAMED])
    more = f"; and {len(short) - _NAMED} more" if len(short) > _NAMED else ""
    return f"too few hours of {window} are logged with {what} ({named}{more}); {percent} % are needed"


def _without_permits(hours: Mapping[str, int], enough: float, at_info: Collection[str]) -> str:
    """Return which brokers are declared to log no permits, and have too few hours with them; empty if none."""
    found = [
        broker
        for broker, with_permits in sorted(hours.items())
        if broker in at_info and with_permits < enough
    ]
    if not found:
        return ""
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{', '.join(found[:_NAMED])}{more} {'is' if len(found) == 1 else 'are'} declared to log denials only (INFO)"


def _span(hours: float) -> str:
    if hours < 2 * _DAY_HOURS:
        return f"{hours:.0f} {'hour' if round(hours) == 1 else 'hours'}"
    return f"{hours / _DAY_HOURS:.0f} days"
