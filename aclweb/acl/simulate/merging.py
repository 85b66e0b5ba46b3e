"""Into how few groups do equal outcomes go?

Cells are gathered session by session. Then groups that differ in one respect alone (names, principals,
hosts or operations) become one, until no two can.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from aclweb.acl.authorizer import Basis
from aclweb.acl.model import OPERATIONS, Operation, ResourceType
from aclweb.acl.simulate.budget import NAMES_OF_A_DIFFERENCE
from aclweb.acl.simulate.impact import LISTS, Group, Outcome, Side
from aclweb.acl.simulate.outcomes import OutcomeKey, key_of
from aclweb.acl.simulate.sets import Places, joined_of

_Set = TypeVar("_Set", int, Places)

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
        return self.add_on(principals, cells, (cells.names,))

    def add_on(self, principals: int, cells: Cells, names: Sequence[Places]) -> int:
        """Take the same cells on other names, of which `joined_of` tells the set."""
        outcome = cells.outcome
        key = key_of(outcome)
        found = self._outcomes.get(key)
        if found is None:
            found = self._outcomes[key] = (outcome, {})
        by_rest = found[1]
        rest = (principals, cells.hosts, cells.operations)
        there = by_rest.get(rest)
        if there is not None:
            there += names
            return 0
        by_rest[rest] = list(names)
        return 1 + sum([own.octets for own in names]) * 8 // NAMES_OF_A_DIFFERENCE

    def cells(self) -> list[Cells]:
        """Return the cells of one session, joined where they differ in names alone."""
        return [
            Cells(hosts, operations, joined_of(names), outcome)
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
    joining = _Joining(found)
    count = 0
    while len(joining.rows) > 1 and count != len(joining.rows):
        count = len(joining.rows)
        joining.by_names()
        for respect in _OTHER_RESPECTS:
            joining.by(respect)
    return joining.found()


_Row = tuple[int, int, int, int]
"""The numbers of the sets of principals, of hosts, of operations and of names."""


class _Joining:
    """Sets that are joined where they differ in one respect alone.

    Equal ones have one number, because a set can be long, and it is compared with others again and again.
    """

    def __init__(self, found: Iterable[Sets]) -> None:
        self._sets = _Numbers[int]()
        self._names = _Numbers[Places]()
        number, of_names = self._sets.number, self._names.number
        self.rows: list[_Row] = [
            (number(principals), number(hosts), number(operations), of_names(names))
            for principals, hosts, operations, names in found
        ]

    def found(self) -> list[Sets]:
        """Return the sets themselves."""
        sets, names = self._sets.all, self._names.all
        return [
            (sets[first], sets[second], sets[third], names[last]) for first, second, third, last in self.rows
        ]

    def by_names(self) -> None:
        """Join those that differ in names alone."""
        by_rest: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
        for principals, hosts, operations, names in self.rows:
            by_rest[principals, hosts, operations].append(names)
        if len(by_rest) < len(self.rows):
            self.rows = [(*rest, self._all_names(own)) for rest, own in by_rest.items()]

    def by(self, respect: int) -> None:
        """Join those that differ in principals, in hosts, or in operations alone."""
        by_rest: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        for row in self.rows:
            by_rest[row[:respect] + row[respect + 1 :]].append(row[respect])
        if len(by_rest) < len(self.rows):
            self.rows = [
                (*rest[:respect], self._all_of(own), *rest[respect:])  # type: ignore[misc]
                for rest, own in by_rest.items()
            ]

    def _all_names(self, numbers: list[int]) -> int:
        if len(numbers) == 1:
            return numbers[0]
        return self._names.number(joined_of([self._names.all[number] for number in numbers]))

    def _all_of(self, numbers: list[int]) -> int:
        if len(numbers) == 1:
            return numbers[0]
        members = 0
        for number in numbers:
            members |= self._sets.all[number]
        return self._sets.number(members)


class _Numbers(Generic[_Set]):
    """Different sets, by the numbers that they were given. all: the set of each number."""

    def __init__(self) -> None:
        self.all: list[_Set] = []
        self._numbers: dict[_Set, int] = {}

    def number(self, own: _Set) -> int:
        found = self._numbers.get(own)
        if found is None:
            found = self._numbers[own] = len(self.all)
            self.all.append(own)
        return found
