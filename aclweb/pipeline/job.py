"""How are the logs of one cluster read, counted, decided and written as one result?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from aclweb.acl.model import number_of
from aclweb.pipeline import decisions, sources, usage
from aclweb.pipeline.coverage import broker_of, coverage_table, short_names
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.files import READ, FileState
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.schemas import OTHER, REQUEST, UNPARSED
from aclweb.pipeline.snapshot import Snapshot

FORMAT = 1  # of the manifest and the tables; raised when a reader of the old ones could go wrong


def run_usage(spark: SparkSession, snapshot: Snapshot, files: Sequence[str], out: Path) -> dict[str, Any]:
    """Write the tables and the manifest of the usage job to `out` and return the manifest.

    Tables: usage, requests, unparsed, coverage. The same input gives the same files, byte by byte.
    Nothing that is persisted outlives the run. Raises JobError where no file can be read.
    """
    kept: list[DataFrame] = []

    def keep(frame: DataFrame) -> DataFrame:
        kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return kept[-1]

    broadcast = spark.sparkContext.broadcast(decisions.shipped(snapshot))
    try:
        with new_result(out) as folder:
            reading = sources.read_counts(spark, files, keep)
            texts = reading.counts.select("raw", "timed").distinct()
            lines = keep(usage.read_lines(reading.counts, decisions.parse(texts)))
            decided = keep(decisions.decide_requests(usage.distinct_requests(lines), broadcast))
            seen = keep(usage.seen_requests(lines, decided))

            until = datetime.now(UTC).date() + timedelta(days=1)
            held = {_path(row.file): row for row in usage.files(lines, until).collect()}
            days = [(_path(row.file), row) for row in usage.hours(lines, until).collect()]
            brokers = short_names(broker_of(path) for path, _ in days)
            notes = usage.notes(lines).orderBy(F.desc("lines"), "kind", "reason").toArrow()
            tables = {
                "usage": usage.usage(seen, lines).orderBy("binding_key").toArrow(),
                "requests": seen.orderBy(*REQUEST, "allowed").toArrow(),
                "unparsed": notes.filter(pc.field("kind") == UNPARSED).drop_columns("kind"),
                "coverage": coverage_table(days, brokers),
            }
            for name, table in tables.items():
                write_table(folder, name, table)
            manifest = _manifest(
                snapshot,
                files=_files(reading.states, held, brokers),
                not_utf8=[row.not_utf8_sample for row in held.values() if row.not_utf8],
                notes=notes.to_pylist(),
                facts=usage.declarations(lines, decided).collect(),
                tables=tables,
            )
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and these would hide it.
        with suppress(*SPARK_ERRORS):
            for frame in kept:
                frame.unpersist()
            broadcast.destroy()
    return manifest


def _manifest(
    snapshot: Snapshot,
    *,
    files: Sequence[dict[str, Any]],
    not_utf8: Sequence[str],
    notes: Sequence[dict[str, Any]],
    facts: Sequence[Row],
    tables: Mapping[str, pa.Table],
) -> dict[str, Any]:
    permits = [file for file in files if file["permits"]]
    differing = tables["requests"].filter(pc.field("differs"))
    return {
        "format": FORMAT,
        "job": "usage",
        "snapshot": {
            "cluster": snapshot.cluster,
            "revision": snapshot.revision,
            "digest": snapshot.digest,
            "acls": len(snapshot.bindings),
            "authorizer": snapshot.settings.authorizer,
            "kafka_version": snapshot.settings.kafka_version,
            "undeclared": sorted(snapshot.settings.undeclared),
        },
        "files": files,
        "lines": {
            "read": _total(files, "lines"),
            "parsed": _total(files, "decisions") + _total(files, "probes"),
            "decisions": _total(files, "decisions"),
            "probes": _total(files, "probes"),
            "other": _total(files, "other"),
            "unparsed": _total(files, "unparsed"),
            "ambiguous": _total(files, "ambiguous"),
            "not_utf8": _total(files, "not_utf8"),
        },
        "not_utf8_sample": min(not_utf8, default=None),
        "unparsed": [_without_kind(note) for note in notes if note["kind"] == UNPARSED],
        "other": [_without_kind(note) for note in notes if note["kind"] == OTHER],
        "coverage": {
            "first_at": _first(file["first_at"] for file in files),
            "last_at": _last(file["last_at"] for file in files),
            "permits_seen": bool(permits),
            "files_with_permits": len(permits),
            "first_permit_at": _first(file["first_permit_at"] for file in permits),
            "last_permit_at": _last(file["last_permit_at"] for file in permits),
        },
        "declarations": _declarations(facts),
        "disagreements": {
            "requests": differing.num_rows,
            "lines": sum(differing["lines"].to_pylist()),
        },
        "rows": {name: table.num_rows for name, table in tables.items()},
    }


def _without_kind(note: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in note.items() if name != "kind"}


_TIMES = ("first_at", "last_at", "first_permit_at", "last_permit_at")
_NUMBERS = ("lines", "decisions", "probes", "other", "unparsed", "ambiguous", "permits", "not_utf8")


def _path(file: str) -> str:
    """Return the path of a file from Spark's name for it."""
    url = urlsplit(file)
    return unquote(url.path) if url.scheme == "file" else file


def _files(
    states: Mapping[str, FileState], held: Mapping[str, Row], brokers: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the manifest's entry of every file that was asked for, by path; a path of Spark's may mean several."""
    names = short_names([*states, *held])
    found = []
    named = {path for path, state in states.items() if "://" not in path or state.state != READ}
    for path in sorted(named | set(held)):
        row = held.get(path)
        state = states.get(path, FileState(READ))
        facts = {"path": path, "name": names[path], "broker": brokers.get(broker_of(path))} | state.as_dict()
        facts |= {name: int(row[name]) if row else 0 for name in _NUMBERS}
        found.append(facts | {name: _text(row[name]) if row else None for name in _TIMES})
    return found


def _declarations(rows: Iterable[Row]) -> dict[str, Any]:
    found: dict[str, Any] = {"super_users": {}, "default_allow": 0, "default_deny_uncovered": 0}
    for row in sorted(rows, key=lambda row: (row.fact, row.principal or "")):
        if row.fact == "super_user":
            found["super_users"][row.principal] = int(row.lines)
        else:
            name = "default_allow" if row.fact == "default_allow" else "default_deny_uncovered"
            found[name] += int(row.lines)
    return found


def warnings(manifest: Mapping[str, Any]) -> list[str]:
    """Return a line for each file that could not be read to its end."""
    return [
        f"{file['path']}: {file['state']}. {file['reason']}"
        for file in manifest["files"]
        if file["state"] != READ
    ]


def summary(manifest: dict[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    lines, coverage = manifest["lines"], manifest["coverage"]
    span = (
        f"from {coverage['first_at']} to {coverage['last_at']}"
        if coverage["first_at"]
        else "without any time"
    )
    report = [
        f"Read {number_of(lines['read'], 'record')} of {number_of(len(manifest['files']), 'file')}, {span}.",
        f"{lines['decisions']:,} are decisions, {lines['probes']:,} probes, {lines['other']:,} other notes;"
        f" {lines['unparsed']:,} could not be understood.",
    ]
    report += [f"  {entry['lines']:,} × {entry['reason']}" for entry in manifest["unparsed"]]
    report.append(
        f"{manifest['rows']['usage']:,} of {manifest['snapshot']['acls']:,} ACLs counted or were named;"
        f" {manifest['rows']['requests']:,} different requests were seen."
    )
    if lines["not_utf8"]:
        report.append(
            f"{lines['not_utf8']:,} records hold bytes that are not UTF-8; these stand as � in the result."
        )
    if not coverage["permits_seen"]:
        report.append("No permit is in the log, so it cannot tell which ALLOW ACLs are used.")
    if manifest["disagreements"]["lines"]:
        report.append(
            f"{manifest['disagreements']['lines']:,} decisions would be made otherwise with these ACLs."
        )
    return report


def _total(files: Sequence[dict[str, Any]], name: str) -> int:
    return sum(file[name] for file in files)


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat(sep=" ", timespec="milliseconds") if moment else None


def _first(moments: Iterable[str | None]) -> str | None:
    return min(filter(None, moments), default=None)


def _last(moments: Iterable[str | None]) -> str | None:
    return max(filter(None, moments), default=None)
