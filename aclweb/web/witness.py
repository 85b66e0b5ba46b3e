"""Does the brokers' own log agree with an answer?

A log tells what happened under the rules of its time. Where it holds no such request, or
does not hold permits at all, it is no witness, and that is said instead of a number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aclweb.acl.authorizer import Decision, Result
from aclweb.acl.model import WILDCARD
from aclweb.insights import queries
from aclweb.insights.queries import Seen
from aclweb.inventory.models import Cluster


@dataclass(frozen=True)
class Witness:
    """kind: agrees, contradicts or silent."""

    kind: str
    heading: str
    sentence: str


def witness(cluster: Cluster, decision: Decision) -> Witness | None:
    """Return what the newest log says of this question; None where no log was read, or can tell."""
    load = queries.current_load(cluster)
    if load is None or decision.result is Result.UNDECIDED or decision.request.resource_name is None:
        return None
    seen = [
        found
        for found in queries.recent_requests(cluster, decision.request.resource)
        if _same(found, decision)
    ]
    agreeing = [found for found in seen if found.allowed is decision.allowed]
    other = [found for found in seen if found.allowed is not decision.allowed]
    if other and (not agreeing or _last(other) > _last(agreeing)):
        return Witness(
            "contradicts",
            "The broker log says otherwise",
            f"{_counted(other)}. The rules may have changed since, or a declaration is wrong.",
        )
    if agreeing:
        return Witness("agrees", "The broker log agrees", f"{_counted(agreeing)}.")
    if decision.allowed and not load.permits_seen:
        return Witness(
            "silent", "The log cannot confirm it", "Permits are not in the log, so silence proves nothing."
        )
    return Witness("silent", "Nobody asked this in the log", "No request of the log was the same.")


def _same(seen: Seen, decision: Decision) -> bool:
    asked, found = decision.request, seen.request
    return (
        found.principal == asked.principal
        and found.operation is asked.operation
        and asked.host in (WILDCARD, found.host)
    )


def _counted(seen: list[Seen]) -> str:
    lines = sum(found.lines for found in seen)
    noun = ("permit" if seen[0].allowed else "refusal") + ("" if lines == 1 else "s")
    calls = ", ".join(sorted({name for found in seen for name in found.api_names})[:3])
    through = f", for {calls}" if calls else ""
    return f"{lines:,} {noun}, the last at {_last(seen)}{through}"


def _last(seen: Iterable[Seen]) -> str:
    return max(f"{found.last_at:%Y-%m-%d %H:%M}" for found in seen)
