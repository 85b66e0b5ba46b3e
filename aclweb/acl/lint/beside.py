"""One cluster's ACLs, as what lint sees beside each of them, with examples of what an ACL is about.

An example is a name that the pattern matches and that nobody names, a principal or an address:
on examples a rule asks `authorize` under the cluster's settings. Without one the rule is silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

from aclweb.acl.authorizer import MAY_ALLOW, AclIndex, vote_of
from aclweb.acl.lint.redundancy import SHADOWED, Redundancy, redundant
from aclweb.acl.matching import (
    as_java_prints,
    comes_from,
    glob_shape,
    matching_of,
    read_address,
    sample_of,
    why_no_resource,
    why_unmatchable,
)
from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    ResourceType,
    computed_once,
)

_ADDRESSES = ("203.0.113.9", "198.51.100.23", "192.0.2.44", "172.16.77.7", "2001:db8:0:0:0:0:0:9")
_LETTERS = "xyzqwvkjabcdefghilmnoprstuXYZ0123456789-_."
_LONGEST_TOPIC = 249


class Others:
    """The ACLs of a cluster under its settings.

    wasted: what `redundant` yields for the same, if it was worked out already.
    """

    def __init__(
        self, index: AclIndex, settings: AuthorizerSettings, wasted: Iterable[Redundancy] | None = None
    ) -> None:
        self.index, self.settings, self._matching = index, settings, matching_of(settings)
        self._wasted = wasted
        self._allowing: dict[tuple[ResourceType, Operation], set[str]] = {}

    @computed_once
    def shadows(self) -> Mapping[AclBinding, Redundancy]:
        """What is known of each ALLOW that a DENY always overrides."""
        wasted = redundant(self.index, self.settings) if self._wasted is None else self._wasted
        return {found.acl: found for found in wasted if found.rule == SHADOWED}

    def is_nobodys(self, binding: AclBinding) -> bool:
        """Whether no client has the principal and the host of this ACL."""
        address = read_address(binding.host)
        # The address of all zeros is legal, and no client's.
        return why_unmatchable(binding, self.settings) is not None or (
            address is not None and address[1] == 0
        )

    # What a principal does not have.

    def may_nowhere(self, principal: str, kind: ResourceType, operation: Operation) -> bool:
        """Whether nothing at all can allow this principal the operation on any resource of the type."""
        if principal in self.settings.super_users or self._matching.is_principal_glob(principal):
            # A glob is for many, each of whom may have the right by an ACL of its own.
            return False
        if self.settings.allow_everyone and not self._covers_every_name(kind):
            return False
        allowed = self._allowed(kind, operation)
        return allowed.isdisjoint(self._matching.principals_for(self.session_of(principal), lambda: allowed))

    def _allowed(self, kind: ResourceType, operation: Operation) -> set[str]:
        """Return the principals of ACLs that allow, or may allow, the operation somewhere on the type."""
        key = kind, operation
        if key not in self._allowing:
            shelf = self.index.shelf(kind)
            self._allowing[key] = {
                binding.principal
                for binding in (shelf.bindings if shelf is not None else ())
                if vote_of(binding, operation) in MAY_ALLOW
            }
        return self._allowing[key]

    def _covers_every_name(self, kind: ResourceType) -> bool:
        """Whether ACLs cover every name of the type for certain, so that the default is never met."""
        shelf = self.index.shelf(kind)
        if shelf is None:
            return False
        starred = not self.settings.wildcard_skips_starred_names or WILDCARD in shelf.chain.prefixes
        return bool(
            (shelf.wildcard and (starred or kind is ResourceType.TOPIC))
            or (shelf.empty_prefix and self.settings.empty_prefix_covers_all)
            or any(map(self._matching.covers_every_name, shelf.globs))
        )

    # Examples.

    def name_under(self, binding: AclBinding) -> str | None:
        """Return a name that the pattern covers, and as few others as can be found; None without one."""
        kind, name = binding.resource_type, binding.resource_name
        if kind is ResourceType.CLUSTER:
            return CLUSTER_NAME
        if binding.pattern_type is PatternType.GLOB:
            sample = sample_of(glob_shape(name), "x")
            return sample if why_no_resource(_literal(binding, sample)) is None else None
        if binding.pattern_type is PatternType.LITERAL and name != WILDCARD:
            return name
        if binding.pattern_type is PatternType.LITERAL:
            name = ""
        elif not name and not self.settings.empty_prefix_covers_all:
            return None
        if kind is ResourceType.TOPIC and len(name) == _LONGEST_TOPIC:
            return name
        start = "User:" if kind is ResourceType.USER and not name else name
        shelf = self.index.shelf(kind)
        if shelf is None:
            return f"{start}x"
        own = shelf.chain.longest(f"{name}") if name else -1
        for tail in (*_LETTERS, *(f"{a}{b}" for a in _LETTERS for b in _LETTERS)):
            found = f"{start}{tail}"
            fits = kind is not ResourceType.TOPIC or len(found) <= _LONGEST_TOPIC
            if fits and found not in shelf.literals and shelf.chain.longest(found) == own:
                return found if why_no_resource(_literal(binding, found)) is None else None
        return f"{start}x"

    def session_of(self, principal: str) -> str:
        """Return a session that an ACL's principal is for."""
        if principal == ANY_USER:
            return self.stranger
        return self._matching.example_session(principal, "x")

    def address_in(self, host: str) -> str:
        """Return an address that the host of an ACL admits."""
        if host == WILDCARD:
            return self.elsewhere
        span = self._matching.range_of(host)
        if span is None:
            return host
        bits, start, length = span
        number = start >> bits - length << bits - length
        number += length < bits
        address = IPv4Address(number) if bits == 32 else IPv6Address(number)
        return as_java_prints(str(address))

    @computed_once
    def stranger(self) -> str:
        """A principal that nobody names."""
        taken = self.index.principals | self.settings.super_users
        name = "User:somebody-else"
        while name in taken:
            name += "-"
        return name

    @computed_once
    def elsewhere(self) -> str:
        """An address that no ACL names and, where there is one, that lies in no range."""
        hosts = self.index.hosts
        free = (a for a in _ADDRESSES if not any(comes_from(host, a, self.settings) for host in hosts))
        return next(free, _ADDRESSES[0])


def _literal(binding: AclBinding, name: str) -> AclBinding:
    return replace(binding, resource_name=name, pattern_type=PatternType.LITERAL)
