"""Which of the sorted names does a pattern match, and into which pieces do several patterns cut them?

Names that the same ACLs match get the same answers, so one name of each piece stands for all of it.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence

from aclweb.acl.matching import empty_prefix_covers
from aclweb.acl.model import WILDCARD, AclBinding, AuthorizerSettings, PatternType
from aclweb.inventory.current import span


def covered(
    names: tuple[str, ...], binding: AclBinding, settings: AuthorizerSettings
) -> Iterator[tuple[int, int]]:
    """Yield the parts of the sorted `names` that the binding covers, or may, as start and end (excluded)."""
    everything = (0, len(names))
    if binding.pattern_type is PatternType.UNKNOWN:
        yield everything
    elif binding.has_wildcard_pattern and settings.wildcard_skips_starred_names:
        # Not the names that begin with an asterisk and go on.
        first, last = span(names, WILDCARD, PatternType.PREFIXED)
        yield 0, first + (first < last and names[first] == WILDCARD)
        yield last, len(names)
    elif binding.pattern_type is PatternType.PREFIXED and not binding.resource_name:
        yield everything if empty_prefix_covers("any", settings) else (0, bisect_right(names, ""))
    else:
        yield span(names, binding.resource_name, binding.pattern_type)


def cut(
    names: tuple[str, ...], bindings: Sequence[AclBinding], settings: AuthorizerSettings
) -> Iterator[tuple[int, int, tuple[AclBinding, ...]]]:
    """Yield all names in pieces, as start and end (excluded), each with those of the bindings that cover it, or may."""
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for place, binding in enumerate(bindings):
        for start, end in covered(names, binding, settings):
            if start < end:
                begins.setdefault(start, []).append(place)
                ends.setdefault(end, []).append(place)
    covering: list[int] = []  # places in `bindings`, in its order
    for start, end in itertools.pairwise(sorted({0, len(names), *begins, *ends})):
        for place in ends.get(start, ()):
            covering.remove(place)
        for place in begins.get(start, ()):
            insort(covering, place)
        yield start, end, tuple(bindings[place] for place in covering)
