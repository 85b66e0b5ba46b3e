"""What does a job say about the logs that it read, beside its tables?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import Row as SparkRow

from aclweb.acl.model import number_of
from aclweb.acl.notation import UNKNOWN, shown
from aclweb.pipeline.coverage import FIRSTS, LASTS, SUMS, Row, added, broker_of, in_span, short_names
from aclweb.pipeline.files import COPY, GONE, READ, FileState
from aclweb.pipeline.folding import Rows
from aclweb.pipeline.known_brokers import KnownBrokers
from aclweb.pipeline.schemas import NOT_UTF8, OTHER, UNPARSED
from aclweb.pipeline.snapshot import Snapshot
from aclweb.pipeline.totals import asked_in, by_day

FORMAT = 1  # of the manifest and the tables; raised when a reader of the old ones could go wrong

NOTES = pa.schema([("reason", pa.string()), ("lines", pa.int64()), ("sample", pa.string())])

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the tables show times without a zone


@dataclass(frozen=True)
class Source:
    """A file that was asked for: where it was last seen, how far it was read, and the name of its layout, if known."""

    path: str
    state: FileState
    layout: str = ""

    @property
    def is_unread(self) -> bool:
        """Whether its requests are not known, though it is there."""
        return self.state.state not in (GONE, COPY) and (self.layout == UNKNOWN or not self.state.is_readable)


@dataclass(frozen=True)
class ByHour:
    """denied: schemas.DENIED, a key in several rows. days: those of which it has all denials, one without any too."""

    denied: DataFrame
    days: frozenset[str]


@dataclass(frozen=True)
class Logged:
    """What the logs of a cluster hold, read from them or from the access table.

    rows: what is logged of requests. samples: schemas.SAMPLES. coverage:
    rows with the key `source`, and `broker` by `broker_of`. notes: rows of `totals.notes`. sources: by the key in
    `coverage`. table_state: that of the table, null if the logs themselves were read. brokers: what is known of them
    beside. denied: rows of `totals.denied_by_broker`; None where the logs themselves were read, which tell no broker.
    by_hour: what is known by hour. is_utc: whether all times are known to be UTC.
    """

    rows: Rows
    samples: DataFrame
    by_hour: ByHour
    coverage: Sequence[Row]
    notes: Sequence[Row]
    sources: Mapping[str, Source]
    table_state: str | None = None
    brokers: KnownBrokers = field(default_factory=KnownBrokers)
    denied: DataFrame | None = None
    is_utc: bool = False

    def levels(self, coverage: Iterable[Row]) -> dict[str, str]:
        """Return the levels that somebody declared, by the names of the brokers in some rows of the coverage."""
        declared = self.brokers.levels
        names = broker_names(coverage, self.brokers.names)
        return {names[broker]: level for broker, level in sorted(declared.items()) if broker in names}

    @cached_property
    def asked(self) -> DataFrame:
        """What was asked, by request and answer (schemas.ASKED)."""
        return asked_in(self.rows.frame)

    @property
    def access(self) -> DataFrame:
        """The access rows (schemas.ACCESS without broker and ambiguous); a key may be in several."""
        return by_day(self.rows.frame)


@dataclass
class Differing:
    """How many requests, and lines of them, the snapshot answers otherwise than the log."""

    requests: int = 0
    lines: int = 0

    def add(self, seen: pa.Table) -> None:
        """Count some rows of schemas.SEEN."""
        differing = seen.filter(pc.field("differs"))
        self.requests += differing.num_rows
        self.lines += sum(differing["lines"].to_pylist())


def added_notes(notes: Iterable[Row], *key: str) -> list[Row]:
    """Return rows of `totals.notes` with those of one key added, which is all but lines and sample unless given."""
    found: dict[tuple[str | None, ...], Row] = {}
    for note in notes:
        into = found.setdefault(
            tuple(note.get(name) for name in key or ("day", "broker", "kind", "reason", "noted")),
            {**note, "lines": 0},
        )
        into["lines"] += note["lines"]
        into["sample"] = min(into["sample"], note["sample"])
    return list(found.values())


def notes_by_reason(
    notes: Iterable[Row], kind: str, names: Mapping[str, str] = MappingProxyType({})
) -> list[Row]:
    """Return reason, lines and sample of the notes of a kind: the reasons with most lines first.

    names: what brokers are called, by `broker_of`; a reason has the same of each of these, where the notes tell it.
    """
    notes = [note for note in notes if note["kind"] == kind]
    shown = [{name: note[name] for name in NOTES.names} for note in added_notes(notes, "reason")]
    by_broker: dict[str, list[Row]] = {}
    for note in added_notes(notes, "reason", "broker"):
        if note.get("broker") in names:
            told = {"broker": names[note["broker"]], "lines": note["lines"], "sample": note["sample"]}
            by_broker.setdefault(note["reason"], []).append(told)
    for each in shown:
        if own := by_broker.get(each["reason"]):
            each["brokers"] = sorted(own, key=lambda told: (-told["lines"], told["broker"]))
    return sorted(shown, key=lambda note: (-note["lines"], note["reason"]))


def broker_names(coverage: Iterable[Row], named: Mapping[str, str]) -> dict[str, str]:
    """Return what the brokers are called of which a day is in the span, by `broker_of`."""
    brokers = {row["broker"] for row in coverage}
    return short_names(brokers) | {broker: named[broker] for broker in brokers & named.keys()}


def manifest_of(
    snapshot: Snapshot,
    logged: Logged,
    *,
    until: date,
    facts: Sequence[SparkRow],
    differing: Differing,
    then: Mapping[str, Any] | None,
    rows: Mapping[str, int],
) -> dict[str, Any]:
    """Return the manifest of the usage job.

    until: the last day that a broker can have written about. facts: those of `seen.Counted`. then: what is said of
    the history, None where none was given. rows: those of each table.
    """
    return {
        "format": FORMAT,
        "job": "usage",
        "snapshot": snapshot_facts(snapshot),
        **log_facts(logged, until),
        "declarations": _declarations(facts, logged.notes),
        "disagreements": {"requests": differing.requests, "lines": differing.lines},
        "history": then,
        "rows": dict(rows),
    } | ({"state": state_of(snapshot, logged.table_state)} if logged.table_state else {})


def snapshot_facts(snapshot: Snapshot) -> dict[str, Any]:
    """Return what a manifest says of the ACLs and settings that decided."""
    return {
        "cluster": snapshot.cluster,
        "revision": snapshot.revision,
        "digest": snapshot.digest,
        "acls": len(snapshot.bindings),
        "authorizer": snapshot.settings.authorizer,
        "kafka_version": snapshot.settings.kafka_version,
        "undeclared": sorted(snapshot.settings.undeclared),
    }


def log_facts(logged: Logged, until: date) -> dict[str, Any]:
    """Return what a manifest says of the logs: files, why some are unread, levels, lines, unparsed, other, coverage.

    until: the last day that a broker can have written about.
    """
    files = _files(logged, until)
    permits = [file for file in files if file["permits"]]
    names = broker_names(in_span(logged.coverage, until), logged.brokers.names)
    not_utf8 = [note["sample"] for note in logged.notes if note["kind"] == NOT_UTF8]
    return {
        "files": files,
        "unread": why_unread(logged.sources.values()),
        "levels": logged.levels(in_span(logged.coverage, until)),
        "broker_names": names,
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
        "unparsed": notes_by_reason(logged.notes, UNPARSED, names),
        "other": notes_by_reason(logged.notes, OTHER),
        "coverage": {
            "first_at": _first(file["first_at"] for file in files),
            "last_at": _last(file["last_at"] for file in files),
            "permits_seen": bool(permits),
            "files_with_permits": len(permits),
            "first_permit_at": _first(file["first_permit_at"] for file in permits),
            "last_permit_at": _last(file["last_permit_at"] for file in permits),
        },
    }


def why_unread(sources: Iterable[Source]) -> str:
    """Return which files may hold requests that nobody counted, as a reason to call nothing unused; empty if none.

    These are files of an unknown layout, and files that could not be opened. Of one that is gone nothing is awaited.
    """
    paths = sorted(source.path for source in sources if source.is_unread)
    if not paths:
        return ""
    more = f" (and {len(paths) - 1:,} more)" if len(paths) > 1 else ""
    return f"the log file {paths[0]!r}{more} could not be read or understood, so requests may be missing"


def state_of(snapshot: Snapshot, table_state: str) -> str:
    """Return a word for the answer to a snapshot from a table: made again, one of the same state is the same."""
    return hashlib.sha256(f"{snapshot.decision_digest} {table_state}".encode()).hexdigest()


def _files(logged: Logged, until: date) -> list[dict[str, Any]]:
    """Return the manifest's entry of every file, by path. Its times are those of days in the span."""
    sane = in_span(logged.coverage, until)
    held = {row["source"]: row for row in added(logged.coverage, "source")}
    spans = {row["source"]: row for row in added(sane, "source")}
    brokers = broker_names(sane, logged.brokers.names)
    names = short_names(source.path for source in logged.sources.values())
    found = []
    for key, source in sorted(logged.sources.items(), key=lambda entry: entry[1].path):
        row, span = held.get(key), spans.get(key, {})
        broker = row["broker"] if row else broker_of(source.path)
        facts = {"path": source.path, "name": names[source.path], "broker": brokers.get(broker)}
        facts |= {"layout": shown(source.layout) or None}
        facts |= source.state.as_dict() | {name: row[name] if row else 0 for name in SUMS}
        found.append(
            facts | {name.removesuffix("_us") + "_at": _text(span.get(name)) for name in (*FIRSTS, *LASTS)}
        )
    return found


def _declarations(rows: Iterable[SparkRow], notes: Iterable[Row]) -> dict[str, Any]:
    """Return what brokers said of settings: beside their decisions, and in notes of their own."""
    found: dict[str, Any] = {"super_users": {}, "default_allow": 0, "default_deny_uncovered": 0}
    said = [(row.fact, row.principal, int(row.lines)) for row in rows]
    said += [
        (_NOTED.get(note["noted"], "super_user"), note["noted"], note["lines"])
        for note in notes
        if note["noted"]
    ]
    for fact, principal, lines in sorted(said, key=lambda entry: (entry[0], entry[1] or "")):
        if fact == "super_user":
            found["super_users"][principal] = found["super_users"].get(principal, 0) + lines
        else:
            found["default_allow" if fact == "default_allow" else "default_deny_uncovered"] += lines
    return found


# What a note says about a resource without an ACL.
_NOTED = {"true": "default_allow", "false": "default_deny"}


def warnings(manifest: Mapping[str, Any]) -> list[str]:
    """Return a line for each file that could not be read to its end, that is a copy, or that has no known layout."""
    return [
        f"{file['path']}: {file['state']}. {file['reason']}"
        if file["state"] != READ
        else f"{file['path']}: Its layout is unknown, so {number_of(file['lines'], 'line')} of it cannot be read; "
        "name its layout with --layout, or its log4j pattern with --pattern."
        for file in manifest["files"]
        if file["state"] != READ or file["layout"] == shown(UNKNOWN)
    ]


def read_summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a job read of the logs, a sentence a line."""
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
    return report


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of the usage job, a sentence a line."""
    lines, coverage = manifest["lines"], manifest["coverage"]
    report = read_summary(manifest)
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
    differing, requests = manifest["disagreements"], manifest["rows"]["requests"]
    if differing["lines"]:
        report.append(f"{differing['lines']:,} decisions would be made otherwise with these ACLs.")
    if differing["requests"] * 2 > requests:
        snapshot = manifest["snapshot"]
        report.append(
            f"These are {differing['requests']:,} of the {requests:,} requests: the ACLs of {snapshot['cluster']!r}, "
            f"revision {snapshot['revision']}, may be those of another cluster than the log's."
        )
    return report


def _total(files: Sequence[dict[str, Any]], name: str) -> int:
    return sum(file[name] for file in files)


def _text(micros: int | None) -> str | None:
    if micros is None:
        return None
    return (_EPOCH + timedelta(microseconds=micros)).isoformat(sep=" ", timespec="milliseconds")


def _first(moments: Iterable[str | None]) -> str | None:
    return min(filter(None, moments), default=None)


def _last(moments: Iterable[str | None]) -> str | None:
    return max(filter(None, moments), default=None)
