"""How does an authorizer read the names, principals and hosts of ACLs: as Kafka does, or with globs?

`matching_of(settings)` chooses a `Matching`, and whoever asks it need not know which one it is. The
plain one is every released Kafka's: a principal is compared as text, and `User:*` is for everybody,
whatever their type; a host is an address, `*` or (from Kafka 4.4) an address range. The GLOB proposal
adds the pattern type GLOB. It compares the type and the name of an ACL's principal apart, and reads a
part that holds `?` or `*` as a glob; so is a host that holds one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from aclweb.acl.matching.domination import DeniedTexts, ShapeDomination, undominated_by_text
from aclweb.acl.matching.glob import EVERYTHING, MANY, ONE, sample_of
from aclweb.acl.matching.hosts import admits, read_range
from aclweb.acl.matching.patterns import empty_prefix_covers, glob_shape, shape_of, wildcard_covers
from aclweb.acl.matching.sessions import (
    glob_admits,
    glob_is_for,
    host_shape,
    is_host_glob,
    is_principal_glob,
    part_shapes,
)
from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    PatternType,
    ResourcePattern,
    split_principal,
)


class Matching:
    """How every released Kafka reads ACLs.

    pattern_types: those by which the authorizer matches names. wildcards: the characters that stand
    for others somewhere in an ACL. is_nested: whether the sets that two ACLs match are always nested
    or apart, so that they can be looked up by their beginnings; globs overlap.
    reads_ranges: whether `10.0.0.0/8` is an address range, and not only text.
    """

    pattern_types: ClassVar[frozenset[PatternType]] = frozenset({PatternType.LITERAL, PatternType.PREFIXED})
    wildcards: ClassVar[str] = MANY
    is_nested: ClassVar[bool] = True

    def __init__(self, *, reads_ranges: bool) -> None:
        self.reads_ranges = reads_ranges

    def is_for(self, acl_principal: str, principal: str) -> bool:
        """Whether an ACL with `acl_principal` is for this session; one without a colon is for nobody."""
        if acl_principal == ANY_USER:
            return True
        return acl_principal == principal and split_principal(principal) is not None

    def comes_from(self, acl_host: str, host: str) -> bool:
        """Whether an ACL with `acl_host` admits a session from this address."""
        return admits(acl_host, host, ranges=self.reads_ranges)

    def covers_specially(self, pattern_type: PatternType, text: str, name: str) -> bool:
        """Whether a pattern that is neither LITERAL nor PREFIXED covers `name` for certain."""
        return False

    def principals_for(self, principal: str, named: Callable[[], Iterable[str]]) -> list[str]:
        """Return the principals that ACLs for this session can have; `named` gives all that ACLs have.

        Some may be in no ACL. For a session that nobody names give `User:*`.
        """
        return [principal] if principal == ANY_USER else [principal, ANY_USER]

    def is_principal_glob(self, principal: str) -> bool:
        """Whether this principal of an ACL is for many sessions, and is not `User:*`."""
        return False

    def is_host_glob(self, host: str) -> bool:
        """Whether this host of an ACL is neither an address nor a range nor `*`, and admits addresses."""
        return False

    def principal_globs(self, principals: Iterable[str]) -> list[str]:
        """Return those of these principals of ACLs of which `is_principal_glob` holds."""
        return []

    def host_globs(self, hosts: Iterable[str]) -> list[str]:
        """Return those of these hosts of ACLs of which `is_host_glob` holds."""
        return []

    def has_glob(self, binding: AclBinding) -> bool:
        """Whether a part of this ACL is a glob."""
        return False

    def range_of(self, host: str) -> tuple[int, int, int] | None:
        """Return (bits of the family, address, prefix length) of a host that is read as an address range."""
        return read_range(host) if self.reads_ranges else None

    def reads_caller_as(self, other: Matching, binding: AclBinding) -> bool:
        """Whether the principal and the host of an ACL mean the same to another authorizer."""
        return (
            self.is_principal_glob(binding.principal) == other.is_principal_glob(binding.principal)
            and self.is_host_glob(binding.host) == other.is_host_glob(binding.host)
            and (self.reads_ranges == other.reads_ranges or "/" not in binding.host)
        )

    def example_session(self, principal: str, filling: str) -> str:
        """Return a session that an ACL's principal is for, with `filling` in place of its wildcards."""
        return principal

    def example_address(self, host: str, filling: str) -> str:
        """Return an address that an ACL's host admits, with `filling` in place of its wildcards."""
        return host

    def covers_every_name(self, binding: AclBinding) -> bool:
        """Whether the pattern is one for all names, whatever they begin with."""
        return binding.pattern.is_wildcard

    def may_dominate(self, deny: AclBinding, allow: AclBinding) -> bool:
        """Whether, asked by type, the DENY may take all that the ALLOW gives: a cheap look before `undominated`."""
        return allow.resource_name.startswith(deny.resource_name)

    def undominated(self, bindings: Sequence[AclBinding]) -> tuple[AclBinding, ...]:
        """Return the ALLOWs that, asked by type, no DENY among these wholly covers."""
        return undominated_by_text(bindings)

    def leaves_some(self, bindings: Sequence[AclBinding]) -> bool | None:
        """Whether an ALLOW is undominated; None where that is too hard to tell."""
        return bool(undominated_by_text(bindings))

    def denied_texts(self, denies: Iterable[AclBinding]) -> DeniedTexts | None:
        """Return what tells of each ALLOW by itself whether one of these takes it away; None where nothing can.

        Then `undominated` has to be asked of all together, because the work on them is bounded together.
        """
        return DeniedTexts(denies)


class _GlobMatching(Matching):
    """How the GLOB proposal reads ACLs, which goes on from the newest KRaft."""

    pattern_types = Matching.pattern_types | {PatternType.GLOB}
    wildcards = MANY + ONE
    is_nested = False

    def is_for(self, acl_principal: str, principal: str) -> bool:
        return super().is_for(acl_principal, principal) or glob_is_for(acl_principal, principal)

    def comes_from(self, acl_host: str, host: str) -> bool:
        return glob_admits(acl_host, host)

    def covers_specially(self, pattern_type: PatternType, text: str, name: str) -> bool:
        return pattern_type is PatternType.GLOB and glob_shape(text).matches(name)

    def principals_for(self, principal: str, named: Callable[[], Iterable[str]]) -> list[str]:
        exact = super().principals_for(principal, named)
        return exact + [own for own in named() if own not in exact and glob_is_for(own, principal)]

    def is_principal_glob(self, principal: str) -> bool:
        return is_principal_glob(principal)

    def is_host_glob(self, host: str) -> bool:
        return is_host_glob(host)

    def principal_globs(self, principals: Iterable[str]) -> list[str]:
        return list(filter(is_principal_glob, principals))

    def host_globs(self, hosts: Iterable[str]) -> list[str]:
        return list(filter(is_host_glob, hosts))

    def has_glob(self, binding: AclBinding) -> bool:
        return (
            binding.pattern_type is PatternType.GLOB
            or is_principal_glob(binding.principal)
            or is_host_glob(binding.host)
        )

    def example_session(self, principal: str, filling: str) -> str:
        parts = part_shapes(principal) if is_principal_glob(principal) else None
        return principal if parts is None else ":".join(sample_of(part, filling) for part in parts)

    def example_address(self, host: str, filling: str) -> str:
        return sample_of(host_shape(host), filling) if is_host_glob(host) else host

    def covers_every_name(self, binding: AclBinding) -> bool:
        return shape_of(binding) == EVERYTHING

    def may_dominate(self, deny: AclBinding, allow: AclBinding) -> bool:
        return True

    def undominated(self, bindings: Sequence[AclBinding]) -> tuple[AclBinding, ...]:
        return ShapeDomination(bindings).undominated

    def leaves_some(self, bindings: Sequence[AclBinding]) -> bool | None:
        return ShapeDomination(bindings).leaves_some

    def denied_texts(self, denies: Iterable[AclBinding]) -> None:
        return None


_PLAIN = Matching(reads_ranges=False)
_WITH_RANGES = Matching(reads_ranges=True)
WITH_GLOBS = _GlobMatching(reads_ranges=True)
"""How the GLOB proposal reads ACLs, for what is about globs alone."""


def matching_of(settings: AuthorizerSettings) -> Matching:
    """Return how the authorizer of these settings reads ACLs."""
    if settings.has_globs:
        return WITH_GLOBS
    return _WITH_RANGES if settings.cidr_hosts else _PLAIN


def matching_of_either(one: AuthorizerSettings, other: AuthorizerSettings) -> Matching:
    """Return the matching under which a glob or a range of either authorizer is one."""
    found = {matching_of(one), matching_of(other)}
    return next(each for each in (WITH_GLOBS, _WITH_RANGES, _PLAIN) if each in found)


def is_for(acl_principal: str, principal: str, settings: AuthorizerSettings) -> bool:
    """Whether an ACL with `acl_principal` is for this session; one without a colon is for nobody."""
    return matching_of(settings).is_for(acl_principal, principal)


def comes_from(acl_host: str, host: str, settings: AuthorizerSettings) -> bool:
    """Whether an ACL with `acl_host` admits a session from this address."""
    return matching_of(settings).comes_from(acl_host, host)


def covers_name(pattern: ResourcePattern | AclBinding, name: str, settings: AuthorizerSettings) -> bool:
    """Whether the pattern covers the resource `name` of its own type, for certain."""
    own = pattern.name if isinstance(pattern, ResourcePattern) else pattern.resource_name
    if pattern.pattern_type is PatternType.LITERAL:
        return own == name or (own == WILDCARD and wildcard_covers(name, settings))
    if pattern.pattern_type is PatternType.PREFIXED:
        return name.startswith(own) if own else empty_prefix_covers(name, settings)
    return matching_of(settings).covers_specially(pattern.pattern_type, own, name)
