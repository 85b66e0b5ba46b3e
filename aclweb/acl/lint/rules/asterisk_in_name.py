"""Lint rule asterisk-in-name: an asterisk in a name that is no pattern."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import ERROR, WARNING, About, Broken, Example, LintRule, allow, deny
from aclweb.acl.lint.subject import Subject
from aclweb.acl.matching import matching_of
from aclweb.acl.model import WILDCARD, AuthorizerSettings, PatternType, ResourceType, name_text


def check(acl: Subject) -> tuple[Broken, ...]:
    letter = acl.letter
    if letter is None:
        return ()
    missing = ", which no topic's name contains" if acl.binding.resource_type is ResourceType.TOPIC else ""
    rest = f"in this name {letter} is an ordinary letter{missing}; {_instead(acl, letter)}."
    # An ALLOW that allows less than was meant is safe, a DENY that denies less is not.
    return (Broken(acl.sentence(rest), ERROR if acl.is_deny else WARNING),)


def _instead(acl: Subject, letter: str) -> str:
    name = acl.binding.resource_name
    stem = name[:-1]
    if letter == WILDCARD and name.endswith(WILDCARD) and WILDCARD not in stem:
        return f"for names that begin with {name_text(stem)} write PREFIXED {name_text(stem)}"
    if PatternType.GLOB in matching_of(acl.settings).pattern_types:
        return "write GLOB if it is a wildcard"
    return "no pattern type of Kafka has such a wildcard"


RULE = LintRule(
    id="asterisk-in-name",
    severity=WARNING,
    title="An asterisk in a name that is no pattern",
    claims=Claim.READS_ASTERISK_AS_LETTER,
    why=(
        "In LITERAL and PREFIXED names an asterisk is an ordinary letter: `team-*` matches only that "
        "name, asterisk included, and not `team-a`. Only LITERAL `*`, alone, is for every name."
    ),
    instead="For every name that begins with `team-` write PREFIXED `team-`.",
    bad=(
        Example(allow("User:bob", "READ", "team-*", kind="GROUP")),
        Example(deny("User:bob", "READ", "orders-*", pattern="PREFIXED")),
        Example(allow("User:bob", "READ", "team-?", kind="GROUP"), AuthorizerSettings("glob")),
    ),
    good=(
        Example(allow("User:bob", "READ", "*")),
        Example(allow("User:bob", "READ", "team-?", kind="GROUP")),
        Example(
            allow("User:bob", "READ", "team-*", kind="GROUP", pattern="GLOB"), AuthorizerSettings("glob")
        ),
    ),
    alone={About.NAME: check},
    rank=1,
)
