"""What becomes of one cell: one caller's answer for one operation on one class of names and hosts?"""

from __future__ import annotations

from aclweb.acl.authorizer import DENY_SHIFT, MAYBE_SHIFT, Basis, Result
from aclweb.acl.model import Operation
from tests.cell_by_cell.classes import Spot
from tests.cell_by_cell.cover import Cover, MasksOfBothSides
from tests.cell_by_cell.impact import DEPENDS, GAINS, LOSES, RECOVERED, Outcome
from tests.cell_by_cell.wording import listed

_UNKNOWN_VALUE = "It depends on an ACL with a value that this version of aclweb does not know."


def outcome_of(
    spot: Spot,
    caller: str | None,
    before: Cover,
    after: Cover,
    readings: MasksOfBothSides,
    operation: Operation,
) -> Outcome | None:
    """Return what becomes of one cell, None if nothing does."""
    old_reading, new_reading = readings
    new = after.answer(caller, new_reading, operation)
    if spot.is_new:
        # Super users are left out: they may do everything to every new name.
        if new[0] is Result.DENIED or new[1] is Basis.SUPER_USER:
            return None
        change, reason = (GAINS, None) if new[0] is Result.ALLOWED else (DEPENDS, _UNKNOWN_VALUE)
        return Outcome(change, None, after.side(new, new_reading, operation), reason)
    old = before.answer(caller, old_reading, operation)
    change, reason = "", None
    if Result.UNDECIDED in (old[0], new[0]):
        if old == new and _undecided_alike(before, after, readings, operation):
            return None
        change, reason = DEPENDS, _UNKNOWN_VALUE
    elif old[0] is not new[0]:
        change = GAINS if new[0] is Result.ALLOWED else LOSES
    elif old[0] is Result.DENIED or (old == new and old_reading.matching == new_reading.matching):
        return None
    before_side = before.side(old, old_reading, operation)
    after_side = after.side(new, new_reading, operation)
    if not change:
        if old == new and not set(before_side.determining).isdisjoint(after_side.determining):
            return None
        if old == new and old[1] is not Basis.ALLOW_ACL:
            return None
        change = RECOVERED
    return Outcome(change, before_side, after_side, reason)


def depends_on_address(
    spot: Spot,
    caller: str | None,
    before: Cover,
    after: Cover,
    outside: MasksOfBothSides,
    operation: Operation,
    inside: dict[str, MasksOfBothSides],
) -> Outcome:
    """Return the outcome on an address that nobody names; its sides are those outside every range.

    inside: the readings on an address of each range.
    """
    old = before.answer(caller, outside[0], operation)
    new = after.answer(caller, outside[1], operation)
    ranges = []
    for text, readings in inside.items():
        was = before.answer(caller, readings[0], operation)[0].value
        comes = after.answer(caller, readings[1], operation)[0].value
        ranges.append(f"{text} ({comes if spot.is_new else f'{was} before, {comes} after'})")
    return Outcome(
        DEPENDS,
        None if spot.is_new else before.side(old, outside[0], operation),
        after.side(new, outside[1], operation),
        f"It depends on whether the address lies in {listed(ranges, 'range')}; "
        "the answers shown are for an address outside.",
    )


def _undecided_alike(before: Cover, after: Cover, readings: MasksOfBothSides, operation: Operation) -> bool:
    """Whether an undecided cell depends on the same on both sides."""
    fields = sum(
        1 << operation._value_ + shift for shift in (0, DENY_SHIFT, MAYBE_SHIFT, MAYBE_SHIFT + DENY_SHIFT)
    )
    return (
        readings[0].mask & fields == readings[1].mask & fields
        and bool(before) == bool(after)
        and before.unknown_effects(readings[0], operation) == after.unknown_effects(readings[1], operation)
    )


def are_alike(one: Outcome | None, other: Outcome | None) -> bool:
    """Whether two outcomes are the same answers, whatever settles them."""
    if one is None or other is None:
        return one is other
    results = [
        (None if each.before is None else each.before.result, each.after.result) for each in (one, other)
    ]
    return results[0] == results[1] and (one.change, one.reason) == (other.change, other.reason)


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
