"""Which requests to ask about first? Two from the ACLs in force: one denied, one allowed."""

from __future__ import annotations

from aclweb.acl.model import (
    ANY_USER,
    WILDCARD,
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    ResourceType,
)
from aclweb.inventory.current import ClusterView, LoadedRevision, span


def examples(view: ClusterView) -> list[AccessRequest]:
    """Return at most two requests that the ACLs suggest; none on a cluster without ACLs."""
    return view.loaded.remember("examples", lambda: _found(view.loaded))


def _found(loaded: LoadedRevision) -> list[AccessRequest]:
    return [request for request in (_first(loaded, deny=True), _first(loaded, deny=False)) if request]


def _first(loaded: LoadedRevision, *, deny: bool) -> AccessRequest | None:
    for binding in loaded.in_reading_order:
        if binding.is_deny is deny and _is_plain(binding) and (name := _name(loaded, binding)) is not None:
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


def _name(loaded: LoadedRevision, binding: AclBinding) -> str | None:
    """Return the first topic that exists and that the ACL matches; None where there is none."""
    if binding.pattern_type is not PatternType.PREFIXED:
        exists = loaded.holds(ResourceType.TOPIC, binding.resource_name)
        return binding.resource_name if exists else None
    names = loaded.names[ResourceType.TOPIC]
    start, end = span(names, binding.resource_name, binding.pattern_type)
    return names[start] if start < end else None
