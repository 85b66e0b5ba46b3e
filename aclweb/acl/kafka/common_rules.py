"""What does Kafka refuse in every request about ACLs, whatever it asks for?"""

from __future__ import annotations

from dataclasses import replace

from aclweb.acl.kafka.refusals import (
    CLUSTER_AUTHORIZATION_FAILED,
    CONNECTION_CLOSED,
    ENUMS,
    SECURITY_DISABLED,
    YOUNGER_WORDS,
    Layer,
    Rule,
    Scope,
    Seen,
    always,
    silent,
)
from aclweb.acl.kafka.texts import LONGEST_TEXT, why_no_node_name
from aclweb.acl.matching import matching_of
from aclweb.acl.model import CLUSTER_NAME, PatternType, ResourceType, shown, split_principal


def not_for_storing(seen: Seen) -> str:
    kind, pattern, operation, permission = (
        next((word.name for word in words if word.value == code), f"the code {code}")
        for words, code in zip(ENUMS, seen.item.codes, strict=True)
    )
    return (
        "An ACL has one resource type, the pattern type LITERAL or PREFIXED, one operation and ALLOW or DENY; "
        f"this one has {kind}, {pattern}, {operation} and {permission}."
    )


def not_known(seen: Seen) -> str:
    young = [
        f"{word.name} needs Kafka {since[0]}.{since[1]} or later."
        for word, since in YOUNGER_WORDS.items()
        if seen.target.settings.version < since
        and word.value == (seen.item.resource_type if isinstance(word, ResourceType) else seen.item.operation)
    ]
    return " ".join(young) or not_for_storing(seen)


def _too_long(seen: Seen) -> str:
    longest = max(len(text.encode("utf-8", "surrogatepass")) for text in seen.item.texts)
    return f"A text of {longest:,} bytes is too long; Kafka takes {LONGEST_TEXT:,}."


def other_cluster_name(seen: Seen) -> str:
    return f"The cluster resource has only the name {CLUSTER_NAME!r}, and {shown(seen.name)} was given."


def without_colon(seen: Seen) -> str:
    return f"Principal {shown(seen.principal)} has no type; write it as {shown('User:' + seen.principal)}."


def no_node(seen: Seen) -> str:
    return (
        f"The name {shown(seen.name)} cannot be a ZooKeeper node: {why_no_node_name(seen.name)}. "
        "Choose another name."
    )


def _is_too_long(seen: Seen) -> bool:
    # Most texts are short, and short ones need not be encoded.
    return any(
        len(text) * 4 > LONGEST_TEXT and len(text.encode("utf-8", "surrogatepass")) > LONGEST_TEXT
        for text in seen.item.texts
    )


def _has_code_zero(seen: Seen) -> bool:
    return 0 in seen.item.codes


def lacks_a_name(seen: Seen) -> bool:
    # The proposal says LITERAL * as the empty GLOB: that one covers everything.
    known = matching_of(seen.target.settings).pattern_types
    is_glob = PatternType.GLOB in known and seen.item.pattern_type == PatternType.GLOB.value
    return not seen.name and not is_glob


def searches(seen: Seen) -> bool:
    return "ANY" in seen.words or seen.pattern_type == "MATCH"


def is_unknown(seen: Seen) -> bool:
    return "UNKNOWN" in seen.words


def has_no_colon(seen: Seen) -> bool:
    return split_principal(seen.principal) is None


def is_range(seen: Seen) -> bool:
    return "/" in seen.host


OLDEST_REQUEST = Rule(
    Layer.REQUEST,
    "version 0 of the request",
    lambda seen: seen.target.wire_version < 1,
    CONNECTION_CLOSED,
    silent,
    always("Kafka 4.0 and later do not know version 0 of this request; use a newer client."),
    Scope.REQUEST,
    authorizer="standard",
    since=(4, 0),
)
MISSING_TEXT = Rule(
    Layer.REQUEST,
    "a name, principal or host that is null",
    lambda seen: len(seen.item.texts) < 3,
    CONNECTION_CLOSED,
    silent,
    always("An ACL has a name, a principal and a host; only a filter may leave one open."),
    Scope.REQUEST,
)
LONG_TEXT = Rule(
    Layer.REQUEST,
    f"a text of more than {LONGEST_TEXT:,} bytes",
    _is_too_long,
    CONNECTION_CLOSED,
    silent,
    _too_long,
    Scope.REQUEST,
)
CODE_ZERO = Rule(
    Layer.REQUEST,
    "a word with the code 0 (UNKNOWN)",
    _has_code_zero,
    CONNECTION_CLOSED,
    silent,
    not_for_storing,
    Scope.REQUEST,
)
FILTER_CODE_ZERO = replace(CODE_ZERO, sentence=always("A filter cannot name UNKNOWN; name a word, or ANY."))
MAY_NOT_ALTER = Rule(
    Layer.BROKER,
    "a client without Alter on the cluster",
    lambda seen: seen.target.has_authorizer and not seen.target.permitted,
    CLUSTER_AUTHORIZATION_FAILED,
    silent,
    always("The client may not change ACLs; that needs Alter on the cluster."),
    Scope.REQUEST,
)
MAY_NOT_DESCRIBE = replace(
    MAY_NOT_ALTER,
    what="a client without Describe on the cluster",
    sentence=always("The client may not list ACLs; that needs Describe on the cluster."),
)
NO_AUTHORIZER = Rule(
    Layer.BROKER,
    "no authorizer in the cluster",
    lambda seen: not seen.target.has_authorizer,
    SECURITY_DISABLED,
    always("No Authorizer is configured."),
    always("This cluster has no authorizer, so it keeps no ACLs; set authorizer.class.name first."),
    Scope.REQUEST,
)
NO_AUTHORIZER_TO_ASK = replace(NO_AUTHORIZER, text=always("No Authorizer is configured on the broker"))
