"""What happened for the first time, far more often than usual, or again after a long silence?

Days are those of the log: a day that no broker logged is no silence. What is new in a log that is no longer than the
days asked about cannot be told from what is old, so nothing is called new then. A storm of denials is seen by day,
and by hour where the denials of the day are known by hour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from aclweb.acl.model import number_of
from aclweb.pipeline.coverage import in_span
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, ByHour, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.snapshot import Snapshot

NEW_PRINCIPAL, NEW_HOST, NEW_RESOURCE = "new principal", "new host", "new resource"
STORM, BACK = "denials", "back"
KINDS = (NEW_PRINCIPAL, NEW_HOST, NEW_RESOURCE, STORM, BACK)

LATELY_DAYS = 7
TIMES_USUAL = 10
"""Denials of a day are a storm if they are more than so many times those of the principal's median day, and those of an
hour if they are more than so many times its median for that hour."""

LEAST_DENIALS = 100
"""Fewer denials in a day, or in an hour, are no storm, however quiet the principal is."""

QUIET_DAYS = 30
MOST_ROWS = 100_000
"""So many rows are written, the latest days and most lines first; the manifest says how many there are."""

STEPS = _LOOK, _COUNT = ("Looking for what is new or unusual", "Counting by kind")

_COLUMNS = ("kind", "day", "principal", "host", "resource_type", "resource_name", "lines", "denied")
_NUMBERS = ("usual", "hour", "hour_denied", "hour_usual", "hours", "quiet_days")


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
        by_hour = _by_hour(logged, days)
        found = keep(anomalies(spark, logged.access, days, by_hour, since=since, keep=keep))
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
            "hours_known": _hours_known(days, by_hour.days, since),
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


def _by_hour(logged: Logged, days: list[str]) -> ByHour:
    """Return what is known by hour of these days of the log."""
    known = logged.by_hour.days.intersection(days)
    return ByHour(logged.by_hour.denied.filter(F.col("day").isin(sorted(known))), known)


def _hours_known(days: list[str], known: Collection[str], since: str) -> dict[str, Any]:
    """Return of how many days denials are known by hour, and which are not: how many, the last, how many lately."""
    unknown = [day for day in days if day not in known]
    return {
        "days": len(days) - len(unknown),
        "unknown": len(unknown),
        "last_unknown": unknown[-1] if unknown else None,
        "unknown_lately": sum(day >= since for day in unknown),
    }


def anomalies(
    spark: SparkSession, access: DataFrame, days: list[str], by_hour: ByHour, *, since: str, keep: Keep
) -> DataFrame:
    """Return a row for each thing that is unusual since a day.

    access: schemas.ACCESS. days: that some broker logged, sorted. by_hour: of some of these days.

    Returns kind (of KINDS); day; principal; host, or resource_type and resource_name, of what is new; lines and denied
    (of that day and thing). Of a storm: usual (denials on the principal's median day), and, where it is one of an hour,
    the worst hour, its denials, their median for that hour, and how many hours of the day are such storms.
    quiet_days: days without a request before.
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
        _storms(by_principal, by_hour, since, days=len(days)),
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


def _storms(by_principal: DataFrame, by_hour: ByHour, since: str, *, days: int) -> DataFrame:
    """Return days on which a principal was denied far more often than usual, by day or in some hour."""
    denied = by_principal.filter(F.col("denied") > 0)
    usual = _medians(denied, "principal", count="denied", days=days)
    stormy = _is_storm("denied", "usual")
    return (
        denied.filter(F.col("day") >= since)
        .join(usual, on="principal")
        .join(_storms_by_hour(by_hour, since), on=["principal", "day"], how="left")
        .filter(stormy | F.col("hour").isNotNull())
        .select("principal", "day", "lines", "denied", *_NUMBERS[:-1], F.lit(STORM).alias("kind"))
    )


def _storms_by_hour(by_hour: ByHour, since: str) -> DataFrame:
    """Return principal and day, and of the hours that are storms: the worst one, and how many they are."""
    hourly = by_hour.denied.groupBy("principal", "day", "hour").agg(F.sum("lines").alias("denied"))
    usual = _medians(hourly, "principal", "hour", count="denied", days=len(by_hour.days))
    found = (
        hourly.filter(F.col("day") >= since)
        .join(usual, on=["principal", "hour"])
        .filter(_is_storm("denied", "usual"))
    )
    # Of two hours with as many, the first.
    worst = F.max(F.struct("denied", (-F.col("hour")).alias("before"), "usual")).alias("worst")
    return (
        found.groupBy("principal", "day")
        .agg(worst, F.count("*").alias("hours"))
        .select(
            "principal",
            "day",
            (-F.col("worst.before")).cast("long").alias("hour"),
            F.col("worst.denied").alias("hour_denied"),
            F.col("worst.usual").alias("hour_usual"),
            "hours",
        )
    )


def _is_storm(denied: str, usual: str) -> Column:
    return (F.col(denied) >= LEAST_DENIALS) & (F.col(denied) > TIMES_USUAL * F.col(usual))


def _medians(rows: DataFrame, *key: str, count: str, days: int) -> DataFrame:
    """Return the median of a count by key over so many days; a day without a row of the key has 0."""
    ordered = F.sort_array(F.collect_list(count))
    zeros = F.lit(days) - F.size("ordered")
    place = F.lit(days // 2) - zeros
    median = F.when(place < 0, F.lit(0).cast("long")).otherwise(F.get("ordered", place))
    return rows.groupBy(*key).agg(ordered.alias("ordered")).select(*key, median.alias("usual"))


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
        f"Days with over {TIMES_USUAL} times the usual denials, of the day or of an hour: {found[STORM]:,}. Principals "
        f"back after {QUIET_DAYS} days or more: {found[BACK]:,}."
    )
    if manifest["hours_known"]["unknown"]:
        report.append(hours_unknown(manifest["hours_known"]))
    return report


def hours_unknown(known: Mapping[str, Any]) -> str:
    """Return the sentence about days whose denials are not known by hour; known: `hours_known` of a manifest."""
    return (
        f"It cannot tell storms by hour up to {known['last_unknown']}: of {number_of(known['unknown'], 'day')} the "
        "table has denials by day only, as an earlier aclweb wrote them. `access --reprocess` reads days again."
    )
