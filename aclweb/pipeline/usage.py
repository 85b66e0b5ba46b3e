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
from aclweb.pipeline.record_lines import SAMPLE_LENGTH
from aclweb.pipeline.schemas import REQUEST
from aclweb.pipeline.snapshot import Snapshot

MOST_REPLACING = 5
"""So many ACLs are named that settle the requests of another one too."""


def distinct_requests(asked: DataFrame) -> DataFrame:
    """Return each request that somebody made, once (schemas.REQUEST); asked: schemas.ASKED, or access rows."""
    return asked.select(*REQUEST).distinct()


def usage(uses: DataFrame, used_then: DataFrame | None = None) -> DataFrame:
    """Return how often each binding counted in the decisions of the log.

    uses: schemas.USES, by the ACLs of the snapshot. used_then: the same by those in force when a request was made; None
    where these are not known.

    Returns binding_key; requests (decisions it was a determining binding of); alone (and
    the only one); first_at and last_at of those, null where there is none; named (lines in
    which the broker gave it as its rule); needed (decisions that would be otherwise without it); and
    replaceable_by (others that settle the same requests, those of most lines first; empty where it is needed). By the
    ACLs in force when a request was made, null where they are not known: requests_then, needed_then, first_then_at
    and last_then_at.
    """
    sums = ["requests", "alone", "needed", "named"]
    firsts, lasts = (
        [f"{which}{kind}_us" for kind in ("", "_needed", "_named")] for which in ("first", "last")
    )
    then = [F.lit(None).cast("long").alias(name) for name in ("requests_then", "needed_then")]
    then += [F.lit(None).cast("timestamp_ntz").alias(name) for name in ("first_then_at", "last_then_at")]
    if used_then is not None:
        uses = uses.unionByName(_then(used_then), allowMissingColumns=True)
        then = [_or_zero(name) for name in ("requests_then", "needed_then")]
        then += [moment(f"{name}_then_us").alias(f"{name}_then_at") for name in ("first", "last")]
        sums += ["requests_then", "needed_then"]
        firsts, lasts = [*firsts, "first_then_us"], [*lasts, "last_then_us"]
    by_two = uses.groupBy("binding_key", "other").agg(
        *(F.sum(name).alias(name) for name in sums),
        *(F.min(name).alias(name) for name in firsts),
        *(F.max(name).alias(name) for name in lasts),
    )
    # What an ACL settled, with others or alone, is in a row without another one.
    is_own = F.col("other").isNull()
    with_another = F.when(~is_own, F.struct((-F.col("requests")).alias("lines"), "other"))
    replacing = F.slice(F.sort_array(F.collect_list(with_another)), 1, MOST_REPLACING)["other"]
    counted = by_two.groupBy("binding_key").agg(
        *(F.max(F.when(is_own, F.col(name))).alias(name) for name in (*sums, *firsts, *lasts)),
        replacing.alias("replaceable_by"),
    )
    return counted.select(
        "binding_key",
        *(_or_zero(name) for name in ("requests", "alone", "named")),
        moment(F.coalesce(*firsts[:3])).alias("first_at"),
        moment(F.coalesce(*lasts[:3])).alias("last_at"),
        _or_zero("needed"),
        F.coalesce(
            F.when(F.col("needed").isNull(), F.col("replaceable_by")), F.array().cast("array<string>")
        ).alias("replaceable_by"),
        *then,
    )


def _or_zero(name: str) -> Column:
    """The number in a column, 0 where it has none."""
    return F.coalesce(name, F.lit(0).cast("long")).alias(name)


def _then(used_then: DataFrame) -> DataFrame:
    """Return the use of ACLs by those in force when a request was made, in columns of its own; see `usage`."""
    return used_then.filter(F.col("other").isNull()).select(
        "binding_key",
        "other",
        *(F.col(name).alias(f"{name}_then") for name in ("requests", "needed")),
        *(F.col(f"{name}_us").alias(f"{name}_then_us") for name in ("first", "last")),
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


def sample_text() -> Column:
    """The record of a sample (schemas.SAMPLES) as it was logged, at most SAMPLE_LENGTH characters of it."""
    at = F.date_format(moment("last_us"), "yyyy-MM-dd HH:mm:ss,SSS")
    return F.substring(F.concat(F.lit("["), at, F.lit("] "), F.col("raw")), 1, SAMPLE_LENGTH)


def moment(micros: Column | str) -> Column:
    """The time as the tables show it; the session's zone is UTC."""
    return F.timestamp_micros(micros).cast("timestamp_ntz")
