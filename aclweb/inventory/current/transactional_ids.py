"""Which transactional ids did the brokers list when they were last asked?

Brokers remember an id for some days after its last transaction, so an id that is not listed may still be in use: no ACL
is orphaned for that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from aclweb.clusters import DetailKind, Known
from aclweb.inventory.models import Cluster, DetailsRead, StoredDetail

_KIND = DetailKind.TRANSACTIONAL_IDS
Remember = Callable[[Hashable, Callable[[], tuple[str, ...]]], tuple[str, ...]]


@dataclass(frozen=True)
class ListedIds:
    """Transactional ids, sorted. read: tells this list from others of the cluster; None where brokers listed none."""

    names: tuple[str, ...] = ()
    read: Hashable = None


def listed_ids(cluster: Cluster, remember: Remember) -> ListedIds:
    """Return the ids that brokers listed: one query, and another where the list is not remembered.

    remember: returns the kept answer to a question, or works it out and keeps it.
    """
    rows = DetailsRead.objects.filter(cluster=cluster, kind=_KIND).exclude(known=Known.UNKNOWN)
    read = rows.values_list("digest", "reading").first()
    if read is None:
        return ListedIds()
    # Without a digest a sync is storing the list, so what is read of it now is of this moment alone.
    if not read[0]:
        return ListedIds(_stored(cluster), object())
    return ListedIds(remember((_KIND, read), lambda: _stored(cluster)), read)


def _stored(cluster: Cluster) -> tuple[str, ...]:
    there = StoredDetail.objects.filter(cluster=cluster, kind=_KIND, gone_at__isnull=True).order_by()
    return tuple(sorted(there.values_list("name", flat=True)))
