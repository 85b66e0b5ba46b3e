"""Into which regions do the hosts of ACLs divide the addresses that clients can have?

Addresses and ranges are nested or apart, which makes the regions a tree. The globs of the
GLOB proposal overlap; for them the texts of addresses are read in all hosts at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from aclweb.acl.authorizer.answers import Answer, Result
from aclweb.acl.matching import (
    UNRANGED,
    admits_all,
    as_java_prints,
    is_address,
    matching_of,
    read_address,
    signatures,
)
from aclweb.acl.model import WILDCARD, AuthorizerSettings

_LIKELY = "203.0.113.9"
"""The example for "every other host" where no ACL names it: an address kept for documentation."""


def results_of(answers: Iterable[Answer]) -> tuple[Result, ...]:
    return tuple(result for result, _ in answers)


# Addresses and ranges: a tree of regions.


@dataclass(eq=False)
class Region:
    """The addresses of one ACL host, or all; less those of its children.

    first, last: the addresses as numbers; where it is no range, others may have the same number
    (an IPv6 address comes with or without an interface). other_texts: of the same range. answers:
    of its example, one a request.
    """

    host: str
    parent: Region | None = None
    bits: int = 0
    first: int = 0
    last: int = -1
    is_range: bool = True
    other_texts: list[str] = field(default_factory=list)
    children: list[Region] = field(default_factory=list)
    example: str = ""
    answers: tuple[Answer, ...] = ()

    @property
    def hosts(self) -> Iterator[str]:
        """The ACL hosts that admit its addresses."""
        region: Region | None = self
        while region is not None:
            yield region.host
            yield from region.other_texts
            region = region.parent

    @property
    def results(self) -> tuple[Result, ...]:
        return results_of(self.answers)

    def all_within(self) -> Iterator[Region]:
        """Yield the region and all regions inside it."""
        yield self
        for child in self.children:
            yield from child.all_within()

    def holds(self, other: Region) -> bool:
        return (
            self.is_range and self.bits == other.bits and self.first <= other.first <= other.last <= self.last
        )


def region_tree(hosts: Iterable[str], settings: AuthorizerSettings) -> Region:
    """Return all addresses, with the regions of these ACL hosts in it; hosts that are no address are left out."""
    root, matching = Region(WILDCARD), matching_of(settings)
    regions: dict[tuple[int, int, int, str], Region] = {}
    for host in hosts:
        span = matching.range_of(host)
        single = read_address(host) if is_address(host) else None
        if span is not None:
            bits, start, length = span
            first = start >> bits - length << bits - length
            # Texts of one range are one region: `10.0.0.1/8` and `10.9.9.9/8`.
            last = first + (1 << bits - length) - 1
            if (bits, first, -last, "") in regions:
                regions[bits, first, -last, ""].other_texts.append(host)
            elif span != (*UNRANGED, 32):
                regions[bits, first, -last, ""] = Region(host, None, bits, first, last)
        elif single == UNRANGED:
            root.children.append(Region(host, root, 32, 0, 0, is_range=False))
        elif single is not None:
            bits, number = single
            regions[bits, number, -number, host] = Region(host, None, bits, number, number, is_range=False)
    stack = [root]
    for key in sorted(regions):
        region = regions[key]
        while len(stack) > 1 and not stack[-1].holds(region):
            stack.pop()
        region.parent = stack[-1]
        stack[-1].children.append(region)
        stack.append(region)
    return root


def choose_addresses(region: Region, named: frozenset[str]) -> None:
    """Give each region an address of its own; one that has none gives way to its children, but for all addresses."""
    kept: list[Region] = []
    for child in region.children:
        choose_addresses(child, named)
        kept += [child] if child.example else child.children
    region.example = own_address(region, named)
    region.children = kept


def settle(root: Region, answers: Callable[[str], tuple[Answer, ...]], named: frozenset[str]) -> None:
    """Decide an address of each region of all addresses."""
    choose_addresses(root, named)
    for region in root.all_within():
        if region.example:
            region.answers = answers(region.example)
    if not root.example:
        # Ranges hold every address: all of them less those with another result is exact as well.
        root.example, root.answers = root.children[0].example, root.children[0].answers


def own_address(region: Region, named: frozenset[str]) -> str:
    """Return an address that the region has and none of its children; "" if there is none."""
    if region.host != WILDCARD:
        return _own_address_in(region, region.children, named) if region.is_range else region.host
    if not any(child.bits == 32 and _holds_text(child, _LIKELY) for child in region.children):
        return _LIKELY
    for bits in (32, 128):
        whole = Region(WILDCARD, None, bits, 0, (1 << bits) - 1)
        found = _own_address_in(whole, [child for child in region.children if child.bits == bits], named)
        if found:
            return found
    return ""


def _holds_text(region: Region, address: str) -> bool:
    number = int(IPv4Address(address))
    return region.first <= number <= region.last


def _own_address_in(region: Region, children: Sequence[Region], named: frozenset[str]) -> str:
    bits, first, last = region.bits, region.first, region.last
    taken = [(child.first, child.last) for child in children]
    # What no client's text can be: 0.0.0.0, and IPv4 addresses written as IPv6.
    taken.append((0, 0) if bits == 32 else (0xFFFF << 32, (0x10000 << 32) - 1))
    for start in (first + 1, first):
        number = _first_free(start, last, taken)
        if number is not None:
            return _text(bits, number)
    if bits == 128:
        # An address may come with the name of an interface, which is another text.
        ranges = [(child.first, child.last) for child in children if child.is_range]
        number = _first_free(first, last, [*ranges, taken[-1]])
        if number is not None:
            scope = "eth0"
            while (text := f"{_text(bits, number)}%{scope}") in named:
                scope += "0"
            return text
    return ""


def _first_free(start: int, last: int, taken: Iterable[tuple[int, int]]) -> int | None:
    """Return the least number from `start` to `last` in none of these spans."""
    for begin, end in sorted(taken):
        if begin > start:
            break
        start = max(start, end + 1)
    return start if start <= last else None


def _text(bits: int, number: int) -> str:
    return as_java_prints(str(IPv4Address(number) if bits == 32 else IPv6Address(number)))


def joined_regions(root: Region) -> Iterator[tuple[Region, list[Region], list[Region]]]:
    """Yield regions, each with those inside it that have the same results (itself first), and those that end it."""
    waiting = [root]
    while waiting:
        region = waiting.pop()
        within = [region]
        others: list[Region] = []
        for one in within:
            for child in one.children:
                (within if child.results == region.results else others).append(child)
        yield region, within, others
        waiting += reversed(others)


# Globs: regions by which of the hosts admit an address.


@dataclass(frozen=True, slots=True)
class SignedRegion:
    """Addresses that the same hosts admit: all of `inside`, of which `hosts` are the narrowest."""

    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]
    example: str
    inside: tuple[str, ...]


def signed_regions(hosts: list[str]) -> tuple[list[SignedRegion], bool]:
    """Return a region for each set of hosts that some address is admitted by, and whether these are all."""
    found, complete = signatures(tuple(hosts))
    regions: list[SignedRegion] = []
    for signature, example in found.items():
        inside = [host for host in hosts if host in signature]
        narrow = [
            host
            for place, host in enumerate(inside)
            if not any(
                other != host and admits_all(host, other) and not (place < mark and admits_all(other, host))
                for mark, other in enumerate(inside)
            )
        ]
        except_hosts = [
            host
            for host in hosts
            if host not in signature and any(signature < other and host in other for other in found)
        ]
        regions.append(
            SignedRegion(tuple(narrow) or (WILDCARD,), tuple(except_hosts), example, tuple(inside))
        )
    return regions, complete
