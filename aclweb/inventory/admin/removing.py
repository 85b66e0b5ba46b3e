"""Remove a cluster, with a record of who did so: what of it is kept, what is deleted, and what ends at once.

Its row stays, because changes refer to it, and is found by nobody who asks for clusters. Login, roles, tokens and log
sources are gone with the removal itself; a worker deletes the rest (`deleting`). Rooms above this one say by
`register` what they hold of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from aclweb.acl.model import number_of
from aclweb.audit import trail
from aclweb.inventory.admin import deleting, events, kept_files
from aclweb.inventory.models import CHECKS, Cluster

# What somebody is told who acts on a cluster at the moment of its removal.
MEANWHILE = "This cluster was removed from aclweb at the same moment, so nothing was done."


class RemovingError(Exception):
    """A cluster that cannot be removed now, or not as asked; the message is for whoever asked."""


@dataclass(frozen=True)
class Room:
    """What one room of the site does when a cluster is removed.

    kept, deleted: sentences for whoever is about to remove it. end: ends what is under way and waits, within the
    transaction, and returns what the audit trail says of that; raises RemovingError where that cannot be.
    """

    kept: Callable[[Cluster], Iterable[str]]
    deleted: Callable[[Cluster], Iterable[str]]
    end: Callable[[Cluster, trail.Named | str], str]


@dataclass(frozen=True)
class Plan:
    """What a removal keeps for auditors, and what it deletes, as sentences."""

    kept: tuple[str, ...]
    deleted: tuple[str, ...]


_ROOMS: dict[str, Room] = {}


def register(name: str, room: Room) -> None:
    """Have a room asked and told of each removal; registering it again replaces it."""
    _ROOMS[name] = room


def plan(cluster: Cluster) -> Plan:
    """Return what removing this cluster would keep and delete."""
    kept = ["The audit trail: every event of the cluster, and that you removed it."]
    deleted = [*_deleted_at_once(cluster), *_deleted_by_worker(cluster)]
    for room in _ROOMS.values():
        kept += room.kept(cluster)
        deleted += room.deleted(cluster)
    return Plan(tuple(kept), tuple(deleted))


def remove(*, actor: trail.Named | str, cluster: Cluster, confirmed: str) -> Cluster:
    """Remove the cluster and return its row as it is then.

    confirmed: its name, as whoever removes it has typed it. Raises RemovingError where that is another, where the
    cluster is removed already, or while a change is being written to it.
    """
    if confirmed.strip() != cluster.name:
        raise RemovingError(f"This is not the name of the cluster; type {cluster.name} to remove it.")
    with transaction.atomic():
        row = Cluster.objects.select_for_update().filter(pk=cluster.pk).first()
        if row is None:
            raise RemovingError(f"{cluster.name} is removed already.")
        said = [room.end(row, actor) for room in _ROOMS.values()]
        CHECKS.cancel_all(Q(cluster=row), ended(row))
        _forget_at_once(row)
        _mark(row, actor)
        event = trail.record(
            actor=actor,
            verb="cluster.removed",
            target=events.target_of(row),
            cluster=row.name,
            withdrawn="".join(f" {each}" for each in said if each),
        )
        Cluster.including_removed.filter(pk=row.pk).update(events_to=event.sequence)
        row.events_to = event.sequence
        # After the commit, or a worker could miss it. Where the queue is down, the beat enqueues it later.
        transaction.on_commit(partial(deleting.delete_removed.delay), robust=True)
    return row


def all_removed() -> QuerySet[Cluster]:
    """Return the clusters that were removed, the last one first."""
    return Cluster.including_removed.filter(removed_at__isnull=False).order_by("-removed_at", "-pk")


def ended(cluster: Cluster) -> str:
    """Return why something of a removed cluster has ended, as a sentence."""
    return f"{cluster.name} was removed from aclweb."


def _mark(row: Cluster, actor: trail.Named | str) -> None:
    """Store that it is removed, and nothing by which it could be connected to or answered for."""
    row.removed_at = timezone.now()
    row.removed_by = actor if isinstance(actor, str) else actor.get_username()
    row.removed_slug, row.slug = row.slug, row.slug_once_removed
    row.options, row.settings_read, row.held, row.problems = {}, None, None, []
    row.state, row.state_sentence, row.revision, row.changes_enabled = "", "", None, False
    row.save(
        update_fields=[
            "removed_at",
            "removed_by",
            "removed_slug",
            "slug",
            "options",
            "settings_read",
            "held",
            "problems",
            "state",
            "state_sentence",
            "revision",
            "changes_enabled",
        ]
    )


def _forget_at_once(row: Cluster) -> None:
    """Delete by what somebody, or a worker, could still reach it; these rows are few."""
    row.grants.all().delete()
    row.api_tokens.all().delete()
    row.log_sources.all().delete()
    row.topics_with_logs.all().delete()


def _deleted_at_once(cluster: Cluster) -> Iterator[str]:
    yield "Its login, at once. Nothing connects to the cluster any more; the cluster itself is not changed."
    if roles := cluster.grants.count():
        yield f"{number_of(roles, 'role')} on it, at once."
    if tokens := cluster.api_tokens.count():
        yield f"{number_of(tokens, 'API token')} limited to it, at once."
    if sources := cluster.log_sources.count():
        yield f"{number_of(sources, 'log source')}, at once. The logs themselves stay."
    others = cluster.topics_with_logs.exclude(cluster=cluster).order_by("cluster__name")
    if names := ", ".join(others.values_list("cluster__name", flat=True).distinct()):
        yield f"The log sources of {names} that are topics of this cluster, at once."


def _deleted_by_worker(cluster: Cluster) -> Iterator[str]:
    if cluster.revision is not None:
        acls, revisions = number_of(cluster.revision.acls, "ACL"), cluster.revisions.count()
        yield f"Its ACLs ({acls} in force) and their history in {number_of(revisions, 'revision')}."
    yield (
        "Findings, declarations, owners and labels, names of principals, policy gates, drafts that nobody has "
        "requested, saved views, and which questions people asked last."
    )
    if cluster.source.is_one_file:
        yield "The file that was uploaded."


def _delete_file(cluster: Cluster) -> Iterator[int]:
    if cluster.source.is_one_file:
        kept_files.forget(cluster.address)
    yield from ()


deleting.register("files", deleting.Deletion(_delete_file))
