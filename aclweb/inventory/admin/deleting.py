"""Delete what was stored of a removed cluster, in short transactions that let others write.

Each worker deletes for some seconds and is followed by the next; one that is killed is followed when its lease ends.
What refers to a cluster is found in the models, of whatever room: a table that is added is deleted from, too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.db import models, transaction
from django.db.models import F
from django.db.models.fields.reverse_related import ForeignObjectRel
from django.db.models.functions import Now

from aclweb.audit import trail
from aclweb.celery import app
from aclweb.inventory import leases
from aclweb.inventory.admin import events
from aclweb.inventory.models import Cluster
from aclweb.inventory.store import in_turn

logger = logging.getLogger(__name__)

ROWS_AT_ONCE = 2_000
# Of one task: findings and logs wait in the same queue.
SECONDS_AT_ONCE = 20.0


@dataclass(frozen=True)
class Deletion:
    """What a room deletes itself, before rows are: files, and rows that have a faster way.

    delete: yields how many rows each of its transactions has deleted. is_at_work: whether some process still uses it.
    """

    delete: Callable[[Cluster], Iterator[int]]
    is_at_work: Callable[[Cluster], bool] = lambda _: False


_DELETIONS: dict[str, Deletion] = {}


def register(name: str, deletion: Deletion) -> None:
    """Have something deleted with each removed cluster; registering it again replaces it."""
    _DELETIONS[name] = deletion


@app.task(name="inventory.delete_removed", ignore_result=True, acks_late=True)
def delete_removed() -> None:
    """Delete for a while of what removed clusters have left, then enqueue the next; does nothing where none has."""
    if any(delete_some(pk) for pk in list(_left().values_list("pk", flat=True))) and _left().exists():
        delete_removed.apply_async(expires=settings.ACLWEB_SWEEP_SECONDS)


def delete_some(cluster_id: int) -> bool:
    """Delete for a while of one removed cluster; return False where another process has it, or uses it still."""
    mine, owner = _left().filter(pk=cluster_id), leases.owner("deleting")
    with leases.held(mine, owner=owner, seconds=settings.ACLWEB_LEASE_SECONDS) as is_mine:
        cluster = mine.first()
        if not is_mine or cluster is None or any(each.is_at_work(cluster) for each in _DELETIONS.values()):
            return False
        held, until = mine.filter(lease_owner=owner), time.monotonic() + SECONDS_AT_ONCE
        for number in _rows_deleted(cluster):
            if not held.update(rows_deleted=F("rows_deleted") + number):
                return False
            if time.monotonic() >= until:
                return True
        _end(cluster, held)
    return True


def _left() -> models.QuerySet[Cluster]:
    """Return the removed clusters of which something may be left."""
    return Cluster.including_removed.filter(removed_at__isnull=False, deleted_at__isnull=True).order_by("pk")


def _rows_deleted(cluster: Cluster) -> Iterator[int]:
    """Delete everything that goes with the cluster; yields after each transaction how many rows it deleted."""
    for deletion in _DELETIONS.values():
        yield from deletion.delete(cluster)
    for model, paths in _what_goes():
        for path in paths:
            rows = model._base_manager.filter(**{path: cluster.pk}).order_by()
            while keys := list(rows.values_list("pk", flat=True)[:ROWS_AT_ONCE]):
                with in_turn():
                    deleted = model._base_manager.filter(pk__in=keys).delete()[0]
                yield deleted


def _end(cluster: Cluster, held: models.QuerySet[Cluster]) -> None:
    """Store that nothing is left, from when on another cluster may have its name."""
    with transaction.atomic():
        if not held.update(deleted_at=Now()):
            return
        cluster.refresh_from_db(fields=["rows_deleted"])
        event = trail.record(
            actor="aclweb",
            verb="cluster.deleted",
            target=events.target_of(cluster),
            cluster=cluster.name,
            rows=f"{cluster.rows_deleted:,}",
        )
        Cluster.including_removed.filter(pk=cluster.pk).update(events_to=event.sequence)
    logger.info(
        "Deleted what was stored of the removed cluster %s: %d rows.", cluster.name, cluster.rows_deleted
    )


@cache
def _what_goes() -> tuple[tuple[type[models.Model], tuple[str, ...]], ...]:
    """Return the models whose rows go with a cluster, with the lookups that find them; who refers to others first."""
    paths: dict[type[models.Model], list[str]] = {}
    order: list[type[models.Model]] = []

    def follow(model: type[models.Model]) -> None:
        for child, _ in _cascading(model):
            if child not in order and child is not model:
                follow(child)
        order.append(model)

    follow(Cluster)
    for model in reversed(order):
        for child, field in _cascading(model):
            above = [""] if model is Cluster else [f"__{path}" for path in paths[model]]
            paths.setdefault(child, []).extend(f"{field}{path}" for path in above)
    return tuple((model, tuple(sorted(paths[model], key=len))) for model in order if model is not Cluster)


def _cascading(model: type[models.Model]) -> Iterator[tuple[type[models.Model], str]]:
    """Yield each model whose rows go with those of this one, and the name of the field by which."""
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel) and relation.on_delete is models.CASCADE:
            yield relation.related_model, relation.field.name
