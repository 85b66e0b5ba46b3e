"""Which ACL matches all that another matches?

The ACLs are filed by resource type, principal, host and permission, and their patterns by name and by
prefix, so that only those are looked at whose pattern covers the given one. Where globs are, `subsumption`
compares them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.lint.subsumption import GlobSubsumption
from aclweb.acl.matching import (
    PrefixChain,
    empty_prefix_covers,
    is_address,
    is_one_address,
    matching_of,
    read_address,
    read_range,
    wildcard_covers,
)
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    split_principal,
)

Pattern = tuple[bool, str]
"""Whether it is LITERAL, and the name."""

_Group = dict[Operation, AclBinding]


class _Patterns:
    """The patterns of one type, with the ACLs of each; asked for all that cover a given one."""

    def __init__(self, groups: dict[Pattern, _Group], settings: AuthorizerSettings) -> None:
        self.groups, self._settings = groups, settings
        self._chain = PrefixChain.of(name for literal, name in groups if not literal and name)
        masks: list[int] = []
        for prefix, parent in zip(self._chain.prefixes, self._chain.parents, strict=True):
            masks.append(_bits(groups[False, prefix]) | (masks[parent] if parent >= 0 else 0))
        # For each prefix the operations that it or a shorter one has, so that a search knows when to stop.
        self._masks = masks

    def find(self, binding: AclBinding, operations: Sequence[Operation]) -> AclBinding | None:
        """Return another binding with one of these operations whose pattern covers that of `binding`."""
        wanted = sum(1 << operation.code for operation in operations)
        for group in self._covering(binding, wanted):
            for operation in operations:
                found = group.get(operation)
                if found is not None and found != binding:
                    return found
        return None

    def _covering(self, binding: AclBinding, wanted: int) -> Iterator[_Group]:
        name, settings = binding.resource_name, self._settings
        literal = binding.pattern_type is PatternType.LITERAL
        is_wildcard = literal and name == WILDCARD
        if literal and (True, name) in self.groups:
            yield self.groups[True, name]
        if not is_wildcard and name:
            place = self._chain.longest(name)
            while place >= 0 and self._masks[place] & wanted:
                yield self.groups[False, self._chain.prefixes[place]]
                place = self._chain.parents[place]
        if not is_wildcard and _under_wildcard(literal, name, settings):
            yield self.groups.get((True, WILDCARD), {})
        if empty_prefix_covers(name, settings):
            yield self.groups.get((False, ""), {})
        if not literal and not name and not settings.empty_prefix_covers_all:
            # For AclAuthorizer the empty prefix covers the empty name alone, as the empty literal does.
            yield self.groups.get((True, ""), {})


def _under_wildcard(literal: bool, name: str, settings: AuthorizerSettings) -> bool:
    """Whether LITERAL `*` covers all that this other pattern covers."""
    if literal:
        return wildcard_covers(name, settings)
    if not name:
        return not settings.wildcard_skips_starred_names
    # A prefix that begins with an asterisk has longer names, which KRaft's wildcard skips.
    return wildcard_covers(name + name, settings)


class WiderAcls:
    """All bindings without unknown values, by type, principal, host and permission."""

    def __init__(self, index: AclIndex, settings: AuthorizerSettings) -> None:
        self.settings, matching = settings, matching_of(settings)
        groups: dict[tuple[ResourceType, str, str, PermissionType], dict[Pattern, _Group]] = {}
        anyone: dict[ResourceType, dict[Pattern, list[AclBinding]]] = {}
        ranges: dict[tuple[int, int], dict[int, dict[str, None]]] = {}
        for binding in index:
            if _is_left_out(binding):
                continue
            pattern = binding.pattern_type is PatternType.LITERAL, binding.resource_name
            anyone.setdefault(binding.resource_type, {}).setdefault(pattern, []).append(binding)
            if split_principal(binding.principal) is None:
                continue
            owner = binding.resource_type, binding.principal, binding.host, binding.permission_type
            groups.setdefault(owner, {}).setdefault(pattern, {})[binding.operation] = binding
            span = matching.range_of(binding.host)
            if span is not None:
                bits, start, length = span
                by_start = ranges.setdefault((bits, length), {})
                by_start.setdefault(start >> bits - length, {})[binding.host] = None
        self._owners = {owner: _Patterns(found, settings) for owner, found in groups.items()}
        self._ranges = ranges
        self._globs = None if matching.is_nested else GlobSubsumption(index)
        self._anyone = {
            kind: _Patterns({pattern: _one_or_two(found) for pattern, found in patterns.items()}, settings)
            for kind, patterns in anyone.items()
        }

    def find(
        self, binding: AclBinding, permission: PermissionType, operations: Sequence[Operation]
    ) -> AclBinding | None:
        """Return another binding with this permission and one of these operations that is at least as wide.

        Its pattern, principal and host then cover all that those of `binding` cover.
        """
        plain = binding.pattern_type is not PatternType.GLOB
        for principal in dict.fromkeys((binding.principal, ANY_USER)) if plain else ():
            for host in self._hosts_around(binding.host):
                patterns = self._owners.get((binding.resource_type, principal, host, permission))
                found = patterns.find(binding, operations) if patterns is not None else None
                if found is not None:
                    return found
        return self._globs.find(binding, permission, operations) if self._globs else None

    @property
    def stopped_early(self) -> bool:
        """Whether some globs were not compared to the end."""
        return self._globs is not None and self._globs.stopped_early

    def also_covering(self, binding: AclBinding) -> AclBinding | None:
        """Return another ACL that covers every name that this one covers, whoever it is for; None for a glob."""
        if binding.pattern_type is PatternType.GLOB:
            return None
        return self._anyone[binding.resource_type].find(binding, (Operation.READ, Operation.ALL))

    def _hosts_around(self, host: str) -> Iterator[str]:
        """Yield each host of an ACL that admits every address that this host admits, itself first."""
        yield host
        if host != WILDCARD:
            yield WILDCARD
        if not self._ranges:
            return
        if is_one_address(host):
            yield str(IPv4Address(span_of(host)[1]))
        bits, address, length = span_of(host)
        for (family, shorter), starts in self._ranges.items():
            if family == bits and shorter <= length:
                yield from (text for text in starts.get(address >> bits - shorter, ()) if text != host)


def span_of(host: str) -> tuple[int, int, int]:
    """Return (bits of the family, address, prefix length) of a host; no bits if it is neither range nor address."""
    span = read_range(host)
    if span is not None:
        return span
    address = read_address(host) if is_address(host) else None
    # 0.0.0.0 is in no range.
    if address is None or address == (32, 0):
        return 0, 0, 0
    return address[0], address[1], address[0]


def _is_left_out(binding: AclBinding) -> bool:
    return binding.has_unknown or binding.pattern_type is PatternType.GLOB


def _one_or_two(bindings: Sequence[AclBinding]) -> _Group:
    """File a pattern's bindings under two stand-in operations: enough to find one that is not a given one."""
    return dict(zip((Operation.READ, Operation.ALL), bindings[:2], strict=False))


def _bits(group: _Group) -> int:
    return sum(1 << operation.code for operation in group)
