"""What do the ACLs that cover one class of names answer, in one of the two worlds?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from aclweb.acl.authorizer import (
    BY_NOT_ASKED,
    BY_SUPER_USER,
    DENY_SHIFT,
    Answer,
    Basis,
    Result,
    Vote,
    answer_from,
    in_scan_order,
    mask_of,
    vote_of,
)
from aclweb.acl.matching import matching_of, range_within
from aclweb.acl.model import (
    OPERATIONS,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    ResourceType,
    is_never_asked,
    split_principal,
)
from tests.cell_by_cell.impact import Side


class Group:
    """Bindings of one pattern, in scan order and by principal."""

    def __init__(self, bindings: list[AclBinding]) -> None:
        self.bindings = bindings

    @cached_property
    def by_principal(self) -> dict[str, list[AclBinding]]:
        groups: dict[str, list[AclBinding]] = {}
        for binding in self.bindings:
            if split_principal(binding.principal) is not None:
                groups.setdefault(binding.principal, []).append(binding)
        return groups

    @cached_property
    def masks(self) -> dict[str, int]:
        """What the bindings of each principal come to from all hosts together."""
        return {principal: joined_masks(bindings) for principal, bindings in self.by_principal.items()}

    @cached_property
    def masks_anywhere(self) -> dict[str, int]:
        """What those of each principal that are for every host come to."""
        return {
            principal: joined_masks(binding for binding in bindings if binding.host == WILDCARD)
            for principal, bindings in self.by_principal.items()
        }

    @cached_property
    def with_ranges(self) -> set[str]:
        """The principals of bindings whose host may be an address range."""
        return {binding.principal for binding in self.bindings if "/" in binding.host}


class Cover:
    """The bindings that cover one class of names in one of the two worlds, and those that perhaps do."""

    def __init__(
        self,
        resource_type: ResourceType,
        groups: list[Group],
        unknown_patterns: list[AclBinding],
        settings: AuthorizerSettings,
        sides: dict[tuple[object, ...], Side],
        *,
        merge_equal_hosts: bool = False,
        covered: bool | None = None,
    ) -> None:
        """sides: those made so far, so that equal ones are one. covered: whether any ACL covers the
        names, where the groups hold those of some callers alone.
        """
        self.groups, self.unknown_patterns, self.settings = groups, unknown_patterns, settings
        self._sides, self._merge_equal_hosts = sides, merge_equal_hosts
        self._matching = matching_of(settings)
        self._covered = bool(groups) if covered is None else covered
        self._never_asked = _never_asked(resource_type, settings)
        self._all = [*groups, Group(unknown_patterns)] if unknown_patterns else groups

    def __bool__(self) -> bool:
        return self._covered

    @property
    def bindings(self) -> Iterator[AclBinding]:
        return (binding for group in self.groups for binding in group.bindings)

    @cached_property
    def principals(self) -> set[str]:
        """Those with a type for whom there is a binding."""
        return {principal for group in self._all for principal in group.by_principal}

    def own(self, principal: str) -> list[AclBinding]:
        """Return the bindings for a session of one principal; `User:*` for one that nobody names."""
        callers = self._matching.principals_for(principal, lambda: self.principals)
        return [
            binding
            for group in self._all
            for caller in callers
            if caller in group.by_principal
            for binding in group.by_principal[caller]
        ]

    def join_masks(self, matching: list[AclBinding]) -> JoinedMasks:
        """Return what a caller's bindings whose host matches come to, for all operations at once."""
        mask = 0
        for binding in matching:
            if binding.pattern_type is not PatternType.UNKNOWN:
                mask |= mask_of(binding.operation, binding.permission_type)
        return JoinedMasks(matching, mask)

    def masks_at(self, own: Iterable[AclBinding], host: str) -> JoinedMasks:
        admits = self._matching.comes_from
        return self.join_masks([binding for binding in own if admits(binding.host, host)])

    def masks_outside(self, own: Iterable[AclBinding], outside: str) -> JoinedMasks:
        """Return the joined masks on an address that nobody names and that lies in no range, such as `outside`."""
        return self.join_masks([binding for binding in own if self._is_anywhere(binding.host, outside)])

    def masks_inside(self, own: Iterable[AclBinding], range_text: str, outside: str) -> JoinedMasks:
        """Return the joined masks on an address of a range that nobody names and that lies in no narrower one."""
        ranges = self._matching.reads_ranges
        return self.join_masks(
            [
                binding
                for binding in own
                if self._is_anywhere(binding.host, outside)
                or (ranges and range_within(range_text, binding.host))
            ]
        )

    def _is_anywhere(self, host: str, outside: str) -> bool:
        """Whether a host of an ACL admits addresses that nobody names; a glob is judged by one of them."""
        if host == WILDCARD:
            return True
        matching = self._matching
        return not matching.is_nested and matching.is_host_glob(host) and matching.comes_from(host, outside)

    def answer(self, principal: str | None, reading: JoinedMasks, operation: Operation) -> Answer:
        if principal in self.settings.super_users:
            return BY_SUPER_USER
        if operation in self._never_asked:
            return BY_NOT_ASKED
        return answer_from(
            reading.mask,
            1 << operation._value_,
            covered=self._covered,
            unknown_patterns=self.unknown_effects(reading, operation),
            settings=self.settings,
        )

    def unknown_effects(self, reading: JoinedMasks, operation: Operation) -> list[Vote]:
        """Return what each binding with an unknown pattern does to the caller if it covers these names."""
        if not self.unknown_patterns:
            return []
        own = [b for b in reading.matching if b.pattern_type is PatternType.UNKNOWN]
        # Those for others may still end the default.
        strangers = len(self.unknown_patterns) - len(own)
        return sorted([vote_of(binding, operation) for binding in own] + [Vote.NONE] * strangers)

    def side(self, answer: Answer, reading: JoinedMasks, operation: Operation) -> Side:
        """Return an answer with the bindings that settle it; one covering ACL settles NO_ALLOW_ACL."""
        result, basis = answer
        if basis is Basis.NO_ALLOW_ACL:
            return self._side(result, basis, [] if self._merge_equal_hosts else [self._first])
        if basis not in (Basis.ALLOW_ACL, Basis.DENY_ACL):
            return self._side(result, basis, [])
        bit = 1 << operation._value_ + (0 if basis is Basis.ALLOW_ACL else DENY_SHIFT)
        settling = [
            binding
            for binding in reading.matching
            if binding.pattern_type is not PatternType.UNKNOWN
            and mask_of(binding.operation, binding.permission_type) & bit
        ]
        return self._side(result, basis, settling)

    def _side(self, result: Result, basis: Basis, settling: list[AclBinding]) -> Side:
        key = (result, basis, *map(id, settling))
        found = self._sides.get(key)
        if found is None:
            ordered = in_scan_order(settling) if len(settling) > 1 else settling
            found = self._sides[key] = Side(result, basis, tuple(ordered))
        return found

    @cached_property
    def _first(self) -> AclBinding:
        return in_scan_order(group.bindings[0] for group in self.groups)[0]


@dataclass(frozen=True, slots=True)
class JoinedMasks:
    """A caller's bindings whose host matches, and their masks joined."""

    matching: list[AclBinding]
    mask: int


MasksOfBothSides = tuple[JoinedMasks, JoinedMasks]
"""On one side and on the other."""


@lru_cache(maxsize=64)
def _never_asked(resource_type: ResourceType, settings: AuthorizerSettings) -> frozenset[Operation]:
    return frozenset(op for op in OPERATIONS[resource_type] if is_never_asked(resource_type, op, settings))


def joined_masks(bindings: Iterable[AclBinding]) -> int:
    mask = 0
    for binding in bindings:
        mask |= mask_of(binding.operation, binding.permission_type)
    return mask
