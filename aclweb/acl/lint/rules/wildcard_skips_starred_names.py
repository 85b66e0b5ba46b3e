"""Lint rule wildcard-skips-starred-names: a denial of every name that leaves some out."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import INFO, About, Broken, Example, LintRule, deny
from aclweb.acl.lint.subject import STARRED, Subject
from aclweb.acl.model import NOUNS, AuthorizerSettings


def check(acl: Subject) -> tuple[Broken, ...]:
    binding = acl.binding
    skipped = binding.resource_type in STARRED and acl.settings.wildcard_skips_starred_names
    if not (acl.is_deny and skipped and binding.pattern.is_wildcard):
        return ()
    many = NOUNS[binding.resource_type][1]
    rest = f"KRaft leaves out {many} whose name begins with an asterisk and is longer."
    return (Broken(acl.sentence(rest)),)


RULE = LintRule(
    id="wildcard-skips-starred-names",
    severity=INFO,
    title="A denial of every name that leaves some out",
    claims=Claim.SKIPS_STARRED_NAMES,
    why=(
        "KRaft's authorizer skips LITERAL `*` for longer names that begin with an asterisk. Groups and "
        "transactional ids can have such names. AclAuthorizer does not skip them, so a migration changes "
        "this."
    ),
    instead="Deny PREFIXED `*` as well as LITERAL `*`.",
    bad=(Example(deny("User:bob", "READ", "*", kind="GROUP")),),
    good=(
        Example(deny("User:bob", "READ", "*", kind="GROUP"), AuthorizerSettings("acl")),
        Example(deny("User:bob", "READ", "*")),
    ),
    alone={About.NAME: check},
)
