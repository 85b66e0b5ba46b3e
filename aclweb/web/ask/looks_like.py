"""Is a pasted log line, or a client's exception, from another cluster?

A line names a principal and a resource. Where another cluster that the person may see knows
more of them, the line is probably its own; and where nothing here knows them, no answer of
this cluster agrees with the line or contradicts it. An exception names a resource at most.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from aclweb.acl.model import AccessRequest, ResourceType
from aclweb.inventory.current import ClusterView
from aclweb.inventory.fields import name_key
from aclweb.inventory.models import Cluster, StoredAcl, StoredName
from aclweb.web.browse import knows_principal


@dataclass(frozen=True)
class Origin:
    """Where a pasted line seems to be from.

    is_foreign: nothing here knows its names, or another cluster knows more of them. others: those that do.
    """

    is_foreign: bool
    others: tuple[Cluster, ...] = ()


def origin_of(view: ClusterView, asked: AccessRequest, visible: Iterable[Cluster]) -> Origin:
    """Return whether the names of a line belong to the cluster that is asked, or to others that are visible."""
    known = knows_principal(view, asked.principal) + _knows(view, asked.resource_type, asked.resource_name)
    most = 1 if asked.resource_type is ResourceType.CLUSTER else 2
    if known == most:
        return Origin(is_foreign=False)
    others = [cluster for cluster in visible if cluster.pk != view.cluster.pk and cluster.revision_id]
    counts = _known_by(others, asked)
    best = max(counts.values(), default=0)
    if best <= known:
        return Origin(is_foreign=known == 0)
    return Origin(True, tuple(cluster for cluster in others if counts.get(cluster.pk) == best))


def others_with(
    view: ClusterView, kind: ResourceType, name: str, visible: Iterable[Cluster]
) -> tuple[Cluster, ...]:
    """Return the visible clusters that have this resource; none where the cluster that is asked knows it."""
    if kind is ResourceType.CLUSTER or not name or _knows(view, kind, name):
        return ()
    having = StoredName.objects.filter(removed_in__isnull=True, resource_type=kind.name, key=name_key(name))
    ids = set(having.values_list("cluster_id", flat=True))
    return tuple(cluster for cluster in visible if cluster.pk in ids)


def _knows(view: ClusterView, kind: ResourceType, name: str | None) -> bool:
    if kind is ResourceType.CLUSTER or name is None:
        return False
    if view.loaded.holds(kind, name):
        return True
    shelf = view.index.shelf(kind)
    return shelf is not None and name in shelf.literals


def _known_by(clusters: Iterable[Cluster], asked: AccessRequest) -> dict[int, int]:
    """Return how many of the two names each cluster knows, by its id."""
    mine = [cluster.pk for cluster in clusters]
    acls = StoredAcl.objects.filter(cluster=OuterRef("pk"), removed_in__isnull=True)
    names = StoredName.objects.filter(
        cluster=OuterRef("pk"),
        removed_in__isnull=True,
        resource_type=asked.resource_type.name,
        key=name_key(asked.resource_name or ""),
    )
    counts: dict[int, int] = {}
    found = Cluster.objects.filter(pk__in=mine).annotate(
        has_acl=Exists(acls.filter(principal=asked.principal)), has_name=Exists(names)
    )
    for pk, has_acl, has_name in found.values_list("pk", "has_acl", "has_name"):
        is_named = has_name and asked.resource_type is not ResourceType.CLUSTER
        counts[pk] = int(has_acl) + int(is_named)
    return counts
