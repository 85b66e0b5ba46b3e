"""Which ACLs were used, who was refused, and what do the logs confirm?

Transforms only: each takes and returns data frames. A decision of the log counts as a use
of the ACLs that settle it in the snapshot, if the snapshot answers as the log did; where
it answers otherwise, the ACLs have changed since, and the lines are disagreements.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclweb.pipeline.schemas import DECISION, OTHER, PROBE, REQUEST, UNPARSED

IMPOSSIBLE_TIME = "record with a time that no clock shows"
SAMPLE_LENGTH = 1000
FIRST_DAY = "2011-01-01"  # Kafka's first release is of that month


def read_lines(counts: DataFrame, parsed: DataFrame) -> DataFrame:
    """Return what each counted record says: the columns of schemas.COUNTS and PARSED.

    A record whose time no clock shows is UNPARSED.
    """
    impossible = F.col("timed") & F.col("day").isNull()
    rows = counts.join(parsed, on=["raw", "timed"], how="left")
    return rows.withColumn(
        "reason", F.when(impossible, IMPOSSIBLE_TIME).otherwise(F.col("reason"))
    ).withColumn("kind", F.when(impossible, UNPARSED).otherwise(F.col("kind")))


def distinct_requests(lines: DataFrame) -> DataFrame:
    """Return each request that somebody made, once (schemas.REQUEST)."""
    return lines.filter(F.col("kind") == DECISION).select(*REQUEST).distinct()


def seen_requests(lines: DataFrame, decided: DataFrame) -> DataFrame:
    """Return one row for each request and answer of the log.

    lines: as `read_lines` gives them. decided: one row for each distinct request
    (schemas.DECIDED).

    Returns the columns of schemas.REQUEST, allowed, lines, first_at, last_at, api_names,
    days (day and lines), sample (the latest record), decided_now, basis_now, determining,
    and differs: whether the snapshot's ACLs answer otherwise than the log.
    """
    made = lines.filter(F.col("kind") == DECISION)
    key = [*REQUEST, "allowed"]
    by_day = made.groupBy(*key, "day").agg(
        F.sum("lines").alias("lines"),
        F.min("first_at").alias("first_at"),
        F.max("last_at").alias("last_at"),
        F.collect_set("api_name").alias("api_names"),
        F.max(F.struct("last_at", "raw")).alias("latest"),
    )
    seen = by_day.groupBy(*key).agg(
        F.sum("lines").alias("lines"),
        F.min("first_at").alias("first_at"),
        F.max("last_at").alias("last_at"),
        F.sort_array(F.array_distinct(F.flatten(F.collect_list("api_names")))).alias("api_names"),
        F.sort_array(F.collect_list(F.struct("day", "lines"))).alias("days"),
        F.max("latest").alias("latest"),
    )
    shown = F.concat(
        F.lit("["),
        F.date_format("latest.last_at", "yyyy-MM-dd HH:mm:ss,SSS"),
        F.lit("] "),
        F.col("latest.raw"),
    )
    return (
        seen.withColumn("sample", F.substring(shown, 1, SAMPLE_LENGTH))
        .drop("latest")
        .join(decided, on=list(REQUEST), how="left")
        .withColumn("differs", (F.col("decided_now") != "UNDECIDED") & ~_agrees())
    )


def usage(seen: DataFrame, lines: DataFrame) -> DataFrame:
    """Return how often each binding counted in the decisions of the log.

    seen: as `seen_requests` gives it. lines: as `read_lines` gives them.

    Returns binding_key; requests (decisions it was a determining binding of); alone (and
    the only one); first_at and last_at of those, null where there is none; named (lines in
    which the broker gave it as its rule).
    """
    settled = seen.filter(_agrees()).select(
        F.explode("determining").alias("binding_key"),
        "lines",
        (F.size("determining") == 1).alias("is_alone"),
        "first_at",
        "last_at",
    )
    counted = settled.groupBy("binding_key").agg(
        F.sum("lines").alias("requests"),
        F.sum(F.when(F.col("is_alone"), F.col("lines")).otherwise(0)).alias("alone"),
        F.min("first_at").alias("first_at"),
        F.max("last_at").alias("last_at"),
    )
    named = (
        lines.filter((F.col("kind") == DECISION) & F.col("named_key").isNotNull())
        .groupBy(F.col("named_key").alias("binding_key"))
        .agg(
            F.sum("lines").alias("named"),
            F.min("first_at").alias("first_named"),
            F.max("last_at").alias("last_named"),
        )
    )
    both = counted.join(named, on="binding_key", how="full")
    return both.select(
        "binding_key",
        F.coalesce("requests", F.lit(0).cast("long")).alias("requests"),
        F.coalesce("alone", F.lit(0).cast("long")).alias("alone"),
        F.coalesce("named", F.lit(0).cast("long")).alias("named"),
        F.coalesce("first_at", "first_named").alias("first_at"),
        F.coalesce("last_at", "last_named").alias("last_at"),
    )


def notes(lines: DataFrame) -> DataFrame:
    """Return what is no decision: kind (schemas.OTHER or UNPARSED), reason, lines, and one such record's beginning."""
    return (
        lines.filter(F.col("kind").isin(OTHER, UNPARSED))
        .groupBy("kind", "reason")
        .agg(F.sum("lines").alias("lines"), F.substring(F.min("raw"), 1, SAMPLE_LENGTH).alias("sample"))
    )


def files(lines: DataFrame, until: date) -> DataFrame:
    """Return what each file holds.

    until: the last day that a broker can have written about. Days after it, and those before the
    first Kafka, are in no span: a clock that was never set wrote them.

    Returns file, lines, decisions, probes, other, unparsed, ambiguous, permits (decisions that
    allowed something), not_utf8, not_utf8_sample (the beginning of such a record), first_at and last_at
    (of all records with a time), first_permit_at and last_permit_at.
    """
    is_permit = (F.col("kind") == DECISION) & F.col("allowed")
    sane = _is_sane(until)
    return lines.groupBy("file").agg(
        F.sum("lines").alias("lines"),
        _lines_where(F.col("kind") == DECISION).alias("decisions"),
        _lines_where(F.col("kind") == PROBE).alias("probes"),
        _lines_where(F.col("kind") == OTHER).alias("other"),
        _lines_where(F.col("kind") == UNPARSED).alias("unparsed"),
        _lines_where((F.col("kind") == DECISION) & F.col("ambiguous")).alias("ambiguous"),
        _lines_where(is_permit).alias("permits"),
        _lines_where(F.col("not_utf8")).alias("not_utf8"),
        F.min(F.when(F.col("not_utf8"), F.substring("raw", 1, SAMPLE_LENGTH))).alias("not_utf8_sample"),
        F.min(F.when(sane, F.col("first_at"))).alias("first_at"),
        F.max(F.when(sane, F.col("last_at"))).alias("last_at"),
        F.min(F.when(sane & is_permit, F.col("first_at"))).alias("first_permit_at"),
        F.max(F.when(sane & is_permit, F.col("last_at"))).alias("last_permit_at"),
    )


def hours(lines: DataFrame, until: date) -> DataFrame:
    """Return in which hours of each day a file has records and permits.

    until: as for `files`.

    Returns file, day, lines, decisions, permits, hours and permit_hours; of the last two, bit h is hour h.
    """
    is_permit = (F.col("kind") == DECISION) & F.col("allowed")
    return (
        lines.filter(_is_sane(until))
        .groupBy("file", "day")
        .agg(
            F.sum("lines").alias("lines"),
            _lines_where(F.col("kind") == DECISION).alias("decisions"),
            _lines_where(is_permit).alias("permits"),
            F.bit_or("hours").alias("hours"),
            F.bit_or(F.when(is_permit, F.col("hours")).otherwise(0)).alias("permit_hours"),
        )
    )


def _is_sane(until: date) -> Column:
    return F.col("day").between(FIRST_DAY, until.isoformat())


def declarations(lines: DataFrame, decided: DataFrame) -> DataFrame:
    """Return what the brokers' own words say about settings that no cluster tells.

    Returns fact, principal (of super_user, else null) and lines. The facts: `super_user`
    (the broker allowed it as one), `default_allow` (allowed because no ACL was found) and
    `default_deny` (refused although the snapshot has no ACL on the resource).
    """
    uncovered = F.col("basis_now").isin("DEFAULT_DENY", "DEFAULT_ALLOW")
    ruled = lines.filter((F.col("kind") == DECISION) & F.col("rule").isNotNull()).join(
        decided.select(*REQUEST, "basis_now"), on=list(REQUEST), how="left"
    )
    by_rule = ruled.select(
        F.when(F.col("rule") == "SuperUser", "super_user")
        .when(F.col("rule") == "DefaultAllow", "default_allow")
        .when((F.col("rule") == "DefaultDeny") & uncovered, "default_deny")
        .alias("fact"),
        "principal",
        "lines",
    )
    noted = lines.filter((F.col("kind") == OTHER) & F.col("noted").isNotNull())
    by_note = noted.select(
        F.when(F.col("noted") == "true", "default_allow")
        .when(F.col("noted") == "false", "default_deny")
        .otherwise("super_user")
        .alias("fact"),
        F.col("noted").alias("principal"),
        "lines",
    )
    facts = by_rule.unionByName(by_note).filter(F.col("fact").isNotNull())
    of_whom = F.when(F.col("fact") == "super_user", F.col("principal"))
    return facts.groupBy("fact", of_whom.alias("principal")).agg(F.sum("lines").alias("lines"))


def _agrees() -> Column:
    return (F.col("decided_now") == "ALLOWED") == F.col("allowed")


def _lines_where(condition: Column) -> Column:
    return F.sum(F.when(condition, F.col("lines")).otherwise(0))
