"""Lint rule host-not-everywhere: a host that only looks like every host."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, allow, deny
from aclweb.acl.lint.subject import Subject
from aclweb.acl.matching import matching_of, read_address
from aclweb.acl.model import WILDCARD


def check(acl: Subject) -> tuple[Broken, ...]:
    host = acl.binding.host
    if acl.dead is not None or host == WILDCARD:
        return ()
    address = read_address(host)
    if address is not None and address[1] == 0:
        return (Broken(acl.sentence("no client has this address; for every host write *.")),)
    span = matching_of(acl.settings).range_of(host)
    if span is None or span[2] != 0:
        return ()
    family, other = ("IPv4", "IPv6") if span[0] == 32 else ("IPv6", "IPv4")
    rest = f"this is every {family} address and no {other} one; for every host write *."
    return (Broken(acl.sentence(rest)),)


RULE = LintRule(
    id="host-not-everywhere",
    severity=WARNING,
    title="A host that only looks like every host",
    claims=Claim.MATCHES_ONE_ADDRESS_FAMILY,
    why=(
        "`0.0.0.0` is one address, which no client has. `0.0.0.0/0` is every IPv4 address and `::/0` "
        "every IPv6 one: clients of the other family are left out."
    ),
    instead="For every host write `*`.",
    bad=(
        Example(allow("User:bob", "READ", "orders", host="0.0.0.0")),
        Example(deny("User:bob", "READ", "orders", host="0.0.0.0/0")),
        Example(deny("User:bob", "READ", "orders", host="::/0")),
    ),
    good=(
        Example(deny("User:bob", "READ", "orders", host="10.0.0.0/8")),
        Example(deny("User:bob", "READ", "orders")),
    ),
    alone={About.HOST: check},
)
