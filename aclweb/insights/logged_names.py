"""Which names does the log know that no ACL need name: principals that were denied, and hosts of a principal?"""

from __future__ import annotations

from aclweb.insights.models import Load
from aclweb.insights.requests import requests_of


def denied_principals_like(load: Load, text: str, most: int) -> list[str]:
    """Return at most so many principals that were denied something and contain the text, by name; one query."""
    groups = load.denial_groups.filter(principal__icontains=text).order_by("principal")
    return list(groups.values_list("principal", flat=True).distinct()[:most])


def hosts_of(load: Load, principal: str, most: int) -> list[str]:
    """Return at most so many hosts from which the log holds requests of a principal, by host; one query."""
    rows = requests_of(load, principal=principal).order_by("request__host")
    return list(rows.values_list("request__host", flat=True).distinct()[:most])
