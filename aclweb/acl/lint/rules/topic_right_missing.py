"""Lint rule topic-right-missing: write on a transactional id and on no topic."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.missing_right import has_without
from aclweb.acl.lint.rule import INFO, Example, LintRule, allow
from aclweb.acl.model import Operation, ResourceType

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
    beside=has_without(
        given=(Operation.WRITE, ResourceType.TRANSACTIONAL_ID),
        missing=(Operation.WRITE, ResourceType.TOPIC),
        sentence="no ACL gives this principal Write on any topic.",
    ),
    rank=3,
)
