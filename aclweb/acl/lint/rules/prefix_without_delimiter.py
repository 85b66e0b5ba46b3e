"""Lint rule prefix-without-delimiter: a prefix that ends inside a word."""

from __future__ import annotations

from dataclasses import replace

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import Subject
from aclweb.acl.matching import why_no_resource
from aclweb.acl.model import WILDCARD, AclBinding, PatternType, ResourceType, name_text

_DELIMITERS = "._:/-"


def check(acl: Subject) -> tuple[Broken, ...]:
    binding = acl.binding
    name = binding.resource_name
    if (
        binding.pattern_type is not PatternType.PREFIXED
        or not name
        or name[-1] in _DELIMITERS
        or name == WILDCARD
        or binding.resource_type is ResourceType.CLUSTER
        or acl.nowhere is not None
        or not _can_go_on(binding)
    ):
        return ()
    longer, other = name_text(f"{name}2"), name_text(f"{name}-archive")
    return (Broken(acl.sentence(f"this also matches {longer} and {other}, whoever makes them.")),)


def _can_go_on(binding: AclBinding) -> bool:
    """Whether a name that is longer than this prefix by a word can exist."""
    name = f"{binding.resource_name}-archive"
    return why_no_resource(replace(binding, resource_name=name, pattern_type=PatternType.LITERAL)) is None


RULE = LintRule(
    id="prefix-without-delimiter",
    severity=WARNING,
    title="A prefix that ends inside a word",
    claims=Claim.MATCHES_LONGER_WORDS,
    why=(
        "The prefix `order` matches `orders2` and `order-archive` as well as `order.eu`, also those that "
        "somebody else makes next year."
    ),
    instead="End the prefix with the delimiter of your names, such as `order.` or `order-`.",
    bad=(Example(allow("User:bob", "READ", "order", pattern="PREFIXED")),),
    good=(
        Example(allow("User:bob", "READ", "order.", pattern="PREFIXED")),
        Example(allow("User:bob", "READ", "order")),
    ),
    alone={About.NAME: check},
)
