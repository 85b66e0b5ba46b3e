"""Who would gain and lose what on which resources, as a matrix: a row for each principal, a column for each resource?

Where names are many, those of one type that begin alike up to a delimiter share a column, and what is beyond the
columns shares the last one: nothing is left out. The size of a page is bounded, whatever the impact: the columns are
worked out once for its rows, and only the cells of the rows that are asked for.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import attrgetter, or_
from typing import Self, overload

from aclweb.acl.model import Operation, ResourceType
from aclweb.acl.simulate import (
    EXACT,
    PREFIX,
    Group,
    Impact,
    NameAxis,
    Phrase,
    Places,
    Run,
    places_in,
    runs_of,
    set_of_runs,
    which_of,
    who,
    whole_of,
)
from aclweb.web.drafts.impact_rows import KINDS, ImpactRows

ROWS_A_PAGE = 6
MOST_COLUMNS = 6
MOST_OPERATIONS = 3

_FAMILY = re.compile(r"[^._-]*[._-]")

_Piece = tuple[int, int]
"""Names, and the hosts from which an operation on them differs, as sets on the axes of the impact."""


@dataclass(frozen=True)
class Column:
    """Names that share a column, as sets on the axes of the impact.

    start: with what all of them begin, where they share a column for that. named: the one class of names that it is
    otherwise. names: how many single names; has_others: whether names that nobody gave are in it too. put_together:
    how many columns the last one stands for; 0 for others.
    """

    members: Mapping[ResourceType, int]
    resource_type: ResourceType | None = None
    start: str = ""
    named: Phrase = ()
    names: int = 0
    has_others: bool = False
    put_together: int = 0

    @property
    def label(self) -> str:
        """What it is called beside a cell, where there is no head."""
        if self.put_together:
            return "other resources"
        return self.start or "".join(piece.text for piece in self.named)


@dataclass(frozen=True)
class Part:
    """What one cell says of one kind of difference. more: operations that are not spelled out. limits: on what not."""

    kind: str
    operations: tuple[Operation, ...]
    more: int
    limits: str


@dataclass(frozen=True)
class MatrixRow:
    """One principal, or everybody whom the impact does not tell apart. cells: in the order of the columns."""

    who: Phrase
    cells: tuple[tuple[Column, tuple[Part, ...]], ...]


class Matrix(Sequence[MatrixRow]):
    """All rows, those for everyone first; each is worked out when it is asked for."""

    def __init__(self, rows: ImpactRows) -> None:
        self._impact, self._groups = rows.impact, rows.groups
        members = 0
        # Thousands of groups share one set.
        names = defaultdict[ResourceType, dict[int, Places]](dict)
        for group in self._groups:
            members |= group.principals
            names[group.resource_type][id(group.compact_names)] = group.compact_names
        others = members & self._impact.axes.principals.others
        self._places = [others] if others else []
        self._places += [1 << place for place in places_in(members & ~others)]
        self.columns = _columns(self._impact, {kind: whole_of(sets.values()) for kind, sets in names.items()})

    @classmethod
    def of(cls, rows: ImpactRows) -> Self:
        """Return the one of these rows; worked out once."""
        known: Self | None = rows.memo.get(cls)
        if known is None:
            known = rows.memo[cls] = cls(rows)
        return known

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> MatrixRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[MatrixRow]: ...

    def __getitem__(self, place: int | slice) -> MatrixRow | list[MatrixRow]:
        if isinstance(place, slice):
            return [self._row(members) for members in self._places[place]]
        return self._row(self._places[place])

    def _row(self, members: int) -> MatrixRow:
        own = [(group, group.names) for group in self._groups if group.principals & members]
        cells = tuple((column, tuple(self._parts(own, column))) for column in self.columns)
        return MatrixRow(who(self._impact.axes.principals, members), cells)

    def _parts(self, groups: Iterable[tuple[Group, int]], column: Column) -> Iterable[Part]:
        """Yield what some groups of one principal are in a column, a part for each kind of difference.

        groups: each with its names.
        """
        by_kind: dict[str, list[tuple[Group, int]]] = defaultdict(list)
        for group, names in groups:
            within = names & column.members.get(group.resource_type, 0)
            if within:
                by_kind[group.change].append((group, within))
        for kind in KINDS:
            if found := by_kind.get(kind):
                yield self._part(kind, found, column)

    def _part(self, kind: str, found: Sequence[tuple[Group, int]], column: Column) -> Part:
        reached: dict[tuple[Operation, ResourceType], list[_Piece]] = defaultdict(list)
        for group, within in found:
            for operation in group.operations:
                reached[operation, group.resource_type].append((within, group.hosts))
        operations = sorted({operation for operation, _ in reached}, key=lambda each: each.code)
        is_part = any(
            reduce(or_, (names for names, _ in reached.get((operation, kind), ())), 0) != names_of_type
            for operation in operations
            for kind, names_of_type in column.members.items()
        )
        # Most operations of a cell come from the same groups.
        distinct = set(map(tuple, reached.values()))
        every_host = self._impact.axes.hosts.all
        limits = [
            words
            for words, holds in (
                ("some names", is_part),
                ("some hosts", not all(_is_from_everywhere(pieces, every_host) for pieces in distinct)),
            )
            if holds
        ]
        shown = tuple(operations[:MOST_OPERATIONS])
        return Part(kind, shown, len(operations) - len(shown), ", ".join(limits))


def _is_from_everywhere(pieces: Iterable[_Piece], every_host: int) -> bool:
    """Whether these pieces together hold each of their names from every host."""
    by_hosts: dict[int, int] = defaultdict(int)
    for names, hosts in pieces:
        by_hosts[hosts] |= names
    whole = by_hosts.pop(every_host, 0)
    left = reduce(or_, by_hosts.values(), 0) & ~whole
    # The names that are left, by the hosts from which they are held so far.
    held = {0: left} if left else {}
    for hosts, names in by_hosts.items():
        for before, own in list(held.items()):
            if both := own & names:
                held[before] ^= both
                held[before | hosts] = held.get(before | hosts, 0) | both
    return all(hosts == every_host for hosts, names in held.items() if names)


def _columns(impact: Impact, by_type: Mapping[ResourceType, int]) -> tuple[Column, ...]:
    """Return at most MOST_COLUMNS of single names or of names that begin alike, and one of the rest."""
    if sum(names.bit_count() for names in by_type.values()) <= MOST_COLUMNS + 1:
        return tuple(
            _Family(impact, kind, "", [(place, place + 1)]).column
            for kind, names in by_type.items()
            for place in places_in(names)
        )
    families = [each for kind, names in by_type.items() for each in _families(impact, kind, names)]
    families.sort(key=attrgetter("names"), reverse=True)
    if len(families) <= MOST_COLUMNS + 1:
        return tuple(sorted((family.column for family in families), key=_place))
    # As many have as many names as the last one shown, labels settle which of them are shown.
    least = families[MOST_COLUMNS - 1].names
    shown = sorted((each for each in families if each.names >= least), key=lambda each: _place(each.column))
    columns = [family.column for family in shown[:MOST_COLUMNS]]
    left = [*shown[MOST_COLUMNS:], *families[len(shown) :]]
    return (*columns, _together(left, by_type, columns))


class _Family:
    """Names of one type that share a column, or one that has its own. start: how they begin. runs: of their places."""

    def __init__(self, impact: Impact, kind: ResourceType, start: str, runs: list[Run]) -> None:
        self._impact, self._kind, self._start, self._runs = impact, kind, start, runs
        single_names = len(impact.axes.names[kind].exact)
        self.names = sum(max(0, min(end, single_names) - first) for first, end in runs)

    @property
    def size(self) -> int:
        """How many classes of names these are."""
        return sum(end - start for start, end in self._runs)

    @property
    def has_others(self) -> bool:
        return self.names < self.size

    @property
    def column(self) -> Column:
        members = {self._kind: set_of_runs(self._runs)}
        start, named = self._start, Phrase()
        if self.size == 1:
            name = self._impact.axes.names[self._kind].name_class(self._runs[0][0])
            start, named = "", which_of(self._kind, [name])
        return Column(members, self._kind, start, named, names=self.names, has_others=self.has_others)


def _place(column: Column) -> tuple[int, str]:
    return -column.names, column.label


def _families(impact: Impact, kind: ResourceType, names: int) -> Iterable[_Family]:
    """Return the names that begin alike up to a delimiter, and each that has none, in the order of their first ones."""
    axis = impact.axes.names[kind]
    found: dict[str, list[Run]] = {}
    alike, start, behind = "", 0, 0  # the family at hand, and the places between which every name is of it
    for first, end in runs_of(names):
        at = first
        while at < end:
            if not start <= at < behind:
                alike, (start, behind) = _family(axis, at)
            upto = min(end, behind)
            found.setdefault(alike, []).append((at, upto))
            at = upto
    return [_Family(impact, kind, alike, runs) for alike, runs in found.items()]


def _family(axis: NameAxis, place: int) -> tuple[str, Run]:
    """Return how the names begin that share a column with a class of names, and the places around it that they have.

    One that has no delimiter is by itself.
    """
    kind, text = axis.name_class(place)
    found = _FAMILY.match(text) if kind in (EXACT, PREFIX) else None
    if found is None:
        return f"{kind}:{text}", (place, place + 1)
    return found[0], axis.runs_starting_with(found[0])[kind == PREFIX]


def _together(
    families: Sequence[_Family], by_type: Mapping[ResourceType, int], shown: Sequence[Column]
) -> Column:
    """Return the column of some families: the names of each type that the columns shown have not."""
    members = dict(by_type)
    for column in shown:
        for kind, own in column.members.items():
            members[kind] &= ~own
    return Column(
        {kind: names for kind, names in members.items() if names},
        names=sum(family.names for family in families),
        has_others=any(family.has_others for family in families),
        put_together=len(families),
    )
