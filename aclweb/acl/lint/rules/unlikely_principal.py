"""Lint rule unlikely-principal: a principal that is probably spelled otherwise."""

from __future__ import annotations

import re

from aclweb.acl.lint.claims import NoClaim
from aclweb.acl.lint.rule import ERROR, WARNING, About, Broken, Example, LintRule, allow, deny
from aclweb.acl.lint.subject import Subject
from aclweb.acl.matching import why_no_client

_SPACED_DN = re.compile(r"\A[A-Za-z]+=.*, +[A-Za-z]+=")
_LOWER_DN = re.compile(r"(?:cn|ou|o|l|st|c|dc|uid)=")


def check(acl: Subject) -> tuple[Broken, ...]:
    if acl.principal_parts is None:
        return ()
    why = why_no_client(acl.binding, acl.settings) or _why_unlikely(*acl.principal_parts)
    # An ALLOW that allows nobody is safe, a DENY that denies nobody is not.
    return () if why is None else (Broken(acl.sentence(f"{why}."), ERROR if acl.is_deny else WARNING),)


def _why_unlikely(kind: str, name: str) -> str | None:
    if kind.lower() == "user" and kind != "User":
        return f"upper and lower case count, and Kafka's own type is User, not {kind}"
    if name.startswith("User:"):
        return "the type is written twice"
    if not name:
        return "it has no name"
    if _SPACED_DN.search(name):
        return "brokers write distinguished names without spaces after the commas"
    if _LOWER_DN.match(name):
        return "brokers write the keys of distinguished names in capitals, as in CN=bob"
    return None


RULE = LintRule(
    id="unlikely-principal",
    severity=WARNING,
    title="A principal that is probably spelled otherwise",
    claims=NoClaim("it is about what clients are called; any text can be a principal"),
    why=(
        "Principals are compared letter by letter. Only `User:*` is a wildcard; `User:a*`, `user:bob`, "
        "`User:User:bob` or a distinguished name with spaces after its commas are names of their own that "
        "hardly any client has."
    ),
    instead="Copy the principal from the broker's log, where it is written exactly as the broker sees it.",
    bad=(
        Example(allow("User:a*", "READ", "orders")),
        Example(allow("user:bob", "READ", "orders")),
        Example(allow("User:User:bob", "READ", "orders")),
        Example(allow("User:CN=bob, OU=x", "READ", "orders")),
        Example(allow("User:cn=bob,ou=x", "READ", "orders")),
        Example(allow("User:", "READ", "orders")),
        Example(deny("user:bob", "READ", "orders")),
    ),
    good=(
        Example(allow("User:*", "READ", "orders")),
        Example(allow("User:CN=bob,OU=x\\, y", "READ", "orders")),
        Example(allow("Group:readers", "READ", "orders")),
    ),
    alone={About.PRINCIPAL: check},
)
