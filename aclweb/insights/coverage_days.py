"""What did each broker log on each day, what do all of them together prove, and which days are not whole?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from django.conf import settings

from aclweb.acl.logged import ALL_HOURS
from aclweb.insights.broker_days import broker_days, late_days
from aclweb.insights.models import Load

# What a day of a broker shows, the best first.
PERMITS, DENIALS, GAP, NONE, GONE = "permits", "denials", "gap", "none", "gone"

# What an hour of a broker shows beside these: it is before the first or after the last record of the log.
OUTSIDE = "outside"
# Of the months whose last day lies whole in a log, these many are named.
_ENDS_NAMED = 3

WORDS = {
    PERMITS: "permits and denials",
    DENIALS: "denials only",
    GAP: "hours missing",
    NONE: "no log",
    GONE: "the broker is gone",
}


@dataclass(frozen=True)
class DayCell:
    """What one broker logged on one day. hours, permit_hours: of the 24, as bits; wanted: those the log covers."""

    day: date
    kind: str
    hours: int = 0
    permit_hours: int = 0
    wanted: int = ALL_HOURS
    lines: int = 0
    permits: int = 0

    @property
    def share(self) -> float:
        """How much of the day has a log, from 0 to 1."""
        return (self.hours & self.wanted).bit_count() / max(1, self.wanted.bit_count())

    @property
    def by_hour(self) -> tuple[str, ...]:
        """What each of the 24 hours shows: PERMITS, DENIALS (it wrote, and no permit), NONE, GONE or OUTSIDE.

        An hour in which it wrote counts for what it wrote, wherever it lies.
        """
        return tuple(map(self._of_hour, range(24)))

    def _of_hour(self, hour: int) -> str:
        if self.permit_hours >> hour & 1:
            return PERMITS
        if self.hours >> hour & 1:
            return DENIALS
        if self.kind == GONE:
            return GONE
        return NONE if self.wanted >> hour & 1 else OUTSIDE

    @property
    def missing(self) -> str:
        """The hours without what is missing, such as `02:00–08:00, 22:00–24:00`."""
        held = self.permit_hours if self.kind == DENIALS else self.hours
        return _hours_in_words(self.wanted & ~held)


@dataclass(frozen=True)
class BrokerCoverage:
    """The days of one broker, all days of the window, with none left out.

    gone_since: as an administrator said. first, last: the first and the last day on which it wrote anything; first is
    None unless it was asked for.
    """

    broker: str
    days: tuple[DayCell, ...]
    gone_since: date | None
    last: date | None
    first: date | None = None

    @property
    def whole(self) -> int:
        """On how many days it logged permits in nearly all hours."""
        return sum(cell.kind == PERMITS for cell in self.days)

    @property
    def counted(self) -> int:
        """On how many days it ran, as far as anybody said."""
        return sum(cell.kind != GONE for cell in self.days)

    @property
    def is_back(self) -> bool:
        """Whether it wrote after the day since which it was called gone."""
        return self.gone_since is not None and self.last is not None and self.last >= self.gone_since

    @property
    def lines(self) -> int:
        return sum(cell.lines for cell in self.days)

    @property
    def permits(self) -> int:
        return sum(cell.permits for cell in self.days)


@dataclass(frozen=True)
class Missing:
    """Days in a row on which one broker logged less: `kind` is of WORDS, `hours` those of a single day."""

    broker: str
    first: date
    last: date
    kind: str
    hours: str

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def words(self) -> str:
        return WORDS[self.kind]


@dataclass(frozen=True)
class CoverageDays:
    """The days of a window and what each broker logged.

    together: what all brokers prove of each day: `permits` where each wrote them, `denials` where each wrote at
    least these, `none` otherwise. permit_hours: on how many days each hour of the day has a permit of any broker.
    """

    days: tuple[date, ...]
    brokers: tuple[BrokerCoverage, ...]
    together: tuple[str, ...]
    missing: tuple[Missing, ...]
    permit_hours: tuple[int, ...]

    @property
    def whole(self) -> int:
        return self.together.count(PERMITS)

    @property
    def denials_whole(self) -> int:
        return self.whole + self.together.count(DENIALS)

    @property
    def month_ends_told(self) -> str:
        """Whether the log can show what runs only at the end of a month, as a sentence."""
        ends = ", ".join(f"{day.day} {day:%B}" for day in self.month_ends[-_ENDS_NAMED:])
        if ends:
            return f"What runs at the end of a month would show: all brokers logged permits on {ends}."
        return "What runs at the end of a month: cannot tell. No last day of a month has the permits of all brokers."

    @property
    def month_ends(self) -> tuple[date, ...]:
        """The last days of months that lie whole in the log, with permits of all brokers."""
        return tuple(
            day
            for place, (day, kind) in enumerate(zip(self.days, self.together, strict=True))
            if kind == PERMITS
            and (day + timedelta(days=1)).day == 1
            and all(each.days[place].wanted == ALL_HOURS for each in self.brokers)
        )


def coverage_days(
    load: Load | None, *, days: int, broker: str | None = None, with_first: bool = False
) -> CoverageDays:
    """Return what each broker, or one alone, logged on each of the last so many days of the log;
    one query, and none for a load whose days are known.

    with_first: also on which day each began, for which all days of the log are read.
    """
    if load is None or load.last_at is None:
        return CoverageDays((), (), (), (), (0,) * 24)
    last = load.last_at.date()
    first = max(last - timedelta(days=days - 1), (load.first_at or load.last_at).date())
    window = tuple(first + timedelta(days=place) for place in range((last - first).days + 1))
    rows: dict[str, dict[date, tuple[int, int, int, int]]] = {}
    gone: dict[str, date | None] = {}
    for row in broker_days(load) if with_first else late_days(load, last, first):
        if broker in (None, row.broker):
            rows.setdefault(row.broker, {})[row.day] = (row.hours, row.permit_hours, row.lines, row.permits)
            gone[row.broker] = row.gone
    wanted = {day: _wanted(load, day) for day in window}
    brokers = tuple(
        _broker(name, rows[name], gone[name], wanted, with_first=with_first) for name in sorted(rows)
    )
    return CoverageDays(
        days=window,
        brokers=brokers,
        together=tuple(_together(cells) for cells in zip(*(each.days for each in brokers), strict=True))
        if brokers
        else tuple(NONE for _ in window),
        missing=tuple(sorted(_missing(brokers), key=lambda each: (each.first, each.broker), reverse=True)),
        permit_hours=_permit_hours(brokers, len(window)),
    )


def _wanted(load: Load, day: date) -> int:
    """Return the hours of a day that lie between the first and the last record of the log, as bits."""
    bits = ALL_HOURS
    if load.first_at is not None and day == load.first_at.date():
        bits &= ~((1 << load.first_at.hour) - 1)
    if load.last_at is not None and day == load.last_at.date():
        bits &= (1 << (load.last_at.hour + 1)) - 1
    return bits


def _broker(
    broker: str,
    rows: Mapping[date, tuple[int, int, int, int]],
    gone_since: date | None,
    wanted: Mapping[date, int],
    *,
    with_first: bool,
) -> BrokerCoverage:
    last = max(rows, default=None)
    is_gone = gone_since is not None and (last is None or last < gone_since)
    cells = []
    for day, bits in wanted.items():
        hours, permit_hours, lines, permits = rows.get(day, (0, 0, 0, 0))
        kind = _kind(hours, permit_hours, bits)
        if is_gone and gone_since is not None and day >= gone_since:
            kind = GONE
        cells.append(DayCell(day, kind, hours, permit_hours, bits, lines, permits))
    begun = min(rows, default=None) if with_first else None
    return BrokerCoverage(broker, tuple(cells), gone_since, last, begun)


def _kind(hours: int, permit_hours: int, wanted: int) -> str:
    enough = wanted.bit_count() * settings.ACLWEB_UNUSED_HOURS_PERCENT / 100
    if (permit_hours & wanted).bit_count() >= enough:
        return PERMITS
    if not hours & wanted:
        return NONE
    return DENIALS if (hours & wanted).bit_count() >= enough else GAP


def _together(cells: Sequence[DayCell]) -> str:
    kinds = {cell.kind for cell in cells} - {GONE}
    if kinds <= {PERMITS}:
        return PERMITS
    return DENIALS if kinds <= {PERMITS, DENIALS} else NONE


def _missing(brokers: Iterable[BrokerCoverage]) -> Iterable[Missing]:
    for each in brokers:
        for kind, cells in groupby(each.days, key=lambda cell: cell.kind):
            run = list(cells)
            if kind in (PERMITS, GONE):
                continue
            hours = run[0].missing if kind != NONE and len(run) == 1 else ""
            yield Missing(each.broker, run[0].day, run[-1].day, kind, hours)


def _permit_hours(brokers: Iterable[BrokerCoverage], days: int) -> tuple[int, ...]:
    any_broker = [0] * days
    for each in brokers:
        for place, cell in enumerate(each.days):
            any_broker[place] |= cell.permit_hours
    return tuple(sum(bits >> hour & 1 for bits in any_broker) for hour in range(24))


def _hours_in_words(bits: int) -> str:
    """Return the hours of these bits as spans, at most three."""
    spans, start = [], None
    for hour in range(25):
        is_set = bool(bits >> hour & 1)
        if is_set and start is None:
            start = hour
        elif not is_set and start is not None:
            spans.append(f"{start:02}:00–{hour:02}:00")
            start = None
    more = f" and {len(spans) - 3} more" if len(spans) > 3 else ""
    return ", ".join(spans[:3]) + more
