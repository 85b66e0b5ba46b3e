"""Which fewest rights would have allowed what each principal did?

Each principal's logged permits go to one Python function of an executor, which asks the core: the function that the
site's page asks. All proposals together are then proven by deciding every logged request again with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.logged import Choices, Proposal, Used, Wanted, propose, rights_of, why_young_stays
from aclweb.acl.matching import matching_of
from aclweb.acl.model import (
    ANY_USER,
    AccessRequest,
    AclBinding,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    number_of,
)
from aclweb.acl.notation import binding_key, write_delta
from aclweb.pipeline.decisions import Shipped, bindings_of, shipped
from aclweb.pipeline.evidence import evidence_facts, evidence_of
from aclweb.pipeline.failures import SPARK_ERRORS
from aclweb.pipeline.files import SourceError
from aclweb.pipeline.history import History, ages
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.manifest import FORMAT, Logged, log_facts, read_summary, snapshot_facts
from aclweb.pipeline.progress import Step, untold
from aclweb.pipeline.replay import lines_by_change
from aclweb.pipeline.replaying import ALLOWED, DENIED, Edit, replayed
from aclweb.pipeline.results import new_result, write_frame, write_manifest
from aclweb.pipeline.schemas import REQUEST
from aclweb.pipeline.snapshot import Snapshot

ADD, REMOVE, KEEP = "add", "remove", "keep"

STEPS = _PROPOSE, _REPLAY = ("Proposing ACLs for each principal", "Replaying the log with all proposals")

_ACL = ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type")

# One row for an ACL of a proposal, with the numbers of its whole proposal.
PROPOSED = """
    principal string, change string, binding_key string, resource_type string, resource_name string,
    pattern_type string, host string, operation string, permission_type string, lines long,
    replaced_by array<string>, reason string,
    logged long, covered long, rights long, rights_removed long
"""

_OF_ACL = (*(name for name in _ACL if name != "principal"), "lines", "replaced_by", "reason")


def write_least_privilege(
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
    *,
    choices: Choices,
    wanted: Wanted,
    principals: Collection[str] = (),
    history: History | None = None,
    step: Step = untold,
) -> dict[str, Any]:
    """Write the tables, the edit and the manifest of the least-privilege job to `out`; return the manifest.

    Tables: acls, principals. The edit is delta.jsonl. principals: whose rights are looked at; none is all that ACLs
    name. history: with it, ACLs that are younger than the days that the log has to cover stay. Without a permit in the
    log nothing is proposed. Raises SourceError for a principal that no ACL names.
    """
    until = datetime.now(UTC).date() + timedelta(days=1)
    evidence = evidence_of(logged, until, wanted)
    facts = log_facts(logged, until)
    named = _named(snapshot, principals) if facts["coverage"]["permits_seen"] else []
    why_not = evidence.why_not[PermissionType.ALLOW]
    choices = replace(choices, existing=snapshot.existing)
    first_seen = ages(history, evidence.start)
    young = {acl: why_young_stays(since, evidence.days) for acl, since in first_seen.young.items()}
    broadcast = spark.sparkContext.broadcast(_Question(shipped(snapshot), choices, why_not, young))
    try:
        with new_result(out) as folder:
            step(_PROPOSE)
            proposed = keep(proposals(spark, used_by(logged.access), named, broadcast))
            acls = keep(proposed.select("principal", "change", "binding_key", *_OF_ACL))
            changes, covered = _Changes(), _Covered()
            key = ("principal", "change", "binding_key")
            rows = {
                "acls": write_frame(folder, "acls", acls, *key, look=changes.add),
                "principals": write_frame(
                    folder, "principals", keep(_by_principal(proposed)), "principal", look=covered.add
                ),
            }
            delta = changes.delta
            step(_REPLAY)
            (folder / "delta.jsonl").write_text(write_delta(delta), encoding="utf-8")
            manifest = {
                "format": FORMAT,
                "job": "least-privilege",
                "snapshot": snapshot_facts(snapshot),
                **facts,
                "evidence": evidence_facts(evidence),
                "choices": {
                    "names": choices.names,
                    "delimiter": choices.delimiter,
                    "hosts": choices.hosts,
                    "by_prefix": choices.by_prefix,
                    "percent": choices.percent,
                },
                "delta": {"add": len(delta.add), "remove": len(delta.remove)},
                "ages_known": history is not None,
                "ages_unknown": len(first_seen.unknown),
                "covered": covered.as_dict(),
                "replay": _replayed(spark, snapshot, logged, delta),
                "rows": rows,
            }
            write_manifest(folder, manifest)
    finally:
        # Where Spark itself has ended, the error that is on its way says why, and this would hide it.
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()
    return manifest


def _named(snapshot: Snapshot, principals: Collection[str]) -> list[str]:
    """Return the principals whose rights are looked at, sorted: ACLs for many belong to none."""
    matching = matching_of(snapshot.settings)
    known = {
        binding.principal
        for binding in snapshot.bindings.values()
        if binding.permission_type is PermissionType.ALLOW
        and binding.principal != ANY_USER
        and not matching.is_principal_glob(binding.principal)
    }
    missing = sorted(set(principals) - known)
    if missing:
        raise SourceError(
            f"No ACL of the snapshot allows anything to {missing[0]!r} by name; give a principal of one, "
            "such as User:orders-api."
        )
    return sorted(principals or known)


def used_by(access: DataFrame) -> DataFrame:
    """Return how often each request was logged, and whether ever as allowed: schemas.REQUEST, lines and permitted."""
    return access.groupBy(*REQUEST).agg(
        F.sum("lines").alias("lines"), F.bool_or("allowed").alias("permitted")
    )


def proposals(
    spark: SparkSession, used: DataFrame, principals: Sequence[str], question: Broadcast[_Question]
) -> DataFrame:
    """Return the proposal for each of the principals, a row an ACL (PROPOSED); used: of `used_by`."""
    schema = StructType.fromDDL(PROPOSED)
    wanted = spark.createDataFrame([(principal,) for principal in principals], "principal string")
    rows = wanted.join(used, on="principal", how="left").select(*REQUEST, "lines", "permitted")
    arrow = to_arrow_schema(schema)
    # Spark reads the annotations of a function, and those of a partial one it does not understand.
    return rows.groupBy("principal").applyInArrow(lambda group: _proposed(arrow, question, group), schema)


def _by_principal(proposed: DataFrame) -> DataFrame:
    numbers = [F.count_if(F.col("change") == change).alias(change) for change in (ADD, REMOVE, KEEP)]
    whole = [F.first(name).alias(name) for name in ("logged", "covered", "rights", "rights_removed")]
    return proposed.groupBy("principal").agg(*numbers, *whole)


@dataclass
class _Changes:
    """The ACLs that come and go; those that stay are in no edit."""

    of: dict[str, list[AclBinding]] = field(default_factory=lambda: {ADD: [], REMOVE: []})

    def add(self, acls: pa.Table) -> None:
        """Take some rows of the table of ACLs."""
        for row in acls.filter(pc.field("change") != KEEP).to_pylist():
            self.of[row["change"]].append(_binding(row))

    @property
    def delta(self) -> Delta:
        return Delta(add=tuple(self.of[ADD]), remove=tuple(self.of[REMOVE]))


def _binding(row: Mapping[str, Any]) -> AclBinding:
    return AclBinding(
        ResourceType[row["resource_type"]],
        row["resource_name"],
        PatternType[row["pattern_type"]],
        row["principal"],
        row["host"],
        Operation[row["operation"]],
        PermissionType[row["permission_type"]],
    )


@dataclass
class _Covered:
    """What the rows of principals add up to. rights: None where no principal's are known."""

    principals: int = 0
    lines: int = 0
    covered: int = 0
    rights: int | None = None
    rights_removed: int | None = None

    def add(self, principals: pa.Table) -> None:
        """Count some rows of the table of principals."""
        for row in principals.to_pylist():
            self.principals += 1
            self.lines += row["logged"]
            self.covered += row["covered"]
            if row["rights"] is not None:
                self.rights = (self.rights or 0) + row["rights"]
                self.rights_removed = (self.rights_removed or 0) + row["rights_removed"]

    def as_dict(self) -> dict[str, int | None]:
        """Return what the manifest says of it."""
        return asdict(self)


def _replayed(spark: SparkSession, snapshot: Snapshot, logged: Logged, delta: Delta) -> dict[str, int]:
    """Return the lines of each change that all proposals together would make to the logged requests."""
    broadcast = spark.sparkContext.broadcast(Edit(shipped(snapshot), delta))
    try:
        return lines_by_change(replayed(logged.rows, broadcast))
    finally:
        with suppress(*SPARK_ERRORS):
            broadcast.destroy()


def summary(manifest: Mapping[str, Any]) -> list[str]:
    """Return what a person wants to know at the end of a run, a sentence a line."""
    report = read_summary(manifest)
    if not manifest["coverage"]["permits_seen"]:
        return [
            *report,
            "No permit is in the log, so it cannot tell which rights are used; nothing is proposed.",
        ]
    found, delta, replay = manifest["covered"], manifest["delta"], manifest["replay"]
    report.append(
        f"For {number_of(found['principals'], 'principal')}: {number_of(delta['add'], 'ACL')} to add and "
        f"{delta['remove']:,} to remove cover {found['covered']:,} of {number_of(found['lines'], 'logged request')}."
    )
    if found["rights"] is not None:
        report.append(
            f"{found['rights_removed']:,} of {number_of(found['rights'], 'right')} on existing names would go."
        )
    report.append(
        f"Decided again with all of it, {number_of(replay[DENIED], 'logged request')} allowed now would be denied, "
        f"{replay[ALLOWED]:,} denied now would be allowed."
    )
    if delta["remove"] and not manifest["ages_known"]:
        report.append(
            "The ages of ACLs are not known: one that was added lately may be among those to remove; give --history."
        )
    missing = manifest["evidence"]["missing"].get("ALLOW")
    if missing:
        report.append(f"More may be in use than the log shows: {missing}.")
    return report


# --- On the executors -----------------------------------------------------------------


@dataclass(frozen=True)
class _Question:
    """What travels to the executors: the ACLs, how wide the proposals are, and why nothing may be called unused.

    young: ACLs that stay for that, each with the reason.
    """

    snapshot: Shipped
    choices: Choices
    why_not_unused: str
    young: Mapping[AclBinding, str]


_known: list[tuple[Shipped, AclIndex]] = []


def _index_of(snapshot: Shipped) -> AclIndex:
    """Return this worker's index of the ACLs, made the first time it is asked for."""
    if not _known or _known[0][0] != snapshot:
        _known[:] = [(snapshot, AclIndex(bindings_of(snapshot)))]
    return _known[0][1]


def _proposed(schema: pa.Schema, question: Broadcast[_Question], group: pa.Table) -> pa.Table:
    """Return the proposal for one principal; group: its rows of `used_by`, or one with nothing but its name."""
    asked = question.value
    rows = group.to_pylist()
    principal = rows[0]["principal"]
    settings, index = asked.snapshot.settings, _index_of(asked.snapshot)
    logged = [
        (Used(_request(row), row["lines"]), row["permitted"]) for row in rows if row["lines"] is not None
    ]
    used = [
        each
        for each, permitted in logged
        # What was denied then and is allowed by now was made possible for this request.
        if permitted or decide(each.request, index, settings)[0] is Result.ALLOWED
    ]
    found = propose(
        principal,
        used,
        index,
        settings,
        asked.choices,
        keep=asked.young,
        why_not_unused=asked.why_not_unused,
    )
    existing = asked.choices.existing
    before = [held.binding for held in found.today]
    rights = rights_of(before, [each.binding for each in found], existing, settings) if existing else None
    whole = {
        "logged": found.lines,
        "covered": found.covered,
        "rights": rights.today if rights else None,
        "rights_removed": rights.removed if rights else None,
    }
    return pa.Table.from_pylist([row | whole for row in _rows(found)], schema=schema)


def _request(row: Mapping[str, Any]) -> AccessRequest:
    return AccessRequest(
        row["principal"],
        row["host"],
        Operation[row["operation"]],
        ResourceType[row["resource_type"]],
        row["resource_name"],
    )


def _rows(found: Proposal) -> Iterator[dict[str, Any]]:
    for held in found.today:
        yield {
            "change": KEEP if held.stays else REMOVE,
            "binding_key": binding_key(held.binding),
            **held.binding.as_dict(),
            "lines": held.lines,
            "replaced_by": sorted(map(binding_key, held.replaced_by)),
            "reason": held.reason,
        }
    for each in found:
        if each.is_new:
            yield {
                "change": ADD,
                "binding_key": binding_key(each.binding),
                **each.binding.as_dict(),
                "lines": each.lines,
                "replaced_by": [],
                "reason": each.reason,
            }
