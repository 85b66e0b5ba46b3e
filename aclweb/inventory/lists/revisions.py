"""Which revisions has a cluster had?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from aclweb.inventory.models import Cluster, Revision


def history(cluster: Cluster, *, acls_only: bool = False) -> QuerySet[Revision]:
    """Return the cluster's revisions, newest first; with `acls_only` those that changed ACLs."""
    revisions = Revision.objects.filter(cluster=cluster).order_by("-number")
    if acls_only:
        revisions = revisions.filter(Q(acls_added__gt=0) | Q(acls_removed__gt=0))
    return revisions


def past_columns() -> Mapping[str, Any]:
    """Return how far back a cluster is known, as columns for a query of clusters.

    kept: how many revisions it has. first_at: when the first was read; None without any. elsewhere: how many later
    ones changed ACLs that aclweb did not change.
    """
    kept = Revision.objects.filter(cluster=OuterRef("pk"))
    first = kept.order_by("number")
    later = Revision.objects.filter(
        Q(acls_added__gt=0) | Q(acls_removed__gt=0),
        cluster=OuterRef("cluster"),
        cause=Revision.Cause.READING,
        number__gt=OuterRef("number"),
    )
    return {
        "kept": counted(kept),
        "first_at": Subquery(first.values("read_at")[:1]),
        "elsewhere": Coalesce(Subquery(first.annotate(n=counted(later)).values("n")[:1]), 0),
    }


def counted(rows: QuerySet[Any]) -> Coalesce:
    """Return how many of these rows there are of a cluster, as a column of it."""
    return Coalesce(Subquery(rows.order_by().values("cluster").annotate(n=Count("pk")).values("n")), 0)
