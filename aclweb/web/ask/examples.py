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
from aclweb.inventory.current import ClusterView


def examples(view: ClusterView) -> list[AccessRequest]:
    """Return at most two requests that the ACLs suggest; none on a cluster without ACLs."""
    return [request for request in (_first(view, deny=True), _first(view, deny=False)) if request]


def _first(view: ClusterView, *, deny: bool) -> AccessRequest | None:
    for binding in view.loaded.in_reading_order:
        if binding.is_deny is deny and _is_plain(binding):
            for name in _names(view, binding):
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


def _names(view: ClusterView, binding: AclBinding) -> Iterator[str]:
    """Yield the topics that exist and that the ACL matches."""
    is_prefix = binding.pattern_type is PatternType.PREFIXED
    for name in view.loaded.names[ResourceType.TOPIC]:
        if name == binding.resource_name or (is_prefix and name.startswith(binding.resource_name)):
            yield name
