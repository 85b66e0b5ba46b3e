"""Lint rule prefix-of-asterisk: an asterisk as a prefix."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import ERROR, WARNING, About, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import STARRED, Subject
from aclweb.acl.model import WILDCARD, PatternType


def check(acl: Subject) -> tuple[Broken, ...]:
    binding = acl.binding
    if binding.resource_name != WILDCARD or binding.pattern_type is not PatternType.PREFIXED:
        return ()
    rest = "in a prefix the asterisk is an ordinary letter; for every name write LITERAL *."
    # A group can have such a name, and KRaft's wildcard leaves it out.
    return (Broken(acl.sentence(rest), WARNING if binding.resource_type in STARRED else ERROR),)


RULE = LintRule(
    id="prefix-of-asterisk",
    severity=ERROR,
    title="An asterisk as a prefix",
    claims=Claim.MATCHES_STARRED_NAMES_ALONE,
    why=(
        "PREFIXED `*` is no wildcard: it matches names that begin with an asterisk. No topic can have "
        "such a name."
    ),
    instead="For every name write LITERAL `*`.",
    bad=(
        Example(allow("User:bob", "READ", "*", pattern="PREFIXED")),
        Example(allow("User:bob", "READ", "*", kind="GROUP", pattern="PREFIXED")),
    ),
    good=(Example(allow("User:bob", "READ", "*")),),
    alone={About.NAME: check},
)
