"""What do the nodes of a broker hold: ACLs, endpoints, a migration?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kazoo.exceptions import (
    RolledBackError,
    RuntimeInconsistency,
)
from kazoo.protocol.states import ZnodeStat

from aclweb.acl.kafka import refused_everywhere, why_not_deletable
from aclweb.acl.model import AclBinding, ResourcePattern
from aclweb.acl.notation import znodes
from aclweb.clusters.client import (
    Outcome,
    OutcomeKind,
    Problem,
    Verb,
)

TOPICS_ROOT = "/brokers/topics"
# One of these is there as soon as a broker has started once.
SIGNS_OF_KAFKA = ("/brokers", "/cluster", znodes.LITERAL_ROOT, znodes.EXTENDED_ROOT)
INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})


@dataclass(frozen=True, slots=True)
class Node:
    """What one pattern's node held when it was read; no version where there is none."""

    bindings: tuple[AclBinding, ...] = ()
    version: int | None = None
    children: int = 0


@dataclass(slots=True)
class Edit:
    """What is to happen to one pattern's node, and what became of it."""

    pattern: ResourcePattern
    bindings: list[AclBinding]
    rereads: int = 0
    evidence: dict[str, object] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return znodes.path_of(self.pattern)


def read_node(pattern: ResourcePattern, found: tuple[bytes, ZnodeStat] | None) -> Node:
    """Return what a node holds, for rewriting; raises ZnodeError where rewriting would lose something."""
    if found is None:
        return Node()
    data, stat = found
    reading = znodes.read_node(pattern, data)
    if reading.remarks:
        raise znodes.ZnodeError(" ".join(reading.remarks))
    try:
        document = json.loads(data)
    except ValueError as error:
        raise znodes.ZnodeError(f"{znodes.path_of(pattern)} holds more than one JSON document.") from error
    known = {"version", "acls"}, {"principal", "permissionType", "operation", "host"}
    foreign = (set(document) - known[0]).union(*(set(acl) - known[1] for acl in document["acls"]))
    if foreign:
        keys = ", ".join(repr(key) for key in sorted(foreign))
        raise znodes.ZnodeError(f"{znodes.path_of(pattern)} holds {keys}, which Kafka does not write.")
    return Node(reading.bindings, stat.version, stat.children_count)


def fault_of(verb: Verb, binding: AclBinding) -> str | None:
    """Return why this binding can have no node of its own in ZooKeeper, None where it can."""
    try:
        znodes.path_of(binding.pattern)
        if verb is Verb.ADD:
            znodes.encode([binding])
    except znodes.ZnodeError as error:
        return str(error)
    if verb is Verb.REMOVE and (reason := why_not_deletable(binding)):
        return reason
    # What a broker would refuse is not written behind its back; what is there may be removed.
    answer = refused_everywhere(verb.value, binding)
    return answer.sentence if answer else None


def set_outcome(
    outcomes: dict[AclBinding, Outcome], edits: Iterable[Edit], kind: OutcomeKind, sentence: str
) -> None:
    """Give every binding of these edits that has no outcome yet this one."""
    for edit in edits:
        for binding in edit.bindings:
            outcome = Outcome(binding, kind, sentence, evidence={"path": edit.path, "rereads": edit.rereads})
            outcomes.setdefault(binding, outcome)


def first_fault(results: Sequence[object]) -> tuple[int, BaseException] | None:
    """Return position and error of the operation that made a transaction fail, None where all went well.

    A failed transaction does not raise: it answers with a list of errors, in which the
    operations before and after the culprit only say that they were rolled back.
    """
    faults = [(position, one) for position, one in enumerate(results) if isinstance(one, BaseException)]
    real = [pair for pair in faults if not isinstance(pair[1], RolledBackError | RuntimeInconsistency)]
    return next(iter(real or faults), None)


def _json(found: Any) -> Any:
    if found is None:
        return None
    try:
        return json.loads(found[0])
    except (ValueError, RecursionError):
        return None


def field_of(found: Any, name: str) -> object:
    document = _json(found)
    return document.get(name) if isinstance(document, dict) else None


def endpoint(found: tuple[bytes, ZnodeStat]) -> str:
    """Return `host:port` of a broker's registration, as far as it can be read."""
    endpoints = field_of(found, "endpoints")
    if isinstance(endpoints, list) and endpoints and isinstance(endpoints[0], str):
        return endpoints[0].partition("://")[2] or endpoints[0]
    return f"{field_of(found, 'host')}:{field_of(found, 'port')}"


def shows_migration(found: Any) -> bool:
    """Whether /migration says that a KRaft controller has taken over; anything unclear counts as yes."""
    if found is None:
        return False
    controller = field_of(found, "kraft_controller_id")
    return not (isinstance(controller, int) and controller < 0)


def nested(path: str) -> Problem:
    return Problem(
        path,
        f"The node {path} has nodes below it; brokers may show their ACLs until the next restart and not after it.",
    )
