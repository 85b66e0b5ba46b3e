"""Which revisions has a cluster had?"""

from __future__ import annotations

from django.db.models import Q, QuerySet

from aclweb.inventory.models import Cluster, Revision


def history(cluster: Cluster, *, acls_only: bool = False) -> QuerySet[Revision]:
    """Return the cluster's revisions, newest first; with `acls_only` those that changed ACLs."""
    revisions = Revision.objects.filter(cluster=cluster).order_by("-number")
    if acls_only:
        revisions = revisions.filter(Q(acls_added__gt=0) | Q(acls_removed__gt=0))
    return revisions
