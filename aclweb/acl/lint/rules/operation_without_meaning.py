"""Lint rule operation-without-meaning: an operation that this resource does not have."""

from __future__ import annotations

from aclweb.acl.authorizer import IMPLIED
from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import NOUNS, WORDS, AuthorizerSettings, Operation, operations_of


def check(acl: Subject) -> tuple[Broken, ...]:
    operation, kind = acl.binding.operation, acl.binding.resource_type
    operations = operations_of(kind, acl.settings)
    if operation is Operation.ALL or operation in operations:
        return ()
    known = ", ".join(WORDS[each] for each in operations) or "none"
    many = NOUNS[kind][1]
    rest = f"Kafka {acl.settings.kafka_version} asks for other operations on {many}: {known}."
    implied = None if acl.is_deny else IMPLIED.get(operation)
    if implied in operations:
        lists = ", which is enough to list all ACLs" if acl.is_about_the_cluster else ""
        rest += f" But it brings {WORDS[implied]} with it{lists}."
    return (Broken(acl.sentence(rest)),)


RULE = LintRule(
    id="operation-without-meaning",
    severity=WARNING,
    title="An operation that this resource does not have",
    claims=Claim.MATCHES_ONLY_WHAT_IT_BRINGS,
    why=(
        "No request asks a broker of this version for this operation on this type of resource. An ALLOW "
        "of Read, Write, Alter or Delete still brings Describe with it."
    ),
    instead="Choose an operation of the type; the sentence names them.",
    bad=(
        Example(allow("User:bob", "WRITE", "team", kind="GROUP")),
        Example(
            allow("User:bob", "DESCRIBE_CONFIGS", "team", kind="GROUP"),
            AuthorizerSettings(kafka_version="3.9"),
        ),
    ),
    good=(
        Example(allow("User:bob", "ALL", "team", kind="GROUP")),
        Example(allow("User:bob", "DESCRIBE_CONFIGS", "team", kind="GROUP")),
    ),
    alone={About.OPERATION: check},
)
