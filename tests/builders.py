"""One line per fact: bindings and requests for tests."""

from __future__ import annotations

from aclweb.acl.model.vocabulary import (
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    Resource,
    ResourceType,
)


def acl(
    permission: str,
    principal: str,
    operation: str,
    name: str,
    *,
    pattern: str = "LITERAL",
    resource_type: str = "TOPIC",
    host: str = "*",
) -> AclBinding:
    return AclBinding(
        resource_type=ResourceType[resource_type],
        resource_name=name,
        pattern_type=PatternType[pattern],
        principal=principal,
        host=host,
        operation=Operation[operation],
        permission_type=PermissionType[permission],
    )


def allow(
    principal: str,
    operation: str,
    name: str,
    *,
    pattern: str = "LITERAL",
    resource_type: str = "TOPIC",
    host: str = "*",
) -> AclBinding:
    return acl("ALLOW", principal, operation, name, pattern=pattern, resource_type=resource_type, host=host)


def deny(
    principal: str,
    operation: str,
    name: str,
    *,
    pattern: str = "LITERAL",
    resource_type: str = "TOPIC",
    host: str = "*",
) -> AclBinding:
    return acl("DENY", principal, operation, name, pattern=pattern, resource_type=resource_type, host=host)


def ask(
    principal: str,
    operation: str,
    name: str | None,
    *,
    resource_type: str = "TOPIC",
    host: str = "10.0.0.7",
) -> AccessRequest:
    """A request; with None for a name it asks about the whole resource type."""
    return AccessRequest(principal, host, Operation[operation], ResourceType[resource_type], name)


def read(principal: str, name: str, *, host: str = "10.0.0.7") -> AccessRequest:
    return ask(principal, "READ", name, host=host)


def write(principal: str, name: str, *, host: str = "10.0.0.7") -> AccessRequest:
    return ask(principal, "WRITE", name, host=host)


def describe(principal: str, name: str, *, host: str = "10.0.0.7") -> AccessRequest:
    return ask(principal, "DESCRIBE", name, host=host)


def topic(name: str) -> Resource:
    return Resource(ResourceType.TOPIC, name)


def group(name: str) -> Resource:
    return Resource(ResourceType.GROUP, name)
