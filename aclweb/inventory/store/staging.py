"""Store the rows of a revision in short transactions; nobody sees an incomplete revision.

A small revision is stored in one transaction. A large one is staged: its rows go in batch by
batch, each in a short transaction of its own, under a revision that is not published. What
is in force hangs on published revisions alone (`models.stored_in_force`), so staged rows
change no answer. Whoever stages publishes the revision in a last short transaction, or is
lost on the way; the next sync of the cluster then takes the staged rows back (`clear`).

SQLite lets one connection write at a time, and whoever waits looks again ten times a second.
So between two batches the lock is left free for longer than a batch takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from django.db import IntegrityError, connection, models, transaction
from django.db.models import Max

from aclweb.acl.model import AclBinding
from aclweb.clusters import TopicInfo
from aclweb.inventory.current import BINDING_COLUMNS
from aclweb.inventory.models import Cluster, Revision, StoredAcl, StoredName
from aclweb.inventory.store.bulk_insert import insert_prepared, prepared

# Rows that one transaction stores: some hundredths of a second of SQLite's lock.
ROWS_AT_ONCE = 2_000
_KEYS_AT_ONCE = 500  # in one SQL statement
_FREE_FOR_EACH_LOCKED = 2.0
_LEAST_FREE_SECONDS = 0.03

_ACL_FIELDS = ("cluster", "added_in", "key", *BINDING_COLUMNS)
_NAME_FIELDS = ("cluster", "added_in", "resource_type", "key", "name", "partitions", "internal")

_Item = TypeVar("_Item")


class OvertakenError(Exception):
    """Another sync of the same cluster stored, or took away, what this one built on."""


@dataclass(frozen=True)
class Rows:
    """What a revision adds, by key, and which stored rows it closes.

    names: (resource type, key, topic or group) of each.
    """

    acls: Mapping[str, AclBinding]
    names: Sequence[tuple[str, str, TopicInfo]]
    acls_closed: Sequence[int]
    names_closed: Sequence[int]

    @property
    def are_many(self) -> bool:
        count = len(self.acls) + len(self.names) + len(self.acls_closed) + len(self.names_closed)
        return count > ROWS_AT_ONCE


def create(cluster: Cluster, *, published: bool, **values: Any) -> Revision:
    """Create the next revision of the cluster; raises OvertakenError if another sync is creating it."""
    revisions = Revision.including_unpublished
    last = revisions.filter(cluster=cluster).aggregate(last=Max("number"))["last"] or 0
    try:
        with transaction.atomic():
            return revisions.create(cluster=cluster, number=last + 1, published=published, **values)
    except IntegrityError as error:
        raise OvertakenError(f"Revision {last + 1} of {cluster} is being stored already.") from error


def write(revision: Revision, rows: Rows) -> None:
    """Store all rows within the caller's transaction."""
    for store in _batches(revision, rows):
        store()


def stage(revision: Revision, rows: Rows) -> None:
    """Store all rows in short transactions; raises OvertakenError if the revision was taken back meanwhile."""
    try:
        for store in _batches(revision, rows, by_key=True):
            with in_turn():
                if not Revision.including_unpublished.filter(pk=revision.pk, published=False).exists():
                    raise OvertakenError(f"{revision} was taken back while it was being stored.")
                store()
    except IntegrityError as error:  # taken back between the look and the commit
        raise OvertakenError(f"{revision} was taken back while it was being stored.") from error


def publish(revision: Revision, **values: Any) -> None:
    """Make a staged revision seen, within the caller's transaction; raises OvertakenError if it was taken back."""
    mine = Revision.including_unpublished.filter(pk=revision.pk, published=False)
    if not mine.update(published=True, **values):
        raise OvertakenError(f"{revision} was taken back before it was published.")
    revision.published = True
    for name, value in values.items():
        setattr(revision, name, value)


def clear(cluster: Cluster) -> int:
    """Take back what a sync of the cluster staged and never published; return how many revisions that were."""
    left = list(Revision.including_unpublished.filter(cluster=cluster, published=False))
    for revision in left:
        take_back(revision)
    return len(left)


def take_back(revision: Revision) -> None:
    """Forget a revision that is not published, with its rows, in short transactions."""
    for model in (StoredAcl, StoredName):
        manager = model._default_manager
        added, closed = manager.filter(added_in=revision), manager.filter(removed_in=revision)
        while keys := list(added.values_list("pk", flat=True)[:_KEYS_AT_ONCE]):
            with in_turn():
                manager.filter(pk__in=keys).delete()
        while keys := list(closed.values_list("pk", flat=True)[:_KEYS_AT_ONCE]):
            with in_turn():
                manager.filter(pk__in=keys).update(removed_in=None)
    Revision.including_unpublished.filter(pk=revision.pk, published=False).delete()


def update_topics(moved: Iterable[tuple[int, TopicInfo]]) -> None:
    """Store the partitions of topics that are there already, in short transactions."""
    for batch in chunks(moved, _KEYS_AT_ONCE):
        with in_turn():
            for pk, info in batch:
                StoredName.objects.filter(pk=pk).update(partitions=info.partitions, internal=info.internal)


@contextmanager
def in_turn() -> Iterator[None]:
    """Do one short piece of writing in a transaction, then let others write."""
    began = time.monotonic()
    with transaction.atomic():
        yield
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        time.sleep(max(_LEAST_FREE_SECONDS, _FREE_FOR_EACH_LOCKED * (time.monotonic() - began)))


def _batches(revision: Revision, rows: Rows, *, by_key: bool = False) -> Iterator[Callable[[], object]]:
    """Yield what stores the next rows; all that can be done without a transaction is done before.

    by_key: in the order of their keys. A key is a hash, and each row of another order would be put elsewhere into the
    index of the keys: for 1,000,000 rows that writes many times the bytes of the whole database.
    """
    keys = sorted(rows.acls) if by_key else rows.acls
    for some in chunks(keys, ROWS_AT_ONCE):
        yield _inserting(StoredAcl, _ACL_FIELDS, (_acl_row(revision, key, rows.acls[key]) for key in some))
    for names in chunks(sorted(rows.names, key=_name_order) if by_key else rows.names, ROWS_AT_ONCE):
        yield _inserting(StoredName, _NAME_FIELDS, (_name_row(revision, *name) for name in names))
    closed: tuple[tuple[type[models.Model], Sequence[int]], ...] = (
        (StoredAcl, rows.acls_closed),
        (StoredName, rows.names_closed),
    )
    for model, numbers in closed:
        for closing in chunks(numbers, _KEYS_AT_ONCE):
            open_rows = model._default_manager.filter(pk__in=closing, removed_in__isnull=True)
            yield partial(open_rows.update, removed_in=revision)


def _inserting(
    model: type[models.Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]
) -> Callable[[], object]:
    return partial(insert_prepared, model, fields, list(prepared(model, fields, rows)))


def _name_order(name: tuple[str, str, TopicInfo]) -> tuple[str, str]:
    return name[:2]


def _acl_row(revision: Revision, key: str, binding: AclBinding) -> tuple[object, ...]:
    return (  # `_name_` because `name` is a Python-level descriptor
        revision.cluster_id,
        revision.pk,
        key,
        binding.resource_type._name_,
        binding.resource_name,
        binding.pattern_type._name_,
        binding.principal,
        binding.host,
        binding.operation._name_,
        binding.permission_type._name_,
    )


def _name_row(revision: Revision, kind: str, key: str, info: TopicInfo) -> tuple[object, ...]:
    return (revision.cluster_id, revision.pk, kind, key, info.name, info.partitions, info.internal)


def chunks(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Yield the items in order, so many at a time."""
    waiting = iter(items)
    while chunk := list(islice(waiting, size)):
        yield chunk
