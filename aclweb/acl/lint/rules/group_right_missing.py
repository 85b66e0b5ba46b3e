"""Lint rule group-right-missing: read on topics and on no group."""

from __future__ import annotations

from collections.abc import Callable

from aclweb.acl.lint.beside import Others
from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import INFO, Broken, Example, LintRule, allow
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import Operation, ResourceType


def beside(others: Others) -> Callable[[Subject], tuple[Broken, ...]]:
    said: set[str] = set()

    def check(acl: Subject) -> tuple[Broken, ...]:
        """Say it once for each principal."""
        binding = acl.binding
        if (
            binding.resource_type is not ResourceType.TOPIC
            or binding.operation is not Operation.READ
            or not acl.is_allow
            or binding.principal in said
            or others.is_nobodys(binding)
            or not others.may_nowhere(binding.principal, ResourceType.GROUP, Operation.READ)
        ):
            return ()
        said.add(binding.principal)
        rest = "no ACL gives this principal Read on any group, which every consumer with a group needs."
        return (Broken(acl.sentence(rest)),)

    return check


RULE = LintRule(
    id="group-right-missing",
    severity=INFO,
    title="Read on topics and on no group",
    claims=Claim.READS_NO_GROUP,
    why=(
        "A consumer that commits offsets needs Read on its group as well as on the topic, else it fails "
        "with GROUP_AUTHORIZATION_FAILED (30). Only clients that assign partitions themselves do without."
    ),
    instead="Allow Read on the client's groups too.",
    bad=(Example(allow("User:bob", "READ", "orders")),),
    good=(
        Example(
            allow("User:bob", "READ", "orders"), others=(allow("User:bob", "READ", "team", kind="GROUP"),)
        ),
    ),
    beside=beside,
    rank=3,
)
