"""How are days of the access table read again, from the logs that are still there?

A log is read again as far as it was counted before, so nothing counts twice, and what is new in it stays new. A day is
replaced only where the logs still give all that the table has of it: what was rotated away is nowhere else. Where a
log of a broker is gone, its counts must be the same as before, in the same layout, since more records of another
file would hide what is lost. Where a log is read in another layout, or gives more than before, nothing may come from
or go to records that stay, those without a time or of other days: their counts must be the same too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from aclweb.acl.model import number_of
from aclweb.acl.notation import UNKNOWN
from aclweb.pipeline.contents import is_compressed
from aclweb.pipeline.counting import Counted, count_bytes
from aclweb.pipeline.coverage import Row
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import GONE, READ, SourceError
from aclweb.pipeline.increments import Fresh, is_still_there
from aclweb.pipeline.job import keeping
from aclweb.pipeline.known_content import Source
from aclweb.pipeline.readings import Reading, reading_of
from aclweb.pipeline.storage import Folder
from aclweb.pipeline.table import Table, Version, Window
from aclweb.pipeline.table.changing import unfinished_folder
from aclweb.pipeline.topics import SCHEME
from aclweb.pipeline.writing import Writing

_NANOSECONDS = 1_000_000_000
_SHOWN = 3


@dataclass(frozen=True)
class Reprocessed:
    """What was read again: days in order, records and decisions. kept: a sentence for each day that stays as it was.

    changed: the paths of files that were replaced while they were read.
    """

    days: tuple[str, ...]
    lines: int
    decisions: int
    kept: tuple[str, ...]
    changed: tuple[str, ...]


@dataclass(frozen=True)
class Again:
    """Which days are read again: `first` to `last`, both included. is_partial: also where logs of a day are gone."""

    first: str
    last: str
    is_partial: bool = False

    def kept_from(self, oldest_day: str) -> Window:
        """Return the days from `oldest_day` on; raises SourceError where there is none."""
        if self.last < oldest_day:
            raise SourceError(
                f"The table keeps days from {oldest_day} on, so {self.last} cannot be read into it; raise --keep-days."
            )
        return Window(max(self.first, oldest_day), self.last)


def reprocess(
    spark: SparkSession,
    table: Folder | Path,
    cluster: str,
    again: Again,
    *,
    layouts: Mapping[str, str],
    keep_days: int,
    today: date | None = None,
) -> Reprocessed:
    """Read days of a table again in one step; return what was read, and which days stay as they were.

    layouts: those that somebody named, by the path of the file; other logs are looked at again. Raises JobError where
    no log may hold anything of these days, and TableError where the table cannot be changed.
    """
    oldest_day = ((today or datetime.now(UTC).date()) - timedelta(days=keep_days)).isoformat()
    window = again.kept_from(oldest_day)
    found = Table.open(table, cluster)
    base = found.version
    wanted = _to_read(base, window, layouts)
    if not wanted:
        raise JobError(
            f"No log that was read before and may hold records of {_span(window)} is there any more."
        )
    known, kept = found.coverage(Window()), dict[str, str]()
    chosen: dict[tuple[str, str], int] = {}
    doubts = _doubts(base, wanted, window)

    def choose(rows: Sequence[Row]) -> list[str]:
        kept.update(_kept(known, rows, window, doubts, is_partial=again.is_partial))
        days = {row["day"] for row in rows if row["day"] and row["day"] in window} - kept.keys()
        chosen.update(_lines_by_day_and_file([row for row in rows if row["day"] in days]))
        return sorted(days)

    with (
        unfinished_folder(found.folder) as unfinished,
        found.folder.scratch(f"{unfinished}/new") as (copies, shown),
        keeping() as keep,
    ):
        counted = count_bytes(
            spark,
            wanted,
            copies,
            keep,
            shown=shown,
            zone_of=lambda fresh: base.zones.get(fresh.source.broker),
            choose=choose,
        )
        days = sorted({row["day"] for row in counted.coverage})
        if _lines_by_day_and_file(counted.coverage) != chosen:
            if not again.is_partial:
                raise JobError(
                    "Logs changed while they were read, so no day was read again; run the job again."
                )
            kept |= {
                day: f"{day} stays as it is: its logs changed while they were read. Run the job again."
                for day in {day for day, _ in chosen} - set(days)
            }
        if not days:
            return Reprocessed((), 0, 0, _in_order(kept), tuple(counted.changed))
        added = Writing(spark, found.folder, cluster, base, unfinished, oldest_day).add(
            counted.lines,
            counted.coverage,
            sources=_sources(base, counted),
            problems=base.problems,
            zones={},
            anew=days,
        )
    return Reprocessed(tuple(days), added.lines, added.decisions, _in_order(kept), tuple(counted.changed))


def summary(done: Reprocessed) -> list[str]:
    """Return what a person wants to know of it, a sentence a line."""
    if not done.days:
        return ["No day was read again."]
    return [
        f"Read {number_of(len(done.days), 'day')} again, {done.days[0]} to {done.days[-1]}: "
        f"{number_of(done.lines, 'record')}, {done.decisions:,} of them decisions."
    ]


def _to_read(base: Version, window: Window, layouts: Mapping[str, str]) -> list[Fresh]:
    """Return what was counted of each log that is there and was written since the window begins."""
    sources = [Source.from_dict(dict(one)) for one in base.sources]
    since = _written_since(window)
    return [
        _fresh(source, layouts.get(source.path, ""))
        for source in _holding(sources)
        if source.layout != UNKNOWN and source.stamp.mtime_ns >= since
    ]


def _written_since(window: Window) -> float:
    """Return when a log with records of the window was last written at the earliest: nanoseconds since 1970."""
    first = datetime.fromisoformat(window.first or "").replace(tzinfo=UTC)
    return (first - timedelta(days=1)).timestamp() * _NANOSECONDS


def _holding(sources: Sequence[Source]) -> list[Source]:
    """Return the sources whose files are there, each content once: in the file in which it was counted, or a copy."""
    there = [one for one in sources if one.state.state != GONE and one.offset]
    first = {one.path: one for one in there if not one.same_as}
    copies: dict[str, Source] = {}
    for one in there:
        if one.same_as and one.same_as not in first:
            longer = copies.get(one.same_as)
            if longer is None or one.offset > longer.offset:
                copies[one.same_as] = one
    return [*first.values(), *copies.values()]


def _fresh(source: Source, wanted: str) -> Fresh:
    """Return all that was counted of a log, in the layout that it is found to have now."""
    found = reading_of(source.path, Reading(wanted)).layout
    source = replace(source, layout=source.layout if found == UNKNOWN else found)
    fresh = Fresh(source.path, 0, source.offset, source, is_whole_file=False)
    is_whole = not source.waiting and source.state.state == READ and is_still_there(fresh)
    if not is_compressed(source.path):
        is_whole = is_whole and source.offset == source.stamp.size
    return replace(fresh, is_whole_file=is_whole)


@dataclass(frozen=True)
class _Doubts:
    """The brokers of whom a count of records does not say enough.

    gone: a log of theirs is not read again, or lost its end, and may have had records of the days. otherwise: a log of
    theirs is read in another layout than before.
    """

    gone: frozenset[str] = frozenset()
    otherwise: frozenset[str] = frozenset()


def _doubts(base: Version, wanted: Sequence[Fresh], window: Window) -> _Doubts:
    """Return the brokers with logs that are gone, and with logs in another layout than before."""
    sources = [Source.from_dict(dict(one)) for one in base.sources]
    layouts = {one.path: one.layout for one in sources if one.state.state != GONE}
    again = {fresh.path for fresh in wanted}
    copied = {one.same_as for one in sources if one.path in again}
    since = _written_since(window)
    gone = {
        one.broker
        for one in sources
        if one.offset
        and one.stamp.mtime_ns >= since
        and (
            one.was_cut
            or one.state.state == GONE
            or not ({one.path, one.same_as} & again or (one.same_as and one.same_as in copied))
        )
    }
    otherwise = {fresh.source.broker for fresh in wanted if fresh.source.layout != layouts[fresh.path]}
    return _Doubts(frozenset(gone), frozenset(otherwise))


def _kept(
    known: Sequence[Row], rows: Sequence[Row], window: Window, doubts: _Doubts, *, is_partial: bool
) -> dict[str, str]:
    """Return why days of the window stay as they are, by day.

    known: all coverage rows of the table; rows: those of all that was read again, also of other days and of none.
    """
    before, now = _lines_by_broker(known), _lines_by_broker(rows)
    topics = {row["day"]: row["file"] for row in known if _is_of_topic(row)}
    why = {}
    for day in filter(window.__contains__, before):
        brokers, found = before[day], now.get(day, Counter())
        fewer = sorted(broker for broker, lines in brokers.items() if found[broker] < lines)
        gone = sorted(
            broker
            for broker in brokers.keys() & doubts.gone
            if found[broker] != brokers[broker] or broker in doubts.otherwise
        )
        if day in topics:
            why[day] = f"records of it came from a topic ({topics[day]}), which is not read again"
        elif day not in now:
            why[day] = "the logs that are still there have nothing of it"
        elif (short := fewer or gone) and not is_partial:
            why[day] = (
                f"logs of it are gone ({_short_of(short, brokers, found)}). --partial takes what is there"
            )
    why |= _moved(before, now, {day for day in now if day and day in window} - why.keys(), doubts)
    return {day: f"{day} stays as it is: {reason}." for day, reason in why.items()}


def _moved(
    before: Mapping[str, Counter[str]],
    now: Mapping[str, Counter[str]],
    days: set[str],
    doubts: _Doubts,
) -> dict[str, str]:
    """Return why some of `days` stay: their records may be counted elsewhere, or would be lost to a day that stays."""
    why: dict[str, str] = {}
    none: Counter[str] = Counter()
    while True:
        replaced = days - why.keys()
        staying = (before.keys() | now.keys()) - replaced
        moving = {
            broker
            for day in staying
            for broker in before.get(day, none) | now.get(day, none)
            if before.get(day, none)[broker] != now.get(day, none)[broker]
        }
        found = {
            day: broker
            for day in replaced
            for broker in sorted(moving & (before.get(day, none) | now[day]).keys())
            if broker in doubts.otherwise or (day in before and now[day][broker] > before[day][broker])
        }
        if not found:
            return why
        why |= {
            day: f"records of {broker} may move between it and other days, or records without a time, that are not "
            "read again; make a new table in another folder"
            for day, broker in found.items()
        }


def _short_of(brokers: Sequence[str], before: Mapping[str, int], now: Mapping[str, int]) -> str:
    named = "; ".join(
        f"{broker}: {now[broker]:,} of {number_of(before[broker], 'record')}" for broker in brokers[:_SHOWN]
    )
    more = f"; and {len(brokers) - _SHOWN} more" if len(brokers) > _SHOWN else ""
    return f"{named}{more}"


def _lines_by_broker(rows: Iterable[Row]) -> dict[str, Counter[str]]:
    """Return how many records each broker has on each day."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        found.setdefault(row["day"] or "", Counter())[row["broker"]] += row["lines"]
    return found


def _lines_by_day_and_file(rows: Iterable[Row]) -> dict[tuple[str, str], int]:
    return {(row["day"], row["file"]): row["lines"] for row in rows}


def _is_of_topic(row: Row) -> bool:
    return str(row["file"]).startswith(SCHEME)


def _sources(base: Version, counted: Counted) -> list[Mapping[str, object]]:
    """Return what is known of the logs then: as before, but for the layouts in which they were read now."""
    layouts = {fresh.path: fresh.source.layout for fresh in counted.fresh}
    return [
        {**one, "layout": layouts[str(one["path"])]} if one["path"] in layouts else one
        for one in base.sources
    ]


def _in_order(kept: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sentence for _, sentence in sorted(kept.items()))


def _span(window: Window) -> str:
    return f"{window.first}" if window.first == window.last else f"{window.first} to {window.last}"
