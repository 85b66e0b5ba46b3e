"""Where does the log answer otherwise than the ACLs, and why?

What a broker answered is held against the ACLs of the snapshot. Where these answer otherwise, a history of the ACLs
tells whether those in force on that day did as the broker, and which revision changed it. What no cause explains is a
fault of a declaration that nobody noticed, or of aclweb.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.authorizer import Result
from aclweb.acl.model import AccessRequest, AuthorizerSettings, Operation, ResourceType, number_of
from aclweb.pipeline import totals, usage
from aclweb.pipeline.decisions import decide_requests, shipped
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.history import History
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.schemas import REQUEST
from aclweb.pipeline.snapshot import Snapshot
from aclweb.pipeline.usage import moment

CHANGED, DECLARATION, BEFORE, UNKNOWN = "changed", "declaration", "before history", "unknown"
CAUSES = (CHANGED, DECLARATION, BEFORE, UNKNOWN)

MOST_ROWS = 100_000
"""So many rows are written, those with most lines; the manifest says how many there are."""

STEPS = _DECIDE, _COUNT = ("Deciding every request and looking for causes", "Counting by cause")

_ASKED = (*REQUEST, "allowed", "day", "broker_rule")
_CAUSED = """
    principal string, host string, operation string, resource_type string, resource_name string,
    allowed boolean, day string, broker_rule string, cause string, revision long
"""


def write_disagreement(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
    *,
    history: History | None,
    step: Step = untold,
) -> dict[str, Any]:
    """Write the table and the manifest of the disagreement job to `out` and return the manifest.

    Table: disagreements. history: None where it is not known; then only declarations are told from other causes.
    """
    until = datetime.now(UTC).date() + timedelta(days=1)
    acls = spark.sparkContext.broadcast(shipped(snapshot))
    question = spark.sparkContext.broadcast(_Question(snapshot.settings, history))
    try:
        with new_result(out) as folder:
            step(_DECIDE)
            decided = decide_requests(usage.distinct_requests(logged.asked), acls)
            found = keep(disagreements(logged.access, decided))
            caused = keep(found.join(causes(found, question), on=list(_ASKED), how="left"))
            table = _shown(caused).orderBy(F.desc("lines"), "day", *REQUEST, "allowed", "broker_rule")
            rows = table.limit(MOST_ROWS).toArrow()
            write_table(folder, "disagreements", rows)
            step(_COUNT)
            by_cause = (
                caused.groupBy("cause")
                .agg(F.sum("lines").alias("lines"), F.count("*").alias("rows"))
                .collect()
            )
            sums = {row["cause"]: int(row["lines"]) for row in by_cause}
            manifest = {
                "format": FORMAT,
                "job": "disagreement",
                "snapshot": snapshot_facts(snapshot),
                **log_facts(logged, until),
                "history": None if history is None else len(history.periods),
                "disagreement": {cause: sums.get(cause, 0) for cause in CAUSES},
                "found": {"disagreements": sum(row["rows"] for row in by_cause)},
                "rows": {"disagreements": rows.num_rows},
            }
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            acls.destroy()
            question.destroy()
    return manifest


def disagreements(access: DataFrame, decided: DataFrame) -> DataFrame:
    """Return the requests of a day that the snapshot answers otherwise than the broker did.

    access: schemas.ACCESS. decided: schemas.DECIDED. Returns the columns of _ASKED, lines, first_us, last_us,
    decided_now and basis_now.
    """
    by_day = totals.added(access, *_ASKED)
    answered = by_day.join(decided.select(*REQUEST, "decided_now", "basis_now"), on=list(REQUEST), how="left")
    differs = (F.col("decided_now") == "ALLOWED") != F.col("allowed")
    return answered.filter((F.col("decided_now") != "UNDECIDED") & differs).withColumn(
        "broker_rule", F.coalesce("broker_rule", F.lit(""))
    )


def causes(found: DataFrame, question: Broadcast[_Question]) -> DataFrame:
    """Return why each of these rows of `disagreements` differs (_CAUSED)."""
    schema = StructType.fromDDL(_CAUSED)
    function = partial(_caused_batches, to_arrow_schema(schema), question)
    return found.select(*_ASKED, "basis_now").mapInArrow(function, schema)


def _shown(caused: DataFrame) -> DataFrame:
    return caused.select(
        *_ASKED,
        "lines",
        moment("first_us").alias("first_at"),
        moment("last_us").alias("last_at"),
        "decided_now",
        "basis_now",
        "cause",
        "revision",
    )


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    found, report = manifest["disagreement"], read_summary(manifest)
    total = sum(found.values())
    report.append(f"{number_of(total, 'logged decision')} would be made otherwise with these ACLs.")
    if found[CHANGED]:
        report.append(f"Of {found[CHANGED]:,} the ACLs have changed since.")
    if found[DECLARATION]:
        report.append(f"Of {found[DECLARATION]:,} a declaration of super users or of the default is wrong.")
    if found[BEFORE]:
        report.append(f"Of {found[BEFORE]:,} the ACLs of that day are not in the history.")
    if found[UNKNOWN] and manifest["history"] is None:
        report.append(
            f"Of {found[UNKNOWN]:,} the cause is unknown without a history; give one with --history."
        )
    elif found[UNKNOWN]:
        report.append(
            f"Of {found[UNKNOWN]:,} the cause is unknown: no ACLs of that day give the logged answer."
        )
    return report


# --- On the executors -----------------------------------------------------------------


@dataclass(frozen=True)
class _Question:
    """What travels to the executors."""

    settings: AuthorizerSettings
    history: History | None


def _caused_batches(
    schema: pa.Schema, question: Broadcast[_Question], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    asked = question.value
    for batch in batches:
        rows = []
        for row in batch.to_pylist():
            cause, revision = _cause(row, asked.settings, asked.history)
            rows.append({name: row[name] for name in _ASKED} | {"cause": cause, "revision": revision})
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _cause(
    row: Mapping[str, Any], settings: AuthorizerSettings, history: History | None
) -> tuple[str, int | None]:
    """Return one of CAUSES for a row of `disagreements`, and the revision that changed the answer."""
    if _is_declared_wrong(row, settings):
        return DECLARATION, None
    if history is None or history.start is None or not row["day"]:
        return UNKNOWN, None
    midnight = datetime.combine(date.fromisoformat(row["day"]), datetime.min.time(), UTC)
    # The broker's clock may be in any zone, so the day is taken with half a day around it.
    since, until = midnight - timedelta(hours=12), midnight + timedelta(hours=36)
    if until <= history.start:
        return BEFORE, None
    request = AccessRequest(
        row["principal"],
        row["host"],
        Operation[row["operation"]],
        ResourceType[row["resource_type"]],
        row["resource_name"],
    )
    logged = Result.ALLOWED if row["allowed"] else Result.DENIED
    agreed = False
    for revision, at, result in history.answers(request, settings, max(since, history.start)):
        if result is logged:
            agreed = agreed or at < until
        elif agreed:
            return CHANGED, revision
    return UNKNOWN, None


def _is_declared_wrong(row: Mapping[str, Any], settings: AuthorizerSettings) -> bool:
    """Whether the broker's own reason contradicts the declared super users or the declared default."""
    rule, basis = row["broker_rule"], row["basis_now"]
    if rule == "SuperUser":
        return row["principal"] not in settings.super_users
    if rule == "DefaultAllow":
        return not settings.allow_everyone
    return bool(basis == "SUPER_USER" or (rule == "DefaultDeny" and basis == "DEFAULT_ALLOW"))
