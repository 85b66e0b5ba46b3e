"""By which other right does a client succeed, though this check is refused?

A broker that refuses one check of a request may go on to another: it creates a topic by Create on
the cluster too. The decision stays what the authorizer answers; this is one sentence beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aclweb.acl.authorizer.answers import Result
from aclweb.acl.authorizer.decision import Decision, authorize
from aclweb.acl.model import (
    CLUSTER_NAME,
    AccessRequest,
    AuthorizerSettings,
    Operation,
    ResourceType,
    name_text,
)

_IDEMPOTENT_BY_TOPIC = (2, 8)
"""From this Kafka on Write on any topic starts an idempotent producer (KIP-679)."""


@dataclass(frozen=True, slots=True)
class OtherWay:
    """Another right that the principal has: the decision on it, and what it lets the client do."""

    decision: Decision
    sentence: str


def other_ways(decision: Decision) -> tuple[OtherWay, ...]:
    """Return the rights by which the client succeeds in spite of this refusal; none for what is not refused."""
    request = decision.request
    if decision.result is not Result.DENIED or request.resource_name is None:
        return ()
    found = []
    for instead, sentence in _instead_of(request, decision.settings):
        other = authorize(instead, decision.index, decision.settings)
        if other.allowed:
            found.append(OtherWay(other, sentence.format(name_text(request.principal))))
    return tuple(found)


def _instead_of(request: AccessRequest, settings: AuthorizerSettings) -> Iterator[tuple[AccessRequest, str]]:
    """Yield what a broker asks as well, and the sentence where that is allowed."""
    cluster = replace(request, resource_type=ResourceType.CLUSTER, resource_name=CLUSTER_NAME)
    check = request.resource_type, request.operation
    if check == (ResourceType.TOPIC, Operation.CREATE):
        yield cluster, "But {} has Create on the cluster, which is enough to create any topic."
    elif check == (ResourceType.TOPIC, Operation.DELETE) and settings.cluster_right_deletes_topics:
        yield cluster, "But {} has Delete on the cluster, which is enough to delete any topic (KRaft)."
    elif check == (ResourceType.GROUP, Operation.DESCRIBE):
        yield (
            cluster,
            "But {} has Describe on the cluster, which is enough to see this group in a list of all groups.",
        )
    elif (
        check == (ResourceType.CLUSTER, Operation.IDEMPOTENT_WRITE)
        and settings.version >= _IDEMPOTENT_BY_TOPIC
    ):
        any_topic = AccessRequest(request.principal, request.host, Operation.WRITE, ResourceType.TOPIC, None)
        yield any_topic, "But {} has Write on a topic, which is enough to start an idempotent producer."
