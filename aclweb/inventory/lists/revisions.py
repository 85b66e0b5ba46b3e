"""Which revisions has a cluster had?"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

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
    """Return how far back the cluster is known, in two queries."""
    first = Revision.objects.filter(cluster=cluster).order_by("number").first()
    if first is None:
        return Past(None, 0)
    elsewhere = history(cluster, acls_only=True).filter(cause=Revision.Cause.READING, number__gt=first.number)
    return Past(first, elsewhere.order_by().aggregate(n=Count("pk"))["n"])
