"""How does a load become what pages show, and how does one that fails leave no trace?

A load is stored in short transactions, each of which first looks whether it is still wanted, and published in a last
one that only moves marks. Until then nothing that it wrote is part of what pages show, so it may end anywhere; the next
load of the cluster takes back what it left. The rows of the load before stay until then, for a page that has begun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from django.db import IntegrityError, models, transaction

from aclweb.insights.errors import InsightsError
from aclweb.insights.models import (
    AclUse,
    DaySet,
    DenialGroup,
    Load,
    LogDay,
    LoggedRequest,
    RequestDay,
    RequestTotals,
)
from aclweb.inventory.models import Cluster
from aclweb.inventory.store import in_turn

_ROWS_AT_ONCE = 2_000

# Makes the transaction of one short piece of writing.
_Turn = Callable[[], AbstractContextManager[None]]


class OvertakenError(InsightsError):
    """Another process loaded a result meanwhile, or the cluster was removed."""


def begin(cluster: Cluster, **facts: Any) -> Load:
    """Create a load that nobody sees yet, and give up all others that nobody sees.

    What it is compared with is the current one from here on.
    """
    with _unless_overtaken(cluster), in_turn():
        _locked(cluster)
        Load.objects.filter(cluster=cluster, published=False).update(given_up=True)
        return Load.objects.create(cluster=cluster, current=False, published=False, **facts)


def close(fresh: Load, totals: Sequence[int]) -> None:
    """Say of these rows of RequestTotals that they hold up to this load alone."""
    for start in range(0, len(totals), _ROWS_AT_ONCE):
        some = totals[start : start + _ROWS_AT_ONCE]
        with step(fresh):
            closed = RequestTotals.objects.filter(pk__in=some, removed_in__isnull=True)
            if closed.update(removed_in=fresh.pk) != len(some):
                raise _overtaken(fresh.cluster)


@contextmanager
def step(fresh: Load) -> Iterator[None]:
    """Store some rows of a load in one short transaction; raises OvertakenError where it is no longer wanted."""
    with _unless_overtaken(fresh.cluster), in_turn():
        wanted = Load.objects.select_for_update().filter(pk=fresh.pk, published=False, given_up=False)
        # Whoever gives the load up waits for this row, and then sees what was stored.
        if wanted.values_list("pk").first() is None:
            raise _overtaken(fresh.cluster)
        yield


def publish(fresh: Load, *, base: Load | None) -> None:
    """Have pages show a load in the place of `base`, the one that it was compared with."""
    cluster = fresh.cluster
    with _unless_overtaken(cluster), transaction.atomic():
        _locked(cluster)
        shown = Load.objects.filter(cluster=cluster, current=True)
        if set(shown.values_list("pk", flat=True)) != ({base.pk} if base else set()):
            raise _overtaken(cluster)
        shown.update(current=False)
        wanted = Load.objects.filter(pk=fresh.pk, published=False, given_up=False)
        if not wanted.update(published=True, current=True):
            raise _overtaken(cluster)
    fresh.published = fresh.current = True


def clear(fresh: Load) -> None:
    """Take back loads that were given up, and delete what is held by neither the current load nor this one.

    Raises OvertakenError, and deletes no more, where `fresh` is no longer wanted.
    """
    turn = partial(step, fresh)
    loads = Load.objects.filter(cluster=fresh.cluster_id).exclude(pk=fresh.pk).defer("manifest")
    for load in loads.filter(published=False, given_up=True):
        take_back(load)
    with turn():
        # Two current ones are of an earlier version, which showed the newer one.
        for load in loads.filter(current=True).order_by("-loaded_at")[1:]:
            Load.objects.filter(pk=load.pk).update(current=False)
    for load in loads.filter(current=False, published=True):
        _forget(load, turn)
    _sweep(fresh, turn)


def take_back(load: Load) -> None:
    """Forget a load that is not published, with all that it stored."""
    if not Load.objects.filter(pk=load.pk, published=False).update(given_up=True):
        return
    totals = RequestTotals.objects.filter(cluster=load.cluster_id)
    _delete(totals.filter(added_in=load.pk), in_turn)
    closed = totals.filter(removed_in=load.pk)
    while keys := list(closed.values_list("pk", flat=True)[:_ROWS_AT_ONCE]):
        with in_turn():
            # Another process may take the same load back, and another load close the row again.
            closed.filter(pk__in=keys).update(removed_in=None)
    _forget(load, in_turn)


def _forget(load: Load, turn: _Turn) -> None:
    """Delete a load and the rows that it shares with no other."""
    for rows in (AclUse.objects, LogDay.objects, DenialGroup.objects):
        _delete(rows.filter(load=load), turn)
    with turn():
        load.delete()


def _sweep(fresh: Load, turn: _Turn) -> None:
    """Delete the totals, days and requests that no load holds."""
    cluster = fresh.cluster_id
    current = Load.objects.filter(cluster=cluster, current=True).values_list("pk", flat=True).first()
    totals = RequestTotals.objects.filter(cluster=cluster).exclude(added_in=fresh.pk)
    _delete(totals if current is None else totals.filter(removed_in__lte=current), turn)
    for day in DaySet.objects.filter(cluster=cluster, loads=None).order_by("pk"):
        for _ in delete_day(day, turn):
            pass
    unheld = ~models.Exists(RequestTotals.objects.filter(request=models.OuterRef("pk")))
    _delete(LoggedRequest.objects.filter(unheld, cluster=cluster), turn)


def _delete(rows: models.QuerySet[Any], turn: _Turn) -> None:
    """Delete rows in short transactions; each looks again which of them are still to be deleted."""
    keys = list(rows.values_list("pk", flat=True))
    for start in range(0, len(keys), _ROWS_AT_ONCE):
        with turn():
            rows.filter(pk__in=keys[start : start + _ROWS_AT_ONCE]).delete()


def delete_day(day: DaySet, turn: _Turn) -> Iterator[int]:
    """Delete a day and its rows in short transactions: a range of requests in each, found by the rows' key.

    Yields how many rows each has deleted.
    """
    rows = RequestDay.objects.filter(day_set=day)
    numbers = rows.order_by("request").values_list("request", flat=True)
    while (end := numbers[_ROWS_AT_ONCE : _ROWS_AT_ONCE + 1].first()) is not None:
        with turn():
            deleted = rows.filter(request__lt=end).delete()[0]
        yield deleted
    with turn():
        deleted = rows.delete()[0]
        day.delete()
    yield deleted + 1


def _locked(cluster: Cluster) -> None:
    """Have others wait who want the cluster's row; raises OvertakenError where it is gone."""
    # Rows that a load stores refer to the cluster's row: a step that waited for it, while its load's row is
    # waited for here, would never end. So its key is left to them.
    found = Cluster.objects.select_for_update(no_key=True).filter(pk=cluster.pk)
    if found.values_list("pk").first() is None:
        raise _overtaken(cluster)


@contextmanager
def _unless_overtaken(cluster: Cluster) -> Iterator[None]:
    try:
        yield
    except IntegrityError as error:  # taken away between the look and the commit
        raise _overtaken(cluster) from error


def _overtaken(cluster: Cluster) -> OvertakenError:
    if not Cluster.objects.filter(pk=cluster.pk).exists():
        return OvertakenError(f"{cluster} was removed while its logs were being loaded; nothing was kept.")
    return OvertakenError(
        f"Another process loaded the logs of {cluster} meanwhile, so this result was not loaded; load it again."
    )
