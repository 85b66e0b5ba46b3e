"""Lint rule group-right-missing: read on topics and on no group."""

from __future__ import annotations

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.missing_right import has_without
from aclweb.acl.lint.rule import INFO, Example, LintRule, allow
from aclweb.acl.model import Operation, ResourceType

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
    beside=has_without(
        given=(Operation.READ, ResourceType.TOPIC),
        missing=(Operation.READ, ResourceType.GROUP),
        sentence="no ACL gives this principal Read on any group, which every consumer with a group needs.",
    ),
    rank=3,
)
