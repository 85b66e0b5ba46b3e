"""Who was denied what, how often and when, why probably, and which ACL would have allowed it?

Denials of one principal, operation and resource are one group, from all hosts together. Probes (see `decisions.py`) are
in none: a broker asks them by itself. Causes are looked for only in the groups that are written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.authorizer import AclIndex, Result, authorize, smallest_fix
from aclweb.acl.logged import likely_cause, nearest
from aclweb.acl.model import AccessRequest, AuthorizerSettings, Operation, ResourceType, number_of
from aclweb.pipeline.decisions import Shipped, bindings_of, shipped
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.snapshot import Snapshot
from aclweb.pipeline.usage import moment, sample_text

GROUP = ("principal", "operation", "resource_type", "resource_name")

MOST_GROUPS = 100_000
"""So many groups are written, those with most lines; the manifest says how many there are."""

MOST_HOSTS = 20
"""So many hosts of a group are named."""

# One row for a group: what the snapshot answers to its latest request, why it was probably denied, the smallest ACL
# that would have allowed it (its JSON; null where none does), and the principals of ACLs with nearly its name.
_EXPLAINED = """
    principal string, operation string, resource_type string, resource_name string,
    decided_now string, cause string, sentence string, smallest_acl string, near_principals array<string>
"""


STEPS = _GROUP, _EXPLAIN, _BY_DAY = (
    "Grouping denials",
    "Looking for causes",
    "Counting by day",
)


def write_refusals(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
    *,
    step: Step = untold,
) -> dict[str, Any]:
    """Write the tables and the manifest of the refusals job to `out` and return the manifest.

    Tables: groups, by_day. The same input gives the same files, byte by byte.
    """
    until = datetime.now(UTC).date() + timedelta(days=1)
    broadcast = spark.sparkContext.broadcast(shipped(snapshot))
    try:
        with new_result(out) as folder:
            step(_GROUP)
            found = keep(groups(logged.access, logged.samples))
            sums = found.agg(
                F.count("*").alias("groups"),
                F.sum("lines").alias("lines"),
                F.count_distinct("principal").alias("principals"),
            ).first()
            step(_EXPLAIN)
            most = keep(found.orderBy(F.desc("lines"), *GROUP).limit(MOST_GROUPS))
            whole = most.join(explained(most, broadcast), on=list(GROUP), how="left").drop("latest_host")
            tables = {"groups": whole.orderBy(F.desc("lines"), *GROUP).limit(MOST_GROUPS).toArrow()}
            step(_BY_DAY)
            tables["by_day"] = by_day(logged.access).orderBy("day").toArrow()
            for name, table in tables.items():
                write_table(folder, name, table)
            counts = {name: int(sums[name] or 0) if sums else 0 for name in ("groups", "lines", "principals")}
            manifest = {
                "format": FORMAT,
                "job": "refusals",
                "snapshot": snapshot_facts(snapshot),
                **log_facts(logged, until),
                "refusals": counts,
                "found": {"groups": counts["groups"]},
                "rows": {name: table.num_rows for name, table in tables.items()},
            }
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()
    return manifest


def groups(access: DataFrame, samples: DataFrame) -> DataFrame:
    """Return a row for each group of denials.

    access: schemas.ACCESS. samples: schemas.SAMPLES, one row for each request and answer.

    Returns GROUP; lines; permitted (logged permits of the same); hosts (how many) and host_names (at most MOST_HOSTS,
    sorted); latest_host; api_names; first_at and last_at; days (day and lines); names (on how many names of the type
    the principal was denied this operation); and sample, the latest record.
    """
    by_day = access.groupBy(*GROUP, "allowed", "day").agg(
        F.sum("lines").alias("lines"),
        F.min("first_us").alias("first_us"),
        F.max("last_us").alias("last_us"),
        F.collect_set("host").alias("hosts"),
        F.max_by("host", F.struct("last_us", "host")).alias("latest_host"),
        F.collect_set("api_name").alias("api_names"),
    )
    hosts = F.sort_array(F.array_distinct(F.flatten(F.collect_list("hosts"))))
    denied = (
        by_day.filter(~F.col("allowed"))
        .groupBy(*GROUP)
        .agg(
            F.sum("lines").alias("lines"),
            F.size(hosts).cast("long").alias("hosts"),
            F.slice(hosts, 1, MOST_HOSTS).alias("host_names"),
            F.max_by("latest_host", F.struct("last_us", "latest_host")).alias("latest_host"),
            F.sort_array(F.array_distinct(F.flatten(F.collect_list("api_names")))).alias("api_names"),
            moment(F.min("first_us")).alias("first_at"),
            moment(F.max("last_us")).alias("last_at"),
            F.sort_array(F.collect_list(F.struct("day", "lines"))).alias("days"),
        )
    )
    permitted = by_day.filter("allowed").groupBy(*GROUP).agg(F.sum("lines").alias("permitted"))
    of_one = ("principal", "operation", "resource_type")
    names = denied.groupBy(*of_one).agg(F.count("*").alias("names"))
    latest = (
        samples.filter(~F.col("allowed"))
        .groupBy(*GROUP)
        .agg(F.max_by(sample_text(), F.struct("last_us", "raw")).alias("sample"))
    )
    whole = (
        denied.join(permitted, on=list(GROUP), how="left")
        .join(names, on=list(of_one))
        .join(latest, on=list(GROUP), how="left")
    )
    return whole.withColumn("permitted", F.coalesce("permitted", F.lit(0).cast("long")))


def by_day(access: DataFrame) -> DataFrame:
    """Return how much was denied on each day: lines, groups and principals."""
    return (
        access.filter(~F.col("allowed"))
        .groupBy("day")
        .agg(
            F.sum("lines").alias("lines"),
            F.count_distinct(F.struct(*GROUP)).alias("groups"),
            F.count_distinct("principal").alias("principals"),
        )
    )


def explained(found: DataFrame, snapshot: Broadcast[Shipped]) -> DataFrame:
    """Return what the snapshot says of each group (_EXPLAINED); found: of `groups`."""
    schema = StructType.fromDDL(_EXPLAINED)
    function = partial(_explained_batches, to_arrow_schema(schema), snapshot)
    return found.select(*GROUP, "latest_host").mapInArrow(function, schema)


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    found, lines = manifest["refusals"], manifest["lines"]
    report = read_summary(manifest)
    report.append(
        f"{number_of(found['lines'], 'request')} of {number_of(found['principals'], 'principal')} "
        f"{'was' if found['lines'] == 1 else 'were'} denied, in {number_of(found['groups'], 'group')}."
    )
    if found["groups"] > manifest["rows"]["groups"]:
        report.append(f"The {manifest['rows']['groups']:,} groups with most lines are written.")
    if lines["unparsed"]:
        report.append(f"{number_of(lines['unparsed'], 'record')} could not be understood and may hold more.")
    return report


# --- On the executors -----------------------------------------------------------------

_known: list[tuple[Shipped, AclIndex]] = []


def _index_of(snapshot: Shipped) -> AclIndex:
    """Return this worker's index of the ACLs, made the first time it is asked for."""
    if not _known or _known[0][0] != snapshot:
        _known[:] = [(snapshot, AclIndex(bindings_of(snapshot)))]
    return _known[0][1]


def _explained_batches(
    schema: pa.Schema, snapshot: Broadcast[Shipped], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    index, settings = _index_of(snapshot.value), snapshot.value.settings
    near: dict[str, list[str]] = {}
    for batch in batches:
        rows = [_explained(row, index, settings, near) for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _explained(
    row: Mapping[str, Any], index: AclIndex, settings: AuthorizerSettings, near: dict[str, list[str]]
) -> dict[str, Any]:
    """Return the row of _EXPLAINED for a group; near: the near names of principals that were looked for before."""
    principal = row["principal"]
    request = AccessRequest(
        principal,
        row["latest_host"],
        Operation[row["operation"]],
        ResourceType[row["resource_type"]],
        row["resource_name"],
    )
    decision = authorize(request, index, settings)
    cause = likely_cause(decision, index)
    smallest = smallest_fix(decision)
    if decision.result is Result.DENIED and principal not in near:
        near[principal] = list(nearest(principal, index.principals))
    return {name: row[name] for name in GROUP} | {
        "decided_now": decision.result.name,
        "cause": cause.kind,
        "sentence": cause.sentence,
        "smallest_acl": json.dumps(smallest.as_dict()) if smallest else None,
        "near_principals": near[principal] if decision.result is Result.DENIED else [],
    }
