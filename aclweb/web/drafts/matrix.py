"""Who would gain and lose what on which resources, as a matrix: a row for each principal, a column for each resource?

Where names are many, those of one type that begin alike up to a delimiter share a column, and what is beyond the
columns shares the last one: nothing is left out. The size of a page is bounded, whatever the impact: only the cells of
the rows that are asked for are worked out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import overload

from aclweb.acl.model import Operation, ResourceType
from aclweb.acl.simulate import (
    EXACT,
    PREFIX,
    Group,
    Impact,
    NameClass,
    Phrase,
    places_in,
    set_of,
    which_of,
    who,
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
        # Thousands of groups share one set.
        self._names: dict[int, int] = {}
        members, by_type = 0, defaultdict[ResourceType, int](int)
        for group in self._groups:
            members |= group.principals
            if id(group.compact_names) not in self._names:
                self._names[id(group.compact_names)] = group.names
                by_type[group.resource_type] |= self._names[id(group.compact_names)]
        others = members & self._impact.axes.principals.others
        self._places = [others] if others else []
        self._places += [1 << place for place in places_in(members & ~others)]
        self.columns = _columns(self._impact, by_type)

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
        own = [group for group in self._groups if group.principals & members]
        cells = tuple((column, tuple(self._parts(own, column))) for column in self.columns)
        return MatrixRow(who(self._impact.axes.principals, members), cells)

    def _parts(self, groups: Iterable[Group], column: Column) -> Iterable[Part]:
        """Yield what these groups, all of one principal, are in a column: one part for each kind of difference."""
        by_kind: dict[str, list[tuple[Group, int]]] = defaultdict(list)
        for group in groups:
            within = self._names[id(group.compact_names)] & column.members.get(group.resource_type, 0)
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
            _single(impact, kind, place) for kind, names in by_type.items() for place in places_in(names)
        )
    families: dict[tuple[ResourceType, str], list[int]] = defaultdict(list)
    for kind, names in by_type.items():
        for place in places_in(names):
            families[kind, _family(impact.axes.names[kind].name_class(place))].append(place)
    columns = [
        _single(impact, kind, places[0]) if len(places) == 1 else _shared(impact, kind, start, places)
        for (kind, start), places in families.items()
    ]
    columns.sort(key=lambda each: (-each.names, each.label))
    if len(columns) <= MOST_COLUMNS + 1:
        return tuple(columns)
    return (*columns[:MOST_COLUMNS], _together(columns[MOST_COLUMNS:]))


def _family(names: NameClass) -> str:
    """Return how the names begin that share a column with a class of names; itself where it has no delimiter."""
    kind, text = names
    found = _FAMILY.match(text) if kind in (EXACT, PREFIX) else None
    return found[0] if found else f"{kind}:{text}"


def _single(impact: Impact, kind: ResourceType, place: int) -> Column:
    names = impact.axes.names[kind].name_class(place)
    is_exact = names[0] == EXACT
    return Column(
        {kind: 1 << place}, kind, named=which_of(kind, [names]), names=int(is_exact), has_others=not is_exact
    )


def _shared(impact: Impact, kind: ResourceType, start: str, places: Sequence[int]) -> Column:
    members = set_of(places)
    exact = (members & impact.axes.names[kind].all_exact).bit_count()
    return Column({kind: members}, kind, start=start, names=exact, has_others=exact < len(places))


def _together(columns: Sequence[Column]) -> Column:
    members: dict[ResourceType, int] = defaultdict(int)
    for column in columns:
        for kind, own in column.members.items():
            members[kind] |= own
    return Column(
        dict(members),
        names=sum(column.names for column in columns),
        has_others=any(column.has_others for column in columns),
        put_together=len(columns),
    )
