"""How do the ACLs of a revision come into memory: from the columns of the newest one, or from rows?"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from django.db.models import Q

from aclweb.acl.authorizer import AclColumns, columns_from_bytes
from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.inventory.fields import as_stored, unescape
from aclweb.inventory.models import Cluster, Revision, StoredAcl, StoredColumns, stored_in_force
from aclweb.runtime import loading

logger = logging.getLogger(__name__)

# Fewer are read from rows as fast as anybody notices.
_MANY = 50_000
BINDING_COLUMNS = (
    "resource_type",
    "resource_name",
    "pattern_type",
    "principal",
    "host",
    "operation",
    "permission_type",
)


def has_columns(revision: Revision) -> bool:
    """Whether it has so many ACLs that columns are stored of them while it is the newest revision."""
    return revision.acls >= _MANY


def had_columns(cluster: Cluster) -> bool:
    """Whether a revision of the cluster, the newest or another, has so many ACLs."""
    return Revision.objects.filter(cluster=cluster, acls__gte=_MANY).exists()


def load_acls(cluster: Cluster, revision: Revision) -> AclColumns:
    """Return the ACLs of a revision; in two queries at most."""
    kept = _kept(cluster, revision) if has_columns(revision) else None
    columns = kept if kept is not None else acls_of_rows(cluster, revision)
    # Whoever asks for all of them leaves as many objects, which stay as long as the revision does.
    columns.making_all = loading.making_what_lasts
    return columns


def acls_of_rows(cluster: Cluster, revision: Revision) -> AclColumns:
    """Return the ACLs of a revision as its rows have them."""
    then = Q(cluster=cluster) & stored_in_force(revision)
    rows = StoredAcl.objects.filter(then).order_by("pk").values_list(*map(as_stored, BINDING_COLUMNS))
    # A key is in force once, and it is that of the whole ACL.
    return AclColumns.of_rows(rows.iterator(chunk_size=5000), unescape)


def _kept(cluster: Cluster, revision: Revision) -> AclColumns | None:
    """Return the columns that are stored of this revision; None where there are none that can be read."""
    own = StoredColumns.objects.filter(cluster=cluster, digest=revision.digest).order_by("part")
    parts = list(own.values_list("part", "content"))
    if not parts or parts[0][0] != 0:
        return None
    try:
        columns = columns_from_bytes(b"".join(content for _, content in parts))
        if len(columns) != revision.acls:
            raise ValueError(f"They have {len(columns)} ACLs, and the revision {revision.acls}.")
    except ValueError as error:
        logger.warning("The columns of cluster %s are not read, but its rows: %s", cluster.slug, error)
        return None
    return columns


def bindings_of(rows: Iterable[tuple[str, ...]]) -> Iterator[AclBinding]:
    """Yield a binding for each row of BINDING_COLUMNS; equal texts share one string."""
    texts: dict[str, str] = {}
    # An enum's own look-up by name is Python code, and there are four for each row.
    types, patterns = dict(ResourceType.__members__), dict(PatternType.__members__)
    operations, permissions = dict(Operation.__members__), dict(PermissionType.__members__)
    for kind, name, pattern, principal, host, operation, permission in rows:
        yield AclBinding(
            types[kind],
            texts.setdefault(name, name),
            patterns[pattern],
            texts.setdefault(principal, principal),
            texts.setdefault(host, host),
            operations[operation],
            permissions[permission],
        )
