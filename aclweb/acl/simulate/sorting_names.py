"""Into which sets do patterns sort the classes of names, and on which of these can answers differ?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from aclweb.acl.authorizer import DENY_SHIFT
from aclweb.acl.matching import PrefixChain, SortedNames
from aclweb.acl.model import WILDCARD, computed_once
from aclweb.acl.simulate.patterns import Entry, FiledPattern, OwnNames, Pattern, Patterns, PatternWithBindings
from aclweb.acl.simulate.sets import Compact, Windowed, places_in, set_of

AnyPattern = TypeVar("AnyPattern", Pattern, FiledPattern)

_MOST_LOOKED_UP = 64
"""So many times a name is looked for under a pattern sooner than the names are sorted by the patterns."""


class CoveredNames(NamedTuple):
    """Names that the same patterns cover: a set of classes, and the bindings with these patterns."""

    names: Compact
    entries: list[Entry]

    @property
    def is_covered_by_one_that_stays(self) -> bool:
        """Whether one of the bindings is there before and afterwards."""
        return any(entry.before and entry.after for entry in self.entries)


def sorted_by_patterns(patterns: Collection[PatternWithBindings], region: int) -> Iterator[CoveredNames]:
    """Yield the names of a region, once each, with the bindings that cover them.

    Literals and prefixes lie in one another or apart, so that each name has a shortest way up to all
    that cover it. The few others (LITERAL `*`, the empty prefix, GLOBs) split what that yields.
    """
    if are_few(len(patterns), region):
        yield from _looked_up(patterns, region)
        return
    literals: list[PatternWithBindings] = []
    prefixes: dict[str, PatternWithBindings] = {}
    wide: list[PatternWithBindings] = []
    for pattern in patterns:
        covers = pattern.covers
        if covers.place >= 0:
            literals.append(pattern)
        elif covers.is_wide:
            wide.append(pattern)
        else:
            prefixes[covers.text] = pattern
    nested = _nested(literals, prefixes, region) if literals or prefixes else _all_of(region)
    if not wide:
        yield from nested
        return
    for found in nested:
        yield from split_by(found, wide)


def are_few(patterns: int, region: int) -> bool:
    """Whether names are looked up under so many patterns sooner than they are sorted by these."""
    return max(patterns, 1) * region.bit_count() <= _MOST_LOOKED_UP


def _looked_up(patterns: Collection[PatternWithBindings], region: int) -> Iterator[CoveredNames]:
    """Yield the names of a region, once each, with the bindings that cover them, name by name."""
    ordered = list(patterns)
    sets = [(each.covers.place, each.covers.own_before, each.covers.own_after) for each in ordered]
    found: dict[tuple[tuple[int, int, int], ...], int] = {}
    for place in places_in(region):
        covering: list[tuple[int, int, int]] = []
        for number, (literal, was, comes) in enumerate(sets):
            if literal >= 0:
                if literal == place:
                    covering.append((number, 1, 1))
                continue
            before = was >> place & 1
            after = before if comes is was else comes >> place & 1
            if before or after:
                covering.append((number, before, after))
        key = tuple(covering)
        found[key] = found.get(key, 0) | 1 << place
    for key, names in found.items():
        entries: list[Entry] = []
        for number, before, after in key:
            entries += on_sides(ordered[number].entries, is_before=bool(before), is_after=bool(after))
        yield CoveredNames(Compact.of(names), entries)


def _all_of(region: int) -> Iterator[CoveredNames]:
    if region:
        yield CoveredNames(Compact.of(region), [])


def _nested(
    literals: list[PatternWithBindings], prefixes: dict[str, PatternWithBindings], region: int
) -> Iterator[CoveredNames]:
    """Yield the names of a region, once each, with the bindings of the literals and prefixes that cover them."""
    chain = PrefixChain.of(prefixes)
    above: list[list[Entry]] = []
    for prefix, parent in zip(chain.prefixes, chain.parents, strict=True):
        own = prefixes[prefix].entries
        above.append(own + above[parent] if parent >= 0 else own)
    places: list[int] = []
    windowed = Windowed(region)
    for pattern in literals:
        literal = pattern.covers.place
        if windowed.holds(literal):
            place = chain.longest(pattern.covers.text) if prefixes else -1
            places.append(literal)
            entries = pattern.entries if place < 0 else pattern.entries + above[place]
            yield CoveredNames(Compact(1, literal), entries)
    rest = region ^ set_of(places)
    for place in range(len(chain.prefixes) - 1, -1, -1):  # longer ones before those that they begin with
        names = prefixes[chain.prefixes[place]].covers.among(rest)
        if names:
            yield CoveredNames(names, above[place])
            rest ^= names.whole
    yield from _all_of(rest)


def split_by(found: CoveredNames, wide: Iterable[PatternWithBindings]) -> Iterator[CoveredNames]:
    """Yield the same names by which of these patterns cover them too."""
    parts = [found]
    for pattern in wide:
        covers = pattern.covers
        is_same = covers.own_before is covers.own_after
        split: list[CoveredNames] = []
        for names, entries in parts:
            inside = names.within(covers.own_before)
            if inside is names and is_same:
                split.append(CoveredNames(names, entries + pattern.entries))
                continue
            for half, is_before in ((inside, True), (names.less(inside), False)):
                same = half.within(covers.own_after)
                for part, is_after in ((same, True), (half.less(same), False)):
                    if part:
                        own = on_sides(pattern.entries, is_before=is_before, is_after=is_after)
                        split.append(CoveredNames(part, entries + own))
        parts = split
    yield from parts


def on_sides(entries: list[Entry], *, is_before: bool, is_after: bool) -> list[Entry]:
    """Return what is left of some bindings that count on these sides alone."""
    if is_before and is_after:
        return entries
    counting = (
        entry._replace(before=entry.before if is_before else 0, after=entry.after if is_after else 0)
        for entry in entries
    )
    return [entry for entry in counting if entry.before or entry.after]


class SharedPatterns:
    """The patterns of the bindings that many sessions share, about one operation.

    region: where an answer to everybody can differ. losing: where what comes and goes is more than ALLOWs.
    """

    def __init__(self, patterns: Patterns, settled: Settled, everywhere: int, wanted: int) -> None:
        """settled: which names' answers are settled by what stays. everywhere: where any answer can differ.

        wanted: all names that count.
        """
        self.patterns, self._settled, self._wanted = patterns, settled, wanted
        self._names = OwnNames.of(patterns.values())
        self.region = (self._names.changed | everywhere) & wanted
        self.losing = self._names.losing

    @computed_once
    def tree(self) -> PatternTree:
        """What these patterns sort names by, but for names that are denied before and after."""
        return self._tree(self._settled.denied(self._names))

    @computed_once
    def gaining_tree(self) -> PatternTree:
        """The same where only ALLOWs come and go, so that what an ALLOW that stays is for is left out too."""
        return self._tree(self._settled.denied(self._names) | self._settled.allowed(self._names))

    def _tree(self, settled: int) -> PatternTree:
        return PatternTree(
            list(self.patterns.values()), settled, self.region & ~settled, self._wanted & ~settled
        )


@dataclass(frozen=True, slots=True)
class Settled:
    """On which names bindings that stay settle answers, so that none can differ.

    is_known: whether nothing else can change them: no setting, and no binding whose pattern is unknown.
    new: the names that do not exist before, on which what is allowed is always a difference.
    """

    is_known: bool
    new: int

    def denied(self, names: OwnNames) -> int:
        """Return the names that some patterns deny to every host on both sides."""
        return names.denied if self.is_known else 0

    def allowed(self, names: OwnNames) -> int:
        """Return those that they allow to every host; it settles where only ALLOWs come and go."""
        return names.allowed & ~self.new if self.is_known else 0

    def left_by(self, entries: Iterable[Entry], bit: int, losing: int, names: int) -> int:
        """Return those of some names on which answers can differ beside these bindings, which stay and cover them all.

        losing: the names on which something else than an ALLOW comes or goes.
        """
        for entry in entries:
            if entry.host != WILDCARD or not self.is_known:
                continue
            if entry.before >> DENY_SHIFT & bit:
                return 0
            if entry.before & bit:
                names &= losing | self.new
        return names


class Neighbours(Generic[AnyPattern]):
    """Patterns, to be found by the names that they share with others."""

    def __init__(self, patterns: Collection[AnyPattern]) -> None:
        self._patterns: Collection[AnyPattern] = patterns
        self._wide: list[AnyPattern] = [pattern for pattern in patterns if pattern.covers.is_wide]

    @computed_once
    def _prefixes(self) -> dict[str, AnyPattern]:
        return {p.covers.text: p for p in self._patterns if not (p.covers.place >= 0 or p.covers.is_wide)}

    @computed_once
    def _chain(self) -> PrefixChain:
        return PrefixChain.of(self._prefixes)

    @computed_once
    def _sorted_prefixes(self) -> SortedNames:
        return SortedNames.of_sorted(self._chain.prefixes)

    @computed_once
    def _literals(self) -> dict[str, AnyPattern]:
        return {p.covers.text: p for p in self._patterns if p.covers.place >= 0}

    @computed_once
    def _sorted_literals(self) -> SortedNames:
        return SortedNames(self._literals)

    def near(self, local: Iterable[PatternWithBindings]) -> Iterator[AnyPattern]:
        """Yield the patterns that can cover a name which one of these LITERALs and prefixes covers."""
        yield from self._wide
        if len(self._wide) == len(self._patterns):
            return
        found: dict[int, AnyPattern] = {}
        above: str | None = None
        for text, is_prefix in sorted((each.covers.text, each.covers.place < 0) for each in local):
            if above is not None and text.startswith(above):
                continue
            for place in self._chain.places(text):
                pattern = self._prefixes[self._chain.prefixes[place]]
                found[id(pattern)] = pattern
            if is_prefix:
                above = text
                for texts, patterns in (
                    (self._sorted_prefixes, self._prefixes),
                    (self._sorted_literals, self._literals),
                ):
                    start, end = texts.range_of(text)
                    for each in texts.names[start:end]:
                        found[id(patterns[each])] = patterns[each]
            elif (literal := self._literals.get(text)) is not None:
                found[id(literal)] = literal
        yield from found.values()


class PatternTree:
    """Patterns, and the names that they sort.

    settled: names on which no answer can differ. region: those on which one can to everybody.
    unsettled: all names that count but the settled ones.
    """

    def __init__(self, patterns: list[Pattern], settled: int, region: int, unsettled: int) -> None:
        self.settled, self.region, self._unsettled = settled, region, unsettled
        self._patterns = (
            [each for each in patterns if each.covers.touches(unsettled)] if settled else patterns
        )

    @computed_once
    def neighbours(self) -> Neighbours[Pattern]:
        """These patterns, to be found by the names that they share with others."""
        return Neighbours(self._patterns)

    @computed_once
    def in_region(self) -> list[CoveredNames]:
        """The names on which an answer to everybody can differ, by the patterns that cover them."""
        return list(sorted_by_patterns(self._patterns, self.region))

    @computed_once
    def anywhere(self) -> list[CoveredNames]:
        """All names, by the patterns that cover them; as one set where none does."""
        return list(sorted_by_patterns(self._patterns, self._unsettled))
