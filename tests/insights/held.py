"""What does a load hold, as a test reads it?"""

from __future__ import annotations

from typing import Any

from aclweb.insights import unused
from aclweb.insights.current import current_load
from aclweb.insights.models import Load, RequestDay
from aclweb.insights.requests import requests_of
from aclweb.inventory.models import Cluster


def unused_count(cluster: Cluster) -> int | None:
    """Return how many ACLs the newest load calls unused."""
    load = current_load(cluster)
    return unused.unused_count(cluster, load, unused.evidence_of(load))


def held_in(load: Load) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return for each request and answer of a load all that is known of it: its totals, and its lines by day."""
    days = dict(load.day_sets.values_list("pk", "day"))
    by_request: dict[int, list[tuple[str, int]]] = {}
    for day_set, request, lines in RequestDay.objects.filter(day_set__in=days).values_list(
        "day_set", "request", "lines"
    ):
        by_request.setdefault(request, []).append((days[day_set].isoformat(), lines))
    found = {}
    for row in requests_of(load).select_related("request"):
        asked = row.request
        names = (asked.principal, asked.host, asked.operation, asked.resource_type, asked.resource_name)
        totals = (row.lines, row.lines_7, row.lines_30, row.lines_90, row.first_at, row.last_at)
        facts = (*totals, tuple(row.api_names), row.sample, row.decided_now)
        assert (*names, asked.allowed) not in found, "a load holds a request once"
        found[*names, asked.allowed] = (*facts, tuple(sorted(by_request.get(row.request_id, ()))))
    return found
