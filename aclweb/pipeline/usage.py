"""Which ACLs were used, who was refused, and what do the logs confirm?

Transforms only: each takes and returns data frames, or the tables made of them. A decision of the log counts as a use
of the ACLs that settle it in the snapshot, if the snapshot answers as the log did; where
it answers otherwise, the ACLs have changed since, and the lines are disagreements.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.logged import opens
from aclweb.pipeline import totals
from aclweb.pipeline.record_lines import SAMPLE_LENGTH
from aclweb.pipeline.schemas import REQUEST
from aclweb.pipeline.snapshot import Snapshot

MOST_REPLACING = 5
"""So many ACLs are named that settle the requests of another one too."""


def distinct_requests(asked: DataFrame) -> DataFrame:
    """Return each request that somebody made, once (schemas.REQUEST); asked: schemas.ASKED, or access rows."""
    return asked.select(*REQUEST).distinct()


def seen_requests(asked: DataFrame, samples: DataFrame, decided: DataFrame) -> DataFrame:
    """Return one row for each request and answer of the log.

    asked: schemas.ASKED. samples: schemas.SAMPLES, one row for each request and answer. decided: one row
    for each distinct request (schemas.DECIDED).

    Returns the columns of schemas.REQUEST, allowed, lines, first_at, last_at, api_names,
    days (day and lines), sample (the latest record), decided_now, basis_now, determining, one_of,
    and differs: whether the snapshot's ACLs answer otherwise than the log.
    """
    key = [*REQUEST, "allowed"]
    seen = (
        totals.added(totals.by_day(asked), *key, "day")
        .groupBy(*key)
        .agg(
            F.sum("lines").alias("lines"),
            moment(F.min("first_us")).alias("first_at"),
            moment(F.max("last_us")).alias("last_at"),
            F.sort_array(F.collect_list(F.struct("day", "lines"))).alias("days"),
        )
    )
    sampled = samples.select(*key, sample_text().alias("sample"))
    return (
        seen.join(_asked_for(asked, key), on=key)
        .join(sampled, on=key, how="left")
        .join(decided, on=list(REQUEST), how="left")
        .withColumn("differs", (F.col("decided_now") != "UNDECIDED") & ~_agrees())
    )


def _asked_for(asked: DataFrame, key: list[str]) -> DataFrame:
    """Return api_names, sorted, for each request and answer; empty where the log tells none."""
    # Distinct first, and in a hash table: a set for each row would be sorted.
    apis = asked.select(*key, "api_name").distinct().groupBy(*key)
    return apis.agg(F.sort_array(F.collect_list("api_name")).alias("api_names"))


def usage(seen: DataFrame, asked: DataFrame) -> DataFrame:
    """Return how often each binding counted in the decisions of the log.

    seen: as `seen_requests` gives it. asked: schemas.ASKED.

    Returns binding_key; requests (decisions it was a determining binding of); alone (and
    the only one); first_at and last_at of those, null where there is none; named (lines in
    which the broker gave it as its rule); needed (decisions that would be otherwise without it); and
    replaceable_by (others that settle the same requests, those of most lines first; empty where it is needed).
    """
    agreeing = seen.filter(_agrees())
    settled = agreeing.select(
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
        asked.filter(F.col("named_key").isNotNull())
        .groupBy(F.col("named_key").alias("binding_key"))
        .agg(
            F.sum("lines").alias("named"),
            moment(F.min("first_us")).alias("first_named"),
            moment(F.max("last_us")).alias("last_named"),
        )
    )
    needed = (
        agreeing.filter(F.size("one_of") == 1)
        .groupBy(F.col("one_of")[0].alias("binding_key"))
        .agg(
            F.sum("lines").alias("needed"),
            F.min("first_at").alias("first_needed"),
            F.max("last_at").alias("last_needed"),
        )
    )
    both = (
        counted.join(named, on="binding_key", how="full")
        .join(needed, on="binding_key", how="full")
        .join(_replacing(agreeing), on="binding_key", how="left")
    )
    return both.select(
        "binding_key",
        F.coalesce("requests", F.lit(0).cast("long")).alias("requests"),
        F.coalesce("alone", F.lit(0).cast("long")).alias("alone"),
        F.coalesce("named", F.lit(0).cast("long")).alias("named"),
        F.coalesce("first_at", "first_needed", "first_named").alias("first_at"),
        F.coalesce("last_at", "last_needed", "last_named").alias("last_at"),
        F.coalesce("needed", F.lit(0).cast("long")).alias("needed"),
        F.coalesce(
            F.when(F.col("needed").isNull(), F.col("replaceable_by")), F.array().cast("array<string>")
        ).alias("replaceable_by"),
    )


def _replacing(agreeing: DataFrame) -> DataFrame:
    """Return binding_key and replaceable_by: others that settle requests with it, at most MOST_REPLACING."""
    shared = agreeing.filter(F.size("determining") > 1)
    pairs = (
        shared.select(F.explode("determining").alias("binding_key"), "determining", "lines")
        .select("binding_key", F.explode("determining").alias("other"), "lines")
        .filter(F.col("binding_key") != F.col("other"))
    )
    counted = pairs.groupBy("binding_key", "other").agg(F.sum("lines").alias("lines"))
    ordered = F.sort_array(F.collect_list(F.struct((-F.col("lines")).alias("lines"), "other")))
    return counted.groupBy("binding_key").agg(
        F.slice(ordered, 1, MOST_REPLACING)["other"].alias("replaceable_by")
    )


def without_last_covers(table: pa.Table, snapshot: Snapshot) -> pa.Table:
    """Return the table of `usage` with `needed` null, and not 0, for an ACL without which a name is open to everyone.

    No logged request needs such an ACL, and yet nothing replaces it: it is the last one on a name of a cluster that
    allows where it finds none.
    """
    if not snapshot.settings.allow_everyone:
        return table
    index = AclIndex(snapshot.bindings.values())
    rows = table.to_pylist()
    for row in rows:
        binding = snapshot.bindings.get(row["binding_key"])
        if row["needed"] == 0 and binding is not None and opens(binding, index, snapshot.settings):
            row |= {"needed": None, "replaceable_by": []}
    return pa.Table.from_pylist(rows, schema=table.schema)


def declarations(asked: DataFrame, decided: DataFrame) -> DataFrame:
    """Return what brokers say beside their decisions about settings that no cluster tells.

    Returns fact, principal (of super_user, else null) and lines. The facts: `super_user`
    (the broker allowed it as one), `default_allow` (allowed because no ACL was found) and
    `default_deny` (refused although the snapshot has no ACL on the resource).
    """
    uncovered = decided.filter(F.col("basis_now").isin("DEFAULT_DENY", "DEFAULT_ALLOW")).select(*REQUEST)
    told = asked.select(
        F.when(F.col("broker_rule") == "SuperUser", "super_user")
        .when(F.col("broker_rule") == "DefaultAllow", "default_allow")
        .alias("fact"),
        "principal",
        "lines",
    ).filter(F.col("fact").isNotNull())
    # Only of these the ACLs have to be asked, so only these are looked up.
    denied = (
        asked.filter(F.col("broker_rule") == "DefaultDeny")
        .groupBy(*REQUEST)
        .agg(F.sum("lines").alias("lines"))
    )
    facts = told.unionByName(
        denied.join(uncovered, on=list(REQUEST), how="left_semi").select(
            F.lit("default_deny").alias("fact"), "principal", "lines"
        )
    )
    of_whom = F.when(F.col("fact") == "super_user", F.col("principal"))
    return facts.groupBy("fact", of_whom.alias("principal")).agg(F.sum("lines").alias("lines"))


def sample_text() -> Column:
    """The record of a sample (schemas.SAMPLES) as it was logged, at most SAMPLE_LENGTH characters of it."""
    at = F.date_format(moment("last_us"), "yyyy-MM-dd HH:mm:ss,SSS")
    return F.substring(F.concat(F.lit("["), at, F.lit("] "), F.col("raw")), 1, SAMPLE_LENGTH)


def moment(micros: Column | str) -> Column:
    """The time as the tables show it; the session's zone is UTC."""
    return F.timestamp_micros(micros).cast("timestamp_ntz")


def _agrees() -> Column:
    return (F.col("decided_now") == "ALLOWED") == F.col("allowed")
