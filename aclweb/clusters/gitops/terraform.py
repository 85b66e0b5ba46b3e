"""Which ACLs and topics does a Terraform state hold?

Read are the resources of the providers that Kafka's users have: `kafka_acl` and `kafka_topic` (Mongey/kafka),
`confluent_kafka_acl` and `confluent_kafka_topic`; in a state file of version 4, or in what `terraform show -json`
prints of a state or of a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aclweb.acl.model import NotationError, shown
from aclweb.clusters.client import TopicInfo
from aclweb.clusters.gitops.declared import Declared, binding_of, partitions_of

_VERSION = 4
# The attributes of each type of resource that hold the seven values of an ACL.
_ACLS = {
    "kafka_acl": {
        "resource_type": "resource_type",
        "resource_name": "resource_name",
        "pattern_type": "resource_pattern_type_filter",
        "principal": "acl_principal",
        "host": "acl_host",
        "operation": "acl_operation",
        "permission_type": "acl_permission_type",
    },
    "confluent_kafka_acl": {
        "resource_type": "resource_type",
        "resource_name": "resource_name",
        "pattern_type": "pattern_type",
        "principal": "principal",
        "host": "host",
        "operation": "operation",
        "permission_type": "permission",
    },
}
_TOPICS = {
    "kafka_topic": ("name", "partitions"),
    "confluent_kafka_topic": ("topic_name", "partitions_count"),
}


def is_state(value: object) -> bool:
    """Whether a value of a file is a Terraform state, of whatever version, or what Terraform shows of one."""
    return isinstance(value, Mapping) and ("terraform_version" in value or "format_version" in value)


def declared_by(state: Mapping[str, Any]) -> Iterator[Declared]:
    """Yield what each resource of a state declares; raises NotationError with a sentence that names the resource."""
    for kind, address, provider, attributes in _resources(state):
        try:
            yield _declared(kind, provider, attributes)
        except NotationError as error:
            raise NotationError(*(f"{address}: {message}" for message in error.messages)) from error


def _declared(kind: str, provider: str, attributes: Mapping[str, Any]) -> Declared:
    # Confluent's resources name their cluster; those of other providers have one provider a cluster.
    ids = attributes.get("kafka_cluster")
    cluster = str(ids[0].get("id", "")) if isinstance(ids, list) and ids else provider
    if kind in _TOPICS:
        name, partitions = (attributes.get(key) for key in _TOPICS[kind])
        if not isinstance(name, str):
            raise NotationError(f"the topic's name is {shown(name)}, and has to be a text.")
        return Declared(topics=(TopicInfo(name, partitions_of(partitions)),), cluster=cluster)
    values = {key: attributes.get(own) for key, own in _ACLS[kind].items()}
    if values["pattern_type"] is None:
        values["pattern_type"] = "literal"
    return Declared(bindings=(binding_of(values),), cluster=cluster)


def _resources(state: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Yield the type, the address, the provider and the attributes of each resource about ACLs or topics."""
    if "format_version" in state:
        shown_state = state.get("planned_values") or state.get("values") or {}
        yield from _shown_resources(shown_state.get("root_module", {}))
        return
    if state.get("version") != _VERSION:
        raise NotationError(
            f"the state has version {shown(state.get('version'))}, and {_VERSION} is read; "
            "let a newer Terraform write it."
        )
    for resource in state.get("resources", []):
        kind = resource.get("type")
        if resource.get("mode", "managed") != "managed" or kind not in {*_ACLS, *_TOPICS}:
            continue
        address = ".".join(filter(None, (resource.get("module"), kind, resource.get("name"))))
        for instance in resource.get("instances", []):
            key = instance.get("index_key")
            place = address if key is None else f"{address}[{shown(key)}]"
            yield kind, place, str(resource.get("provider", "")), instance.get("attributes") or {}


def _shown_resources(module: Mapping[str, Any]) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    for resource in module.get("resources", []):
        kind = resource.get("type")
        if resource.get("mode", "managed") == "managed" and kind in {*_ACLS, *_TOPICS}:
            yield kind, str(resource.get("address", kind)), "", resource.get("values") or {}
    for child in module.get("child_modules", []):
        yield from _shown_resources(child)
