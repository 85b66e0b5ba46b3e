"""Which answer follows from what the bindings of one session allow and deny?

This is the one table from (denied, allowed, covered, unknown) to a result and its basis. `decide`,
`authorize`, answers by type, the what-if, the access matrix and batches all ask it, and no other
module makes an answer of its own (tests/acl/test_one_table.py).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from aclweb.acl.authorizer.masks import ALL_BITS, DENY_SHIFT, MAYBE_SHIFT, mask_of
from aclweb.acl.matching import comes_from, is_for
from aclweb.acl.model import AccessRequest, AclBinding, AuthorizerSettings, Operation


class Result(enum.Enum):
    ALLOWED = "ALLOWED"
    DENIED = "DENIED"
    UNDECIDED = "UNDECIDED"


class Vote(enum.StrEnum):
    """What one ACL that matches a request does to it; NONE is false."""

    ALLOW = "allow"
    DENY = "deny"
    EITHER = "either"  # its permission is UNKNOWN
    PERHAPS_ALLOW = "perhaps"  # an unknown value may make it an ALLOW, and cannot make it a DENY
    NONE = ""


class Basis(enum.Enum):
    """What settled a decision.

    NOT_ASKED is in no Decision, only on a side of a what-if between authorizers: brokers of that
    side never ask for the operation, so that nobody has any access by it.
    """

    SUPER_USER = "SUPER_USER"
    DENY_ACL = "DENY_ACL"
    ALLOW_ACL = "ALLOW_ACL"
    NO_ALLOW_ACL = "NO_ALLOW_ACL"
    DEFAULT_ALLOW = "DEFAULT_ALLOW"
    DEFAULT_DENY = "DEFAULT_DENY"
    UNKNOWN_VALUE = "UNKNOWN_VALUE"
    NOT_ASKED = "NOT_ASKED"


MAY_ALLOW = (Vote.ALLOW, Vote.EITHER, Vote.PERHAPS_ALLOW)

Answer = tuple[Result, Basis]

BY_SUPER_USER: Answer = (Result.ALLOWED, Basis.SUPER_USER)
BY_DENY_ACL: Answer = (Result.DENIED, Basis.DENY_ACL)
BY_ALLOW_ACL: Answer = (Result.ALLOWED, Basis.ALLOW_ACL)
BY_NO_ALLOW_ACL: Answer = (Result.DENIED, Basis.NO_ALLOW_ACL)
BY_DEFAULT_ALLOW: Answer = (Result.ALLOWED, Basis.DEFAULT_ALLOW)
BY_DEFAULT_DENY: Answer = (Result.DENIED, Basis.DEFAULT_DENY)
BY_UNKNOWN_VALUE: Answer = (Result.UNDECIDED, Basis.UNKNOWN_VALUE)
BY_NOT_ASKED: Answer = (Result.DENIED, Basis.NOT_ASKED)

RESULTS: Mapping[Basis, Result] = MappingProxyType(
    {
        basis: result
        for result, basis in (
            BY_SUPER_USER,
            BY_DENY_ACL,
            BY_ALLOW_ACL,
            BY_NO_ALLOW_ACL,
            BY_DEFAULT_ALLOW,
            BY_DEFAULT_DENY,
            BY_UNKNOWN_VALUE,
            BY_NOT_ASKED,
        )
    }
)
"""Which result each basis gives."""


def settle(
    *,
    denied: bool,
    allowed: bool,
    perhaps_denied: bool,
    perhaps_allowed: bool,
    covered: bool,
    unknown_patterns: Sequence[Vote],
    settings: AuthorizerSettings,
) -> Answer:
    """Return Kafka's answer, or UNDECIDED where unknown values leave room for more than one result.

    unknown_patterns: the vote of each binding whose pattern may or may not match the
    resource. Each unknown can turn out either way on its own, so the question is whether
    one world allows and another refuses.
    """
    if denied:
        return BY_DENY_ACL
    perhaps_denied = perhaps_denied or any(vote in (Vote.DENY, Vote.EITHER) for vote in unknown_patterns)
    perhaps_allowed = perhaps_allowed or any(vote in MAY_ALLOW for vote in unknown_patterns)
    default_allows = settings.allow_everyone and not covered
    can_be_allowed = allowed or perhaps_allowed or default_allows
    can_be_denied = perhaps_denied or (not allowed and not default_allows)
    if not allowed and default_allows:
        # The default goes as soon as one binding covers the resource, even one for somebody else.
        can_be_denied = any(vote is not Vote.ALLOW for vote in unknown_patterns)
    if can_be_allowed and can_be_denied:
        return BY_UNKNOWN_VALUE
    return settle_known(denied=False, allowed=allowed, covered=covered, settings=settings)


def settle_known(*, denied: bool, allowed: bool, covered: bool, settings: AuthorizerSettings) -> Answer:
    """Return Kafka's answer where nothing is unknown: DENY before ALLOW, the default only where no ACL is."""
    if denied:
        return BY_DENY_ACL
    if allowed:
        return BY_ALLOW_ACL
    if covered:
        return BY_NO_ALLOW_ACL
    return BY_DEFAULT_ALLOW if settings.allow_everyone else BY_DEFAULT_DENY


class Covering(Protocol):
    """Whether some ACL covers a name, whoever it is for."""

    def covers(self, name: str, settings: AuthorizerSettings) -> bool: ...


def settle_masks(mask: int, bit: int, covering: Covering, name: str, settings: AuthorizerSettings) -> Answer:
    """Return what `settle_known` does for the operation at `bit`, looking for other ACLs only where none matches."""
    if mask >> DENY_SHIFT & bit:
        return BY_DENY_ACL
    if mask & bit:
        return BY_ALLOW_ACL
    if covering.covers(name, settings):
        return BY_NO_ALLOW_ACL
    return BY_DEFAULT_ALLOW if settings.allow_everyone else BY_DEFAULT_DENY


def answer_from(
    mask: int, bit: int, *, covered: bool, unknown_patterns: Sequence[Vote], settings: AuthorizerSettings
) -> Answer:
    """Return the answer for the operation at `bit` to a session whose principal is no super user.

    mask: the joined masks of the bindings for this session that cover the resource for certain.
    covered: whether any binding covers it, whoever that is for. unknown_patterns: as in `settle`.
    """
    if not (mask >> MAYBE_SHIFT or unknown_patterns):
        return settle_known(
            denied=bool(mask >> DENY_SHIFT & bit),
            allowed=bool(mask & bit),
            covered=covered,
            settings=settings,
        )
    return settle(
        denied=bool(mask >> DENY_SHIFT & bit),
        allowed=bool(mask & bit),
        perhaps_denied=bool(mask >> MAYBE_SHIFT + DENY_SHIFT & bit),
        perhaps_allowed=bool(mask >> MAYBE_SHIFT & ALL_BITS & bit),
        covered=covered,
        unknown_patterns=unknown_patterns,
        settings=settings,
    )


_COUNTS = 1 | 1 << DENY_SHIFT | 1 << MAYBE_SHIFT + DENY_SHIFT


def vote_of(binding: AclBinding, operation: Operation) -> Vote:
    """Return what a binding that matches the session and the resource does to an operation."""
    mask = mask_of(binding.operation, binding.permission_type) >> operation._value_
    if mask & 1:
        return Vote.ALLOW
    if mask >> DENY_SHIFT & 1:
        return Vote.DENY
    if mask >> MAYBE_SHIFT + DENY_SHIFT & 1:
        return Vote.EITHER
    return Vote.PERHAPS_ALLOW if mask >> MAYBE_SHIFT & 1 else Vote.NONE


def for_operation(binding: AclBinding, operation: Operation) -> bool:
    """Whether the binding counts for this operation, whatever its permission turns out to be."""
    # Whether `vote_of` is ALLOW, DENY or EITHER: this is asked of each ACL of a principal.
    return bool(mask_of(binding.operation, binding.permission_type) >> operation._value_ & _COUNTS)


def vote_on(request: AccessRequest, binding: AclBinding, settings: AuthorizerSettings) -> Vote:
    """Return what the binding does to the request if its pattern matches the resource."""
    if is_for(binding.principal, request.principal, settings) and comes_from(
        binding.host, request.host, settings
    ):
        return vote_of(binding, request.operation)
    return Vote.NONE
