"""Into which classes of names do one session's patterns sort the names, and which bindings cover each?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from aclweb.acl.authorizer import ALL_BITS, DENY_SHIFT, MAYBE_SHIFT, mask_of
from aclweb.acl.matching import PrefixChain, SortedNames
from aclweb.acl.model import WILDCARD, AclBinding, Operation, PatternType, PermissionType
from aclweb.acl.simulate.sets import Compact, Windowed, places_in, set_of

PatternKey = tuple[int, str]
"""The code of a pattern type, and the text."""

_PREFIXED = PatternType.PREFIXED

# By `_value_`, because the hash of an enum is a Python function and this is asked for every binding.
_MASKS = {
    (permission._value_, operation._value_): mask_of(operation, permission)
    for permission in (PermissionType.ALLOW, PermissionType.DENY, PermissionType.UNKNOWN)
    for operation in Operation
    if operation is not Operation.ANY
}


def mask_of_parts(kind: tuple[int, int]) -> int:
    """Return what a binding with these codes of its permission and its operation adds to a mask."""
    return _MASKS[kind]


def mask_of_binding(binding: AclBinding) -> int:
    """Return what a binding adds to a mask."""
    return _MASKS[binding.permission_type._value_, binding.operation._value_]


def operations_in(mask: int) -> int:
    """Return the operations about which a mask says something, or perhaps does, by their codes."""
    mask |= mask >> MAYBE_SHIFT
    return (mask | mask >> DENY_SHIFT) & ALL_BITS


def operations_of_binding(binding: AclBinding) -> int:
    """Return the operations about which a binding says something, or perhaps does, by their codes."""
    return operations_in(mask_of_binding(binding))


class Entry(NamedTuple):
    """One binding. before, after: what it adds to a mask on either side where it covers a name; 0 if it is not there.

    operations: those about which it says something, by their codes. is_changed: whether it comes, goes, or is
    read otherwise for its principal or host.
    """

    binding: AclBinding
    host: str
    before: int
    after: int
    operations: int
    is_changed: bool


@dataclass(frozen=True, slots=True)
class UnknownPatterns:
    """A session's bindings with an unknown pattern, on either side. changed: the operations about which one changes."""

    before: Sequence[AclBinding] = ()
    after: Sequence[AclBinding] = ()
    changed: int = 0


NO_UNKNOWN = UnknownPatterns()


@dataclass(slots=True)
class PatternNames:
    """The classes of names that one pattern covers. place: of the only one, of a LITERAL; else -1.

    own_before, own_after: the sets of all others; read `before` and `after`, which hold for both. runs: those of
    a prefix as two runs of places, where they are no more than these.
    """

    pattern_type: PatternType
    text: str
    place: int
    own_before: int
    own_after: int
    runs: tuple[tuple[int, int], tuple[int, int]] | None = None

    @property
    def key(self) -> PatternKey:
        return self.pattern_type._value_, self.text

    @property
    def is_wide(self) -> bool:
        """Whether it is not for one name, nor for those that begin with a text."""
        return self.place < 0 and not (self.pattern_type is _PREFIXED and self.text)

    @property
    def before(self) -> int:
        """The classes that it covers before."""
        return self.own_before if self.place < 0 else 1 << self.place

    @property
    def after(self) -> int:
        """The classes that it covers afterwards."""
        return self.own_after if self.place < 0 else 1 << self.place

    @property
    def moved(self) -> int:
        """The classes that it covers on one side alone."""
        return 0 if self.own_before is self.own_after else self.own_before ^ self.own_after

    def touches(self, names: int) -> bool:
        """Whether it covers one of these classes, before or afterwards."""
        if self.place >= 0:
            return bool(names >> self.place & 1)
        if self.own_before & names:
            return True
        return self.own_after is not self.own_before and bool(self.own_after & names)

    def among(self, names: int) -> Compact:
        """Return those of some classes that it covers before."""
        if self.runs is not None:
            return Compact.cut(names, *self.runs)
        return Compact.of(self.own_before & names)


@dataclass(slots=True)
class Pattern:
    """One pattern with those of a session's bindings that have it and say something about one operation.

    is_changed: whether one comes, goes or is read otherwise. only_allows: whether those that do are ALLOWs for
    certain. keeps_deny, keeps_allow: whether a DENY, or an ALLOW, stays that is for every host.
    """

    covers: PatternNames
    entries: list[Entry]
    is_changed: bool = False
    only_allows: bool = True
    keeps_deny: bool = False
    keeps_allow: bool = False

    def joined_with(self, other: Pattern) -> Pattern:
        """Return the same pattern with the bindings of both."""
        return Pattern(
            self.covers,
            self.entries + other.entries,
            self.is_changed or other.is_changed,
            self.only_allows and other.only_allows,
            self.keeps_deny or other.keeps_deny,
            self.keeps_allow or other.keeps_allow,
        )


Patterns = dict[PatternKey, Pattern]

AnyPattern = TypeVar("AnyPattern", "Pattern", "FiledPattern")


@dataclass(slots=True)
class FiledPattern:
    """One pattern with all bindings of a principal that have it.

    operations: all that they are about. changed: those about which an answer can change by one of them.
    masks: those of all of them.
    """

    covers: PatternNames
    entries: list[Entry] = field(default_factory=list)
    operations: int = 0
    changed: int = 0
    masks: set[int] = field(default_factory=set)

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.masks.add(entry.before | entry.after)
        self.operations |= entry.operations
        if entry.is_changed or self.covers.moved:
            self.changed |= entry.operations

    def about(self, bit: int) -> Pattern:
        """Return it with those of its bindings that say something about the operation of a bit."""
        found = Pattern(self.covers, [entry for entry in self.entries if entry.operations & bit])
        for entry in found.entries:
            mask = entry.before | entry.after
            if entry.is_changed:
                found.is_changed = True
                found.only_allows &= bool(mask & bit)
            elif entry.host == WILDCARD:
                found.keeps_allow |= bool(mask & bit)
                found.keeps_deny |= bool(mask >> DENY_SHIFT & bit)
        return found


def names_of(patterns: Iterable[Pattern | FiledPattern]) -> int:
    """Return the classes of names that some of these patterns cover before or afterwards."""
    names, places = 0, []
    for pattern in patterns:
        covers = pattern.covers
        if covers.place >= 0:
            places.append(covers.place)
        else:
            names |= covers.own_before
            if covers.own_after is not covers.own_before:
                names |= covers.own_after
    return names | set_of(places) if places else names


def changed_names(patterns: Iterable[Pattern]) -> int:
    """Return the classes of names on which a binding with one of these patterns comes, goes or is read otherwise."""
    names, changed = 0, []
    for pattern in patterns:
        if pattern.is_changed:
            changed.append(pattern)
        else:
            names |= pattern.covers.moved
    return names | names_of(changed)


class OwnNames(NamedTuple):
    """On which classes of names some of a session's patterns say what about one operation.

    all: that they cover before or afterwards. changed: where a binding comes, goes or is read otherwise.
    losing: where something else than an ALLOW does. denied, allowed: where a DENY, or an ALLOW, stays for every host.
    """

    all: int
    changed: int
    losing: int
    denied: int
    allowed: int

    @classmethod
    def of(cls, patterns: Collection[Pattern]) -> OwnNames:
        """Return the names of these patterns; the same as `names_of` and `changed_names` do, in one walk."""
        if len(patterns) > _FEW:
            return cls(
                names_of(patterns),
                changed_names(patterns),
                losing_names(patterns),
                names_of(pattern for pattern in patterns if pattern.keeps_deny),
                names_of(pattern for pattern in patterns if pattern.keeps_allow),
            )
        every = changed = losing = denied = allowed = 0
        for pattern in patterns:
            covers = pattern.covers
            own = covers.before if covers.own_before is covers.own_after else covers.before | covers.after
            every |= own
            if pattern.is_changed:
                changed |= own
                if not pattern.only_allows:
                    losing |= own
            elif covers.own_before is not covers.own_after:
                changed |= covers.moved
            if pattern.keeps_deny:
                denied |= own
            if pattern.keeps_allow:
                allowed |= own
        return cls(every, changed, losing, denied, allowed)


_FEW = 8
"""So few patterns are walked over once; of more, single names are put into a set together."""


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


def sorted_by_patterns(patterns: Collection[Pattern], region: int) -> Iterator[CoveredNames]:
    """Yield the names of a region, once each, with the bindings that cover them.

    Literals and prefixes lie in one another or apart, so that each name has a shortest way up to all
    that cover it. The few others (LITERAL `*`, the empty prefix, GLOBs) split what that yields.
    """
    if are_few(len(patterns), region):
        yield from _looked_up(patterns, region)
        return
    literals: list[Pattern] = []
    prefixes: dict[str, Pattern] = {}
    wide: list[Pattern] = []
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


def _looked_up(patterns: Collection[Pattern], region: int) -> Iterator[CoveredNames]:
    """Yield the names of a region, once each, with the bindings that cover them, name by name."""
    ordered = list(patterns)
    found: dict[tuple[tuple[int, bool, bool], ...], int] = {}
    for place in places_in(region):
        covering: list[tuple[int, bool, bool]] = []
        for number, pattern in enumerate(ordered):
            covers = pattern.covers
            if covers.place >= 0:
                if covers.place == place:
                    covering.append((number, True, True))
                continue
            before = after = bool(covers.own_before >> place & 1)
            if covers.own_after is not covers.own_before:
                after = bool(covers.own_after >> place & 1)
            if before or after:
                covering.append((number, before, after))
        key = tuple(covering)
        found[key] = found.get(key, 0) | 1 << place
    for key, names in found.items():
        entries: list[Entry] = []
        for number, is_before, is_after in key:
            entries += on_sides(ordered[number].entries, is_before=is_before, is_after=is_after)
        yield CoveredNames(Compact.of(names), entries)


def _all_of(region: int) -> Iterator[CoveredNames]:
    if region:
        yield CoveredNames(Compact.of(region), [])


def _nested(literals: list[Pattern], prefixes: dict[str, Pattern], region: int) -> Iterator[CoveredNames]:
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


def split_by(found: CoveredNames, wide: Iterable[Pattern]) -> Iterator[CoveredNames]:
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

    @cached_property
    def tree(self) -> PatternTree:
        """What these patterns sort names by, but for names that are denied before and after."""
        return self._tree(self._settled.denied(self._names))

    @cached_property
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


def losing_names(patterns: Iterable[Pattern]) -> int:
    """Return the names on which something else than an ALLOW comes or goes."""
    return names_of(pattern for pattern in patterns if pattern.is_changed and not pattern.only_allows)


class Neighbours(Generic[AnyPattern]):
    """Patterns, to be found by the names that they share with others."""

    def __init__(self, patterns: Collection[AnyPattern]) -> None:
        self._patterns: Collection[AnyPattern] = patterns
        self._wide: list[AnyPattern] = [pattern for pattern in patterns if pattern.covers.is_wide]

    @cached_property
    def _prefixes(self) -> dict[str, AnyPattern]:
        return {p.covers.text: p for p in self._patterns if not (p.covers.place >= 0 or p.covers.is_wide)}

    @cached_property
    def _chain(self) -> PrefixChain:
        return PrefixChain.of(self._prefixes)

    @cached_property
    def _sorted_prefixes(self) -> SortedNames:
        return SortedNames.of_sorted(self._chain.prefixes)

    @cached_property
    def _literals(self) -> dict[str, AnyPattern]:
        return {p.covers.text: p for p in self._patterns if p.covers.place >= 0}

    @cached_property
    def _sorted_literals(self) -> SortedNames:
        return SortedNames(self._literals)

    def near(self, local: Iterable[AnyPattern]) -> Iterator[AnyPattern]:
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

    @cached_property
    def neighbours(self) -> Neighbours[Pattern]:
        """These patterns, to be found by the names that they share with others."""
        return Neighbours(self._patterns)

    @cached_property
    def in_region(self) -> list[CoveredNames]:
        """The names on which an answer to everybody can differ, by the patterns that cover them."""
        return list(sorted_by_patterns(self._patterns, self.region))

    @cached_property
    def anywhere(self) -> list[CoveredNames]:
        """All names, by the patterns that cover them; as one set where none does."""
        return list(sorted_by_patterns(self._patterns, self._unsettled))
