"""What do the files of a folder declare: ACLs, topics, and for which cluster?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aclweb.acl.model import (
    AclBinding,
    NotationError,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    shown,
)
from aclweb.acl.notation import binding_from_dict
from aclweb.clusters.client import TopicInfo, why_no_broker_holds


@dataclass(frozen=True)
class Declared:
    """What one object of a file declares. cluster: the one that it says it is for; empty where it says none."""

    bindings: tuple[AclBinding, ...] = ()
    topics: tuple[TopicInfo, ...] = ()
    cluster: str = ""


_WORDS = {
    key: {member.name.replace("_", ""): member.name for member in kind}
    for key, kind in (
        ("resource_type", ResourceType),
        ("pattern_type", PatternType),
        ("operation", Operation),
        ("permission_type", PermissionType),
    )
}
# What Strimzi calls it.
_WORDS["pattern_type"]["PREFIX"] = PatternType.PREFIXED.name
_NO_ACL_HAS = ("ANY", "UNKNOWN", "MATCH")


def binding_of(values: Mapping[str, Any]) -> AclBinding:
    """Return the ACL with the seven values that every notation has, in words such as `Read` or `transactionalId`.

    Raises NotationError with a sentence for what no broker could hold.
    """
    binding = binding_from_dict({key: _value(key, value) for key, value in values.items()})
    if reason := why_no_broker_holds(binding):
        raise NotationError(reason)
    return binding


def _value(key: str, value: object) -> object:
    if key not in _WORDS:
        return value
    words = _WORDS[key]
    name = words.get(value.replace("_", "").upper()) if isinstance(value, str) else None
    if name is None or name in _NO_ACL_HAS:
        allowed = ", ".join(word for word in dict.fromkeys(words.values()) if word not in _NO_ACL_HAS)
        raise NotationError(f"{key} is {shown(value)}; use one of {allowed}.")
    return name


def partitions_of(value: object) -> int | None:
    """Return a number of partitions as files write it, text or number; None where it is none."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else None
