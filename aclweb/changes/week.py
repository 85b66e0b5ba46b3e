"""Which ACLs changed on a cluster in the last seven days, through aclweb and elsewhere?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Count, F, Q, Sum, When, Window
from django.db.models.functions import RowNumber

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
    """Return the seven days up to a moment; two queries."""
    since = now - timedelta(days=DAYS)
    waits, left_out = Q(state=Change.State.IN_REVIEW), (Change.State.CANCELLED, Change.State.REJECTED)
    ended = Q(finished_at__gte=since) & ~Q(state__in=(Change.State.DRAFT, *left_out))
    is_waiting = Case(When(waits, then=True), default=False)
    # The first of those that ended with their number, and one of those that wait with theirs.
    changes = (
        Change.objects.filter(waits | ended, cluster=cluster)
        .annotate(
            is_waiting=is_waiting,
            number=Window(Count("pk"), partition_by=is_waiting),
            place=Window(
                RowNumber(), partition_by=is_waiting, order_by=[F("finished_at").desc(), F("pk").desc()]
            ),
        )
        .filter(Q(is_waiting=False, place__lte=SHOWN) | Q(is_waiting=True, place=1))
        .select_related("author")
        .order_by("place")
    )
    by_sort = {sort: [change for change in changes if change.is_waiting is sort] for sort in (False, True)}
    waiting, done = by_sort[True], by_sort[False]
    edited = Q(acls_added__gt=0) | Q(acls_removed__gt=0)
    elsewhere = edited & Q(cause=Revision.Cause.READING, number__gt=1)
    is_first = Case(When(number=1, then=True), default=False)
    # The first of these with the sums of all, behind the first revision of the cluster.
    revisions = list(
        Revision.objects.filter(elsewhere | Q(number=1), cluster=cluster, read_at__gte=since)
        .annotate(
            is_first=is_first,
            count=Window(Count("pk"), partition_by=is_first),
            added=Window(Sum("acls_added"), partition_by=is_first),
            removed=Window(Sum("acls_removed"), partition_by=is_first),
        )
        .order_by("-is_first", "-number")[: SHOWN + 1]
    )
    found = [each for each in revisions if not each.is_first]
    return AclWeek(
        since=since,
        done=tuple(done),
        done_count=done[0].number if done else 0,
        elsewhere=tuple(found[:SHOWN]),
        elsewhere_count=found[0].count if found else 0,
        added=found[0].added if found else 0,
        removed=found[0].removed if found else 0,
        waiting=waiting[0].number if waiting else 0,
        first_read=len(found) < len(revisions),
    )
