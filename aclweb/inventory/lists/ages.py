"""Since when are ACLs there? Known from the second snapshot of a cluster on: what the first one held may be older."""

from __future__ import annotations

from datetime import datetime

from aclweb.inventory.current import ClusterView
from aclweb.inventory.models import StoredAcl, stored_in_force


def keys_added_since(view: ClusterView, since: datetime) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keys of the ACLs that were first read at that time or later; one query.

    First of those that a snapshot before did not hold, then of those of the first snapshot, which may be older.
    """
    rows = StoredAcl.objects.filter(
        stored_in_force(view.revision.pk if view.revision else None),
        cluster=view.cluster,
        added_in__read_at__gte=since,
    )
    numbers = dict(rows.values_list("key", "added_in__number"))
    known = frozenset(key for key, number in numbers.items() if number > 1)
    return known, frozenset(numbers) - known


def keys_of_first_reading(view: ClusterView) -> frozenset[str]:
    """Return the keys of the ACLs that were there when the cluster was first read; one query."""
    rows = StoredAcl.objects.filter(
        stored_in_force(view.revision.pk if view.revision else None), cluster=view.cluster, added_in__number=1
    )
    return frozenset(rows.values_list("key", flat=True))
