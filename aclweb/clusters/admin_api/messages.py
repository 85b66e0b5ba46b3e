"""How are ACLs asked for, created and deleted in the protocol's words, and what does each error say?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka.protocol.admin import (
    CreateAclsRequest,
    DeleteAclsRequest,
    DescribeAclsRequest,
)

from aclweb.acl.kafka import refused_everywhere, why_no_text, why_not_deletable
from aclweb.acl.model import (
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.clusters.client import (
    Problem,
    Verb,
)

NONE = 0


UNKNOWN_SERVER_ERROR = -1


REQUEST_TIMED_OUT = 7


COORDINATOR_LOADING = (14, 15, 16)


TOPIC_AUTHORIZATION_FAILED = 29


GROUP_AUTHORIZATION_FAILED = 30


CLUSTER_AUTHORIZATION_FAILED = 31


ILLEGAL_SASL_STATE = 34


UNSUPPORTED_VERSION = 35


NOT_CONTROLLER = 41


INVALID_REQUEST = 42


POLICY_VIOLATION = 44


SECURITY_DISABLED = 54


SASL_AUTHENTICATION_FAILED = 58


DELEGATION_TOKEN_AUTH_DISABLED = 61


DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64


GROUP_ID_NOT_FOUND = 69


UNSUPPORTED_SASL_MECHANISM = 33


ANY = 1


def describe_acls(
    resource_type: int, principal: str | None = None, *, request: type[Any] = DescribeAclsRequest
) -> Any:
    return request(
        resource_type_filter=resource_type,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter=principal,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )


def bindings_in(answer: Any) -> Iterator[AclBinding]:
    """Yield the ACLs of an answer to DescribeAcls."""
    for resource in answer.resources:
        resource_type = ResourceType.from_code(resource.resource_type)
        pattern_type = _pattern_type(resource.pattern_type)
        for acl in resource.acls:
            yield AclBinding(
                resource_type,
                resource.resource_name,
                pattern_type,
                acl.principal,
                acl.host,
                Operation.from_code(acl.operation),
                PermissionType.from_code(acl.permission_type),
            )


def _pattern_type(code: int) -> PatternType:
    """Return the pattern type of a broker's code; UNKNOWN for every code that no broker known today gives.

    What a later Kafka will call by the code that aclweb keeps for its GLOB is not known.
    """
    found = PatternType.from_code(code)
    return found if found in (PatternType.LITERAL, PatternType.PREFIXED) else PatternType.UNKNOWN


def creation(binding: AclBinding) -> Any:
    return CreateAclsRequest.AclCreation(
        resource_type=binding.resource_type.code,
        resource_name=binding.resource_name,
        resource_pattern_type=binding.pattern_type.code,
        principal=binding.principal,
        host=binding.host,
        operation=binding.operation.code,
        permission_type=binding.permission_type.code,
    )


def deletion(binding: AclBinding) -> Any:
    # Every field is named: a null would match everything.
    return DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=binding.resource_type.code,
        resource_name_filter=binding.resource_name,
        pattern_type_filter=binding.pattern_type.code,
        principal_filter=binding.principal,
        host_filter=binding.host,
        operation=binding.operation.code,
        permission_type=binding.permission_type.code,
    )


def deletion_code(result: Any) -> int:
    """Return the code of a filter, or of the first ACL that it matched and that was not deleted."""
    if result.error_code != NONE:
        return int(result.error_code)
    return next((int(acl.error_code) for acl in result.matching_acls or () if acl.error_code != NONE), NONE)


def fault_of(verb: Verb, binding: AclBinding) -> str | None:
    """Return why this binding is not sent to any cluster, None where it is.

    A removal is checked less: what an older broker has let in must be removable.
    """
    for text in (binding.resource_name, binding.principal, binding.host):
        if reason := why_no_text(text):
            return reason
    if verb is Verb.REMOVE and (reason := why_not_deletable(binding)):
        return reason
    answer = refused_everywhere(verb.value, binding)
    return answer.sentence if answer else None


def too_new(binding: AclBinding) -> Problem:
    pattern = f"{binding.resource_type.name} {binding.resource_name!r}"
    return Problem(
        pattern,
        f"An ACL of {binding.principal!r} on {pattern} has a type, operation or permission that this version of "
        "aclweb does not know; decisions that depend on it are unknown.",
    )
