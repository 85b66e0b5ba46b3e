"""Lint rule open-to-everyone: everybody, from anywhere, on everything."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, allow, deny
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import ANY_USER, WILDCARD


def check(acl: Subject) -> tuple[Broken, ...]:
    binding = acl.binding
    is_everybody = binding.principal == ANY_USER and binding.host == WILDCARD
    if not (acl.is_allow and is_everybody and binding.pattern.is_wildcard):
        return ()
    return (Broken(acl.sentence("this is for everybody who can connect.")),)


RULE = LintRule(
    id="open-to-everyone",
    severity=WARNING,
    title="Everybody, from anywhere, on everything",
    claims=Claim.MATCHES_EVERYBODY,
    why=(
        "This allows every client that can connect, whatever its principal, to do this with every "
        "resource of the type. It also ends allow.everyone.if.no.acl.found for the whole type."
    ),
    instead="Name the principal, or a prefix.",
    bad=(Example(allow("User:*", "READ", "*")),),
    good=(
        Example(allow("User:*", "READ", "orders.", pattern="PREFIXED")),
        Example(deny("User:*", "READ", "*")),
    ),
    alone={About.PRINCIPAL: check},
    rank=2,
)
