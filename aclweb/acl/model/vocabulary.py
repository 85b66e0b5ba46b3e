"""The words of Kafka's ACLs as values: bindings, resources, requests and their enums.

Everything here is immutable and compares by value. Texts are kept exactly as given:
no trimming, no change of case, no Unicode normalisation, because Kafka compares them
letter by letter and two look-alike names are two names.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Self

WILDCARD = "*"
ANY_USER = "User:*"
CLUSTER_NAME = "kafka-cluster"


class AclError(ValueError):
    """A value that cannot be an ACL, a request or a mapping rule; the message is a sentence for a person."""


class _KafkaEnum(enum.Enum):
    """A Kafka enum: the value is the int8 code on the wire, the name is upper snake case."""

    # Members are singletons, so their identity is a hash, and a faster one than Enum's own,
    # which Python computes from the name each time; every binding hashes four of them.
    __hash__ = object.__hash__

    @property
    def code(self) -> int:
        return int(self.value)

    @property
    def pascal(self) -> str:
        """The spelling of ZooKeeper nodes, kafka-acls input and the old log: `DescribeConfigs`."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the member for `text`, in upper snake or PascalCase, any case.

        Raises AclError naming the value and the words that would be right.
        """
        found = _WORDS[cls].get(text.upper()) if isinstance(text, str) else None
        if found is None:
            words = ", ".join(member.name for member in cls)
            raise AclError(f"{_TITLES[cls]} {text!r} is not one that Kafka knows; use one of {words}.")
        return found  # type: ignore[return-value]

    @classmethod
    def from_code(cls, code: int) -> Self:
        """Return the member with this wire code, UNKNOWN for a code this version does not know."""
        found = _CODES[cls].get(code)
        return found if found is not None else cls["UNKNOWN"]  # type: ignore[return-value]


class ResourceType(_KafkaEnum):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(_KafkaEnum):
    """GLOB is the proposal's, known to aclweb's `glob` authorizer only; no released broker has it."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4
    GLOB = 5


class Operation(_KafkaEnum):
    """Kafka's AclOperation."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class PermissionType(_KafkaEnum):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


_ENUMS: tuple[type[_KafkaEnum], ...] = (ResourceType, PatternType, Operation, PermissionType)
_TITLES: dict[type[_KafkaEnum], str] = {
    ResourceType: "Resource type",
    PatternType: "Pattern type",
    Operation: "Operation",
    PermissionType: "Permission type",
}
_CODES: dict[type[_KafkaEnum], dict[int, _KafkaEnum]] = {
    cls: {member.code: member for member in cls} for cls in _ENUMS
}
_WORDS: dict[type[_KafkaEnum], dict[str, _KafkaEnum]] = {
    cls: {word: member for member in cls for word in (member.name, member.name.replace("_", ""))}
    for cls in _ENUMS
}


@dataclass(frozen=True, slots=True)
class Resource:
    """One real topic, group, transactional id, token, user or the cluster."""

    resource_type: ResourceType
    name: str

    def __str__(self) -> str:
        return f"{self.resource_type.name}:{self.name}"

    def as_dict(self) -> dict[str, str]:
        return {"resource_type": self.resource_type.name, "resource_name": self.name}


@dataclass(frozen=True, slots=True)
class ResourcePattern:
    """Which resources a binding is about."""

    resource_type: ResourceType
    name: str
    pattern_type: PatternType

    @property
    def is_wildcard(self) -> bool:
        """Whether this is LITERAL `*`, which covers every name of its type."""
        return self.pattern_type is PatternType.LITERAL and self.name == WILDCARD


@dataclass(frozen=True, slots=True)
class AclBinding:
    """One ACL: a resource pattern with a principal, host, operation and permission."""

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission_type: PermissionType

    @property
    def pattern(self) -> ResourcePattern:
        return ResourcePattern(self.resource_type, self.resource_name, self.pattern_type)

    @property
    def has_wildcard_pattern(self) -> bool:
        """As `pattern.is_wildcard` says it, without making a pattern: lists ask it of each ACL."""
        return self.resource_name == WILDCARD and self.pattern_type is PatternType.LITERAL

    @property
    def is_deny(self) -> bool:
        return self.permission_type is PermissionType.DENY

    @property
    def has_unknown(self) -> bool:
        """Whether an enum of this binding is UNKNOWN: made by a newer Kafka than this program knows."""
        return (
            self.resource_type is ResourceType.UNKNOWN
            or self.pattern_type is PatternType.UNKNOWN
            or self.operation is Operation.UNKNOWN
            or self.permission_type is PermissionType.UNKNOWN
        )

    def as_dict(self) -> dict[str, str]:
        """Return the seven promised keys with upper snake words, ready for JSON."""
        return {
            "resource_type": self.resource_type.name,
            "resource_name": self.resource_name,
            "pattern_type": self.pattern_type.name,
            "principal": self.principal,
            "host": self.host,
            "operation": self.operation.name,
            "permission_type": self.permission_type.name,
        }


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """What a client asks of a broker.

    Without `resource_name` (None) it asks authorizeByResourceType: may this session do
    the operation on at least one resource of the type? `host` is the text that Java
    prints: dotted IPv4, or IPv6 in eight groups without leading zeros.
    """

    principal: str
    host: str
    operation: Operation
    resource_type: ResourceType
    resource_name: str | None

    def __post_init__(self) -> None:
        if self.operation in (Operation.ANY, Operation.UNKNOWN):
            raise AclError(
                f"Operation {self.operation.name} cannot be asked for; name one operation, such as READ."
            )
        if self.resource_type in (ResourceType.ANY, ResourceType.UNKNOWN):
            raise AclError(
                f"Resource type {self.resource_type.name} cannot be asked for; name one type, such as TOPIC."
            )

    @property
    def resource(self) -> Resource:
        if self.resource_name is None:
            raise AclError("A question about a whole resource type has no single resource.")
        return Resource(self.resource_type, self.resource_name)

    def as_dict(self) -> dict[str, str]:
        """Return the promised keys; `resource_name` is left out when asking by type."""
        answer = {
            "principal": self.principal,
            "host": self.host,
            "operation": self.operation.name,
            "resource_type": self.resource_type.name,
        }
        if self.resource_name is not None:
            answer["resource_name"] = self.resource_name
        return answer


def split_principal(text: str) -> tuple[str, str] | None:
    """Return (type, name), split at the first colon as Kafka does; None without a colon."""
    kind, colon, name = text.partition(":")
    return (kind, name) if colon else None
