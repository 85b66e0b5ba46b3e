"""Lint rule unparsable-principal: a principal without a type."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import ERROR, About, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import Subject


def check(acl: Subject) -> tuple[Broken, ...]:
    sentence = acl.cautions.get("unparsable-principal")
    return () if sentence is None else (Broken(sentence),)


RULE = LintRule(
    id="unparsable-principal",
    severity=ERROR,
    title="A principal without a type",
    claims=Claim.MATCHES_NO_CLIENT,
    why=(
        "A principal is a type, a colon and a name, such as `User:bob`. Without the colon the ACL is for "
        "nobody, and a KRaft broker that holds it fails on every request that reaches it."
    ),
    instead="Write `User:` before the name, and remove the ACL that has none.",
    bad=(Example(allow("bob", "READ", "orders"), also=("refused-by-kafka",)),),
    good=(Example(allow("User:bob", "READ", "orders")),),
    alone={About.KAFKA: check},
    rank=1,
)
