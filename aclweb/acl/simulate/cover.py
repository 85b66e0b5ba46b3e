"""What is the answer to one session on one class of names, in one of the two worlds?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

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
)
from aclweb.acl.simulate.impact import Side


class Cover:
    """What settles answers on classes of names in one of the two worlds, beside a session's own bindings."""

    def __init__(
        self,
        resource_type: ResourceType,
        settings: AuthorizerSettings,
        *,
        covered: bool,
        unknown_patterns: list[AclBinding],
        sides: dict[tuple[object, ...], Side],
    ) -> None:
        """covered: whether any ACL covers the names. sides: those made so far, so that equal ones are one."""
        self.settings, self.unknown_patterns = settings, unknown_patterns
        self._covered, self._sides = covered, sides
        self._matching = matching_of(settings)
        self._never_asked = _never_asked(resource_type, settings)

    def __bool__(self) -> bool:
        return self._covered

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
        """Return an answer with the bindings that settle it; none for NO_ALLOW_ACL, where any may be shown."""
        return self._side(*answer, self.settling(answer, reading, operation))

    def settling(self, answer: Answer, reading: JoinedMasks, operation: Operation) -> list[AclBinding]:
        """Return the bindings that settle an answer, in no order."""
        basis = answer[1]
        if basis is Basis.ALLOW_ACL:
            bit = 1 << operation._value_
        elif basis is Basis.DENY_ACL:
            bit = 1 << operation._value_ + DENY_SHIFT
        else:
            return []
        unknown = PatternType.UNKNOWN
        return [
            binding
            for binding in reading.matching
            if mask_of(binding.operation, binding.permission_type) & bit
            and binding.pattern_type is not unknown
        ]

    def _side(self, result: Result, basis: Basis, settling: list[AclBinding]) -> Side:
        key = (result, basis, *map(id, settling))
        found = self._sides.get(key)
        if found is None:
            ordered = in_scan_order(settling) if len(settling) > 1 else settling
            found = self._sides[key] = Side(result, basis, tuple(ordered))
        return found


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
