"""How does a worker write down how far a job is, and learn that nobody wants it any more?

A job says how far it is all the while (`aclweb.pipeline.progress`). That is written to a row of the database, which is
this worker's as long as a query finds it: where it does not, somebody cancelled the job or another worker has it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import QuerySet

from aclweb.acl.model import number_of

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
"""Between two looks whether the row is still this worker's."""


class Ended(Exception):
    """Somebody cancelled it, or another worker has it: nothing more is to be done or stored."""


@dataclass(frozen=True)
class Told:
    """How far a job says that it is."""

    step: str = ""
    steps_done: int = 0
    steps: int = 0
    tasks_done: int = 0
    tasks: int = 0

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Told:
        """Return what a job says; the step that stores the result comes after those of the job."""
        return cls(found["step"], found["done"], found["of"] + 1, found["tasks_done"], found["tasks"])


Tell = Callable[[Told], None]
"""Writes down how far a job is; raises what ends the job once nobody wants it."""


def untold(told: Told) -> None:
    """Write nothing down."""


class Teller:
    """Writes to a row how far a job is, as long as `mine` finds it; raises Ended once it does not."""

    def __init__(self, mine: QuerySet[Any]) -> None:
        self._mine = mine
        self._written_at = time.monotonic()

    def write(self, told: Told) -> None:
        """Write it; in a transaction, the row is this worker's until that ends."""
        if not self._mine.update(**vars(told)):
            raise Ended
        self._written_at = time.monotonic()

    def tell(self, told: Told) -> None:
        """Write it if the database answers: while the lease can hold, a job need not end because it is away."""
        try:
            self.write(told)
        except DatabaseError:
            if time.monotonic() - self._written_at >= settings.ACLWEB_LEASE_SECONDS:
                raise
            logger.warning("How far a job is could not be written down.", exc_info=True)
            if not connection.in_atomic_block:
                connection.close()  # the next try opens another


def sentences_of(row: Any) -> list[str]:
    """Return how far a job at work is, from the columns that a `Teller` writes, as a page says it."""
    sentences = [f"{row.step}." if row.step else "A worker has taken it."]
    if row.steps:
        sentences.append(f"This is step {row.steps_done + 1} of {row.steps}.")
    if row.tasks:
        sentences.append(f"Spark has done {row.tasks_done:,} of {number_of(row.tasks, 'task')} under way.")
    return sentences


def share_of(row: Any) -> int:
    """Return the percent of the steps of a job at work that are done; never all of them."""
    return min(99, 100 * int(row.steps_done) // max(1, int(row.steps)))
