"""Have a worker compare another way to read a cluster with what is stored of it, and find what it found last."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from aclweb.audit import trail
from aclweb.changes.moving import tasks
from aclweb.changes.stored_moves import MOVES, Move
from aclweb.clusters import KINDS, AllowedHosts
from aclweb.inventory.admin import register
from aclweb.inventory.current import known_version
from aclweb.inventory.models import Cluster

State = Move.State

# Of one cluster; older ones leave.
MOST_KEPT = 5
# What was compared longer ago says little of the other side.
KEPT_FOR = timedelta(days=7)
_OLD = f"Nobody switched within {KEPT_FOR.days} days; compare again."
_REPLACED = "Another comparison was asked for instead."


def ask(
    *, cluster: Cluster, actor: trail.Named | str, within: AllowedHosts | None = None, **settings: Any
) -> Move:
    """Have a worker read the cluster in this way and compare; what waited or was compared before is given up.

    settings: `kind`, `address`, and as `register.change` has them `options`, `authorizer`, `kafka_version`. within: the
    hosts that the address may name. Raises RegisteringError with all that is wrong, and then nothing is stored.
    """
    wanted = register.as_if_changed(cluster, within, **complete(cluster, settings))
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        MOVES.cancel_all(Q(cluster=cluster), _REPLACED)
        mine = Move.objects.filter(cluster=cluster)
        forget(mine, _REPLACED)
        mine.filter(pk__in=list(mine.values_list("pk", flat=True)[MOST_KEPT - 1 :])).delete()
        row = Move.objects.create(
            cluster=cluster,
            asked_by=actor if isinstance(actor, str) else actor.get_username(),
            asked_at=Now(),
            kind=wanted.kind,
            address=wanted.address,
            options=wanted.options,
            authorizer=wanted.authorizer,
            kafka_version=wanted.kafka_version,
            held_to_hosts=within is not None,
        )
        row.refresh_from_db(fields=["asked_at"])
        # After the commit, or a worker could miss the row. Where the queue is down, the sweep enqueues it later.
        transaction.on_commit(tasks.enqueue, robust=True)
    return row


def complete(cluster: Cluster, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with the authorizer that such clusters have, and no version that it never had."""
    kind = KINDS.get(settings.get("kind", ""))
    if kind is None:
        return settings
    found = {"authorizer": kind.default_authorizer, "kafka_version": cluster.kafka_version} | settings
    if "kafka_version" not in settings and known_version(found["authorizer"], cluster.kafka_version) is None:
        found["kafka_version"] = ""
    return found


def forget(rows: QuerySet[Move], reason: str) -> int:
    """Give up those that are compared and not switched to, with their logins; return how many they are."""
    return rows.filter(state=State.DONE).update(state=State.CANCELLED, sentence=reason, **MOVES.forgotten)


def forget_old() -> None:
    """Give up what nobody has switched to for long: the other side may hold something else by now."""
    forget(Move.objects.filter(finished_at__lt=Now() - KEPT_FOR), _OLD)


def latest(cluster: Cluster) -> Move | None:
    """Return the comparison that was asked for last, whatever its state; None where nobody has asked for one."""
    return Move.objects.filter(cluster=cluster).order_by("-pk").first()
