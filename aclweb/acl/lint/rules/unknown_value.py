"""Lint rule unknown-value: a word that this program does not know."""

from __future__ import annotations

from dataclasses import replace

from aclweb.acl.lint.claims import NoClaim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import Operation


def check(acl: Subject) -> tuple[Broken, ...]:
    rest = "a part of this ACL is UNKNOWN to this program, so its whole effect is unknown."
    return (Broken(acl.sentence(rest)),) if acl.binding.has_unknown else ()


RULE = LintRule(
    id="unknown-value",
    severity=WARNING,
    title="A word that this program does not know",
    claims=NoClaim("it says that nobody can tell"),
    why=(
        "A newer Kafka, or another program, wrote a resource type, pattern type, operation or permission "
        "that is not known here. Where it could matter, decisions are undecided and never guessed."
    ),
    instead="Update aclweb, or look at the ACL with the kafka-acls of the version that made it.",
    bad=(Example(replace(allow("User:bob", "READ", "orders"), operation=Operation.UNKNOWN)),),
    good=(Example(allow("User:bob", "READ", "orders")),),
    alone={About.UNKNOWN: check},
)
