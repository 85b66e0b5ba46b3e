"""How do new bytes of the logs become rows of the access table?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from aclweb.acl.model import number_of
from aclweb.acl.notation import UNKNOWN
from aclweb.pipeline import schemas, totals
from aclweb.pipeline.coverage import Row, added
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import READ
from aclweb.pipeline.increments import (
    Found,
    Fresh,
    NotTheSameError,
    copy_bytes,
    is_still_there,
    look_for_new,
)
from aclweb.pipeline.job import counted_lines, keeping, path_of
from aclweb.pipeline.known_content import Source
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import added_notes
from aclweb.pipeline.readings import Reading, check_layouts, first_line, why_unknown
from aclweb.pipeline.sources import nothing_read
from aclweb.pipeline.table.changing import (
    MOST_SAMPLE_PARTS,
    Written,
    adopt_frames,
    commit_and_sweep,
    days_to_fold,
    next_version,
    unfinished_folder,
    write_rows,
)
from aclweb.pipeline.table.parts import (
    ACCESS,
    COVERAGE,
    COVERAGE_SCHEMA,
    NOTES,
    NOTES_SCHEMA,
    SAMPLES,
    Part,
    TableError,
    check,
    place_of,
)
from aclweb.pipeline.table.reading import Table, Window, folder_of
from aclweb.pipeline.table.versions import PARSER, Version, latest

KEPT_DAYS = 400

_FILE_ROWS = 10_000_000
# What the access rows of a table have beside those of a usage job.
_OF_TABLE = ("broker", "ambiguous")


@dataclass(frozen=True)
class Look:
    """What the logs of a cluster hold that its table does not."""

    folder: Path
    cluster: str
    base: Version | None
    found: Found


@dataclass(frozen=True)
class Extended:
    """What a run of the job added. warnings: sentences about files that could not be read, or were left for later."""

    version: Version
    files: int
    lines: int
    decisions: int
    too_old: int
    warnings: tuple[str, ...]


def look(table: Path, cluster: str, paths: Sequence[str], layout: str | None = None) -> Look:
    """Return what is new in the logs; no Spark is needed for it.

    layout: that of all logs, None to look for that of each.

    Raises SourceError for a path that means no file, TableError for a table that cannot be read, and JobError where
    no file can be read, or each with something new is of an unknown layout.
    """
    folder = folder_of(table, cluster)
    base = latest(folder)
    known = [Source.from_dict(dict(source)) for source in base.sources] if base else []
    found = look_for_new(paths, known, layout=layout)
    if found.problems and not (found.fresh or found.unchanged or found.skipped):
        raise JobError(nothing_read(dict(found.problems)))
    unknown = _unknown(found.fresh)
    if unknown and len(unknown) == len(found.fresh):
        raise JobError(why_unknown(unknown, "nothing of it can be read"))
    return Look(folder, cluster, base, found)


def _unknown(fresh: Sequence[Fresh]) -> dict[str, str]:
    """Return the paths of the files of an unknown layout, with the first line of each."""
    return {one.path: first_line(one.path) for one in fresh if one.source.layout == UNKNOWN}


def check_zone(looked: Look, zone: str | None) -> None:
    """Raise TableError where a broker's log was read with another zone than this before."""
    known = looked.base.zones if looked.base else {}
    for fresh in looked.found.fresh:
        before = known.get(fresh.source.broker, zone)
        if before != zone:
            given = f"with the time zone {before}" if before else "without a time zone"
            again = f"give --time-zone {before} again" if before else "leave --time-zone out"
            raise TableError(
                f"The log {fresh.source.broker} was read {given} before; {again}, or make the table anew in another "
                "folder."
            )


def note_sources(looked: Look) -> None:
    """Keep in the table how the log files are called now, where nothing of them is new; no Spark is needed for it."""
    base, sources = looked.base, _sources(looked, ())
    problems = _problems(looked)
    if base and list(base.sources) == sources and base.problems == problems:
        return
    version = next_version(
        base,
        looked.cluster,
        {},
        samples=base.samples if base else (),
        sources=sources,
        problems=problems,
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


def _problems(looked: Look) -> dict[str, dict[str, Any]]:
    return {path: state.as_dict() for path, state in looked.found.problems}


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
    zone: str | None = None,
    keep_days: int = KEPT_DAYS,
    today: date | None = None,
) -> Extended:
    """Add what is new in the logs to the table, in one step; return what was added.

    zone: that of the brokers' clocks; None keeps times as they are written.

    Nothing that is persisted outlives the run. Raises JobError where no file can be read, and TableError where
    the table cannot be changed.
    """
    oldest_day = ((today or datetime.now(UTC).date()) - timedelta(days=keep_days)).isoformat()
    with unfinished_folder(looked.folder) as unfinished, keeping() as keep:
        if looked.base:
            check(looked.folder, looked.base.all_parts())
        return _Extending(spark, looked, unfinished, keep, oldest_day, zone).run()


@dataclass(frozen=True)
class _Counted:
    """What Spark counted: only the bytes of `fresh`, all of which were read as they were looked at."""

    lines: DataFrame
    coverage: Sequence[Row]
    fresh: Sequence[Fresh]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class _Extending:
    """One change of the table. oldest_day: the first day that is kept."""

    spark: SparkSession
    looked: Look
    unfinished: Path
    keep: Keep
    oldest_day: str
    zone: str | None

    def run(self) -> Extended:
        counted = self._count()
        rows = [row for row in counted.coverage if self._is_kept(row["day"])]
        by_day = {row["day"] or "": row for row in added(rows, "day")}
        folded = {day for day in days_to_fold(self.looked.base, by_day) if not day or self._is_kept(day)}
        parts = {
            ACCESS: self._write_access(counted, folded),
            COVERAGE: self._write_coverage(rows, folded),
            NOTES: self._write_notes(counted.lines, folded),
        }
        written = {
            day: Written(
                lines=by_day[day]["lines"] if day in by_day else 0,
                decisions=by_day[day]["decisions"] if day in by_day else 0,
                parts={dataset: found.get(day, ()) for dataset, found in parts.items()},
                is_folded=day in folded,
            )
            for day in {*by_day, *folded}
        }
        version = next_version(
            self.looked.base,
            self.looked.cluster,
            written,
            samples=self._write_samples(counted.lines),
            sources=_sources(self.looked, counted.fresh, self.oldest_day),
            problems=_problems(self.looked),
            zones={fresh.source.broker: self.zone for fresh in counted.fresh},
            oldest_day=self.oldest_day,
        )
        commit_and_sweep(self.looked.folder, version)
        return Extended(
            version,
            files=len(counted.fresh),
            lines=sum(row["lines"] for row in rows),
            decisions=sum(row["decisions"] for row in rows),
            too_old=sum(row["lines"] for row in counted.coverage) - sum(row["lines"] for row in rows),
            warnings=counted.warnings,
        )

    def _is_kept(self, day: str | None) -> bool:
        return day is None or day >= self.oldest_day

    def _count(self) -> _Counted:
        """Count the new bytes; what changed while Spark read it is left for the next run."""
        files, late = self._readable()
        readings = {path: Reading(fresh.source.layout, self.zone) for path, fresh in files.items()}
        lines, states = counted_lines(self.spark, list(files), self.keep, readings=readings)
        found = [row.asDict() for row in totals.coverage(lines).collect()]
        unsure = {
            path
            for path, fresh in files.items()
            if states[path].state != READ or (fresh.is_whole_file and not is_still_there(fresh))
        }
        wrong = [row["file"] for row in found if path_of(row["file"]) in unsure]
        if wrong:
            lines = lines.filter(~F.col("file").isin(wrong))
        late += [files[path].path for path in sorted(unsure)]
        coverage = []
        for row in found:
            if (path := path_of(row["file"])) not in unsure:
                fresh = files[path]
                facts = {"url": row["file"], "file": fresh.path, "broker": fresh.source.broker}
                coverage.append(row | facts)
        check_layouts(coverage, _unknown(list(files.values())), "file")
        return _Counted(
            lines,
            coverage,
            [fresh for path, fresh in files.items() if path not in unsure],
            tuple(f"{path}: It changed while it was read; it is read at the next run." for path in late),
        )

    def _readable(self) -> tuple[dict[str, Fresh], list[str]]:
        """Return the files for Spark with what each holds, and the paths of files that are no longer there."""
        copies = self.unfinished / "new"
        copies.mkdir()
        files, late = {}, []
        for fresh in self.looked.found.fresh:
            try:
                path = fresh.path if fresh.is_whole_file else str(copy_bytes(fresh, copies).resolve())
            except NotTheSameError:
                late.append(fresh.path)
            else:
                files[path] = fresh
        if not files:
            raise JobError(f"Every log file with something new was replaced while it was read: {late[0]}.")
        return files, late

    def _write_access(self, counted: _Counted, folded: set[str]) -> dict[str, tuple[Part, ...]]:
        found = {row["url"]: row["broker"] for row in counted.coverage}
        brokers = self.spark.createDataFrame([*found.items()] or [("", "")], "file string, broker string")
        lines = counted.lines.join(F.broadcast(brokers), "file").filter(F.col("day") >= self.oldest_day)
        rows = totals.access_rows(lines, *_OF_TABLE)
        if folded and self.looked.base:
            table = Table(self.looked.folder, self.looked.base)
            old = [part for day in folded for part in self.looked.base.days[day].parts[ACCESS]]
            both = rows.unionByName(table.read(self.spark, ACCESS, schemas.ACCESS, old))
            rows = totals.added(both, "day", *schemas.ACCESS_KEY, *_OF_TABLE)
        ordered = rows.select(*StructType.fromDDL(schemas.ACCESS).names).repartition("day")
        self._write(ordered.sortWithinPartitions("day", *schemas.ACCESS_KEY, "broker"), ACCESS, "day")
        return adopt_frames(self.unfinished / ACCESS, self.looked.folder, ACCESS)

    def _write_samples(self, lines: DataFrame) -> tuple[Part, ...]:
        """Write the latest record of each request; return the parts that the next version has."""
        base = self.looked.base
        kept = base.samples if base else ()
        found = totals.samples(lines.filter(F.col("day") >= self.oldest_day))
        if base and len(kept) >= MOST_SAMPLE_PARTS:
            oldest = datetime.fromisoformat(self.oldest_day).replace(tzinfo=UTC)
            known = Table(self.looked.folder, base).samples(self.spark)
            known = known.filter(F.col("last_us") >= round(oldest.timestamp()) * 1_000_000)
            found, kept = totals.latest(found.unionByName(known)), ()
        self._write(found.sortWithinPartitions(*schemas.REQUEST, "allowed"), SAMPLES)
        new = adopt_frames(self.unfinished / SAMPLES, self.looked.folder, SAMPLES)
        return (*kept, *new.get("", ()))

    def _write_coverage(self, rows: Sequence[Row], folded: set[str]) -> dict[str, tuple[Part, ...]]:
        old = self._known(Table.coverage, folded)
        return self._write_rows(COVERAGE, COVERAGE_SCHEMA, added([*old, *rows], "day", "file", "broker"))

    def _write_notes(self, lines: DataFrame, folded: set[str]) -> dict[str, tuple[Part, ...]]:
        new = [row.asDict() for row in totals.notes(lines).collect() if self._is_kept(row["day"])]
        return self._write_rows(NOTES, NOTES_SCHEMA, added_notes([*self._known(Table.notes, folded), *new]))

    def _write_rows(
        self, dataset: str, schema: pa.Schema, rows: Sequence[Row]
    ) -> dict[str, tuple[Part, ...]]:
        by_day: dict[str, list[Row]] = {}
        for row in rows:
            by_day.setdefault(row["day"] or "", []).append(row)
        return {
            day: write_rows(found, schema, self.unfinished, self.looked.folder, place_of(dataset, day))
            for day, found in by_day.items()
        }

    def _known(self, read: Callable[[Table, Window], list[Row]], days: set[str]) -> list[Row]:
        """Return the rows that the table has of some days."""
        if not (days and self.looked.base):
            return []
        table = Table(self.looked.folder, self.looked.base)
        return [row for row in read(table, Window()) if (row["day"] or "") in days]

    def _write(self, rows: DataFrame, dataset: str, *by: str) -> None:
        """Have the executors write rows into the unfinished folder."""
        writer = rows.write.option("compression", "zstd").option("maxRecordsPerFile", _FILE_ROWS)
        writer.partitionBy(*by).parquet(f"file://{(self.unfinished / dataset).resolve()}")


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
        report.append("Times are as the brokers wrote them, because no --time-zone was given.")
    if old := [day for day in version.days.values() if day.parser < PARSER]:
        report.append(
            f"{number_of(len(old), 'day')} of the table hold rows that an earlier version of aclweb read."
        )
    if days:
        report.append(
            f"The table of {version.cluster} now has {number_of(len(days), 'day')}, {days[0]} to {days[-1]}."
        )
    return report
