"""Which names a resource pattern covers.

A pattern of an UNKNOWN type (made by a newer Kafka) may or may not cover a name, so it
is never counted as covering here; `AclIndex.unknown_patterns` lists those apart.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aclweb.acl.model import WILDCARD, AclBinding, PatternType, ResourcePattern
from aclweb.acl.profiles import Rules


def wildcard_covers(name: str, rules: Rules) -> bool:
    """Whether LITERAL `*` covers `name`.

    KRaft's authorizer skips it for a longer name that begins with an asterisk; topics
    cannot have such a name, groups and transactional ids can.
    """
    return not (rules.is_standard and len(name) > 1 and name[0] == WILDCARD)


def empty_prefix_covers(name: str, rules: Rules) -> bool:
    """Whether PREFIXED with an empty name covers `name`: all names for `standard`, one for `acl`."""
    return rules.is_standard or not name


def covers_name(pattern: ResourcePattern | AclBinding, name: str, rules: Rules) -> bool:
    """Whether the pattern covers the resource `name` of its own type, for certain."""
    own = pattern.name if isinstance(pattern, ResourcePattern) else pattern.resource_name
    if pattern.pattern_type is PatternType.LITERAL:
        return own == name or (own == WILDCARD and wildcard_covers(name, rules))
    if pattern.pattern_type is PatternType.PREFIXED:
        return name.startswith(own) if own else empty_prefix_covers(name, rules)
    return False


@dataclass(frozen=True, slots=True)
class PrefixChain:
    """Distinct non-empty prefixes in sorted order, each pointing at the next shorter one.

    `parents[i]` is the place of the longest other prefix that `prefixes[i]` starts with,
    or -1. Whatever stands between a prefix of a name and the name itself starts with that
    prefix too; so all prefixes of a name are on the chain of its left neighbour.
    """

    prefixes: tuple[str, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, prefixes: Iterable[str]) -> PrefixChain:
        ordered = tuple(sorted(set(prefixes)))
        parents: list[int] = []
        for place, prefix in enumerate(ordered):
            parent = place - 1
            while parent >= 0 and not prefix.startswith(ordered[parent]):
                parent = parents[parent]
            parents.append(parent)
        return cls(ordered, tuple(parents))

    def longest(self, name: str) -> int:
        """Return the place of the longest prefix that `name` starts with, or -1."""
        prefixes = self.prefixes
        place = bisect_right(prefixes, name) - 1
        while place >= 0 and not name.startswith(prefixes[place]):
            place = self.parents[place]
        return place

    def places(self, name: str) -> Iterator[int]:
        """Yield the places of all prefixes that `name` starts with, longest first."""
        place = self.longest(name)
        while place >= 0:
            yield place
            place = self.parents[place]


def code_units(text: str) -> str:
    """Return a key that sorts texts as Java does: by UTF-16 code units, not by code points."""
    if text.isascii() or max(text) <= "\uffff":
        return text
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(chr(high << 8 | low) for high, low in zip(units[::2], units[1::2], strict=True))
