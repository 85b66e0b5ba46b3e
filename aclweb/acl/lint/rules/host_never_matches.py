"""Lint rule host-never-matches: a host that no client has."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import ERROR, WARNING, About, Broken, Example, LintRule, deny
from aclweb.acl.lint.subject import Subject


def check(acl: Subject) -> tuple[Broken, ...]:
    if acl.dead is None or acl.principal_parts is None or "dormant-address-range" in acl.cautions:
        return ()
    # An ALLOW that allows nobody is safe, a DENY that denies nobody is not.
    return (Broken(acl.sentence(f"{acl.dead}."), ERROR if acl.is_deny else WARNING),)


RULE = LintRule(
    id="host-never-matches",
    severity=ERROR,
    title="A host that no client has",
    claims=Claim.MATCHES_NO_CLIENT,
    why=(
        "Brokers compare the text of the client's address: dotted IPv4, or IPv6 in eight groups that is "
        "never shortened. A host name, another spelling of an address or a broken range matches nobody, "
        "so an ALLOW allows nothing and a DENY guards nothing."
    ),
    instead=(
        "Write the address as Java prints it, such as `10.0.0.7` or `0:0:0:0:0:0:0:1`, a range from 4.4 "
        "on, or `*`."
    ),
    bad=(
        Example(deny("User:bob", "READ", "orders", host="example.com")),
        Example(deny("User:bob", "READ", "orders", host="::1")),
    ),
    good=(
        Example(deny("User:bob", "READ", "orders", host="0:0:0:0:0:0:0:1")),
        Example(deny("User:bob", "READ", "orders", host="10.0.0.0/8")),
    ),
    alone={About.HOST: check},
)
