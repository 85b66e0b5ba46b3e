"""Store the ACLs in force on a large cluster as columns, so that every process that answers pages has them at once."""

from __future__ import annotations

import logging
import time

from django.db import DatabaseError, models

from aclweb.acl.authorizer import columns_to_bytes
from aclweb.inventory.current import had_columns, has_columns, load_acls, rows_between
from aclweb.inventory.models import Cluster, Revision, StoredColumns
from aclweb.inventory.store.staging import in_turn

logger = logging.getLogger(__name__)

# Bytes that one transaction stores: some hundredths of a second of SQLite's lock.
_BYTES_AT_ONCE = 1 << 19
# Rows by which the stored columns may differ from the newest revision: whoever loads them reads those with them.
_FEW = 1_000


def keep_columns(cluster: Cluster) -> bool:
    """Store the columns of the cluster's newest revision in short transactions; return whether any were to be stored.

    None are where those of a revision are stored from which it differs in few rows. They are a convenience: where they
    cannot be stored, rows are read. Those of a cluster that has too few ACLs for them now are deleted.
    """
    revision = cluster.revision
    if revision is None:
        return False
    try:
        if not has_columns(revision):
            if had_columns(cluster):
                _delete(_own(cluster))
            return False
        if _is_near(cluster, revision):
            return False
        _store(cluster, revision)
    except DatabaseError:
        logger.exception(
            "The columns of cluster %s were not stored, or earlier ones not deleted; pages read its rows.",
            cluster.slug,
        )
    return has_columns(revision)


def _is_near(cluster: Cluster, revision: Revision) -> bool:
    """Whether the columns of this revision, or of one that it hardly differs from, are stored and those of no other."""
    stored = list(Revision.objects.filter(pk__in=_own(cluster).values("revision")))
    if len(stored) != 1 or not _are_whole(_own(cluster)):
        return False
    rows = rows_between(cluster, stored[0], revision)
    return rows is not None and rows <= _FEW


def _own(cluster: Cluster) -> models.QuerySet[StoredColumns]:
    return StoredColumns.objects.filter(cluster=cluster)


def _are_whole(parts: models.QuerySet[StoredColumns]) -> bool:
    """Whether no part is missing before another; the last is stored first."""
    found = parts.aggregate(count=models.Count("pk"), last=models.Max("part"))
    return found["last"] is not None and found["count"] == found["last"] + 1


def _store(cluster: Cluster, revision: Revision) -> None:
    begun = time.monotonic()
    content = columns_to_bytes(load_acls(cluster, revision))
    own = _own(cluster)
    _delete(own.filter(revision=revision))  # of whoever did not come to the end
    last_to_first = range((len(content) - 1) // _BYTES_AT_ONCE, -1, -1)
    for part in last_to_first:
        some = content[part * _BYTES_AT_ONCE : (part + 1) * _BYTES_AT_ONCE]
        with in_turn():
            StoredColumns.objects.create(cluster=cluster, revision=revision, part=part, content=some)
    _delete(own.exclude(revision=revision))
    logger.info(
        "Stored the columns of %d ACLs of cluster %s, %d bytes, in %.1f s.",
        revision.acls,
        cluster.slug,
        len(content),
        time.monotonic() - begun,
    )


def _delete(parts: models.QuerySet[StoredColumns]) -> None:
    # Part 0 first: without it the others are none.
    for pk in list(parts.order_by("part").values_list("pk", flat=True)):
        with in_turn():
            StoredColumns.objects.filter(pk=pk).delete()
