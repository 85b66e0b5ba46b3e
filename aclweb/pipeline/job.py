"""How are the logs of one cluster counted, decided and written as one result?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from aclweb.acl.notation import KAFKA, UNKNOWN
from aclweb.pipeline import decisions, totals, usage
from aclweb.pipeline.copies import copies_among
from aclweb.pipeline.coverage import broker_of, coverage_table, has_notes, in_span
from aclweb.pipeline.distant import distant_files
from aclweb.pipeline.failures import SPARK_ERRORS, JobError
from aclweb.pipeline.files import READ, FileState, copy_of, look, state_of_unknown
from aclweb.pipeline.folding import MOST_ROWS_OF_ONE, Rows, added_up
from aclweb.pipeline.history import History
from aclweb.pipeline.in_force import shipped_history, then_facts
from aclweb.pipeline.known_brokers import KnownBrokers
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.log_sources import LogSource, known_brokers
from aclweb.pipeline.manifest import (
    NOTES,
    ByHour,
    Differing,
    Logged,
    Source,
    broker_names,
    manifest_of,
    notes_by_reason,
)
from aclweb.pipeline.readings import (
    Reading,
    beginning_of,
    check_layouts,
    first_line_in,
    layout_in,
    reading_of,
    why_unknown,
)
from aclweb.pipeline.results import new_result, write_frame, write_manifest, write_table
from aclweb.pipeline.schemas import REQUEST, UNPARSED
from aclweb.pipeline.seen import counted_in, parted, seen_requests
from aclweb.pipeline.snapshot import Snapshot
from aclweb.pipeline.sources import nothing_read, read_lines
from aclweb.pipeline.table import Table, Window
from aclweb.pipeline.table.parts import ACCESS

NOTHING_KNOWN = KnownBrokers()

DENIED_BY_BROKER = "denied_by_broker"

_OF_GROUP = ("principal", "operation", "resource_type", "resource_name")
_LOOKED_AT = 1 << 20
_SHOWN_OF = 1 << 16
_READABLE = FileState(READ)


def run_usage(spark: SparkSession, snapshot: Snapshot, files: Sequence[str], out: Path) -> dict[str, Any]:
    """Write the tables and the manifest of the usage job on log files to `out` and return the manifest.

    Tables: usage, requests, unparsed, coverage; of an access table also DENIED_BY_BROKER. The same input gives the same
    files, byte by byte. Nothing that is persisted outlives the run. Raises JobError where no file can be read.
    """
    with keeping() as keep:
        return write_usage(spark, snapshot, read_logs(spark, files, keep), out, keep)


def write_usage(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
    history: History | None = None,
) -> dict[str, Any]:
    """Write what the usage job tells about the logs, wherever it was read.

    history: None where nobody knows which ACLs were in force before.
    """
    broadcast = spark.sparkContext.broadcast(decisions.shipped(snapshot))
    try:
        with new_result(out) as folder, shipped_history(spark, history, snapshot.settings, logged) as then:
            kept = keep(seen_requests(logged.rows, broadcast, then))
            found, counted = parted(kept), counted_in(kept)
            until = datetime.now(UTC).date() + timedelta(days=1)
            sane = in_span(logged.coverage, until)
            tables = {
                "usage": usage.without_last_covers(
                    usage.usage(found.uses, found.used_then if then else None)
                    .toArrow()
                    .sort_by("binding_key"),
                    snapshot,
                ),
                "unparsed": pa.Table.from_pylist(notes_by_reason(logged.notes, UNPARSED), schema=NOTES),
                "coverage": coverage_table(sane, broker_names(sane, logged.brokers.names)),
            }
            for name, table in tables.items():
                write_table(folder, name, table)
            differing = Differing()
            requests = found.requests.drop("one_of")
            write_frame(
                folder,
                "requests",
                requests,
                *REQUEST,
                "allowed",
                rows=counted.requests,
                look=differing.add,
            )
            counts = {name: table.num_rows for name, table in tables.items()}
            counts["requests"] = counted.requests
            if logged.denied is not None:
                denied = keep(logged.denied)
                counts[DENIED_BY_BROKER] = write_frame(folder, DENIED_BY_BROKER, denied, *_OF_GROUP, "broker")
            manifest = manifest_of(
                snapshot,
                logged,
                until=until,
                facts=counted.facts,
                then=then_facts(history, counted.then),
                differing=differing,
                rows=counts,
            )
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()
    return manifest


def read_logs(
    spark: SparkSession,
    files: Sequence[str],
    keep: Keep,
    *,
    sources: Mapping[str, LogSource] = MappingProxyType({}),
) -> Logged:
    """Return what log files hold; what is in two files of this machine is counted once.

    sources: what is known of files, by the path that is in `files`. Raises JobError where no file can be read, or where
    all lines are in files of an unknown layout.
    """
    asked = _files_to_read(spark, files, sources)
    found = {path: file for path, file in asked.items() if file.state.is_readable}
    left_out = {path: file.state for path, file in asked.items() if path not in found}
    if not found:
        raise JobError(nothing_read(left_out))
    unknown = {path: file.first_line for path, file in found.items() if file.reading.layout == UNKNOWN}
    if unknown and len(unknown) == len(found):
        raise JobError(why_unknown(unknown, "nothing of it can be read"))
    readings = {path: file.reading for path, file in found.items()}
    read = read_lines(spark, list(readings), keep, readings=readings)
    lines, states = read.lines, {**read.states, **left_out}
    coverage = [
        row | {"source": path, "broker": broker_of(path)}
        for row in read.coverage
        for path in [path_of(row["file"])]
    ]
    check_layouts(coverage, {path_of(path): line for path, line in unknown.items()}, "source")
    layouts = {path_of(path): reading.layout for path, reading in readings.items()}
    named = {path for path, state in states.items() if "://" not in path or state.state != READ}
    return Logged(
        rows=Rows(totals.logged_in(lines), read.texts),
        samples=totals.samples(lines),
        by_hour=ByHour(totals.denied_by_hour(lines), frozenset(row["day"] for row in coverage if row["day"])),
        coverage=coverage,
        notes=[row.asDict() for row in totals.notes(lines).collect()] if has_notes(coverage) else [],
        sources={
            path: Source(path, states.get(path, FileState(READ)), layouts.get(path, ""))
            for path in named | {row["source"] for row in coverage}
        },
        brokers=known_brokers({path_of(path): file.source for path, file in asked.items()}),
        is_utc=all(file.source.zone for file in found.values()),
    )


@dataclass(frozen=True)
class _FileToRead:
    """One log file: how it is read, what is known of it, and what its beginning is where its layout is unknown.

    state: one that is readable, unless nothing of the file is to be read.
    """

    reading: Reading
    source: LogSource
    beginning: bytes = b""
    state: FileState = _READABLE

    @classmethod
    def looked_at(cls, reading: Reading, source: LogSource, beginning: bytes) -> _FileToRead:
        if reading.layout != UNKNOWN:
            return cls(reading, source)
        return cls(reading, source, beginning, state_of_unknown(beginning))

    @property
    def first_line(self) -> str:
        return first_line_in(self.beginning)


def _files_to_read(
    spark: SparkSession, files: Sequence[str], sources: Mapping[str, LogSource]
) -> dict[str, _FileToRead]:
    """Return each log file by its path; an address of files is replaced by them."""
    found: dict[str, _FileToRead] = {}
    copies = copies_among(files)
    for path in files:
        source = sources.get(path, LogSource(path))
        if "://" not in path:
            state = copy_of(copies[path]) if path in copies else look(path)
            wanted = Reading(source.layout or "", source.zone)
            if state.is_readable:
                reading = reading_of(path, wanted)
                beginning = beginning_of(path) if reading.layout == UNKNOWN else b""
                found[path] = _FileToRead.looked_at(reading, source, beginning)
            else:
                found[path] = _FileToRead(wanted, source, state=state)
            continue
        distant = distant_files(spark, path, _LOOKED_AT)
        if not distant:
            found[path] = _FileToRead(Reading(source.layout or KAFKA, source.zone), source)
        for name, beginning in distant.items():
            layout = layout_in(partial(_range, beginning), source.layout)
            # Of several that mean a file, the first.
            found.setdefault(
                name, _FileToRead.looked_at(Reading(layout, source.zone), source, beginning[:_SHOWN_OF])
            )
    return found


def _range(data: bytes, start: int, end: int) -> bytes:
    return data[start:end]


def path_of(file: str) -> str:
    """Return the path of a file from Spark's name for it."""
    url = urlsplit(file)
    return unquote(url.path if url.scheme == "file" else file)


def run_usage_of_table(
    spark: SparkSession,
    snapshot: Snapshot,
    table: Table,
    window: Window,
    out: Path,
    brokers: KnownBrokers = NOTHING_KNOWN,
) -> dict[str, Any]:
    """Write what `run_usage` writes, on what an access table holds of the days in a window.

    A sample is the latest that the table has of its request, also where that is of another day.
    """
    with keeping() as keep:
        return write_usage(spark, snapshot, read_table(spark, table, window, keep, brokers), out, keep)


def state_with(table: Table, brokers: KnownBrokers) -> str:
    """Return a word for what a table holds with this known of its brokers."""
    known = [sorted(found.items()) for found in (brokers.names, brokers.levels)]
    # Without levels as before they were known, so that a result of then is not made again.
    told = known if known[1] else known[0]
    return f"{table.state} {json.dumps(told)}" if told else table.state


def read_table(
    spark: SparkSession, table: Table, window: Window, keep: Keep, brokers: KnownBrokers = NOTHING_KNOWN
) -> Logged:
    """Return what an access table holds of the days in a window."""
    coverage = [row | {"source": row["file"]} for row in table.coverage(window)]
    paths = {row["source"] for row in coverage}
    if window.is_all:
        paths |= {str(source["path"]) for source in table.version.sources} | table.version.problems.keys()
    states = {
        path: FileState(found["state"], found.get("reason", ""), found.get("at_byte"))
        for path, found in table.version.problems.items()
    }
    layouts = {str(source["path"]): str(source.get("layout", "")) for source in table.version.sources}
    sources = {
        path: Source(path, states.get(path, FileState(READ)), layouts.get(path, ""))
        for path in paths | states.keys() | layouts.keys()
    }
    samples = totals.latest(table.samples(spark))
    size = table.rows_in(window)
    return Logged(
        rows=Rows(
            keep(totals.logged_on(added_up(table.files(spark, table.parts(ACCESS, window))), samples)),
            size,
            table.files(spark, table.all_in(window)) if size <= MOST_ROWS_OF_ONE else None,
        ),
        samples=samples,
        by_hour=ByHour(table.denied_by_hour(spark, window), table.days_by_hour(window)),
        coverage=coverage,
        notes=table.notes(window),
        # Nobody knows which days a file is about that was never understood, so it is in every window.
        sources={path: source for path, source in sources.items() if path in paths or source.is_unread},
        table_state=state_with(table, brokers) if window.is_all else None,
        brokers=brokers,
        denied=totals.denied_by_broker(table.access(spark, window)),
        is_utc=bool(table.version.zones) and None not in table.version.zones.values(),
    )


@contextmanager
def keeping() -> Iterator[Keep]:
    """Yield what persists a frame until the end of the block."""
    kept: list[DataFrame] = []

    def keep(frame: DataFrame) -> DataFrame:
        kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return kept[-1]

    try:
        yield keep
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and these would hide it.
        with suppress(*SPARK_ERRORS):
            for frame in kept:
                frame.unpersist()
