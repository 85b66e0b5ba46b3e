"""Does the brokers' own log agree with an answer?

A log tells what happened under the ACLs of its time. Where it has no such request, or
does not hold permits at all, it is no evidence, and that is said instead of a number. A
request counts for the host that made it and for no other. Before Read, Write or Delete a
client asks for the topic's metadata, which needs Describe: whoever is denied that never
asks for the rest, so these denials count as well, and are counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from aclweb.acl.authorizer import Decision, HostPart, HostRegion, Result
from aclweb.acl.matching import matching_of
from aclweb.acl.model import WILDCARD, WORDS, AccessRequest, Operation, Resource, ResourceType, number_of
from aclweb.insights import queries
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.queries import Seen
from aclweb.inventory.current import ClusterView
from aclweb.inventory.models import Cluster
from aclweb.web.ask.answering import Answer, FromHosts

# Clients describe before they do these: Metadata for a topic, FindCoordinator for a group or a transactional id.
_AFTER_DESCRIBE = {
    ResourceType.TOPIC: (Operation.READ, Operation.WRITE, Operation.DELETE),
    ResourceType.GROUP: (Operation.READ, Operation.DELETE),
    ResourceType.TRANSACTIONAL_ID: (Operation.WRITE,),
}


@dataclass(frozen=True)
class LogEvidence:
    """kind: agrees, contradicts or silent."""

    kind: str
    heading: str
    sentence: str


@dataclass(frozen=True)
class RightInLog:
    """What the log tells of one right. kind: agrees, contradicts, silent or unknown."""

    kind: str
    sentence: str


@dataclass(frozen=True)
class Evidence:
    """What the log tells of one answer: the requests of it that were answered alike and otherwise, latest first."""

    agreeing: tuple[Seen, ...] = ()
    other: tuple[Seen, ...] = ()

    @property
    def contradicts(self) -> bool:
        """Whether the last request was answered otherwise."""
        return bool(self.other) and (not self.agreeing or _last(self.other) > _last(self.agreeing))

    @property
    def shown(self) -> tuple[Seen, ...]:
        return self.other if self.contradicts else self.agreeing

    def sentence(self, asked: Operation) -> str:
        """The requests that speak last, as words for within a sentence: `486 permits, the last at …, for Fetch`."""
        direct = [seen for seen in self.shown if seen.request.operation is asked]
        earlier = [seen for seen in self.shown if seen.request.operation is not asked]
        parts = [_counted(direct)] if direct else []
        if earlier:
            parts.append(f"denied before {WORDS[asked]} was asked: {_counted(earlier, noun='Describe')}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Beside:
    """What the newest log says beside an answer.

    whole: None where no log was read, or can tell. by_host: of each of `answer.from_hosts`; empty without a log.
    """

    whole: LogEvidence | None = None
    by_host: tuple[Evidence, ...] = ()


def evidence_beside(cluster: Cluster, answer: Answer) -> Beside:
    """Return what the newest log says of an answer; two queries."""
    load, asked = current_load(cluster), answer.request
    if load is None or asked.resource_name is None:
        return Beside()
    seen = _seen(cluster, asked, load)
    by_host = tuple(_of_part(answer, each.part, seen) for each in answer.from_hosts)
    return Beside(None if answer.verdict == "unknown" else _of_whole(answer, seen, load), by_host)


def _of_whole(answer: Answer, seen: Sequence[Seen], load: Load) -> LogEvidence:
    if answer.depends:
        return _of_parts(answer, seen, load)
    asked = answer.request
    here = [found for found in seen if asked.host in (WILDCARD, found.request.host)]
    found = _evidence(here, answer.decision.result)
    if found.contradicts:
        return _contradicts(found.sentence(asked.operation))
    if found.agreeing:
        return _agrees(found.sentence(asked.operation))
    return _silent(load, is_allowed=answer.decision.allowed)


def rights_in_log(
    view: ClusterView, decisions: Iterable[Decision], *, host: str, region: HostRegion | None = None
) -> dict[AccessRequest, RightInLog]:
    """Return what the log tells of each of these rights, by its request; empty where no log was read.

    host: from where it was asked for, `*` for any. region: the part of the hosts that the decisions are for,
    where they differ. One query for each resource.
    """
    load = current_load(view.cluster)
    if load is None:
        return {}
    comes_from = matching_of(view.settings).comes_from

    def is_meant(seen: Seen) -> bool:
        if region is not None:
            return _is_within(comes_from, region.hosts, region.except_hosts, seen)
        return host in (WILDCARD, seen.request.host)

    by_resource: dict[Resource, list[Seen]] = {}
    found = {}
    for decision in decisions:
        asked = decision.request
        if asked.resource_name is None or decision.result is Result.UNDECIDED:
            continue
        if asked.resource not in by_resource:
            seen = queries.recent_requests(view.cluster, asked.resource, principal=asked.principal, load=load)
            by_resource[asked.resource] = [each for each in seen if is_meant(each)]
        mine = [each for each in by_resource[asked.resource] if _speaks_of(each, asked)]
        found[asked] = _right_in_log(
            _evidence(mine, decision.result), asked.operation, load, decision.allowed
        )
    return found


def _right_in_log(evidence: Evidence, operation: Operation, load: Load, is_allowed: bool) -> RightInLog:
    if evidence.shown:
        return RightInLog("contradicts" if evidence.contradicts else "agrees", evidence.sentence(operation))
    if is_allowed and not load.permits_seen:
        return RightInLog("unknown", "cannot tell: permits are not in the log")
    return RightInLog("silent", "no matching request")


def _of_parts(answer: Answer, seen: Sequence[Seen], load: Load) -> LogEvidence:
    operation = answer.request.operation
    found = [(each, _of_part(answer, each.part, seen)) for each in answer.from_hosts]
    against = [(each, evidence) for each, evidence in found if evidence.contradicts]
    if against:
        return _contradicts(_of_the_first(against, operation))
    agreeing = [(each, evidence) for each, evidence in found if evidence.agreeing]
    if agreeing:
        return _agrees(_of_the_first(agreeing, operation))
    return _silent(load, is_allowed=True)


def _of_the_first(parts: Sequence[tuple[FromHosts, Evidence]], operation: Operation) -> str:
    """Return what the log says of the first two of these parts."""
    return "; ".join(f"from {each.words}: {evidence.sentence(operation)}" for each, evidence in parts[:2])


def _contradicts(text: str) -> LogEvidence:
    why = "The ACLs may have changed since, or a declaration is wrong."
    return LogEvidence("contradicts", "The broker log says otherwise", f"{_capital(text)}. {why}")


def _agrees(text: str) -> LogEvidence:
    return LogEvidence("agrees", "The broker log agrees", f"{_capital(text)}.")


def _of_part(answer: Answer, part: HostPart, seen: Iterable[Seen]) -> Evidence:
    matching = matching_of(answer.view.settings)
    mine = [found for found in seen if _is_within(matching.comes_from, part.hosts, part.except_hosts, found)]
    return _evidence(mine, part.result)


def _is_within(
    comes_from: Callable[[str, str], bool], hosts: Iterable[str], except_hosts: Iterable[str], seen: Seen
) -> bool:
    """Return whether a request came from all these hosts, as ACLs write them, and from none of the exceptions."""
    host = seen.request.host
    return all(comes_from(each, host) for each in hosts) and not any(
        comes_from(each, host) for each in except_hosts
    )


def _seen(cluster: Cluster, asked: AccessRequest, load: Load) -> list[Seen]:
    """Return the requests of the log that are about what is asked, from whatever host."""
    found = queries.recent_requests(cluster, asked.resource, principal=asked.principal, load=load)
    return [seen for seen in found if _speaks_of(seen, asked)]


def _speaks_of(seen: Seen, asked: AccessRequest) -> bool:
    if seen.request.operation is asked.operation:
        return True
    return (
        not seen.allowed
        and seen.request.operation is Operation.DESCRIBE
        and asked.operation in _AFTER_DESCRIBE.get(asked.resource_type, ())
    )


def _evidence(seen: Sequence[Seen], result: Result) -> Evidence:
    allowed = result is Result.ALLOWED
    return Evidence(
        agreeing=tuple(found for found in seen if found.allowed is allowed),
        other=tuple(found for found in seen if found.allowed is not allowed),
    )


def _silent(load: Load, *, is_allowed: bool) -> LogEvidence:
    if is_allowed and not load.permits_seen:
        return LogEvidence(
            "silent",
            "The log cannot confirm it",
            "Permits are not in the log, so this answer cannot be confirmed.",
        )
    span = f" ({_span(load)})" if load.first_at and load.last_at else ""
    return LogEvidence("silent", "No matching request in the log", f"The log{span} has no such request.")


def _span(load: Load) -> str:
    first, last = load.first_at, load.last_at
    assert first is not None
    assert last is not None
    if (first.year, first.month) == (last.year, last.month):
        days = f"{first.day}" if first.day == last.day else f"{first.day}–{last.day}"
        return f"{days} {last:%B}"
    return f"{first.day} {first:%B} – {last.day} {last:%B}"


def _counted(seen: Sequence[Seen], noun: str = "") -> str:
    lines = sum(found.lines for found in seen)
    count = f"{lines:,} × {noun}" if noun else number_of(lines, *_nouns(seen))
    calls = ", ".join(sorted({name for found in seen for name in found.api_names})[:3])
    through = f", for {calls}" if calls else ""
    return f"{count}{through}, the last at {_last(seen)}"


def _nouns(seen: Sequence[Seen]) -> tuple[str, str]:
    return ("permit", "permits") if seen[0].allowed else ("denial", "denials")


def _last(seen: Iterable[Seen]) -> str:
    return max(f"{found.last_at:%Y-%m-%d %H:%M}" for found in seen)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
