"""Which principals were permitted, or denied, which operations on one resource, as the log has it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Max, Sum

from aclweb.acl.model import Operation, PermissionType, Resource
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.requests import requests_of
from aclweb.insights.unused import NO_LOG, evidence_of
from aclweb.inventory.models import Cluster

MOST_ROWS = 5_000
"""So many pairs of principal and operation are told, those of most requests first."""


@dataclass(frozen=True)
class Requests:
    """How many requests there were, and when the last one was, on the brokers' clocks."""

    lines: int
    last_at: datetime


@dataclass(frozen=True)
class ResourceUse:
    """The permitted requests on a resource, or the denied ones.

    known: whether the log tells them at all. why_not: why it does not or, where it does, why there may be more.
    """

    load: Load | None
    known: bool
    why_not: str
    requests: Mapping[tuple[str, Operation], Requests] = field(default_factory=dict)

    @property
    def principals(self) -> frozenset[str]:
        return frozenset(principal for principal, _ in self.requests)

    def of(self, principal: str, operation: Operation) -> Requests | None:
        """Return the requests of one principal for one operation; None for none in the log."""
        return self.requests.get((principal, operation))


def use_of_resource(cluster: Cluster, resource: Resource, *, permitted: bool) -> ResourceUse:
    """Return the requests on the resource that were permitted, or those that were denied; three queries at most."""
    load = current_load(cluster)
    if load is None:
        return ResourceUse(None, known=False, why_not=NO_LOG)
    why_not = evidence_of(load).why_not[PermissionType.ALLOW if permitted else PermissionType.DENY]
    if permitted and not load.permits_seen:
        return ResourceUse(load, known=False, why_not=why_not)
    rows = requests_of(load, resource=resource).filter(request__allowed=permitted)
    sums = rows.values_list("request__principal", "request__operation").annotate(
        requests=Sum("lines"), last=Max("last_at")
    )
    in_order = sums.order_by("-requests", "request__principal", "request__operation")[:MOST_ROWS]
    return ResourceUse(
        load,
        known=True,
        why_not=why_not,
        requests={
            (principal, Operation[operation]): Requests(lines, last)
            for principal, operation, lines, last in in_order
        },
    )
