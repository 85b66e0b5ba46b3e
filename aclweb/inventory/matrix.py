"""What may one caller do with one resource, operation by operation and host by host?

Every answer is the core's (`answer_from`, which decides as `decide` does). A caller's host
matters only where a binding names one, so a row is decided once for each host that is
named for its principal and once for an address that nobody names. Where these answers
differ, the cell says "some-hosts".

On a cluster with 100,000 ACLs hundreds of principals reach one topic, and most of them
through rules of the same shape. So a row joins the masks of its bindings first, and rows
with the same masks share their verdicts; who settled a cell is listed when it is asked for.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

from aclweb.acl.addresses import as_java_prints
from aclweb.acl.any_host import leaves_other_hosts
from aclweb.acl.authorizer import Answer, Basis, Result, answer_from, effect_on
from aclweb.acl.hosts import admits, in_range, read_address, read_range
from aclweb.acl.index import ALL_BITS, DENY_SHIFT, mask_of
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    split_principal,
)
from aclweb.acl.profiles import Rules
from aclweb.acl.reach import why_no_address
from aclweb.inventory.cells import REACHES, AccessRow, Verdict
from aclweb.inventory.current import InForce

_MASK_BITS = 64
_DIRECT_SHIFT = len(REACHES) * _MASK_BITS
_ANYWHERE = (1 << _MASK_BITS) - 1
_MOST_KEPT = 10_000  # shapes of rows, at some two kilobytes each
# The bits of a weight that concern one operation.
_FIELDS: dict[Operation, int] = {
    operation: sum(1 << operation.code + 16 * field for field in range(_DIRECT_SHIFT // 16 + 1))
    for operation in Operation
    if operation is not Operation.ANY
}
_SUPER: Answer = (Result.ALLOWED, Basis.SUPER_USER)


class Joined(NamedTuple):
    """Bindings that cover one resource, with their masks joined by the host that they name."""

    bindings: tuple[AclBinding, ...]
    by_host: Mapping[str, int]
    covers: bool  # at least one covers the resource for certain
    unknown_patterns: tuple[AclBinding, ...]

    @classmethod
    def of(cls, bindings: Iterable[AclBinding]) -> Joined:
        kept = tuple(bindings)
        by_host: dict[str, int] = {}
        unknown: list[AclBinding] = []
        for binding in kept:
            if binding.pattern_type is PatternType.UNKNOWN:
                unknown.append(binding)
                by_host.setdefault(binding.host, 0)
            else:
                by_host[binding.host] = by_host.get(binding.host, 0) | _weight(binding)
        return cls(kept, by_host, len(kept) > len(unknown), tuple(unknown))

    def __add__(self, other: object) -> Joined:
        """Return both as one, these first."""
        if not isinstance(other, Joined):
            return NotImplemented
        if not self.bindings or not other.bindings:
            return self if self.bindings else other
        by_host = dict(self.by_host)
        for host, weight in other.by_host.items():
            by_host[host] = by_host.get(host, 0) | weight
        return Joined(
            self.bindings + other.bindings,
            by_host,
            self.covers or other.covers,
            self.unknown_patterns + other.unknown_patterns,
        )


_Worth = TypeVar("_Worth")


class _Kept(dict[Hashable, _Worth]):
    """What was worked out before; begins afresh when it grows too large."""

    def __setitem__(self, key: Hashable, worth: _Worth) -> None:
        if len(self) >= _MOST_KEPT:
            self.clear()
        super().__setitem__(key, worth)


NOTHING = Joined((), {}, covers=False, unknown_patterns=())


class Matrix:
    """Decides rows: for any host, or for one host only."""

    def __init__(self, here: InForce, host: str | None = None) -> None:
        self.index = here.index
        self.rules = here.rules
        self.host = host
        self.decided = 0  # verdicts that were not taken from an earlier row
        # From page to page: what is decided here hangs on the joined masks alone.
        self._rows: _Kept[tuple[Verdict, ...]] = here.holdings.remember(("rows", here.rules, host), _Kept)
        self._verdicts: _Kept[Verdict] = here.holdings.remember(("verdicts", here.rules, host), _Kept)

    @cached_property
    def nowhere_named(self) -> str:
        return _unused("any other address", self.index.hosts)

    def row(
        self,
        principal: str,
        resource: Resource,
        operations: tuple[Operation, ...],
        own: Joined,
        for_any_user: Joined,
    ) -> AccessRow:
        """Return one principal's cells.

        own, for_any_user: the bindings that cover the resource, or may, and name the principal or User:*.
        """
        # To Kafka a principal without a colon is nobody.
        mine = own + for_any_user if split_principal(principal) is not None else for_any_user
        is_super = principal in self.rules.super_users
        hangs_on = ("super_users",) if "super_users" in self.rules.undeclared else ()
        verdicts = self._row_verdicts(resource, operations, mine, is_super)
        return AccessRow(
            principal,
            "principal",
            resource,
            verdicts,
            mine.bindings,
            is_super,
            hangs_on,
            self.rules.cidr_hosts,
        )

    def any_user(
        self, resource: Resource, operations: tuple[Operation, ...], for_any_user: Joined
    ) -> AccessRow:
        """Return what somebody can do whom neither an ACL nor a declaration names."""
        verdicts = self._row_verdicts(resource, operations, for_any_user, False)
        return AccessRow(
            ANY_USER,
            "any-user",
            resource,
            verdicts,
            for_any_user.bindings,
            reads_ranges=self.rules.cidr_hosts,
        )

    def super_users(self, resource: Resource, operations: tuple[Operation, ...]) -> AccessRow:
        """Return what super users can do: everything, and unknown only in who they are."""
        hangs_on = ("super_users",) if "super_users" in self.rules.undeclared else ()
        verdicts = tuple(Verdict(operation=operation, state="allowed") for operation in operations)
        return AccessRow("", "super-users", resource, verdicts, is_super_user=True, hangs_on=hangs_on)

    def _row_verdicts(
        self, resource: Resource, operations: tuple[Operation, ...], mine: Joined, is_super: bool
    ) -> tuple[Verdict, ...]:
        shelf = self.index.shelf(resource.resource_type)
        covered = mine.covers or (shelf is not None and shelf.is_covered(resource.name, self.rules))
        unknown = tuple(shelf.unknown_patterns) if shelf is not None else ()
        points = [] if is_super or self.host is not None else self._points(mine.by_host)
        elsewhere = self.host if self.host is not None else self._elsewhere(points)
        weights = {elsewhere: self._weight_at(mine.by_host, elsewhere)}
        for _, found in points:
            weights.update((point, self._weight_at(mine.by_host, point)) for point in found)
        if unknown:
            row = _Row(
                self.rules, elsewhere, points, weights, covered, is_super, unknown, mine.unknown_patterns
            )
            self.decided += len(operations)
            return tuple(row.verdict(operation) for operation in operations)
        hosts = tuple(host for host, _ in points)  # which tell the points, too
        shape = (operations, is_super, covered, *weights.items(), *hosts)
        kept = self._rows.get(shape)
        if kept is None:
            row = _Row(self.rules, elsewhere, points, weights, covered, is_super)
            kept = tuple(self._verdict(row, operation) for operation in operations)
            self._rows[shape] = kept
        return kept

    def _verdict(self, row: _Row, operation: Operation) -> Verdict:
        """Return the row's verdict, from an earlier row where all that concerns this operation is the same."""
        field = _FIELDS[operation]
        concerned = [(place, weight & field) for place, weight in row.weights.items()]
        here = concerned[0][1]
        if all(weight == here for _, weight in concerned):  # no host makes a difference
            row = replace(row, points=(), weights=dict(concerned[:1]))
            del concerned[1:]
        shape = (operation, row.is_super, row.covered, *concerned, *(host for host, _ in row.points))
        kept = self._verdicts.get(shape)
        if kept is None:
            self.decided += 1
            kept = self._verdicts[shape] = row.verdict(operation)
        return kept

    def _weight_at(self, by_host: Mapping[str, int], host: str) -> int:
        weight = by_host.get(WILDCARD, 0) | by_host.get(host, 0)
        if self.rules.cidr_hosts:
            for acl_host, found in by_host.items():
                if "/" in acl_host and in_range(acl_host, host):
                    weight |= found
        return weight

    def _elsewhere(self, points: Sequence[tuple[str, tuple[str, ...]]]) -> str:
        """Return an address for all that none of these hosts names; one that they name if they leave none."""
        ranges = [host for host, _ in points if "/" in host]
        # Ranges of both families are needed to leave no address.
        if len({":" in host for host in ranges}) == 2 and not leaves_other_hosts(ranges, self.rules):
            return next(found[0] for host, found in points if host in ranges)
        return self.nowhere_named

    def _points(self, by_host: Mapping[str, int]) -> list[tuple[str, tuple[str, ...]]]:
        """Return each ACL host that these bindings name, with addresses that stand for all it admits."""
        named = [host for host in by_host if host != WILDCARD]
        if not self.rules.cidr_hosts or not any("/" in host for host in named):
            return [(host, (host,)) for host in named]
        edges = _edges(named)
        return [
            (host, tuple(point for point in edges if in_range(host, point)) or (host,))
            if read_range(host)
            else (host, (host,))
            for host in named
        ]


@dataclass(frozen=True, slots=True)
class _Row:
    """What the verdicts of one row are worked out from.

    weights: the joined masks at each address that stands for others, `elsewhere` among them.
    unknown_patterns: all of the type; `mine_unknown` those of them for the caller.
    """

    rules: Rules
    elsewhere: str
    points: Sequence[tuple[str, tuple[str, ...]]]
    weights: Mapping[str, int]
    covered: bool
    is_super: bool
    unknown_patterns: Sequence[AclBinding] = ()
    mine_unknown: Sequence[AclBinding] = ()

    def verdict(self, operation: Operation) -> Verdict:
        answers = {place: self._answer(place, operation) for place in self.weights}
        result, basis = answers[self.elsewhere]
        different, dead = self._different(answers, result)
        state = _state(result, basis, self.rules)
        hangs_on = ("allow_everyone",) if _hangs_on_default(basis, self.rules) else ()
        at_elsewhere = _settled_at([self.elsewhere], answers)
        if not different:
            return Verdict(
                operation=operation,
                state=state,
                through=self._through([self.elsewhere], operation, answers),
                is_particular=self._is_particular([self.elsewhere], operation, answers),
                implied=self._is_implied([self.elsewhere], operation, answers),
                dead_hosts=dead,
                hangs_on=hangs_on,
                settled_at=at_elsewhere,
            )
        if Result.UNDECIDED in (result, *(answers[point][0] for point in different)):
            return Verdict(operation=operation, state="unknown", settled_at=at_elsewhere)
        hosts = tuple(
            host
            for host, found in self.points
            if host not in dead and any(point in different for point in found)
        )
        inside = tuple(
            host
            for host, found in self.points
            if host not in hosts and any(in_range(wide, point) for wide in hosts for point in found)
        )
        return Verdict(
            operation=operation,
            state="some-hosts",
            through=self._through(different, operation, answers),
            is_particular=self._is_particular([*different, self.elsewhere], operation, answers),
            implied=self._is_implied(different, operation, answers),
            hosts=hosts,
            except_hosts=inside,
            dead_hosts=dead,
            elsewhere=state,
            hangs_on=hangs_on,
            settled_at=_settled_at([*different, self.elsewhere], answers),
        )

    def _different(self, answers: Mapping[str, Answer], result: Result) -> tuple[list[str], tuple[str, ...]]:
        """Return the addresses with another result, and the ACL hosts that would have one if they were addresses."""
        different: dict[str, None] = {}
        dead = []
        for host, found in self.points:
            otherwise = [point for point in found if answers[point][0] is not result]
            if why_no_address(host, self.rules) is None:
                different |= dict.fromkeys(otherwise)
            elif otherwise:
                dead.append(host)
        return list(different), tuple(dead)

    def _answer(self, host: str, operation: Operation) -> Answer:
        if self.is_super:
            return _SUPER
        weight = self.weights[host]
        mask = weight & _ANYWHERE | weight >> _MASK_BITS & _ANYWHERE | weight >> 2 * _MASK_BITS & _ANYWHERE
        readings = [
            effect_on(binding, operation)
            for binding in self.mine_unknown
            if admits(binding.host, host, ranges=self.rules.cidr_hosts)
        ]
        if len(readings) < len(self.unknown_patterns):
            readings.append("")  # the others may cover the resource and do nothing for this caller
        return answer_from(
            mask, 1 << operation._value_, covered=self.covered, unknown_patterns=readings, rules=self.rules
        )

    def _through(self, places: Sequence[str], operation: Operation, answers: Mapping[str, Answer]) -> str:
        for place_of_mask, reach in enumerate(REACHES):
            for place in places:
                basis = answers[place][1]
                if basis in (Basis.DENY_ACL, Basis.ALLOW_ACL):
                    mask = self.weights[place] >> place_of_mask * _MASK_BITS
                    if mask >> (DENY_SHIFT if basis is Basis.DENY_ACL else 0) + operation._value_ & 1:
                        return reach
        return ""

    def _is_particular(
        self, places: Sequence[str], operation: Operation, answers: Mapping[str, Answer]
    ) -> bool:
        allowing = [place for place in places if answers[place][1] is Basis.ALLOW_ACL]
        return self._through(allowing, operation, answers) in ("exact", "prefix")

    def _is_implied(self, places: Sequence[str], operation: Operation, answers: Mapping[str, Answer]) -> bool:
        return answers[places[0]][1] is Basis.ALLOW_ACL and not any(
            self.weights[place] >> _DIRECT_SHIFT + operation._value_ & 1
            for place in places
            if answers[place][1] is Basis.ALLOW_ACL
        )


def _settled_at(places: Sequence[str], answers: Mapping[str, Answer]) -> tuple[tuple[str, bool], ...]:
    return tuple(
        (place, answers[place][1] is Basis.DENY_ACL)
        for place in places
        if answers[place][1] in (Basis.DENY_ACL, Basis.ALLOW_ACL)
    )


def _weight(binding: AclBinding) -> int:
    """Return a binding's mask at the place of its reach, and beyond all masks what it allows without implying."""
    shape = (binding.operation, binding.permission_type, reach(binding))
    weight = _WEIGHTS.get(shape)
    if weight is None:
        operation, permission, reached = shape
        direct = 0
        if permission is PermissionType.ALLOW:
            direct = ALL_BITS if operation is Operation.ALL else 1 << operation.code
        weight = mask_of(operation, permission) << REACHES.index(reached) * _MASK_BITS
        weight |= direct << _DIRECT_SHIFT
        _WEIGHTS[shape] = weight
    return weight


_WEIGHTS: dict[tuple[Operation, PermissionType, str], int] = {}


def reach(binding: AclBinding) -> str:
    """Return how far a binding's pattern reaches: "exact", "prefix" or "all"."""
    if binding.pattern_type is not PatternType.LITERAL:
        return "prefix"
    return "all" if binding.resource_name == WILDCARD else "exact"


def _edges(hosts: Iterable[str]) -> list[str]:
    """Return addresses such that whatever these hosts and ranges tell apart, one of them is in each part.

    Along the line of addresses the answer can only change where a range begins or has
    just ended, or around a single address.
    """
    numbers: set[tuple[int, int]] = set()
    for host in hosts:
        found = read_range(host)
        single = read_address(host)
        if found is not None:
            bits, start, length = found
            size = 1 << bits - length
            first = start // size * size
            # The address 0 of IPv4 is in no range, so the one after it speaks for its range too.
            numbers |= {(bits, first), (bits, first + 1), (bits, first + size)}
        elif single is not None:
            numbers |= {single, (single[0], single[1] + 1)}
    return [_address(bits, number) for bits, number in sorted(numbers) if number < 1 << bits]


def _address(bits: int, number: int) -> str:
    return as_java_prints(str(ipaddress.IPv4Address(number) if bits == 32 else ipaddress.IPv6Address(number)))


def _state(result: Result, basis: Basis, rules: Rules) -> str:
    if result is Result.UNDECIDED or _hangs_on_default(basis, rules):
        return "unknown"
    if basis is Basis.DEFAULT_ALLOW:
        return "default"
    if result is Result.ALLOWED:
        return "allowed"
    return "refused" if basis is Basis.DENY_ACL else "none"


def _hangs_on_default(basis: Basis, rules: Rules) -> bool:
    return basis in (Basis.DEFAULT_ALLOW, Basis.DEFAULT_DENY) and "allow_everyone" in rules.undeclared


def _unused(text: str, taken: Iterable[str]) -> str:
    """Return `text`, made longer until nobody uses it."""
    used = frozenset(taken)
    while text in used:
        text += "'"
    return text
