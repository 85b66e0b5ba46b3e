"""Which ACLs and topics do Strimzi's KafkaUser and KafkaTopic declare?

A KafkaUser with TLS is the principal `User:CN=NAME`, any other `User:NAME`; its rules are those of `simple`
authorization. What the operator adds to a user by itself, it adds as ACLs of these rules alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aclweb.acl.model import CLUSTER_NAME, AclBinding, NotationError, shown
from aclweb.clusters.client import TopicInfo
from aclweb.clusters.gitops.declared import Declared, binding_of, partitions_of

_API = "kafka.strimzi.io/"
_LABEL = "strimzi.io/cluster"
_TLS = ("tls", "tls-external")


def is_resource(value: object) -> bool:
    """Whether a value of a file is a resource of Kubernetes, of whatever kind."""
    return isinstance(value, Mapping) and "apiVersion" in value and "kind" in value


def declared_by(resource: Mapping[str, Any]) -> Iterator[Declared]:
    """Yield what a resource, or each of a list of them, declares; nothing for those that are not Strimzi's.

    Every value is a text, as the file has it. Raises NotationError with a sentence that names the resource.
    """
    if resource["kind"] == "List":
        for item in _list(resource, "items"):
            if is_resource(item):
                yield from declared_by(item)
        return
    if not str(resource["apiVersion"]).startswith(_API):
        return
    metadata = _mapping(resource, "metadata")
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        raise NotationError(f"A {resource['kind']} has no metadata.name; give it one.")
    cluster = str(_mapping(metadata, "labels").get(_LABEL, ""))
    spec = _mapping(resource, "spec")
    try:
        if resource["kind"] == "KafkaUser":
            yield Declared(bindings=tuple(_acls_of(name, spec)), cluster=cluster)
        elif resource["kind"] == "KafkaTopic":
            topic = TopicInfo(str(spec.get("topicName") or name), partitions_of(spec.get("partitions")))
            yield Declared(topics=(topic,), cluster=cluster)
    except NotationError as error:
        raise NotationError(
            *(f"{resource['kind']} {name}: {message}" for message in error.messages)
        ) from error


def _acls_of(name: str, spec: Mapping[str, Any]) -> Iterator[AclBinding]:
    is_tls = _mapping(spec, "authentication").get("type") in _TLS
    principal = f"User:CN={name}" if is_tls else f"User:{name}"
    authorization = _mapping(spec, "authorization")
    if authorization.get("type", "simple") != "simple":
        return
    for number, rule in enumerate(_list(authorization, "acls"), start=1):
        if not isinstance(rule, Mapping):
            raise NotationError(f"ACL {number} is {shown(rule)}; give resource and operations.")
        try:
            yield from _acls_of_rule(principal, rule)
        except NotationError as error:
            raise NotationError(*(f"ACL {number}: {message}" for message in error.messages)) from error


def _acls_of_rule(principal: str, rule: Mapping[str, Any]) -> Iterator[AclBinding]:
    resource = _mapping(rule, "resource")
    is_cluster = resource.get("type") == "cluster"
    # `operation` is what older versions have.
    operations = _list(rule, "operations") or [rule[key] for key in ("operation",) if key in rule]
    if not operations:
        raise NotationError("operations is missing; name at least one, such as Read.")
    for operation in operations:
        yield binding_of(
            {
                "resource_type": resource.get("type"),
                "resource_name": CLUSTER_NAME if is_cluster else resource.get("name"),
                "pattern_type": "literal" if is_cluster else resource.get("patternType", "literal"),
                "principal": principal,
                "host": rule.get("host", "*"),
                "operation": operation,
                "permission_type": rule.get("type", "allow"),
            }
        )


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key) or {}
    if not isinstance(found, Mapping):
        raise NotationError(f"{key} is {shown(found)}, and has to hold keys with values.")
    return found


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    found = value.get(key) or []
    if not isinstance(found, list):
        raise NotationError(f"{key} is {shown(found)}, and has to be a list.")
    return found
