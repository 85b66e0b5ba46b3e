"""Why was each group of denials probably denied, by the ACLs in force?

A cause depends on the ACLs of today, so it is not stored with a load: it is worked out again once either differs, and
kept in this process until then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aclweb.acl.authorizer import Decision, authorize
from aclweb.acl.logged import Cause, CauseKinds, likely_cause
from aclweb.acl.model import AccessRequest, Operation, ResourceType
from aclweb.insights.current import current_load
from aclweb.insights.models import DenialGroup, Load
from aclweb.inventory.current import ClusterView

MOST_GROUPS = 5_000
"""Of so many groups of a load the causes can be filtered by and counted; about a quarter of a second of one core."""

_COLUMNS = ("key", "principal", "latest_host", "operation", "resource_type", "resource_name")


@dataclass(frozen=True)
class Causes:
    """The causes of the MOST_GROUPS groups of a load with most denials.

    kinds: the kind of cause by the key of the group. names: its principal, operation and resource type. whole: whether
    that is every group of the load.
    """

    kinds: Mapping[str, str]
    names: Mapping[str, tuple[str, str, str]]
    whole: bool


def judged(group: DenialGroup, now: ClusterView) -> tuple[Decision, Cause]:
    """Return what the ACLs in force say to the latest request of a group, and why it was probably denied."""
    request = _request(
        group.principal, group.latest_host, group.operation, group.resource_type, group.resource_name
    )
    decision = authorize(request, now.index, now.settings)
    return decision, likely_cause(decision, now.index)


def causes_of(load: Load, now: ClusterView) -> Causes:
    """Return the causes of the groups of a load by the ACLs in force, worked out once for both."""
    return now.loaded.remember(("causes of denials", load.pk, now.settings), lambda: _causes(load, now))


def prepare(now: ClusterView) -> None:
    """Work out the causes of the newest load before anybody opens the denials; one query where they are known."""
    load = current_load(now.cluster)
    if load is not None:
        causes_of(load, now)


def _causes(load: Load, now: ClusterView) -> Causes:
    largest = DenialGroup.objects.filter(load=load).order_by("-lines", "key").values_list(*_COLUMNS)
    found = list(largest[: MOST_GROUPS + 1])
    kinds_of = CauseKinds(now.index, now.settings)
    kinds, names = {}, {}
    for key, principal, host, operation, resource_type, resource_name in found[:MOST_GROUPS]:
        kinds[key] = kinds_of.of(_request(principal, host, operation, resource_type, resource_name))
        names[key] = (principal, operation, resource_type)
    return Causes(kinds, names, whole=len(found) <= MOST_GROUPS)


def _request(
    principal: str, host: str, operation: str, resource_type: str, resource_name: str
) -> AccessRequest:
    return AccessRequest(principal, host, Operation[operation], ResourceType[resource_type], resource_name)
