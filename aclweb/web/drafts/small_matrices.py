"""Who can do what on one of two sides only, as one small matrix for each principal?

A column is an operation, a row one resource or those that begin alike (`matrix.Column`), and a mark says on which side
the operation is allowed, or that it depends. Alike matrices are seen at a glance: one ACL for all topics fills a whole
one. Only differences are marked: what both sides allow and what neither does leaves a cell empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import overload

from aclweb.acl.model import Operation
from aclweb.acl.simulate import Group, Phrase, places_in, who
from aclweb.web.drafts.folds import Folds
from aclweb.web.drafts.impact_rows import ImpactRows
from aclweb.web.drafts.matrix import Column, Matrix

MATRICES_A_PAGE = 6

# Both sides of a difference, by the list of the impact that it is in.
_SIDES = {"loses": "left", "gains": "right", "depends": "depends"}

LETTERS = {
    Operation.READ: "R",
    Operation.WRITE: "W",
    Operation.CREATE: "C",
    Operation.DELETE: "X",
    Operation.ALTER: "A",
    Operation.DESCRIBE: "D",
    Operation.CLUSTER_ACTION: "CA",
    Operation.DESCRIBE_CONFIGS: "DC",
    Operation.ALTER_CONFIGS: "AC",
    Operation.IDEMPOTENT_WRITE: "IW",
    Operation.CREATE_TOKENS: "CT",
    Operation.DESCRIBE_TOKENS: "DT",
    Operation.TWO_PHASE_COMMIT: "2P",
}


@dataclass(frozen=True)
class Cell:
    """One operation on the names of a row.

    side: where it is allowed, "left" or "right"; "both" where that differs among the names; "depends"; or "" for no
    difference. is_part: whether that holds for some names of the row only.
    """

    side: str = ""
    is_part: bool = False


@dataclass(frozen=True)
class SmallMatrix:
    """The differences of one principal, or of everybody whom the impact does not tell apart. count: how many."""

    who: Phrase
    count: int
    operations: tuple[tuple[str, Operation], ...]
    rows: tuple[tuple[Column, tuple[Cell, ...]], ...]


class SmallMatrices(Sequence[SmallMatrix]):
    """All of them, for everyone first, then in the order of the folds; each is worked out when it is asked for."""

    def __init__(self, rows: ImpactRows) -> None:
        self._impact, self._groups = rows.impact, rows.groups
        self._columns = Matrix.of(rows).columns
        others = self._impact.axes.principals.others
        firsts = (self._groups[places.start] for places in Folds.of(rows))
        sets = [first.principals for first in firsts if first.change in _SIDES]
        everyone = reduce(or_, sets, 0) & others
        self._members: list[int] = [everyone] if everyone else []
        # Sets for everyone hold each principal in turn: what is about few is wider for these.
        seen = others
        for members in sorted(sets, key=lambda each: bool(each & others)):
            self._members += [1 << place for place in places_in(members & ~seen)]
            seen |= members

    @classmethod
    def of(cls, rows: ImpactRows) -> SmallMatrices:
        """Return those of these rows; worked out once."""
        known: SmallMatrices | None = rows.memo.get(cls)
        if known is None:
            known = rows.memo[cls] = cls(rows)
        return known

    def __len__(self) -> int:
        return len(self._members)

    @overload
    def __getitem__(self, place: int) -> SmallMatrix: ...

    @overload
    def __getitem__(self, place: slice) -> list[SmallMatrix]: ...

    def __getitem__(self, place: int | slice) -> SmallMatrix | list[SmallMatrix]:
        if isinstance(place, slice):
            return [self._small(members) for members in self._members[place]]
        return self._small(self._members[place])

    def _small(self, members: int) -> SmallMatrix:
        own = [each for each in self._groups if each.change in _SIDES and each.principals & members]
        differing = {operation for group in own for operation in group.operations}
        operations = sorted(differing, key=lambda each: each.code)
        rows = (
            (column, tuple(_cell(own, column, operation) for operation in operations))
            for column in self._columns
        )
        return SmallMatrix(
            who=who(self._impact.axes.principals, members),
            count=sum(
                self._impact.effects_in(replace(each, principals=each.principals & members)) for each in own
            ),
            operations=tuple((LETTERS.get(each, each.pascal), each) for each in operations),
            rows=tuple((column, cells) for column, cells in rows if any(cell.side for cell in cells)),
        )


def _cell(groups: Sequence[Group], column: Column, operation: Operation) -> Cell:
    sides: set[str] = set()
    left_out = dict(column.members)
    for group in groups:
        kind = group.resource_type
        if operation in group.operations and (within := group.names & column.members.get(kind, 0)):
            sides.add(_SIDES[group.change])
            left_out[kind] &= ~within
    if not sides:
        return Cell()
    side = sides.pop() if len(sides) == 1 else "both" if "depends" not in sides else "depends"
    return Cell(side, any(left_out.values()))
