"""Which events of the audit trail are about a cluster, and not about a removed one that had its name before?"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Max, Q, QuerySet

from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.inventory.models import Cluster

trail.register(
    "cluster.removed",
    "{actor} removed {cluster} from aclweb, and with it its login, roles and log sources.{withdrawn}",
)
trail.register("cluster.deleted", "A worker deleted what was stored of the removed {cluster}: {rows} rows.")

_ENDS = ("cluster.removed", "cluster.deleted")


def target_of(cluster: Cluster) -> str:
    """Return what events call the cluster; a removed one as it was called."""
    return f"cluster:{cluster.removed_slug or cluster.slug}"


def end_of_removed(slug: str) -> int:
    """Return the number of the last event of the removed cluster that had this slug; 0 where there was none."""
    last = Event.objects.filter(verb__in=_ENDS, target=f"cluster:{slug}").aggregate(last=Max("sequence"))
    return last["last"] or 0


def events_of(cluster: Cluster) -> QuerySet[Event]:
    """Return what happened to the cluster, oldest first."""
    found = trail.trail(target_of(cluster)).filter(sequence__gt=cluster.events_after)
    return found if cluster.events_to is None else found.filter(sequence__lte=cluster.events_to)


def about(clusters: Iterable[Cluster]) -> Q:
    """Return the condition on events that are about one of these clusters, of which none is removed."""
    first, again = [], Q()
    for cluster in clusters:
        if cluster.events_after:
            again |= Q(target=target_of(cluster), sequence__gt=cluster.events_after)
        else:
            first.append(target_of(cluster))
    return Q(target__in=first) | again
