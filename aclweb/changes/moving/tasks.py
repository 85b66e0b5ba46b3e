"""Celery tasks: comparisons before a move. The state is in the database; a message only says that something waits."""

from __future__ import annotations

from aclweb.celery import app
from aclweb.changes.moving import running
from aclweb.changes.stored_moves import MOVES
from aclweb.clusters import connect
from aclweb.inventory import leases
from aclweb.inventory.work import pulses


@app.task(name="changes.compare_next_move", ignore_result=True, acks_late=True)
def compare_next_move() -> None:
    """Compare for the move that has waited longest, then enqueue the next; does nothing where none waits."""
    if running.run_next(leases.owner("moving"), connect) and MOVES.are_waiting():
        enqueue()


def enqueue() -> None:
    """Have a worker compare what waits. A message that no worker takes before the sweep sends another is not needed."""
    compare_next_move.apply_async(expires=4 * pulses.EVERY_SECONDS)


def enqueue_what_waits() -> None:
    """Enqueue again where a move waits, whose message may be lost."""
    if MOVES.are_waiting():
        enqueue()
