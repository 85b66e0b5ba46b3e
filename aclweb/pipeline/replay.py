"""What would the logged requests be answered with some ACLs more, and some fewer?

Every distinct request is decided twice, a batch at a time, by the ACLs of the snapshot and by those with the edit. What
a log does not hold it cannot bring back: without permits in it nobody can tell whom the edit would stop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from aclweb.acl.authorizer import AclIndex, Result
from aclweb.acl.model import Delta, number_of
from aclweb.acl.notation import binding_key, read_delta
from aclweb.pipeline.batch import Answers, answer_texts, decide_all, requests_of
from aclweb.pipeline.decisions import Shipped, bindings_of, shipped
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.folding import Folded, by_request, folded, in_batches, made, table_of
from aclweb.pipeline.given import text_of
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.schemas import REPLAYED, REQUEST
from aclweb.pipeline.snapshot import Snapshot
from aclweb.pipeline.sums import NO_LAST, ROOM, Facts, Numbers, Truths, codes_of, times
from aclweb.pipeline.usage import moment

STEPS = _DECIDE, _ADD_UP = ("Deciding every request before and after", "Adding up")

MOST_FLIPS = 100_000
"""So many rows of `flips` are written, those with most lines; the manifest says how many there are."""

DENIED, ALLOWED, UNCLEAR, UNCHANGED = "denied", "allowed", "unclear", "unchanged"
CHANGES = (DENIED, ALLOWED, UNCLEAR, UNCHANGED)

# What sums are of.
PRINCIPAL, RESOURCE, DAY, CHANGE = "principal", "resource", "day", "change"

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
            found = keep(replayed(logged.rows, logged.size, broadcast))
            tables = {"flips": _most(found.filter(F.col("sum").isNull()).drop("sum")).toArrow()}
            step(_ADD_UP)
            sums = found.filter(F.col("sum").isNotNull()).select("sum.*")
            principals = keep(_added(sums, PRINCIPAL, a="principal"))
            tables |= {
                "by_principal": _most(principals).toArrow(),
                "by_resource": _most(_added(sums, RESOURCE, a="resource_type", b="resource_name")).toArrow(),
                "by_day": _added(sums, DAY, a="day").orderBy("day").toArrow(),
            }
            for name, table in tables.items():
                write_table(folder, name, table)
            counts = _counts(sums, principals)
            manifest = {
                "format": FORMAT,
                "job": "replay",
                "snapshot": snapshot_facts(snapshot),
                "delta": _delta_facts(snapshot, delta),
                **log_facts(logged, until),
                "replay": counts,
                "rows": {name: table.num_rows for name, table in tables.items()},
            }
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()
    return manifest


def decide_both(requests: DataFrame, edit: Broadcast[Edit]) -> DataFrame:
    """Return requests with the answers to each before and after the edit.

    requests: the columns of schemas.REQUEST, each request once, with any others. The answers are texts: before,
    basis_before, after and basis_after.
    """
    schema = StructType([*requests.schema, *(StructField(name, StringType()) for name in _ANSWERS)])
    return requests.mapInArrow(partial(_decided_batches, to_arrow_schema(schema), edit), schema)


def replayed(logged: DataFrame, size: int | None, edit: Broadcast[Edit]) -> DataFrame:
    """Return what becomes of the logged requests (schemas.REPLAYED).

    logged: schemas.LOGGED, a request in several rows. size: how many rows they are, at least roughly. Of what the log
    holds of a request the latest record is shown, whatever the answer.
    """
    rows = by_request(logged, size, *REQUEST, "lines", "first_us", "last_us", "days", "raw")
    return made(rows, StructType.fromDDL(REPLAYED), partial(_replayed, edit))


def lines_by_change(found: DataFrame) -> dict[str, int]:
    """Return how many lines of the log have each of CHANGES; found: schemas.REPLAYED."""
    rows = found.filter(F.col("sum.of") == CHANGE).groupBy("sum.a").agg(F.sum("sum.lines").alias("lines"))
    lines = {row["a"]: int(row["lines"]) for row in rows.collect()}
    return {name: lines.get(name, 0) for name in CHANGES}


def _added(sums: DataFrame, of: str, **names: str) -> DataFrame:
    """Return the lines of each change, and when one that would be denied was logged last, by what `names` calls."""
    key = [F.col(column).alias(name) for column, name in names.items()]
    return (
        sums.filter(F.col("of") == of)
        .groupBy(*key)
        .agg(
            *(F.sum(name).alias(name) for name in CHANGES),
            moment(F.max("last_denied_us")).alias("last_denied_at"),
        )
    )


def _counts(sums: DataFrame, principals: DataFrame) -> dict[str, dict[str, int]]:
    """Return the lines, the requests and the principals of each change."""
    of_change = sums.filter(F.col("of") == CHANGE).groupBy("a")
    found = {
        row["a"]: row
        for row in of_change.agg(F.sum("lines").alias("l"), F.sum("requests").alias("r")).collect()
    }
    (who,) = principals.agg(
        *(F.count(F.when(F.col(name) > 0, True)).alias(name) for name in CHANGES)
    ).collect()
    return {
        name: {
            "lines": int(found[name]["l"]) if name in found else 0,
            "requests": int(found[name]["r"]) if name in found else 0,
            "principals": int(who[name]),
        }
        for name in CHANGES
    }


def _most(rows: DataFrame) -> DataFrame:
    """Return the rows that matter most, as many as one machine takes: those with most lines first."""
    order = [F.desc(name) for name in (DENIED, ALLOWED, UNCLEAR, "lines") if name in rows.columns]
    ties = [name for name in ("change", *REQUEST) if name in rows.columns]
    return rows.orderBy(*order, *ties).limit(MOST_FLIPS)


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


def _replayed(
    edit: Broadcast[Edit], schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    known = _indexes_of(edit.value)
    found = folded(batches, REQUEST)
    if found is None:
        return
    asked = requests_of(found.keys)
    before, after = (decide_all(asked, index, known.settings) for index in (known.before, known.after))
    change = _changes(before, after)
    turned = change != CHANGES.index(UNCHANGED)
    yield from in_batches(table_of(_flips(found, change, turned, (before, after)), int(turned.sum()), schema))
    sums = _sums(found, change)
    yield from in_batches(table_of({"sum": sums}, len(sums), schema))


def _changes(before: Answers, after: Answers) -> Numbers:
    """Return the place in CHANGES of what becomes of each request."""
    is_clear = ~(before.are(Result.UNDECIDED) | after.are(Result.UNDECIDED))
    were, are = (answers.are(Result.ALLOWED) for answers in (before, after))
    same = (were == are) & (before.are(Result.UNDECIDED) == after.are(Result.UNDECIDED))
    turned = np.where(are, CHANGES.index(ALLOWED), CHANGES.index(DENIED))
    return np.where(same, CHANGES.index(UNCHANGED), np.where(is_clear, turned, CHANGES.index(UNCLEAR)))


def _flips(found: Folded, change: Numbers, turned: Truths, answers: Sequence[Answers]) -> dict[str, pa.Array]:
    """Return each request whose answer turns, with how often, when and on how many days it was logged."""
    chosen, facts = pa.array(turned), found.facts.at(turned)
    days = np.bincount(found.days[0], minlength=len(found))
    texts = (text.filter(chosen) for one in answers for text in answer_texts(one))
    return {
        **{name: found.keys.column(name).filter(chosen) for name in REQUEST},
        "change": pa.array(CHANGES).take(pa.array(change[turned])),
        **dict(zip(_ANSWERS, texts, strict=True)),
        "lines": pa.array(facts.lines),
        "days": pa.array(days[turned]),
        "first_at": times(facts.first).cast(pa.timestamp("us")),
        "last_at": times(facts.last).cast(pa.timestamp("us")),
        "sample": found.samples(turned).filter(chosen),
    }


def _sums(found: Folded, change: Numbers) -> pa.StructArray:
    """Return the sums of schemas.REPLAYED."""
    facts, keys = found.facts, found.keys
    principal, principals = codes_of(keys.column("principal"))
    kind, kinds = codes_of(keys.column("resource_type"))
    name, names = codes_of(keys.column("resource_name"))
    resources, resource = np.unique(kind * ROOM + name, return_inverse=True)
    key, day, days, of_days = found.days
    requests = np.bincount(change, minlength=len(CHANGES))
    lines = np.zeros(len(CHANGES), np.int64)
    np.add.at(lines, change, facts.lines)
    return pa.concat_arrays(
        [
            _sum(PRINCIPAL, principals, _by_change(principal, len(principals), change, facts)),
            _sum(
                RESOURCE,
                [kinds[place // ROOM] for place in resources.tolist()],
                _by_change(resource, len(resources), change, facts),
                b=[names[place % ROOM] for place in resources.tolist()],
            ),
            _sum(DAY, days, _by_change(day, len(days), change[key], of_days)),
            _sum(CHANGE, list(CHANGES), {"lines": pa.array(lines), "requests": pa.array(requests)}),
        ]
    )


def _by_change(code: Numbers, size: int, change: Numbers, facts: Facts) -> dict[str, pa.Array]:
    """Return for each code the lines of each change, and when one that would be denied was logged last."""
    lines = np.zeros((len(CHANGES), size), np.int64)
    np.add.at(lines, (change, code), facts.lines)
    last, is_denied = np.full(size, NO_LAST), change == CHANGES.index(DENIED)
    np.maximum.at(last, code[is_denied], facts.last[is_denied])
    return dict(zip(CHANGES, map(pa.array, lines), strict=True)) | {"last_denied_us": times(last)}


def _sum(
    of: str, a: Sequence[str], numbers: Mapping[str, pa.Array], *, b: Sequence[str] | None = None
) -> pa.StructArray:
    texts: dict[str, Sequence[str | None]] = {"of": [of] * len(a), "a": a, "b": b or [None] * len(a)}
    columns = {name: pa.array(column, pa.string()) for name, column in texts.items()}
    for name in (*CHANGES, "last_denied_us", "lines", "requests"):
        columns[name] = numbers.get(name, pa.nulls(len(a), pa.int64()))
    return pa.StructArray.from_arrays(list(columns.values()), names=list(columns))
