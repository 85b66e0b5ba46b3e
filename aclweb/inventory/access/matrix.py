"""What may one principal do with one resource, operation by operation and host by host?

Every answer is the core's (`answer_from`, which decides as `decide` does). A principal's host
matters only where a binding names one. The hosts that are named for a row's principal divide
all addresses into the regions of `any_host`, and one address of each is decided. Where these
answers differ, the cell says "some-hosts", from the same places as `decide_for_any_host`.

Two cells differ from that answer: a default that nobody has declared is "unknown" here (there it
is decided as assumed, and the decision names it), and `hosts` that admit no client
are listed as `dead_hosts`.

On a cluster with 100,000 ACLs hundreds of principals reach one topic, and most of them
through ACLs of the same shape. So a row joins the masks of its bindings first, and rows
with the same masks share their verdicts; who settled a cell is listed when it is asked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import NamedTuple, TypeVar

from aclweb.acl.authorizer import (
    ALL_BITS,
    BY_SUPER_USER,
    DENY_SHIFT,
    Answer,
    Basis,
    HostRegion,
    Result,
    Vote,
    answer_from,
    choose_addresses,
    joined_regions,
    mask_of,
    region_tree,
    vote_of,
)
from aclweb.acl.matching import comes_from, why_no_address
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    computed_once,
    split_principal,
)
from aclweb.inventory.access.cells import REACHES, AccessRow, Verdict
from aclweb.inventory.current import ClusterView

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

    def __init__(self, view: ClusterView, host: str | None = None) -> None:
        """Take what is in force. Raises AclError for the authorizer `glob`, which no cluster has."""
        if view.settings.has_globs:
            raise AclError(
                "The access matrix is for authorizers that brokers have; ask for 'glob' on the command line."
            )
        self.index = view.index
        self.settings = view.settings
        self.host = host
        self.decided = 0  # verdicts that were not taken from an earlier row
        # From page to page: what is decided here depends on the joined masks alone.
        self._rows: _Kept[tuple[Verdict, ...]] = view.loaded.remember(("rows", view.settings, host), _Kept)
        self._verdicts: _Kept[Verdict] = view.loaded.remember(("verdicts", view.settings, host), _Kept)

    @computed_once
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
        is_super = principal in self.settings.super_users
        undeclared_dependencies = ("super_users",) if "super_users" in self.settings.undeclared else ()
        verdicts = self._row_verdicts(resource, operations, mine, is_super)
        return AccessRow(
            principal,
            "principal",
            resource,
            verdicts,
            mine.bindings,
            is_super,
            undeclared_dependencies,
            self.settings.cidr_hosts,
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
            reads_ranges=self.settings.cidr_hosts,
        )

    def super_users(self, resource: Resource, operations: tuple[Operation, ...]) -> AccessRow:
        """Return what super users can do: everything, and unknown only in who they are."""
        undeclared_dependencies = ("super_users",) if "super_users" in self.settings.undeclared else ()
        verdicts = tuple(Verdict(operation=operation, state="allowed") for operation in operations)
        return AccessRow(
            "",
            "super-users",
            resource,
            verdicts,
            is_super_user=True,
            undeclared_dependencies=undeclared_dependencies,
        )

    def _row_verdicts(
        self, resource: Resource, operations: tuple[Operation, ...], mine: Joined, is_super: bool
    ) -> tuple[Verdict, ...]:
        shelf = self.index.shelf(resource.resource_type)
        covered = mine.covers or (shelf is not None and shelf.is_covered(resource.name, self.settings))
        unknown = tuple(shelf.unknown_patterns) if shelf is not None else ()
        by_host = dict(mine.by_host)
        everywhere = by_host.pop(WILDCARD, 0)
        if self.host is not None:
            admitting = [host for host in by_host if comes_from(host, self.host, self.settings)]
            everywhere = reduce(or_, map(by_host.__getitem__, admitting), everywhere)
        if is_super or self.host is not None:
            by_host = {}
        row = _RowFacts(
            settings=self.settings,
            elsewhere=self.nowhere_named if self.host is None else self.host,
            everywhere=everywhere,
            by_host=by_host,
            covered=covered,
            is_super=is_super,
            unknown_patterns=unknown,
            mine_unknown=mine.unknown_patterns,
        )
        if unknown:
            self.decided += len(operations)
            return tuple(row.verdict(operation) for operation in operations)
        shape = (operations, is_super, covered, everywhere, *by_host.items())
        kept = self._rows.get(shape)
        if kept is None:
            kept = self._rows[shape] = tuple(self._verdict(row, operation) for operation in operations)
        return kept

    def _verdict(self, row: _RowFacts, operation: Operation) -> Verdict:
        """Return the row's answer, from an earlier row where all that concerns this operation is the same."""
        field = _FIELDS[operation]
        everywhere = row.everywhere & field
        by_host = {
            host: weight & field for host, weight in row.by_host.items() if weight & field & ~everywhere
        }
        shape = (operation, row.is_super, row.covered, everywhere, *by_host.items())
        kept = self._verdicts.get(shape)
        if kept is None:
            self.decided += 1
            row = replace(row, everywhere=everywhere, by_host=by_host)
            kept = self._verdicts[shape] = row.verdict(operation)
        return kept


@dataclass(frozen=True, slots=True)
class _RowFacts:
    """What the answers of one row are computed from.

    everywhere, by_host: the joined masks of ACLs for every host, and for each host that they name.
    elsewhere: the text for an address that no ACL names. unknown_patterns: all of the type;
    `mine_unknown` those of them for the principal.
    """

    settings: AuthorizerSettings
    elsewhere: str
    everywhere: int
    by_host: Mapping[str, int]
    covered: bool
    is_super: bool
    unknown_patterns: Sequence[AclBinding] = ()
    mine_unknown: Sequence[AclBinding] = ()

    def verdict(self, operation: Operation) -> Verdict:
        root = region_tree(self.by_host, self.settings)
        choose_addresses(root, frozenset(self.by_host))
        # Ranges may leave no other address; then those of one of them stand for all.
        like_others = root if root.example else root.children[0]
        places: dict[str, _Place] = {}
        for region in root.all_within():
            address = region.example if region is not root else self.elsewhere
            weight = reduce(or_, (self.by_host.get(host, 0) for host in region.hosts), self.everywhere)
            if region is not root or root.example:
                region.answers = (self._answer(address, weight, operation),)
                places[address] = _Place(weight, region.answers[0])
        root.answers = like_others.answers
        ((result, basis),) = root.answers
        (_, joined, _), *others = joined_regions(root)
        same = (
            [self.elsewhere] if root.example else [region.example for region in joined if region is not root]
        )
        different = [address for address, place in places.items() if place.answer[0] is not result]
        if different and Result.UNDECIDED in (result, *(places[address].answer[0] for address in different)):
            return Verdict(operation=operation, state="unknown", settled_at=_settled_at(same, places))
        shown = different or same
        return Verdict(
            operation=operation,
            state="some-hosts" if different else _state(result, basis, self.settings),
            through=_through(shown, operation, places),
            is_particular=_is_particular([*different, *same], operation, places),
            implied=_is_implied(shown, operation, places),
            places=tuple(
                HostRegion((region.host,), tuple(one.host for one in ends), region.example, region.results)
                for region, _, ends in others
                if region.results != root.results
            ),
            dead_hosts=tuple(self._dead_hosts(operation, result)),
            elsewhere=_state(result, basis, self.settings) if different else "",
            undeclared_dependencies=("allow_everyone",) if _depends_on_default(basis, self.settings) else (),
            settled_at=_settled_at([*different, *same], places),
        )

    def _dead_hosts(self, operation: Operation, result: Result) -> Iterator[str]:
        """Yield the ACL hosts that would have another result if they were addresses."""
        for host, weight in self.by_host.items():
            answer = self._answer(host, self.everywhere | weight, operation)
            if answer[0] is not result and why_no_address(host, self.settings) is not None:
                yield host

    def _answer(self, host: str, weight: int, operation: Operation) -> Answer:
        if self.is_super:
            return BY_SUPER_USER
        mask = weight & _ANYWHERE | weight >> _MASK_BITS & _ANYWHERE | weight >> 2 * _MASK_BITS & _ANYWHERE
        votes = [
            vote_of(binding, operation)
            for binding in self.mine_unknown
            if comes_from(binding.host, host, self.settings)
        ]
        if len(votes) < len(self.unknown_patterns):
            votes.append(Vote.NONE)  # the others may cover the resource and do nothing for this principal
        return answer_from(
            mask,
            1 << operation._value_,
            covered=self.covered,
            unknown_patterns=votes,
            settings=self.settings,
        )


class _Place(NamedTuple):
    """The joined masks at one address, and the answer there."""

    weight: int
    answer: Answer


def _through(addresses: Sequence[str], operation: Operation, places: Mapping[str, _Place]) -> str:
    for place_of_mask, reach in enumerate(REACHES):
        for weight, (_, basis) in map(places.__getitem__, addresses):
            if basis in (Basis.DENY_ACL, Basis.ALLOW_ACL):
                mask = weight >> place_of_mask * _MASK_BITS
                if mask >> (DENY_SHIFT if basis is Basis.DENY_ACL else 0) + operation._value_ & 1:
                    return reach
    return ""


def _is_particular(addresses: Sequence[str], operation: Operation, places: Mapping[str, _Place]) -> bool:
    allowing = [address for address in addresses if places[address].answer[1] is Basis.ALLOW_ACL]
    return _through(allowing, operation, places) in ("exact", "prefix")


def _is_implied(addresses: Sequence[str], operation: Operation, places: Mapping[str, _Place]) -> bool:
    return places[addresses[0]].answer[1] is Basis.ALLOW_ACL and not any(
        places[address].weight >> _DIRECT_SHIFT + operation._value_ & 1
        for address in addresses
        if places[address].answer[1] is Basis.ALLOW_ACL
    )


def _settled_at(addresses: Sequence[str], places: Mapping[str, _Place]) -> tuple[tuple[str, bool], ...]:
    bases = [(address, places[address].answer[1]) for address in addresses]
    return tuple(
        (address, basis is Basis.DENY_ACL)
        for address, basis in bases
        if basis in (Basis.DENY_ACL, Basis.ALLOW_ACL)
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


def concerns(binding: AclBinding, operation: Operation) -> bool:
    """Whether the binding counts for this operation, or may, by itself or through what it implies."""
    return binding.pattern_type is PatternType.UNKNOWN or bool(_weight(binding) & _FIELDS[operation])


def reach(binding: AclBinding) -> str:
    """Return how far a binding's pattern reaches: "exact", "prefix" or "all"."""
    if binding.pattern_type is not PatternType.LITERAL:
        return "prefix"
    return "all" if binding.resource_name == WILDCARD else "exact"


def _state(result: Result, basis: Basis, settings: AuthorizerSettings) -> str:
    if result is Result.UNDECIDED or _depends_on_default(basis, settings):
        return "unknown"
    if basis is Basis.DEFAULT_ALLOW:
        return "default"
    if result is Result.ALLOWED:
        return "allowed"
    return "refused" if basis is Basis.DENY_ACL else "none"


def _depends_on_default(basis: Basis, settings: AuthorizerSettings) -> bool:
    return basis in (Basis.DEFAULT_ALLOW, Basis.DEFAULT_DENY) and "allow_everyone" in settings.undeclared


def _unused(text: str, taken: Iterable[str]) -> str:
    """Return `text`, made longer until nobody uses it."""
    used = frozenset(taken)
    while text in used:
        text += "'"
    return text
