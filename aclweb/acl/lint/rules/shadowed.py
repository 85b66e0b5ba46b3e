"""Lint rule shadowed: an ALLOW that a DENY overrules everywhere."""

from __future__ import annotations

from collections.abc import Callable

from aclweb.acl.lint.beside import Others
from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import WARNING, Broken, Example, LintRule, allow, deny
from aclweb.acl.lint.subject import Subject


def beside(others: Others) -> Callable[[Subject], tuple[Broken, ...]]:
    def check(acl: Subject) -> tuple[Broken, ...]:
        found = others.shadows.get(acl.binding)
        return () if found is None else (Broken(found.sentence, by=found.by),)

    return check


RULE = LintRule(
    id="shadowed",
    severity=WARNING,
    title="An ALLOW that a DENY overrules everywhere",
    claims=Claim.NEVER_DETERMINES,
    why=("Wherever this ALLOW counts a DENY counts too, and a DENY always wins, however exact the ALLOW is."),
    instead="Remove one of the two.",
    bad=(
        Example(
            allow("User:bob", "DESCRIBE", "orders.eu"),
            others=(deny("User:*", "ALL", "orders.", pattern="PREFIXED"),),
        ),
    ),
    good=(
        Example(allow("User:bob", "DESCRIBE", "orders.eu"), others=(deny("User:bob", "READ", "orders.eu"),)),
    ),
    beside=beside,
)
