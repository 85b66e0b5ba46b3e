"""When was each of these resources last used in the log, and how often was it denied? When did a client last ask?

Of the names of a page the database is asked. What sorts a list needs every name of the log: that is taken from the
pairs that a load keeps, or added up by the database where they are too many to be kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from aclweb.acl.model import Resource, ResourceType
from aclweb.insights.models import Load, RequestTotals
from aclweb.insights.pairs import Pairs, moment_of, pairs_of
from aclweb.insights.requests import principal_key, requests_of, resource_key
from aclweb.insights.window import Window
from aclweb.inventory.current import ClusterView


@dataclass(frozen=True)
class Seen:
    """last_permitted: on the brokers' clocks, None for never in the log. denied: so many records deny something."""

    last_permitted: datetime | None
    denied: int


@dataclass(frozen=True)
class LastRequest:
    """What a log tells of when somebody last asked for something.

    last_at: on the brokers' clocks, None for never in the log; is_denied: whether that request was denied.
    has_permits: whether the log holds permits at all.
    """

    last_at: datetime | None
    has_permits: bool
    is_denied: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether nobody can tell: the log holds no permits, and no denial of them either."""
        return self.last_at is None and not self.has_permits


def last_seen(load: Load, kind: ResourceType, names: Collection[str]) -> Mapping[str, Seen]:
    """Return what the log has of each of these names, without those that it never names; one query."""
    if not names:
        return {}
    rows = requests_of(load).filter(
        request__cluster=load.cluster_id,
        request__resource_key__in=[resource_key(kind.name, name) for name in names],
        request__resource_type=kind.name,
        request__resource_name__in=names,
    )
    return _added_up(rows)


def last_requests_on(
    load: Load, resource: Resource, principals: Collection[str]
) -> Mapping[str, LastRequest]:
    """Return when each of these principals, who are few, last asked for something on the resource; one query."""
    rows = requests_of(load, resource=resource).filter(
        request__principal_key__in=[principal_key(principal) for principal in principals],
        request__principal__in=principals,
    )
    sums = rows.values_list("request__principal", "request__allowed").annotate(last=Max("last_at"))
    latest: dict[str, tuple[datetime, bool]] = {}
    for principal, allowed, last_at in sums.order_by() if principals else ():
        latest[principal] = max(latest.get(principal, (last_at, allowed)), (last_at, allowed))
    return {
        principal: LastRequest(last_at, load.permits_seen, is_denied=last_at is not None and not allowed)
        for principal in principals
        for last_at, allowed in (latest.get(principal, (None, False)),)
    }


def last_seen_of_all(load: Load, kind: ResourceType, view: ClusterView) -> Mapping[str, Seen]:
    """Return the same of every name of this type in the log; worked out once for a load and a revision."""
    return view.loaded.remember(("last seen", load.pk, kind), lambda: _seen_of_all(load, kind))


def _seen_of_all(load: Load, kind: ResourceType) -> Mapping[str, Seen]:
    pairs = pairs_of(Window.of(load, None))
    if pairs.whole:
        return _from_pairs(pairs, kind)
    return _added_up(requests_of(load).filter(request__resource_type=kind.name))


def _from_pairs(pairs: Pairs, kind: ResourceType) -> Mapping[str, Seen]:
    last: dict[int, int] = {}
    denied: dict[int, int] = {}
    for name, allowed, lines, last_at in zip(pairs.name, pairs.allowed, pairs.lines, pairs.last, strict=True):
        if pairs.kinds[name] != kind.name:
            continue
        if allowed:
            last[name] = max(last.get(name, last_at), last_at)
        else:
            denied[name] = denied.get(name, 0) + lines
    return {
        pairs.names[name]: Seen(moment_of(last[name]) if name in last else None, denied.get(name, 0))
        for name in last.keys() | denied.keys()
    }


def _added_up(rows: QuerySet[RequestTotals]) -> Mapping[str, Seen]:
    sums = rows.values_list("request__resource_name").annotate(
        last=Max("last_at", filter=Q(request__allowed=True)),
        denied=Coalesce(Sum("lines", filter=Q(request__allowed=False)), 0),
    )
    return {name: Seen(last, denied) for name, last, denied in sums.order_by()}
