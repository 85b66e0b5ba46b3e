"""From which hosts would a request be allowed, when its host is not known?

The hosts of the ACLs that can count for it divide all client addresses into regions. One
address of each region is decided as any request is, and neighbouring regions with the same
result are joined. So "from every host" means every address that a client can have: an ACL
host that is no address gives no region (see `reach`), and 0.0.0.0, which no client has, is
looked at only where an ACL names it.

Addresses and ranges are nested or apart, which makes the regions a tree. The globs of the
GLOB proposal overlap; for them the texts of addresses are read in all hosts at once, with a
bound on the work. Beyond the bound an answer that found no difference is UNDECIDED.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address

from aclweb.acl.addresses import as_java_prints
from aclweb.acl.authorizer import (
    Answer,
    Basis,
    Result,
    authorize,
    decide,
    effect_on,
)
from aclweb.acl.callers import is_for, is_host_glob
from aclweb.acl.host_cover import admits_all, signatures
from aclweb.acl.hosts import UNRANGED, read_address, read_range
from aclweb.acl.index import AclIndex
from aclweb.acl.model import WILDCARD, AccessRequest, AclBinding, PatternType
from aclweb.acl.profiles import Rules
from aclweb.acl.reach import is_address
from aclweb.acl.wording import name_text, number_of

_LIKELY = "203.0.113.9"
"""The example for "every other host" where no ACL names it: an address kept for documentation."""

MOST_BY_TYPE = 500_000
"""A question about a whole type looks at all ACLs of the caller for each host; above this product it is given up."""

MOST_DIVIDED = 20_000
"""Hosts times requests that are decided to divide the hosts for several requests; above it that is given up."""

_HOSTS_TOLD = 3


class HostResult(enum.Enum):
    """The answer to a request whose host is not known."""

    ALLOWED = "ALLOWED"
    DENIED = "DENIED"
    DEPENDS = "DEPENDS"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True, slots=True)
class HostPart:
    """Addresses with one result: those that all of `hosts` admit, and none of `except_hosts`.

    hosts: texts of ACLs; `*` alone means every address. More than one only where globs overlap.
    example: one of these addresses, as a broker writes it. basis: that of the example.
    determining: the matching DENYs, or else the matching ALLOWs, that settle it at any of these
    addresses; empty where no ACL matches.
    """

    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]
    example: str
    result: Result
    basis: Basis
    determining: tuple[AclBinding, ...] = ()

    @property
    def is_every_other(self) -> bool:
        """Whether it is every address less the exceptions."""
        return self.hosts == (WILDCARD,)

    def as_dict(self) -> dict[str, object]:
        return {
            "hosts": list(self.hosts),
            "except_hosts": list(self.except_hosts),
            "example": self.example,
            "result": self.result.value,
            "basis": self.basis.value,
            "determining": [binding.as_dict() for binding in self.determining],
        }


@dataclass(frozen=True, slots=True)
class HostRegion:
    """Addresses from which each of several requests has one result, in their order.

    hosts, except_hosts, example: as those of a HostPart.
    """

    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]
    example: str
    results: tuple[Result, ...]

    @property
    def is_every_other(self) -> bool:
        """Whether it is every address less the exceptions."""
        return self.hosts == (WILDCARD,)


@dataclass(frozen=True)
class HostAnswer:
    """The answer for every host at once.

    result: ALLOWED or DENIED from every address that a client can have; DEPENDS where some are
    allowed and others refused; UNDECIDED where an unknown value could change an answer, or the
    hosts were too many to compare.
    parts: together every address, each with its result; "every other host" comes last. Empty
    where the hosts were too many.
    """

    request: AccessRequest
    result: HostResult
    parts: tuple[HostPart, ...]

    @property
    def allowed_from(self) -> tuple[HostPart, ...]:
        return self._with(Result.ALLOWED)

    @property
    def denied_from(self) -> tuple[HostPart, ...]:
        return self._with(Result.DENIED)

    @property
    def undecided_from(self) -> tuple[HostPart, ...]:
        return self._with(Result.UNDECIDED)

    def request_at(self, part: HostPart) -> AccessRequest:
        """Return the request as a client at the part's example makes it, to decide and explain it."""
        return replace(self.request, host=part.example)

    @property
    def sentence(self) -> str:
        """The answer as a sentence: `It depends on the host: allowed from 10.0.0.7, refused from every other host.`"""
        if self.result is HostResult.ALLOWED:
            return "Allowed from every host."
        if self.result is HostResult.DENIED:
            return "Refused from every host."
        if self.result is HostResult.UNDECIDED:
            return "Cannot tell for every host."
        told, rest = ("allowed", "refused") if self.is_refused_elsewhere else ("refused", "allowed")
        return f"It depends on the host: {told} from {self.named_words}, {rest} from every other host."

    @property
    def is_refused_elsewhere(self) -> bool:
        """Where it depends: whether hosts that no ACL names are refused, and `named_words` are allowed."""
        return Result.DENIED in (
            {part.result for part in self.parts if part.is_every_other} or {Result.DENIED}
        )

    @property
    def named_words(self) -> str:
        """Where it depends: the hosts with another result than every other host, as words: `a, b and c`."""
        return places_words(self.allowed_from if self.is_refused_elsewhere else self.denied_from)

    def as_dict(self) -> dict[str, object]:
        return {
            "result": self.result.value,
            "parts": [part.as_dict() for part in self.parts],
            "sentence": self.sentence,
        }

    def _with(self, result: Result) -> tuple[HostPart, ...]:
        return tuple(part for part in self.parts if part.result is result)


def decide_for_any_host(request: AccessRequest, index: AclIndex, rules: Rules | None = None) -> HostAnswer:
    """Return from which hosts this request is allowed and from which it is refused.

    The host of `request` is not looked at. What is returned for an address is what `authorize`
    answers for it.
    """
    rules = rules or Rules()
    index.require_known(rules)
    mine = () if request.principal in rules.super_users else _able_to_count(request, index, rules)
    asked = _Asked(request, index, rules, mine)
    hosts = dict.fromkeys(binding.host for binding in mine if binding.host != WILDCARD)
    if request.resource_name is None and len(hosts) * len(mine) > MOST_BY_TYPE:
        return HostAnswer(request, HostResult.UNDECIDED, ())
    globs = [host for host in hosts if rules.has_globs and is_host_glob(host)]
    complete = True
    if globs:
        parts, complete = _parts_with_globs(asked, list(hosts))
    else:
        parts = _parts(asked, hosts)
    return HostAnswer(request, _joint(parts, complete), tuple(sorted(parts, key=_every_other_last)))


def divide_hosts(
    requests: Sequence[AccessRequest], index: AclIndex, rules: Rules
) -> tuple[tuple[HostRegion, ...], bool]:
    """Return the regions of all addresses in which each of these requests has one result, and whether these are all.

    The hosts of the requests are not looked at. Every other host comes last; no regions where
    the hosts are too many to compare.
    """
    index.require_known(rules)
    able = [
        () if request.principal in rules.super_users else _able_to_count(request, index, rules)
        for request in requests
    ]
    hosts = dict.fromkeys(binding.host for mine in able for binding in mine if binding.host != WILDCARD)
    by_type = sum(
        len(mine) for request, mine in zip(requests, able, strict=True) if request.resource_name is None
    )
    if len(hosts) * len(requests) > MOST_DIVIDED or len(hosts) * by_type > MOST_BY_TYPE:
        return (), False

    def answers(host: str) -> tuple[Answer, ...]:
        return tuple(decide(replace(request, host=host), index, rules) for request in requests)

    complete = True
    if rules.has_globs and any(is_host_glob(host) for host in hosts):
        signed, complete = _signed_regions(list(hosts))
        regions = [
            HostRegion(one.hosts, one.except_hosts, one.example, _results(answers(one.example)))
            for one in signed
        ]
    else:
        root = _tree(hosts, rules)
        _settle(root, answers, frozenset(hosts))
        regions = [
            HostRegion((region.host,), tuple(other.host for other in others), region.example, region.results)
            for region, _, others in _joined(root)
        ]
    return tuple(sorted(regions, key=_every_other_last)), complete


def leaves_other_hosts(hosts: Iterable[str], rules: Rules) -> bool:
    """Whether a client can come from an address that none of these ACL hosts admits."""
    root = _tree(dict.fromkeys(hosts), rules)
    named = frozenset(hosts)
    root.children = [child for child in root.children if child.is_range]
    return bool(_own_address(root, named))


def _able_to_count(request: AccessRequest, index: AclIndex, rules: Rules) -> tuple[AclBinding, ...]:
    """Return the ACLs that match this request, or may, if its host is right."""
    shelf = index.shelf(request.resource_type)
    if shelf is None:
        return ()
    if request.resource_name is None:
        covering: Sequence[AclBinding] = shelf.bindings
    else:
        covering = (*shelf.covering(request.resource_name, rules), *shelf.unknown_patterns)
    return tuple(
        binding
        for binding in covering
        if is_for(binding.principal, request.principal, rules) and effect_on(binding, request.operation)
    )


def _joint(parts: Sequence[HostPart], complete: bool) -> HostResult:
    results = {part.result for part in parts}
    if Result.UNDECIDED in results:
        return HostResult.UNDECIDED
    if len(results) > 1:
        return HostResult.DEPENDS
    return HostResult[parts[0].result.name] if complete else HostResult.UNDECIDED


def _every_other_last(part: HostPart | HostRegion) -> bool:
    return part.is_every_other


def _results(answers: Iterable[Answer]) -> tuple[Result, ...]:
    return tuple(result for result, _ in answers)


@dataclass(frozen=True)
class _Asked:
    """The request, and `mine`: the ACLs that match it if its host is right."""

    request: AccessRequest
    index: AclIndex
    rules: Rules
    mine: tuple[AclBinding, ...]

    def answers(self, host: str) -> tuple[Answer, ...]:
        return (decide(replace(self.request, host=host), self.index, self.rules),)

    def determining(self, address: str, basis: Basis, hosts: Iterable[str]) -> Iterator[AclBinding]:
        """Yield the matching ACLs that settle the request from this address, which these ACL hosts admit."""
        if basis not in (Basis.DENY_ACL, Basis.ALLOW_ACL):
            return
        if self.request.resource_name is None:
            yield from authorize(replace(self.request, host=address), self.index, self.rules).determining
            return
        effect = "deny" if basis is Basis.DENY_ACL else "allow"
        for host in (WILDCARD, *hosts):
            for binding in self._by_host.get(host, ()):
                counts = effect_on(binding, self.request.operation) == effect
                if counts and binding.pattern_type is not PatternType.UNKNOWN:
                    yield binding

    @cached_property
    def _by_host(self) -> dict[str, list[AclBinding]]:
        found: dict[str, list[AclBinding]] = {}
        for binding in self.mine:
            found.setdefault(binding.host, []).append(binding)
        return found


# Addresses and ranges: a tree of regions.


@dataclass(eq=False)
class _Region:
    """The addresses of one ACL host, or all; less those of its children.

    first, last: the addresses as numbers; where it is no range, others may have the same number
    (an IPv6 address comes with or without an interface). other_texts: of the same range. answers:
    of its example, one a request.
    """

    host: str
    parent: _Region | None = None
    bits: int = 0
    first: int = 0
    last: int = -1
    is_range: bool = True
    other_texts: list[str] = field(default_factory=list)
    children: list[_Region] = field(default_factory=list)
    example: str = ""
    answers: tuple[Answer, ...] = ()

    @property
    def hosts(self) -> Iterator[str]:
        """The ACL hosts that admit its addresses."""
        region: _Region | None = self
        while region is not None:
            yield region.host
            yield from region.other_texts
            region = region.parent

    @property
    def results(self) -> tuple[Result, ...]:
        return _results(self.answers)

    def holds(self, other: _Region) -> bool:
        return (
            self.is_range and self.bits == other.bits and self.first <= other.first <= other.last <= self.last
        )


def _parts(asked: _Asked, hosts: Iterable[str]) -> list[HostPart]:
    root = _tree(hosts, asked.rules)
    _settle(root, asked.answers, frozenset(hosts))
    return list(_joined_parts(root, asked))


def _tree(hosts: Iterable[str], rules: Rules) -> _Region:
    """Return all addresses, with the regions of these ACL hosts in it; hosts that are no address are left out."""
    root = _Region(WILDCARD)
    regions: dict[tuple[int, int, int, str], _Region] = {}
    for host in hosts:
        span = read_range(host) if rules.cidr_hosts else None
        single = read_address(host) if is_address(host) else None
        if span is not None:
            bits, start, length = span
            first = start >> bits - length << bits - length
            # Texts of one range are one region: `10.0.0.1/8` and `10.9.9.9/8`.
            last = first + (1 << bits - length) - 1
            if (bits, first, -last, "") in regions:
                regions[bits, first, -last, ""].other_texts.append(host)
            elif span != (*UNRANGED, 32):
                regions[bits, first, -last, ""] = _Region(host, None, bits, first, last)
        elif single == UNRANGED:
            root.children.append(_Region(host, root, 32, 0, 0, is_range=False))
        elif single is not None:
            bits, number = single
            regions[bits, number, -number, host] = _Region(host, None, bits, number, number, is_range=False)
    stack = [root]
    for key in sorted(regions):
        region = regions[key]
        while len(stack) > 1 and not stack[-1].holds(region):
            stack.pop()
        region.parent = stack[-1]
        stack[-1].children.append(region)
        stack.append(region)
    return root


def _settle(region: _Region, answers: Callable[[str], tuple[Answer, ...]], named: frozenset[str]) -> None:
    """Decide an address of each region; a region without an address of its own gives way to its children."""
    kept: list[_Region] = []
    for child in region.children:
        _settle(child, answers, named)
        kept += [child] if child.example else child.children
    region.example = _own_address(region, named)
    if region.example:
        region.answers = answers(region.example)
    region.children = kept
    if region.host == WILDCARD and not region.example:
        # Ranges hold every address: all of them less those with another result is exact as well.
        region.example, region.answers = kept[0].example, kept[0].answers


def _own_address(region: _Region, named: frozenset[str]) -> str:
    """Return an address that the region has and none of its children; "" if there is none."""
    if region.host != WILDCARD:
        return _own_address_in(region, region.children, named) if region.is_range else region.host
    if not any(child.bits == 32 and _holds_text(child, _LIKELY) for child in region.children):
        return _LIKELY
    for bits in (32, 128):
        whole = _Region(WILDCARD, None, bits, 0, (1 << bits) - 1)
        found = _own_address_in(whole, [child for child in region.children if child.bits == bits], named)
        if found:
            return found
    return ""


def _holds_text(region: _Region, address: str) -> bool:
    number = int(IPv4Address(address))
    return region.first <= number <= region.last


def _own_address_in(region: _Region, children: Sequence[_Region], named: frozenset[str]) -> str:
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


def _joined(root: _Region) -> Iterator[tuple[_Region, list[_Region], list[_Region]]]:
    """Yield regions, each with those inside it that have the same results (itself first), and those that end it."""
    waiting = [root]
    while waiting:
        region = waiting.pop()
        within = [region]
        others: list[_Region] = []
        for one in within:
            for child in one.children:
                (within if child.results == region.results else others).append(child)
        yield region, within, others
        waiting += reversed(others)


def _joined_parts(root: _Region, asked: _Asked) -> Iterator[HostPart]:
    """Yield regions joined with those inside them that have the same result."""
    for region, within, others in _joined(root):
        ((result, basis),) = region.answers
        determining = dict.fromkeys(
            binding
            for one in within
            for binding in asked.determining(one.example, one.answers[0][1], one.hosts)
        )
        yield HostPart(
            hosts=(region.host,),
            except_hosts=tuple(other.host for other in others),
            example=region.example,
            result=result,
            basis=basis,
            determining=tuple(determining),
        )


# Globs: regions by which of the hosts admit an address.


@dataclass(frozen=True, slots=True)
class _Signed:
    """Addresses that the same hosts admit: all of `inside`, of which `hosts` are the narrowest."""

    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]
    example: str
    inside: tuple[str, ...]


def _signed_regions(hosts: list[str]) -> tuple[list[_Signed], bool]:
    """Return a region for each set of hosts that some address is admitted by, and whether these are all."""
    found, complete = signatures(tuple(hosts))
    regions: list[_Signed] = []
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
        regions.append(_Signed(tuple(narrow) or (WILDCARD,), tuple(except_hosts), example, tuple(inside)))
    return regions, complete


def _parts_with_globs(asked: _Asked, hosts: list[str]) -> tuple[list[HostPart], bool]:
    regions, complete = _signed_regions(hosts)
    parts: list[HostPart] = []
    for region in regions:
        ((result, basis),) = asked.answers(region.example)
        parts.append(
            HostPart(
                hosts=region.hosts,
                except_hosts=region.except_hosts,
                example=region.example,
                result=result,
                basis=basis,
                determining=tuple(dict.fromkeys(asked.determining(region.example, basis, region.inside))),
            )
        )
    return parts, complete


# In words.


def places_words(parts: Sequence[HostPart | HostRegion]) -> str:
    """Return where these hosts are, the first by name and the rest counted: `a, b and c`."""
    told = [part_words(part) for part in parts[:_HOSTS_TOLD]]
    if len(parts) > _HOSTS_TOLD:
        told.append(number_of(len(parts) - _HOSTS_TOLD, "other place", "other places"))
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def part_words(part: HostPart | HostRegion) -> str:
    """Return where these hosts are, such as `10.0.0.0/8 (except 10.1.0.0/16)`."""
    text = " within ".join(name_text(host) for host in part.hosts)
    if not part.except_hosts:
        return text
    more = len(part.except_hosts) - 1
    rest = f" and {number_of(more, 'other', 'others')}" if more else ""
    return f"{text} (except {name_text(part.except_hosts[0])}{rest})"
