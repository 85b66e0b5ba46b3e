"""Who read a topic in the log, and with which groups did these principals consume?

A record of the log names a topic or a group, never both: a group is one that the principal used, with whatever topic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Sum

from aclweb.acl.model import Operation, Resource, ResourceType
from aclweb.insights.models import Load
from aclweb.insights.requests import principal_key, requests_of

MOST_GROUPS = 1_000
"""So many groups of the principals of a page are looked at, those of most requests first."""


@dataclass(frozen=True)
class UsedGroup:
    """A group that a principal was permitted to use: in how many requests, and when last, on the brokers' clocks."""

    name: str
    lines: int
    last_at: datetime


def last_reads(load: Load, topic: Resource) -> dict[str, datetime]:
    """Return when each principal was last permitted to read the topic; one query."""
    rows = requests_of(load, resource=topic).filter(
        request__operation=Operation.READ.name, request__allowed=True
    )
    found = rows.values_list("request__principal").annotate(last=Max("last_at")).order_by()
    return dict(found)


def groups_used(load: Load, principals: Collection[str]) -> Mapping[str, tuple[UsedGroup, ...]]:
    """Return the groups that each of these principals used, those of most requests first; one query."""
    if not principals:
        return {}
    rows = requests_of(load).filter(
        request__cluster=load.cluster_id,
        request__principal_key__in=[principal_key(principal) for principal in principals],
        request__principal__in=principals,
        request__resource_type=ResourceType.GROUP.name,
        request__operation=Operation.READ.name,
        request__allowed=True,
    )
    sums = rows.values_list("request__principal", "request__resource_name").annotate(
        requests=Sum("lines"), last=Max("last_at")
    )
    found: dict[str, list[UsedGroup]] = defaultdict(list)
    for principal, name, lines, last_at in sums.order_by("-requests", "request__resource_name")[:MOST_GROUPS]:
        found[principal].append(UsedGroup(name, lines, last_at))
    return {principal: tuple(groups) for principal, groups in found.items()}
