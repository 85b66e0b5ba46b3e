"""How does an ACL read in English?

Pages, commands and audit entries take their words from here, so that one ACL reads the
same everywhere. A name that a reader could not see, or could take for something else, is
shown in quotes with escapes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from aclweb.acl.model.vocabulary import (
    ANY_USER,
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)


def acl_text(binding: AclBinding) -> str:
    """Return one binding as a sentence without a full stop."""
    who = everyone_or(binding.principal)
    done = action_on(binding.operation, binding.resource_type, resources_of(binding))
    what = f"{done} {from_host(binding.host)}"
    if binding.permission_type is PermissionType.ALLOW:
        return f"Allow {who} to {what}"
    if binding.permission_type is PermissionType.DENY:
        return f"Deny {who} the right to {what}"
    return f"Allow or deny (aclweb does not know which) {who} to {what}"


def action_on(operation: Operation, resource_type: ResourceType, what: str) -> str:
    """Return what an operation on a resource lets one do: `Read topic orders`; on the cluster, `Create any topic`.

    what: the resource or the resources in words, as `resources_of` and `resource_text` give them.
    """
    if resource_type is ResourceType.CLUSTER and operation in _ON_THE_CLUSTER:
        where = "" if what == _THE_CLUSTER else f" by a right on {what}"
        return f"{_ON_THE_CLUSTER[operation]}{where}"
    return f"{ACTIONS[operation]} {what}"


def everyone_or(principal: str) -> str:
    """Return `everyone` for `User:*`, and any other principal as it is written."""
    return "everyone" if principal == ANY_USER else name_text(principal)


def resources_of(binding: AclBinding) -> str:
    """Return what a binding's pattern covers: `every topic`, `topics that start with pay`."""
    one, many = NOUNS[binding.resource_type]
    name = binding.resource_name
    if binding.pattern_type is PatternType.PREFIXED:
        if not name:
            return f"{many} whose name starts with nothing in particular"
        asterisk = " (a real asterisk)" if name == WILDCARD else ""
        return f"{many} that start with {name_text(name)}{asterisk}"
    if binding.pattern_type is PatternType.GLOB:
        return f"{many} that match {name_text(name)}" if name else f"every {one}"
    if binding.pattern_type is not PatternType.LITERAL:
        return f"{many} that match {name_text(name)} in a way that aclweb does not know"
    if name == WILDCARD:
        return _THE_CLUSTER if binding.resource_type is ResourceType.CLUSTER else f"every {one}"
    return resource_text(binding.resource_type, name)


def resource_text(resource_type: ResourceType, name: str) -> str:
    """Return one resource as a person names it: `topic orders`, `the cluster`."""
    if resource_type is ResourceType.CLUSTER and name == CLUSTER_NAME:
        return _THE_CLUSTER
    return f"{NOUNS[resource_type][0]} {name_text(name)}"


def name_text(text: str) -> str:
    """Return a name as it is, or in quotes: with escapes where a reader could not see it otherwise.

    A name that ends as sentences do is in quotes too, so that none ends in `payments..`.
    """
    if not _PLAIN.match(text):
        return ascii(text)
    return f"'{text}'" if text.endswith(_ENDS) else text


def from_host(host: str) -> str:
    """Return where a binding's host lets requests come from: `from any host`, `from 10.0.0.7`."""
    if host == WILDCARD:
        return "from any host"
    return f"from addresses in {name_text(host)}" if "/" in host else f"from {name_text(host)}"


def number_of(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 ACL`, `1,200 ACLs`, `2 entries`; without `many` an s makes the plural."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


ACTIONS: Mapping[Operation, str] = {
    Operation.UNKNOWN: "do something that aclweb does not know with",
    Operation.ANY: "do any one thing with",
    Operation.ALL: "do anything with",
    Operation.READ: "Read",
    Operation.WRITE: "Write to",
    Operation.CREATE: "Create",
    Operation.DELETE: "Delete",
    Operation.ALTER: "Alter",
    Operation.DESCRIBE: "Describe",
    Operation.CLUSTER_ACTION: "take cluster actions (as brokers do) on",
    Operation.DESCRIBE_CONFIGS: "Describe the configs of",
    Operation.ALTER_CONFIGS: "Alter the configs of",
    Operation.IDEMPOTENT_WRITE: "Write idempotently to",
    Operation.CREATE_TOKENS: "Create tokens for",
    Operation.DESCRIBE_TOKENS: "Describe the tokens of",
    Operation.TWO_PHASE_COMMIT: "use two-phase commit with",
}

_THE_CLUSTER = "the cluster"

# Rights on the cluster that are about something else than the cluster itself.
_ON_THE_CLUSTER: Mapping[Operation, str] = {
    Operation.CREATE: "Create any topic",
    Operation.DELETE: "Delete any topic (KRaft)",
    Operation.DESCRIBE_CONFIGS: "Describe the configs of brokers",
    Operation.ALTER_CONFIGS: "Alter the configs of brokers",
    Operation.IDEMPOTENT_WRITE: "start idempotent producers",
}


def spoken(name: str) -> str:
    """Return the name of an operation, a permission or a type as pages say it: `Describe configs`."""
    return name.replace("_", " ").capitalize()


WORDS: Mapping[Operation, str] = {operation: spoken(operation.name) for operation in Operation}
"""Operations as nouns in a sentence: `Read`, `Describe configs`."""

NOUNS: Mapping[ResourceType, tuple[str, str]] = {
    ResourceType.UNKNOWN: ("resource of an unknown type", "resources of an unknown type"),
    ResourceType.ANY: ("resource", "resources"),
    ResourceType.TOPIC: ("topic", "topics"),
    ResourceType.GROUP: ("group", "groups"),
    ResourceType.CLUSTER: ("cluster", "clusters"),
    ResourceType.TRANSACTIONAL_ID: ("transactional id", "transactional ids"),
    ResourceType.DELEGATION_TOKEN: ("delegation token", "delegation tokens"),
    ResourceType.USER: ("user", "users"),
}

_PLAIN = re.compile(r"[^\W_](?:[\w.:/@=,+*-]*[\w.:/@=+*-])?\Z|[*_+-][\w.:/@=,+*-]*\Z")
_ENDS = (".", ":", ",")  # of a sentence, or of a part of one
