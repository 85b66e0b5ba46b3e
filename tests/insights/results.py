"""A result of the pipeline, written without Spark: one line per fact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.notation.files import binding_key
from aclweb.inventory.sync.differ import digest_of
from aclweb.pipeline.coverage import SCHEMA as COVERAGE_SCHEMA
from aclweb.pipeline.results import new_result, write_manifest, write_table

FIRST = datetime(2026, 11, 7, 8)
LAST = datetime(2026, 11, 20, 20)

ALL_HOURS = tuple(range(24))

_TIME = pa.timestamp("us")
_USAGE = pa.schema(
    {
        "binding_key": pa.string(),
        "requests": pa.int64(),
        "alone": pa.int64(),
        "named": pa.int64(),
        "first_at": _TIME,
        "last_at": _TIME,
        "needed": pa.int64(),
        "replaceable_by": pa.list_(pa.string()),
    }
)
_REQUESTS = pa.schema(
    [(name, pa.string()) for name in ("principal", "host", "operation", "resource_type", "resource_name")]
    + [("allowed", pa.bool_()), ("lines", pa.int64()), ("first_at", _TIME), ("last_at", _TIME)]
    + [("api_names", pa.list_(pa.string()))]
    + [("days", pa.list_(pa.struct([("day", pa.string()), ("lines", pa.int64())])))]
    + [("sample", pa.string()), ("decided_now", pa.string()), ("basis_now", pa.string())]
    + [("determining", pa.list_(pa.string()))]
)


def use(binding: AclBinding, **facts: Any) -> dict[str, Any]:
    row = {"requests": 5, "alone": 2, "named": 0, "first_at": FIRST, "last_at": LAST}
    return row | {"binding_key": binding_key(binding)} | facts


def request(principal: str, operation: str, name: str, **facts: Any) -> dict[str, Any]:
    """A refused request of the last day, unless `facts` say otherwise."""
    row = {
        "principal": principal,
        "host": "10.0.0.7",
        "operation": operation,
        "resource_type": "TOPIC",
        "resource_name": name,
        "allowed": False,
        "lines": 3,
        "first_at": LAST - timedelta(hours=5),
        "last_at": LAST,
        "api_names": ["Fetch"],
        "sample": "[2026-11-20 20:00:00,000] INFO Principal = …",
        "decided_now": "DENIED",
        "basis_now": "DEFAULT_DENY",
        "determining": [],
    } | facts
    return {"days": [{"day": "2026-11-20", "lines": row["lines"]}]} | row


def write_result(
    folder: Path,
    bindings: Iterable[AclBinding],
    *,
    usage: Iterable[Mapping[str, Any]] = (),
    requests: Iterable[Mapping[str, Any]] = (),
    files: Iterable[Mapping[str, Any]] | None = None,
    unparsed: Iterable[Mapping[str, Any]] = (),
    coverage: Iterable[Mapping[str, Any]] | None = None,
    without: Iterable[str] = (),
    denied_by_broker: Iterable[Mapping[str, Any]] = (),
    **facts: Any,
) -> Path:
    """Write a result about `bindings` to `folder`; `facts` replace parts of the manifest.

    without: columns of requests that an earlier version did not have. denied_by_broker: rows of that table, which is
    written where there are any.
    coverage: see `log_days`; unless given, every file is of one broker, which logged in every hour.
    """
    usage, requests, unparsed = list(usage), list(requests), list(unparsed)
    files = (
        [file("broker-1.log", permits=80), file("broker-2.log", permits=70)] if files is None else list(files)
    )
    permits = sum(entry["permits"] for entry in files)
    if coverage is None:
        coverage = [
            day
            for entry in files
            for day in log_days(entry["name"], permit_hours=ALL_HOURS if entry["permits"] else ())
        ]
    coverage, denied_by_broker = list(coverage), list(denied_by_broker)
    rows = {"usage": len(usage), "requests": len(requests), "coverage": len(coverage)}
    if denied_by_broker:
        rows["denied_by_broker"] = len(denied_by_broker)
    lost = sum(entry["lines"] for entry in unparsed)
    manifest = {
        "format": 1,
        "job": "usage",
        "snapshot": {"cluster": "test-eu", "revision": 1, "digest": digest_of(map(binding_key, bindings))},
        "files": files,
        "lines": {"read": 200 + lost, "parsed": 190, "other": 10, "unparsed": lost},
        "unparsed": unparsed,
        "coverage": {"first_at": str(FIRST), "last_at": str(LAST), "permits_seen": bool(permits)},
        "declarations": {"super_users": {}, "default_allow": 0, "default_deny_uncovered": 0},
        "disagreements": {"requests": 0, "lines": 0},
        "rows": rows,
    } | facts
    with new_result(folder) as unfinished:
        write_table(unfinished, "usage", pa.Table.from_pylist(usage, schema=_USAGE))
        write_table(
            unfinished,
            "requests",
            pa.Table.from_pylist(requests, schema=_REQUESTS).drop_columns(list(without)),
        )
        if denied_by_broker:
            write_table(unfinished, "denied_by_broker", pa.Table.from_pylist(denied_by_broker))
        write_table(unfinished, "coverage", pa.Table.from_pylist(coverage, schema=COVERAGE_SCHEMA))
        write_manifest(unfinished, manifest)
    return folder


def log_days(
    broker: str,
    *,
    first: datetime = FIRST,
    last: datetime = LAST,
    hours: Iterable[int] = ALL_HOURS,
    permit_hours: Iterable[int] = ALL_HOURS,
) -> list[dict[str, Any]]:
    """A row of coverage.parquet for each day, with the same hours of each."""
    days = [first.date() + timedelta(days=day) for day in range((last.date() - first.date()).days + 1)]
    facts = {"broker": broker, "lines": 50, "decisions": 40, "permits": 30}
    facts |= {"hours": list(hours), "permit_hours": list(permit_hours)}
    return [facts | {"day": day.isoformat()} for day in days]


def file(name: str, *, permits: int = 0, lines: int = 100) -> dict[str, Any]:
    facts = {
        "path": f"/logs/{name}",
        "name": name,
        "state": "read",
        "lines": lines,
        "unparsed": 0,
        "permits": permits,
    }
    return facts | {"first_at": str(FIRST), "last_at": str(LAST)}
