"""What is the answer to one session on one class of names, in one of the two worlds?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from aclweb.acl.authorizer import (
    BY_NOT_ASKED,
    BY_SUPER_USER,
    DENY_SHIFT,
    MAYBE_SHIFT,
    Answer,
    Basis,
    Result,
    Vote,
    answer_from,
    in_scan_order,
    vote_of,
)
from aclweb.acl.model import (
    OPERATIONS,
    AclBinding,
    AuthorizerSettings,
    Operation,
    ResourceType,
    is_never_asked,
)
from aclweb.acl.simulate.hosts import Admitting
from aclweb.acl.simulate.impact import Side
from aclweb.acl.simulate.patterns import Entry, UnknownPatterns
from aclweb.acl.simulate.sessions import Sessions
from aclweb.acl.simulate.worlds import Worlds


class Cover:
    """What settles answers on classes of names in one of the two worlds, beside a session's own bindings."""

    def __init__(
        self,
        resource_type: ResourceType,
        settings: AuthorizerSettings,
        *,
        is_after: bool,
        covered: bool,
        unknown_patterns: list[AclBinding],
        sides: dict[tuple[object, ...], Side],
        with_acls: bool,
    ) -> None:
        """is_after: of which world. covered: whether any ACL covers the names.

        sides: those made so far, so that equal ones are one. with_acls: whether these have the ACLs.
        """
        self.settings, self.unknown_patterns = settings, unknown_patterns
        self._is_after, self._covered, self._sides, self._with_acls = is_after, covered, sides, with_acls
        self._super_users = settings.super_users
        self._never_asked = never_asked(resource_type, settings)
        # What `answer_from` says where nothing is unknown, by whether an ACL denies, and whether one allows.
        self._known = [
            answer_from(mask, 1, covered=covered, unknown_patterns=(), settings=settings)
            for mask in (0, 1, 1 << DENY_SHIFT, 1 << DENY_SHIFT | 1)
        ]

    def __bool__(self) -> bool:
        return self._covered

    def answer(self, principal: str | None, masks: JoinedMasks, operation: Operation) -> Answer:
        """Return the answer to a session by its bindings whose host matches."""
        if self._super_users and principal in self._super_users:
            return BY_SUPER_USER
        code, mask = operation._value_, masks.after if self._is_after else masks.before
        if self._never_asked >> code & 1:
            return BY_NOT_ASKED
        if mask >> MAYBE_SHIFT or self.unknown_patterns:
            return answer_from(
                mask,
                1 << code,
                covered=self._covered,
                unknown_patterns=self.unknown_effects(masks, operation),
                settings=self.settings,
            )
        return self._known[(mask >> code + DENY_SHIFT & 1) << 1 | mask >> code & 1]

    def unknown_effects(self, masks: JoinedMasks, operation: Operation) -> list[Vote]:
        """Return what each binding with an unknown pattern does to the session if it covers these names."""
        if not self.unknown_patterns:
            return []
        for_session = masks.unknown.after if self._is_after else masks.unknown.before
        own = [binding for binding in for_session if binding.host in masks.hosts[self._is_after]]
        # Those for others may still end the default.
        strangers = len(self.unknown_patterns) - len(own)
        return sorted([vote_of(binding, operation) for binding in own] + [Vote.NONE] * strangers)

    def side(self, answer: Answer, masks: JoinedMasks, operation: Operation) -> Side:
        """Return an answer with the bindings that settle it; none for NO_ALLOW_ACL, where any may be shown."""
        return self._side(*answer, self.settling(answer, masks, operation) if self._with_acls else [])

    def settling(self, answer: Answer, masks: JoinedMasks, operation: Operation) -> list[AclBinding]:
        """Return the bindings that settle an answer, in no order."""
        basis = answer[1]
        if basis is Basis.ALLOW_ACL:
            bit = 1 << operation._value_
        elif basis is Basis.DENY_ACL:
            bit = 1 << operation._value_ + DENY_SHIFT
        else:
            return []
        hosts = masks.hosts[self._is_after]
        if self._is_after:
            return [entry.binding for entry in masks.entries if entry.after & bit and entry.host in hosts]
        return [entry.binding for entry in masks.entries if entry.before & bit and entry.host in hosts]

    def _side(self, result: Result, basis: Basis, settling: list[AclBinding]) -> Side:
        key: tuple[object, ...]
        if len(settling) > 1:
            key = (basis._value_, *sorted(map(id, settling)))
        else:
            key = (basis._value_, id(settling[0])) if settling else (basis._value_,)
        found = self._sides.get(key)
        if found is None:
            ordered = in_scan_order(settling) if len(settling) > 1 else settling
            found = self._sides[key] = Side(result, basis, tuple(ordered))
        return found


class Covers:
    """What settles answers on names of one resource type, by the world and by whether any ACL covers the names."""

    def __init__(self, worlds: Worlds, sessions: Sessions, sides: dict[tuple[object, ...], Side]) -> None:
        """sides: those made so far, so that equal ones are one."""
        self._worlds, self._sessions, self._sides = worlds, sessions, sides
        self._known: dict[tuple[bool, bool], Cover] = {}

    def of(self, *, is_after: bool, covered: bool) -> Cover:
        key = (is_after, covered)
        found = self._known.get(key)
        if found is None:
            worlds, sessions = self._worlds, self._sessions
            found = self._known[key] = Cover(
                sessions.coverage.resource_type,
                worlds.after_settings if is_after else worlds.settings,
                is_after=is_after,
                covered=covered,
                unknown_patterns=sessions.unknown_new if is_after else sessions.unknown_old,
                sides=self._sides,
                with_acls=worlds.with_acls,
            )
        return found


class JoinedMasks(NamedTuple):
    """The joined masks of those of a session's bindings whose host matches an address.

    entries: the bindings among which these are. hosts: those of ACLs that admit the address. unknown: the
    bindings whose pattern is unknown, of which it is the same.
    """

    before: int
    after: int
    entries: Sequence[Entry]
    hosts: Admitting
    unknown: UnknownPatterns

    @classmethod
    def of(cls, entries: Sequence[Entry], hosts: Admitting, unknown: UnknownPatterns) -> JoinedMasks:
        """Return what these bindings come to, for all operations at once."""
        hosts_before, hosts_after = hosts
        before = after = 0
        for _, host, own_before, own_after, _, _ in entries:
            if host in hosts_before:
                before |= own_before
            if host in hosts_after:
                after |= own_after
        return cls(before, after, entries, hosts, unknown)


@lru_cache(maxsize=64)
def never_asked(resource_type: ResourceType, settings: AuthorizerSettings) -> int:
    """Return the operations for which brokers never ask, by their codes."""
    return sum(
        1 << operation._value_
        for operation in OPERATIONS[resource_type]
        if is_never_asked(resource_type, operation, settings)
    )
