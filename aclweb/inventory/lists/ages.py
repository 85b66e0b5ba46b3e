"""Since when are ACLs there? Known from the second snapshot of a cluster on: what the first one held may be older."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from aclweb.inventory.current import ClusterView
from aclweb.inventory.models import Revision, StoredAcl, stored_in_force


def keys_added_since(view: ClusterView, since: datetime) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keys of the ACLs that were first read at that time or later; one query, or two for a new answer.

    First of those that a snapshot before did not hold, then of those of the first snapshot, which may be older.
    """
    if view.revision is None:
        return frozenset(), frozenset()
    # Those of a later time are some of these, so that as many are the same ones, whatever the hour.
    readings = Revision.objects.filter(cluster=view.cluster, pk__lte=view.revision.pk, read_at__gte=since)
    return view.loaded.remember(("added in the last", readings.count()), lambda: _added_since(view, since))


def _added_since(view: ClusterView, since: datetime) -> tuple[frozenset[str], frozenset[str]]:
    rows = _in_force(view).filter(added_in__read_at__gte=since)
    numbers = dict(rows.values_list("key", "added_in__number"))
    known = frozenset(key for key, number in numbers.items() if number > 1)
    return known, frozenset(numbers) - known


def keys_of_first_reading(view: ClusterView) -> frozenset[str]:
    """Return the keys of the ACLs that were there when the cluster was first read; one query for a new answer."""
    rows = _in_force(view).filter(added_in__number=1)
    return view.loaded.remember(
        "of the first snapshot", lambda: frozenset(rows.values_list("key", flat=True))
    )


def _in_force(view: ClusterView) -> QuerySet[StoredAcl]:
    revision = view.revision.pk if view.revision else None
    return StoredAcl.objects.filter(stored_in_force(revision), cluster=view.cluster)
