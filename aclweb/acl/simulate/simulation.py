"""What would an edit, a new topic, group or transactional id, or other rules change, and for whom?

`simulate` compares two worlds over every question that can be asked in them, and is
complete for LITERAL and PREFIXED patterns, because names, principals and hosts fall into
classes that get one answer (see `universe`). Under the GLOB proposal it is exact for the names
that exist and that ACLs spell out, and beyond them tries one example for each glob.

Only classes of names that the edit can touch are looked at, and in each only the callers
that it can touch: those that an added or removed binding names, or everybody where one is
for `User:*`, or where a default that allows gives way to ACLs or comes back. So `unchanged`
is not counted but computed: all cells of the universe less those reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from aclweb.acl.authorizer import (
    DENY_SHIFT,
    MAYBE_SHIFT,
    AclIndex,
    Answer,
    Basis,
    ResourceShelf,
    Result,
    effect_on,
    in_scan_order,
    mask_of,
    name_text,
    resource_text,
    says,
    settle,
)
from aclweb.acl.matching import (
    comes_from,
    empty_prefix_covers,
    glob_is_for,
    in_range,
    is_for,
    is_host_glob,
    is_principal_glob,
    read_range,
    why_no_address,
    why_no_resource,
    why_no_topic,
    wildcard_covers,
)
from aclweb.acl.model import (
    ANY_USER,
    OPERATIONS,
    WILDCARD,
    AclBinding,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    ResourceType,
    Rules,
    is_never_asked,
    split_principal,
)
from aclweb.acl.simulate.budget import Budget, Meter, TooCostly
from aclweb.acl.simulate.classes import ANY_OTHER, EXACT, PATTERN, PREFIX, Names, Spot, Universe
from aclweb.acl.simulate.impact import (
    DEPENDS,
    GAINS,
    LOSES,
    RECOVERED,
    Effect,
    Impact,
    Outcome,
    Part,
    Parts,
    Side,
)

__all__ = [
    "ANY_OTHER",
    "EXACT",
    "PATTERN",
    "PREFIX",
    "Budget",
    "Effect",
    "Impact",
    "Names",
    "Side",
    "TooCostly",
    "simulate",
]

NAMES_SHOWN = 3
"""How many names a warning spells out before it counts the rest."""

# What work costs, in comparisons of one answer before and after.
_COVERAGE_STEPS = 15
_CALLER_STEPS = 3
_PARTS_A_STEP = 200
_HOSTS_READ_A_STEP = 25

_SAMPLES, _ACLS_SAMPLED = 4, 10_000
"""On how many of an ACL's names its cost is estimated, in an edit of at most so many ACLs."""


def simulate(
    delta: Delta,
    index: AclIndex,
    names: Names | None = None,
    rules: Rules | None = None,
    after_rules: Rules | None = None,
    *,
    briefly: bool = False,
    met_only: bool = False,
    budget: Budget | None = None,
) -> Impact:
    """Return what differs once `delta` is written, and once `after_rules` hold if they are given.

    briefly: hosts that only ACLs for other principals name are told apart no more where they fare
    as every address does that nobody names. An address range may hold hundreds of them, and each
    is otherwise a line for each name and operation. Where no ACL allows something, none of those
    that cover the name is shown for it, so that all such names are told as one.
    met_only: nothing is told of what no client can ever meet. A host that is no client's address
    before or after has no class of its own, so its answers are not counted at all, not even as
    unchanged; a name that no resource can have counts as unchanged. Without it the texts of ACLs
    are told of whatever they are.
    budget: raise TooCostly rather than work out more than this.
    """
    rules = rules or Rules()
    return _Simulation(
        delta,
        index,
        names or Names(),
        rules,
        after_rules or rules,
        briefly=briefly,
        met_only=met_only,
        budget=budget,
    ).run()


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What becomes of one class of names, and whether it had and has any ACL.

    reread: whether these differ although the ACL stays, because the rules read its pattern otherwise.
    """

    parts: Parts
    covered_before: bool
    covered_after: bool
    reread: bool


@dataclass(frozen=True, slots=True)
class _Row:
    """One caller's outcomes: on every host that is not named here, and on those that differ."""

    elsewhere: Outcome | None
    by_host: dict[str, Outcome | None]


_SAME_ROW = _Row(None, {})


class _Group:
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
        return {principal: _joined_masks(bindings) for principal, bindings in self.by_principal.items()}

    @cached_property
    def masks_anywhere(self) -> dict[str, int]:
        """What those of each principal that are for every host come to."""
        return {
            principal: _joined_masks(binding for binding in bindings if binding.host == WILDCARD)
            for principal, bindings in self.by_principal.items()
        }

    @cached_property
    def with_ranges(self) -> set[str]:
        """The principals of bindings whose host may be an address range."""
        return {binding.principal for binding in self.bindings if "/" in binding.host}


class _Cover:
    """The bindings that cover one class of names in one of the two worlds, and those that perhaps do."""

    def __init__(
        self,
        resource_type: ResourceType,
        groups: list[_Group],
        unknown_patterns: list[AclBinding],
        rules: Rules,
        sides: dict[tuple[object, ...], Side],
        *,
        briefly: bool = False,
        covered: bool | None = None,
    ) -> None:
        """sides: those made so far, so that equal ones are one. covered: whether any ACL covers the
        names, where the groups hold those of some callers alone.
        """
        self.groups, self.unknown_patterns, self.rules = groups, unknown_patterns, rules
        self._sides, self._briefly = sides, briefly
        self._covered = bool(groups) if covered is None else covered
        self._never_asked = _never_asked(resource_type, rules)
        self._all = [*groups, _Group(unknown_patterns)] if unknown_patterns else groups

    def __bool__(self) -> bool:
        return self._covered

    @property
    def bindings(self) -> Iterator[AclBinding]:
        return (binding for group in self.groups for binding in group.bindings)

    @cached_property
    def principals(self) -> set[str]:
        """Those with a type for whom there is a binding."""
        return {principal for group in self._all for principal in group.by_principal}

    def own(self, principal: str | None) -> list[AclBinding]:
        """Return the bindings for one principal; with None, for one that nobody names."""
        if self.rules.has_globs and principal is not None:
            callers = [own for own in self.principals if is_for(own, principal, self.rules)]
        else:
            callers = [ANY_USER] if principal is None else [principal, ANY_USER]
        return [
            binding
            for group in self._all
            for caller in callers
            if caller in group.by_principal
            for binding in group.by_principal[caller]
        ]

    def reading(self, matching: list[AclBinding]) -> _Reading:
        """Return what a caller's bindings whose host matches come to, for all operations at once."""
        mask = 0
        for binding in matching:
            if binding.pattern_type is not PatternType.UNKNOWN:
                mask |= mask_of(binding.operation, binding.permission_type)
        return _Reading(matching, mask)

    def reading_at(self, own: Iterable[AclBinding], host: str) -> _Reading:
        return self.reading([binding for binding in own if comes_from(binding.host, host, self.rules)])

    def reading_outside(self, own: Iterable[AclBinding], outside: str) -> _Reading:
        """Return the reading on an address that nobody names and that lies in no range, such as `outside`."""
        return self.reading([binding for binding in own if self._is_anywhere(binding.host, outside)])

    def reading_inside(self, own: Iterable[AclBinding], range_text: str, outside: str) -> _Reading:
        """Return the reading on an address of a range that nobody names and that lies in no narrower one."""
        ranges = self.rules.cidr_hosts
        return self.reading(
            [
                binding
                for binding in own
                if self._is_anywhere(binding.host, outside)
                or (ranges and _contains(binding.host, range_text))
            ]
        )

    def _is_anywhere(self, host: str, outside: str) -> bool:
        """Whether a host of an ACL admits addresses that nobody names; a glob is judged by one of them."""
        if host == WILDCARD:
            return True
        return self.rules.has_globs and is_host_glob(host) and comes_from(host, outside, self.rules)

    def answer(self, principal: str | None, reading: _Reading, operation: Operation) -> Answer:
        if principal in self.rules.super_users:
            return Result.ALLOWED, Basis.SUPER_USER
        if operation in self._never_asked:
            return Result.DENIED, Basis.NOT_ASKED
        mask, bit = reading.mask, 1 << operation._value_
        if not (mask >> MAYBE_SHIFT or self.unknown_patterns):
            if mask >> DENY_SHIFT & bit:
                return Result.DENIED, Basis.DENY_ACL
            if mask & bit:
                return Result.ALLOWED, Basis.ALLOW_ACL
        return settle(
            denied=bool(mask >> DENY_SHIFT & bit),
            allowed=bool(mask & bit),
            perhaps_denied=bool(mask >> MAYBE_SHIFT + DENY_SHIFT & bit),
            perhaps_allowed=bool(mask >> MAYBE_SHIFT & bit),
            covered=bool(self),
            unknown_patterns=self.unknown_effects(reading, operation),
            rules=self.rules,
        )

    def unknown_effects(self, reading: _Reading, operation: Operation) -> list[str]:
        """Return what each binding with an unknown pattern does to the caller if it covers these names."""
        if not self.unknown_patterns:
            return []
        own = [b for b in reading.matching if b.pattern_type is PatternType.UNKNOWN]
        # Those for others may still end the default.
        strangers = len(self.unknown_patterns) - len(own)
        return sorted([effect_on(binding, operation) for binding in own] + [""] * strangers)

    def side(self, answer: Answer, reading: _Reading, operation: Operation) -> Side:
        """Return an answer with the bindings that settle it; one covering ACL settles NO_ALLOW_ACL."""
        result, basis = answer
        if basis is Basis.NO_ALLOW_ACL:
            return self._side(result, basis, [] if self._briefly else [self._first])
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
class _Reading:
    """A caller's bindings whose host matches, and their masks joined."""

    matching: list[AclBinding]
    mask: int


_Readings = tuple[_Reading, _Reading]


class _Simulation:
    """Two worlds, and the questions whose answers differ between them."""

    def __init__(
        self,
        delta: Delta,
        index: AclIndex,
        names: Names,
        rules: Rules,
        after_rules: Rules,
        *,
        briefly: bool = False,
        met_only: bool = False,
        budget: Budget | None = None,
    ) -> None:
        self.asked, self.briefly, self.met_only = delta, briefly, met_only
        self.meter = Meter(budget) if budget is not None else None
        self._sides: dict[tuple[object, ...], Side] = {}
        self.index, self.names, self.rules, self.after_rules = index, names, rules, after_rules
        self.add = tuple(binding for binding in delta.add if binding not in index)
        self.remove = tuple(binding for binding in delta.remove if binding in index)
        self.added, self.removed = AclIndex(self.add), frozenset(self.remove)
        self.touching = AclIndex((*self.add, *self.remove))
        self.same_rules = rules.decides_like(after_rules)
        hosts = self._hosts_that_count() if briefly else index.hosts
        self.unmet = (
            frozenset(filter(self._is_nobodys, hosts | self.added.hosts | frozenset(names.hosts)))
            if met_only
            else frozenset[str]()
        )
        self.universe = Universe(index, self.added, names, rules, after_rules, hosts, without=self.unmet)
        self.shelves = {kind: (index.shelf(kind), self.added.shelf(kind)) for kind in OPERATIONS}
        index.require_known(rules)
        if rules.has_globs or self.added.first_glob is not None:
            AclIndex(b for b in (*index, *self.add) if b not in self.removed).require_known(after_rules)
        self.opened: list[Spot] = []
        self.closed: list[Spot] = []
        self.bare: list[Spot] = []
        self.no_longer_read: list[Spot] = []
        self.newly_read: list[Spot] = []

    def _hosts_that_count(self) -> frozenset[str]:
        """Return the hosts of ACLs on which an answer that changes can hang.

        Where ACLs for principals by name change, only their own answers differ, or those of
        everybody alike, so that the hosts in ACLs for others tell no two addresses apart. Of a
        new name all that ACLs allow is a gain, whoever they are for.
        """
        principals = self.touching.principals
        is_for_all = any(binding.principal == ANY_USER for binding in self.touching)
        if is_for_all or not self.same_rules or self.rules.has_globs:
            return self.index.hosts
        shelves = filter(None, map(self.index.shelf, OPERATIONS))
        return frozenset(
            binding.host
            for shelf in shelves
            for principal in (*principals, ANY_USER)
            for binding in shelf.by_principal.get(principal, ())
        ) | frozenset(self._hosts_of_new_names())

    def _hosts_of_new_names(self) -> Iterator[str]:
        """Yield the hosts of the ACLs that cover a new name, or perhaps do."""
        for resource_type in OPERATIONS:
            shelf = self.index.shelf(resource_type)
            if shelf is None:
                continue
            for name in self.names.new(resource_type):
                for binding in (*shelf.covering(name, self.rules), *shelf.unknown_patterns):
                    yield binding.host

    def run(self) -> Impact:
        if self.meter is not None:
            self.meter.foresee(self._weights())
        places: list[tuple[Spot, Parts]] = []
        known: dict[object, tuple[_Verdict, int]] = {}
        changed = 0
        for spot in self._touched():
            if self.met_only and self._is_no_resource(spot):
                continue
            covered = self._covered_near(spot)
            key = self._coverage(spot, covered)
            found = known.get(key)
            if found is None:
                verdict = self._compare(spot, *self._covers(spot, covered))
                found = known[key] = (verdict, sum(part.cells for part in verdict.parts))
            verdict, cells = found
            self._spend(1 + len(verdict.parts) // _PARTS_A_STEP, 1)
            self._remember_cover(spot, verdict)
            if verdict.parts:
                changed += cells
                places.append((spot, verdict.parts))
        return Impact.found(
            places,
            unchanged=self.universe.cells() - changed,
            resources=tuple(self._resources()),
            warnings=tuple(dict.fromkeys(self._warnings())),
        )

    # What it costs, and what nobody can meet.

    def _spend(self, steps: int, differences: int = 0) -> None:
        if self.meter is not None:
            self.meter.spend(steps, differences)

    def _weights(self) -> Iterator[tuple[int, AclBinding]]:
        """Yield for each ACL of the edit about how many answers it makes to look at."""
        is_short = len(self.touching) <= _ACLS_SAMPLED
        for binding in self.touching:
            kind = binding.resource_type
            if kind not in OPERATIONS or split_principal(binding.principal) is None:
                continue
            mask = mask_of(binding.operation, binding.permission_type)
            mask |= mask >> MAYBE_SHIFT
            mask |= mask >> DENY_SHIFT
            operations = sum(bool(mask & 1 << op._value_) for op in self.universe.operations(kind))
            names, samples = self.universe.covered(binding, _SAMPLES if is_short else 0)
            if kind in self._near:
                names = min(names, 1 + sum(map(_patterns, (self._near[kind], self.added.shelf(kind)))))
            callers = 1.0
            for name in samples:
                own = self._covers(Spot(kind, EXACT, name, name))[0]
                for_all = binding.principal == ANY_USER
                callers += sum(1 for _ in (own.bindings if for_all else own.own(binding.principal))) / len(
                    samples
                )
            hosts = len(self._inside(binding.host)) if self._is_range(binding.host) else 0
            yield int(names * operations * (callers + hosts)), binding

    def _is_nobodys(self, host: str) -> bool:
        """Whether no client's address can be this host in either world."""
        return all(why_no_address(host, rules) is not None for rules in {self.rules, self.after_rules})

    def _is_no_resource(self, spot: Spot) -> bool:
        """Whether nothing can have a name of this class; what was given exists."""
        if spot.is_new or spot.kind not in (EXACT, PREFIX) or self._is_given(spot):
            return False
        if spot.kind == PREFIX and not spot.text:
            return False
        pattern = PatternType.LITERAL if spot.kind == EXACT else PatternType.PREFIXED
        like = AclBinding(
            spot.resource_type, spot.text, pattern, ANY_USER, WILDCARD, Operation.READ, PermissionType.ALLOW
        )
        return why_no_resource(like) is not None

    def _is_given(self, spot: Spot) -> bool:
        if spot.resource_type not in self._given:
            self._given[spot.resource_type] = frozenset(self.universe.given(spot.resource_type))
        return spot.text in self._given[spot.resource_type]

    @cached_property
    def _given(self) -> dict[ResourceType, frozenset[str]]:
        return {}

    # Which classes of names can differ.

    def _touched(self) -> Iterator[Spot]:
        for resource_type in OPERATIONS:
            untouched = dict(self.universe.new(resource_type))
            for spot in self._touched_of(resource_type):
                if spot.is_new:
                    untouched.pop(spot.text, None)
                yield spot
            yield from self.universe.exact_spots(resource_type, untouched)

    def _touched_of(self, resource_type: ResourceType) -> Iterator[Spot]:
        if not self.same_rules:
            return self.universe.all_spots(resource_type)
        shelf = self.touching.shelf(resource_type)
        if shelf is None:
            return iter(())
        if self.rules.has_globs and not (shelf.wildcard or shelf.unknown_patterns or shelf.empty_prefix):
            return self.universe.spots_covered(shelf, resource_type)
        empty_covers_all = shelf.empty_prefix and self.rules.empty_prefix_covers_all
        if shelf.wildcard or shelf.unknown_patterns or empty_covers_all:
            return self.universe.all_spots(resource_type)
        literals = [*shelf.literals, ""] if shelf.empty_prefix else list(shelf.literals)
        return self.universe.spots_under(resource_type, literals, shelf.chain.prefixes)

    @cached_property
    def _near(self) -> Mapping[ResourceType, ResourceShelf | None]:
        """The bindings of the callers that the edit names, for types where nobody else can be touched.

        Names that differ in ACLs for others alone are then one class. Empty unless told briefly.
        """
        principals = {binding.principal for binding in self.touching}
        if not (self.briefly and self.same_rules) or self.universe.has_globs or ANY_USER in principals:
            return {}
        shelves = {kind: both for kind, both in self.shelves.items() if self.touching.shelf(kind) is not None}
        if any(shelf is not None and shelf.unknown_patterns for both in shelves.values() for shelf in both):
            return {}
        near = AclIndex(
            binding
            for shelf, _ in shelves.values()
            if shelf is not None
            for principal in (*sorted(principals), ANY_USER)
            for binding in shelf.by_principal.get(principal, ())
        )
        return {kind: near.shelf(kind) for kind in shelves}

    def _covered_near(self, spot: Spot) -> tuple[bool, bool] | None:
        """Return whether any ACL covers the names before and after, where `_near` has all else that counts."""
        kind, name = spot.resource_type, spot.sample
        if spot.is_new or kind not in self._near:
            return None
        shelf, added = self.shelves[kind]
        before = shelf is not None and shelf.is_covered(name, self.rules)
        after = before or (added is not None and added.is_covered(name, self.rules))
        if before and self.remove and shelf is not None:
            self._spend(1)
            after = self._stays_covered(shelf, name) or (
                added is not None and added.is_covered(name, self.rules)
            )
        # Where the last ACL of a name goes, or its first comes, a default that allows touches everybody.
        return None if before != after and self.rules.allow_everyone else (before, after)

    def _stays_covered(self, shelf: ResourceShelf, name: str) -> bool:
        """Whether an ACL that stays covers a name, where the rules stay too."""
        covering: list[list[AclBinding]] = []
        if shelf.wildcard and name != WILDCARD and wildcard_covers(name, self.rules):
            covering.append(shelf.wildcard)
        if name in shelf.literals:
            covering.append(shelf.literals[name])
        covering += [shelf.prefixed[place] for place in shelf.chain.places(name)]
        if shelf.empty_prefix and empty_prefix_covers(name, self.rules):
            covering.append(shelf.empty_prefix)
        return any(binding not in self.removed for bindings in covering for binding in bindings)

    def _coverage(self, spot: Spot, covered: tuple[bool, bool] | None) -> object:
        """Return a key that is equal only for classes of names with the same bindings on both sides."""
        name = spot.sample
        shelf, added = self.shelves[spot.resource_type]
        return (
            spot.resource_type,
            spot.is_new,
            covered,
            name == "",
            wildcard_covers(name, self.rules),
            wildcard_covers(name, self.after_rules),
            *(
                (
                    name if name in shelf.literals else None,
                    shelf.chain.longest(name),
                    tuple(shelf.glob_set.matching(name)) if shelf.globs else (),
                )
                for shelf in (shelf if covered is None else self._near[spot.resource_type], added)
                if shelf is not None
            ),
        )

    def _covers(self, spot: Spot, covered: tuple[bool, bool] | None = None) -> tuple[_Cover, _Cover]:
        """Return the bindings that cover the class of names before and after.

        covered: whether any does, where those of the callers that the edit names are enough.
        """
        shelf, added = self.shelves[spot.resource_type]
        if covered is not None:
            shelf = self._near[spot.resource_type]
        before: list[_Group] = []
        after: list[_Group] = []
        unknown_before: list[AclBinding] = []
        unknown_after: list[AclBinding] = []
        if shelf is not None:
            before = self._groups(shelf, spot.sample, self.rules)
            kept = before if self.same_rules else self._groups(shelf, spot.sample, self.after_rules)
            after = self._left_of(kept)
            unknown_before = shelf.unknown_patterns
            unknown_after = [binding for binding in unknown_before if binding not in self.removed]
        if added is not None:
            after = after + self._groups(added, spot.sample, self.after_rules)
            unknown_after = unknown_after + added.unknown_patterns
        kind = spot.resource_type
        was, comes = covered or (None, None)
        brief = self.briefly
        return (
            _Cover(kind, before, unknown_before, self.rules, self._sides, briefly=brief, covered=was),
            _Cover(kind, after, unknown_after, self.after_rules, self._sides, briefly=brief, covered=comes),
        )

    def _groups(self, shelf: ResourceShelf, name: str, rules: Rules) -> list[_Group]:
        """Return the bindings of a shelf that cover a name, pattern by pattern."""
        found = [shelf.literals[name]] if name in shelf.literals else []
        found += [shelf.prefixed[place] for place in shelf.chain.places(name)]
        if shelf.wildcard and name != WILDCARD and wildcard_covers(name, rules):
            found.append(shelf.wildcard)
        if shelf.empty_prefix and empty_prefix_covers(name, rules):
            found.append(shelf.empty_prefix)
        groups = [self._group_of(bindings) for bindings in found]
        if shelf.globs and rules.has_globs and (globs := shelf.globs_covering(name)):
            groups.append(_Group(globs))
        return groups

    def _group_of(self, bindings: list[AclBinding]) -> _Group:
        """Return the group of a list that a shelf holds, the same for the same list."""
        found = self._known_groups.get(id(bindings))
        if found is None:
            found = self._known_groups[id(bindings)] = _Group(bindings)
        return found

    @cached_property
    def _known_groups(self) -> dict[int, _Group]:
        return {}

    def _left_of(self, groups: list[_Group]) -> list[_Group]:
        """Return what is left of each group when the removed bindings are gone."""
        left: list[_Group] = []
        for group in groups:
            if id(group) not in self._left:
                kept = [binding for binding in group.bindings if binding not in self.removed]
                same = len(kept) == len(group.bindings)
                self._left[id(group)] = (group, group if same else _Group(kept))
            found = self._left[id(group)][1]
            if found.bindings:
                left.append(found)
        return left

    @cached_property
    def _left(self) -> dict[int, tuple[_Group, _Group]]:
        return {}

    # What becomes of one class of names.

    def _compare(self, spot: Spot, before: _Cover, after: _Cover) -> _Verdict:
        callers, everyone, operations = self._differing(spot, before, after)
        self._spend(_COVERAGE_STEPS + len(callers) * len(operations))
        others = self._rows(spot, None, before, after, operations) if everyone else {}
        rows = (
            {caller: self._rows(spot, caller, before, after, operations) for caller in sorted(callers)}
            if not everyone
            or spot.is_new
            or self._asks_otherwise(spot.resource_type)
            or self.universe.has_globs
            or before.unknown_patterns
            or after.unknown_patterns
            else self._rows_unlike(others, spot, callers, before, after, operations)
        )
        parts = tuple(
            part
            for operation in operations
            for part in self._fold(
                operation,
                {caller: row.get(operation, _SAME_ROW) for caller, row in rows.items()},
                others.get(operation, _SAME_ROW),
            )
        )
        self._spend(0, len(parts))
        covered, stays_covered = bool(before), bool(after)
        reread = covered != stays_covered and any(
            binding in self.index and binding not in self.removed
            for binding in (*before.bindings, *after.bindings)
        )
        return _Verdict(parts, covered, stays_covered, reread)

    def _differing(
        self, spot: Spot, before: _Cover, after: _Cover
    ) -> tuple[set[str], bool, Sequence[Operation]]:
        """Return where answers can differ: named principals, whether all others too, and operations."""
        operations = self.universe.operations(spot.resource_type)
        touching = self._touching(spot, before, after)
        allowing = self.rules.allow_everyone or self.after_rules.allow_everyone
        default_moves = allowing and (
            bool(before) != bool(after)
            or (self.rules.allow_everyone != self.after_rules.allow_everyone and not before)
            or any(binding.pattern_type is PatternType.UNKNOWN for binding in touching)
        )
        if self.same_rules and not spot.is_new and not default_moves:
            touched = _joined_masks(touching)
            touched |= touched >> MAYBE_SHIFT
            touched |= touched >> DENY_SHIFT
            operations = tuple(op for op in operations if touched & 1 << op._value_)
        asks_otherwise = self._asks_otherwise(spot.resource_type)
        if spot.is_new or default_moves or asks_otherwise or any(map(self._is_for_others, touching)):
            supers = self.rules.super_users | self.after_rules.super_users
            named = before.principals | after.principals | supers
            if self.universe.has_globs and any(map(is_principal_glob, named)):
                named |= self.universe.principals
            return named - {ANY_USER}, True, operations
        callers = {b.principal for b in touching if split_principal(b.principal) is not None}
        if self.universe.has_globs:
            callers |= self._matched_by({own for own in callers if is_principal_glob(own)})
        return callers | (self.rules.super_users ^ self.after_rules.super_users), False, operations

    def _asks_otherwise(self, resource_type: ResourceType) -> bool:
        """Whether brokers of only one side ask for some operation, so that ACLs which stay matter otherwise."""
        return any(
            is_never_asked(resource_type, operation, self.rules)
            != is_never_asked(resource_type, operation, self.after_rules)
            for operation in OPERATIONS[resource_type]
        )

    def _touching(self, spot: Spot, before: _Cover, after: _Cover) -> list[AclBinding]:
        """Return the bindings that cover these names on one side only, or are read otherwise there."""
        if self.same_rules:
            shelf = self.touching.shelf(spot.resource_type)
            return [] if shelf is None else shelf.covering(spot.sample, self.rules) + shelf.unknown_patterns
        old = {*before.bindings, *before.unknown_patterns}
        new = {*after.bindings, *after.unknown_patterns}
        touching = list(old ^ new)
        if self.rules.cidr_hosts != self.after_rules.cidr_hosts:
            touching += [binding for binding in old & new if "/" in binding.host]
        if self.rules.has_globs != self.after_rules.has_globs:
            touching += [b for b in old & new if is_principal_glob(b.principal) or is_host_glob(b.host)]
        return touching

    def _is_for_others(self, binding: AclBinding) -> bool:
        """Whether a binding is for callers that nobody names."""
        if not self.universe.has_globs or binding.principal == ANY_USER:
            return binding.principal == ANY_USER
        other = self.universe.session(None)
        return other is not None and any(
            is_for(binding.principal, other, rules) for rules in (self.rules, self.after_rules)
        )

    def _matched_by(self, globs: Iterable[str]) -> set[str]:
        """Return the named callers that one of these globs of principals is for."""
        found: set[str] = set()
        for own in globs:
            if own not in self._callers_of:
                self._callers_of[own] = {
                    caller
                    for caller in self.universe.principals
                    if (session := self.universe.session(caller)) is not None and glob_is_for(own, session)
                }
            found |= self._callers_of[own]
        return found

    @cached_property
    def _callers_of(self) -> dict[str, set[str]]:
        return {}

    def _rows_unlike(
        self,
        others: dict[Operation, _Row],
        spot: Spot,
        callers: Iterable[str],
        before: _Cover,
        after: _Cover,
        operations: Sequence[Operation],
    ) -> dict[str, dict[Operation, _Row]]:
        """Return the rows of each caller, those worked out that are not plain to see.

        Where no binding of its own bears on an operation, a caller's row is that of all others.
        Where one that stays settles it from every host, nothing differs.
        """
        stay = set(map(id, after.groups))
        kept = [group for group in before.groups if id(group) in stay]
        groups = [*kept, *(group for cover in (before, after) for group in cover.groups if group not in kept)]
        supers = self.rules.super_users | self.after_rules.super_users
        everybody = everywhere = 0
        for group in groups:
            everybody |= group.masks.get(ANY_USER, 0)
        for group in kept:
            everywhere |= group.masks_anywhere.get(ANY_USER, 0)
        fields = [(operation, 1 << operation._value_) for operation in operations]
        rows: dict[str, dict[Operation, _Row]] = {}
        for caller in sorted(callers):
            if caller in supers or any(caller in group.with_ranges for group in groups):
                rows[caller] = self._rows(spot, caller, before, after, operations)
                continue
            own, always = 0, everywhere
            for group in groups:
                own |= group.masks.get(caller, 0)
            for group in kept:
                always |= group.masks_anywhere.get(caller, 0)
            denied = own | everybody
            denied = (denied | denied >> MAYBE_SHIFT) >> DENY_SHIFT
            same = always >> DENY_SHIFT | always & ~denied
            own |= own >> MAYBE_SHIFT
            own |= own >> DENY_SHIFT
            unclear = [operation for operation, bit in fields if own & bit and not same & bit]
            row = self._rows(spot, caller, before, after, unclear) if unclear else {}
            row |= {
                operation: found for operation, found in others.items() if not own & 1 << operation._value_
            }
            rows[caller] = row
        return rows

    def _rows(
        self, spot: Spot, caller: str | None, before: _Cover, after: _Cover, operations: Iterable[Operation]
    ) -> dict[Operation, _Row]:
        """Return one caller's outcomes by operation, without operations on which nothing differs."""
        universe = self.universe
        session = universe.session(caller)
        old, new = before.own(session), after.own(session)
        hosts = {binding.host for binding in (*old, *new)} - {WILDCARD} - self.unmet
        if universe.has_globs and any(map(is_host_glob, hosts)):
            hosts = set(universe.hosts)
        ranges = sorted(host for host in hosts if self._is_range(host))
        for text in ranges:
            hosts |= self._inside(text)
        other = universe.other_address
        operations = tuple(operations)
        read = (len(hosts) + len(ranges) + 1) * (len(old) + len(new)) // _HOSTS_READ_A_STEP
        self._spend(_CALLER_STEPS + (len(hosts) + len(ranges) + 1) * (len(operations) + 1) + read)
        columns = {
            host: (
                before.reading_inside(old, host, other),
                after.reading_inside(new, host, other),
            )
            if self._stands_for_its_addresses(host)
            else (
                before.reading_at(old, universe.address(host)),
                after.reading_at(new, universe.address(host)),
            )
            for host in hosts
        }
        outside = (before.reading_outside(old, other), after.reading_outside(new, other))
        inside = [
            (before.reading_inside(old, text, other), after.reading_inside(new, text, other))
            for text in ranges
        ]

        rows: dict[Operation, _Row] = {}
        for operation in operations:
            elsewhere = self._outcome(spot, caller, before, after, outside, operation)
            by_host = {
                host: self._outcome(spot, caller, before, after, readings, operation)
                for host, readings in columns.items()
            }
            in_ranges = [
                self._outcome(spot, caller, before, after, readings, operation) for readings in inside
            ]
            own_cells = [by_host[text] for text in ranges]
            if elsewhere is None and all(map(_is_told_by_own_cell, in_ranges, own_cells)):
                in_ranges = []
            if any(outcome != elsewhere for outcome in in_ranges):
                self._spend(len(self.universe.hosts))
                by_host = {host: by_host.get(host, elsewhere) for host in self.universe.hosts}
                within = dict(zip(ranges, inside, strict=True))
                elsewhere = self._depends_on_address(spot, caller, before, after, outside, operation, within)
            differing = {host: outcome for host, outcome in by_host.items() if outcome != elsewhere}
            if elsewhere is not None or differing:
                rows[operation] = _Row(elsewhere, differing)
        return rows

    def _outcome(
        self,
        spot: Spot,
        caller: str | None,
        before: _Cover,
        after: _Cover,
        readings: _Readings,
        operation: Operation,
    ) -> Outcome | None:
        """Return what becomes of one cell, None if nothing does."""
        old_reading, new_reading = readings
        new = after.answer(caller, new_reading, operation)
        if spot.is_new:
            # Super users are left out: they may do everything to every new name.
            if new[0] is Result.DENIED or new[1] is Basis.SUPER_USER:
                return None
            change, reason = (GAINS, None) if new[0] is Result.ALLOWED else (DEPENDS, _UNKNOWN_VALUE)
            return Outcome(change, None, after.side(new, new_reading, operation), reason)
        old = before.answer(caller, old_reading, operation)
        change, reason = "", None
        if Result.UNDECIDED in (old[0], new[0]):
            if old == new and _undecided_alike(before, after, readings, operation):
                return None
            change, reason = DEPENDS, _UNKNOWN_VALUE
        elif old[0] is not new[0]:
            change = GAINS if new[0] is Result.ALLOWED else LOSES
        elif old[0] is Result.DENIED or (old == new and old_reading.matching == new_reading.matching):
            return None
        before_side = before.side(old, old_reading, operation)
        after_side = after.side(new, new_reading, operation)
        if not change:
            if old == new and not set(before_side.determining).isdisjoint(after_side.determining):
                return None
            if old == new and old[1] is not Basis.ALLOW_ACL:
                return None
            change = RECOVERED
        return Outcome(change, before_side, after_side, reason)

    def _depends_on_address(
        self,
        spot: Spot,
        caller: str | None,
        before: _Cover,
        after: _Cover,
        outside: _Readings,
        operation: Operation,
        inside: dict[str, _Readings],
    ) -> Outcome:
        """Return the outcome on an address that nobody names; its sides are those outside every range.

        inside: the readings on an address of each range.
        """
        old = before.answer(caller, outside[0], operation)
        new = after.answer(caller, outside[1], operation)
        ranges = []
        for text, readings in inside.items():
            was = before.answer(caller, readings[0], operation)[0].value
            comes = after.answer(caller, readings[1], operation)[0].value
            ranges.append(f"{text} ({comes if spot.is_new else f'{was} before, {comes} after'})")
        return Outcome(
            DEPENDS,
            None if spot.is_new else before.side(old, outside[0], operation),
            after.side(new, outside[1], operation),
            f"It hangs on whether the address lies in {_listed(ranges, 'range')}; "
            "the answers shown are for an address outside.",
        )

    def _is_range(self, host: str) -> bool:
        reads_ranges = self.rules.cidr_hosts or self.after_rules.cidr_hosts
        return reads_ranges and "/" in host and read_range(host) is not None

    def _stands_for_its_addresses(self, host: str) -> bool:
        """Whether a named host is a range in both worlds; its cell is for its addresses that nobody names.

        Elsewhere its cell is for its text, which comes to life, or dies, with a change of rules.
        """
        return (
            self.rules.cidr_hosts
            and self.after_rules.cidr_hosts
            and not self.universe.has_globs
            and self._is_range(host)
        )

    def _inside(self, range_text: str) -> set[str]:
        """Return the named hosts that lie in a range."""
        if range_text not in self._hosts_inside:
            self._hosts_inside[range_text] = {
                host
                for host in self.universe.hosts
                if in_range(range_text, host)
                or (self._stands_for_its_addresses(host) and _contains(range_text, host))
            }
        return self._hosts_inside[range_text]

    @cached_property
    def _hosts_inside(self) -> dict[str, set[str]]:
        return {}

    def _fold(self, operation: Operation, rows: dict[str, _Row], others: _Row) -> Iterator[Part]:
        """Yield as few parts as hold all outcomes: equal callers and hosts become `*` with exceptions."""
        if others != _SAME_ROW:
            rows = {caller: row for caller, row in rows.items() if row != others}
            everyone = len(self.universe.principals) + 1 - len(rows)
            yield from self._fold_hosts(operation, WILDCARD, tuple(rows), others, everyone)
        for caller, row in rows.items():
            yield from self._fold_hosts(operation, caller, (), row, 1)

    def _fold_hosts(
        self, operation: Operation, principal: str, less: tuple[str, ...], row: _Row, callers: int
    ) -> Iterator[Part]:
        if row.elsewhere is not None:
            less_hosts = tuple(sorted(row.by_host))
            cells = callers * (len(self.universe.hosts) + 1 - len(less_hosts))
            yield Part(row.elsewhere, operation, principal, WILDCARD, less, less_hosts, cells)
        for host in sorted(row.by_host):
            outcome = row.by_host[host]
            if outcome is not None:
                yield Part(outcome, operation, principal, host, less, (), callers)

    # What a person should hear beside the differences.

    def _resources(self) -> Iterator[Resource]:
        asked = AclIndex((*self.asked.add, *self.asked.remove))
        for resource_type in OPERATIONS:
            shelf = asked.shelf(resource_type)
            if shelf is None:
                continue
            names = dict.fromkeys(self.universe.given(resource_type)) | self.universe.new(resource_type)
            if not (shelf.wildcard or shelf.empty_prefix):
                under = self.universe.exact_under(shelf, resource_type)
                yield from (Resource(resource_type, name) for name in names if name in under)
                continue
            for name in names:
                if shelf.is_covered(name, self.rules) or shelf.is_covered(name, self.after_rules):
                    yield Resource(resource_type, name)

    def _remember_cover(self, spot: Spot, verdict: _Verdict) -> None:
        if spot.is_new:
            if not verdict.covered_after:
                self.bare.append(spot)
        elif verdict.covered_before and not verdict.covered_after:
            (self.no_longer_read if verdict.reread else self.opened).append(spot)
        elif verdict.covered_after and not verdict.covered_before:
            (self.newly_read if verdict.reread else self.closed).append(spot)

    def _warnings(self) -> Iterator[str]:
        """Yield the sentences, the same for the same edit in whatever order its ACLs and those in force are given."""
        yield from self._no_ops()
        yield from self._default_mode()
        yield from self._names_nobody_has()
        yield from self._hosts_that_are_text()
        if self.universe.judges_by_example:
            yield (
                "Globs are worked out exactly for the names, principals and hosts that were given or that ACLs "
                "spell out. Beyond these each glob stands for one example that it matches, so another name "
                "that it matches may get another answer."
            )
        unknown = [binding for binding in self.touching if binding.has_unknown]
        if unknown:
            yield (
                f"{_count(len(unknown), 'ACL')} of this edit hold values that aclweb does not know; "
                "what they do cannot be told, and no client can write them."
            )
        for binding in in_scan_order(self.add):
            if split_principal(binding.principal) is None:
                yield (
                    f"The principal {binding.principal!r} has no type, so this ACL matches nobody and "
                    f"brokers may refuse it or fail on it; write 'User:{binding.principal}'."
                )
            if (
                self.after_rules.names_below_asterisk_are_a_hazard
                and binding.resource_name[:1]
                and binding.resource_name[0] < WILDCARD
            ):
                yield (
                    f"The name {name_text(binding.resource_name)} begins with a character for which a KRaft "
                    "broker may fail to answer; choose one that begins with a letter or a digit."
                )

    def _no_ops(self) -> Iterator[str]:
        there = in_scan_order(binding for binding in self.asked.add if binding in self.index)
        missing = in_scan_order(binding for binding in self.asked.remove if binding not in self.index)
        if there:
            yield f"Already in force, so adding it changes nothing: {_said(there)}"
        if missing:
            yield f"Not in force, so removing it changes nothing: {_said(missing)}"

    def _default_mode(self) -> Iterator[str]:
        opens = self.after_rules.allow_everyone
        unsure = "allow_everyone" in self.after_rules.undeclared
        condition = (
            "if this cluster allows everyone where no ACL exists, which nobody has declared, "
            if unsure
            else ""
        )
        if self.closed and (self.rules.allow_everyone or unsure):
            yield (
                f"These are the first ACLs on {self._spots(self.closed)}: {condition}everyone may use "
                f"{_it(self.closed)} today, and from then on only those whom an ACL allows."
            )
        if self.opened and (opens or unsure):
            yield (
                f"These are the last ACLs on {self._spots(self.opened)}: {condition}everyone may use "
                f"{_it(self.opened)} once these no longer count."
            )
        elif self.opened:
            yield (
                f"These are the last ACLs on {self._spots(self.opened)}: without them only super users may use "
                f"{_it(self.opened)}."
            )
        yield from self._patterns_read_otherwise(condition)
        if self.bare:
            who = "everyone may use" if opens else "only super users may use"
            yield f"No ACL covers {self._spots(self.bare)}, so {who} {_it(self.bare)}."

    def _spots(self, spots: Iterable[Spot]) -> str:
        """Return classes of names as words: of each type those that exist first, each kind by the alphabet."""
        kinds = (EXACT, PREFIX, PATTERN, ANY_OTHER)
        types = tuple(OPERATIONS)

        def place(spot: Spot) -> tuple[object, ...]:
            is_there = spot.kind == EXACT and self._is_given(spot)
            return types.index(spot.resource_type), kinds.index(spot.kind), not is_there, spot.text

        texts = [_spot_text(spot) for spot in sorted(spots, key=place)]
        return _listed(texts, "set of names", many="sets of names")

    def _patterns_read_otherwise(self, condition: str) -> Iterator[str]:
        """Yield what comes of patterns that stay and that cover other names under the rules afterwards."""
        if self.no_longer_read:
            why = (
                "KRaft's authorizer skips LITERAL * for longer names that begin with an asterisk"
                if self.after_rules.wildcard_skips_starred_names
                else "AclAuthorizer takes the empty prefix for the empty name alone"
            )
            opens = self.after_rules.allow_everyone or bool(condition)
            who = f"{condition}everyone" if opens else "only super users"
            yield (
                f"{why}, which leaves {self._spots(self.no_longer_read)} without an ACL: "
                f"{who} may use {_it(self.no_longer_read)} from then on."
            )
        if self.newly_read and (self.rules.allow_everyone or condition):
            why = (
                "Only KRaft's authorizer skips LITERAL * for longer names that begin with an asterisk"
                if self.rules.wildcard_skips_starred_names
                else "KRaft's authorizer lets the empty prefix cover every name"
            )
            yield (
                f"{why}, so ACLs now cover {self._spots(self.newly_read)}: {condition}everyone may use "
                f"{_it(self.newly_read)} today, and from then on only those whom an ACL allows."
            )

    def _names_nobody_has(self) -> Iterator[str]:
        for resource_type in OPERATIONS:
            given, shelf = self.universe.given(resource_type), self.added.shelf(resource_type)
            if shelf is None or not given:
                continue
            known = {*given, WILDCARD, *self.universe.new(resource_type)}
            missing = sorted(name for name in shelf.literals if name not in known)
            if resource_type is ResourceType.TOPIC:
                nobodys = [name for name in missing if why_no_topic(name) is not None]
                missing = [name for name in missing if why_no_topic(name) is None]
                if nobodys and not self.met_only:
                    yield f"No topic can be called {_listed(list(map(name_text, nobodys)), 'name')}."
            if missing:
                texts = [resource_text(resource_type, name) for name in missing]
                yield f"There is no {_listed(texts, 'name', joined=' and no ')} yet; the ACLs wait for it."
        for resource_type in OPERATIONS:
            there = set(self.universe.given(resource_type))
            doubled = sorted(name for name in self.universe.new(resource_type) if name in there)
            if doubled:
                names = [resource_text(resource_type, name) for name in doubled]
                it = "it were" if len(doubled) == 1 else "they were"
                yield (
                    f"Not new but there already: {_listed(names, 'name')}. "
                    f"The gains are shown as if {it} new."
                )

    def _hosts_that_are_text(self) -> Iterator[str]:
        ranges = sorted({binding.host for binding in self.add if "/" in binding.host})
        if ranges and not self.after_rules.cidr_hosts:
            yield (
                f"This Kafka reads no address ranges, so {_listed(ranges, 'host')} matches nobody "
                "(until an upgrade to 4.4 brings it to life)."
            )
        if self.after_rules.cidr_hosts != self.rules.cidr_hosts:
            stored = sorted(host for host in self.index.hosts if read_range(host) is not None)
            what = (
                "From Kafka 4.4 on, hosts written as address ranges come to life"
                if self.after_rules.cidr_hosts
                else "Before Kafka 4.4 hosts written as address ranges are text, which matches nobody"
            )
            if stored:
                yield f"{what}: {_listed(stored, 'host')}."


_UNKNOWN_VALUE = "It hangs on an ACL with a value that this version of aclweb does not know."


def _patterns(shelf: ResourceShelf | None) -> int:
    """Return into at most how many classes the patterns of a shelf sort names, less one."""
    return 0 if shelf is None else len(shelf.literals) + len(shelf.prefixed)


@lru_cache(maxsize=64)
def _never_asked(resource_type: ResourceType, rules: Rules) -> frozenset[Operation]:
    return frozenset(op for op in OPERATIONS[resource_type] if is_never_asked(resource_type, op, rules))


def _joined_masks(bindings: Iterable[AclBinding]) -> int:
    mask = 0
    for binding in bindings:
        mask |= mask_of(binding.operation, binding.permission_type)
    return mask


def _undecided_alike(before: _Cover, after: _Cover, readings: _Readings, operation: Operation) -> bool:
    """Whether an undecided cell hangs on the same on both sides."""
    fields = sum(
        1 << operation._value_ + shift for shift in (0, DENY_SHIFT, MAYBE_SHIFT, MAYBE_SHIFT + DENY_SHIFT)
    )
    return (
        readings[0].mask & fields == readings[1].mask & fields
        and bool(before) == bool(after)
        and before.unknown_effects(readings[0], operation) == after.unknown_effects(readings[1], operation)
    )


def _is_told_by_own_cell(inside: Outcome | None, own_cell: Outcome | None) -> bool:
    """Whether nothing but other ACLs changes in a range, and the cell of the range itself tells the same."""
    if inside is None or own_cell is None:
        return inside is own_cell
    return _is_the_same_by_others(inside) and _is_the_same_by_others(own_cell)


def _is_the_same_by_others(outcome: Outcome) -> bool:
    """Whether other ACLs than before give the same answer for the same reason."""
    return (
        outcome.change == RECOVERED
        and outcome.before is not None
        and outcome.before.basis is outcome.after.basis
    )


def _contains(wide: str, narrow: str) -> bool:
    """Whether every address of the range `narrow` lies in `wide`."""
    outer, inner = read_range(wide), read_range(narrow)
    if outer is None or inner is None or outer[0] != inner[0] or outer[2] > inner[2]:
        return False
    shift = outer[0] - outer[2]
    return outer[1] >> shift == inner[1] >> shift


def _spot_text(spot: Spot) -> str:
    if spot.kind == EXACT:
        return resource_text(spot.resource_type, spot.text)
    kind = spot.resource_type.name.lower().replace("_", " ")
    if spot.kind == PREFIX and spot.text:
        return f"{kind}s to come that start with {name_text(spot.text)}"
    if spot.kind == PATTERN:
        return f"{kind}s to come that match {name_text(spot.text)}"
    return f"every other {kind}"


def _it(spots: Sequence[Spot]) -> str:
    return "it" if len(spots) == 1 and spots[0].kind == EXACT else "them"


def _said(bindings: Sequence[AclBinding]) -> str:
    rest = len(bindings) - NAMES_SHOWN
    shown = ". ".join(says(binding) for binding in bindings[:NAMES_SHOWN])
    return f"{shown}." if rest <= 0 else f"{shown}; and {rest:,} more."


def _listed(texts: Sequence[str], one: str, joined: str = ", ", many: str = "") -> str:
    rest = len(texts) - NAMES_SHOWN
    shown = joined.join(texts[:NAMES_SHOWN])
    return shown if rest <= 0 else f"{shown} and {_count(rest, f'more {one}', many and f'more {many}')}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one}" if number == 1 else f"{number:,} {many or f'{one}s'}"
