"""Into how few groups do equal outcomes go?

Cells are gathered session by session. Then groups that differ in one respect alone (names, principals,
hosts or operations) become one, until no two can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aclweb.acl.model import OPERATIONS, Operation, ResourceType
from aclweb.acl.simulate.axes import Compact
from aclweb.acl.simulate.impact import LISTS, Group, Outcome, Side

_BITS_OF_A_DIFFERENCE = 300 * 8

Sets = tuple[int, int, int, int]
"""Of principals, hosts, operations (by their codes) and names."""

_ORDER = (3, 0, 1, 2)
"""In which respects groups are joined, the first first: by names, principals, hosts, operations."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of one session: sets of hosts, operations (by their codes) and names, and what becomes of them."""

    hosts: int
    operations: int
    names: int
    outcome: Outcome


def joined_by_names(found: Iterable[Cells]) -> list[Cells]:
    """Return the same cells of one session, joined where they differ in names alone."""
    gathered = Gathered(ResourceType.TOPIC)
    for cells in found:
        gathered.add(1, cells)
    return gathered.cells()


class Gathered:
    """The cells of one resource type that differ, by what becomes of them."""

    def __init__(self, resource_type: ResourceType) -> None:
        self.resource_type = resource_type
        self._outcomes: dict[object, tuple[Outcome, dict[tuple[int, int, int], Compact]]] = {}

    def add(self, principals: int, cells: Cells) -> int:
        """Take cells, for each of these principals, that were not taken before; return what they weigh.

        That is in kinds of difference, of some 300 bytes of memory each.
        """
        # Sides are made once each, so that being the same is being equal.
        outcome = cells.outcome
        key = (outcome.change, id(outcome.before), id(outcome.after), outcome.reason)
        found = self._outcomes.get(key)
        if found is None:
            found = self._outcomes[key] = (outcome, {})
        rest, by_rest = (principals, cells.hosts, cells.operations), found[1]
        there = by_rest.get(rest)
        names = by_rest[rest] = Compact.of(cells.names if there is None else there.whole | cells.names)
        return 0 if there is not None else 1 + names.members.bit_length() // _BITS_OF_A_DIFFERENCE

    def cells(self) -> list[Cells]:
        """Return the cells of one session, joined where they differ in names alone."""
        return [
            Cells(hosts, operations, names.whole, outcome)
            for outcome, by_rest in self._outcomes.values()
            for (_, hosts, operations), names in by_rest.items()
        ]

    def groups(self) -> Iterator[Group]:
        """Yield the groups, of which no two can be joined, in the order of the lists."""
        operations = OPERATIONS[self.resource_type]
        words: dict[int, tuple[Operation, ...]] = {}
        for change in LISTS:
            for outcome, by_rest in self._outcomes.values():
                if outcome.change != change:
                    continue
                for sets in joined([(*rest, names.whole) for rest, names in by_rest.items()]):
                    mask = sets[2]
                    if mask not in words:
                        words[mask] = tuple(op for op in operations if mask & 1 << op._value_)
                    yield Group(
                        change,
                        self.resource_type,
                        words[mask],
                        sets[0],
                        sets[1],
                        Compact.of(sets[3]),
                        outcome.before,
                        outcome.after,
                        outcome.reason,
                    )


def whatever_the_acls(groups: Iterable[Group]) -> list[Group]:
    """Return the same cells in fewer groups, joined where only the ACLs that settle them differ; without these."""
    sides: dict[tuple[object, object], Side] = {}

    def without_acls(side: Side) -> Side:
        return sides.setdefault((side.result, side.basis), Side(side.result, side.basis, ()))

    gathered: dict[ResourceType, Gathered] = {}
    for group in groups:
        before = None if group.before is None else without_acls(group.before)
        outcome = Outcome(group.change, before, without_acls(group.after), group.reason)
        operations = sum(1 << operation._value_ for operation in group.operations)
        of_type = gathered.setdefault(group.resource_type, Gathered(group.resource_type))
        of_type.add(group.principals, Cells(group.hosts, operations, group.names, outcome))
    found = [group for of_type in gathered.values() for group in of_type.groups()]
    return sorted(found, key=lambda group: LISTS.index(group.change))


def joined(found: list[Sets]) -> list[Sets]:
    """Return the same cells in sets of which no two differ in one respect alone."""
    count = 0
    while len(found) > 1 and count != len(found):
        count = len(found)
        for respect in _ORDER:
            found = _joined_by(found, respect)
    return found


def _joined_by(found: list[Sets], respect: int) -> list[Sets]:
    by_rest: dict[tuple[int, ...], int] = {}
    for sets in found:
        rest = sets[:respect] + sets[respect + 1 :]
        by_rest[rest] = by_rest.get(rest, 0) | sets[respect]
    if len(by_rest) == len(found):
        return found
    return [(*rest[:respect], own, *rest[respect:]) for rest, own in by_rest.items()]  # type: ignore[misc]
