"""Which changes ask for exactly the edit whose impact a worker computes?

A computation is shared by whoever asks the same, and a draft can be edited while a worker is at work. So
what may be submitted with an impact is asked of the change as it is now, and of the person who looks.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from aclweb.accounts.models import User
from aclweb.acl.model import Delta
from aclweb.changes import policy
from aclweb.changes.models import Change, ChangeItem, Computation
from aclweb.changes.question import delta_of


@dataclass(frozen=True)
class Waiting:
    """A change that waits for an impact. why_not: why it cannot be submitted with it; empty where it can be."""

    change: Change
    is_same: bool
    why_not: str


def change_for(row: Computation, person: User) -> Waiting | None:
    """Return this person's own change that this impact was computed for, or that asks for the same edit.

    One that asks for the same comes first; the one that was asked for may have been edited since.
    """
    if row.kind != Computation.Kind.WHAT_IF:
        return None
    own = Change.objects.filter(author=person, state__in=policy.STATES["submit"])
    same = changes_of_same_edit(row, own)
    linked = row.for_change
    if linked is not None and (row.owner_id, linked.author_id) != (person.pk, person.pk):
        linked = None
    change = next((each for each in same if each == linked), same[0] if same else linked)
    if change is None:
        return None
    return Waiting(change, bool(same), _why_not(row, change, person, is_same=bool(same)))


def changes_of_same_edit(row: Computation, changes: QuerySet[Change]) -> list[Change]:
    """Return those that ask for exactly what was asked here, in whatever order, the newest first."""
    if row.kind != Computation.Kind.WHAT_IF or row.new_topics:
        return []
    adds, removes = (
        Count("items", filter=Q(items__op=op)) for op in (ChangeItem.Op.ADD, ChangeItem.Op.REMOVE)
    )
    alike = (
        changes.filter(cluster=row.cluster_id)
        .annotate(adds=adds, removes=removes)
        .filter(adds=row.acls_added, removes=row.acls_removed)
        .order_by("-pk")
    )
    found = list(alike)
    if not found:
        return []
    asked = delta_of(row)
    return [change for change in found if is_same_edit(change.delta, asked)]


def is_same_edit(one: Delta, other: Delta) -> bool:
    """Return whether both add and remove the same ACLs, in whatever order."""
    return (set(one.add), set(one.remove)) == (set(other.add), set(other.remove))


def _why_not(row: Computation, change: Change, person: User, *, is_same: bool) -> str:
    allowed, why_not = policy.may("submit", change, person)
    if not allowed:
        return why_not
    if not is_same:
        return edited_since(change)
    submitted = (change.state, change.revision_id, change.impact_hash)
    if submitted == (Change.State.IN_REVIEW, row.revision_id, row.impact_hash):
        return f"{change.key} was submitted with this impact, and waits for review."
    return ""


def edited_since(change: Change) -> str:
    """Say why a change cannot be submitted with an impact that is not its own."""
    return (
        f"{change.key} was edited since, so this is not its impact. "
        f"Submit {change.key} on its own page: its impact is computed anew."
    )
