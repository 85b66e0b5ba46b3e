"""Which filters does Kafka refuse to delete or to list with? In the order in which a request meets it."""

from __future__ import annotations

from aclweb.acl.kafka.common_rules import (
    FILTER_CODE_ZERO,
    LONG_TEXT,
    MAY_NOT_ALTER,
    MAY_NOT_DESCRIBE,
    NO_AUTHORIZER,
    NO_AUTHORIZER_TO_ASK,
    OLDEST_REQUEST,
    not_known,
)
from aclweb.acl.kafka.refusals import INVALID_REQUEST, MOST_RECORDS, Layer, Refusal, Rule, Scope, always

DELETION_RULES: tuple[Rule, ...] = (
    OLDEST_REQUEST,
    LONG_TEXT,
    FILTER_CODE_ZERO,
    MAY_NOT_ALTER,
    NO_AUTHORIZER,
    Rule(
        Layer.CONTROLLER,
        "a resource type or pattern type that this version does not know",
        lambda seen: "UNKNOWN" in (seen.resource_type, seen.pattern_type),
        INVALID_REQUEST,
        always("Unknown patternFilter."),
        not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "an operation or permission that this version does not know",
        lambda seen: "UNKNOWN" in (seen.operation, seen.permission_type),
        INVALID_REQUEST,
        always("Unknown entryFilter."),
        not_known,
        authorizer="standard",
    ),
)
"""Which filters a cluster refuses to delete with, in the order in which it looks."""

LISTING_RULES: tuple[Rule, ...] = (
    OLDEST_REQUEST,
    LONG_TEXT,
    FILTER_CODE_ZERO,
    MAY_NOT_DESCRIBE,
    NO_AUTHORIZER_TO_ASK,
)
"""Which filters a cluster refuses to list by; a word that it does not know finds nothing."""

TOO_MANY_GONE = Refusal(
    Layer.CONTROLLER,
    INVALID_REQUEST,
    f"Cannot remove more than {MOST_RECORDS} acls in a single delete operation.",
    Scope.REQUEST,
    f"A KRaft cluster removes at most {MOST_RECORDS:,} ACLs in one request; send narrower filters one by one.",
)
