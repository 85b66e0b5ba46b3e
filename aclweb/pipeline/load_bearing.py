"""Which ACLs of the snapshot do the logged requests need, and which may go?

Every distinct request was decided with all ACLs, and without the one that alone settles it. That several ACLs may
go together is proven by deciding every request again without all of them at once. An ACL that is younger than what
the log must cover is called neither unused nor orphaned, where a history says how old it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.logged import LAST_COVER, Evidence, Wanted, age_unknown, last_covers, opens, removable
from aclweb.acl.matching import SortedNames, matching_of
from aclweb.acl.model import (
    ANY_USER,
    AclBinding,
    AuthorizerSettings,
    Delta,
    PermissionType,
    ResourceType,
    number_of,
)
from aclweb.pipeline import decisions, usage
from aclweb.pipeline.coverage import Row
from aclweb.pipeline.evidence import evidence_facts, evidence_of
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.history import Ages, History, ages
from aclweb.pipeline.in_force import BEFORE, shipped_history, then_facts, then_summary
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.replaying import Edit, decide_both
from aclweb.pipeline.results import new_result, write_manifest, write_table
from aclweb.pipeline.seen import counted_in, parted, seen_requests
from aclweb.pipeline.snapshot import Snapshot

NEEDED, REPLACEABLE, UNUSED = "needed", "replaceable", "unused"
ORPHANED, TOO_YOUNG, NO_DATA = "orphaned", "too young", "no data"
STATES = (NEEDED, REPLACEABLE, UNUSED, ORPHANED, TOO_YOUNG, NO_DATA)

STEPS = _DECIDE, _LATELY, _TOGETHER = (
    "Deciding every request, and without each ACL",
    "Counting what the last days needed",
    "Trying which ACLs may go together",
)

MOST_GROUPS = 100_000
"""So many different sets of ACLs that settle a request are looked at; the replay proves the result all the same."""

_NOT_THEN = "By the ACLs in force when they were made, it settled none of these requests."

_ROUNDS = 5
_TIME = pa.timestamp("us")
ACLS = pa.schema(
    [("binding_key", pa.string())]
    + [(name, pa.string()) for name in ("resource_type", "resource_name", "pattern_type")]
    + [(name, pa.string()) for name in ("principal", "host", "operation", "permission_type")]
    + [("state", pa.string()), ("reason", pa.string())]
    + [("requests", pa.int64()), ("needed", pa.int64()), ("needed_lately", pa.int64()), ("last_at", _TIME)]
    + [("replaceable_by", pa.list_(pa.string())), ("removable", pa.bool_())]
    + [("requests_then", pa.int64()), ("needed_then", pa.int64()), ("last_then_at", _TIME)]
)


@dataclass(frozen=True)
class _Known:
    """What the state of an ACL depends on, beside its own use.

    ages: of ACLs that were first seen after the log had to begin. logged: principals of ACLs that the log names.
    is_then_known: whether the ACLs in force when each request was made are known.
    """

    evidence: Evidence
    existing: Mapping[ResourceType, SortedNames]
    settings: AuthorizerSettings
    index: AclIndex
    ages: Ages
    logged: frozenset[str]
    is_then_known: bool


def write_load_bearing(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
    *,
    wanted: Wanted,
    history: History | None = None,
    step: Step = untold,
) -> dict[str, Any]:
    """Write the table and the manifest of the load-bearing job to `out` and return the manifest.

    Table: acls, a row for each ACL of the snapshot. wanted: what a log must hold before it calls an ACL unused.
    history: None where the ages of ACLs are not known.
    """
    until = datetime.now(UTC).date() + timedelta(days=1)
    evidence = evidence_of(logged, until, wanted)
    shipped = decisions.shipped(snapshot)
    broadcast = spark.sparkContext.broadcast(shipped)
    try:
        with new_result(out) as folder, shipped_history(spark, history, snapshot.settings, logged) as then:
            step(_DECIDE)
            kept = keep(seen_requests(logged.rows, broadcast, then))
            found = parted(kept)
            seen = decided = found.requests
            used = usage.usage(found.uses, found.used_then if then else None).collect()
            uses = {row["binding_key"]: row.asDict() for row in used}
            told_then = then_facts(history, counted_in(kept).then if then else ())
            # Where requests may have been made before the history, nobody knows how many an ACL settled then.
            is_then_known = told_then is not None and not told_then["lines"][BEFORE]
            step(_LATELY)
            lately = _lately(seen, evidence)
            index = AclIndex(snapshot.bindings.values())
            known = _Known(
                evidence,
                snapshot.existing,
                snapshot.settings,
                index,
                ages(history, evidence.start),
                _logged_principals(spark, decided, snapshot),
                is_then_known,
            )
            states = {
                key: _state(binding, uses.get(key, {}), known) for key, binding in snapshot.bindings.items()
            }
            candidates = {
                key
                for key, (state, _) in states.items()
                if state == REPLACEABLE
                and snapshot.bindings[key] not in known.ages.young
                and not evidence.why_not[_claimed_as(snapshot.bindings[key])]
            }
            step(_TOGETHER)
            gone = _proven(spark, decided, shipped, snapshot, candidates, index, keep)
            rows = [
                _row(key, binding, states[key], uses.get(key, {}), lately.get(key, 0), gone)
                | _then(uses.get(key, {}), is_known=is_then_known)
                for key, binding in sorted(snapshot.bindings.items())
            ]
            write_table(folder, "acls", pa.Table.from_pylist(rows, schema=ACLS))
            counts = Counter(state for state, _ in states.values())
            manifest = {
                "format": FORMAT,
                "job": "load-bearing",
                "snapshot": snapshot_facts(snapshot),
                **log_facts(logged, until),
                "evidence": evidence_facts(evidence),
                "history": told_then,
                "ages_known": history is not None,
                "ages_unknown": len(known.ages.unknown),
                "load_bearing": {state: counts[state] for state in STATES} | {"removable": len(gone)},
                "rows": {"acls": len(rows)},
            }
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()
    return manifest


def _lately(seen: DataFrame, evidence: Evidence) -> Mapping[str, int]:
    """Return for each ACL the lines of the last days that would be answered otherwise without it."""
    if evidence.start is None:
        return {}
    first = evidence.start.date().isoformat()
    found = (
        seen.filter((F.size("one_of") == 1) & ~F.col("differs"))
        .select(F.col("one_of")[0].alias("needed"), F.explode("days").alias("of"))
        .filter(F.col("of.day") >= first)
        .groupBy("needed")
        .agg(F.sum("of.lines").alias("lines"))
    )
    return {row["needed"]: row["lines"] for row in found.collect()}


def _logged_principals(spark: SparkSession, decided: DataFrame, snapshot: Snapshot) -> frozenset[str]:
    """Return the principals of ACLs of which the log has a request; decided: schemas.DECIDED."""
    named = sorted({binding.principal for binding in snapshot.bindings.values()})
    ours = spark.createDataFrame([(name,) for name in named], "principal string")
    found = decided.select("principal").distinct().join(F.broadcast(ours), on="principal", how="semi")
    return frozenset(row["principal"] for row in found.collect())


def _state(binding: AclBinding, use: Mapping[str, Any], known: _Known) -> tuple[str, str]:
    """Return one of STATES, and a reason where the state has one."""
    if use.get("needed"):
        return NEEDED, _NOT_THEN if known.is_then_known and not use["requests_then"] else ""
    if use.get("requests"):
        if opens(binding, known.index, known.settings):
            return NEEDED, LAST_COVER
        return REPLACEABLE, "" if use["replaceable_by"] else "Without it the default gives the same answers."
    missing = known.evidence.why_not[_claimed_as(binding)]
    since = known.ages.young.get(binding)
    # Who adds an ACL makes the topic next.
    if since is not None:
        return (
            TOO_YOUNG,
            f"It exists since {since:%Y-%m-%d %H:%M} UTC, so the log covers too little of its time.",
        )
    # A group is made by its first client, so a group that does not exist says nothing by itself.
    if binding.resource_type is ResourceType.TOPIC and _matches_none(binding, known):
        return ORPHANED, "No topic that exists matches it."
    if missing:
        return NO_DATA, missing
    return UNUSED, " ".join(_why_unused(binding, known))


def _matches_none(binding: AclBinding, known: _Known) -> bool:
    """Return whether all names of this type are known, and none of them matches."""
    names = known.existing.get(binding.resource_type)
    return names is not None and not binding.pattern.is_wildcard and not names.under(binding, known.settings)


def _why_unused(binding: AclBinding, known: _Known) -> Iterable[str]:
    """Yield what explains that no request needed an ACL, and what speaks against removing it."""
    matching = matching_of(known.settings)
    of_one = binding.principal != ANY_USER and not matching.is_principal_glob(binding.principal)
    if of_one and binding.principal not in known.logged:
        yield "No request of its principal is in the log."
    if binding.resource_type is ResourceType.GROUP and _matches_none(binding, known):
        yield "No group that exists matches it."
    if opens(binding, known.index, known.settings):
        yield LAST_COVER
    if (found_at := known.ages.unknown.get(binding)) is not None:
        yield age_unknown(found_at)


def _claimed_as(binding: AclBinding) -> PermissionType:
    """Return the permission whose evidence counts for this ACL."""
    return PermissionType.DENY if binding.is_deny else PermissionType.ALLOW


def _proven(
    spark: SparkSession,
    decided: DataFrame,
    shipped: decisions.Shipped,
    snapshot: Snapshot,
    candidates: Collection[str],
    index: AclIndex,
    keep: Keep,
) -> frozenset[str]:
    """Return candidates without which, all at once, no request is answered otherwise; empty if none is proven.

    decided: schemas.DECIDED. index: all ACLs of the snapshot; without the candidates no name is left without any
    where that would open it to everyone.
    """
    bindings = snapshot.bindings
    if not candidates:
        return frozenset()
    settled_by = [row[0] for row in _groups(decided, "one_of").collect()]
    for _ in range(_ROUNDS):
        gone = removable(settled_by, candidates)
        staying = last_covers([bindings[key] for key in gone], index, snapshot.settings)
        gone = frozenset(key for key in gone if bindings[key] not in staying)
        edit = Edit(shipped, Delta(remove=tuple(bindings[key] for key in sorted(gone))))
        broadcast = spark.sparkContext.broadcast(edit)
        try:
            both = decide_both(decided, broadcast)
            turned = keep(both.filter(F.col("before") != F.col("after")))
            if turned.isEmpty():
                return gone
            lost = [row[0] for name in ("determining", "one_of") for row in _groups(turned, name).collect()]
        finally:
            with suppress(*SPARK_ERRORS):
                broadcast.destroy()
        # What settles a request that turned has to stay, whatever the choice was.
        candidates = set(candidates).difference(*lost) if lost else set()
        if not candidates:
            break
    return frozenset()


def _groups(decided: DataFrame, name: str) -> DataFrame:
    """Return the different sets of ACLs in a column."""
    return decided.filter(F.size(name) > 0).select(name).distinct().limit(MOST_GROUPS)


def _row(
    key: str,
    binding: AclBinding,
    state: tuple[str, str],
    use: Mapping[str, Any],
    lately: int,
    gone: Collection[str],
) -> Row:
    return {
        "binding_key": key,
        **binding.as_dict(),
        "state": state[0],
        "reason": state[1],
        "requests": use.get("requests", 0),
        "needed": use.get("needed", 0),
        "needed_lately": lately,
        "last_at": use.get("last_at") if use.get("requests") else None,
        "replaceable_by": use.get("replaceable_by") or [],
        "removable": key in gone,
    }


def _then(use: Mapping[str, Any], *, is_known: bool) -> Row:
    """Return the use of an ACL by the ACLs in force when a request was made; is_known: of all requests of the log."""
    if not is_known:
        return dict.fromkeys(("requests_then", "needed_then", "last_then_at"))
    counts = {name: use.get(name) or 0 for name in ("requests_then", "needed_then")}
    return {**counts, "last_then_at": use.get("last_then_at")}


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    found, evidence = manifest["load_bearing"], manifest["evidence"]
    report = read_summary(manifest)
    report.append(
        f"{number_of(found[NEEDED], 'ACL')} {_verb(found[NEEDED], 'is', 'are')} needed by a logged request, "
        "or to keep what no other ACL covers from everyone."
    )
    report.append(
        f"{number_of(found[REPLACEABLE], 'ACL')} could go alone, as others give the same answers; "
        f"{found['removable']:,} of them could go together."
    )
    report.append(
        f"{number_of(found[UNUSED], 'ACL')} {_verb(found[UNUSED], 'is', 'are')} unused, "
        f"{found[ORPHANED]:,} match no topic that exists."
    )
    if manifest["ages_known"]:
        report.append(
            f"{number_of(found[TOO_YOUNG], 'ACL')} {_verb(found[TOO_YOUNG], 'is', 'are')} too young to tell."
        )
    else:
        report.append("The ages of ACLs are not known, so a young one may be called unused; give --history.")
    report += then_summary(manifest["history"])
    if found[NO_DATA]:
        reasons = "; ".join(sorted(set(evidence["missing"].values())))
        report.append(f"Of {number_of(found[NO_DATA], 'ACL')} the log cannot tell: {reasons}.")
    return report


def _verb(count: int, one: str, many: str) -> str:
    return one if count == 1 else many
