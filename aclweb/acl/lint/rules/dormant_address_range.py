"""Lint rule dormant-address-range: an address range on a Kafka that reads none."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import AuthorizerSettings


def check(acl: Subject) -> tuple[Broken, ...]:
    sentence = acl.cautions.get("dormant-address-range")
    return () if sentence is None else (Broken(sentence),)


RULE = LintRule(
    id="dormant-address-range",
    severity=WARNING,
    title="An address range on a Kafka that reads none",
    claims=Claim.MATCHES_NO_CLIENT,
    why=(
        "Kafka reads ranges such as `10.0.0.0/8` from KRaft 4.4 on. An older broker takes the ACL, and it "
        "matches no client; after an upgrade it takes effect without any edit."
    ),
    instead="Name each address, or `*`; and check such ACLs before an upgrade.",
    bad=(
        Example(
            allow("User:bob", "READ", "orders", host="10.0.0.0/8"), AuthorizerSettings(kafka_version="3.9")
        ),
    ),
    good=(Example(allow("User:bob", "READ", "orders", host="10.0.0.0/8")),),
    alone={About.KAFKA: check},
    rank=2,
)
