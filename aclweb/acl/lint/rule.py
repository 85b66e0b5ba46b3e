"""What is a lint rule? One value that says what it claims, why, with examples, and how it is checked.

Each file of `rules` holds one, called RULE. Its examples are its tests and its page under docs/lint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from aclweb.acl.lint.beside import Others
from aclweb.acl.lint.claims import Claim, NoClaim
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)

ERROR, WARNING, INFO = "error", "warning", "info"
SEVERITIES = (ERROR, WARNING, INFO)


class About(IntEnum):
    """The part of an ACL that a check looks at. Findings of one severity are in this order."""

    UNKNOWN = 0
    """A value that aclweb does not know: then no other check is asked."""
    KAFKA = 1
    """What brokers do with the ACL as a whole."""
    HOST = 2
    NAME = 3
    PRINCIPAL = 4
    OPERATION = 5


@dataclass(frozen=True, slots=True)
class Broken:
    """What one ACL breaks. severity: where it is not the rule's own. by: the other ACLs of the sentence."""

    sentence: str
    severity: str = ""
    by: tuple[AclBinding, ...] = ()


Alone = Callable[[Subject], Iterable[Broken]]
"""A check of one ACL, fast enough for every keystroke."""

Beside = Callable[[Others], Callable[[Subject], Iterable[Broken]]]
"""Makes, once for all ACLs of a cluster, a check of one ACL beside the others; what it keeps is its own."""


@dataclass(frozen=True, slots=True)
class Example:
    """One ACL of a rule file, under settings and beside other ACLs. also: other rules that find something in it."""

    acl: AclBinding
    settings: AuthorizerSettings = field(default_factory=AuthorizerSettings)
    others: tuple[AclBinding, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule:
    """One thing that lint looks for.

    claims: what a finding says about decisions, or why it says nothing about them. bad: examples
    in which the rule finds something. good: examples, alike, in which it finds nothing. rank:
    the place of its findings among those about the same part; lint rules of equal rank go by id.
    Either `alone` or `beside` is given.
    """

    id: str
    severity: str
    title: str
    claims: Claim | NoClaim
    why: str
    instead: str
    bad: tuple[Example, ...]
    good: tuple[Example, ...]
    alone: Mapping[About, Alone] = field(default_factory=dict)
    beside: Beside | None = None
    rank: int = 0
    why_no_bad_example: str = ""


def allow(
    principal: str,
    operation: str,
    name: str,
    *,
    kind: str = "TOPIC",
    pattern: str = "LITERAL",
    host: str = "*",
) -> AclBinding:
    """Return an ALLOW for an example; its parts are written as Kafka's constants."""
    return _acl(PermissionType.ALLOW, principal, operation, name, kind, pattern, host)


def deny(
    principal: str,
    operation: str,
    name: str,
    *,
    kind: str = "TOPIC",
    pattern: str = "LITERAL",
    host: str = "*",
) -> AclBinding:
    """Return a DENY for an example."""
    return _acl(PermissionType.DENY, principal, operation, name, kind, pattern, host)


def _acl(
    permission: PermissionType, principal: str, operation: str, name: str, kind: str, pattern: str, host: str
) -> AclBinding:
    return AclBinding(
        resource_type=ResourceType[kind],
        resource_name=name,
        pattern_type=PatternType[pattern],
        principal=principal,
        host=host,
        operation=Operation[operation],
        permission_type=permission,
    )
