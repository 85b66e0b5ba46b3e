"""Find the bindings that can influence one request or one resource, without looking at the others.

An AclIndex never changes; adding or removing bindings makes a new one. So one index can
serve every request of a process, and travel to Spark executors. It holds for any rules:
what differs between authorizers is looked up when a question is asked. Only GLOB patterns
are refused then by an authorizer that does not know them.

It is filed twice, each on first use. By resource: name or prefix -> bindings, for
`affecting`. By caller: (principal, host) -> masks of allowed and denied operations, for
`decide`, so that an answer costs the same however many bindings match. For the authorizer
`glob` the second filing is made anew, with the globs of names, principals and hosts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from aclweb.acl.matching import (
    NO_PREFIXES,
    UNRANGED,
    GlobSet,
    PrefixChain,
    Shape,
    code_units,
    comes_from,
    empty_prefix_covers,
    glob_shape,
    is_for,
    is_host_glob,
    is_principal_glob,
    read_address,
    read_range,
    wildcard_covers,
)
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    ResourceType,
    Rules,
    split_principal,
)

ALL_BITS = 0xFFFF
DENY_SHIFT = 16
MAYBE_SHIFT = 32
"""A mask holds four fields of 16 operation bits: allowed, denied, perhaps allowed, perhaps denied."""

# What an ALLOW of one operation allows beside it; a DENY implies nothing.
IMPLIED: dict[Operation, Operation] = {
    Operation.READ: Operation.DESCRIBE,
    Operation.WRITE: Operation.DESCRIBE,
    Operation.DELETE: Operation.DESCRIBE,
    Operation.ALTER: Operation.DESCRIBE,
    Operation.ALTER_CONFIGS: Operation.DESCRIBE_CONFIGS,
}


def mask_of(operation: Operation, permission: PermissionType) -> int:
    """Return what one binding with this operation and permission adds to a mask."""
    return _MASKS[permission][operation]


class AclIndex:
    """A set of bindings, filed for questions; equal bindings count once, in first-seen order."""

    def __init__(self, bindings: Iterable[AclBinding] = ()) -> None:
        self._given: tuple[AclBinding, ...] = tuple(bindings)
        words: set[object] = {binding.pattern_type for binding in self._given}
        words |= {binding.operation for binding in self._given}
        words |= {binding.permission_type for binding in self._given}
        words |= {binding.resource_type for binding in self._given}
        if not words.isdisjoint(_FILTER_WORDS):
            for binding in self._given:
                _refuse_filter_words(binding)

    def __len__(self) -> int:
        return len(self.bindings)

    def __iter__(self) -> Iterator[AclBinding]:
        return iter(self.bindings)

    def __contains__(self, binding: object) -> bool:
        return binding in self._members

    def __repr__(self) -> str:
        return f"AclIndex({len(self.bindings)} bindings)"

    def __getstate__(self) -> tuple[AclBinding, ...]:
        """Travel as the bindings alone; what is filed from them is made again where it is used."""
        return self.bindings

    def __setstate__(self, bindings: tuple[AclBinding, ...]) -> None:
        self._given = bindings

    @cached_property
    def bindings(self) -> tuple[AclBinding, ...]:
        """Each binding once, in first-seen order. Deciding needs no such order, so it is made when asked for."""
        distinct = dict.fromkeys(self._given)
        return self._given if len(distinct) == len(self._given) else tuple(distinct)

    def affecting(self, resource: Resource, rules: Rules | None = None) -> tuple[AclBinding, ...]:
        """Return the bindings whose pattern covers `resource`, whoever they are for.

        In the order of Kafka's own scan: name descending, LITERAL before PREFIXED,
        operation, principal, host, DENY before ALLOW. The literal `*` comes last. GLOB
        patterns stand behind all others, those with most characters of their own first.
        """
        rules = rules or Rules()
        self.require_known(rules)
        shelf = self.shelf(resource.resource_type)
        return tuple(shelf.covering(resource.name, rules)) if shelf is not None else ()

    def require_known(self, rules: Rules) -> None:
        """Raise AclError if a binding has a pattern type that these rules do not know."""
        if not rules.has_globs and self.first_glob is not None:
            raise AclError(
                f"The ACL on {self.first_glob.resource_name!r} has the pattern type GLOB, which only the 'glob' "
                "authorizer knows; use LITERAL or PREFIXED."
            )

    def shelf(self, resource_type: ResourceType) -> ResourceShelf | None:
        """Return the bindings of one resource type filed by name, None if there are none."""
        return self._shelves.get(resource_type.code)

    def table(self, resource_type: ResourceType) -> MaskTable | None:
        """Return the masks of one resource type filed by caller, None if there are no bindings."""
        # `_value_` because this is the hot path: `value` is a Python-level descriptor.
        return self._tables.get(resource_type._value_)

    def glob_table(self, resource_type: ResourceType) -> GlobTable | None:
        """Return what `table` does, for the authorizer `glob`."""
        return self._glob_tables.get(resource_type._value_)

    @cached_property
    def first_glob(self) -> AclBinding | None:
        """The first binding with a GLOB pattern, None if there is none."""
        return next((b for b in self._given if b.pattern_type is PatternType.GLOB), None)

    @cached_property
    def principals(self) -> frozenset[str]:
        """The principals that bindings name, without `User:*`."""
        return frozenset(binding.principal for binding in self.bindings) - {ANY_USER}

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts that bindings name, without `*`."""
        return frozenset(binding.host for binding in self.bindings) - {WILDCARD}

    @cached_property
    def _members(self) -> frozenset[AclBinding]:
        return frozenset(self.bindings)

    @cached_property
    def _shelves(self) -> dict[int, ResourceShelf]:
        groups: dict[int, list[AclBinding]] = {}
        for binding in self.bindings:
            groups.setdefault(binding.resource_type._value_, []).append(binding)
        return {code: ResourceShelf(group) for code, group in groups.items()}

    @cached_property
    def _tables(self) -> dict[int, MaskTable]:
        self.require_known(_WITHOUT_GLOBS)
        return {code: MaskTable(groups) for code, groups in _by_caller(self._given).items()}

    @cached_property
    def _glob_tables(self) -> dict[int, GlobTable]:
        return {code: GlobTable(groups) for code, groups in _by_caller(self._given).items()}


def _by_caller(bindings: Iterable[AclBinding]) -> dict[int, dict[str, list[AclBinding]]]:
    """Return code of the resource type -> principal -> bindings."""
    found: dict[ResourceType, dict[str, list[AclBinding]]] = {}
    for binding in bindings:
        # Plain look-ups and not `setdefault`, which would make what is hardly ever needed.
        groups = found.get(binding.resource_type)
        if groups is None:
            groups = found[binding.resource_type] = {}
        principal = binding.principal
        group = groups.get(principal)
        if group is None:
            groups[principal] = [binding]
        else:
            group.append(binding)
    return {resource_type._value_: groups for resource_type, groups in found.items()}


class ResourceShelf:
    """The bindings of one resource type, filed by the names that they cover."""

    def __init__(self, bindings: Iterable[AclBinding]) -> None:
        self._unsorted = list(bindings)
        self.unknown_patterns: list[AclBinding] = []
        self.literals: dict[str, list[AclBinding]] = {}
        self.globs: list[AclBinding] = []
        prefixed: dict[str, list[AclBinding]] = {}
        for binding in self._unsorted:
            if binding.pattern_type is PatternType.LITERAL:
                self.literals.setdefault(binding.resource_name, []).append(binding)
            elif binding.pattern_type is PatternType.PREFIXED:
                prefixed.setdefault(binding.resource_name, []).append(binding)
            elif binding.pattern_type is PatternType.GLOB:
                self.globs.append(binding)
            else:
                self.unknown_patterns.append(binding)
        for group in (*self.literals.values(), *prefixed.values()):
            if len(group) > 1:
                group.sort(key=_entry_order)
        self.empty_prefix = prefixed.pop("", [])
        self.wildcard = self.literals.get(WILDCARD, [])
        self.chain = PrefixChain.of(prefixed)
        self.prefixed = [prefixed[prefix] for prefix in self.chain.prefixes]

    @cached_property
    def bindings(self) -> list[AclBinding]:
        """All bindings of this type, in scan order."""
        return in_scan_order(self._unsorted)

    @cached_property
    def by_principal(self) -> dict[str, list[AclBinding]]:
        """principal -> its bindings of this type."""
        groups: dict[str, list[AclBinding]] = {}
        for binding in self._unsorted:
            groups.setdefault(binding.principal, []).append(binding)
        return groups

    @cached_property
    def no_plain_allows(self) -> dict[str, list[AclBinding]]:
        """principal -> those of its bindings that are or may be something else than an ALLOW on known names."""
        groups: dict[str, list[AclBinding]] = {}
        for binding in self._unsorted:
            plain = binding.pattern_type is not PatternType.UNKNOWN
            if not plain or binding.permission_type is not PermissionType.ALLOW:
                groups.setdefault(binding.principal, []).append(binding)
        return groups

    def covering(self, name: str, rules: Rules) -> list[AclBinding]:
        """Return the bindings that cover `name` for certain, in scan order."""
        found = list(self.literals.get(name, ()))
        for place in self.chain.places(name):
            found += self.prefixed[place]
        if self.wildcard and name != WILDCARD and wildcard_covers(name, rules):
            found += self.wildcard
        if self.empty_prefix and empty_prefix_covers(name, rules):
            found += self.empty_prefix
        if name[:1] <= WILDCARD:
            found = in_scan_order(found)
        # Every prefix of a name after `*` sorts after `*` too, so the parts stand in order.
        return found + self.globs_covering(name) if self.globs and rules.has_globs else found

    def globs_covering(self, name: str) -> list[AclBinding]:
        """Return the bindings with GLOB patterns that cover `name`, the most specific first."""
        return in_scan_order(self.globs[place] for place in self.glob_set.matching(name))

    @cached_property
    def glob_set(self) -> GlobSet:
        """The GLOB patterns, in the order of `globs`."""
        return GlobSet(glob_shape(binding.resource_name) for binding in self.globs)

    def is_covered(self, name: str, rules: Rules) -> bool:
        """Whether a binding covers `name` for certain."""
        return bool(
            name in self.literals
            or (self.wildcard and wildcard_covers(name, rules))
            or (self.empty_prefix and empty_prefix_covers(name, rules))
            or self.chain.longest(name) >= 0
            or (self.globs and rules.has_globs and self.glob_set.matching(name))
        )


class MaskTable:
    """The bindings of one resource type, filed by caller and compiled to masks of operations."""

    __slots__ = ("covered", "ranges", "slots", "unknown_patterns", "without_colon")

    def __init__(self, groups: Mapping[str, Iterable[AclBinding]]) -> None:
        """Take the bindings by principal."""
        unknown: list[AclBinding] = []
        anyone, broken = (set[str](), set[str]()), (set[str](), set[str]())
        # principal -> host -> slot
        self.slots: dict[str, dict[str, Slot]] = {}
        self.ranges: dict[str, RangeTable] = {}
        # Principal by principal, so that what is being filled stays in the processor's caches.
        for principal, group in groups.items():
            filing = _filed_by_host(group, unknown)
            for names, by_host in zip(anyone, filing, strict=True):
                names.update(*by_host.values())
            if ":" not in principal:
                for names, by_host in zip(broken, filing, strict=True):
                    names.update(*by_host.values())
                continue
            literals, prefixed = filing
            slots = self.slots[principal] = {
                host: Slot(literals.get(host, _NO_NAMES), prefixed.get(host, _NO_NAMES))
                for host in literals | prefixed
            }
            grouped = _same_ranges(host for host in slots if "/" in host)
            if grouped:
                self.ranges[principal] = RangeTable(
                    {
                        found: slots[same[0]]
                        if len(same) == 1
                        else Slot(_joined(literals, same), _joined(prefixed, same))
                        for found, same in grouped.items()
                    }
                )
        self.unknown_patterns: tuple[AclBinding, ...] = tuple(unknown)
        # Whether any binding covers a name, whoever it is for; and whether one without a colon does.
        self.covered = Cover(*anyone)
        self.without_colon = Cover(*broken) if any(broken) else None


_Masks = dict[str, int]
"""Masks by literal name or by prefix."""


def _filed_by_host(
    bindings: Iterable[AclBinding], unknown: list[AclBinding]
) -> tuple[dict[str, _Masks], dict[str, _Masks]]:
    """Return host -> masks of one principal, for literal names and for prefixes.

    What has an unknown pattern goes to `unknown`.
    """
    literals: dict[str, _Masks] = {}
    prefixed: dict[str, _Masks] = {}
    for binding in bindings:
        pattern_type = binding.pattern_type
        if pattern_type is PatternType.UNKNOWN:
            unknown.append(binding)
            continue
        by_host = literals if pattern_type is PatternType.LITERAL else prefixed
        name = binding.resource_name
        mask = _MASKS[binding.permission_type][binding.operation]
        masks = by_host.get(binding.host)
        if masks is None:
            by_host[binding.host] = {name: mask}
        else:
            masks[name] = masks[name] | mask if name in masks else mask
    return literals, prefixed


def _joined(by_host: Mapping[str, _Masks], hosts: Iterable[str]) -> _Masks:
    """Return the masks for these texts of one address range, joined."""
    joined: _Masks = {}
    for host in hosts:
        for name, mask in by_host.get(host, _NO_NAMES).items():
            joined[name] = joined.get(name, 0) | mask
    return joined


class RangeTable:
    """The address ranges of one principal: prefix length -> first bits of the addresses -> slot.

    So that an address is looked up once for each length that occurs, however many ranges there are.
    """

    __slots__ = ("_lengths",)

    def __init__(self, slots: Mapping[_Range, Slot]) -> None:
        """Take ranges as `_same_ranges` names them."""
        self._lengths: dict[tuple[int, int], dict[int, Slot]] = {}
        for (bits, start, length), slot in slots.items():
            self._lengths.setdefault((bits, length), {})[start] = slot

    def holding(self, host: str) -> Iterator[Slot]:
        """Yield the slots of every range that holds the address, as `hosts.in_range` has it."""
        address = read_address(host)
        if address is None or address == UNRANGED:
            return
        family, value = address
        for (bits, length), starts in self._lengths.items():
            if bits == family:
                slot = starts.get(value >> bits - length)
                if slot is not None:
                    yield slot


class Slot:
    """The bindings of one caller (or one purpose) as masks: literal names, `*` and a chain of prefixes.

    Each prefix's mask already holds those of the shorter prefixes that it starts with, so
    that the longest prefix of a name answers for all of them.
    """

    __slots__ = ("empty", "jumps", "literals", "masks", "parents", "prefixes", "wild")

    def __init__(self, literals: _Masks, prefixed: _Masks) -> None:
        """Take the masks of literal names and of prefixes; the dictionaries are kept as they are."""
        self.literals = literals
        self.wild = self.literals.get(WILDCARD, 0)
        self.empty = prefixed.get("", 0)
        chain = _chain_of(prefixed) if prefixed else NO_PREFIXES
        self.prefixes, self.parents, self.jumps = chain.prefixes, chain.parents, chain.jumps
        self.masks = _accumulated(prefixed, chain) if prefixed else ()

    def mask(self, name: str, rules: Rules) -> int:
        """Return the masks of all patterns that cover `name`, joined."""
        found = self.literals.get(name, 0)
        # As in `wildcard_covers`, without the call: this is the hot path.
        if self.wild and not (len(name) > 1 and name[0] == WILDCARD and rules.wildcard_skips_starred_names):
            found |= self.wild
        if self.empty and empty_prefix_covers(name, rules):
            found |= self.empty
        prefixes = self.prefixes
        if prefixes:
            # As in `PrefixChain.longest`, without the call.
            place = bisect_right(prefixes, name) - 1
            while place >= 0 and not name.startswith(prefixes[place]):
                jump = self.jumps[place]
                place = jump if jump >= 0 and not name.startswith(prefixes[jump]) else self.parents[place]
            if place >= 0:
                found |= self.masks[place]
        return found


class Cover(Slot):
    """Whether any of many patterns covers a name, whoever they are for.

    What starts with a shorter prefix is covered by that one, so only the shortest are kept.
    """

    __slots__ = ()

    def __init__(self, literals: Iterable[str], prefixes: Iterable[str]) -> None:
        shortest: dict[str, int] = {}
        last = None
        for prefix in sorted(prefixes):
            if last is None or not prefix.startswith(last):
                shortest[prefix] = 1
                # The empty prefix may cover fewer names than start with it, see `empty_prefix_covers`.
                last = prefix or None
        super().__init__(dict.fromkeys(literals, 1), shortest)

    def covers(self, name: str, rules: Rules) -> bool:
        """Whether a pattern covers `name`; those that cover most are asked first."""
        if self.wild and wildcard_covers(name, rules):
            return True
        prefixes = self.prefixes
        if prefixes:
            left = bisect_right(prefixes, name) - 1
            if left >= 0 and name.startswith(prefixes[left]):
                return True
        return name in self.literals or bool(self.empty and empty_prefix_covers(name, rules))


def _accumulated(prefixed: dict[str, int], chain: PrefixChain) -> tuple[int, ...]:
    """Return the mask of each prefix of the chain, joined with those of all that it starts with."""
    masks: list[int] = []
    for prefix, parent in zip(chain.prefixes, chain.parents, strict=True):
        masks.append(prefixed[prefix] | (masks[parent] if parent >= 0 else 0))
    return tuple(masks)


def _chain_of(prefixed: dict[str, int]) -> PrefixChain:
    """Return the chain of the prefixes that are not empty; most slots have one."""
    if len(prefixed) == 1 and "" not in prefixed:
        return PrefixChain(tuple(prefixed), _NO_PARENT, _NO_PARENT)
    return PrefixChain.of_sorted(tuple(filter(None, sorted(prefixed))))


class GlobTable:
    """The bindings of one resource type as masks, for the authorizer `glob`.

    Callers without a wildcard are filed as in a MaskTable. The others, globs of principals or
    hosts, are found by a set of the principals' globs.
    """

    def __init__(self, groups: Mapping[str, Iterable[AclBinding]]) -> None:
        """Take the bindings by principal."""
        bindings = [binding for group in groups.values() for binding in group]
        self.unknown_patterns = tuple(b for b in bindings if b.pattern_type is PatternType.UNKNOWN)
        known = [b for b in bindings if b.pattern_type is not PatternType.UNKNOWN]
        # A principal whose patterns are all unknown is one for a question about the whole type, too.
        entries: dict[str, dict[str, list[AclBinding]]] = {
            principal: {} for principal in groups if split_principal(principal) is not None
        }
        for binding in known:
            if binding.principal in entries:
                entries[binding.principal].setdefault(binding.host, []).append(binding)
        self._hosts = {principal: _HostTable(hosts) for principal, hosts in entries.items()}
        self._globs = tuple(filter(is_principal_glob, entries))
        self._glob_set = GlobSet(map(glob_shape, self._globs))
        # Whether any binding covers a name, whoever it is for.
        self.covered = GlobSlot((binding, 1) for binding in known)

    def principals_for(self, principal: str) -> Iterator[str]:
        """Yield the principals of bindings that are for this session."""
        for own in dict.fromkeys((principal, ANY_USER)):
            if own in self._hosts:
                yield own
        # The set reads each text as one glob: that finds all whose two parts match, and perhaps more.
        for place in self._glob_set.matching(principal):
            own = self._globs[place]
            if own != principal and is_for(own, principal, _WITH_GLOBS):
                yield own

    def mask(self, principal: str, host: str, name: str, rules: Rules) -> int:
        """Return the joined masks of the bindings for this caller that cover `name`."""
        mask = 0
        for slot in self.slots_for(principal, host, rules):
            mask |= slot.mask(name, rules)
        return mask

    def slots_for(self, principal: str, host: str, rules: Rules) -> Iterator[Slot]:
        """Yield the slots of the bindings for this caller."""
        for own in self.principals_for(principal):
            yield from self._hosts[own].admitting(host, rules)

    def covers(self, name: str, rules: Rules) -> bool:
        """Whether a binding covers `name` for certain, whoever it is for."""
        return bool(self.covered.mask(name, rules))


class _HostTable:
    """The bindings of one principal by host."""

    __slots__ = ("_globs", "_ranges", "_slots")

    def __init__(self, hosts: dict[str, list[AclBinding]]) -> None:
        self._slots = {
            host: GlobSlot((binding, _MASKS[binding.permission_type][binding.operation]) for binding in group)
            for host, group in hosts.items()
        }
        self._globs = tuple(filter(is_host_glob, hosts))
        self._ranges = RangeTable(
            {
                found: self._slots[same[0]]
                if len(same) == 1
                else GlobSlot(
                    (binding, _MASKS[binding.permission_type][binding.operation])
                    for host in same
                    for binding in hosts[host]
                )
                for found, same in _same_ranges(hosts).items()
            }
        )

    def admitting(self, host: str, rules: Rules) -> Iterator[Slot]:
        for own in dict.fromkeys((WILDCARD, host)):
            if own in self._slots:
                yield self._slots[own]
        yield from self._ranges.holding(host)
        for own in self._globs:
            if own != host and comes_from(own, host, rules):
                yield self._slots[own]


class GlobSlot(Slot):
    """A slot that holds GLOB patterns beside the others."""

    __slots__ = ("_glob_masks", "_globs")

    def __init__(self, bindings: Iterable[tuple[AclBinding, int]]) -> None:
        plain: tuple[_Masks, _Masks] = ({}, {})
        globs: dict[Shape, int] = {}
        for binding, mask in bindings:
            name = binding.resource_name
            if binding.pattern_type is PatternType.GLOB:
                shape = glob_shape(name)
                globs[shape] = globs.get(shape, 0) | mask
            else:
                names = plain[0 if binding.pattern_type is PatternType.LITERAL else 1]
                names[name] = names.get(name, 0) | mask
        super().__init__(*plain)
        self._globs = GlobSet(globs)
        self._glob_masks = tuple(globs.values())

    @property
    def globs(self) -> Iterator[tuple[Shape, int]]:
        """Each GLOB pattern with its mask."""
        return zip(self._globs.shapes, self._glob_masks, strict=True)

    def mask(self, name: str, rules: Rules) -> int:
        """Return the masks of all patterns that cover `name`, joined."""
        found = super().mask(name, rules)
        if self._glob_masks:
            for place in self._globs.matching(name):
                found |= self._glob_masks[place]
        return found


_Range = tuple[int, int, int]
"""The bits of the family, the first bits of the addresses as a number, and how many these are."""


def _same_ranges(hosts: Iterable[str]) -> dict[_Range, list[str]]:
    """Return the ranges among these hosts with all texts for each: `10.0.0.1/8` and `10.9.9.9/8` are one."""
    found: dict[_Range, list[str]] = {}
    for host in hosts:
        read = read_range(host)
        if read is not None:
            bits, start, length = read
            found.setdefault((bits, start >> bits - length, length), []).append(host)
    return found


def in_scan_order(bindings: Iterable[AclBinding]) -> list[AclBinding]:
    """Return bindings in the order in which KRaft's authorizer holds them (StandardAcl.compareTo).

    GLOB patterns come behind all others of their type, those with most characters of their own first.
    """
    ordered = sorted(bindings, key=_entry_order)
    ordered.sort(key=_name_order, reverse=True)
    ordered.sort(key=_type_order)
    return ordered


def _entry_order(binding: AclBinding) -> tuple[int, int, str, str, int]:
    return (
        binding.pattern_type._value_,
        binding.operation._value_,
        code_units(binding.principal),
        code_units(binding.host),
        binding.permission_type._value_,
    )


def _name_order(binding: AclBinding) -> str:
    return code_units(binding.resource_name)


def _type_order(binding: AclBinding) -> tuple[int, int]:
    if binding.pattern_type is not PatternType.GLOB:
        return binding.resource_type._value_, _BEFORE_GLOBS
    return binding.resource_type._value_, -glob_shape(binding.resource_name).literal_count


def _refuse_filter_words(binding: AclBinding) -> None:
    for value in (binding.resource_type, binding.operation, binding.permission_type, binding.pattern_type):
        if value.name in ("ANY", "MATCH"):
            raise AclError(
                f"{value.name} is a word for filters and no {type(value).__name__} of an ACL; "
                f"the ACL on {binding.resource_name!r} must name one."
            )


def _mask(operation: Operation, permission: PermissionType) -> int:
    exact = ALL_BITS if operation is Operation.ALL else 1 << operation.code
    implied = IMPLIED.get(operation)
    allowing = exact | (1 << implied.code if implied is not None else 0)
    if operation is Operation.UNKNOWN:
        # An operation that we do not know could imply the one asked for, but only an ALLOW implies.
        return 0 if permission is PermissionType.DENY else ALL_BITS << MAYBE_SHIFT
    if permission is PermissionType.ALLOW:
        return allowing
    if permission is PermissionType.DENY:
        return exact << DENY_SHIFT
    return (allowing | exact << DENY_SHIFT) << MAYBE_SHIFT


_NO_PARENT = (-1,)
_NO_NAMES: _Masks = {}  # shared by all slots without such patterns
_FILTER_WORDS: frozenset[object] = frozenset(
    (ResourceType.ANY, PatternType.ANY, PatternType.MATCH, Operation.ANY, PermissionType.ANY)
)
_BEFORE_GLOBS = -(1 << 30)
_WITHOUT_GLOBS, _WITH_GLOBS = Rules("standard"), Rules("glob")
_MASKS: dict[PermissionType, dict[Operation, int]] = {
    permission: {
        operation: _mask(operation, permission) for operation in Operation if operation is not Operation.ANY
    }
    for permission in (PermissionType.ALLOW, PermissionType.DENY, PermissionType.UNKNOWN)
}
