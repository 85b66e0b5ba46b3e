"""Which of the names that exist does a pattern cover?

`SortedNames` holds the topics (or groups) of a cluster and answers for any pattern: a literal
and a prefix by bisection, a glob in the range of its literal head. A glob without a head, or
with one that many names share, is looked for among the names that hold a text of the glob;
once that has been asked often, in an index of all texts of three characters.
"""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from aclweb.acl.glob import SEARCHED_BY_RE, Shape, shape_of_glob
from aclweb.acl.model import WILDCARD, AclBinding, PatternType, ResourcePattern
from aclweb.acl.patterns import empty_prefix_covers, wildcard_covers
from aclweb.acl.profiles import Rules

FEW = 1_000
"""So many names are tried one by one sooner than narrowed down."""

SCANS = 16
"""After so many questions that went through all names, the next one makes the index of texts."""

_GRAM = 3
_LAST = chr(sys.maxunicode)
_MOST_TOKENS = 256  # of a shape that is worth a regular expression of its own


class SortedNames:
    """Distinct names in sorted order; every answer is in that order and exact."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names: tuple[str, ...] = tuple(sorted(set(names)))
        self._scans = 0

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._has(name)

    def under(self, pattern: ResourcePattern | AclBinding, rules: Rules) -> Sequence[str]:
        """Return the names that the pattern covers for certain under these rules."""
        text = pattern.name if isinstance(pattern, ResourcePattern) else pattern.resource_name
        if pattern.pattern_type is PatternType.GLOB:
            return self.matching(shape_of_glob(text))
        if pattern.pattern_type is PatternType.PREFIXED:
            if text:
                return self.starting_with(text)
            return [name for name in self.names if empty_prefix_covers(name, rules)]
        if pattern.pattern_type is not PatternType.LITERAL:
            return ()
        if text == WILDCARD:
            return [name for name in self.names if wildcard_covers(name, rules)]
        return (text,) if self._has(text) else ()

    def starting_with(self, prefix: str) -> Sequence[str]:
        """Return the names that start with a text."""
        start, end = self.range_of(prefix)
        return self.names[start:end]

    def range_of(self, prefix: str) -> tuple[int, int]:
        """Return the places between which the names that start with a text stand."""
        names = self.names
        start = bisect_left(names, prefix)
        # The next text of this length, before which all that start with this one stand. There is none
        # after the last character of all, so that the one before it moves on.
        kept = prefix.rstrip(_LAST)
        end = bisect_left(names, kept[:-1] + chr(ord(kept[-1]) + 1), start) if kept else len(names)
        return start, end

    def matching(self, shape: Shape) -> Sequence[str]:
        """Return the names that a shape matches."""
        if shape.exact is not None:
            return (shape.exact,) if self._has(shape.exact) else ()
        start, end = self.range_of(shape.head)
        if shape.is_open and len(shape.parts) == 2 and shape.shortest == len(shape.head):
            # A text and then anything.
            return self.names[start:end]
        return list(filter(self._test_of(shape), self._candidates(shape, start, end)))

    def _has(self, name: str) -> bool:
        place = bisect_left(self.names, name)
        return place < len(self.names) and self.names[place] == name

    def _candidates(self, shape: Shape, start: int, end: int) -> Sequence[str]:
        """Return a part of the names in this range that holds all that match."""
        names = self.names if end - start == len(self.names) else self.names[start:end]
        run = shape.longest_run
        if len(names) <= FEW or len(run) < _GRAM:
            return names
        if "_places" not in self.__dict__ and self._scans < SCANS:
            self._scans += 1
            return [name for name in names if run in name]
        fewest = self._holding(run)
        if fewest is None or len(fewest) >= len(names):
            return names if fewest is not None else ()
        first, last = bisect_left(fewest, start), bisect_left(fewest, end)
        return [self.names[place] for place in fewest[first:last]]

    def _holding(self, run: str) -> array[int] | None:
        """Return the places of names that hold the rarest three characters of a text, None if one is in none."""
        fewest: array[int] | None = None
        for start in range(len(run) - _GRAM + 1):
            places = self._places.get(run[start : start + _GRAM])
            if places is None:
                return None
            if fewest is None or len(places) < len(fewest):
                fewest = places
        return fewest

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.names), default=0)

    @cached_property
    def _places(self) -> dict[str, array[int]]:
        """Three characters -> the places of the names that hold them, ascending."""
        found: dict[str, array[int]] = {}
        for place, name in enumerate(self.names):
            for gram in {name[start : start + _GRAM] for start in range(len(name) - _GRAM + 1)}:
                places = found.get(gram)
                if places is None:
                    places = found[gram] = array("I")
                places.append(place)
        return found

    def _test_of(self, shape: Shape) -> Callable[[str], object]:
        """Return what tells whether a name matches, fast where names are short."""
        if len(self.names) <= FEW or shape.shortest + len(shape.parts) > _MOST_TOKENS:
            return shape.matches
        by_re = _expression(shape).match
        shortest = max(shape.shortest, 1)
        if shortest * self._longest <= SEARCHED_BY_RE:
            return by_re
        most = SEARCHED_BY_RE // shortest
        return lambda name: by_re(name) if len(name) <= most else shape.matches(name)


def _expression(shape: Shape) -> re.Pattern[str]:
    """Return a regular expression that never goes back: each part is taken where it stands first.

    That is enough, because the first place leaves most room for what follows; so the work is at
    most the length of the name times that of the longest part.
    """
    first, *middle = shape.parts
    if not middle:
        return re.compile(_written(first) + r"\Z", re.DOTALL)
    last = middle.pop()
    end = f".{{{len(last)},}}+(?<={_written(last)})" if last else ""
    return re.compile(_written(first) + "".join(map(_found_first, middle)) + end, re.DOTALL)


def _found_first(part: tuple[str | None, ...]) -> str:
    """Return an expression for anything and then the part, at the first place where it stands."""
    if not part or part[0] is None:
        return f"(?>.*?{_written(part)})"
    start, rest = _written(part[:1]), _written(part[1:])
    # From one character that the part begins with to the next, which is faster than place by place.
    skipped = f"(?:{start}(?!{rest})[^{start}]*+)*+" if rest else ""
    return f"[^{start}]*+{skipped}{start}{rest}"


def _written(part: tuple[str | None, ...]) -> str:
    return "".join("." if character is None else re.escape(character) for character in part)
