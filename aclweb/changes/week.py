"""Which ACLs changed on a cluster in the last seven days, through aclweb and elsewhere?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from aclweb.changes.models import Change
from aclweb.inventory.models import Cluster, Revision

DAYS = 7
SHOWN = 8


@dataclass(frozen=True)
class AclWeek:
    """What happened to the ACLs since a moment, by the clock of this site.

    done: changes that ended in that time, newest first, whatever became of them; elsewhere: revisions with ACLs that
    nobody here added or removed. Of each the first SHOWN, and how many there are. waiting: changes in review now.
    added, removed: ACLs of all these revisions. first_read: whether the cluster was first read in that time, so that
    nothing is known of the days before.
    """

    since: datetime
    done: tuple[Change, ...]
    done_count: int
    elsewhere: tuple[Revision, ...]
    elsewhere_count: int
    added: int
    removed: int
    waiting: int
    first_read: bool


def acl_week(cluster: Cluster, now: datetime) -> AclWeek:
    """Return the seven days up to a moment; five queries."""
    since = now - timedelta(days=DAYS)
    ended = Change.objects.filter(cluster=cluster, finished_at__gte=since).exclude(
        state__in=(Change.State.DRAFT, Change.State.CANCELLED, Change.State.REJECTED)
    )
    revisions = Revision.objects.filter(cluster=cluster, read_at__gte=since)
    found = revisions.filter(cause=Revision.Cause.READING, number__gt=1).filter(
        Q(acls_added__gt=0) | Q(acls_removed__gt=0)
    )
    figures = list(found.values_list("acls_added", "acls_removed"))
    return AclWeek(
        since=since,
        done=tuple(ended.select_related("author").order_by("-finished_at", "-pk")[:SHOWN]),
        done_count=ended.count(),
        elsewhere=tuple(found.order_by("-number")[:SHOWN]),
        elsewhere_count=len(figures),
        added=sum(added for added, _ in figures),
        removed=sum(removed for _, removed in figures),
        waiting=Change.objects.filter(cluster=cluster, state=Change.State.IN_REVIEW).count(),
        first_read=revisions.filter(number=1).exists(),
    )
