"""Celery tasks: checks of connections. The state is in the database; a message only says that something waits."""

from __future__ import annotations

from aclweb.celery import app
from aclweb.clusters import connect
from aclweb.inventory import leases
from aclweb.inventory.checks import running
from aclweb.inventory.models import CHECKS
from aclweb.inventory.work import pulses


@app.task(name="inventory.check_next", ignore_result=True, acks_late=True)
def check_next() -> None:
    """Check the cluster that has waited longest, then enqueue the next; does nothing where none waits."""
    if running.run_next(leases.owner("checking"), connect) and CHECKS.are_waiting():
        enqueue()


def enqueue() -> None:
    """Have a worker check what waits. A message that no worker takes before the beat sends another is not needed."""
    check_next.apply_async(expires=4 * pulses.EVERY_SECONDS)


def enqueue_what_waits() -> None:
    """Enqueue again where a check waits, whose message may be lost."""
    if CHECKS.are_waiting():
        enqueue()
