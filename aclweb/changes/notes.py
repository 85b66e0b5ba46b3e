"""What must a reader of an edit not miss beside its impact, and which kafka-acls commands write it?"""

from __future__ import annotations

from collections.abc import Iterable

from aclweb.acl.kafka import Target, refusal, why_escaped
from aclweb.acl.kafka import commands as kafka_acls
from aclweb.acl.matching import why_no_resource, why_unmatchable
from aclweb.acl.model import (
    ANY_USER,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Delta,
    Operation,
    ResourceType,
    Step,
    acl_text,
    number_of,
)
from aclweb.changes.impact import distinct
from aclweb.inventory.current import ClusterView
from aclweb.inventory.models import Cluster

MOST_REFUSALS = 5


def done_already(added: int, removed: int) -> list[str]:
    """Return how many ACLs of an edit are as it asks already, as sentences."""
    kinds = ((added, "already exists", "already exist"), (removed, "is already gone", "are already gone"))
    return [f"{n:,} of these ACLs {one if n == 1 else many}." for n, one, many in kinds if n]


def notes_of(own: str | None, delta: Delta, view: ClusterView, added: int, removed: int) -> tuple[str, ...]:
    """Return what a reader must not miss, as sentences.

    own: the principal of aclweb. added, removed: how many ACLs are as the edit asks already.
    """
    return (
        *done_already(added, removed),
        *_unmet(delta, view),
        *_refusals(delta, view.settings),
        *_own_rights(own, delta),
    )


def _unmet(delta: Delta, view: ClusterView) -> list[str]:
    """Return a sentence for the ACLs that no request can match, but for those of which the impact warns."""
    added = [binding for binding in delta.add if not _is_warned_of(binding, view)]
    unmet = [
        reason
        for binding in (*added, *delta.remove)
        if (reason := why_unmatchable(binding, view.settings) or why_no_resource(binding))
    ]
    if not unmet:
        return []
    if len(unmet) == 1:
        return [f"1 of these ACLs matches no request, so it changes nothing for anybody: {unmet[0]}."]
    return [
        f"{len(unmet):,} of these ACLs match no request, so they change nothing for anybody. "
        f"For example, {unmet[0]}."
    ]


def _is_warned_of(binding: AclBinding, view: ClusterView) -> bool:
    """Whether the impact says of an ACL that comes that this Kafka reads no address ranges."""
    return "/" in binding.host and not view.settings.cidr_hosts and binding not in view.index


def _own_rights(own: str | None, delta: Delta) -> list[str]:
    """Return a sentence where the edit changes what aclweb itself may do on the cluster."""
    if own is None or not changes_own_rights(own, delta):
        return []
    return [
        f"This changes aclweb's own rights: it signs in as {own} and needs Describe and Alter on the cluster."
    ]


def changes_own_rights(own: str | None, delta: Delta) -> bool:
    """Whether an edit changes what this principal, any where None, may do that aclweb needs on the cluster."""
    return any(
        binding.resource_type is ResourceType.CLUSTER
        and binding.operation in (Operation.ALL, Operation.DESCRIBE, Operation.ALTER)
        and (own is None or binding.principal in (own, ANY_USER))
        for binding in (*delta.add, *delta.remove)
    )


def _refusals(delta: Delta, settings: AuthorizerSettings) -> list[str]:
    """Return what this cluster would refuse of the edit, with its own words; the first few of it."""
    target = Target(settings)
    refusals = [
        f"{acl_text(binding)}: {refused.sentence} Kafka would answer {refused.kafka_error}"
        for verb, bindings in (("add", delta.add), ("remove", delta.remove))
        for binding in bindings
        if (refused := refusal(verb, binding, target)) is not None
    ]
    rest = len(refusals) - MOST_REFUSALS
    return [
        *refusals[:MOST_REFUSALS],
        *([f"The cluster would refuse {number_of(rest, 'more ACL')}."] if rest > 0 else []),
    ]


def own_principal(cluster: Cluster) -> str | None:
    """Return the principal that aclweb signs in as, or None where no broker checks it or a certificate says it."""
    return cluster.source.signs_in_as(cluster.options or {})


def commands_of(delta: Delta, view: ClusterView) -> tuple[str, ...]:
    """Return an edit as kafka-acls commands, in the order of writing."""
    return tuple(commands_and_limits(delta.steps(), view.settings)[0])


def commands_and_limits(
    plan: Iterable[Step], settings: AuthorizerSettings
) -> tuple[list[str], tuple[str, ...]]:
    """Return the plan as kafka-acls lines, and sentences for what it cannot express, or only as bytes."""
    lines: list[str] = []
    limits: list[str] = []
    for step in plan:
        for binding in step.bindings:
            try:
                lines += kafka_acls((binding,), op=step.op, settings=settings)
            except AclError as error:
                limits.append(f"kafka-acls cannot take this ACL: {error}")
            else:
                limits += filter(None, (why_escaped(binding),))
    return lines, distinct(limits)
