"""How do new bytes of the logs become rows of the access table?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from aclweb.acl.model import number_of
from aclweb.acl.notation import UNKNOWN
from aclweb.pipeline.counting import Counted, count_bytes, unknown_layouts
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import GONE
from aclweb.pipeline.increments import Found, Fresh, look_for_new
from aclweb.pipeline.job import keeping
from aclweb.pipeline.known_content import Source
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.log_sources import LogSource, by_file
from aclweb.pipeline.readings import why_unknown
from aclweb.pipeline.sources import nothing_read
from aclweb.pipeline.storage import Folder
from aclweb.pipeline.table.changing import (
    commit_and_sweep,
    next_version,
    unfinished_folder,
)
from aclweb.pipeline.table.parts import (
    TableError,
    check,
)
from aclweb.pipeline.table.reading import folder_of
from aclweb.pipeline.table.versions import PARSER, Version, latest
from aclweb.pipeline.topics import SCHEME
from aclweb.pipeline.writing import Writing

KEPT_DAYS = 400


@dataclass(frozen=True)
class Look:
    """What the logs of a cluster hold that its table does not.

    sources: by the path of each file. unknown: the first line of each file of an unknown layout with something new.
    """

    folder: Folder
    cluster: str
    base: Version | None
    found: Found
    sources: Mapping[str, LogSource]
    unknown: Mapping[str, str] = field(default_factory=dict)

    def zone_of(self, fresh: Fresh) -> str | None:
        """Return the zone of the clock that wrote a file."""
        source = self.sources.get(fresh.path)
        return source.zone if source else None


@dataclass(frozen=True)
class Extended:
    """What a run of the job added.

    warnings: sentences about files that could not be read, or were left for later. counted: the bytes that were.
    """

    version: Version
    files: int
    lines: int
    decisions: int
    too_old: int
    warnings: tuple[str, ...]
    counted: tuple[Fresh, ...] = ()


def look(table: Folder | Path, cluster: str, sources: Sequence[LogSource]) -> Look:
    """Return what is new in the logs; a path is a folder of this machine.

    Raises SourceError for a path that means no file, TableError for a table that cannot be read, and JobError where
    no file can be read, or the layout of each is unknown.
    """
    folder = folder_of(table, cluster)
    return look_since(latest(folder), folder, cluster, sources)


def look_since(base: Version | None, folder: Folder, cluster: str, sources: Sequence[LogSource]) -> Look:
    """Return what is new in the logs since a version was made; the errors are those of `look`."""
    known = [Source.from_dict(dict(source)) for source in base.sources] if base else []
    layouts = {file: source.layout for file, source in by_file(sources).items() if source.layout}
    recursive = {source.path for source in sources if source.is_recursive}
    found = look_for_new([source.path for source in sources], known, layouts=layouts, recursive=recursive)
    if found.problems and not (found.fresh or found.unchanged or found.skipped):
        raise JobError(nothing_read(dict(found.problems)))
    unknown = unknown_layouts(found.fresh)
    is_any_known = any(
        source.offset and source.layout != UNKNOWN and source.state.state != GONE for source in found.sources
    )
    if unknown and not is_any_known:
        raise JobError(why_unknown(unknown, "nothing of it can be read"))
    return Look(folder, cluster, base, found, by_file(sources), unknown)


def check_zones(looked: Look) -> None:
    """Raise TableError where a broker's log was read with another zone than now before."""
    known = looked.base.zones if looked.base else {}
    for fresh in looked.found.fresh:
        zone = looked.zone_of(fresh)
        before = known.get(fresh.source.broker, zone)
        if before != zone:
            given = f"with the time zone {before}" if before else "without a time zone"
            again = f"give the time zone {before} again" if before else "give none"
            raise TableError(
                f"The log {fresh.source.broker} was read {given} before; {again}, or make the table anew in another "
                "folder."
            )


def is_noted(looked: Look) -> bool:
    """Return whether the table has nothing to learn about the log files, as they are called now."""
    base = looked.base
    return bool(
        not looked.found.fresh
        and base
        and list(base.sources) == _sources(looked, ())
        and base.problems == _problems(looked)
    )


def note_sources(looked: Look) -> None:
    """Keep in the table how the log files are called now, where nothing of them is new."""
    if is_noted(looked):
        return
    base = looked.base
    version = next_version(
        base,
        looked.cluster,
        {},
        samples=base.samples if base else (),
        sources=_sources(looked, ()),
        problems=_problems(looked),
        oldest_day="",
    )
    commit_and_sweep(looked.folder, version)


def _sources(looked: Look, counted: Sequence[Fresh], oldest_day: str = "") -> list[dict[str, Any]]:
    """Return what is known of the logs then. Files that are gone leave when all their records are too old."""
    since = (
        round(datetime.fromisoformat(oldest_day).replace(tzinfo=UTC).timestamp()) - 86_400
        if oldest_day
        else 0
    )
    after = looked.found.after(counted, written_since_ns=since * 1_000_000_000)
    found = sorted(after, key=lambda source: (source.path, source.offset))
    return [source.as_dict() for source in found]


def _problems(looked: Look) -> dict[str, Mapping[str, Any]]:
    """Return the files that cannot be read, and what is known of topics beside them."""
    known = looked.base.problems if looked.base else {}
    topics = {path: found for path, found in known.items() if path.startswith(SCHEME)}
    return topics | {path: state.as_dict() for path, state in looked.found.problems}


def bytes_of(looked: Look) -> int:
    """Return how much there is to read: decompressed bytes, or what a file that is read where it is has."""
    return sum(
        fresh.source.stamp.size if fresh.is_whole_file else fresh.end - fresh.start
        for fresh in looked.found.fresh
    )


def nothing_new(looked: Look) -> str:
    """Return the sentence for a run that has nothing to add."""
    if looked.base is None:
        return f"No log of {looked.cluster} holds a whole record yet."
    return f"Nothing new since {looked.base.written_at}."


def extend(
    spark: SparkSession,
    looked: Look,
    *,
    keep_days: int = KEPT_DAYS,
    today: date | None = None,
    wanted: Sequence[Fresh] | None = None,
    counted: Sequence[Fresh] = (),
) -> Extended:
    """Add what is new in the logs to the table, in one step; return what was added.

    wanted: a part of what is new, all unless given. counted: what the table has since the look; its base is newer.
    Nothing that is persisted outlives the run. Raises JobError where no file can be read, and TableError where
    the table cannot be changed.
    """
    oldest_day = ((today or datetime.now(UTC).date()) - timedelta(days=keep_days)).isoformat()
    with unfinished_folder(looked.folder) as unfinished, keeping() as keep:
        if looked.base:
            check(looked.folder, looked.base.all_parts())
        part = looked.found.fresh if wanted is None else wanted
        return _Extending(spark, looked, part, counted, unfinished, keep, oldest_day).run()


@dataclass(frozen=True)
class _Extending:
    """One change of the table, as `extend` has it. oldest_day: the first day that is kept."""

    spark: SparkSession
    looked: Look
    wanted: Sequence[Fresh]
    before: Sequence[Fresh]
    unfinished: str
    keep: Keep
    oldest_day: str

    def run(self) -> Extended:
        looked = self.looked
        with looked.folder.scratch(f"{self.unfinished}/new") as (copies, shown):
            counted = count_bytes(
                self.spark, self.wanted, copies, self.keep, shown=shown, zone_of=looked.zone_of
            )
            return self._write(counted)

    def _write(self, counted: Counted) -> Extended:
        looked = self.looked
        writing = Writing(
            self.spark, looked.folder, looked.cluster, looked.base, self.unfinished, self.oldest_day
        )
        added = writing.add(
            counted.lines,
            counted.coverage,
            sources=_sources(looked, [*self.before, *counted.fresh], self.oldest_day),
            problems=_problems(looked),
            zones={fresh.source.broker: looked.zone_of(fresh) for fresh in counted.fresh},
        )
        return Extended(
            added.version,
            files=len(counted.fresh),
            lines=added.lines,
            decisions=added.decisions,
            too_old=added.too_old,
            warnings=tuple(
                f"{path}: It changed while it was read; it is read at the next run."
                for path in counted.changed
            ),
            counted=tuple(counted.fresh),
        )


def summary(extended: Extended) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    version = extended.version
    days = sorted(filter(None, version.days))
    report = [
        f"Added {number_of(extended.lines, 'record')} of {number_of(extended.files, 'file')}, "
        f"{extended.decisions:,} of them decisions.",
    ]
    if extended.too_old:
        report.append(
            f"{number_of(extended.too_old, 'record')} of days before those that the table keeps were left out."
        )
    if any(zone is None for zone in version.zones.values()):
        report.append("Times are as the brokers wrote them, because no time zone was given.")
    if old := [day for day in version.days.values() if day.parser < PARSER]:
        report.append(
            f"{number_of(len(old), 'day')} of the table hold rows that an earlier version of aclweb read."
        )
    if days:
        report.append(
            f"The table of {version.cluster} now has {number_of(len(days), 'day')}, {days[0]} to {days[-1]}."
        )
    return report
