"""Which requests to ask about first? Two from the ACLs in force: one denied, one allowed."""

from __future__ import annotations

from collections.abc import Iterator

from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    ResourceType,
)
from aclweb.inventory.current import InForce


def examples(in_force: InForce) -> list[AccessRequest]:
    """Return at most two requests that the ACLs suggest; none on a cluster without ACLs."""
    return [request for request in (_first(in_force, deny=True), _first(in_force, deny=False)) if request]


def _first(in_force: InForce, *, deny: bool) -> AccessRequest | None:
    for binding in in_force.holdings.in_reading_order:
        if binding.is_deny is deny and _is_plain(binding):
            for name in _names(in_force, binding):
                operation = Operation.READ if binding.operation is Operation.ALL else binding.operation
                return AccessRequest(binding.principal, WILDCARD, operation, ResourceType.TOPIC, name)
    return None


def _is_plain(binding: AclBinding) -> bool:
    return (
        binding.resource_type is ResourceType.TOPIC
        and binding.principal != ANY_USER
        and binding.host == WILDCARD
        and not binding.pattern.is_wildcard
        and not binding.has_unknown
    )


def _names(in_force: InForce, binding: AclBinding) -> Iterator[str]:
    """Yield the topics that exist and that the ACL matches."""
    is_prefix = binding.pattern_type is PatternType.PREFIXED
    for name in in_force.holdings.names[ResourceType.TOPIC]:
        if name == binding.resource_name or (is_prefix and name.startswith(binding.resource_name)):
            yield name
