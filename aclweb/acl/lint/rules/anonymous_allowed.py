"""Lint rule anonymous-allowed: a right for clients that did not log in."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, allow, deny
from aclweb.acl.lint.subject import Subject


def check(acl: Subject) -> tuple[Broken, ...]:
    if not acl.is_allow or acl.binding.principal != "User:ANONYMOUS":
        return ()
    return (Broken(acl.sentence("every client that does not log in is this principal.")),)


RULE = LintRule(
    id="anonymous-allowed",
    severity=WARNING,
    title="A right for clients that did not log in",
    claims=Claim.MATCHES_ANONYMOUS_ALONE,
    why=(
        "`User:ANONYMOUS` is every client of a PLAINTEXT listener, and of a TLS listener that asks for no "
        "certificate."
    ),
    instead="Make the client log in and allow its own principal.",
    bad=(Example(allow("User:ANONYMOUS", "READ", "orders")),),
    good=(Example(deny("User:ANONYMOUS", "READ", "orders")),),
    alone={About.PRINCIPAL: check},
    rank=2,
)
