"""Why was each group of denials probably denied, by the ACLs in force?

A cause depends on the ACLs of today, so it is not stored with a load: it is worked out again once either differs, and
kept in this process until then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from aclweb.acl.authorizer import Decision, authorize
from aclweb.acl.logged import Cause, CauseKinds
from aclweb.acl.model import AccessRequest, Operation, ResourceType
from aclweb.insights.current import current_load
from aclweb.insights.models import DenialGroup, Load
from aclweb.inventory.current import ClusterView

MOST_GROUPS = 5_000
"""Of so many groups of a load the causes can be filtered by and counted; about a quarter of a second of one core."""

_COLUMNS = ("key", "principal", "latest_host", "operation", "resource_type", "resource_name")


class GroupFigures(NamedTuple):
    """What a load holds of a group, as a DenialGroup does."""

    key: str
    burst_day: date | None
    lines: int
    lines_1: int
    lines_7: int
    lines_14: int
    lines_30: int
    last_at: datetime
    lines_before: int | None


@dataclass(frozen=True)
class Causes:
    """The causes of the MOST_GROUPS groups of a load with most denials.

    kinds: the kind of cause by the key of the group. names: its principal, operation and resource type. figures: of
    each group, in the order of its denials. whole: whether that is every group of the load.
    """

    kinds: Mapping[str, str]
    names: Mapping[str, tuple[str, str, str]]
    figures: Sequence[GroupFigures]
    whole: bool


def request_of(group: DenialGroup) -> AccessRequest:
    """Return the latest request of a group."""
    return _request(
        group.principal, group.latest_host, group.operation, group.resource_type, group.resource_name
    )


def decision_of(request: AccessRequest, now: ClusterView) -> Decision:
    """Return what the ACLs in force say to a request of a group, with what they would take."""
    return authorize(request, now.index, now.settings)


def cause_of(request: AccessRequest, now: ClusterView) -> Cause:
    """Return why a request of a group was probably denied: the `likely_cause` of its decision."""
    kinds = now.loaded.remember(
        ("kinds of causes", now.settings), lambda: CauseKinds(now.index, now.settings)
    )
    return kinds.cause(request)


def causes_of(load: Load, now: ClusterView) -> Causes:
    """Return the causes of the groups of a load by the ACLs in force, worked out once for both."""
    # The time is part of it: a database that was put back gives numbers out again.
    question = ("causes of denials", load.pk, load.loaded_at, now.settings)
    return now.loaded.remember(question, lambda: _causes(load, now))


def prepare(now: ClusterView) -> None:
    """Work out the causes of the newest load before anybody opens the denials; one query where they are known."""
    load = current_load(now.cluster)
    if load is not None:
        causes_of(load, now)


def _causes(load: Load, now: ClusterView) -> Causes:
    largest = DenialGroup.objects.filter(load=load).order_by("-lines", "key")
    found = list(largest.values_list(*_COLUMNS, *GroupFigures._fields[1:])[: MOST_GROUPS + 1])
    kinds_of = CauseKinds(now.index, now.settings)
    kinds, names = {}, {}
    for key, principal, host, operation, resource_type, resource_name, *_ in found[:MOST_GROUPS]:
        kinds[key] = kinds_of.of(_request(principal, host, operation, resource_type, resource_name))
        names[key] = (principal, operation, resource_type)
    figures = [GroupFigures(row[0], *row[len(_COLUMNS) :]) for row in found[:MOST_GROUPS]]
    return Causes(kinds, names, figures, whole=len(found) <= MOST_GROUPS)


def _request(
    principal: str, host: str, operation: str, resource_type: str, resource_name: str
) -> AccessRequest:
    return AccessRequest(principal, host, Operation[operation], ResourceType[resource_type], resource_name)
