"""Lint rule kraft-name-below-asterisk: a name on which a KRaft broker may fail."""

from __future__ import annotations

from aclweb.acl.lint.claims import NoClaim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import Subject


def check(acl: Subject) -> tuple[Broken, ...]:
    sentence = acl.cautions.get("kraft-name-below-asterisk")
    return () if sentence is None else (Broken(sentence),)


RULE = LintRule(
    id="kraft-name-below-asterisk",
    severity=WARNING,
    title="A name on which a KRaft broker may fail",
    claims=NoClaim("it is about a broker that fails"),
    why=(
        "A KRaft broker may fail to answer for names that begin with certain characters that are neither "
        "letters nor digits. ZooKeeper-mode brokers are not affected, so the danger can also come with a "
        "migration."
    ),
    instead="Choose names that begin with a letter or a digit.",
    bad=(),
    good=(Example(allow("User:bob", "READ", "orders")),),
    alone={About.KAFKA: check},
    why_no_bad_example="a file that shows such a name could make a broker fail",
)
