"""How are the logs of one cluster counted, decided and written as one result?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from aclweb.pipeline import decisions, sources, totals, usage
from aclweb.pipeline.coverage import broker_of, coverage_table, in_span
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.files import READ, FileState
from aclweb.pipeline.manifest import NOTES, Logged, Source, broker_names, manifest_of, notes_by_reason
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.schemas import REQUEST, UNPARSED
from aclweb.pipeline.snapshot import Snapshot
from aclweb.pipeline.table import Table, Window

Keep = Callable[[DataFrame], DataFrame]


def run_usage(spark: SparkSession, snapshot: Snapshot, files: Sequence[str], out: Path) -> dict[str, Any]:
    """Write the tables and the manifest of the usage job on log files to `out` and return the manifest.

    Tables: usage, requests, unparsed, coverage. The same input gives the same files, byte by byte.
    Nothing that is persisted outlives the run. Raises JobError where no file can be read.
    """
    with keeping() as keep:
        return write_usage(spark, snapshot, read_logs(spark, files, keep), out, keep)


def write_usage(
    spark: SparkSession, snapshot: Snapshot, logged: Logged, out: Path, keep: Keep
) -> dict[str, Any]:
    """Write what the usage job tells about the logs, wherever it was read."""
    broadcast = spark.sparkContext.broadcast(decisions.shipped(snapshot))
    try:
        with new_result(out) as folder:
            decided = keep(decisions.decide_requests(usage.distinct_requests(logged.access), broadcast))
            seen = keep(usage.seen_requests(logged.access, logged.samples, decided))

            until = datetime.now(UTC).date() + timedelta(days=1)
            sane = in_span(logged.coverage, until)
            tables = {
                "usage": usage.usage(seen, logged.access).orderBy("binding_key").toArrow(),
                "requests": seen.orderBy(*REQUEST, "allowed").toArrow(),
                "unparsed": pa.Table.from_pylist(notes_by_reason(logged.notes, UNPARSED), schema=NOTES),
                "coverage": coverage_table(sane, broker_names(sane)),
            }
            for name, table in tables.items():
                write_table(folder, name, table)
            facts = usage.declarations(logged.access, decided).collect()
            manifest = manifest_of(snapshot, logged, until=until, facts=facts, tables=tables)
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()
    return manifest


def read_logs(spark: SparkSession, files: Sequence[str], keep: Keep) -> Logged:
    """Return what log files hold; raises JobError where none can be read."""
    lines, states = counted_lines(spark, files, keep)
    rows = [row.asDict() for row in totals.coverage(lines).collect()]
    coverage = [
        row | {"source": path, "broker": broker_of(path)} for row in rows for path in [path_of(row["file"])]
    ]
    named = {path for path, state in states.items() if "://" not in path or state.state != READ}
    return Logged(
        access=keep(totals.access_rows(lines)),
        samples=totals.samples(lines),
        coverage=coverage,
        notes=[row.asDict() for row in totals.notes(lines).collect()],
        sources={
            path: Source(path, states.get(path, FileState(READ)))
            for path in named | {row["source"] for row in coverage}
        },
    )


def counted_lines(
    spark: SparkSession, files: Sequence[str], keep: Keep, *, zone: str | None = None
) -> tuple[DataFrame, Mapping[str, FileState]]:
    """Return what the records of log files say (`totals.read_lines`), and the state of each file by its path.

    zone: as for `sources.read_counts`. Raises JobError where none can be read.
    """
    counted = sources.read_counts(spark, files, keep, zone=zone)
    texts = counted.counts.select("raw", "timed").distinct()
    return keep(totals.read_lines(counted.counts, decisions.parse(texts))), counted.states


def path_of(file: str) -> str:
    """Return the path of a file from Spark's name for it."""
    url = urlsplit(file)
    return unquote(url.path) if url.scheme == "file" else file


def run_usage_of_table(
    spark: SparkSession, snapshot: Snapshot, table: Table, window: Window, out: Path
) -> dict[str, Any]:
    """Write what `run_usage` writes, on what an access table holds of the days in a window.

    A sample is the latest that the table has of its request, also where that is of another day.
    """
    with keeping() as keep:
        return write_usage(spark, snapshot, read_table(spark, table, window, keep), out, keep)


def read_table(spark: SparkSession, table: Table, window: Window, keep: Keep) -> Logged:
    """Return what an access table holds of the days in a window."""
    coverage = [row | {"source": row["file"]} for row in table.coverage(window)]
    paths = {row["source"] for row in coverage}
    if window.is_all:
        paths |= {str(source["path"]) for source in table.version.sources} | table.version.problems.keys()
    states = {
        path: FileState(found["state"], found.get("reason", ""), found.get("at_byte"))
        for path, found in table.version.problems.items()
    }
    return Logged(
        access=keep(table.access(spark, window)),
        samples=totals.latest(table.samples(spark)),
        coverage=coverage,
        notes=table.notes(window),
        sources={path: Source(path, states.get(path, FileState(READ))) for path in paths},
        table_state=table.state if window.is_all else None,
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
