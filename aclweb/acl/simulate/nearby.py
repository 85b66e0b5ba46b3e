"""Which patterns can match a name that one of a few others matches?

Of a principal's bindings only those matter whose pattern shares a name with one that changes. That is told by the
texts alone, so that no set of names is made of the others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from aclweb.acl.matching import PrefixChain
from aclweb.acl.model import WILDCARD, AclBinding, PatternType

_LITERAL, _PREFIXED = PatternType.LITERAL, PatternType.PREFIXED


def is_for_any_name(binding: AclBinding) -> bool:
    """Whether the pattern is neither for one name nor for those that begin with a text."""
    if binding.pattern_type is _LITERAL:
        return binding.resource_name == WILDCARD
    return not (binding.pattern_type is _PREFIXED and binding.resource_name)


class Nearby:
    """Some bindings for single names and for those that begin with a text, asked which others are near."""

    def __init__(self, bindings: Iterable[AclBinding]) -> None:
        literals, prefixes = set[str](), set[str]()
        for binding in bindings:
            (literals if binding.pattern_type is _LITERAL else prefixes).add(binding.resource_name)
        self._literals, self._prefixes = literals, PrefixChain.of(prefixes)
        self._texts = sorted(literals | prefixes)

    def among(self, bindings: Iterable[AclBinding]) -> Iterator[AclBinding]:
        """Yield those of some bindings that can match a name which one of these matches."""
        literals, chain, texts = self._literals, self._prefixes, self._texts
        count, has_prefixes = len(texts), bool(chain.prefixes)
        for binding in bindings:
            text = binding.resource_name
            if binding.pattern_type is _LITERAL and text != WILDCARD:
                if text in literals or (has_prefixes and chain.longest(text) >= 0):
                    yield binding
                continue
            if is_for_any_name(binding) or (has_prefixes and chain.longest(text) >= 0):
                yield binding
                continue
            place = bisect_left(texts, text)
            if place < count and texts[place].startswith(text):
                yield binding
