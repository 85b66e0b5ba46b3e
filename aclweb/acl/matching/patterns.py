"""Which names do LITERAL `*`, prefixes and GLOBs match?

`covers_name` in `strategy` answers for any pattern.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from aclweb.acl.matching.glob import EVERYTHING, Shape, shape_of_glob, shape_of_name, shape_of_prefix
from aclweb.acl.model import WILDCARD, AclBinding, AuthorizerSettings, PatternType, ResourcePattern


def wildcard_covers(name: str, settings: AuthorizerSettings) -> bool:
    """Whether LITERAL `*` covers `name`."""
    return not (len(name) > 1 and name[0] == WILDCARD and settings.wildcard_skips_starred_names)


def empty_prefix_covers(name: str, settings: AuthorizerSettings) -> bool:
    """Whether PREFIXED with an empty name covers `name`."""
    return not name or settings.empty_prefix_covers_all


@lru_cache(maxsize=16_384)
def glob_shape(text: str) -> Shape:
    """Return the shape of a GLOB pattern."""
    return shape_of_glob(text)


def shape_of(pattern: ResourcePattern | AclBinding) -> Shape:
    """Return the names that a known pattern covers under the GLOB proposal."""
    name = pattern.name if isinstance(pattern, ResourcePattern) else pattern.resource_name
    if pattern.pattern_type is PatternType.GLOB:
        return glob_shape(name)
    if pattern.pattern_type is PatternType.PREFIXED:
        return shape_of_prefix(name)
    return EVERYTHING if name == WILDCARD else shape_of_name(name)


@dataclass(frozen=True, slots=True)
class PrefixChain:
    """Distinct non-empty prefixes in sorted order, each pointing at the next shorter one.

    `parents[i]` is the place of the longest other prefix that `prefixes[i]` starts with,
    or -1. Whatever sorts between a prefix of a name and the name itself starts with that
    prefix too; so all prefixes of a name are on the chain of its left neighbour.

    `jumps[i]` is the place of a much shorter one on the same chain, or -1 where climbing
    step by step is as good. A name that leaves a chain of n prefixes near its root finds the
    way in about log n steps, because whatever a prefix starts with, the name either starts
    with it or with nothing longer on that chain.
    """

    prefixes: tuple[str, ...]
    parents: tuple[int, ...]
    jumps: tuple[int, ...]

    @classmethod
    def of(cls, prefixes: Iterable[str]) -> PrefixChain:
        ordered = tuple(sorted(set(prefixes)))
        return cls.of_sorted(ordered) if ordered else NO_PREFIXES

    @classmethod
    def of_sorted(cls, ordered: tuple[str, ...]) -> PrefixChain:
        """Return the chain of distinct non-empty prefixes that are in order already."""
        parents: list[int] = []
        for place, prefix in enumerate(ordered):
            parent = place - 1
            while parent >= 0 and not prefix.startswith(ordered[parent]):
                parent = parents[parent]
            parents.append(parent)
        return cls(ordered, up := tuple(parents), _jumps(up))

    def longest(self, name: str) -> int:
        """Return the place of the longest prefix that `name` starts with, or -1."""
        prefixes = self.prefixes
        place = bisect_right(prefixes, name) - 1
        while place >= 0 and not name.startswith(prefixes[place]):
            jump = self.jumps[place]
            place = jump if jump >= 0 and not name.startswith(prefixes[jump]) else self.parents[place]
        return place

    def places(self, name: str) -> Iterator[int]:
        """Yield the places of all prefixes that `name` starts with, longest first."""
        place = self.longest(name)
        while place >= 0:
            yield place
            place = self.parents[place]


NO_PREFIXES = PrefixChain((), (), ())

_STEPS = 4
"""A chain of no more prefixes than this is climbed step by step."""


def _jumps(parents: tuple[int, ...]) -> tuple[int, ...]:
    """Return for each place an ancestor so far up that a climb takes logarithmically many steps.

    Myers' skew-binary jumps: a place jumps over two jumps of its parent where these are
    equally long, and else to its parent.
    """
    if not parents or max(parents) < 0:
        return parents
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 1)
    if max(depths) <= _STEPS:
        return (-1,) * len(depths)
    jumps: list[int] = []
    for parent in parents:
        first = jumps[parent] if parent >= 0 else -1
        second = jumps[first] if first >= 0 else -1
        here, there, beyond = (depths[place] if place >= 0 else 0 for place in (parent, first, second))
        jumps.append(second if here - there == there - beyond else parent)
    return tuple(jumps)


def code_units(text: str) -> str:
    """Return a key that sorts texts as Java does: by UTF-16 code units, not by code points."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(chr(high << 8 | low) for high, low in zip(units[::2], units[1::2], strict=True))
