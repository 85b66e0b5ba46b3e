"""Which bindings of one resource type cover a name?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from aclweb.acl.authorizer.scan_order import entry_order, in_scan_order
from aclweb.acl.matching import (
    NO_PREFIXES,
    GlobSet,
    PrefixChain,
    code_units,
    empty_prefix_covers,
    glob_shape,
    matching_of,
    wildcard_covers,
)
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    PatternType,
    PermissionType,
    computed_once,
    split_principal,
)

_SORTED_ANEW = 20
"""To sort one ACL costs about as much as to look at so many of those that are sorted."""


class ResourceShelf:
    """The bindings of one resource type, filed by the names that they cover."""

    def __init__(self, bindings: Iterable[AclBinding]) -> None:
        # All of them, in no order; `bindings` is in scan order.
        self.unsorted: Sequence[AclBinding] = list(bindings)
        self.count = len(self.unsorted)
        self.unknown_patterns: list[AclBinding] = []
        self.globs: list[AclBinding] = []
        literals: dict[str, list[AclBinding]] = {}
        prefixed: dict[str, list[AclBinding]] = {}
        for binding in self.unsorted:
            if binding.pattern_type is PatternType.LITERAL:
                literals.setdefault(binding.resource_name, []).append(binding)
            elif binding.pattern_type is PatternType.PREFIXED:
                prefixed.setdefault(binding.resource_name, []).append(binding)
            elif binding.pattern_type is PatternType.GLOB:
                self.globs.append(binding)
            else:
                self.unknown_patterns.append(binding)
        for group in (*literals.values(), *prefixed.values()):
            if len(group) > 1:
                group.sort(key=entry_order)
        self.empty_prefix = prefixed.pop("", [])
        self.literals: Mapping[str, list[AclBinding]] = literals
        self.wildcard = literals.get(WILDCARD, [])
        self.chain = PrefixChain.of_sorted(tuple(sorted(prefixed))) if prefixed else NO_PREFIXES
        self.prefixed: Sequence[list[AclBinding]] = [prefixed[prefix] for prefix in self.chain.prefixes]

    @computed_once
    def bindings(self) -> list[AclBinding]:
        """All bindings of this type, in scan order."""
        return list(self.one_by_one())

    def one_by_one(self) -> Iterator[AclBinding]:
        """Yield the same; for whoever wants only the first of them."""
        if self.globs or self.unknown_patterns:
            yield from in_scan_order(self.unsorted)
            return
        # Those of one name stand in order already.
        places = {prefix: place for place, prefix in enumerate(self.chain.prefixes)}
        # Both are sorted already, which sorting finds.
        names = list(dict.fromkeys(sorted([*self.literal_names, *self.chain.prefixes], reverse=True)))
        if not all(map(str.isascii, names)):
            names.sort(key=code_units, reverse=True)
        for name in names:
            yield from self.literals.get(name, ())
            yield from self.prefixed[places[name]] if name in places else ()
        yield from self.empty_prefix

    @computed_once
    def with_known_pattern(self) -> list[AclBinding]:
        """Those of them whose pattern type this program knows, in scan order."""
        if not self.unknown_patterns:
            return self.bindings
        return [binding for binding in self.bindings if binding.pattern_type is not PatternType.UNKNOWN]

    @computed_once
    def denies(self) -> list[AclBinding]:
        """The DENYs among these."""
        return [each for each in self.with_known_pattern if each.permission_type is PermissionType.DENY]

    def in_order(self, bindings: Iterable[AclBinding]) -> list[AclBinding]:
        """Return these bindings of the type in scan order."""
        chosen = set(bindings)
        if len(chosen) * _SORTED_ANEW < self.count:
            return in_scan_order(chosen)
        return [binding for binding in self.bindings if binding in chosen]

    @computed_once
    def without_colon(self) -> list[AclBinding]:
        """Those with a known pattern whose principal has no colon, which is for nobody."""
        typeless = [own for own in self.by_principal if split_principal(own) is None]
        found = chain.from_iterable(self.by_principal[own] for own in typeless)
        return [binding for binding in found if binding.pattern_type is not PatternType.UNKNOWN]

    @computed_once
    def literal_names(self) -> Sequence[str]:
        """The names of the literal patterns, sorted."""
        return sorted(self.literals)

    @computed_once
    def by_principal(self) -> Mapping[str, Sequence[AclBinding]]:
        """principal -> its bindings of this type."""
        groups: dict[str, list[AclBinding]] = {}
        for binding in self.unsorted:
            groups.setdefault(binding.principal, []).append(binding)
        return groups

    @computed_once
    def kinds(self) -> frozenset[tuple[int, int]]:
        """The codes of permission and operation of each binding, every pair once."""
        return frozenset(
            (binding.permission_type._value_, binding.operation._value_) for binding in self.unsorted
        )

    @computed_once
    def no_plain_allows(self) -> Mapping[str, Sequence[AclBinding]]:
        """principal -> those of its bindings that are or may be something else than an ALLOW on known names."""
        groups: dict[str, list[AclBinding]] = {}
        for binding in self.unsorted:
            plain = binding.pattern_type is not PatternType.UNKNOWN
            if not plain or binding.permission_type is not PermissionType.ALLOW:
                groups.setdefault(binding.principal, []).append(binding)
        return groups

    def covering(self, name: str, settings: AuthorizerSettings) -> list[AclBinding]:
        """Return the bindings that cover `name` for certain, in scan order."""
        found = list(self.literals.get(name, ()))
        for place in self.chain.places(name):
            found += self.prefixed[place]
        if self.wildcard and name != WILDCARD and wildcard_covers(name, settings):
            found += self.wildcard
        if self.empty_prefix and empty_prefix_covers(name, settings):
            found += self.empty_prefix
        if name[:1] <= WILDCARD:
            found = in_scan_order(found)
        # Every prefix of a name after `*` sorts after `*` too, so the parts stand in order.
        return found + self.globs_covering(name, settings) if self.globs else found

    def named(self, name: str) -> list[AclBinding]:
        """Return the bindings whose pattern has this very name, of whatever pattern type."""
        place = self.chain.longest(name)
        is_prefix = place >= 0 and self.chain.prefixes[place] == name
        others = (each for each in (*self.globs, *self.unknown_patterns) if each.resource_name == name)
        return [
            *self.literals.get(name, ()),
            *(self.prefixed[place] if is_prefix else ()),
            *(self.empty_prefix if not name else ()),
            *others,
        ]

    def beginning_with(self, text: str) -> Iterator[AclBinding]:
        """Yield the bindings for one name, or for a prefix, that begins with a text; not those for all names."""
        for place in _places_beginning_with(text, self.literal_names):
            if (name := self.literal_names[place]) != WILDCARD:
                yield from self.literals[name]
        for place in _places_beginning_with(text, self.chain.prefixes):
            yield from self.prefixed[place]

    def globs_covering(self, name: str, settings: AuthorizerSettings) -> list[AclBinding]:
        """Return the bindings with GLOB patterns that cover `name`, the most specific first."""
        return in_scan_order(self.globs[place] for place in self._places_of_globs(name, settings))

    def _places_of_globs(self, name: str, settings: AuthorizerSettings) -> list[int]:
        if not self.globs or PatternType.GLOB not in matching_of(settings).pattern_types:
            return []
        return self.glob_set.matching(name)

    @computed_once
    def glob_set(self) -> GlobSet:
        """The GLOB patterns, in the order of `globs`."""
        return GlobSet(glob_shape(binding.resource_name) for binding in self.globs)

    def is_covered(self, name: str, settings: AuthorizerSettings) -> bool:
        """Whether a binding covers `name` for certain."""
        return bool(
            name in self.literals
            or (self.wildcard and wildcard_covers(name, settings))
            or (self.empty_prefix and empty_prefix_covers(name, settings))
            or self.chain.longest(name) >= 0
            or (self.globs and self._places_of_globs(name, settings))
        )


def _places_beginning_with(text: str, names: Sequence[str]) -> Iterator[int]:
    """Yield the places of the names that begin with a text, among names that are sorted."""
    for place in range(bisect_left(names, text), len(names)):
        if not names[place].startswith(text):
            return
        yield place
