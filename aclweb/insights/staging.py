"""How does a load become what pages show, and how does one that fails leave no trace?

A load is stored in short transactions, each of which first looks whether it is still wanted, and published in a last
one that only moves marks. Until then nothing that it wrote is part of what pages show, so it may end anywhere; the next
load of the cluster takes back what it left. The rows of the load before stay until then, for a page that has begun.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


class OvertakenError(InsightsError):
    """Another process loaded a result meanwhile, or the cluster was removed."""


def begin(cluster: Cluster, **facts: Any) -> Load:
    """Create a load that nobody sees yet; what it is compared with is the current one from here on."""
    with _unless_overtaken(cluster), in_turn():
        _locked(cluster)
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
    others = Load.objects.filter(cluster=cluster, published=False).exclude(pk=fresh.pk).defer("manifest")
    # What another one has stored would be taken for a part of this one.
    for other in others:
        take_back(other)
    with _unless_overtaken(cluster), transaction.atomic():
        _locked(cluster)
        shown = Load.objects.filter(cluster=cluster, current=True)
        is_base = set(shown.values_list("pk", flat=True)) == ({base.pk} if base else set())
        if not is_base or others.exists():
            raise _overtaken(cluster)
        shown.update(current=False)
        wanted = Load.objects.filter(pk=fresh.pk, published=False, given_up=False)
        if not wanted.update(published=True, current=True):
            raise _overtaken(cluster)
    fresh.published = fresh.current = True


def clear(cluster: Cluster) -> None:
    """Take back loads that were never published, and delete what only earlier loads than the current one hold."""
    loads = Load.objects.filter(cluster=cluster).defer("manifest")
    loads.filter(published=False).update(given_up=True)
    for load in loads.filter(given_up=True):
        take_back(load)
    # Two current ones are of an earlier version, which showed the newer one.
    for load in loads.filter(current=True).order_by("-loaded_at")[1:]:
        Load.objects.filter(pk=load.pk).update(current=False)
    for load in loads.filter(current=False, published=True):
        _forget(load)
    _sweep(cluster)


def take_back(load: Load) -> None:
    """Forget a load that is not published, with all that it stored."""
    if not Load.objects.filter(pk=load.pk, published=False).update(given_up=True):
        return
    totals = RequestTotals.objects.filter(cluster=load.cluster_id)
    _delete(totals.filter(added_in=load.pk))
    while keys := list(totals.filter(removed_in=load.pk).values_list("pk", flat=True)[:_ROWS_AT_ONCE]):
        with in_turn():
            totals.filter(pk__in=keys).update(removed_in=None)
    _forget(load)


def _forget(load: Load) -> None:
    """Delete a load and the rows that it shares with no other."""
    for rows in (AclUse.objects, LogDay.objects, DenialGroup.objects):
        _delete(rows.filter(load=load))
    with in_turn():
        load.delete()


def _sweep(cluster: Cluster) -> None:
    """Delete the totals, days and requests that no load holds."""
    current = Load.objects.filter(cluster=cluster, current=True).values_list("pk", flat=True).first()
    totals = RequestTotals.objects.filter(cluster=cluster)
    _delete(totals if current is None else totals.filter(removed_in__lte=current))
    for day in DaySet.objects.filter(cluster=cluster, loads=None).order_by("pk"):
        with in_turn():
            RequestDay.objects.filter(day_set=day).delete()
            day.delete()
    unheld = ~models.Exists(RequestTotals.objects.filter(request=models.OuterRef("pk")))
    _delete(LoggedRequest.objects.filter(unheld, cluster=cluster))


def _delete(rows: models.QuerySet[Any]) -> None:
    """Delete rows in short transactions."""
    keys = list(rows.values_list("pk", flat=True))
    for start in range(0, len(keys), _ROWS_AT_ONCE):
        with in_turn():
            rows.model._default_manager.filter(pk__in=keys[start : start + _ROWS_AT_ONCE]).delete()


def _locked(cluster: Cluster) -> None:
    """Have others wait who want the cluster's row; raises OvertakenError where it is gone."""
    found = Cluster.objects.select_for_update().filter(pk=cluster.pk)
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
