"""Lint rule name-cannot-exist: a name that no resource has."""

from __future__ import annotations

from dataclasses import replace

from aclweb.acl.kafka import Target, refusal
from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import ERROR, WARNING, About, Broken, Example, LintRule, allow, deny
from aclweb.acl.lint.subject import Subject
from aclweb.acl.matching import MANY, ONE, why_no_resource
from aclweb.acl.model import CLUSTER_NAME, WILDCARD, PatternType, ResourceType


def check(acl: Subject) -> tuple[Broken, ...]:
    binding = acl.binding
    is_prefix_of_asterisk = binding.resource_name == WILDCARD and binding.pattern_type is PatternType.PREFIXED
    if acl.nowhere is None or is_prefix_of_asterisk:
        return ()
    if _is_wrong_by_its_asterisk_alone(acl) or (acl.refused is not None and _is_taken_elsewhere(acl)):
        # asterisk-in-name or refused-by-kafka says it.
        return ()
    # An ALLOW that allows nothing is safe, a DENY that denies nothing is not.
    return (Broken(acl.sentence(f"{acl.nowhere}."), ERROR if acl.is_deny else WARNING),)


def _is_wrong_by_its_asterisk_alone(acl: Subject) -> bool:
    plain = acl.binding.resource_name.replace(MANY, "x").replace(ONE, "x")
    return acl.letter is not None and why_no_resource(replace(acl.binding, resource_name=plain)) is None


def _is_taken_elsewhere(acl: Subject) -> bool:
    """Whether Kafka takes this ACL on a common name."""
    common = CLUSTER_NAME if acl.binding.resource_type is ResourceType.CLUSTER else "x"
    return refusal("add", replace(acl.binding, resource_name=common), Target(acl.settings)) is None


RULE = LintRule(
    id="name-cannot-exist",
    severity=WARNING,
    title="A name that no resource has",
    claims=Claim.MATCHES_NO_NAME,
    why=(
        "Topics are named with letters, digits, `.`, `_` and `-`, at most 249 of them; the only cluster "
        "is `kafka-cluster`; a USER resource is a whole principal such as `User:alice`. An ACL on another "
        "name meets no request."
    ),
    instead="Correct the name.",
    bad=(
        Example(allow("User:bob", "READ", "or ders")),
        Example(deny("User:bob", "READ", "or ders")),
        Example(allow("User:bob", "CREATE_TOKENS", "ada", kind="USER")),
    ),
    good=(
        Example(allow("User:bob", "READ", "or ders", kind="GROUP")),
        Example(allow("User:bob", "CREATE_TOKENS", "User:ada", kind="USER")),
        Example(allow("User:bob", "CREATE_TOKENS", "*", kind="USER")),
    ),
    alone={About.NAME: check},
)
