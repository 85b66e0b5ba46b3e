"""What becomes of one cell: one session's answer for one operation on one class of names?"""

from __future__ import annotations

from aclweb.acl.authorizer import DENY_SHIFT, MAYBE_SHIFT, Basis, Result
from aclweb.acl.model import AclBinding, Operation
from aclweb.acl.simulate.cover import Cover, JoinedMasks
from aclweb.acl.simulate.impact import DEPENDS, GAINS, LOSES, RECOVERED, Outcome
from aclweb.acl.simulate.wording import ON_A_RANGE, listed

_UNKNOWN_VALUE = "It depends on an ACL with a value that this version of aclweb does not know."


OutcomeKey = tuple[str, int, int, str | None]


def key_of(outcome: Outcome) -> OutcomeKey:
    """Return what equal outcomes share. Sides are made once each, so that being the same is being equal."""
    return outcome.change, id(outcome.before), id(outcome.after), outcome.reason


def outcome_of(
    principal: str | None,
    before: Cover,
    after: Cover,
    masks: JoinedMasks,
    operation: Operation,
    *,
    is_new: bool,
) -> Outcome | None:
    """Return what becomes of one cell, None if nothing does. is_new: whether the names come with the edit."""
    new = after.answer(principal, masks, operation)
    if is_new:
        # Super users are left out: they may do everything to every new name.
        if new[0] is Result.DENIED or new[1] is Basis.SUPER_USER:
            return None
        change, reason = (GAINS, None) if new[0] is Result.ALLOWED else (DEPENDS, _UNKNOWN_VALUE)
        return Outcome(change, None, after.side(new, masks, operation), reason)
    old = before.answer(principal, masks, operation)
    if old[0] is Result.DENIED is new[0]:
        return None
    change, reason = "", None
    if Result.UNDECIDED in (old[0], new[0]):
        if old == new and _undecided_alike(before, after, masks, operation):
            return None
        change, reason = DEPENDS, _UNKNOWN_VALUE
    elif old[0] is not new[0]:
        change = GAINS if new[0] is Result.ALLOWED else LOSES
    elif old == new and (
        old[1] is not Basis.ALLOW_ACL
        or _share_one(before.settling(old, masks, operation), after.settling(new, masks, operation))
    ):
        return None
    return Outcome(
        change or RECOVERED,
        before.side(old, masks, operation),
        after.side(new, masks, operation),
        reason,
    )


def _share_one(some: list[AclBinding], others: list[AclBinding]) -> bool:
    return not set(map(id, some)).isdisjoint(map(id, others))


def depends_on_address(
    principal: str | None,
    before: Cover,
    after: Cover,
    outside: JoinedMasks,
    operation: Operation,
    inside: dict[str, JoinedMasks],
    *,
    is_new: bool,
) -> Outcome:
    """Return the outcome on an address that nobody names; its sides are those outside every range.

    outside, inside: the masks on an address in no range, and on one of each range.
    """
    old = before.answer(principal, outside, operation)
    new = after.answer(principal, outside, operation)
    ranges = []
    for text, masks in inside.items():
        was = before.answer(principal, masks, operation)[0].value
        comes = after.answer(principal, masks, operation)[0].value
        ranges.append(f"{text} ({comes if is_new else f'{was} before, {comes} after'})")
    return Outcome(
        DEPENDS,
        None if is_new else before.side(old, outside, operation),
        after.side(new, outside, operation),
        f"{ON_A_RANGE}{listed(ranges, 'range')}; the answers shown are for an address outside.",
    )


def _undecided_alike(before: Cover, after: Cover, masks: JoinedMasks, operation: Operation) -> bool:
    """Whether an undecided cell depends on the same on both sides."""
    fields = sum(
        1 << operation._value_ + shift for shift in (0, DENY_SHIFT, MAYBE_SHIFT, MAYBE_SHIFT + DENY_SHIFT)
    )
    return (
        masks.before & fields == masks.after & fields
        and bool(before) == bool(after)
        and before.unknown_effects(masks, operation) == after.unknown_effects(masks, operation)
    )


def are_alike(one: Outcome | None, other: Outcome | None) -> bool:
    """Whether two outcomes are the same answers, whatever settles them."""
    if one is None or other is None:
        return one is other
    return _answers_of(one) == _answers_of(other)


def _answers_of(outcome: Outcome) -> tuple[object, ...]:
    before = None if outcome.before is None else outcome.before.result
    return outcome.change, before, outcome.after.result, outcome.reason


def has_own_cell(inside: Outcome | None, own_cell: Outcome | None) -> bool:
    """Whether nothing but other ACLs changes in a range, and the cell of the range itself tells the same."""
    if inside is None or own_cell is None:
        return inside is own_cell
    return _is_the_same_by_others(inside) and _is_the_same_by_others(own_cell)


def _is_the_same_by_others(outcome: Outcome) -> bool:
    """Whether other ACLs than before give the same answer for the same reason."""
    return (
        outcome.change == RECOVERED
        and outcome.before is not None
        and outcome.before.basis is outcome.after.basis
    )
