"""Have a worker compute what is too much for a page, see how far it is, and cancel it.

The same question is computed once, whoever asks. A person has a few at most that wait, of which one
is at work; the others follow by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.model import number_of
from aclweb.changes import tasks
from aclweb.changes.computing import KEPT_FOR, MOST_KEPT
from aclweb.changes.models import COMPUTATIONS, Change, ChangeError, Computation
from aclweb.changes.question import Question, Side, what_if
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster, Revision

# Of one person, at work and waiting.
MOST_OPEN = 5

State = Computation.State


@dataclass(frozen=True)
class Progress:
    """How far a computation is. share: percent of the steps foreseen, which are more than will be needed.

    sentences: what a person must know of it, the state first.
    """

    is_open: bool
    share: int
    sentences: tuple[str, ...]


def ask(
    question: Question, *, person: User, asked_from: str = "", for_change: Change | None = None
) -> Computation:
    """Have a worker compute this, unless that is done or asked for already; return the computation.

    asked_from: the address of the page where it was asked. for_change: the change to submit with it; a link
    is neither replaced nor set on what somebody else asked for.
    Raises ChangeError where the person has too many that wait, or where a cluster was never read.
    """
    row = _known(question, person, for_change)
    if row is not None:
        return row
    asked = _columns(question)
    with transaction.atomic():
        # Of what one person asks at once, each sees what the others have stored.
        User.objects.select_for_update(no_key=True).get(pk=person.pk)
        row = _known(question, person, for_change)
        if row is not None:
            return row
        _require_room(person)
        row = Computation.objects.create(
            **asked, asked_from=asked_from, asked_at=Now(), owner=person, for_change=for_change
        )
        row.refresh_from_db(fields=["asked_at"])
        # After the commit, or a worker could miss the row. A queue that is down only delays it: the sweep tries again.
        transaction.on_commit(partial(tasks.enqueue_computing), robust=True)
    return row


def _known(question: Question, person: User, for_change: Change | None) -> Computation | None:
    """Return the computation of this question, linked to the change where it is this person's and has no link."""
    known = of_question(question)
    if known is not None and for_change is not None:
        unlinked = Computation.objects.filter(pk=known.pk, owner=person, for_change=None)
        unlinked.update(for_change=for_change)
    return known


def _require_room(person: User) -> None:
    """Raise ChangeError where this person has as many that are not done as one may have."""
    waiting = Computation.objects.filter(owner=person, state__in=Computation.OPEN).count()
    if waiting >= MOST_OPEN:
        raise ChangeError(
            f"You have {waiting} computations that are not done, and {MOST_OPEN} is the most. "
            "Wait for one of them, or cancel one."
        )


def _columns(question: Question) -> dict[str, Any]:
    """Return the columns that store a question; raises ChangeError where a cluster of it was never read."""
    left, right = question.sides[0], question.sides[1] if len(question.sides) > 1 else None
    revisions = [_revision_of(side) for side in question.sides]
    delta = left.delta if right is None else None
    return {
        "kind": question.kind,
        "key": question.key,
        "question": question.packed(),
        "acls_added": len(delta.add) if delta else 0,
        "acls_removed": len(delta.remove) if delta else 0,
        "new_topics": len(left.new_topics),
        "cluster": left.view.cluster,
        "revision": revisions[0],
        "other_cluster": right.view.cluster if right is not None else None,
        "other_revision": revisions[1] if right is not None else None,
    }


def _revision_of(side: Side) -> Revision:
    if side.view.revision is None:
        raise ChangeError(f"{side.view.cluster.name} has not been synced yet. Wait for the first sync.")
    return side.view.revision


def of_question(question: Question) -> Computation | None:
    """Return the computation of this question that is done, at work or waits; None if there is none."""
    wanted = Q(state__in=(*Computation.OPEN, State.DONE, State.TOO_MUCH))
    return Computation.objects.filter(wanted, key=question.key).order_by("pk").first()


def of_address(person: User, cluster: Cluster, address: str) -> Computation | None:
    """Return the computation at an address, if the person may look at all clusters that it is about."""
    related = ("cluster", "revision", "other_cluster", "other_revision", "owner", "for_change")
    found = Computation.objects.select_related(*related).defer(
        "question", "packed_impact", "for_change__packed_impact"
    )
    row = found.filter(cluster=cluster, address=address).first()
    if row is None:
        return None
    seen = access.visible_clusters(person)
    if row.other_cluster_id is not None and not seen.filter(pk=row.other_cluster_id).exists():
        return None
    return row


def newest_of(person: User, cluster: Cluster, most: int) -> list[Computation]:
    """Return the newest computations on a cluster that a person asked for and may still look at."""
    seen = Q(other_cluster=None) | Q(other_cluster__in=access.visible_clusters(person))
    return list(Computation.objects.filter(seen, owner=person, cluster=cluster).order_by("-pk")[:most])


def ask_for_change(change: Change, *, person: User, asked_from: str = "") -> Computation:
    """Have a worker compute what a change would do to its cluster as it is now, so that it can be submitted."""
    question = what_if(in_force(change.cluster), change.delta)
    return ask(question, person=person, asked_from=asked_from, for_change=change)


def may_cancel(row: Computation, person: User) -> bool:
    """Return whether a person may end it: whoever asked, or an administrator of the cluster."""
    return row.is_open and (row.owner_id == person.pk or access.may(person, "administer", row.cluster))


def cancel(row: Computation, *, person: User) -> None:
    """End it, whether it waits or a worker has it. Raises ChangeError if the person may not, or it has ended."""
    if row.is_open and not may_cancel(row, person):
        raise ChangeError(f"{row.owner.get_username()} asked for this, so you cannot cancel it.")
    if not COMPUTATIONS.cancel(row, f"Cancelled by {person.get_username()}."):
        raise ChangeError("It has ended already, so there is nothing to cancel.")


def progress_of(row: Computation) -> Progress:
    """Return how far it is, as a page says it."""
    if row.state == State.QUEUED:
        return Progress(True, 0, ("It waits for a worker.", *_what_comes_first(row)))
    if row.state == State.WORKING:
        share = min(99, 100 * row.steps_done // max(1, row.steps_at_most))
        done = f"{row.steps_done:,} of at most {number_of(row.steps_at_most, 'step')} done; often fewer are needed."
        again = (f"This is try {row.attempts}: the worker before was lost.",) if row.attempts > 1 else ()
        return Progress(
            True, share, ("A worker computes it.", *((done,) if row.steps_at_most else ()), *again)
        )
    if row.state == State.DONE:
        kept = f"The newest {MOST_KEPT} of each person are kept for {KEPT_FOR.days} days."
        return Progress(False, 100, (f"A worker has computed it. {kept}",))
    return Progress(False, 0, (row.sentence,))


def _what_comes_first(row: Computation) -> tuple[str, ...]:
    """Say what a worker computes before this: what the same person asked earlier, and what others did."""
    before = Computation.objects.filter(pk__lt=row.pk, state__in=Computation.OPEN)
    own = before.filter(owner=row.owner_id).count()
    others = before.exclude(owner=row.owner_id).count()
    sentences = []
    if own:
        sentences.append(
            f"Of each person one is computed at a time, and {own} that {row.owner.get_username()} asked for "
            f"{'comes' if own == 1 else 'come'} first."
        )
    if others:
        sentences.append(f"{others} of other people {'was' if others == 1 else 'were'} asked before.")
    return tuple(sentences)
