"""What would the logged requests be answered with some ACLs more, and some fewer?

Every distinct request is decided twice, a batch at a time, by the ACLs of the snapshot and by those with the edit. What
a log does not hold it cannot bring back: without permits in it nobody can tell whom the edit would stop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from aclweb.acl.model import Delta, number_of
from aclweb.acl.notation import binding_key, read_delta
from aclweb.pipeline.decisions import shipped
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.given import text_of
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.replaying import (
    ALLOWED,
    CHANGE,
    CHANGES,
    DAY,
    DENIED,
    PRINCIPAL,
    PRINCIPALS,
    RESOURCE,
    UNCHANGED,
    UNCLEAR,
    Edit,
    parted,
    replayed,
)
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.snapshot import Snapshot

STEPS = _DECIDE, _WRITE = ("Deciding every request before and after", "Writing what turns")


def read_edit_file(path: Path) -> Delta:
    """Return the edit of a JSON-lines file; raise NotationError with a sentence for each bad line."""
    text = text_of(path, "The edit")
    return read_delta(text, source=str(path))


def write_replay(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,  # noqa: ARG001 - every analysis is given it
    *,
    delta: Delta,
    step: Step = untold,
) -> dict[str, Any]:
    """Write the tables and the manifest of the replay job to `out` and return the manifest.

    Tables: flips, by_principal, by_resource, by_day. The same input gives the same files, byte by byte.
    """
    edit = Edit(shipped(snapshot), delta)
    broadcast = spark.sparkContext.broadcast(edit)
    until = datetime.now(UTC).date() + timedelta(days=1)
    try:
        with new_result(out) as folder:
            step(_DECIDE)
            turned, sums = parted(replayed(logged.rows, broadcast).toArrow())
            step(_WRITE)
            tables = {
                "flips": turned.drop_columns("sum"),
                "by_principal": _sums_of(sums, PRINCIPAL, a="principal"),
                "by_resource": _sums_of(sums, RESOURCE, a="resource_type", b="resource_name"),
                "by_day": _sums_of(sums, DAY, a="day"),
            }
            for name, table in tables.items():
                write_table(folder, name, table)
            manifest = {
                "format": FORMAT,
                "job": "replay",
                "snapshot": snapshot_facts(snapshot),
                "delta": _delta_facts(snapshot, delta),
                **log_facts(logged, until),
                "replay": _counts(sums),
                "rows": {name: table.num_rows for name, table in tables.items()},
            }
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()
    return manifest


def lines_by_change(found: DataFrame) -> dict[str, int]:
    """Return how many lines of the log have each of CHANGES; found: of `replayed`."""
    rows = found.filter(F.col("sum.of") == CHANGE).select("sum.a", "sum.lines")
    lines = {row["a"]: int(row["lines"]) for row in rows.collect()}
    return {name: lines.get(name, 0) for name in CHANGES}


def _sums_of(sums: pa.Table, of: str, **names: str) -> pa.Table:
    """Return the lines of each change, and when one that would be denied was logged last, by what `names` calls."""
    rows = sums.filter(pc.field("of") == of)
    last = rows.column("last_denied_us").cast(pa.timestamp("us"))
    shown = rows.select([*names, *CHANGES]).rename_columns([*names.values(), *CHANGES])
    return shown.append_column("last_denied_at", last)


def _counts(sums: pa.Table) -> dict[str, dict[str, int]]:
    """Return the lines, the requests and the principals of each change."""
    found = {change: {"lines": 0, "requests": 0, "principals": 0} for change in CHANGES}
    for row in sums.filter(pc.field("of").isin([CHANGE, PRINCIPALS])).to_pylist():
        into = found[row["a"]]
        if row["of"] == PRINCIPALS:
            into["principals"] += row["requests"]
        else:
            into["lines"] += row["lines"]
            into["requests"] += row["requests"]
    return found


def _delta_facts(snapshot: Snapshot, delta: Delta) -> dict[str, Any]:
    """Return how many ACLs the edit adds and removes, how many are so already, and its digest.

    digest: the SHA-256 over the sorted lines of the edit, each its op and the key of its ACL.
    """
    here = set(snapshot.bindings.values())
    lines = [
        f"{op} {binding_key(acl)}\n"
        for op, acls in (("add", delta.add), ("remove", delta.remove))
        for acl in acls
    ]
    return {
        "add": len(delta.add),
        "remove": len(delta.remove),
        "added_already": sum(acl in here for acl in delta.add),
        "removed_already": sum(acl not in here for acl in delta.remove),
        "digest": hashlib.sha256("".join(sorted(lines)).encode("ascii")).hexdigest(),
    }


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    found, lines, delta = manifest["replay"], manifest["lines"], manifest["delta"]
    report = read_summary(manifest)
    if delta["added_already"]:
        report.append(f"ACLs to add that the snapshot has already: {delta['added_already']:,}.")
    if delta["removed_already"]:
        report.append(f"ACLs to remove that the snapshot does not have: {delta['removed_already']:,}.")
    for name, words in ((DENIED, "allowed now would be denied"), (ALLOWED, "denied now would be allowed")):
        number, who = found[name]["lines"], found[name]["principals"]
        report.append(f"{number_of(number, 'logged request')} {words} ({number_of(who, 'principal')}).")
    if found[UNCLEAR]["lines"]:
        unclear = number_of(found[UNCLEAR]["lines"], "logged request")
        report.append(f"{unclear} would be decided by what the ACLs alone do not say.")
    report.append(f"{number_of(found[UNCHANGED]['lines'], 'logged request')} would get the same answer.")
    if not manifest["coverage"]["permits_seen"]:
        report.append(
            "No permit is in the log, so it cannot tell whether the edit would deny what is in use."
        )
    if lines["unparsed"]:
        report.append(
            f"{number_of(lines['unparsed'], 'record')} could not be understood and were not replayed."
        )
    return report
