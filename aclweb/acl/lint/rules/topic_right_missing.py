"""Lint rule topic-right-missing: write on a transactional id and on no topic."""

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
            binding.resource_type is not ResourceType.TRANSACTIONAL_ID
            or binding.operation is not Operation.WRITE
            or not acl.is_allow
            or binding.principal in said
            or others.is_nobodys(binding)
            or not others.may_nowhere(binding.principal, ResourceType.TOPIC, Operation.WRITE)
        ):
            return ()
        said.add(binding.principal)
        rest = "no ACL gives this principal Write on any topic."
        return (Broken(acl.sentence(rest)),)

    return check


RULE = LintRule(
    id="topic-right-missing",
    severity=INFO,
    title="Write on a transactional id and on no topic",
    claims=Claim.WRITES_NO_TOPIC,
    why=(
        "A transactional producer needs Write on the topics that it writes to, as well as on its "
        "transactional id."
    ),
    instead="Allow Write on the topics, or remove the right on the id.",
    bad=(Example(allow("User:bob", "WRITE", "tx", kind="TRANSACTIONAL_ID")),),
    good=(
        Example(
            allow("User:bob", "WRITE", "tx", kind="TRANSACTIONAL_ID"),
            others=(allow("User:bob", "WRITE", "orders"),),
        ),
    ),
    beside=beside,
    rank=3,
)
