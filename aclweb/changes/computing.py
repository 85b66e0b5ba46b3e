"""Compute on a worker the impacts that are too much for a page: one at a time a process, and a person.

The row is the truth, and the queue only rings. A worker takes the oldest question under a lease; what it
has counted is written to the row while it works, and where the row is no longer its own, it stops. A worker
that dies loses its lease, and the next takes the question up again, at most twice.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Now

from aclweb.acl.simulate import ON_A_WORKER, ON_A_WORKER_WITHOUT_ACLS, Impact, TooCostly, Watch
from aclweb.changes import policy
from aclweb.changes.comparison import compute
from aclweb.changes.impact import TooMuch, impact_hash, impact_of, names_in
from aclweb.changes.models import COMPUTATIONS, Change, Computation
from aclweb.changes.question import Question, question_of
from aclweb.changes.same_edit import changes_of_same_edit
from aclweb.changes.stored_impact import stored
from aclweb.inventory.fields import storable

logger = logging.getLogger(__name__)

BUDGET, BUDGET_WITHOUT_ACLS = ON_A_WORKER, ON_A_WORKER_WITHOUT_ACLS

# Between two looks whether the row is still this worker's, which write down how far it is.
PROGRESS_SECONDS = 0.5

# How long a computation is kept, and how many that have ended of one person; longer while an open change needs it.
KEPT_FOR = timedelta(days=7)
MOST_KEPT = 20
_REMOVED_AT_ONCE = 100

State = Computation.State


class _Ended(Exception):
    """Somebody cancelled it, or another worker has it: nothing more is to be done or stored."""


def run_next(owner: str) -> bool:
    """Compute the question that has waited longest; return False where none may be taken."""
    row = COMPUTATIONS.take_next(owner)
    if row is None:
        return False
    mine = COMPUTATIONS.taken_by(owner, row)
    began = time.monotonic()
    try:
        with COMPUTATIONS.held(mine):
            values = _computed(question_of(row), _progress(mine))
        COMPUTATIONS.end(mine, values)
    except _Ended:
        logger.info("Computation %d was ended by somebody else.", row.pk)
        return True
    except (TooCostly, TooMuch) as error:
        values = {"state": State.TOO_MUCH, "sentence": storable(str(error))}
        COMPUTATIONS.end(mine, values)
    except Exception as error:  # shown on its page, where it can be asked again
        logger.exception("Computation %d failed.", row.pk)
        sentence = f"This could not be computed: {type(error).__name__}. The site's log says more."
        values = {"state": State.FAILED, "sentence": sentence}
        COMPUTATIONS.end(mine, values)
    logger.info("Computation %d: %s, %.1f s.", row.pk, values["state"], time.monotonic() - began)
    return True


def forget_old() -> None:
    """Delete computations that are older than they are kept, and of each person those beyond the newest.

    The newest that an open change can be submitted or approved with stays.
    """
    ended = Computation.objects.annotate(at=Coalesce("finished_at", "asked_at")).order_by()
    going = set(ended.filter(at__lt=Now() - KEPT_FOR).values_list("pk", flat=True))
    done = (
        Computation.objects.exclude(state__in=Computation.OPEN)
        .order_by("owner", "-pk")
        .values_list("pk", "owner")
    )
    kept: dict[int, int] = {}
    for pk, person in done:
        kept[person] = kept.get(person, 0) + 1
        if kept[person] > MOST_KEPT:
            going.add(pk)
    if going:
        going -= _needed(going)
        Computation.objects.filter(pk__in=sorted(going)[:_REMOVED_AT_ONCE]).delete()


def _needed(going: Collection[int]) -> set[int]:
    """Return those of these computations that open changes need: of each change the newest one."""
    done = Computation.objects.filter(pk__in=going, state=State.DONE, kind=Computation.Kind.WHAT_IF)
    waiting = Change.objects.filter(state__in=policy.STATES["withdraw"])
    served: set[int] = set()
    needed = set()
    for row in done.order_by("-pk"):
        new = {change.pk for change in changes_of_same_edit(row, waiting)} - served
        if new:
            needed.add(row.pk)
            served |= new
    return needed


def _progress(mine: QuerySet[Computation]) -> Watch:
    """Return what writes down how far it is, and raises _Ended once the row is no longer this worker's."""
    told = float("-inf")

    def watch(done: int, at_most: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= PROGRESS_SECONDS:
            told = now
            if not mine.update(steps_done=done, steps_at_most=at_most):
                raise _Ended

    return watch


def _computed(question: Question, watch: Watch) -> Mapping[str, Any]:
    """Return the columns of the answer."""
    impact, left_out = _ANSWERS[question.kind](question, watch)
    return {
        "state": State.DONE,
        **stored(impact),
        "impact_hash": impact_hash(impact),
        "left_out": sorted(left_out),
    }


def _what_if(question: Question, watch: Watch) -> tuple[Impact, frozenset[str]]:
    (side,) = question.sides
    view = side.view
    names = names_in(view, new_topics=side.new_topics)
    assert side.delta is not None  # a what-if is about one
    impact = impact_of(side.delta, view.index, names, view.settings, budget=BUDGET, watch=watch)
    return impact, frozenset()


def _comparison(question: Question, watch: Watch) -> tuple[Impact, frozenset[str]]:
    left, right = question.sides
    try:
        return compute(left, right, budget=BUDGET, watch=watch)
    except TooCostly:
        # Clusters that share little differ by nearly every ACL, so that each would make groups of its own.
        return compute(left, right, budget=BUDGET_WITHOUT_ACLS, watch=watch, with_acls=False)


_ANSWERS: Mapping[str, Callable[[Question, Watch], tuple[Impact, frozenset[str]]]] = {
    Computation.Kind.WHAT_IF: _what_if,
    Computation.Kind.COMPARISON: _comparison,
}
