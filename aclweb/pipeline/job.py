"""How are the logs of one cluster read, counted, decided and written as one result?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from aclweb.pipeline import decisions, sources, usage
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.schemas import OTHER, REQUEST, UNPARSED
from aclweb.pipeline.snapshot import Snapshot

FORMAT = 1  # of the manifest and the tables; raised when a reader of the old ones could go wrong


def run_usage(spark: SparkSession, snapshot: Snapshot, files: Sequence[str], out: Path) -> dict[str, Any]:
    """Write the tables and the manifest of the usage job to `out` and return the manifest.

    Tables: usage, requests, unparsed. The same input gives the same files, byte by byte.
    """
    kept: list[DataFrame] = []

    def keep(frame: DataFrame) -> DataFrame:
        kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return kept[-1]

    broadcast = spark.sparkContext.broadcast(decisions.shipped(snapshot))
    try:
        with new_result(out) as folder:
            counts = sources.read_counts(spark, files)
            texts = counts.select("raw", F.col("day").isNotNull().alias("timed")).distinct()
            lines = keep(usage.read_lines(counts, decisions.parse(texts)))
            decided = keep(decisions.decide_requests(usage.distinct_requests(lines), broadcast))
            seen = keep(usage.seen_requests(lines, decided))

            notes = usage.notes(lines).orderBy(F.desc("lines"), "kind", "reason").toArrow()
            tables = {
                "usage": usage.usage(seen, lines).orderBy("binding_key").toArrow(),
                "requests": seen.orderBy(*REQUEST, "allowed").toArrow(),
                "unparsed": notes.filter(pc.field("kind") == UNPARSED).drop_columns("kind"),
            }
            for name, table in tables.items():
                write_table(folder, name, table)
            manifest = _manifest(
                snapshot,
                files=[_file(row) for row in usage.files(lines).collect()],
                notes=notes.to_pylist(),
                facts=usage.declarations(lines, decided).collect(),
                tables=tables,
            )
            write_manifest(folder, manifest)
    finally:
        for frame in kept:
            frame.unpersist()
        broadcast.destroy()
    return manifest


def _manifest(
    snapshot: Snapshot,
    *,
    files: Sequence[dict[str, Any]],
    notes: Sequence[dict[str, Any]],
    facts: Sequence[Row],
    tables: Mapping[str, pa.Table],
) -> dict[str, Any]:
    files = sorted(files, key=lambda file: str(file["path"]))
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
            "authorizer": snapshot.rules.authorizer,
            "kafka_version": snapshot.rules.kafka_version,
            "undeclared": sorted(snapshot.rules.undeclared),
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
        },
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


def _file(row: Row) -> dict[str, Any]:
    url = urlsplit(row.file)
    times = ("first_at", "last_at", "first_permit_at", "last_permit_at")
    numbers = ("lines", "decisions", "probes", "other", "unparsed", "ambiguous", "permits")
    return (
        {"path": unquote(url.path) if url.scheme == "file" else row.file}
        | {name: int(row[name]) for name in numbers}
        | {name: _text(row[name]) for name in times}
    )


def _declarations(rows: Iterable[Row]) -> dict[str, Any]:
    found: dict[str, Any] = {"super_users": {}, "default_allow": 0, "default_deny_uncovered": 0}
    for row in sorted(rows, key=lambda row: (row.fact, row.principal or "")):
        if row.fact == "super_user":
            found["super_users"][row.principal] = int(row.lines)
        else:
            name = "default_allow" if row.fact == "default_allow" else "default_deny_uncovered"
            found[name] += int(row.lines)
    return found


def summary(manifest: dict[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    lines, coverage = manifest["lines"], manifest["coverage"]
    span = (
        f"from {coverage['first_at']} to {coverage['last_at']}"
        if coverage["first_at"]
        else "without any time"
    )
    told = [
        f"Read {lines['read']:,} records of {len(manifest['files'])} files, {span}.",
        f"{lines['decisions']:,} are decisions, {lines['probes']:,} probes, {lines['other']:,} other notes;"
        f" {lines['unparsed']:,} could not be understood.",
    ]
    told += [f"  {entry['lines']:,} × {entry['reason']}" for entry in manifest["unparsed"]]
    told.append(
        f"{manifest['rows']['usage']:,} of {manifest['snapshot']['acls']:,} ACLs counted or were named;"
        f" {manifest['rows']['requests']:,} different requests were seen."
    )
    if not coverage["permits_seen"]:
        told.append("No permit is in the log, so it cannot tell which ALLOW ACLs are used.")
    if manifest["disagreements"]["lines"]:
        told.append(
            f"{manifest['disagreements']['lines']:,} decisions would be made otherwise with these ACLs."
        )
    return told


def _total(files: Sequence[dict[str, Any]], name: str) -> int:
    return sum(file[name] for file in files)


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat(sep=" ", timespec="milliseconds") if moment else None


def _first(moments: Iterable[str | None]) -> str | None:
    return min(filter(None, moments), default=None)


def _last(moments: Iterable[str | None]) -> str | None:
    return max(filter(None, moments), default=None)
