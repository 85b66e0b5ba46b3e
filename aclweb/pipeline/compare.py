"""Is what one cluster uses used on others too, and what is permitted on one and denied on another?

Each cluster is what its own log holds. "Not used" is said only where that log may call an ALLOW ACL unused; elsewhere
nobody knows. Everything is asked three times: of each right (principal, operation and resource), principal, and topic.
Of what a cluster does not use its ACLs are asked whether they allow it, from some address.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from aclweb.acl.logged import Evidence, Wanted, pair_sentence
from aclweb.acl.model import PermissionType, ResourceType, number_of
from aclweb.pipeline.decisions import Shipped, shipped
from aclweb.pipeline.evidence import evidence_facts, evidence_of
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.files import SourceError
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.snapshot import Snapshot
from aclweb.pipeline.some_host import allowed_at
from aclweb.pipeline.usage import moment

DENIED_ELSEWHERE, IN_PART = "denied elsewhere", "used in part"
DENIED, UNKNOWN, ON_ALL = "denied", "unknown", "used on all"
RELATIONS = (DENIED_ELSEWHERE, IN_PART, DENIED, UNKNOWN, ON_ALL)
"""From what people look for first to what is alike everywhere; rows come in this order."""

RIGHT = ("principal", "operation", "resource_type", "resource_name")
TABLES: Mapping[str, tuple[str, ...]] = {"rights": RIGHT, "principals": ("principal",), "topics": ("topic",)}

MOST_ROWS = 100_000
"""So many rows of each table are written; the manifest says how many there are."""

STEPS = _ADD, _DECIDE, _WRITE = (
    "Adding up what each cluster used",
    "Asking the ACLs of the others",
    "Comparing",
)

Read = Callable[[SparkSession, str, Keep], Logged]
"""Returns the log of a cluster by its name."""


@dataclass(frozen=True)
class _Side:
    """One cluster. why_not: why nothing can be called unused there; empty where it can."""

    snapshot: Snapshot
    logged: Logged
    evidence: Evidence

    @property
    def name(self) -> str:
        return self.snapshot.cluster

    @property
    def why_not(self) -> str:
        return self.evidence.why_not[PermissionType.ALLOW]


def write_comparison(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
    *,
    wanted: Wanted,
    others: Sequence[Snapshot],
    read: Read,
    step: Step = untold,
) -> dict[str, Any]:
    """Write the tables and the manifest of the compare job to `out` and return the manifest.

    Tables: those of TABLES, each as Parquet and as JSON lines. logged: of the cluster of `snapshot`. others: the
    clusters beside it. read: gives their logs. wanted: what a log must hold before it calls anything unused.
    """
    check_names([snapshot, *others])
    until = datetime.now(UTC).date() + timedelta(days=1)
    step(_ADD)
    sides = []
    for each in (snapshot, *others):
        log = logged if each is snapshot else read(spark, each.cluster, keep)
        sides.append(_Side(each, log, evidence_of(log, until, wanted)))
    used = keep(reduce(DataFrame.unionByName, (_used(side, place) for place, side in enumerate(sides))))
    broadcast = spark.sparkContext.broadcast(tuple(shipped(side.snapshot) for side in sides))
    found, rows, counts, pairs = {}, {}, {}, {}
    with new_result(out) as folder, _destroyed(broadcast):
        step(_DECIDE)
        used = keep(used.unionByName(_allowed(used, len(sides), broadcast), allowMissingColumns=True))
        used.count()
        step(_WRITE)
        for name, key in TABLES.items():
            compared = keep(_compared(_of_topics(used) if name == "topics" else used, key, sides))
            counts[name], pairs[name] = _counted(compared, sides)
            table = _ordered(compared, key).limit(MOST_ROWS).toArrow()
            write_table(folder, name, table)
            _write_lines(folder / f"{name}.jsonl", table)
            found[name], rows[name] = sum(counts[name].values()), table.num_rows
        manifest = {
            "format": FORMAT,
            "job": "compare",
            "snapshot": snapshot_facts(snapshot),
            **log_facts(logged, until),
            "clusters": [_facts(side, until) for side in sides],
            "compare": {
                name: {relation: counted[relation] for relation in RELATIONS}
                for name, counted in counts.items()
            },
            "pairs": pairs,
            "found": found,
            "rows": rows,
        }
        write_manifest(folder, manifest)
    return manifest


def check_names(snapshots: Sequence[Snapshot]) -> None:
    """Raise SourceError where two snapshots are of one cluster, or there is one only."""
    often = Counter(each.cluster for each in snapshots)
    if len(snapshots) < 2:
        raise SourceError(
            "One cluster is compared with nothing; give the snapshot of another one with --beside."
        )
    if twice := [name for name, number in often.items() if number > 1]:
        raise SourceError(f"Two snapshots are of the cluster {twice[0]!r}; give those of different clusters.")


def _used(side: _Side, place: int) -> DataFrame:
    """Return what a cluster's log holds of each right: place, permitted, denied and last_us of the permits."""
    lines = F.col("lines")
    return side.logged.access.groupBy(*RIGHT).agg(
        F.lit(place).alias("place"),
        F.sum(F.when(F.col("allowed"), lines).otherwise(0)).alias("permitted"),
        F.sum(F.when(F.col("allowed"), 0).otherwise(lines)).alias("denied"),
        F.max(F.when(F.col("allowed"), F.col("last_us"))).alias("last_us"),
    )


@contextmanager
def _destroyed(broadcast: Broadcast[Any]) -> Iterator[None]:
    try:
        yield
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()


def _allowed(used: DataFrame, sides: int, snapshots: Broadcast[tuple[Shipped, ...]]) -> DataFrame:
    """Return the rights that a cluster does not use and its ACLs allow: RIGHT, place, and 1 as `allowed`."""
    at = F.collect_set(F.when(F.col("permitted") > 0, F.col("place")))
    places = F.array(*map(F.lit, range(sides)))
    missing = used.groupBy(*RIGHT).agg(F.array_except(places, at).alias("places"))
    asked = missing.filter(F.size("places") > 0)
    return allowed_at(asked, snapshots).withColumn("allowed", F.lit(1))


def _of_topics(used: DataFrame) -> DataFrame:
    topics = used.filter(F.col("resource_type") == ResourceType.TOPIC.name)
    return topics.withColumn("topic", F.col("resource_name"))


def _compared(used: DataFrame, key: Sequence[str], sides: Sequence[_Side]) -> DataFrame:
    """Return a row for each key: relation, the names of the clusters by what they do, and numbers of all together."""

    def sum_of(name: str, place: int) -> Column:
        known = F.coalesce(name, F.lit(0))
        return F.sum(F.when(F.col("place") == place, known).otherwise(0)).alias(f"{name}_{place}")

    places = range(len(sides))
    added = used.groupBy(*key).agg(
        *(sum_of(name, place) for name in ("permitted", "denied", "allowed") for place in places),
        F.max("last_us").alias("last_us"),
    )

    def where(condition: Callable[[int], Column]) -> Column:
        return F.array_compact(F.array(*(F.when(condition(place), sides[place].name) for place in places)))

    def is_used(place: int) -> Column:
        return F.col(f"permitted_{place}") > 0

    def is_denied(place: int) -> Column:
        return F.col(f"denied_{place}") > 0

    found = added.select(
        *key,
        where(is_used).alias("used_on"),
        where(lambda place: is_denied(place) & ~is_used(place)).alias("denied_on"),
        where(lambda place: ~is_used(place) & ~is_denied(place) & F.lit(not sides[place].why_not)).alias(
            "not_used_on"
        ),
        where(lambda place: ~is_used(place) & ~is_denied(place) & F.lit(bool(sides[place].why_not))).alias(
            "unknown_on"
        ),
        where(lambda place: ~is_used(place) & (F.col(f"allowed_{place}") > 0)).alias("allowed_on"),
        reduce(Column.__add__, (F.col(f"permitted_{place}") for place in places)).alias("permitted"),
        reduce(Column.__add__, (F.col(f"denied_{place}") for place in places)).alias("denied"),
        moment("last_us").alias("last_at"),
    )
    has = {name: F.size(f"{name}_on") > 0 for name in ("used", "denied", "not_used")}
    relation = (
        F.when(has["used"] & has["denied"], DENIED_ELSEWHERE)
        .when(F.size("used_on") == len(sides), ON_ALL)
        .when(has["used"] & has["not_used"], IN_PART)
        .when(has["used"], UNKNOWN)
        .otherwise(DENIED)
    )
    return found.withColumn("relation", relation)


def _ordered(compared: DataFrame, key: Sequence[str]) -> DataFrame:
    rank = F.array_position(F.array(*map(F.lit, RELATIONS)), F.col("relation"))
    rest = (
        "used_on",
        "denied_on",
        "not_used_on",
        "unknown_on",
        "allowed_on",
        "permitted",
        "denied",
        "last_at",
    )
    lines = (F.col("permitted") + F.col("denied")).desc()
    return compared.orderBy(rank, lines, *key).select(*key, "relation", *rest)


def _write_lines(file: Path, table: pa.Table) -> None:
    with file.open("w", encoding="utf-8") as opened:
        for batch in table.to_batches():
            opened.writelines(f"{json.dumps(row, default=str)}\n" for row in batch.to_pylist())


def _counted(compared: DataFrame, sides: Sequence[_Side]) -> tuple[Counter[str], list[dict[str, str | int]]]:
    """Return how many rows have each relation; and of each two clusters what one uses and the other does not.

    Of the second: used_on, not_on; used (what the first uses), rows (of these, denied there or known as not used),
    allowed (of these rows, by the ACLs there), and unknown (of what the first uses).
    """
    pairs = [(here.name, there.name) for here in sides for there in sides if here is not there]

    def number(condition: Column, name: str) -> Column:
        return F.count_if(condition).alias(name)

    def on(name: str, cluster: str) -> Column:
        return F.array_contains(name, cluster)

    sums = []
    for place, (here, there) in enumerate(pairs):
        used, is_not = on("used_on", here), on("denied_on", there) | on("not_used_on", there)
        sums += [
            number(used, f"used_{place}"),
            number(used & is_not, f"rows_{place}"),
            number(used & is_not & on("allowed_on", there), f"allowed_{place}"),
            number(used & on("unknown_on", there), f"unknown_{place}"),
        ]
    by_relation = compared.groupBy("relation").agg(F.count("*").alias("count"), *sums).collect()
    told = [
        {"used_on": here, "not_on": there}
        | {
            name: sum(row[f"{name}_{place}"] for row in by_relation)
            for name in ("used", "rows", "allowed", "unknown")
        }
        for place, (here, there) in enumerate(pairs)
    ]
    return Counter({row["relation"]: row["count"] for row in by_relation}), told


def _facts(side: _Side, until: Any) -> dict[str, Any]:
    """Return what the manifest says of one cluster."""
    facts = log_facts(side.logged, until)
    return {
        **snapshot_facts(side.snapshot),
        "lines": facts["lines"],
        "coverage": facts["coverage"],
        "evidence": evidence_facts(side.evidence),
    }


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    names = [each["cluster"] for each in manifest["clusters"]]
    report = [*read_summary(manifest), f"Compared {', '.join(names)}."]
    for table, word in (("rights", "right"), ("principals", "principal"), ("topics", "topic")):
        found = manifest["compare"][table]
        report.append(
            f"{number_of(sum(found.values()), word)}: {found[ON_ALL]:,} used on all, {found[IN_PART]:,} in part, "
            f"{found[DENIED_ELSEWHERE]:,} used on one and denied on another, {found[DENIED]:,} denied only, "
            f"{found[UNKNOWN]:,} unknown."
        )
    first = names[0]
    report += [
        pair_sentence(pair, pair["used_on"], pair["not_on"], "right")
        for pair in manifest["pairs"]["rights"]
        if first in (pair["used_on"], pair["not_on"])
    ]
    missing = {each["cluster"]: each["evidence"]["missing"] for each in manifest["clusters"]}
    report += [
        f"Cannot tell what {cluster} does not use: {reasons[PermissionType.ALLOW.name]}."
        for cluster, reasons in missing.items()
        if PermissionType.ALLOW.name in reasons
    ]
    return report
