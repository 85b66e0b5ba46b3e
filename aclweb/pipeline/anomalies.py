"""What happened for the first time, far more often than usual, or again after a long silence?

Days are those of the log: a day that no broker logged is no silence. What is new in a log that is no longer than the
days asked about cannot be told from what is old, so nothing is called new then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from aclweb.acl.model import number_of
from aclweb.pipeline.coverage import in_span
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.snapshot import Snapshot

NEW_PRINCIPAL, NEW_HOST, NEW_RESOURCE = "new principal", "new host", "new resource"
STORM, BACK = "denials", "back"
KINDS = (NEW_PRINCIPAL, NEW_HOST, NEW_RESOURCE, STORM, BACK)

LATELY_DAYS = 7
TIMES_USUAL = 10
"""Denials of a day are a storm if they are more than so many times those of the principal's median day."""

LEAST_DENIALS = 100
"""Fewer denials in a day are no storm, however quiet the principal is."""

QUIET_DAYS = 30
MOST_ROWS = 100_000
"""So many rows are written, the latest days and most lines first; the manifest says how many there are."""

STEPS = _LOOK, _COUNT = ("Looking for what is new or unusual", "Counting by kind")

_COLUMNS = ("kind", "day", "principal", "host", "resource_type", "resource_name", "lines", "denied")
_NUMBERS = ("usual", "quiet_days")


def write_anomalies(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
    *,
    lately: int = LATELY_DAYS,
    step: Step = untold,
) -> dict[str, Any]:
    """Write the table and the manifest of the anomalies job to `out` and return the manifest.

    Table: anomalies. lately: how many of the last days of the log are asked about.
    """
    until = datetime.now(UTC).date() + timedelta(days=1)
    days = sorted({str(row["day"]) for row in in_span(logged.coverage, until)})
    since = _since(days, lately)
    with new_result(out) as folder:
        step(_LOOK)
        found = keep(anomalies(spark, logged.access, days, since=since, keep=keep))
        order = [F.desc("day"), F.desc("lines"), *(name for name in _COLUMNS if name not in ("day", "lines"))]
        table = found.orderBy(*order).limit(MOST_ROWS).toArrow()
        step(_COUNT)
        counts = Counter({row["kind"]: row["count"] for row in found.groupBy("kind").count().collect()})
        write_table(folder, "anomalies", table)
        manifest = {
            "format": FORMAT,
            "job": "anomalies",
            "snapshot": snapshot_facts(snapshot),
            **log_facts(logged, until),
            "lately": lately,
            "days": len(days),
            "new_known": _is_new_known(days, since),
            "anomalies": {kind: counts[kind] for kind in KINDS},
            "found": {"anomalies": sum(counts.values())},
            "rows": {"anomalies": table.num_rows},
        }
        write_manifest(folder, manifest)
    return manifest


def _since(days: list[str], lately: int) -> str:
    """Return the first of the last days of a log; the day after the log where that has none."""
    if not days:
        return "9999-12-31"
    return (date.fromisoformat(days[-1]) - timedelta(days=lately - 1)).isoformat()


def _is_new_known(days: list[str], since: str) -> bool:
    """Return whether the log has a day before the first that is asked about."""
    return bool(days) and days[0] < since


def anomalies(
    spark: SparkSession, access: DataFrame, days: list[str], *, since: str, keep: Keep
) -> DataFrame:
    """Return a row for each thing that is unusual since a day.

    access: schemas.ACCESS. days: that some broker logged, sorted.

    Returns kind (of KINDS); day; principal; host, or resource_type and resource_name, of what is new; lines and denied
    (of that day and thing); usual (denials on the principal's median day); quiet_days (days without a request before).
    """
    places = spark.createDataFrame(list(zip(days, range(len(days)), strict=True)), "day string, place int")
    of_day = keep(
        access.groupBy("principal", "host", "resource_type", "resource_name", "day")
        .agg(F.sum("lines").alias("lines"), F.sum(_denied()).alias("denied"))
        .join(F.broadcast(places), on="day")
    )
    by_principal = keep(
        of_day.groupBy("principal", "day", "place").agg(
            F.sum("lines").alias("lines"), F.sum("denied").alias("denied")
        )
    )
    newcomers = _first(of_day, "principal").filter(F.col("day") >= since)
    found = [
        _back(by_principal, since),
        _storms(by_principal, since, days=len(days)),
    ]
    if _is_new_known(days, since):
        known = newcomers.select("principal")
        found += [
            newcomers.withColumn("kind", F.lit(NEW_PRINCIPAL)),
            _newly(of_day, since, NEW_HOST, "host").join(known, on="principal", how="left_anti"),
            _newly(of_day, since, NEW_RESOURCE, "resource_type", "resource_name").join(
                known, on="principal", how="left_anti"
            ),
        ]
    whole = found[0]
    for more in found[1:]:
        whole = whole.unionByName(more, allowMissingColumns=True)
    texts = [F.coalesce(F.col(name), F.lit("")).alias(name) for name in _texts_of(whole)]
    missing = [F.lit("").alias(name) for name in _COLUMNS if name not in whole.columns]
    given = [F.col(name) for name in whole.columns if name not in _texts_of(whole)]
    return whole.select(*texts, *missing, *given).select(*_COLUMNS, *_NUMBERS)


def _texts_of(whole: DataFrame) -> list[str]:
    return [name for name in ("host", "resource_type", "resource_name") if name in whole.columns]


def _denied() -> Column:
    return F.when(F.col("allowed"), 0).otherwise(F.col("lines"))


def _first(of_day: DataFrame, *key: str) -> DataFrame:
    """Return the first day of each key, and the lines of that day."""
    daily = of_day.groupBy(*key, "day").agg(F.sum("lines").alias("lines"), F.sum("denied").alias("denied"))
    first = F.min_by(F.struct("day", "lines", "denied"), "day").alias("first")
    return daily.groupBy(*key).agg(first).select(*key, "first.day", "first.lines", "first.denied")


def _newly(of_day: DataFrame, since: str, kind: str, *of: str) -> DataFrame:
    return _first(of_day, "principal", *of).filter(F.col("day") >= since).withColumn("kind", F.lit(kind))


def _storms(by_principal: DataFrame, since: str, *, days: int) -> DataFrame:
    """Return days on which a principal was denied far more often than on its median day of the log."""
    denied = by_principal.filter(F.col("denied") > 0)
    ordered = F.sort_array(F.collect_list("denied"))
    # On all other days of the log there was no denial.
    zeros = F.lit(days) - F.size("ordered")
    place = F.lit(days // 2) - zeros
    usual = (
        denied.groupBy("principal")
        .agg(ordered.alias("ordered"))
        .select(
            "principal",
            F.when(place < 0, F.lit(0).cast("long")).otherwise(F.get("ordered", place)).alias("usual"),
        )
    )
    return (
        denied.filter(F.col("day") >= since)
        .join(usual, on="principal")
        .filter((F.col("denied") >= LEAST_DENIALS) & (F.col("denied") > TIMES_USUAL * F.col("usual")))
        .select("principal", "day", "lines", "denied", "usual", F.lit(STORM).alias("kind"))
    )


def _back(by_principal: DataFrame, since: str) -> DataFrame:
    """Return the days on which a principal came back after QUIET_DAYS days of the log or more."""
    before = F.lag("place").over(Window.partitionBy("principal").orderBy("place"))
    quiet = (F.col("place") - before - 1).cast("long")
    return (
        by_principal.withColumn("quiet_days", quiet)
        .filter((F.col("quiet_days") >= QUIET_DAYS) & (F.col("day") >= since))
        .select("principal", "day", "lines", "denied", "quiet_days", F.lit(BACK).alias("kind"))
    )


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    found, report = manifest["anomalies"], read_summary(manifest)
    if not manifest["new_known"]:
        report.append(
            f"The log has {number_of(manifest['days'], 'day')}, so it cannot tell what is new in the last "
            f"{manifest['lately']}."
        )
    else:
        report.append(
            f"In the last {number_of(manifest['lately'], 'day')}: {number_of(found[NEW_PRINCIPAL], 'new principal')}, "
            f"{number_of(found[NEW_HOST], 'new host')} and {number_of(found[NEW_RESOURCE], 'new resource')} of known "
            "principals."
        )
    report.append(
        f"Days with over {TIMES_USUAL} times the usual denials: {found[STORM]:,}. Principals back after "
        f"{QUIET_DAYS} days or more: {found[BACK]:,}."
    )
    return report
