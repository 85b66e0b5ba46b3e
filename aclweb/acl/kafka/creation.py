"""What does Kafka refuse to create? In the order in which a request meets it."""

from __future__ import annotations

from aclweb.acl.kafka.common_rules import (
    CODE_ZERO,
    LONG_TEXT,
    MAY_NOT_ALTER,
    MISSING_TEXT,
    NO_AUTHORIZER,
    OLDEST_REQUEST,
    has_no_colon,
    is_range,
    is_unknown,
    lacks_a_name,
    no_node,
    not_for_storing,
    not_known,
    other_cluster_name,
    searches,
    without_colon,
)
from aclweb.acl.kafka.refusals import (
    INVALID_REQUEST,
    MOST_RECORDS,
    POLICY_VIOLATION,
    UNKNOWN_SERVER_ERROR,
    UNSUPPORTED_VERSION,
    Layer,
    Refusal,
    Rule,
    Scope,
    always,
    silent,
)
from aclweb.acl.kafka.texts import why_no_node_name, why_no_range
from aclweb.acl.model import CLUSTER_NAME, shown

CREATION_RULES: tuple[Rule, ...] = (
    OLDEST_REQUEST,
    MISSING_TEXT,
    LONG_TEXT,
    CODE_ZERO,
    MAY_NOT_ALTER,
    NO_AUTHORIZER,
    Rule(
        Layer.CONSTRUCTOR,
        "resource type, pattern type, operation or permission ANY, or pattern type MATCH",
        searches,
        UNKNOWN_SERVER_ERROR,
        silent,
        not_for_storing,
        Scope.REQUEST,
    ),
    Rule(
        Layer.BROKER,
        f"a name other than {CLUSTER_NAME} on CLUSTER",
        lambda seen: seen.resource_type == "CLUSTER" and seen.name != CLUSTER_NAME,
        INVALID_REQUEST,
        always(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"),
        other_cluster_name,
    ),
    Rule(
        Layer.BROKER,
        "an empty name",
        lacks_a_name,
        INVALID_REQUEST,
        always("Invalid empty resource name"),
        always("The resource name is empty; give a name, or * for all."),
    ),
    Rule(
        Layer.CONTROLLER,
        "a resource type that this version does not know",
        lambda seen: seen.resource_type == "UNKNOWN",
        INVALID_REQUEST,
        always("Invalid resourceType UNKNOWN"),
        not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "a pattern type that this version does not know",
        lambda seen: seen.pattern_type == "UNKNOWN",
        INVALID_REQUEST,
        always("Invalid patternType UNKNOWN"),
        not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "an operation that this version does not know",
        lambda seen: seen.operation == "UNKNOWN",
        INVALID_REQUEST,
        always("Invalid operation UNKNOWN"),
        not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "a permission that this version does not know",
        lambda seen: seen.permission_type == "UNKNOWN",
        INVALID_REQUEST,
        always("Invalid permissionType UNKNOWN"),
        not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "a principal without a colon",
        has_no_colon,
        INVALID_REQUEST,
        lambda seen: (
            f"Could not parse principal from `{seen.principal}` "
            "(no colon is present separating the principal type from the principal name)"
        ),
        without_colon,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "an empty host",
        lambda seen: not seen.host,
        INVALID_REQUEST,
        always("Host pattern cannot be null or empty"),
        always("The host is empty; give an address, or * for all."),
        authorizer="standard",
        since=(4, 4),
    ),
    Rule(
        Layer.CONTROLLER,
        "a host with a slash, where the metadata version is below 4.4-IV1",
        lambda seen: is_range(seen) and not seen.target.ranges,
        UNSUPPORTED_VERSION,
        always("CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher."),
        lambda seen: (
            f"This cluster does not know address ranges such as {shown(seen.host)} yet; "
            "raise its metadata.version to 4.4-IV1 first."
        ),
        authorizer="standard",
        since=(4, 4),
    ),
    Rule(
        Layer.CONTROLLER,
        "a host with a slash that is no address range",
        lambda seen: why_no_range(seen.host) is not None,
        INVALID_REQUEST,
        lambda seen: f"Invalid CIDR notation '{seen.host}': {why_no_range(seen.host)}",
        lambda seen: (
            f"Host {shown(seen.host)} is not an address range that Kafka can read; "
            "write one such as 10.0.0.0/8 or fd00::/8."
        ),
        authorizer="standard",
        since=(4, 4),
    ),
    Rule(
        Layer.ZOOKEEPER,
        "a word that this version does not know",
        is_unknown,
        INVALID_REQUEST,
        always("Failed to create ACL"),
        not_known,
        authorizer="acl",
    ),
    Rule(
        Layer.ZOOKEEPER,
        "PREFIXED, where inter.broker.protocol.version is below 2.0-IV1",
        lambda seen: seen.pattern_type == "PREFIXED" and not seen.target.prefixes,
        INVALID_REQUEST,
        always("Failed to create ACL"),
        always(
            "This cluster takes no PREFIXED ACLs yet; raise inter.broker.protocol.version to 2.0-IV1 first."
        ),
        authorizer="acl",
    ),
    Rule(
        Layer.ZOOKEEPER,
        "a slash in the name",
        lambda seen: "/" in seen.name,
        INVALID_REQUEST,
        always("Failed to create ACL"),
        no_node,
        authorizer="acl",
        since=(3, 3),
    ),
    Rule(
        Layer.ZOOKEEPER,
        "a name that cannot be a ZooKeeper node",
        lambda seen: why_no_node_name(seen.name) is not None,
        UNKNOWN_SERVER_ERROR,
        silent,
        no_node,
        authorizer="acl",
    ),
    Rule(
        Layer.ZOOKEEPER,
        "a principal without a colon",
        has_no_colon,
        UNKNOWN_SERVER_ERROR,
        silent,
        without_colon,
        Scope.PATTERN,
        authorizer="acl",
    ),
)
"""What a cluster refuses to create, in the order in which it looks."""

TOO_MANY_NEW = Refusal(
    Layer.CONTROLLER,
    POLICY_VIOLATION,
    "Unable to perform excessively large batch operation.",
    Scope.REQUEST,
    f"A KRaft cluster takes at most {MOST_RECORDS:,} new ACLs in one request; send them in several.",
)

POISONED = Refusal(
    Layer.BROKER,
    UNKNOWN_SERVER_ERROR,
    None,
    Scope.REQUEST,
    "ZooKeeper has an ACL with a word that the brokers do not know, and they fail to list it; correct it there.",
)
