"""Which revisions has a cluster had?"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from aclweb.inventory.models import Cluster, Revision


def history(cluster: Cluster, *, acls_only: bool = False) -> QuerySet[Revision]:
    """Return the cluster's revisions, newest first; with `acls_only` those that changed ACLs."""
    revisions = Revision.objects.filter(cluster=cluster).order_by("-number")
    if acls_only:
        revisions = revisions.filter(Q(acls_added__gt=0) | Q(acls_removed__gt=0))
    return revisions


@dataclass(frozen=True)
class Past:
    """How far back is known, and how many revisions changed ACLs that aclweb did not change."""

    first: Revision | None
    elsewhere: int


def past_of(cluster: Cluster) -> Past:
    """Return how far back the cluster is known, in one query."""
    later = history(cluster, acls_only=True).filter(
        cause=Revision.Cause.READING, number__gt=OuterRef("number")
    )
    counted = later.order_by().values("cluster").annotate(n=Count("pk")).values("n")
    first = (
        Revision.objects.filter(cluster=cluster)
        .annotate(elsewhere=Coalesce(Subquery(counted), 0))
        .order_by("number")
        .first()
    )
    return Past(None, 0) if first is None else Past(first, first.elsewhere)
