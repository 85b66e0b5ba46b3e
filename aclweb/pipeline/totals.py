"""What do the records of a log add up to, day by day?

Transforms only. Their rows can be added again: those of two logs, or of two parts of one log, are
together what one log with all records gives. The access table keeps them (`aclweb.pipeline.table`).
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclweb.pipeline.record_lines import TEXT_LENGTH
from aclweb.pipeline.schemas import (
    ACCESS_KEY,
    DECISION,
    NOT_UTF8,
    OTHER,
    PROBE,
    REQUEST,
    UNPARSED,
)


def access_rows(lines: DataFrame, *by: str) -> DataFrame:
    """Return how often each request was decided on each day (schemas.ACCESS, with the columns `by` in their places).

    lines: schemas.LINES. by: `ambiguous`, and `broker` if the lines know it.
    """
    texts = _texts(lines).filter(F.col("kind") == DECISION)
    of_text = [*ACCESS_KEY, *(name for name in by if name != "broker")]
    # All texts of a request are brought together once, and whatever adds up requests finds them so.
    by_day = texts.select(*of_text, "days").repartition(*REQUEST).select(*of_text, F.inline("days"))
    return added(by_day, "day", *ACCESS_KEY, *by)


def logged_in(lines: DataFrame) -> DataFrame:
    """Return what is logged of requests (schemas.LOGGED); lines: schemas.LINES."""
    return (
        _texts(lines)
        .filter(F.col("kind") == DECISION)
        .select(
            *ACCESS_KEY,
            "lines",
            "first_us",
            "last_us",
            F.transform("days", lambda day: F.struct(*(day[name] for name in _OF_DAY))).alias("days"),
            "raw",
        )
    )


def logged_on(access: DataFrame, samples: DataFrame) -> DataFrame:
    """Return what is logged of requests (schemas.LOGGED), with their records.

    access: schemas.LOGGED without records. samples: schemas.SAMPLES.
    """
    return access.unionByName(samples.select(*REQUEST, "allowed", "last_us", "raw"), allowMissingColumns=True)


def asked_in(logged: DataFrame) -> DataFrame:
    """Return what was asked, by request and answer (schemas.ASKED); logged: schemas.LOGGED.

    All rows of a request are together, and whatever adds up requests finds them so.
    """
    found = logged.filter(F.col("lines").isNotNull()).repartition(*REQUEST)
    return found.groupBy(*ACCESS_KEY).agg(
        F.sum("lines").alias("lines"),
        F.min("first_us").alias("first_us"),
        F.max("last_us").alias("last_us"),
        F.flatten(F.collect_list("days")).alias("days"),
    )


_OF_DAY = ("day", "lines", "first_us", "last_us")


def by_day(asked: DataFrame) -> DataFrame:
    """Return the access rows of what was asked, without broker and ambiguous; asked: schemas.ASKED or LOGGED."""
    return asked.select(*ACCESS_KEY, F.inline("days"))


def added(access: DataFrame, *key: str) -> DataFrame:
    """Return the access rows with those of one key added."""
    return access.groupBy(*key).agg(
        F.sum("lines").alias("lines"), F.min("first_us").alias("first_us"), F.max("last_us").alias("last_us")
    )


def denied_by_broker(access: DataFrame) -> DataFrame:
    """Return how often each broker denied what to whom, and when last; access: schemas.ACCESS.

    Returns principal, operation, resource_type, resource_name, broker, lines and last_us; hosts are added up.
    """
    denied = access.filter(~F.col("allowed") & F.col("broker").isNotNull())
    of_group = denied.groupBy("principal", "operation", "resource_type", "resource_name", "broker")
    return of_group.agg(F.sum("lines").alias("lines"), F.max("last_us").alias("last_us"))


def denied_by_hour(lines: DataFrame) -> DataFrame:
    """Return how many requests of each principal were denied in each hour (schemas.DENIED); lines: schemas.LINES."""
    return hours_added(lines.filter(F.size("denied") > 0).select("day", F.inline("denied")))


def hours_added(denied: DataFrame) -> DataFrame:
    """Return rows of schemas.DENIED with those of one key added."""
    return denied.groupBy("day", "principal", "hour").agg(F.sum("lines").alias("lines"))


def samples(lines: DataFrame) -> DataFrame:
    """Return the latest record of each request and answer (schemas.SAMPLES); lines: schemas.LINES.

    Of two records of one time, the one whose text is later in the alphabet.
    """
    found = _texts(lines).filter(F.col("kind") == DECISION)
    text = F.substring("raw", 1, TEXT_LENGTH).alias("raw")
    return latest(found.select(*REQUEST, "allowed", "last_us", text))


def latest(found: DataFrame) -> DataFrame:
    """Return the latest sample of each request and answer; found: schemas.SAMPLES, a request in several rows."""
    one = found.groupBy(*REQUEST, "allowed").agg(F.max(F.struct("last_us", "raw")).alias("latest"))
    return one.select(*REQUEST, "allowed", "latest.last_us", "latest.raw")


def of_days(lines: DataFrame, days: Collection[str]) -> DataFrame:
    """Return what the records of some days say; lines: schemas.LINES."""
    wanted = F.filter("days", lambda entry: entry["day"].isin(list(days)))
    texts = lines.filter(F.col("file").isNull()).withColumn("days", wanted).filter(F.size("days") > 0)
    summed = F.aggregate("days", F.lit(0).cast("long"), lambda lines, entry: lines + entry["lines"])
    first, last = F.array_min(F.col("days")["first_us"]), F.array_max(F.col("days")["last_us"])
    texts = texts.withColumns({"lines": summed, "first_us": first, "last_us": last})
    return lines.filter(F.col("day").isin(list(days))).unionByName(texts)


def coverage(lines: DataFrame) -> DataFrame:
    """Return what each file holds of each day.

    Returns file; day (null for records without a time); lines, decisions, probes, other, unparsed, ambiguous,
    permits (decisions that allowed something), not_utf8; first_us and last_us of all records, first_permit_us and
    last_permit_us, null where there is none; hours and permit_hours, in which bit h is hour h.
    """
    return coverage_and_texts(lines.filter(F.col("file").isNotNull())).drop("texts")


def coverage_and_texts(lines: DataFrame) -> DataFrame:
    """Return `coverage` with a row whose file is null, and `texts`: how many rows of texts the lines have."""
    is_decision = F.col("kind") == DECISION
    is_permit = is_decision & F.col("allowed")
    return lines.groupBy("file", "day").agg(
        F.count(F.when(F.col("file").isNull(), True)).alias("texts"),
        F.sum("lines").alias("lines"),
        _lines_where(is_decision).alias("decisions"),
        _lines_where(F.col("kind") == PROBE).alias("probes"),
        _lines_where(F.col("kind") == OTHER).alias("other"),
        _lines_where(F.col("kind") == UNPARSED).alias("unparsed"),
        _lines_where(is_decision & F.col("ambiguous")).alias("ambiguous"),
        _lines_where(is_permit).alias("permits"),
        _lines_where(F.col("not_utf8")).alias("not_utf8"),
        F.min("first_us").alias("first_us"),
        F.max("last_us").alias("last_us"),
        F.min(F.when(is_permit, F.col("first_us"))).alias("first_permit_us"),
        F.max(F.when(is_permit, F.col("last_us"))).alias("last_permit_us"),
        F.bit_or("hours").alias("hours"),
        F.bit_or(F.when(is_permit, F.col("hours")).otherwise(0)).alias("permit_hours"),
    )


def notes(lines: DataFrame) -> DataFrame:
    """Return what is no decision, and what is no UTF-8.

    Returns day; broker, where the lines know it; kind (schemas.OTHER, UNPARSED or NOT_UTF8, which a record may be
    beside another); reason; noted; lines; and sample, the beginning of one such record.
    """
    kinds = F.array(
        F.when(F.col("kind").isin(OTHER, UNPARSED), F.col("kind")),
        F.when(F.col("not_utf8"), F.lit(NOT_UTF8)),
    )
    texts = _texts(lines).filter(F.col("not_utf8") | F.col("kind").isin(OTHER, UNPARSED))
    noted = texts.select(F.explode(F.array_compact(kinds)).alias("note"), "reason", "noted", "raw", "days")
    noted = noted.select("note", "reason", "noted", "raw", F.inline("days"))
    is_text = F.col("note") != NOT_UTF8
    return noted.groupBy(
        "day",
        "broker",
        F.col("note").alias("kind"),
        F.when(is_text, F.col("reason")).alias("reason"),
        F.when(is_text, F.col("noted")).alias("noted"),
    ).agg(F.sum("lines").alias("lines"), F.min("raw").alias("sample"))


def _texts(lines: DataFrame) -> DataFrame:
    """The rows of schemas.LINES that are texts."""
    return lines.filter(F.col("file").isNull())


def _lines_where(condition: Column) -> Column:
    return F.sum(F.when(condition, F.col("lines")).otherwise(0))
