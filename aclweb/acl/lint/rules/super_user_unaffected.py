"""Lint rule super-user-unaffected: an ACL for a super user."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import INFO, About, Broken, Example, LintRule, deny
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import AuthorizerSettings


def check(acl: Subject) -> tuple[Broken, ...]:
    if acl.binding.principal not in acl.settings.super_users or acl.principal_parts is None:
        return ()
    what = "a DENY does not stop" if acl.is_deny else "an ALLOW adds nothing for"
    return (Broken(acl.sentence(f"{what} a super user.")),)


RULE = LintRule(
    id="super-user-unaffected",
    severity=INFO,
    title="An ACL for a super user",
    claims=Claim.LEAVES_SUPER_USER_ALONE,
    why=(
        "A super user is allowed everything before any ACL is looked at. An ALLOW adds nothing, and a "
        "DENY stops nothing."
    ),
    instead="Take the principal from super.users, or remove the ACL.",
    bad=(
        Example(deny("User:bob", "READ", "orders"), AuthorizerSettings(super_users=frozenset({"User:bob"}))),
    ),
    good=(Example(deny("User:bob", "READ", "orders")),),
    alone={About.PRINCIPAL: check},
    rank=2,
)
