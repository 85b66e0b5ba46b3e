"""Which principals used which topics, beside what their ACLs let them use; which topics are hot, and which are dark?

What was used comes from the log, cell by cell. What is configured is counted for each principal over all existing
topics, painted a row at a time, so that 1,000 principals on 100,000 topics are no list of a hundred million cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
from pyspark.broadcast import Broadcast
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.logged import Wanted
from aclweb.acl.matching import matching_of
from aclweb.acl.model import ANY_USER, PermissionType, ResourceType, number_of, operations_of
from aclweb.pipeline import usage
from aclweb.pipeline.batch import AccessMatrix
from aclweb.pipeline.decisions import Shipped, bindings_of, decide_requests, shipped
from aclweb.pipeline.evidence import evidence_facts, evidence_of
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.results import new_result, write_frame, write_manifest, write_table
from aclweb.pipeline.schemas import REQUEST
from aclweb.pipeline.snapshot import Snapshot
from aclweb.pipeline.usage import moment

USED, DARK, NO_DATA, GONE = "used", "dark", "no data", "gone"
TOPIC_STATES = (USED, DARK, NO_DATA, GONE)

MOST_CELLS = 1_000_000
"""So many cells are written, those with most lines; the manifest says how many there are."""

STEPS = _USED_CELLS, _RIGHTS, _TOPICS = (
    "Counting what was used",
    "Counting what is configured",
    "Counting by topic",
)

_CONFIGURED = "principal string, operation string, configured long"


def write_matrix(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
    *,
    wanted: Wanted,
    step: Step = untold,
) -> dict[str, Any]:
    """Write the tables and the manifest of the matrix job to `out` and return the manifest.

    Tables: cells (cells.csv too), rights, topics. wanted: what a log must hold before it calls a topic dark.
    """
    until = datetime.now(UTC).date() + timedelta(days=1)
    evidence = evidence_of(logged, until, wanted)
    names = snapshot.existing.get(ResourceType.TOPIC)
    topics = tuple(names) if names is not None else None
    broadcast = spark.sparkContext.broadcast(_Question(shipped(snapshot), topics or ()))
    decider = spark.sparkContext.broadcast(shipped(snapshot))
    try:
        with new_result(out) as folder:
            access = logged.access.filter(F.col("resource_type") == ResourceType.TOPIC.name)
            decided = decide_requests(usage.distinct_requests(access), decider)
            found = keep(cells(access, decided))
            missing = evidence.why_not[PermissionType.ALLOW]
            facts = log_facts(logged, until)
            has_permits = facts["coverage"]["permits_seen"]
            step(_USED_CELLS)
            most = found.orderBy(F.desc("lines"), "principal", "topic", "operation").limit(MOST_CELLS)
            table = most.toArrow()
            write_table(folder, "cells", table)
            pacsv.write_csv(table, folder / "cells.csv")
            step(_RIGHTS)
            may = configured(spark, _principals(snapshot), broadcast)
            both = rights(may, found, names_known=topics is not None, has_permits=has_permits)
            rows = {"rights": write_frame(folder, "rights", keep(both), "principal", "operation")}
            step(_TOPICS)
            unused = NO_DATA if missing else DARK
            by_name = by_topic(spark, access, topics, unused=unused, has_permits=has_permits)
            states: Counter[str] = Counter()
            rows["topics"] = write_frame(
                folder,
                "topics",
                keep(by_name),
                F.desc("lines"),
                "topic",
                look=lambda some: states.update(some["state"].to_pylist()),
            )
            all_cells = found.count()
            manifest = {
                "format": FORMAT,
                "job": "matrix",
                "snapshot": snapshot_facts(snapshot),
                **facts,
                "evidence": evidence_facts(evidence),
                "cells": all_cells,
                "found": {"cells": all_cells},
                "topics": {state: states[state] for state in TOPIC_STATES},
                "rows": {"cells": table.num_rows, **rows},
            }
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()
            decider.destroy()
    return manifest


def cells(access: DataFrame, decided: DataFrame) -> DataFrame:
    """Return how often each principal did each operation on each topic.

    access: schemas.ACCESS, of topics. decided: schemas.DECIDED for its requests.

    Returns principal, topic, operation, lines, denied (of these), days, last_at and allowed_now: whether the snapshot
    allows it from one of the logged addresses.
    """
    answered = access.join(decided.select(*REQUEST, "decided_now"), on=list(REQUEST), how="left")
    return answered.groupBy("principal", F.col("resource_name").alias("topic"), "operation").agg(
        F.sum("lines").alias("lines"),
        F.sum(F.when(F.col("allowed"), 0).otherwise(F.col("lines"))).alias("denied"),
        F.count_distinct("day").alias("days"),
        moment(F.max("last_us")).alias("last_at"),
        F.bool_or(F.col("decided_now") == "ALLOWED").alias("allowed_now"),
    )


def configured(spark: SparkSession, principals: Iterable[str], question: Broadcast[_Question]) -> DataFrame:
    """Return on how many existing topics each principal may do each operation (_CONFIGURED)."""
    schema = StructType.fromDDL(_CONFIGURED)
    rows = spark.createDataFrame([(principal,) for principal in principals], "principal string")
    return rows.mapInArrow(partial(_configured_batches, to_arrow_schema(schema), question), schema)


def rights(allowed: DataFrame, found: DataFrame, *, names_known: bool, has_permits: bool) -> DataFrame:
    """Return for each principal and operation how many topics it may use, and how many it did.

    allowed: of `configured`. found: of `cells`. names_known: whether the existing topics are known. has_permits:
    whether the log holds permits; without, what was used is null.
    """
    used = found.filter(F.col("lines") > F.col("denied")).groupBy("principal", "operation")
    counted = used.agg(F.count("*").alias("used"), F.sum(F.col("lines") - F.col("denied")).alias("lines"))
    both = allowed.join(counted, on=["principal", "operation"], how="full")
    may = _or_zero("configured") if names_known else _unknown()
    return both.select(
        "principal",
        "operation",
        may.alias("configured"),
        (_or_zero("used") if has_permits else _unknown()).alias("used"),
        (_or_zero("lines") if has_permits else _unknown()).alias("lines"),
    ).filter((F.coalesce("configured", F.lit(0)) > 0) | (F.col("used") > 0))


def _or_zero(name: str) -> Column:
    return F.coalesce(name, F.lit(0).cast("long"))


def _unknown() -> Column:
    return F.lit(None).cast("long")


def by_topic(
    spark: SparkSession,
    access: DataFrame,
    topics: tuple[str, ...] | None,
    *,
    unused: str,
    has_permits: bool,
) -> DataFrame:
    """Return how much each topic was used, a row for each that exists or was asked for.

    unused: the state of one that exists and was not used. has_permits: whether the log holds permits; without, all but
    the denials is null.
    """
    permitted = F.when(F.col("allowed"), F.col("lines")).otherwise(0)

    def lines_of(operation: str) -> Any:
        return F.sum(F.when(F.col("operation") == operation, permitted).otherwise(0))

    used = access.groupBy(F.col("resource_name").alias("topic")).agg(
        F.sum(permitted).alias("lines"),
        lines_of("READ").alias("reads"),
        lines_of("WRITE").alias("writes"),
        F.sum("lines").alias("all"),
        F.count_distinct(F.when(F.col("allowed"), F.col("principal"))).alias("principals"),
        moment(F.max(F.when(F.col("allowed"), F.col("last_us")))).alias("last_at"),
    )
    names = spark.createDataFrame([(name,) for name in topics or ()], "topic string")
    both = used.join(names.withColumn("exists", F.lit(True)), on="topic", how="full")
    count = {name: _or_zero(name) for name in ("lines", "reads", "writes", "principals")}
    denied = _or_zero("all") - count["lines"]
    gone = F.col("exists").isNull() & F.lit(topics is not None)
    state = F.when(gone, GONE).when(count["lines"] > 0, USED).otherwise(unused)
    return both.select(
        "topic",
        state.alias("state"),
        *((column if has_permits else _unknown()).alias(name) for name, column in count.items()),
        denied.alias("denied"),
        "last_at",
    )


def _principals(snapshot: Snapshot) -> list[str]:
    """Return the principals that ACLs allow something by name, sorted."""
    matching = matching_of(snapshot.settings)
    return sorted(
        {
            binding.principal
            for binding in snapshot.bindings.values()
            if binding.permission_type is PermissionType.ALLOW
            and binding.principal != ANY_USER
            and not matching.is_principal_glob(binding.principal)
        }
    )


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    found, report = manifest["topics"], read_summary(manifest)
    report.append(f"{number_of(manifest['cells'], 'right')} of principals on topics were asked for.")
    if manifest["cells"] > manifest["rows"]["cells"]:
        report.append(f"The {manifest['rows']['cells']:,} with most lines are written.")
    report.append(f"{number_of(found[USED], 'topic')} used, {found[DARK]:,} dark, {found[GONE]:,} gone.")
    if found[NO_DATA]:
        reason = manifest["evidence"]["missing"].get("ALLOW", "")
        report.append(f"Of {number_of(found[NO_DATA], 'topic')} the log cannot tell: {reason}.")
    return report


# --- On the executors -----------------------------------------------------------------


@dataclass(frozen=True)
class _Question:
    """What travels to the executors: the ACLs and the existing topics."""

    snapshot: Shipped
    topics: tuple[str, ...]


_known: list[tuple[_Question, AccessMatrix]] = []


def _matrix_of(question: _Question) -> AccessMatrix:
    """Return this worker's matrix, made the first time it is asked for."""
    if not _known or _known[0][0] != question:
        index = AclIndex(bindings_of(question.snapshot))
        made = AccessMatrix(index, question.snapshot.settings, ResourceType.TOPIC, question.topics)
        _known[:] = [(question, made)]
    return _known[0][1]


def _configured_batches(
    schema: pa.Schema, question: Broadcast[_Question], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    matrix = _matrix_of(question.value)
    operations = operations_of(ResourceType.TOPIC, question.value.snapshot.settings)
    for batch in batches:
        rows = []
        for principal in batch.column("principal").to_pylist():
            row = matrix.row(principal)
            rows += [
                {"principal": principal, "operation": each.name, "configured": int(row.may(each).sum())}
                for each in operations
            ]
        yield pa.RecordBatch.from_pylist(rows, schema=schema)
