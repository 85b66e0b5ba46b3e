"""Which lint rules does an ACL break because of other ACLs?

Each claim is one that `authorize` confirms under the cluster's settings, on an example of what
the ACL is about: a name that its pattern covers and that nobody names, a principal, an address.
Where no such example is found the rule is silent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address

from aclweb.acl.authorizer import AclIndex, Basis, decide, decide_for_any_host, effect_on
from aclweb.acl.matching import (
    EVERYTHING,
    as_java_prints,
    comes_from,
    glob_shape,
    is_for,
    is_host_glob,
    is_principal_glob,
    part_shapes,
    read_address,
    read_range,
    sample_of,
    why_dead,
    why_no_resource,
)
from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    WILDCARD,
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
    Rules,
    operations_of,
    says,
)

Broken = tuple[str, str]
"""The id of a rule and the sentence."""

_ADDRESSES = ("203.0.113.9", "198.51.100.23", "192.0.2.44", "172.16.77.7", "2001:db8:0:0:0:0:0:9")
_LETTERS = "xyzqwvkjabcdefghilmnoprstuXYZ0123456789-_."
_LONGEST_TOPIC = 249

_MISSING = (
    (
        "group-right-missing",
        ResourceType.TOPIC,
        Operation.READ,
        ResourceType.GROUP,
        "no ACL gives this principal Read on any group, which every consumer with a group needs",
    ),
    (
        "topic-right-missing",
        ResourceType.TRANSACTIONAL_ID,
        Operation.WRITE,
        ResourceType.TOPIC,
        "no ACL gives this principal Write on any topic",
    ),
)
_LEAVING_DESCRIBE: Mapping[ResourceType, tuple[Operation, ...]] = {
    ResourceType.TOPIC: (Operation.READ, Operation.WRITE),
    ResourceType.GROUP: (Operation.READ,),
    ResourceType.TRANSACTIONAL_ID: (Operation.WRITE,),
}


class Beside:
    """The ACLs of a cluster, as what stands beside each of them."""

    def __init__(self, index: AclIndex, rules: Rules) -> None:
        self._index, self._rules = index, rules
        self._told: set[tuple[str, str]] = set()
        self._shut: dict[ResourcePattern, bool] = {}

    def broken(self, binding: AclBinding) -> Iterator[Broken]:
        """Yield what this ACL breaks beside the others; what is about a principal once each."""
        missing = [
            found for found in _MISSING if binding.resource_type is found[1] and binding.operation is found[2]
        ]
        is_allow = binding.permission_type is PermissionType.ALLOW
        denies_some = binding.operation in _LEAVING_DESCRIBE.get(binding.resource_type, ())
        if not (self._rules.allow_everyone or (missing if is_allow else denies_some)) or binding.has_unknown:
            # Most ACLs: nothing below is about them.
            return
        dead = self._is_nobodys(binding)
        if why_no_resource(binding) is None:
            if (binding.is_deny or dead) and self._ends_the_default(binding):
                yield (
                    "ends-the-default",
                    f"{says(binding)}: it also ends allow.everyone.if.no.acl.found for what it matches: "
                    f"principals without an ALLOW lose access there.",
                )
            if binding.is_deny and denies_some and not dead and self._leaves_describe(binding):
                sentence = f"{says(binding)}: Describe stays open to whoever has it by another ACL."
                yield "deny-leaves-describe", sentence
        if dead or not is_allow:
            return
        for rule, _, operation, kind, sentence in missing:
            key = rule, binding.principal
            if key not in self._told and self._may_nowhere(binding.principal, kind, operation):
                self._told.add(key)
                yield rule, f"{says(binding)}: {sentence}."

    def _is_nobodys(self, binding: AclBinding) -> bool:
        """Whether no client has the principal and the host of this ACL."""
        address = read_address(binding.host)
        # The address of all zeros is legal, and no client's.
        return why_dead(binding, self._rules) is not None or (address is not None and address[1] == 0)

    # With allow.everyone.if.no.acl.found.

    def _ends_the_default(self, binding: AclBinding) -> bool:
        """Whether somebody whom no ACL names is refused where this ACL covers, and no ACL lets anyone in by name.

        An ALLOW for particular principals says that the default was meant to end.
        """
        if not self._rules.allow_everyone:
            return False
        if binding.pattern not in self._shut:
            self._shut[binding.pattern] = self._is_shut(binding)
        return self._shut[binding.pattern]

    def _is_shut(self, binding: AclBinding) -> bool:
        kind, name = binding.resource_type, self._name_under(binding)
        shelf = self._index.shelf(kind)
        if name is None or shelf is None:
            return False
        covering = shelf.covering(name, self._rules)
        if any(self._lets_in_by_name(other) for other in covering):
            return False
        asked = (
            AccessRequest(self._stranger, self._elsewhere, operation, kind, name)
            for operation in operations_of(kind, self._rules)
        )
        return any(decide(request, self._index, self._rules)[1] is Basis.NO_ALLOW_ACL for request in asked)

    def _lets_in_by_name(self, binding: AclBinding) -> bool:
        is_allow = binding.permission_type is not PermissionType.DENY
        return is_allow and binding.principal != ANY_USER and not self._is_nobodys(binding)

    # What a DENY leaves open.

    def _leaves_describe(self, binding: AclBinding) -> bool:
        """Whether a session that this DENY is for could Describe what it covers, if an ACL allowed it."""
        principal, name = self._session_of(binding.principal), self._name_under(binding)
        if name is None or principal in self._rules.super_users:
            return False
        rules = replace(self._rules, allow_everyone=False)
        request = AccessRequest(
            principal,
            self._address_in(binding.host),
            Operation.DESCRIBE,
            binding.resource_type,
            name,
        )
        is_plain = self._denials_are_known and not (rules.has_globs and is_host_glob(binding.host))
        if is_plain and decide(request, self._denying_describe, rules)[1] is not Basis.DENY_ACL:
            return True
        if not rules.has_globs:
            nowhere = replace(request, host="no address")
            if decide(nowhere, self._denying_describe, rules)[1] is Basis.DENY_ACL:
                # Only an ACL for every host is for this text, and it denies Describe everywhere.
                return False
        grant = replace(
            binding,
            resource_name=name,
            pattern_type=PatternType.LITERAL,
            principal=principal,
            operation=Operation.DESCRIBE,
            permission_type=PermissionType.ALLOW,
        )
        shelf = self._denying_describe.shelf(binding.resource_type)
        denies = [*shelf.covering(name, rules), *shelf.unknown_patterns] if shelf is not None else []
        return bool(decide_for_any_host(request, AclIndex([grant, *denies]), rules).allowed_from)

    @cached_property
    def _denying_describe(self) -> AclIndex:
        return AclIndex(
            binding for binding in self._index if effect_on(binding, Operation.DESCRIBE) in ("deny", "either")
        )

    @cached_property
    def _denials_are_known(self) -> bool:
        return not any(binding.has_unknown for binding in self._denying_describe)

    # What a principal does not have.

    def _may_nowhere(self, principal: str, kind: ResourceType, operation: Operation) -> bool:
        """Whether nothing at all can allow this principal the operation on any resource of the type."""
        if principal in self._rules.super_users or (self._rules.has_globs and is_principal_glob(principal)):
            # A glob is for many, each of whom may have the right by an ACL of its own.
            return False
        if self._rules.allow_everyone and not self._covers_every_name(kind):
            return False
        session, allowed = self._session_of(principal), self._allowed(kind, operation)
        if not self._rules.has_globs:
            return allowed.isdisjoint((principal, ANY_USER))
        return not any(is_for(own, session, self._rules) for own in allowed)

    def _allowed(self, kind: ResourceType, operation: Operation) -> set[str]:
        """Return the principals of ACLs that allow, or may allow, the operation somewhere on the type."""
        key = kind, operation
        if key not in self._allowing:
            shelf = self._index.shelf(kind)
            self._allowing[key] = {
                binding.principal
                for binding in (shelf.bindings if shelf is not None else ())
                if effect_on(binding, operation) in ("allow", "either", "perhaps")
            }
        return self._allowing[key]

    @cached_property
    def _allowing(self) -> dict[tuple[ResourceType, Operation], set[str]]:
        return {}

    def _covers_every_name(self, kind: ResourceType) -> bool:
        """Whether ACLs cover every name of the type for certain, so that the default is never met."""
        shelf = self._index.shelf(kind)
        if shelf is None:
            return False
        starred = not self._rules.wildcard_skips_starred_names or WILDCARD in shelf.chain.prefixes
        return bool(
            (shelf.wildcard and (starred or kind is ResourceType.TOPIC))
            or (shelf.empty_prefix and self._rules.empty_prefix_covers_all)
            or (
                self._rules.has_globs
                and any(glob_shape(glob.resource_name) == EVERYTHING for glob in shelf.globs)
            )
        )

    # Examples.

    def _name_under(self, binding: AclBinding) -> str | None:
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
        elif not name and not self._rules.empty_prefix_covers_all:
            return None
        if kind is ResourceType.TOPIC and len(name) == _LONGEST_TOPIC:
            return name
        start = "User:" if kind is ResourceType.USER and not name else name
        shelf = self._index.shelf(kind)
        if shelf is None:
            return f"{start}x"
        own = shelf.chain.longest(f"{name}") if name else -1
        for tail in (*_LETTERS, *(f"{a}{b}" for a in _LETTERS for b in _LETTERS)):
            found = f"{start}{tail}"
            fits = kind is not ResourceType.TOPIC or len(found) <= _LONGEST_TOPIC
            if fits and found not in shelf.literals and shelf.chain.longest(found) == own:
                return found if why_no_resource(_literal(binding, found)) is None else None
        return f"{start}x"

    def _session_of(self, principal: str) -> str:
        """Return a session that an ACL's principal is for."""
        if principal == ANY_USER:
            return self._stranger
        if self._rules.has_globs and is_principal_glob(principal):
            parts = part_shapes(principal)
            if parts is not None:
                return ":".join(sample_of(part, "x") for part in parts)
        return principal

    def _address_in(self, host: str) -> str:
        """Return an address that the host of an ACL admits."""
        if host == WILDCARD:
            return self._elsewhere
        span = read_range(host) if self._rules.cidr_hosts else None
        if span is None:
            return host
        bits, start, length = span
        number = start >> bits - length << bits - length
        number += length < bits
        address = IPv4Address(number) if bits == 32 else IPv6Address(number)
        return as_java_prints(str(address))

    @cached_property
    def _stranger(self) -> str:
        """A principal that nobody names."""
        taken = self._index.principals | self._rules.super_users
        name = "User:somebody-else"
        while name in taken:
            name += "-"
        return name

    @cached_property
    def _elsewhere(self) -> str:
        """An address that no ACL names and, where there is one, that lies in no range."""
        hosts = self._index.hosts
        free = (a for a in _ADDRESSES if not any(comes_from(host, a, self._rules) for host in hosts))
        return next(free, _ADDRESSES[0])


def _literal(binding: AclBinding, name: str) -> AclBinding:
    return replace(binding, resource_name=name, pattern_type=PatternType.LITERAL)
