"""Celery tasks of changes: they take ids; the state is in the database."""

from __future__ import annotations

from typing import Any

from aclweb.celery import app
from aclweb.changes import rollout


def _apply_change(change_id: int) -> None:
    """Write one queued change to its cluster; running it twice writes once."""
    rollout.apply(change_id)
    for waiting in rollout.waiting_behind(change_id):
        apply_change.delay(waiting)


def _sweep() -> None:
    """Enqueue every change again that waits for a worker, or whose worker was lost."""
    for waiting in rollout.waiting():
        apply_change.delay(waiting)


apply_change: Any = app.task(name="changes.apply_change", ignore_result=True, acks_late=True)(_apply_change)
sweep: Any = app.task(name="changes.sweep", ignore_result=True, acks_late=True)(_sweep)
