"""What would the logged requests be answered with some ACLs more, and some fewer?

Every distinct request is decided twice, a batch at a time, by the ACLs of the snapshot and by those with the edit. What
a log does not hold it cannot bring back: without permits in it nobody can tell whom the edit would stop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import Delta, number_of
from aclweb.acl.notation import binding_key, read_delta
from aclweb.pipeline.batch import answer_texts, decide_all, requests_of
from aclweb.pipeline.decisions import Shipped, bindings_of, shipped
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.given import text_of
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.schemas import REQUEST
from aclweb.pipeline.snapshot import Snapshot
from aclweb.pipeline.usage import moment, sample_text

STEPS = _DECIDE, _ADD_UP = ("Deciding every request before and after", "Adding up")

MOST_FLIPS = 100_000
"""So many rows of `flips` are written, those with most lines; the manifest says how many there are."""

DENIED, ALLOWED, UNCLEAR, UNCHANGED = "denied", "allowed", "unclear", "unchanged"
CHANGES = (DENIED, ALLOWED, UNCLEAR, UNCHANGED)

_ANSWERS = ("before", "basis_before", "after", "basis_after")


def read_edit_file(path: Path) -> Delta:
    """Return the edit of a JSON-lines file; raise NotationError with a sentence for each bad line."""
    text = text_of(path, "The edit")
    return read_delta(text, source=str(path))


def write_replay(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
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
            changed = keep(changes(requests_in(logged.asked), broadcast))
            turned = changed.filter(F.col("change") != UNCHANGED)
            tables = {"flips": _most(flips(turned, logged.samples)).toArrow()}
            step(_ADD_UP)
            tables |= {
                "by_principal": _most(added(changed, "principal")).toArrow(),
                "by_resource": _most(added(changed, "resource_type", "resource_name")).toArrow(),
                "by_day": added(_by_day(changed), "day").orderBy("day").toArrow(),
            }
            for name, table in tables.items():
                write_table(folder, name, table)
            totals_of = {row["change"]: row.asDict() for row in _totals(changed).collect()}
            manifest = {
                "format": FORMAT,
                "job": "replay",
                "snapshot": snapshot_facts(snapshot),
                "delta": _delta_facts(snapshot, delta),
                **log_facts(logged, until),
                "replay": {name: _numbers(totals_of.get(name)) for name in CHANGES},
                "rows": {name: table.num_rows for name, table in tables.items()},
            }
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()
    return manifest


def requests_in(asked: DataFrame) -> DataFrame:
    """Return how often each request was logged, whatever the answer; asked: schemas.ASKED.

    Returns the columns of schemas.REQUEST, lines, first_us, last_us, and days as in schemas.ASKED.
    """
    return asked.groupBy(*REQUEST).agg(
        F.sum("lines").alias("lines"),
        F.min("first_us").alias("first_us"),
        F.max("last_us").alias("last_us"),
        F.flatten(F.collect_list("days")).alias("days"),
    )


def decide_both(requests: DataFrame, edit: Broadcast[Edit]) -> DataFrame:
    """Return requests with the answers to each before and after the edit.

    requests: the columns of schemas.REQUEST, each request once, with any others. The answers are texts: before,
    basis_before, after and basis_after.
    """
    schema = StructType([*requests.schema, *(StructField(name, StringType()) for name in _ANSWERS)])
    return requests.mapInArrow(partial(_decided_batches, to_arrow_schema(schema), edit), schema)


def changes(requests: DataFrame, edit: Broadcast[Edit]) -> DataFrame:
    """Return what `decide_both` does, and `change`, one of CHANGES: what becomes of each request."""
    unclear = (F.col("before") == "UNDECIDED") | (F.col("after") == "UNDECIDED")
    change = (
        F.when(F.col("before") == F.col("after"), UNCHANGED)
        .when(unclear, UNCLEAR)
        .when(F.col("after") == "DENIED", DENIED)
        .otherwise(ALLOWED)
    )
    return decide_both(requests, edit).withColumn("change", change)


def flips(turned: DataFrame, samples: DataFrame) -> DataFrame:
    """Return each request whose answer turns, with how often, when and on how many days it was logged.

    turned: of `changes`. samples: schemas.SAMPLES, one row for each request and answer; the latest is shown.
    """
    found = turned.select(
        *REQUEST,
        "change",
        *_ANSWERS,
        "lines",
        F.size(F.array_distinct("days.day")).cast("long").alias("days"),
        moment("first_us").alias("first_at"),
        moment("last_us").alias("last_at"),
    )
    latest = samples.groupBy(*REQUEST).agg(F.max(F.struct("last_us", "raw")).alias("latest"))
    told = latest.select(*REQUEST, "latest.*").select(*REQUEST, sample_text().alias("sample"))
    return found.join(told, on=list(REQUEST), how="left")


def added(changed: DataFrame, *key: str) -> DataFrame:
    """Return the lines of each change, and when one that would be denied was logged last, by `key`."""
    return changed.groupBy(*key).agg(
        *(
            F.sum(F.when(F.col("change") == name, F.col("lines")).otherwise(0)).alias(name)
            for name in CHANGES
        ),
        moment(F.max(F.when(F.col("change") == DENIED, F.col("last_us")))).alias("last_denied_at"),
    )


def _by_day(changed: DataFrame) -> DataFrame:
    """Return the change of each request on each day, with its lines and when it was logged last."""
    return changed.select("change", F.inline("days"))


def _most(rows: DataFrame) -> DataFrame:
    """Return the rows that matter most, as many as one machine takes: those with most lines first."""
    order = [F.desc(name) for name in (DENIED, ALLOWED, UNCLEAR, "lines") if name in rows.columns]
    ties = [name for name in ("change", *REQUEST) if name in rows.columns]
    return rows.orderBy(*order, *ties).limit(MOST_FLIPS)


def _totals(changed: DataFrame) -> DataFrame:
    return changed.groupBy("change").agg(
        F.sum("lines").alias("lines"),
        F.count_distinct("principal").alias("principals"),
        F.count("*").alias("requests"),
    )


def _numbers(row: Mapping[str, Any] | None) -> dict[str, int]:
    return {name: int(row[name]) if row else 0 for name in ("lines", "requests", "principals")}


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


@dataclass(frozen=True)
class Edit:
    """The ACLs and what is added and removed, as they travel to the executors."""

    snapshot: Shipped
    delta: Delta


class _Indexes:
    """The ACLs before and after an edit, filed for questions."""

    def __init__(self, edit: Edit) -> None:
        bindings = bindings_of(edit.snapshot)
        self.settings = edit.snapshot.settings
        self.before = AclIndex(bindings)
        self.after = AclIndex(edit.delta.applied_to(bindings))


_known: list[tuple[Edit, _Indexes]] = []


def _indexes_of(edit: Edit) -> _Indexes:
    """Return this worker's indexes for the edit, made the first time it is asked for."""
    if not _known or _known[0][0] != edit:
        _known[:] = [(edit, _Indexes(edit))]
    return _known[0][1]


def _decided_batches(
    schema: pa.Schema, edit: Broadcast[Edit], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    known = _indexes_of(edit.value)
    for batch in batches:
        asked = requests_of(batch)
        answers = [
            texts
            for index in (known.before, known.after)
            for texts in answer_texts(decide_all(asked, index, known.settings))
        ]
        yield pa.RecordBatch.from_arrays([*batch.columns, *answers], schema=schema)
