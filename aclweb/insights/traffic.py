"""How often was a resource used or a principal active, by whom, for what, and on which days?

It is what brokers logged, permitted and denied, whatever the ACLs say now. Where permits are not logged, what was
permitted is unknown and not 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from aclweb.acl.model import Operation, PermissionType, Resource, ResourceType
from aclweb.insights.current import current_load
from aclweb.insights.models import Load
from aclweb.insights.requests import answers_by_day, requests_of
from aclweb.insights.unused import evidence_of
from aclweb.inventory.models import Cluster

MOST_ROWS = 2_000
"""So many distinct requests are added up for a page, those of most lines first."""

_COLUMNS = (
    "request",
    "request__principal",
    "request__operation",
    "request__resource_type",
    "request__resource_name",
    "request__host",
    "request__allowed",
    "lines",
    "last_at",
)


@dataclass
class Line:
    """The requests of one principal for one operation on one resource, from all hosts together."""

    principal: str
    operation: Operation
    resource: Resource
    permitted: int = 0
    denied: int = 0
    hosts: set[str] = field(default_factory=set)
    last_at: datetime | None = None


@dataclass(frozen=True)
class Traffic:
    """What the log holds about one resource or principal.

    lines: most requests first. days: (day, permitted, denied) for each of the last days of the log.
    whole: whether every distinct request is counted. why_not: why permits may be missing; empty where they are not.
    """

    load: Load | None
    lines: Sequence[Line] = ()
    days: tuple[tuple[str, int, int], ...] = ()
    whole: bool = True
    why_not: str = ""

    @property
    def most(self) -> int:
        """How many distinct requests are counted where it is not `whole`."""
        return MOST_ROWS

    @property
    def permitted(self) -> int:
        return sum(line.permitted for line in self.lines)

    @property
    def denied(self) -> int:
        return sum(line.denied for line in self.lines)

    @property
    def permits_logged(self) -> bool:
        return self.load is not None and self.load.permits_seen

    @property
    def principals(self) -> set[str]:
        """Those of whom a request was permitted."""
        return {line.principal for line in self.lines if line.permitted}


def traffic(
    cluster: Cluster, *, resource: Resource | None = None, principal: str | None = None, days: int = 31
) -> Traffic:
    """Return the logged requests on one resource, of one principal, or both; at most four queries.

    days: how many last days of the log, at most 90.
    """
    load = current_load(cluster)
    if load is None:
        return Traffic(None)
    return traffic_in(load, resource=resource, principal=principal, days=days)


def traffic_in(
    load: Load, *, resource: Resource | None = None, principal: str | None = None, days: int = 31
) -> Traffic:
    """Return the same of one load; at most three queries."""
    rows = requests_of(load, resource=resource, principal=principal).order_by("-lines", "request")
    found = list(rows.values_list(*_COLUMNS)[: MOST_ROWS + 1])
    lines: dict[tuple[str, ...], Line] = {}
    numbers: dict[bool, list[int]] = {False: [], True: []}
    for number, who, operation, kind, name, host, allowed, count, last_at in found[:MOST_ROWS]:
        key = (who, operation, kind, name)
        line = lines.get(key)
        if line is None:
            line = lines[key] = Line(who, Operation[operation], Resource(ResourceType[kind], name))
        line.permitted += count if allowed else 0
        line.denied += 0 if allowed else count
        line.hosts.add(host)
        line.last_at = last_at if line.last_at is None else max(line.last_at, last_at)
        numbers[allowed].append(number)
    return Traffic(
        load=load,
        lines=sorted(lines.values(), key=lambda line: -(line.permitted + line.denied)),
        days=answers_by_day(load, permitted=numbers[True], denied=numbers[False], most=days),
        whole=len(found) <= MOST_ROWS,
        why_not=evidence_of(load).why_not[PermissionType.ALLOW],
    )
