"""Which existing names does a pattern match?

`SortedNames` holds the topics (or groups) of a cluster and answers for any pattern: a literal
and a prefix by bisection, a glob in the range of its literal head. A glob without a head, or
with one that many names share, is tried on the names that hold the rarest text of the glob;
these are found by looking for it in one text that joins all names.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from aclweb.acl.matching.glob import SEARCHED_BY_RE, Shape, shape_of_glob
from aclweb.acl.matching.patterns import empty_prefix_covers, wildcard_covers
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    PatternType,
    ResourcePattern,
    computed_once,
)

FEW = 1_000
"""So many names are tried one by one sooner than narrowed down."""

_SAMPLE = 500
"""About so many names tell how many of all hold a text."""

_COMMON = 4
"""A text that more than one name in so many holds narrows nothing down."""

_RUNS_TRIED = 8
"""Of so many texts of a glob, the longest, the rarest is looked for."""

_NEAR = 64
"""So many names behind the first that starts with a text are searched for the last one before all others."""

_SEPARATORS = "\n\r\0"
"""What may stand between joined names; topics hold none of it, groups may."""

_LAST = chr(sys.maxunicode)
_MOST_TOKENS = 256  # of a shape that is worth a regular expression of its own


class SortedNames:
    """Distinct names in sorted order; every answer is in that order and exact."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names: tuple[str, ...] = tuple(sorted(set(names)))

    @classmethod
    def of_sorted(cls, names: Iterable[str]) -> SortedNames:
        """Return the same for distinct names that are in order already."""
        found = cls(())
        found.names = tuple(names)
        return found

    @computed_once
    def _longest(self) -> int:
        return max(map(len, self.names), default=0)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._has(name)

    def under(self, pattern: ResourcePattern | AclBinding, settings: AuthorizerSettings) -> Sequence[str]:
        """Return the names that the pattern matches for certain under these settings."""
        text = pattern.name if isinstance(pattern, ResourcePattern) else pattern.resource_name
        if pattern.pattern_type is PatternType.GLOB:
            return self.matching(shape_of_glob(text))
        if pattern.pattern_type is PatternType.PREFIXED:
            if text:
                return self.starting_with(text)
            return [name for name in self.names if empty_prefix_covers(name, settings)]
        if pattern.pattern_type is not PatternType.LITERAL:
            return ()
        if text == WILDCARD:
            return [name for name in self.names if wildcard_covers(name, settings)]
        return (text,) if self._has(text) else ()

    def places_under(
        self, pattern: ResourcePattern | AclBinding, settings: AuthorizerSettings
    ) -> Sequence[int]:
        """Return where in the order the names of `under` are."""
        text = pattern.name if isinstance(pattern, ResourcePattern) else pattern.resource_name
        if pattern.pattern_type is PatternType.PREFIXED and text:
            return range(*self.range_of(text))
        if pattern.pattern_type is PatternType.LITERAL and text == WILDCARD:
            # Names that begin with an asterisk are the only ones that it may not match.
            start, end = self.range_of(WILDCARD)
            starred = (each for each in range(start, end) if wildcard_covers(self.names[each], settings))
            return (
                [*range(start), *starred, *range(end, len(self.names))] if start < end else range(len(self))
            )
        return [self.place_of(name) for name in self.under(pattern, settings)]

    def place_of(self, name: str) -> int:
        """Return where in the order one of the names is."""
        return bisect_left(self.names, name)

    def starting_with(self, prefix: str) -> Sequence[str]:
        """Return the names that start with a text."""
        start, end = self.range_of(prefix)
        return self.names[start:end]

    def ranges_of(self, prefixes: Iterable[str]) -> Iterator[tuple[int, int]]:
        """Yield the same as `range_of` does for many texts in order."""
        names, start = self.names, 0
        for prefix in prefixes:
            near = min(start + _NEAR, len(names))
            start = bisect_left(names, prefix, start, near)
            if start == near:
                start = bisect_left(names, prefix, near)
            yield start, self._end_of(prefix, start)

    def range_of(self, prefix: str) -> tuple[int, int]:
        """Return the places between which the names are that start with a text."""
        start = bisect_left(self.names, prefix)
        return start, self._end_of(prefix, start)

    def _end_of(self, prefix: str, start: int) -> int:
        """Return the place behind the last name that starts with a text. start: that of the first."""
        names = self.names
        # The next text of this length, before which all that start with this one stand. There is none
        # after the last character of all, so that the one before it moves on.
        kept = prefix.rstrip(_LAST)
        if not kept:
            return len(names)
        after = kept[:-1] + chr(ord(kept[-1]) + 1)
        # Most texts begin few names.
        near = min(start + _NEAR, len(names))
        end = bisect_left(names, after, start, near)
        return end if end < near else bisect_left(names, after, near)

    def matching(self, shape: Shape) -> Sequence[str]:
        """Return the names that a shape matches."""
        if shape.exact is not None:
            return (shape.exact,) if self._has(shape.exact) else ()
        start, end = self.range_of(shape.head)
        if shape.is_open and len(shape.parts) == 2 and shape.shortest == len(shape.head):
            # A text and then anything.
            return self.names[start:end]
        names = self._candidates(shape, start, end)
        run = shape.longest_run
        if shape.parts == ((), tuple(run), ()):
            return [name for name in names if run in name]
        return list(filter(self._test_of(shape, len(names)), names))

    def _has(self, name: str) -> bool:
        place = bisect_left(self.names, name)
        return place < len(self.names) and self.names[place] == name

    def _candidates(self, shape: Shape, start: int, end: int) -> Sequence[str]:
        """Return a part of the names in this range that holds all that match."""
        has_all = end - start == len(self.names)
        names = self.names if has_all else self.names[start:end]
        run = _rarest_run(shape, names) if len(names) > FEW else None
        joined = (self._joined if has_all else _joined(names)) if run is not None else None
        return names if run is None or joined is None else _holding(run, *joined)

    @computed_once
    def _joined(self) -> tuple[str, str] | None:
        return _joined(self.names)

    def _test_of(self, shape: Shape, count: int) -> Callable[[str], object]:
        """Return what tells whether one of so many names matches, fast where they are short."""
        if count <= FEW or shape.shortest + len(shape.parts) > _MOST_TOKENS:
            return shape.matches
        by_re = _expression(shape).match
        most = SEARCHED_BY_RE // max(shape.shortest, 1)
        if self._longest <= most:
            return by_re
        return lambda name: by_re(name) if len(name) <= most else shape.matches(name)


def _rarest_run(shape: Shape, names: Sequence[str]) -> str | None:
    """Return the text of a shape that fewest names hold, None if too many hold each."""
    step = len(names) // _SAMPLE
    sample = "\n".join(names[::step])
    runs = sorted(shape.runs, key=len, reverse=True)[:_RUNS_TRIED]
    count, run = min(((sample.count(run), run) for run in runs), default=(len(names), ""))
    return run if count * step * _COMMON <= len(names) else None


def _joined(names: Sequence[str]) -> tuple[str, str] | None:
    """Return all names in one text, and the separator, which is in none of them."""
    for separator in _SEPARATORS:
        text = separator.join(names)
        if text.count(separator) == len(names) - 1:
            return text, separator
    return None


def _holding(run: str, text: str, separator: str) -> list[str]:
    """Return the joined names that hold a text."""
    found: list[str] = []
    if separator in run:
        return found
    place = text.find(run)
    while place >= 0:
        start, end = text.rfind(separator, 0, place) + 1, text.find(separator, place)
        if end < 0:
            found.append(text[start:])
            break
        found.append(text[start:end])
        place = text.find(run, end)
    return found


def _expression(shape: Shape) -> re.Pattern[str]:
    """Return a regular expression that never goes back: each part is taken where it occurs first.

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
    """Return an expression for anything and then the part, at the first place where it occurs."""
    if not part or part[0] is None:
        return f"(?>.*?{_written(part)})"
    start, rest = _written(part[:1]), _written(part[1:])
    # From one character that the part begins with to the next, which is faster than place by place. In an atomic group,
    # since Python 3.11.2 finds wrong places for `(...)*+` around what goes back.
    skipped = f"(?>(?:{start}(?!{rest})[^{start}]*+)*)" if rest else ""
    return f"[^{start}]*+{skipped}{start}{rest}"


def _written(part: tuple[str | None, ...]) -> str:
    return "".join("." if character is None else re.escape(character) for character in part)
