"""When was each of these resources last used in the log, and how often was it denied?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Q, Sum
from django.db.models.functions import Coalesce

from aclweb.acl.model import ResourceType
from aclweb.insights.models import Load
from aclweb.insights.requests import requests_of, resource_key


@dataclass(frozen=True)
class Seen:
    """last_permitted: on the brokers' clocks, None for never in the log. denied: so many records deny something."""

    last_permitted: datetime | None
    denied: int


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
    sums = rows.values_list("request__resource_name").annotate(
        last=Max("last_at", filter=Q(request__allowed=True)),
        denied=Coalesce(Sum("lines", filter=Q(request__allowed=False)), 0),
    )
    return {name: Seen(last, denied) for name, last, denied in sums.order_by()}
