"""Which right does a client ask for next on the same resource, once the one that was denied is there?

A broker refuses the first call that lacks a right, so a log shows Describe where a client goes on to Read or Write.
"""

from __future__ import annotations

from collections.abc import Collection

from aclweb.acl.authorizer import IMPLIED
from aclweb.acl.model import AuthorizerSettings, Operation, ResourceType
from aclweb.acl.needs.actions import ACTIONS
from aclweb.acl.needs.calls import Right, checks_of
from aclweb.acl.needs.protocol import find_api
from aclweb.acl.needs.roles import Call, ClientAction

# What clients do with one topic; an application with topics of several roles says nothing about one of them.
_PLAIN = (
    "produce",
    "consume",
    "produce-idempotent",
    "produce-transactional",
    "consume-new-protocol",
    "consume-manual",
    "consume-share",
)


def asked_next(
    operation: Operation,
    resource_type: ResourceType,
    api_names: Collection[str],
    settings: AuthorizerSettings,
) -> dict[Operation, str]:
    """Return rights that bring the denied one along and are what clients ask for next on the same resource.

    Each comes with what the first such client does, such as `writes records to a topic`.

    api_names: the calls in which the right was denied, as a log writes them; empty where it does not tell.
    """
    apis = {api.name for name in api_names if (api := find_api(name)) is not None}
    if api_names and not apis:
        return {}
    found: dict[Operation, str] = {}
    for action in map(ACTIONS.__getitem__, _PLAIN):
        following = _next_in(action, Right(operation, resource_type), apis, settings)
        if following is not None and IMPLIED.get(following) is operation:
            found.setdefault(following, action.does)
    return found


def _next_in(
    action: ClientAction, right: Right, apis: Collection[str], settings: AuthorizerSettings
) -> Operation | None:
    """Return the first other operation on this type that the action needs after a call that needs this right."""
    was_asked = False
    for call in action.calls:
        operations = _operations(call, right.resource_type, settings)
        if not was_asked:
            was_asked = right.operation in operations and (not apis or call.api.name in apis)
        elif call.needed and (
            other := next((each for each in operations if each is not right.operation), None)
        ):
            return other
    return None


def _operations(call: Call, kind: ResourceType, settings: AuthorizerSettings) -> list[Operation]:
    return [
        right.operation
        for check in checks_of(call.case, settings)
        for right in check.any_of
        if right.resource_type is kind and not right.any_one and check.refusal.is_error
    ]
