"""What becomes of the changes of a cluster that is removed: what waits is withdrawn, and all of it stays readable."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from aclweb.acl.model import number_of
from aclweb.audit import trail
from aclweb.changes import rollout
from aclweb.changes.models import COMPUTATIONS, UNDER_WAY, Change, ChangeItem, Move
from aclweb.inventory.admin import removing
from aclweb.inventory.models import Cluster

trail.register("change.ended", "{actor} removed the cluster {cluster}. {ended}")

State = Change.State

# What somebody, or a worker, could still go on with.
_WAITING = (
    State.DRAFT,
    State.IN_REVIEW,
    State.APPROVED,
    State.QUEUED,
    State.BLOCKED_STALE,
    *UNDER_WAY,
)


def why_not_now(cluster: Cluster) -> str:
    """Return which change keeps the cluster from being removed at this moment; empty where none does."""
    writing = rollout.being_written(cluster)
    if writing is None:
        return ""
    return f"{writing.key} is being written to {cluster.name} now; remove the cluster when that has ended."


def _kept(cluster: Cluster) -> Iterator[str]:
    number = Change.objects.filter(cluster=cluster).count()
    if number:
        yield (
            f"{number_of(number, 'change request')} with {'its' if number == 1 else 'their'} ACLs, approvals and "
            "comments, as text. Only administrators and auditors of the site see them from then on."
        )
    else:
        yield "Nobody has requested a change to it, so there is no change request to keep."


def _deleted(cluster: Cluster) -> Iterator[str]:
    waiting = _waiting(cluster)
    if number := waiting.count():
        keys = ", ".join(change.key for change in waiting.order_by("pk")[:10])
        more = f" and {number - 10:,} more" if number > 10 else ""
        wait, are = ("waits", "is") if number == 1 else ("wait", "are")
        yield f"{number_of(number, 'change request')} that {wait} {are} withdrawn: {keys}{more}."


def _end(cluster: Cluster, actor: trail.Named | str) -> str:
    changes = list(_waiting(cluster).select_for_update(of=("self",)).order_by("pk"))
    # Locked, so none of these can begin to be written; one that began before is seen here.
    if why_not := why_not_now(cluster):
        raise removing.RemovingError(why_not)
    for change in changes:
        _withdraw(change, cluster, actor)
    of_cluster = Q(cluster=cluster) | Q(other_cluster=cluster)
    COMPUTATIONS.cancel_all(of_cluster, removing.ended(cluster))
    # With the login that they were to log in by.
    Move.objects.filter(cluster=cluster).delete()
    return f"Withdrawn: {number_of(len(changes), 'change request')}." if changes else ""


def _withdraw(change: Change, cluster: Cluster, actor: trail.Named | str) -> None:
    """End one change: withdrawn where nothing was written, else as partly written."""
    to, ended = State.CANCELLED, "So this was withdrawn: nothing of it was written."
    if change.has_effects:
        to = State.PARTIAL
        ended = "What a worker had written of this is still on the cluster, and was not read back."
    moved = change.move(
        to=to,
        epoch=F("epoch") + 1,
        sentence=f"{cluster.name} was removed from aclweb. {ended}",
        finished_at=Now(),
        lease_owner="",
        lease_until=None,
    )
    if not moved:
        raise removing.RemovingError(f"Somebody else moved {change.key} at the same moment; try again.")
    change.items.filter(state=ChangeItem.State.PENDING).update(state=ChangeItem.State.SKIPPED)
    trail.record(actor=actor, verb="change.ended", target=change.key, cluster=cluster.name, ended=ended)


def _waiting(cluster: Cluster) -> QuerySet[Change]:
    return Change.objects.filter(cluster=cluster, state__in=_WAITING)


removing.register("changes", removing.Room(kept=_kept, deleted=_deleted, end=_end))
