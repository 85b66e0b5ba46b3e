"""Where does each class of names, principals and hosts lie, so that a set of them is a set of places?"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice, repeat
from typing import overload

from aclweb.acl.matching import SortedNames
from aclweb.acl.model import computed_once
from aclweb.acl.simulate.sets import (
    Places,
    Run,
    flags_of,
    least,
    least_of_runs,
    places_in,
    run,
    runs_of,
    set_of,
    set_of_runs,
)

EXACT, PREFIX, PATTERN, ANY_OTHER = "EXACT", "PREFIX", "PATTERN", "ANY_OTHER"

NameClass = tuple[str, str]
"""Kind and text of a class of names.

EXACT: the name `text`. PREFIX: the names that nobody gave, that begin with `text` and with no longer
PREFIXED pattern. PATTERN: those that match the GLOB `text`. ANY_OTHER: those under no PREFIXED pattern.
"""


@dataclass(frozen=True)
class NameAxis:
    """The classes of names of one resource type, in this order.

    exact: names that were given, are new, or that a LITERAL names. prefixes: PREFIX classes.
    patterns: PATTERN classes. has_any_other: whether ANY_OTHER comes last. exact and prefixes are sorted.
    given: the set of those exact names that exist. new: the set of those that do not exist before.
    """

    exact: Sequence[str]
    prefixes: Sequence[str] = ()
    patterns: Sequence[str] = ()
    has_any_other: bool = False
    given: int = 0
    new: int = 0

    @classmethod
    def of(cls, names: Iterable[NameClass]) -> NameAxis:
        """Return the axis of these classes alone."""
        by_kind: dict[str, list[str]] = {}
        for kind, text in sorted(names):
            by_kind.setdefault(kind, []).append(text)
        return cls(
            by_kind.get(EXACT, []),
            by_kind.get(PREFIX, []),
            by_kind.get(PATTERN, []),
            ANY_OTHER in by_kind,
        )

    def set_of(self, names: Iterable[NameClass]) -> int:
        """Return the set of these classes, which are all of this axis."""
        return set_of(map(self._place_of_class, names))

    def _place_of_class(self, names: NameClass) -> int:
        kind, text = names
        if kind == EXACT:
            return self.place_of(text)
        if kind == PREFIX:
            return len(self.exact) + bisect_left(self.prefixes, text)
        return self.first_pattern + (self.patterns.index(text) if kind == PATTERN else len(self.patterns))

    @property
    def size(self) -> int:
        return self.first_pattern + len(self.patterns) + self.has_any_other

    @computed_once
    def first_pattern(self) -> int:
        """The place of the first PATTERN class."""
        return len(self.exact) + len(self.prefixes)

    @computed_once
    def all(self) -> int:
        """The set of all classes."""
        return (1 << self.size) - 1

    @computed_once
    def all_exact(self) -> int:
        """The set of all single names."""
        return (1 << len(self.exact)) - 1

    def name_class(self, place: int) -> NameClass:
        """Return kind and text of the class at a place."""
        place_of_prefix = place - len(self.exact)
        if place_of_prefix < 0:
            return EXACT, self.exact[place]
        if place_of_prefix < len(self.prefixes):
            return PREFIX, self.prefixes[place_of_prefix]
        pattern = place - self.first_pattern
        return (PATTERN, self.patterns[pattern]) if pattern < len(self.patterns) else (ANY_OTHER, "")

    def classes(self, members: int) -> Iterator[NameClass]:
        """Yield kind and text of each class of a set."""
        single = len(self.exact)
        for start, end in runs_of(members):
            # Most are single names, of which a run is taken out at once.
            yield from zip(repeat(EXACT), self.exact[start : min(end, single)], strict=False)
            yield from map(self.name_class, range(max(start, single), end))

    def cut_to(self, kept: int) -> NameAxis:
        """Return the axis of these classes alone."""
        numbers = Renumbering(kept)
        exact = kept & self.all_exact
        prefixes = kept >> len(self.exact) & run(0, len(self.prefixes))
        patterns = kept >> self.first_pattern & run(0, len(self.patterns))
        return NameAxis(
            _texts_of(self.exact, exact),
            _texts_of(self.prefixes, prefixes),
            tuple(self.patterns[place] for place in places_in(patterns)),
            self.has_any_other and bool(kept >> self.size - 1),
            given=numbers.of(self.given & kept),
            new=numbers.of(self.new & kept),
        )

    def place_of(self, name: str) -> int:
        """Return the place of a single name, -1 if it has none."""
        place = bisect_left(self.exact, name)
        return place if place < len(self.exact) and self.exact[place] == name else -1

    def one(self, name: str) -> int:
        """Return the set of a single name, the empty set if it has no place."""
        place = self.place_of(name)
        return 1 << place if place >= 0 else 0

    def starting_with(self, prefix: str) -> int:
        """Return the set of the exact names and PREFIX classes that begin with a text."""
        exact, prefixes = self.runs_starting_with(prefix)
        return run(*exact) | run(*prefixes)

    def runs_starting_with(self, prefix: str) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return start and end of the places of the exact names that begin with a text, and of the PREFIX classes."""
        first, last = self.sorted_prefixes.range_of(prefix)
        return self.sorted_exact.range_of(prefix), (first + len(self.exact), last + len(self.exact))

    def runs_by_prefix(self) -> dict[str, tuple[Run, Run]]:
        """Return the same for the text of each PREFIX class."""
        exact = self.sorted_exact.ranges_of(self.prefixes)
        classes = self.sorted_prefixes.ranges_of(self.prefixes)
        count = len(self.exact)
        return {
            text: (own, (first + count, last + count))
            for text, own, (first, last) in zip(self.prefixes, exact, classes, strict=True)
        }

    def beginning_with(self, start: str) -> int:
        """Return the set of the classes whose names all begin with a text; `""` means every class."""
        return self.starting_with(start) if start else self.all

    def place_of_rest(self, start: str) -> int:
        """Return the place of the class of those names beginning with a text that nobody gave, -1 for none."""
        place = bisect_left(self.prefixes, start)
        if place < len(self.prefixes) and self.prefixes[place] == start:
            return len(self.exact) + place
        return self.size - 1 if not start and self.has_any_other else -1

    def holding(self, text: str) -> int:
        """Return the set of the classes whose text, in small letters, holds another."""
        if not text:
            return self.all
        classes = enumerate(self.classes(self.all))
        return set_of(place for place, (_, own) in classes if text in own.casefold())

    def matching(self, names: Iterable[str]) -> int:
        """Return the set of those of these names that are exact ones."""
        return set_of(place for place in map(self.place_of, names) if place >= 0)

    @computed_once
    def sorted_exact(self) -> SortedNames:
        """The exact names, to be searched."""
        return SortedNames.of_sorted(self.exact)

    @computed_once
    def sorted_prefixes(self) -> SortedNames:
        """The texts of the PREFIX classes, to be searched."""
        return SortedNames.of_sorted(self.prefixes)


def _texts_of(texts: Sequence[str], members: int) -> tuple[str, ...]:
    """Return those of some texts whose places are in a set."""
    if members.bit_count() * _FEW < len(texts):
        return tuple(texts[place] for place in places_in(members))
    return tuple(compress(texts, flags_of(members, len(texts))))


_FEW = 16
"""Of so many texts for each that is wanted, each is taken out sooner than all are looked at."""


class Renumbering:
    """How the places of an axis are numbered anew when it is cut down to some of its classes."""

    def __init__(self, kept: int) -> None:
        self._runs = list(runs_of(kept))
        self._starts = [start for start, _ in self._runs]
        self._new_starts: list[int] = []
        count = 0
        for start, end in self._runs:
            self._new_starts.append(count)
            count += end - start
        self._is_same = len(self._runs) <= 1 and self._starts[:1] in ([], [0])
        self._kept, self._all = kept, run(0, count)

    def of(self, members: int) -> int:
        """Return a set of kept places by their new numbers."""
        if self._is_same:
            return members
        others = self._kept ^ members
        if others.bit_count() < members.bit_count():
            # All but a few are many runs where what is kept is.
            return self._all ^ set_of_runs(self._moved(runs_of(others)))
        return set_of_runs(self._moved(runs_of(members)))

    def compact(self, members: Places) -> Places:
        """Return a set of kept places by their new numbers, without unfolding it."""
        if self._is_same:
            return members
        return least_of_runs(self._moved(members.runs()))

    def runs(self, members: Places) -> Iterator[tuple[int, int]]:
        """Yield start and end of runs of kept places by their new numbers; neighbours may be in two runs."""
        return members.runs() if self._is_same else self._moved(members.runs())

    def _moved(self, runs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for start, end in runs:
            number = bisect_right(self._starts, start) - 1
            moved = self._new_starts[number] - self._starts[number]
            yield start + moved, end + moved


class NameSet(Sequence[NameClass]):
    """Some classes of names of an axis, in its order."""

    def __init__(self, axis: NameAxis, members: int) -> None:
        self.axis, self._members = axis, least(members)

    @property
    def members(self) -> int:
        """The set of their places."""
        return self._members.whole

    @property
    def weight(self) -> int:
        """About how many bytes this takes, but for the axis."""
        return 200 + self._members.octets

    @computed_once
    def _length(self) -> int:
        return self._members.size

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[NameClass]:
        return self.axis.classes(self.members)

    @overload
    def __getitem__(self, place: int) -> NameClass: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[NameClass, ...]: ...

    def __getitem__(self, place: int | slice) -> NameClass | tuple[NameClass, ...]:
        if isinstance(place, slice):
            return tuple(self)[place]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return next(islice(self, place % len(self), None))

    @property
    def none(self) -> NameSet:
        """The empty set of the same axis."""
        return NameSet(self.axis, 0)

    def __or__(self, other: NameSet) -> NameSet:
        """Return the classes of both, which are of one axis."""
        return NameSet(self.axis, self.members | other.members)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NameSet):
            if self.axis is other.axis:
                return self._members == other._members
            return len(self) == len(other) and tuple(self) == tuple(other)
        return tuple(self) == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash((len(self), self[0] if self else None))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def not_in(self, other: Iterable[NameClass]) -> Iterator[NameClass]:
        """Yield those that another set lacks."""
        if isinstance(other, NameSet) and other.axis is self.axis:
            return self.axis.classes(self.members & ~other.members)
        others = set(other)
        return (each for each in self if each not in others)


@dataclass(frozen=True)
class TextAxis:
    """Principals or hosts with a class of their own, sorted, and after them one place for all others.

    classes_of_others: how many classes the last place holds. More than one where the axis was cut down.
    """

    texts: Sequence[str]
    classes_of_others: int = 1

    @computed_once
    def others(self) -> int:
        """The set of the class that holds everything without a class of its own."""
        return 1 << len(self.texts)

    @computed_once
    def all(self) -> int:
        """The set of all classes."""
        return (1 << len(self.texts) + 1) - 1

    @computed_once
    def places(self) -> dict[str, int]:
        """text -> its place."""
        return {text: place for place, text in enumerate(self.texts)}

    def one(self, text: str) -> int:
        """Return the set of one text."""
        return 1 << self.places[text]

    def count(self, members: int) -> int:
        """Return how many classes a set holds."""
        count = members.bit_count()
        return count + self.classes_of_others - 1 if members >> len(self.texts) else count

    def cut_to(self, kept: int) -> TextAxis:
        """Return the axis on which these texts alone have a place; the class of all others holds the rest."""
        texts = self.named(kept)
        return TextAxis(texts, self.classes_of_others + len(self.texts) - len(texts))

    def holding(self, text: str) -> int:
        """Return the set of the texts that, in small letters, hold another; everything for an empty one."""
        if not text:
            return self.all
        return set_of(place for place, own in enumerate(self.texts) if text in own.casefold())

    def named(self, members: int) -> tuple[str, ...]:
        """Return the texts of a set, without the class of all others."""
        runs = runs_of(members & ~self.others)
        return tuple(chain.from_iterable(self.texts[start:end] for start, end in runs))

    def described(self, members: int) -> tuple[bool, tuple[str, ...]]:
        """Return whether a set is all but some texts, and these; or False and the texts that it holds."""
        if members & self.others:
            return True, self.named(self.all & ~members)
        return False, self.named(members)
