"""What may one session do with one name: the bindings of a resource type, compiled to masks?

Filed by session, (principal, host) -> masks of allowed and denied operations, so that an answer costs
the same however many bindings match.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

from aclweb.acl.authorizer.masks import MASKS
from aclweb.acl.matching import (
    NO_PREFIXES,
    UNRANGED,
    PrefixChain,
    empty_prefix_covers,
    read_address,
    read_range,
    wildcard_covers,
)
from aclweb.acl.model import ANY_USER, WILDCARD, AclBinding, AuthorizerSettings, PatternType

Masks = dict[str, int]
"""Masks by literal name or by prefix."""

_NO_PARENT = (-1,)
_NO_NAMES: Masks = {}  # shared by all slots without such patterns

_Range = tuple[int, int, int]
"""The bits of the family, the first bits of the addresses as a number, and how many these are."""


class MaskTable:
    """The bindings of one resource type, filed by session and compiled to masks of operations."""

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
            filing = filed_by_host(group, unknown)
            for names, by_host in zip(anyone, filing, strict=True):
                names.update(*by_host.values())
            if ":" not in principal:
                for names, by_host in zip(broken, filing, strict=True):
                    names.update(*by_host.values())
                continue
            self.slots[principal], ranges = slots_of_principal(*filing)
            if ranges is not None:
                self.ranges[principal] = ranges
        self.unknown_patterns: tuple[AclBinding, ...] = tuple(unknown)
        # Whether any binding covers a name, whoever it is for; and whether one without a colon does.
        self.covered = Cover(*anyone)
        self.without_colon = Cover(*broken) if any(broken) else None

    def principals_for(self, principal: str) -> tuple[str, ...]:
        """Return the principals that ACLs for this session can have."""
        return (principal, ANY_USER) if principal != ANY_USER else (ANY_USER,)

    def slots_of(self, principal: str, host: str, settings: AuthorizerSettings) -> Iterator[Slot]:
        """Yield the slots of the ACLs with this principal that admit the address."""
        hosts = self.slots.get(principal)
        if hosts is None:
            return
        for own in (WILDCARD, host) if host != WILDCARD else (WILDCARD,):
            if own in hosts:
                yield hosts[own]
        if principal in self.ranges and settings.cidr_hosts:
            yield from self.ranges[principal].holding(host)

    def mask(self, principal: str, host: str, name: str, settings: AuthorizerSettings) -> int:
        """Return the joined masks of the bindings for this session that cover `name`."""
        # What `slots_of` yields, without the generator: this is the hot path.
        mask, own = 0, principal
        slots = self.slots
        while True:
            hosts = slots.get(own)
            if hosts is not None:
                slot = hosts.get(WILDCARD)
                if slot is not None:
                    mask |= slot.mask(name, settings)
                slot = hosts.get(host)
                if slot is not None:
                    mask |= slot.mask(name, settings)
                if self.ranges and own in self.ranges and settings.cidr_hosts:
                    for slot in self.ranges[own].holding(host):
                        mask |= slot.mask(name, settings)
            if own == ANY_USER:
                return mask
            own = ANY_USER


def slots_of_principal(
    literals: Mapping[str, Masks], prefixed: Mapping[str, Masks]
) -> tuple[dict[str, Slot], RangeTable | None]:
    """Return the slots of one principal by host, and its address ranges if it has any.

    literals, prefixed: host -> masks, as `filed_by_host` returns them.
    """
    slots = {
        host: Slot(literals.get(host, _NO_NAMES), prefixed.get(host, _NO_NAMES))
        for host in dict.fromkeys((*literals, *prefixed))
    }
    grouped = same_ranges(host for host in slots if "/" in host)
    if not grouped:
        return slots, None
    return slots, RangeTable(
        {
            found: slots[same[0]]
            if len(same) == 1
            else Slot(_joined(literals, same), _joined(prefixed, same))
            for found, same in grouped.items()
        }
    )


def filed_by_host(
    bindings: Iterable[AclBinding], unknown: list[AclBinding]
) -> tuple[dict[str, Masks], dict[str, Masks]]:
    """Return host -> masks of one principal, for literal names and for prefixes.

    What has an unknown pattern goes to `unknown`.
    """
    literals: dict[str, Masks] = {}
    prefixed: dict[str, Masks] = {}
    for binding in bindings:
        pattern_type = binding.pattern_type
        if pattern_type is PatternType.UNKNOWN:
            unknown.append(binding)
            continue
        by_host = literals if pattern_type is PatternType.LITERAL else prefixed
        name = binding.resource_name
        mask = MASKS[binding.permission_type][binding.operation]
        masks = by_host.get(binding.host)
        if masks is None:
            by_host[binding.host] = {name: mask}
        else:
            masks[name] = masks[name] | mask if name in masks else mask
    return literals, prefixed


def _joined(by_host: Mapping[str, Masks], hosts: Iterable[str]) -> Masks:
    """Return the masks for these texts of one address range, joined."""
    joined: Masks = {}
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
        """Take ranges as `same_ranges` names them."""
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
    """The bindings of one session (or one purpose) as masks: literal names, `*` and a chain of prefixes.

    Each prefix's mask already holds those of the shorter prefixes that it starts with, so
    that the longest prefix of a name answers for all of them.
    """

    __slots__ = ("empty", "jumps", "literals", "masks", "parents", "prefixes", "wild")

    def __init__(self, literals: Masks, prefixed: Masks) -> None:
        """Take the masks of literal names and of prefixes; the dictionaries are kept as they are."""
        self.literals = literals
        self.wild = self.literals.get(WILDCARD, 0)
        self.empty = prefixed.get("", 0)
        chain = _chain_of(prefixed) if prefixed else NO_PREFIXES
        self.prefixes, self.parents, self.jumps = chain.prefixes, chain.parents, chain.jumps
        self.masks = _accumulated(prefixed, chain) if prefixed else ()

    def mask(self, name: str, settings: AuthorizerSettings) -> int:
        """Return the masks of all patterns that cover `name`, joined."""
        found = self.literals.get(name, 0)
        # As in `wildcard_covers`, without the call: this is the hot path.
        if self.wild and not (
            len(name) > 1 and name[0] == WILDCARD and settings.wildcard_skips_starred_names
        ):
            found |= self.wild
        if self.empty and empty_prefix_covers(name, settings):
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

    def covers(self, name: str, settings: AuthorizerSettings) -> bool:
        """Whether a pattern covers `name`; those that cover most are asked first."""
        if self.wild and wildcard_covers(name, settings):
            return True
        prefixes = self.prefixes
        if prefixes:
            left = bisect_right(prefixes, name) - 1
            if left >= 0 and name.startswith(prefixes[left]):
                return True
        return name in self.literals or bool(self.empty and empty_prefix_covers(name, settings))


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


def same_ranges(hosts: Iterable[str]) -> dict[_Range, list[str]]:
    """Return the ranges among these hosts with all texts for each: `10.0.0.1/8` and `10.9.9.9/8` are one."""
    found: dict[_Range, list[str]] = {}
    for host in hosts:
        read = read_range(host)
        if read is not None:
            bits, start, length = read
            found.setdefault((bits, start >> bits - length, length), []).append(host)
    return found
