"""Into which classes of names do one session's patterns sort the names, and which bindings cover each?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from aclweb.acl.authorizer import DENY_SHIFT, MAYBE_SHIFT, mask_of
from aclweb.acl.matching import PrefixChain
from aclweb.acl.model import WILDCARD, AclBinding, PatternType


@dataclass(slots=True)
class Pattern:
    """One pattern with those of a session's bindings that have it.

    before, after: the classes of names that it covers. old, new: its bindings on either side.
    changed: the classes on which a binding comes, goes or is read otherwise. operations: those about
    which such a binding says something, by their codes.
    """

    pattern_type: PatternType
    text: str
    before: int
    after: int
    old: list[AclBinding] = field(default_factory=list)
    new: list[AclBinding] = field(default_factory=list)
    changed: int = 0
    operations: int = 0

    def joined_with(self, other: Pattern) -> Pattern:
        """Return the same pattern with the bindings of both."""
        return Pattern(
            self.pattern_type,
            self.text,
            self.before,
            self.after,
            self.old + other.old,
            self.new + other.new,
            self.changed | other.changed,
            self.operations | other.operations,
        )


@dataclass(frozen=True, slots=True)
class CoveredNames:
    """Names that the same patterns cover: a set of classes, and the patterns before and after."""

    names: int
    before: tuple[Pattern, ...]
    after: tuple[Pattern, ...]


def operations_of_binding(binding: AclBinding) -> int:
    """Return the operations about which a binding says something, or perhaps does, by their codes."""
    mask = mask_of(binding.operation, binding.permission_type)
    mask |= mask >> MAYBE_SHIFT
    mask |= mask >> DENY_SHIFT
    return mask & _CODES


_CODES = (1 << DENY_SHIFT) - 1


def sorted_by_patterns(patterns: Iterable[Pattern], region: int) -> Iterator[CoveredNames]:
    """Yield the names of a region, once each, with the patterns that cover them.

    Literals and prefixes lie in one another or apart, so that each name has a shortest way up to all
    that cover it. The few others (LITERAL `*`, the empty prefix, GLOBs) split what that yields.
    """
    literals: list[Pattern] = []
    prefixes: dict[str, Pattern] = {}
    wide: list[Pattern] = []
    for pattern in patterns:
        if not (pattern.before | pattern.after) & region:
            continue
        if pattern.pattern_type is PatternType.LITERAL and pattern.text != WILDCARD:
            literals.append(pattern)
        elif pattern.pattern_type is PatternType.PREFIXED and pattern.text:
            prefixes[pattern.text] = pattern
        else:
            wide.append(pattern)
    for names, covering in _nested(literals, prefixes, region):
        yield from _split(CoveredNames(names, covering, covering), wide)


def _nested(
    literals: list[Pattern], prefixes: dict[str, Pattern], region: int
) -> Iterator[tuple[int, tuple[Pattern, ...]]]:
    """Yield the names of a region, once each, with the literals and prefixes that cover them."""
    chain = PrefixChain.of(prefixes)
    above: list[tuple[Pattern, ...]] = []
    for prefix, parent in zip(chain.prefixes, chain.parents, strict=True):
        above.append((prefixes[prefix], *(above[parent] if parent >= 0 else ())))
    taken = [0] * (len(chain.prefixes) + 1)  # the last for what no prefix covers
    for pattern in literals:
        place = chain.longest(pattern.text)
        name = pattern.before & region
        taken[place] |= name
        yield name, (pattern, *(above[place] if place >= 0 else ()))
    for place in range(len(chain.prefixes) - 1, -1, -1):
        own = prefixes[chain.prefixes[place]].before & region
        taken[chain.parents[place]] |= own
        if rest := own & ~taken[place]:
            yield rest, above[place]
    if rest := region & ~taken[-1]:
        yield rest, ()


def _split(found: CoveredNames, wide: list[Pattern]) -> Iterator[CoveredNames]:
    """Yield the same names by which of these patterns cover them too."""
    parts = [found]
    for pattern in wide:
        split: list[CoveredNames] = []
        for part in parts:
            inside = part.names & pattern.before
            for half, before in ((inside, (*part.before, pattern)), (part.names ^ inside, part.before)):
                if half:
                    same = (
                        half if pattern.after == pattern.before and half is inside else half & pattern.after
                    )
                    for names, after in ((same, (*part.after, pattern)), (half ^ same, part.after)):
                        if names:
                            split.append(CoveredNames(names, before, after))
        parts = split
    yield from parts
