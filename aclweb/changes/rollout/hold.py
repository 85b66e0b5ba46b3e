"""Which change does this worker hold, and until when?

A claim moves the row with a new epoch and a lease on the database's clock. Every later step moves the
held row together with its audit event, so a worker that lost its lease stores nothing more.

"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from aclweb.acl.model import AclBinding
from aclweb.audit import trail
from aclweb.changes.models import UNDER_WAY, Change, ChangeItem
from aclweb.inventory import leases
from aclweb.inventory.models import Cluster

MOST_ATTEMPTS = 5


BACKOFF_SECONDS = (5, 10, 20, 40, 60)  # between two tries while a cluster cannot be read


BARRIER_TRIES = 20


BARRIER_SECONDS = 0.5


State = Change.State


Item = ChangeItem.State


class LeaseLost(Exception):
    """Another worker may hold the change by now, so this one must not send or store anything more."""


class Stop(Exception):
    """The run is over: the row has been moved to where it belongs."""


@dataclass
class Run:
    """One worker's hold on one change."""

    change: Change
    worker: str
    deadline: float  # on this machine's monotonic clock: when the lease certainly still held
    base: frozenset[AclBinding] = field(default_factory=frozenset)  # as read at preflight


def waiting() -> list[int]:
    """Return the ids of changes that a worker could take up now, oldest first."""
    return list(Change.objects.filter(_claimable()).order_by("pk").values_list("pk", flat=True))


def being_written(cluster: Cluster) -> Change | None:
    """Return a change that a worker is writing to the cluster now; None where there is none."""
    return Change.objects.filter(leases.is_held(), cluster=cluster, state__in=UNDER_WAY).first()


def keep_from_beginning(cluster: Cluster) -> None:
    """Keep workers from taking up a change of the cluster until this transaction ends."""
    could_be = Change.objects.filter(cluster=cluster, state__in=(State.QUEUED, *UNDER_WAY))
    list(could_be.select_for_update(of=("self",)).order_by("pk").values_list("pk"))


def waiting_behind(change_id: int) -> list[int]:
    """Return the next change of the same cluster that waits for a worker, as a list of at most one id."""
    done = Change.objects.filter(pk=change_id).exclude(state__in=(State.QUEUED, *UNDER_WAY)).first()
    if done is None:
        return []
    same = Change.objects.filter(_claimable(), cluster=done.cluster_id)
    return list(same.order_by("pk").values_list("pk", flat=True)[:1])


def _claimable() -> Q:
    """Waiting for a worker, or held by one whose lease ran out by the database's clock.

    None is on a cluster that is paused or removed.
    """
    free = Q(state=State.QUEUED) | Q(leases.is_free(), state__in=UNDER_WAY)
    may_connect = Q(cluster__paused_at__isnull=True, cluster__removed_at__isnull=True)
    return free & may_connect & (Q(not_before__isnull=True) | Q(not_before__lte=Now()))


def claim(change_id: int, worker: str) -> Run | None:
    started = time.monotonic()
    with transaction.atomic():
        change = (
            Change.objects.select_for_update(of=("self",))
            .select_related("cluster", "author", "revision")
            .filter(_claimable(), pk=change_id)
            .first()
        )
        if change is None:
            return None
        if change.attempts >= MOST_ATTEMPTS:
            _quarantine(change)
            return None
        try:
            # The database itself allows one change under way a cluster.
            with transaction.atomic():
                claimed = change.move(
                    to=State.PREFLIGHT,
                    where=_claimable(),
                    epoch=F("epoch") + 1,
                    attempts=F("attempts") + 1,
                    lease_owner=worker[:200],
                    lease_until=_lease(),
                    not_before=None,
                )
        except IntegrityError:
            return None
        if not claimed:
            return None
        trail.record(
            actor=_actor(worker),
            verb="change.claimed",
            target=change.key,
            attempt=change.attempts,
            epoch=change.epoch,
        )
    return Run(change, worker, started + settings.ACLWEB_LEASE_SECONDS)


def _quarantine(change: Change) -> None:
    sentence = f"Stopped after {change.attempts} tries: each worker that claimed it was lost."
    if change.move(
        to=State.QUARANTINED, where=_claimable(), epoch=F("epoch") + 1, sentence=sentence, finished_at=Now()
    ):
        trail.record(actor="aclweb", verb="change.quarantined", target=change.key, attempts=change.attempts)


def _lease() -> Any:
    return leases.later(settings.ACLWEB_LEASE_SECONDS)


def _actor(worker: str) -> str:
    return f"worker {worker}"[:254]


def step(run: Run, *, to: str, verb: str, values: dict[str, Any] | None = None, **facts: Any) -> None:
    """Move the held row and record why, both or neither; renews the lease unless `values` says otherwise.

    Raises LeaseLost if another worker may hold the row by now.
    """
    started = time.monotonic()
    with transaction.atomic():
        given: dict[str, Any] = {"lease_until": _lease(), **(values or {})}
        if not run.change.move(to=to, where=leases.is_held(), **given):
            raise LeaseLost(run.change.key)
        trail.record(actor=_actor(run.worker), verb=verb, target=run.change.key, **facts)
    run.deadline = started + settings.ACLWEB_LEASE_SECONDS


def end(
    run: Run, *, to: str, verb: str, why: str, facts: dict[str, Any] | None = None, **values: Any
) -> Stop:
    """Store an end of this run and return the exception that unwinds it."""
    released = {"lease_until": Now(), "lease_owner": "", "sentence": why, **values}
    step(run, to=to, verb=verb, values=released, why=why, **(facts or {}))
    return Stop()


@contextmanager
def no_scheduled_sync(run: Run) -> Iterator[None]:
    """Keep scheduled syncs away: they would record half of this edit as made elsewhere.

    One that is under way is waited for, though not for long: all it can spoil is the
    record of who made the edit.
    """
    for _ in range(BARRIER_TRIES):
        if take_sync_leases(run):
            break
        pause(run)
    try:
        yield
    finally:
        leases.release(_sync_leases_of(run), owner=_sync_owner(run))


def pause(run: Run) -> None:
    """Wait a moment for what others do, and renew the lease."""
    time.sleep(BARRIER_SECONDS)
    renew(run)


def kept(run: Run) -> AbstractContextManager[None]:
    """Renew both leases while the block works: one step on a large cluster can outlast them."""

    def renew() -> bool:
        started = time.monotonic()
        mine = Change.objects.filter(leases.is_held(), pk=run.change.pk, epoch=run.change.epoch)
        if not mine.update(lease_until=_lease()):
            return False
        run.deadline = started + settings.ACLWEB_LEASE_SECONDS
        take_sync_leases(run)
        return True

    return leases.renewed(renew, every_seconds=settings.ACLWEB_LEASE_SECONDS / 3)


def take_sync_leases(run: Run) -> bool:
    seconds = settings.ACLWEB_LEASE_SECONDS
    return leases.take(_sync_leases_of(run), owner=_sync_owner(run), seconds=seconds)


def _sync_leases_of(run: Run) -> QuerySet[Cluster]:
    return Cluster.objects.filter(pk=run.change.cluster_id)


def _sync_owner(run: Run) -> str:
    # Without the worker's name, so that whoever goes on after a lost worker need not wait.
    return f"rollout {run.change.key}"


def wait(run: Run, why: str) -> Stop:
    """Give the change back until the cluster can be read again; that is no attempt."""
    seconds = BACKOFF_SECONDS[min(run.change.waits, len(BACKOFF_SECONDS) - 1)]
    written = run.change.has_effects
    return end(
        run,
        to=State.UNKNOWN if written else State.QUEUED,
        verb="change.waiting",
        why=f"{why} Tried again in {seconds} s.",
        attempts=F("attempts") - 1,
        waits=F("waits") + 1,
        not_before=Now() + timedelta(seconds=seconds),
    )


def blocked(run: Run, state: str, verb: str, why: str) -> Stop:
    """Stop before writing: in `state`, or as partly written if an earlier run wrote something."""
    if run.change.has_effects:
        why = f"{why} What an earlier run wrote is still there."
        return end(run, to=State.PARTIAL, verb=verb, why=why, finished_at=Now())
    values: dict[str, Any] = {"finished_at": Now()} if state == State.FAILED else {}
    return end(run, to=state, verb=verb, why=why, **values)


def store(run: Run, items: Sequence[ChangeItem]) -> None:
    """Store the items of a change that this worker holds."""
    for item in items:
        values: dict[str, Any] = {"state": item.state, "sentence": item.sentence, "evidence": item.evidence}
        if item.state == Item.APPLIED and item.written_at is None:
            values["written_at"] = Now()
        ChangeItem.objects.filter(pk=item.pk, change__epoch=run.change.epoch).update(**values)


def renew(run: Run) -> None:
    started = time.monotonic()
    if not run.change.move(to=run.change.state, where=leases.is_held(), lease_until=_lease()):
        raise LeaseLost(run.change.key)
    run.deadline = started + settings.ACLWEB_LEASE_SECONDS


def require_time(run: Run) -> None:
    """Raise LeaseLost unless a whole call fits into what is left of the lease."""
    if time.monotonic() + settings.ACLWEB_LEASE_SECONDS / 3 >= run.deadline:
        raise LeaseLost(run.change.key)
