"""What did the log of an analysis hold, and what can therefore be claimed?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aclweb.acl.logged import pair_sentence
from aclweb.acl.model import number_of
from aclweb.insights.analyses.jobs import AnalysisJob, ResultTable
from aclweb.insights.models import Analysis

# What may be wrong where the age of an ACL is not known, by the jobs that judge ACLs by what the log does not hold.
_RISKS_OF_AGE = {
    "load-bearing": "a young one may be called unused",
    "least-privilege": "a young one may be among those to remove",
}


@dataclass(frozen=True)
class Claim:
    """A sentence about what the log can show; known: whether it can."""

    known: bool
    sentence: str


def claims_of(row: Analysis, job: AnalysisJob) -> tuple[Claim, ...]:
    """Return what the log of a result that is done can show, and what it cannot."""
    if job.beside:
        return tuple(_claims_of_clusters(row.facts, row.cluster_names))
    return tuple(_claims(row.facts, job))


def headline(row: Analysis, table: ResultTable) -> str:
    """Return how many rows of each kind a table has: `7 ACLs: 4 needed, 3 unused.`

    Where not all rows that the job found are kept: `The first 7 ACLs of 900: 4 needed, 3 unused.`
    """
    counts = row.counts.get(table.name, {})
    kept = counts.get("", 0)
    found = _found(row.facts, table)
    total = number_of(kept, table.noun)
    if kept < found:
        total = f"The first {total} of {found:,}"
    parts = [kind.counted(counts[kind.value]) for kind in table.kinds if counts.get(kind.value)]
    return f"{total}: {', '.join(parts)}." if parts else f"{total}."


@dataclass(frozen=True)
class PairOfClusters:
    """What one cluster uses and another does not, as a sentence.

    used_on, not_on: the clusters, by their names in addresses. rows: how many rows of the table these are.
    """

    used_on: str
    not_on: str
    sentence: str
    rows: int


def pairs_of(row: Analysis, table: ResultTable) -> list[PairOfClusters]:
    """Return what its own cluster uses and each other does not, and the other way round."""
    names, own = row.cluster_names, row.cluster.slug
    found = []
    for pair in row.facts.get("pairs", {}).get(table.name, ()):
        here, there = pair["used_on"], pair["not_on"]
        if own in (here, there):
            told = pair_sentence(pair, names.get(here, here), names.get(there, there), table.noun)
            found.append(PairOfClusters(here, there, told, pair["rows"]))
    return found


def _found(facts: dict[str, Any], table: ResultTable) -> int:
    """Return how many rows the job found for a table, whether it wrote them all or not."""
    written: int = facts.get("rows", {}).get(table.name, 0)
    found: int = facts.get("found", {}).get(table.name, written)
    return found


def _claims_of_clusters(facts: dict[str, Any], names: Mapping[str, str]) -> Iterator[Claim]:
    """Yield of each cluster what its log covers, and whether it can call something unused."""
    for each in facts["clusters"]:
        name, coverage, evidence = (
            names.get(each["cluster"], each["cluster"]),
            each["coverage"],
            each["evidence"],
        )
        if coverage["first_at"]:
            covers = f"the log covers {coverage['first_at'][:16]} to {coverage['last_at'][:16]}"
        else:
            covers = "no record of the log begins with a time"
        if why := evidence["missing"].get("ALLOW"):
            yield Claim(False, f"{name}: {covers}. What it does not use: cannot tell, {why}.")
        else:
            yield Claim(True, f"{name}: {covers}. It holds enough to call something unused.")


def _claims(facts: dict[str, Any], job: AnalysisJob) -> Iterator[Claim]:
    coverage = facts["coverage"]
    if coverage["first_at"]:
        yield Claim(
            True,
            f"The log covers {coverage['first_at'][:16]} to {coverage['last_at'][:16]} of the brokers' clocks.",
        )
    else:
        yield Claim(False, "No record of the log begins with a time.")
    reasons = facts.get("evidence", {}).get("missing", {})
    missing = [(words, reasons[permission]) for permission, words in job.claims if permission in reasons]
    if job.claims and not missing:
        yield Claim(True, f"It holds enough to call something unused: {_window(facts['evidence'])}.")
    for words, reason in missing:
        yield Claim(False, f"{words}: cannot tell, {reason}.")
    if not coverage["permits_seen"] and not missing:
        yield Claim(False, "Permits are not logged, so only denials are known.")
    if facts.get("unread") and not missing:
        yield Claim(False, f"What is missing: {facts['unread']}.")
    yield from _of_ages(facts, job)
    if facts.get("new_known") is False:
        days = number_of(facts["days"], "day")
        yield Claim(
            False, f"The log has {days}, so it cannot tell what is new in the last {facts['lately']}."
        )
    yield from _of_hours(facts.get("hours_known"))
    if before := ((facts.get("history") or {}).get("lines") or {}).get("before history"):
        yield Claim(
            False,
            f"Of {number_of(before, 'request')} nobody knows which ACLs were in force when they were made, since the "
            "history of this cluster may begin later.",
        )


def _of_hours(known: dict[str, Any] | None) -> Iterator[Claim]:
    if known and known["unknown"]:
        days = number_of(known["unknown"], "day")
        yield Claim(
            False,
            f"It cannot tell storms by hour up to {known['last_unknown']}: of {days} only the denials of the whole day "
            "are known.",
        )


def _of_ages(facts: dict[str, Any], job: AnalysisJob) -> Iterator[Claim]:
    risk = _RISKS_OF_AGE.get(job.name)
    if risk and not facts.get("ages_known", False):
        yield Claim(False, f"The ages of ACLs are not known, so {risk}.")
    elif risk and (unknown := facts.get("ages_unknown", 0)):
        found = number_of(unknown, "ACL")
        yield Claim(False, f"The first sync found {found} within these days, of unknown age, so {risk}.")


def _window(evidence: dict[str, Any]) -> str:
    return f"the {evidence['days']} days to {evidence['end'][:16]}, with permits of all brokers"
