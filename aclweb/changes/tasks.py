"""Celery tasks of changes: they take ids; the state is in the database."""

from __future__ import annotations

import threading
from typing import Any

from aclweb.celery import app
from aclweb.changes import computing, moving, rollout
from aclweb.changes.models import COMPUTATIONS
from aclweb.changes.moving import tasks as moving_tasks
from aclweb.inventory import leases
from aclweb.inventory.work import pulses

# Of one process: its other threads stay free for lint runs, logs and the heartbeat.
_slot = threading.BoundedSemaphore()


def _apply_change(change_id: int) -> None:
    """Write one queued change to its cluster; running it twice writes once."""
    rollout.apply(change_id)
    for waiting in rollout.waiting_behind(change_id):
        apply_change.delay(waiting)


def _compute_next() -> None:
    """Compute the impact that has waited longest for a worker, then enqueue the next; does nothing where none waits."""
    # Where another thread computes, it goes on with the next.
    if not _slot.acquire(blocking=False):
        return
    try:
        has_computed = computing.run_next(leases.owner("computing"))
    finally:
        _slot.release()
    if has_computed and COMPUTATIONS.are_waiting():
        enqueue_computing()


def enqueue_computing() -> None:
    """Have a worker compute what waits. A message that no worker takes before the sweep sends another is not needed."""
    compute_next.apply_async(expires=4 * pulses.EVERY_SECONDS)


def _sweep() -> None:
    """Enqueue again what waits for a worker, or whose worker was lost; forget old computations."""
    for waiting in rollout.waiting():
        apply_change.delay(waiting)
    if COMPUTATIONS.are_waiting():
        enqueue_computing()
    moving_tasks.enqueue_what_waits()
    computing.forget_old()
    moving.forget_old()


apply_change: Any = app.task(name="changes.apply_change", ignore_result=True, acks_late=True)(_apply_change)
compute_next: Any = app.task(name="changes.compute_next", ignore_result=True, acks_late=True)(_compute_next)
sweep: Any = app.task(name="changes.sweep", ignore_result=True, acks_late=True)(_sweep)
