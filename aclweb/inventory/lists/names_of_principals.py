"""What is this principal called, where ACLs hold an id?

Each process holds the names of a cluster, and reads them again when the cluster's row says that they were changed.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from types import MappingProxyType

from aclweb.inventory.models import Cluster

_NONE: Mapping[str, str] = MappingProxyType({})
_known: dict[int, tuple[datetime.datetime, Mapping[str, str]]] = {}


def principals_called(cluster: Cluster) -> Mapping[str, str]:
    """Return the names of a cluster's principals; no query where nobody gave any, or they are known here."""
    stamp = cluster.principals_named_at
    if stamp is None:
        return _NONE
    kept = _known.get(cluster.pk)
    if kept is None or kept[0] != stamp:
        kept = stamp, dict(cluster.principal_names.values_list("principal", "name"))
        _known[cluster.pk] = kept
    return kept[1]


def called(cluster: Cluster, principal: str) -> str:
    """Return what people call the principal; empty where nobody has said it."""
    return principals_called(cluster).get(principal, "")
