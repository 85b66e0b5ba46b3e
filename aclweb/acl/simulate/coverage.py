"""Which classes of names does a pattern cover, and which does any ACL cover, before and after?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from aclweb.acl.authorizer import ResourceShelf
from aclweb.acl.matching import empty_prefix_covers, glob_shape, matching_of, wildcard_covers
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    PatternType,
    ResourceType,
    computed_once,
)
from aclweb.acl.simulate.axes import NameAxis
from aclweb.acl.simulate.patterns import UNFOLDED, PatternNames
from aclweb.acl.simulate.sets import Compact, Run, Windowed, places_in, run, set_of, set_of_flags, set_of_runs
from aclweb.acl.simulate.worlds import Worlds

_SMALL = 2_048
"""Sets of so few classes take little room, so that what a pattern covers is kept."""

_FEW = 200
"""So few classes are looked up one by one sooner than all patterns are joined."""

_LOOKED_UP = 32
"""So are fewer than one in so many of a large universe: to look one up takes some 20 times as long as to join one."""

_SEARCHES = 16
"""To search one in so many names takes as long as to write down the places of all."""

_LITERAL, _PREFIXED, _GLOB = PatternType.LITERAL, PatternType.PREFIXED, PatternType.GLOB


class Coverage:
    """What the patterns of one resource type cover, as sets of classes of names."""

    def __init__(self, worlds: Worlds, resource_type: ResourceType) -> None:
        self.worlds, self.resource_type = worlds, resource_type
        self.axis: NameAxis = worlds.universe.axis(resource_type)
        self.shelf, self.added = worlds.shelves[resource_type]
        self._known: dict[tuple[int, str, bool], int] = {}
        self._patterns: dict[tuple[int, str], PatternNames] = {}
        self._runs: dict[str, tuple[Run, Run]] = {}  # of the prefixes asked for
        self._places: dict[str, int] | None = None  # of all exact names, once many are asked for

    def of(self, pattern_type: PatternType, text: str, settings: AuthorizerSettings) -> int:
        """Return the classes that a pattern covers for certain under these settings."""
        if pattern_type is _LITERAL and text != WILDCARD:
            return self.axis.one(text)
        if pattern_type is _PREFIXED and text:
            # Not kept: a cluster may have ten thousands, and each is a set of all names.
            return self._starting_with(text)
        is_after = settings is self.worlds.after_settings
        key = (pattern_type._value_, text, is_after)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._of(pattern_type, text, settings)
        return found

    def names_of(self, pattern_type: PatternType, text: str) -> PatternNames:
        """Return the classes that a pattern covers for certain, before and afterwards."""
        if self.axis.size > _SMALL:
            return self._names_of(pattern_type, text)
        key = (pattern_type._value_, text)
        found = self._patterns.get(key)
        if found is None:
            found = self._patterns[key] = self._names_of(pattern_type, text)
        return found

    def _names_of(self, pattern_type: PatternType, text: str) -> PatternNames:
        if pattern_type is _LITERAL and text != WILDCARD:
            # Not kept: sets of one late name each take much room.
            return PatternNames(pattern_type, text, self._place_of(text), 0, 0)
        if pattern_type is _PREFIXED and text:
            if self.axis.patterns:
                names = self._starting_with(text)
                return PatternNames(pattern_type, text, -1, names, names)
            runs = self._runs_of(text)
            names = UNFOLDED if self.axis.size > _SMALL else run(*runs[0]) | run(*runs[1])
            return PatternNames(pattern_type, text, -1, names, names, runs)
        before = after = self.of(pattern_type, text, self.worlds.settings)
        if not self.worlds.same_settings:
            after = self.of(pattern_type, text, self.worlds.after_settings)
        return PatternNames(pattern_type, text, -1, before, before if before == after else after)

    def _of(self, pattern_type: PatternType, text: str, settings: AuthorizerSettings) -> int:
        axis = self.axis
        if pattern_type is _LITERAL:
            return self._all_that(lambda name: wildcard_covers(name, settings), unlike=WILDCARD)
        if pattern_type is _PREFIXED:
            if settings.empty_prefix_covers_all:
                return axis.all
            return self._all_that(lambda name: empty_prefix_covers(name, settings), among=axis.one(""))
        if pattern_type is _GLOB and _GLOB in matching_of(settings).pattern_types:
            shape = glob_shape(text)
            return axis.matching(axis.sorted_exact.matching(shape)) | self._examples(
                shape.matches, len(axis.exact)
            )
        return 0

    def _runs_of(self, prefix: str) -> tuple[Run, Run]:
        """Return the places of the exact names, and of the PREFIX classes, that begin with a text."""
        found = self._runs.get(prefix)
        if found is None:
            found = self._runs[prefix] = self.axis.runs_starting_with(prefix)
        return found

    def _place_of(self, name: str) -> int:
        """Return the place of a single name, -1 if it has none."""
        return self.axis.place_of(name) if self._places is None else self._places.get(name, -1)

    def _matching(self, names: Collection[str]) -> int:
        """Return the set of those of some names that are exact ones."""
        if self._places is None and len(names) > len(self.axis.exact) // _SEARCHES:
            self._places = {name: place for place, name in enumerate(self.axis.exact)}
        return set_of(place for place in map(self._place_of, names) if place >= 0)

    def _exact_in(self, names: Collection[str]) -> int:
        """Return the same where many of the names are, which are not asked for one by one afterwards."""
        exact = self.axis.exact
        if len(names) <= len(exact) // _SEARCHES:
            return self._matching(names)
        return set_of_flags(map(names.__contains__, exact))

    def _starting_with(self, text: str) -> int:
        names = self.axis.starting_with(text)
        first = self.axis.first_pattern
        for place, sample in enumerate(self._last_samples, first):
            if sample.startswith(text):
                names |= 1 << place
        return names

    def _all_that(
        self, covers: Callable[[str], bool], *, unlike: str | None = None, among: int | None = None
    ) -> int:
        """Return the classes with a name that is covered. unlike: all names that do not begin so are."""
        axis = self.axis
        sure = 0 if unlike is None else axis.all & ~(axis.starting_with(unlike) | self._last_classes)
        unsure = (axis.all if among is None else among) & ~sure
        return sure | set_of(place for place in places_in(unsure) if covers(self.sample(place)))

    def _examples(self, covers: Callable[[str], bool], start: int) -> int:
        """Return the classes from a place on of which the example is covered."""
        return set_of(place for place in range(start, self.axis.size) if covers(self.sample(place)))

    @computed_once
    def _last_samples(self) -> list[str]:
        """A name of each class that is neither one name nor begins with a text."""
        return [self.sample(place) for place in range(self.axis.first_pattern, self.axis.size)]

    @computed_once
    def _last_classes(self) -> int:
        """The classes that are neither one name nor begin with a text."""
        return run(self.axis.first_pattern, self.axis.size)

    # What any ACL covers.

    @computed_once
    def before(self) -> int:
        """The classes that an ACL covers before."""
        return self._by(self.shelf, self.worlds.settings)

    @computed_once
    def after(self) -> int:
        """The classes that an ACL covers afterwards."""
        return self.kept_after | self._by(self.added, self.worlds.after_settings)

    @computed_once
    def kept_before(self) -> int:
        """The classes that an ACL covers before which stays."""
        shelf, settings, gone = self.shelf, self.worlds.settings, self._gone
        if not gone or shelf is None:
            return self.before
        alone = self._of_patterns(gone, settings)
        if not self._are_few(alone):
            return self._by(shelf, settings, without=gone)
        still = (
            place
            for place in places_in(alone & self.before)
            if self._is_covered(shelf, settings, self.sample(place), gone)
        )
        return self.before & ~alone | set_of(still)

    @computed_once
    def kept_after(self) -> int:
        """The classes that an ACL covers afterwards which was there before."""
        if self.worlds.same_settings:
            return self.kept_before
        return self._by(self.shelf, self.worlds.after_settings, without=self._gone)

    @computed_once
    def _gone(self) -> Collection[tuple[PatternType, str]]:
        """The patterns of which no ACL stays."""
        shelf, removed = self.shelf, self.worlds.removed
        if shelf is None or not removed:
            return ()
        patterns = {
            (binding.pattern_type, binding.resource_name)
            for binding in self.worlds.remove
            if binding.resource_type is self.resource_type
        }
        return {
            pattern
            for pattern in patterns
            if all(binding in removed for binding in bindings_of(shelf, *pattern))
        }

    def _by(
        self,
        shelf: ResourceShelf | None,
        settings: AuthorizerSettings,
        without: Collection[tuple[PatternType, str]] = (),
    ) -> int:
        """Return the classes that some pattern of a shelf covers, but for those of `without`."""
        if shelf is None:
            return 0
        if self._are_few(self.near):
            return set_of(
                place
                for place in places_in(self.near)
                if self._is_covered(shelf, settings, self.sample(place), without)
            )
        covered = 0
        for group, pattern in (
            (shelf.wildcard, (_LITERAL, WILDCARD)),
            (shelf.empty_prefix, (_PREFIXED, "")),
        ):
            if group and pattern not in without:
                covered |= self.of(*pattern, settings)
        covered |= self._under_prefixes(
            [prefix for prefix in shelf.chain.prefixes if (_PREFIXED, prefix) not in without]
            if without
            else shelf.chain.prefixes
        )
        literals: Collection[str] = shelf.literals
        if without:
            literals = shelf.literals.keys() - {text for kind, text in without if kind is _LITERAL}
        covered |= self._exact_in(literals)
        for text in dict.fromkeys(binding.resource_name for binding in shelf.globs):
            if (_GLOB, text) not in without:
                covered |= self.of(_GLOB, text, settings)
        return covered

    @computed_once
    def near(self) -> int:
        """The classes on which it can change whether an ACL covers them; of others nobody asks."""
        worlds = self.worlds
        if not worlds.same_settings:
            return self.axis.all
        touching = worlds.touching.shelf(self.resource_type)
        return self.axis.new | (self.joined(touching.unsorted) if touching is not None else 0)

    def _are_few(self, names: int) -> bool:
        """Whether it is less work to ask which ACLs cover each of these classes than which classes each ACL covers."""
        return names.bit_count() <= max(_FEW, self.axis.size // _LOOKED_UP)

    def _is_covered(
        self,
        shelf: ResourceShelf,
        settings: AuthorizerSettings,
        name: str,
        without: Collection[tuple[PatternType, str]],
    ) -> bool:
        if not without:
            return shelf.is_covered(name, settings)
        return any(
            (binding.pattern_type, binding.resource_name) not in without
            for binding in shelf.covering(name, settings)
        )

    def by_cover(self, names: Compact, *, is_kept: bool) -> Iterator[tuple[Compact, bool, bool, bool]]:
        """Yield the same names by whether any ACL covers them before, and after, and whether they are new.

        is_kept: whether an ACL that stays is known to cover them all.
        """
        if (is_kept and not self.axis.new) or self.is_evenly_covered(names):
            yield names, True, True, False
            return
        if names.is_single:
            place = names.offset
            was, comes, is_new = (
                bool(those >> place & 1) for those in (self.before, self.after, self.axis.new)
            )
            yield names, was, comes, is_new
            return
        new = names.within(self.axis.new)
        for is_new, some in ((True, new), (False, names.less(new))):
            before = some.within(self.before)
            for was, half in ((True, before), (False, some.less(before))):
                after = half.within(self.after)
                for comes, part in ((True, after), (False, half.less(after))):
                    if part:
                        yield part, was, comes, is_new

    def is_evenly_covered(self, names: Compact) -> bool:
        """Whether some ACL covers each of these names before and after, and none is new."""
        return names.within_windowed(self._evenly_covered) is names

    @computed_once
    def _evenly_covered(self) -> Windowed:
        """The names that some ACL covers before and after, and that are not new."""
        return Windowed(self.before & self.after & ~self.axis.new)

    def sample(self, place: int) -> str:
        """Return a name of the class at a place."""
        return self.worlds.universe.sample(self.resource_type, place)

    def _under_prefixes(self, prefixes: Sequence[str]) -> int:
        """Return the classes that some of these sorted prefixes cover."""
        axis, above = self.axis, ""
        widest = [above := prefix for prefix in prefixes if not above or not prefix.startswith(above)]
        if not self._runs and len(prefixes) > len(axis.prefixes) // _SEARCHES:
            self._runs = axis.runs_by_prefix()
        runs = list(map(self._runs_of, widest))
        covered = set_of_runs(exact for exact, _ in runs) | set_of_runs(classes for _, classes in runs)
        for prefix in widest if axis.patterns else ():
            covered |= self.of(_PREFIXED, prefix, self.worlds.settings)
        return covered

    def joined(self, bindings: Iterable[AclBinding]) -> int:
        """Return the classes that some of these bindings cover before or after; all for an unknown pattern."""
        settings = (self.worlds.settings, self.worlds.after_settings)
        patterns = {(binding.pattern_type, binding.resource_name) for binding in bindings}
        return self._of_patterns(patterns, *(settings if not self.worlds.same_settings else settings[:1]))

    def _of_patterns(self, patterns: Iterable[tuple[PatternType, str]], *settings: AuthorizerSettings) -> int:
        """Return the classes that some of these patterns cover by some of the settings; all for an unknown pattern."""
        texts: dict[int, set[str]] = {}
        for pattern_type, text in patterns:
            # `_value_` because the hash of an enum is a Python function.
            texts.setdefault(pattern_type._value_, set()).add(text)
        if PatternType.UNKNOWN._value_ in texts:
            return self.axis.all
        literals, prefixes = (texts.pop(each._value_, set[str]()) for each in (_LITERAL, _PREFIXED))
        covered = self._matching(literals - {WILDCARD}) | self._under_prefixes(sorted(prefixes - {""}))
        wide = [(_LITERAL, WILDCARD)] if WILDCARD in literals else []
        wide += [(_PREFIXED, "")] if "" in prefixes else []
        wide += [(PatternType(code), text) for code, own in texts.items() for text in own]
        for pattern in wide:
            for each in settings:
                covered |= self.of(*pattern, each)
        return covered


def bindings_of(shelf: ResourceShelf, pattern_type: PatternType, text: str) -> list[AclBinding]:
    """Return the bindings of a shelf that have this very pattern."""
    if pattern_type is _LITERAL:
        return shelf.literals.get(text, [])
    if pattern_type is _PREFIXED:
        if not text:
            return shelf.empty_prefix
        place = shelf.chain.longest(text)
        return shelf.prefixed[place] if place >= 0 and shelf.chain.prefixes[place] == text else []
    same = shelf.globs if pattern_type is _GLOB else shelf.unknown_patterns
    return [binding for binding in same if binding.resource_name == text]
