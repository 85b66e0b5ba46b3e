"""Into how few groups do equal outcomes go?

Cells are gathered session by session. Then groups that differ in one respect alone (names, principals,
hosts or operations) become one, until no two can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from aclweb.acl.authorizer import Basis
from aclweb.acl.model import OPERATIONS, Operation, ResourceType
from aclweb.acl.simulate.budget import NAMES_OF_A_DIFFERENCE
from aclweb.acl.simulate.impact import LISTS, Group, Outcome, Side
from aclweb.acl.simulate.outcomes import OutcomeKey, key_of
from aclweb.acl.simulate.sets import Compact, Places, joined_of, whole_of

Sets3 = tuple[int, int, int]
"""Of principals, hosts, and operations (by their codes)."""

Sets = tuple[int, int, int, Places]
"""Of principals, hosts, operations (by their codes) and names."""

_OTHER_RESPECTS = (0, 1, 2)
"""In which respects groups are joined where they cannot be by names: by principals, hosts, operations."""


class Cells(NamedTuple):
    """Cells of one session: sets of hosts, operations (by their codes) and names, and what becomes of them."""

    hosts: int
    operations: int
    names: Places
    outcome: Outcome

    def on(self, names: Places) -> Cells:
        """Return the same on other names."""
        return Cells(self.hosts, self.operations, names, self.outcome)


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
        self._outcomes: dict[OutcomeKey, tuple[Outcome, dict[Sets3, list[Places]]]] = {}

    def add(self, principals: int, cells: Cells) -> int:
        """Take cells, for each of these principals, that were not taken before; return what they weigh.

        That is in kinds of difference, of some 300 bytes of memory each.
        """
        outcome = cells.outcome
        key = key_of(outcome)
        found = self._outcomes.get(key)
        if found is None:
            found = self._outcomes[key] = (outcome, {})
        by_rest = found[1]
        rest = (principals, cells.hosts, cells.operations)
        there = by_rest.get(rest)
        if there is not None:
            there.append(cells.names)
            return 0
        by_rest[rest] = [cells.names]
        return 1 + cells.names.octets * 8 // NAMES_OF_A_DIFFERENCE

    def cells(self) -> list[Cells]:
        """Return the cells of one session, joined where they differ in names alone."""
        return [
            Cells(hosts, operations, Compact.of(whole_of(names)), outcome)
            for outcome, by_rest in self._outcomes.values()
            for (_, hosts, operations), names in by_rest.items()
        ]

    def groups(self) -> Iterator[Group]:
        """Yield the groups, of which no two can be joined, in the order of the lists."""
        operations = OPERATIONS[self.resource_type]
        words: dict[int, tuple[Operation, ...]] = {}
        sets_of_names: dict[Places, Places] = {}  # so that equal ones are one
        for change in LISTS:
            for outcome, by_rest in self._outcomes.values():
                if outcome.change != change:
                    continue
                found = [(*rest, joined_of(names)) for rest, names in by_rest.items()]
                for principals, hosts, mask, names in joined(found) if len(found) > 1 else found:
                    if mask not in words:
                        words[mask] = tuple(op for op in operations if mask & 1 << op._value_)
                    yield Group(
                        change,
                        self.resource_type,
                        words[mask],
                        principals,
                        hosts,
                        sets_of_names.setdefault(names, names),
                        outcome.before,
                        outcome.after,
                        outcome.reason,
                    )


def whatever_the_acls(groups: Iterable[Group], *, whether_any: bool = False) -> list[Group]:
    """Return the same cells in fewer groups, joined where only the ACLs that settle them differ; without these.

    whether_any: where no ACL allows something, it is the same whether any ACL covers the name: both
    are NO_ALLOW_ACL.
    """
    sides: dict[tuple[object, object], Side] = {}

    def without_acls(side: Side) -> Side:
        is_joined = whether_any and side.basis is Basis.DEFAULT_DENY
        basis = Basis.NO_ALLOW_ACL if is_joined else side.basis
        return sides.setdefault((side.result, basis), Side(side.result, basis, ()))

    gathered: dict[ResourceType, Gathered] = {}
    for group in groups:
        before = None if group.before is None else without_acls(group.before)
        outcome = Outcome(group.change, before, without_acls(group.after), group.reason)
        operations = sum(1 << operation._value_ for operation in group.operations)
        of_type = gathered.setdefault(group.resource_type, Gathered(group.resource_type))
        of_type.add(group.principals, Cells(group.hosts, operations, group.compact_names, outcome))
    found = [group for of_type in gathered.values() for group in of_type.groups()]
    return sorted(found, key=lambda group: LISTS.index(group.change))


def joined(found: list[Sets]) -> list[Sets]:
    """Return the same cells in sets of which no two differ in one respect alone."""
    count = 0
    while len(found) > 1 and count != len(found):
        count = len(found)
        found = _joined_by_names(found)
        for respect in _OTHER_RESPECTS:
            found = _joined_by(found, respect)
    return found


def _joined_by_names(found: list[Sets]) -> list[Sets]:
    by_rest: dict[Sets3, list[Places]] = {}
    for principals, hosts, operations, names in found:
        by_rest.setdefault((principals, hosts, operations), []).append(names)
    if len(by_rest) == len(found):
        return found
    return [(*rest, joined_of(names)) for rest, names in by_rest.items()]


def _joined_by(found: list[Sets], respect: int) -> list[Sets]:
    by_rest: dict[tuple[Any, ...], int] = {}
    for sets in found:
        rest = sets[:respect] + sets[respect + 1 :]
        by_rest[rest] = by_rest.get(rest, 0) | sets[respect]  # type: ignore[operator]
    if len(by_rest) == len(found):
        return found
    return [(*rest[:respect], own, *rest[respect:]) for rest, own in by_rest.items()]
