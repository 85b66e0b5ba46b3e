"""How many topics can each principal read, write to and administer, by effect of all ACLs together?

The same answer as that of a principal's page (`access_of`), for all principals at once. The topics that a pattern
matches are a span of the sorted names, so what a principal reaches is the spans of its ALLOWs less those of the DENYs,
and fifty thousand topics cost no more than there are ACLs. Where hosts, or values of a newer Kafka, make that too
simple, the principal is decided as its page does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aclweb.acl.authorizer import DENY_SHIFT, mask_of
from aclweb.acl.matching import comes_from, read_range, why_no_address
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    split_principal,
)
from aclweb.clusters import Known
from aclweb.inventory.access.covered_names import covered
from aclweb.inventory.access.matrix import Matrix
from aclweb.inventory.access.principal import pieces
from aclweb.inventory.access.spans import Spans, joined, length, less
from aclweb.inventory.current import ClusterView

# To administer a topic is to be able to do at least one of these with it.
ADMINISTERING = (Operation.ALTER, Operation.ALTER_CONFIGS, Operation.DELETE)
_OPERATIONS = (Operation.READ, Operation.WRITE, *ADMINISTERING)


class TopicReach(NamedTuple):
    """How many existing topics a principal can read, write to and administer, each from some host at least."""

    reads: int
    writes: int
    administers: int


@dataclass(frozen=True)
class TopicReaches:
    """The reach of each principal that an ACL on topics names. of_any_user: of everybody else but super users.

    topics: how many exist, so far as they are known.
    """

    topics: int
    of_any_user: TopicReach
    named: Mapping[str, TopicReach]
    super_users: frozenset[str]

    def of(self, principal: str) -> TopicReach:
        """Return the reach of any principal; super users reach every topic."""
        if principal in self.super_users:
            return TopicReach(self.topics, self.topics, self.topics)
        return self.named.get(principal, self.of_any_user)


def topic_reaches(view: ClusterView) -> TopicReaches | None:
    """Return how many topics each principal reaches; None where nobody knows which topics exist."""
    if view.known(ResourceType.TOPIC) is Known.UNKNOWN:
        return None
    question = ("topic_reaches", view.settings)
    return view.loaded.remember(question, lambda: _worked_out(view), lasting=True)


@dataclass
class _Rights:
    """The ACLs of one principal about one operation: spans of those for any host, and the others with their host."""

    allows: list[tuple[int, int]] = field(default_factory=list)
    denies: list[tuple[int, int]] = field(default_factory=list)
    allows_from: list[tuple[str, tuple[int, int]]] = field(default_factory=list)
    denies_from: list[tuple[str, tuple[int, int]]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.allows or self.denies or self.allows_from or self.denies_from)


@dataclass
class _Of:
    """What the ACLs on topics that name one principal say. is_simple: whether each value in them is known."""

    rights: tuple[_Rights, ...] = field(default_factory=lambda: tuple(_Rights() for _ in _OPERATIONS))
    bindings: list[AclBinding] = field(default_factory=list)
    is_simple: bool = True


class _Patterns:
    """The spans of the topics that a pattern matches, worked out once for all ACLs that have it. used: of all asked."""

    def __init__(self, view: ClusterView) -> None:
        self.names = view.loaded.names[ResourceType.TOPIC]
        self.settings = view.settings
        self.spans: dict[tuple[str, PatternType], tuple[tuple[int, int], ...]] = {
            (name, PatternType.LITERAL): ((place, place + 1),)
            for place, name in enumerate(self.names)
            if name != WILDCARD
        }
        self.used: set[tuple[int, int]] = set()

    def of(self, binding: AclBinding) -> tuple[tuple[int, int], ...]:
        pattern = (binding.resource_name, binding.pattern_type)
        found = self.spans.get(pattern)
        if found is None:
            if binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD:
                return ()  # no such topic
            spans = covered(self.names, binding, self.settings)
            found = self.spans[pattern] = tuple(span for span in spans if span[0] < span[1])
        self.used.update(found)
        return found


def _worked_out(view: ClusterView) -> TopicReaches:
    patterns = _Patterns(view)
    by_principal: dict[str, _Of] = {}
    for binding in view.index:
        if binding.resource_type is ResourceType.TOPIC:
            found = by_principal.get(binding.principal)
            if found is None:
                found = by_principal[binding.principal] = _Of()
            _add(found, binding, patterns.of(binding))
    any_user = by_principal.get(ANY_USER, _Of())
    counting = _Counting(view, patterns, any_user)
    return TopicReaches(
        topics=len(patterns.names),
        of_any_user=counting.of(ANY_USER, _Of()),
        named={
            principal: counting.of(principal, found)
            for principal, found in by_principal.items()
            if principal != ANY_USER and split_principal(principal) is not None
        },
        super_users=view.settings.super_users,
    )


def _add(found: _Of, binding: AclBinding, spans: Sequence[tuple[int, int]]) -> None:
    found.bindings.append(binding)
    effect = _EFFECTS[binding.operation, binding.permission_type]
    if effect is None or binding.pattern_type is PatternType.UNKNOWN:
        found.is_simple = False
        return
    for place in effect:
        rights = found.rights[place]
        if binding.host == WILDCARD:
            (rights.denies if binding.is_deny else rights.allows).extend(spans)
        else:
            there = rights.denies_from if binding.is_deny else rights.allows_from
            there.extend((binding.host, span) for span in spans)


def _by_host(rights: Iterable[tuple[str, tuple[int, int]]]) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for host, one in rights:
        found.setdefault(host, []).append(one)
    return found


def leave_no_address(ranges: Iterable[str]) -> bool:
    """Return whether these ranges of addresses may be every IPv4 and every IPv6 address together."""
    taken = {32: 0, 128: 0}
    for text in ranges:
        if (found := read_range(text)) is not None:
            bits, _, prefix = found
            taken[bits] += 1 << bits - prefix
    return all(number >= 1 << bits for bits, number in taken.items())


def _effects() -> dict[tuple[Operation, PermissionType], tuple[int, ...] | None]:
    """Return for each sort of ACL the places in _OPERATIONS that it is about; None where nobody can tell."""
    found: dict[tuple[Operation, PermissionType], tuple[int, ...] | None] = {}
    for operation in Operation:
        for permission in PermissionType:
            shift = {PermissionType.ALLOW: 0, PermissionType.DENY: DENY_SHIFT}.get(permission)
            if shift is None or operation in (Operation.UNKNOWN, Operation.ANY):
                found[operation, permission] = None
                continue
            mask = mask_of(operation, permission) >> shift
            found[operation, permission] = tuple(
                place for place, asked in enumerate(_OPERATIONS) if mask >> asked.code & 1
            )
    return found


_EFFECTS = _effects()


class _Counting:
    """Counts what one principal after the other reaches beside what any user does."""

    def __init__(self, view: ClusterView, patterns: _Patterns, any_user: _Of) -> None:
        self.view, self.any_user = view, any_user
        shelf = view.index.shelf(ResourceType.TOPIC)
        self.is_simple = any_user.is_simple and not (shelf is not None and shelf.unknown_patterns)
        self.allows = [joined(rights.allows) for rights in any_user.rights]
        self.denies = [joined(rights.denies) for rights in any_user.rights]
        self.open = 0
        if view.settings.allow_everyone and "allow_everyone" not in view.settings.undeclared:
            # Only where no ACL of anybody matches does the default decide.
            self.open = len(patterns.names) - length(joined(patterns.used))

        self.without_own: dict[int, Spans | None] = {}

    def of(self, principal: str, own: _Of) -> TopicReach:
        if own.is_simple and self.is_simple:
            found = [self._reached(own.rights[place], place) for place in range(len(_OPERATIONS))]
            spans = [each for each in found if each is not None]
            if len(spans) == len(found):
                reads, writes, *administering = spans
                either = joined(one for each in administering for one in each)
                return TopicReach(*(length(each) + self.open for each in (reads, writes, either)))
        return self._decided(principal, own)

    def _reached(self, own: _Rights, place: int) -> Spans | None:
        """Return the topics that one operation reaches by ACLs; None where ranges of hosts make that too hard."""
        if own.is_empty:
            if place not in self.without_own:
                self.without_own[place] = self._worked_out(own, place)
            return self.without_own[place]
        return self._worked_out(own, place)

    def _worked_out(self, own: _Rights, place: int) -> Spans | None:
        every = self.any_user.rights[place]
        allowed = joined([*self.allows[place], *own.allows]) if own.allows else self.allows[place]
        denied = joined([*self.denies[place], *own.denies]) if own.denies else self.denies[place]
        certain = less(allowed, denied)
        allows = _by_host([*own.allows_from, *every.allows_from])
        denies = _by_host([*own.denies_from, *every.denies_from])
        ranges = [host for host in denies if self._is_range(host)]
        if ranges and (leave_no_address(ranges) or any(map(self._is_range, allows))):
            return None
        from_hosts: list[tuple[int, int]] = []
        for host, spans in allows.items():
            if why_no_address(host, self.view.settings) is not None:
                continue
            here = less(joined(spans), denied)
            if self._is_range(host):
                if (
                    here
                    and denies
                    and less(here, joined(one for spans in denies.values() for one in spans)) != here
                ):
                    return None
            elif here and denies:
                refusing = [deny for deny in ranges if comes_from(deny, host, self.view.settings)]
                here = less(here, joined(one for deny in (host, *refusing) for one in denies.get(deny, ())))
            from_hosts += here
        return joined([*certain, *from_hosts]) if from_hosts else certain

    def _is_range(self, host: str) -> bool:
        return self.view.settings.cidr_hosts and "/" in host

    def _decided(self, principal: str, own: _Of) -> TopicReach:
        """Return the same, decided as the page of the principal does."""
        matrix = Matrix(self.view)
        mine = [*own.bindings, *self.any_user.bindings]
        reads = writes = administers = 0
        for names, row in pieces(self.view, matrix, principal, ResourceType.TOPIC, mine):
            able = {verdict.operation for verdict in row.verdicts if verdict.is_allowed_somewhere}
            reads += len(names) * (Operation.READ in able)
            writes += len(names) * (Operation.WRITE in able)
            administers += len(names) * (not able.isdisjoint(ADMINISTERING))
        return TopicReach(reads, writes, administers)
