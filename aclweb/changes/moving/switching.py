"""Read a cluster in the way that was compared from now on, with a record of who decided so."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from aclweb.audit import trail
from aclweb.changes import rollout
from aclweb.changes.moving.asking import forget
from aclweb.changes.moving.comparing import Found
from aclweb.changes.moving.running import candidate_of
from aclweb.changes.moving.sentences import sentence_of
from aclweb.changes.stored_moves import MOVES, Move
from aclweb.clusters import AllowedHosts
from aclweb.inventory.admin import register
from aclweb.inventory.models import Cluster, Revision

trail.register(
    "cluster.moved",
    "{actor} moved {cluster}: it is read from {source} at {address} now, and was read from {before}. {compared}",
)

State = Move.State


NOTHING_COMPARED = "Nothing has been compared that could be switched to; compare first."


class MovingError(Exception):
    """A move that cannot be made now, or not as asked; the message is for whoever asked."""


class NotAcceptedError(MovingError):
    """One that could be made, if its differences were accepted."""


def why_not(cluster: Cluster, found: Found, revision: Revision | None) -> str:
    """Return why this cannot be switched to now, as a sentence; empty where it can, if differences are accepted.

    cluster: its row of now. revision: the one that was compared.
    """
    if found.is_same is False:
        return sentence_of(cluster, found)
    if _digest(revision) != _digest(cluster.revision):
        return f"What is stored of {cluster.name} has changed since this was compared; compare again."
    if change := rollout.being_written(cluster):
        return f"{change.key} is being written to {cluster.name} now; move the cluster when that has ended."
    return ""


def _digest(revision: Revision | None) -> str:
    return revision.digest if revision is not None else ""


def must_be_accepted(found: Found) -> str:
    """Return what somebody must accept before the switch, as a sentence; empty where both sides are the same."""
    lacking = []
    if found.is_same is None:
        lacking.append("That it is the same Kafka cluster is not proven.")
    if found.unreadable or not found.is_compared:
        lacking.append("The access of both sides is not compared as a whole.")
    if found.differences or found.left_out:
        lacking.append("Access differs between both sides.")
    return " ".join(lacking)


def switch(*, move: Move, actor: trail.Named | str, accepted: bool = False) -> Cluster:
    """Read the cluster in the way that a worker compared, from now on, and return it. As `switch_to`."""
    with transaction.atomic():
        # The cluster first, as whoever asks for another comparison locks them.
        Cluster.objects.select_for_update().get(pk=move.cluster_id)
        row = Move.objects.select_for_update(of=("self",)).defer(None).defer("packed_impact").get(pk=move.pk)
        if row.state != State.DONE or row.found is None:
            raise MovingError(NOTHING_COMPARED)
        cluster = switch_to(
            candidate=candidate_of(row),
            found=Found(**row.found),
            revision=row.revision,
            actor=actor,
            accepted=accepted,
        )
        Move.objects.filter(pk=row.pk).update(state=State.MOVED, sentence=row.sentence)
    return cluster


def switch_to(
    *,
    candidate: Cluster,
    found: Found,
    revision: Revision | None,
    actor: trail.Named | str,
    accepted: bool = False,
) -> Cluster:
    """Have the cluster read as its row `candidate` says from now on, and return it.

    found, revision: what was compared, and with which. accepted: whether the actor accepts what `must_be_accepted`
    says. Raises MovingError where it cannot be, and RegisteringError where a host is not allowed any more.
    """
    with transaction.atomic():
        cluster = (
            Cluster.objects.select_for_update(of=("self",)).select_related("revision").get(pk=candidate.pk)
        )
        rollout.keep_from_beginning(cluster)
        if refused := why_not(cluster, found, revision):
            raise MovingError(refused)
        if (lacking := must_be_accepted(found)) and not accepted:
            raise NotAcceptedError(f"{lacking} Look at what differs, and say that you accept it.")
        before = f"{cluster.source.called} at {cluster.address}"
        register.change(
            actor=actor,
            cluster=cluster,
            within=AllowedHosts.read(settings.ACLWEB_CLUSTER_HOSTS) if candidate.held_to_hosts else None,
            kind=candidate.kind,
            address=candidate.address,
            options=dict(candidate.options),
            authorizer=candidate.authorizer,
            kafka_version=candidate.kafka_version,
        )
        trail.record(
            actor=actor,
            verb="cluster.moved",
            target=f"cluster:{cluster.slug}",
            cluster=cluster.name,
            source=candidate.source.called,
            address=candidate.address,
            before=before,
            compared=sentence_of(cluster, found),
        )
        # What was compared with another way to read it than it is read from now on.
        give_up(cluster=cluster, reason=f"{cluster.name} was moved.")
    return Cluster.objects.select_related("revision").get(pk=cluster.pk)


def give_up(*, cluster: Cluster, reason: str = "Somebody gave it up.") -> bool:
    """Give up what waits, is under way or was compared, and forget its login; return False where there is nothing."""
    with transaction.atomic():
        ended = MOVES.cancel_all(Q(cluster=cluster), reason)
        ended += forget(Move.objects.filter(cluster=cluster), reason)
    return bool(ended)
