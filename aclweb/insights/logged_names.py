"""Which names does the log know that no ACL need name: principals that were denied, and hosts of a principal?"""

from __future__ import annotations

from aclweb.insights.models import Load
from aclweb.insights.requests import requests_of

_MOST = 100_000


def denied_principals(load: Load) -> list[str]:
    """Return the principals that were denied something, at most 100,000; one query over all groups of denials."""
    groups = load.denial_groups.order_by().values_list("principal", flat=True)
    return list(groups.distinct()[:_MOST])


def hosts_of(load: Load, principal: str) -> list[str]:
    """Return the hosts from which the log holds requests of a principal, at most 100,000; one query."""
    hosts = requests_of(load, principal=principal).order_by().values_list("request__host", flat=True)
    return list(hosts.distinct()[:_MOST])
