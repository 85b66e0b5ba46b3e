"""Which question does a pasted line of an authorizer log ask, and what did the broker answer?

The answer travels beside the question in its address, so that a page can say whether the
rules of now agree with it. The line is not stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from aclweb.acl.authorizer import Result, reported_acl
from aclweb.acl.model import Operation, ResourceType
from aclweb.acl.notation import (
    KAFKA,
    UNKNOWN,
    AccessEvent,
    NotDecision,
    authorizer_log,
    binding_key,
    detected,
    events_in,
    layout_of,
)
from aclweb.inventory.models import Cluster
from aclweb.web.ask.answering import Answer
from aclweb.web.ask.looks_like import origin_of
from aclweb.web.shell import links

_EXAMPLE = (
    "[2026-11-21 09:15:02,114] INFO Principal = User:bob is Denied operation = READ from host = 10.0.0.7 on "
    "resource = Topic:LITERAL:orders for request = Fetch with resourceRefCount = 1 based on rule DefaultDeny "
    "(kafka.authorizer.logger)"
)
_WHY_NOT = {
    authorizer_log.OTHER_LOGGER: (
        "This line was written by another logger; only kafka.authorizer.logger logs decisions."
    ),
    authorizer_log.SUPER_USER_NOTE: (
        "This line notes that the client is a super user; paste the decision that follows it."
    ),
    authorizer_log.MATCH_NOTE: "This line notes an ACL that matched; paste the decision that follows it.",
    authorizer_log.NO_ACL_NOTE: "This line notes that no ACL was found; paste the decision that follows it.",
}


# Web servers take addresses of some four thousand characters.
LONGEST_QUESTION = 3_500
# The log's line comes back from an address that anybody can write, so only what a log holds is repeated.
_TIME = re.compile(r"[0-9][0-9 T:.,Z+-]{0,39}")
_RULE = re.compile(r"[A-Za-z]{1,20}")


class LineError(Exception):
    """A pasted text from which no question can be read; the message is for whoever pasted it."""


@dataclass(frozen=True)
class PastedAnswer:
    """What the pasted line said, against the answer of now.

    kind: "agrees", "contradicts" or, where there is no answer of now, "reported".
    doubts: sentences to mind before believing it. links: (cluster, address) where it probably belongs.
    """

    kind: str
    heading: str
    sentence: str
    doubts: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()


def question_in(text: str) -> str:
    """Return the query that asks what the first decision in `text` was about, with the broker's answer.

    Raises LineError where there is none, or where it names what cannot be asked about.
    """
    if not text.strip():
        raise LineError(f"Paste a line of kafka-authorizer.log or a client's exception, such as: {_EXAMPLE}")
    found = _read_all(text.splitlines())
    events = [event for event in found if isinstance(event, AccessEvent)]
    if not events:
        reasons = [each.reason for each in found if isinstance(each, NotDecision)]
        why_not = next((_WHY_NOT[reason] for reason in reasons if reason in _WHY_NOT), "")
        raise LineError(
            why_not
            or "No decision and no authorization error can be read from this. Paste a whole log line, or a client's "
            f"exception with its message, such as: {_EXAMPLE}"
        )
    event = events[0]
    if event.operation is Operation.UNKNOWN or event.resource_type is ResourceType.UNKNOWN:
        raise LineError("This line names an operation or a type of resource that aclweb does not know.")
    asked = {
        "principal": event.principal,
        "operation": event.operation.name,
        "type": event.resource_type.name,
        "name": event.resource_name,
        "host": event.host,
        "logged": "ALLOWED" if event.allowed else "DENIED",
        "at": event.time or "",
        "rule": event.rule or "",
        "rule_key": binding_key(event.acl) if event.acl else "",
        "unsure": "1" if event.ambiguous else "",
        "lines": str(len(events)) if len(events) > 1 else "",
    }
    question = links.encoded(
        **{name: value for name, value in asked.items() if value or name in ("name", "host")}
    )
    if len(question) > LONGEST_QUESTION:
        raise LineError(
            f"The names in this line are too long to ask about on a page: the address would have {len(question):,} "
            f"characters, and {LONGEST_QUESTION:,} fit. `python -m aclweb.acl decide` takes names of any length."
        )
    return question


def pasted_answer(
    query: Mapping[str, str], answer: Answer, visible: Iterable[Cluster]
) -> PastedAnswer | None:
    """Return what a pasted line said of this question; None where the address tells of none.

    visible: the clusters that the person may see, for a line that is of another one.
    """
    logged = query.get("logged")
    if logged not in ("ALLOWED", "DENIED"):
        return None
    agrees = answer.decision.result.name == logged
    when = f" at {query['at']}" if _TIME.fullmatch(query.get("at", "")) else ""
    rule = f", based on rule {query['rule']}" if _RULE.fullmatch(query.get("rule", "")) else ""
    doubts = []
    if query.get("unsure"):
        doubts.append(
            "The pasted line can be read in more than one way, because a name in it imitates the words around it; "
            "check each part of the request."
        )
    if query.get("lines", "").isdecimal():
        doubts.append(f"The first of the {int(query['lines'][:9]):,} decisions that were pasted was taken.")
    if agrees and query.get("rule_key"):
        named = reported_acl(answer.decision)
        if named is not None and binding_key(named) != query["rule_key"]:
            doubts.append("The line names another ACL than brokers would name now: the ACLs changed since.")
    said = f"The broker said {logged.capitalize()}{when}{rule}."
    here = answer.view.cluster.name
    origin = origin_of(answer.view, answer.request, visible)
    if origin.is_foreign:
        names = " or ".join(cluster.name for cluster in origin.others[:3])
        if not names:
            unknown = f"{here} knows neither its principal nor its resource, so it cannot be compared."
            return PastedAnswer(
                "reported", "This line is of no cluster that you see", f"{said} {unknown}", tuple(doubts)
            )
        why = f"{here} knows fewer of the names in it."
        addresses = tuple(
            (cluster.name, f"{reverse('explain', args=[cluster.slug])}?{links.encoded(**query)}")
            for cluster in origin.others[:3]
        )
        return PastedAnswer(
            "reported", f"This line looks like {names}", f"{said} {why}", tuple(doubts), addresses
        )
    if agrees:
        return PastedAnswer("agrees", "The pasted line agrees", said, tuple(doubts))
    if answer.decision.result is Result.UNDECIDED:
        why = "An ACL that aclweb cannot read in full may have decided it."
        return PastedAnswer("reported", "What the pasted line says", f"{said} {why}", tuple(doubts))
    why = "The ACLs may have changed since, or a declaration is wrong."
    return PastedAnswer("contradicts", "The pasted line says otherwise", f"{said} {why}", tuple(doubts))


def _read_all(lines: Sequence[str]) -> list[AccessEvent | NotDecision]:
    """Read pasted lines in whatever layout they have, or as parts of records."""
    name = detected(lines)
    if name in (KAFKA, UNKNOWN):
        return [_read(record) for record in authorizer_log.records(lines)]
    return list(events_in(lines, layout_of(name)))


def _read(record: str) -> AccessEvent | NotDecision:
    """Read a whole record, or the part of one that somebody cut out of it."""
    parsed = authorizer_log.parse_record(record)
    if isinstance(parsed, NotDecision) and parsed.reason == authorizer_log.NO_LAYOUT:
        return authorizer_log.parse_suffix(record.strip())
    return parsed
