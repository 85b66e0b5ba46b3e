"""What changed lately on the clusters this person may see, through aclweb or outside it?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.urls import reverse

from aclweb.accounts.models import User
from aclweb.changes.models import Change
from aclweb.changes.queries import changes_of, item_state_words
from aclweb.inventory.models import Cluster, Revision


@dataclass(frozen=True)
class Recent:
    """One row: a change somebody asked for, or a sync that found what nobody here made."""

    at: datetime
    title: str
    key: str
    url: str
    cluster: Cluster
    gains: int | None
    loses: int | None
    by: str
    state: str
    tone: str


def recent(user: User, clusters: Collection[Cluster], count: int = 6) -> list[Recent]:
    """Return the newest changes and the newest revisions with another cause, newest first."""
    changes = changes_of(user).select_related("cluster", "author").order_by("-pk")[:count]
    outside = (
        Revision.objects.filter(cluster__in=clusters, cause=Revision.Cause.READING, number__gt=1)
        .filter(Q(acls_added__gt=0) | Q(acls_removed__gt=0))
        .select_related("cluster")
        .order_by("-read_at")[:count]
    )
    rows = [*map(_of_change, changes), *map(_of_revision, outside)]
    return sorted(rows, key=lambda row: row.at, reverse=True)[:count]


def _of_change(change: Change) -> Recent:
    state, tone = item_state_words(change)
    return Recent(
        at=change.finished_at or change.submitted_at or change.created_at,
        title=change.title,
        key=change.key,
        url=reverse("change", args=[change.pk]),
        cluster=change.cluster,
        gains=change.gains,
        loses=change.loses,
        by=change.author.get_full_name() or change.author.get_username(),
        state=state,
        tone=tone,
    )


def _of_revision(revision: Revision) -> Recent:
    parts = [
        f"{number:,} ACL{'' if number == 1 else 's'} {word}"
        for number, word in ((revision.acls_added, "added"), (revision.acls_removed, "removed"))
        if number
    ]
    return Recent(
        at=revision.read_at,
        title=f"{' and '.join(parts)} outside aclweb",
        key=f"revision {revision.number:,}",
        url=reverse("cluster", args=[revision.cluster.slug]),
        cluster=revision.cluster,
        gains=None,
        loses=None,
        by="unknown",
        state="drift",
        tone="warn",
    )
