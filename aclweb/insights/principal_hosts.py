"""From which hosts was a principal seen in the log, and how often was it permitted and denied there?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Q, Sum
from django.db.models.functions import Coalesce

from aclweb.insights.models import Load
from aclweb.insights.requests import requests_of


@dataclass(frozen=True)
class SeenHost:
    """Requests of one principal from one host. last_at: on the brokers' clocks."""

    host: str
    permitted: int
    denied: int
    last_at: datetime


def hosts_seen(load: Load, principal: str, most: int) -> tuple[SeenHost, ...]:
    """Return at most so many hosts of a principal, those of most requests first; one query."""
    sums = (
        requests_of(load, principal=principal)
        .values_list("request__host")
        .annotate(
            permitted=Coalesce(Sum("lines", filter=Q(request__allowed=True)), 0),
            denied=Coalesce(Sum("lines", filter=Q(request__allowed=False)), 0),
            last=Max("last_at"),
            all=Sum("lines"),
        )
    )
    rows = sums.order_by("-all", "request__host")[:most]
    return tuple(SeenHost(host, permitted, denied, last) for host, permitted, denied, last, _ in rows)
