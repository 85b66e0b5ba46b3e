"""Lint rule refused-by-kafka: kafka does not take this ACL."""

from __future__ import annotations

from aclweb.acl.lint.claims import NoClaim
from aclweb.acl.lint.rule import ERROR, About, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import AuthorizerSettings


def check(acl: Subject) -> tuple[Broken, ...]:
    if acl.refused is None:
        return ()
    return (Broken(f"{acl.refused.sentence} ({acl.refused.kafka_error})"),)


RULE = LintRule(
    id="refused-by-kafka",
    severity=ERROR,
    title="Kafka does not take this ACL",
    claims=NoClaim("it is about creating the ACL"),
    why=(
        "A broker of this version answers an error to creating it. It may still be in a file, or in a "
        "cluster that was upgraded from a version which took it."
    ),
    instead="Write it as the sentence says, or leave it out.",
    bad=(
        Example(allow("User:bob", "READ", "")),
        Example(allow("User:bob", "DESCRIBE", "other", kind="CLUSTER")),
        Example(allow("User:bob", "READ", "a/b", kind="GROUP"), AuthorizerSettings("acl")),
    ),
    good=(
        Example(allow("User:bob", "READ", "a/b", kind="GROUP")),
        Example(allow("User:bob", "DESCRIBE", "kafka-cluster", kind="CLUSTER")),
    ),
    alone={About.KAFKA: check},
    rank=3,
)
