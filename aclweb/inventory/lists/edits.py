"""What came and went on a cluster, and when?"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q, QuerySet

from aclweb.acl.matching import covers_name
from aclweb.acl.model import AclBinding, Delta, Resource
from aclweb.inventory.current import BINDING_COLUMNS, bindings_of, settings_of
from aclweb.inventory.models import Cluster, Revision, StoredAcl


@dataclass(frozen=True)
class Edit:
    """One binding that came or went with a revision."""

    revision: Revision
    op: str  # "add" or "remove"
    binding: AclBinding


def history(cluster: Cluster, *, acls_only: bool = False) -> QuerySet[Revision]:
    """Return the cluster's revisions, newest first; with `acls_only` those that changed ACLs."""
    revisions = Revision.objects.filter(cluster=cluster).order_by("-number")
    if acls_only:
        revisions = revisions.filter(Q(acls_added__gt=0) | Q(acls_removed__gt=0))
    return revisions


def revision_delta(revision: Revision) -> Delta:
    """Return the bindings that came and went with this revision."""
    added = StoredAcl.objects.filter(added_in=revision).order_by("pk").values_list(*BINDING_COLUMNS)
    removed = StoredAcl.objects.filter(removed_in=revision).order_by("pk").values_list(*BINDING_COLUMNS)
    return Delta(add=tuple(bindings_of(added)), remove=tuple(bindings_of(removed)))


def edits_of(cluster: Cluster, resource: Resource, *, most: int = 200) -> tuple[Edit, ...]:
    """Return the edits to bindings that cover this resource since the first sync, newest first."""
    settings = settings_of(cluster)
    rows = (
        StoredAcl.objects.filter(
            cluster=cluster, resource_type=resource.resource_type.name, added_in__published=True
        )
        .filter(Q(added_in__number__gt=1) | Q(removed_in__isnull=False))
        .select_related("added_in", "removed_in")
        .order_by("-pk")
    )
    edits: list[Edit] = []
    for row in rows.iterator(chunk_size=2000):
        (binding,) = bindings_of([tuple(getattr(row, column) for column in BINDING_COLUMNS)])
        if not covers_name(binding, resource.name, settings):
            continue
        if row.added_in.number > 1:
            edits.append(Edit(row.added_in, "add", binding))
        if row.removed_in is not None and row.removed_in.published:
            edits.append(Edit(row.removed_in, "remove", binding))
    edits.sort(key=lambda edit: -edit.revision.number)
    return tuple(edits[:most])
