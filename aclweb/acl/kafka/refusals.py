"""What is a refusal of Kafka: who says it, to what, and in which words?

A rule says when Kafka refuses; what it looks at is one item of a request and the cluster it is sent to.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Self

from aclweb.acl.matching import AclFilter
from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    visible,
)

MOST_RECORDS = 10_000
"""The most ACLs that one request may add to, or take from, a KRaft cluster."""

Version = tuple[int, int]

YOUNGER_WORDS: Mapping[enum.Enum, Version] = MappingProxyType(
    {
        ResourceType.USER: (3, 3),
        Operation.CREATE_TOKENS: (3, 3),
        Operation.DESCRIBE_TOKENS: (3, 3),
        Operation.TWO_PHASE_COMMIT: (4, 1),
    }
)
"""The words that older versions do not know, with the version that brought them."""


class Layer(enum.Enum):
    """Who refuses, in the order in which a request meets them."""

    CONSTRUCTOR = "constructor"
    ADMIN_CLIENT = "AdminClient"
    REQUEST = "request object"
    BROKER = "broker"
    CONTROLLER = "KRaft controller"
    ZOOKEEPER = "ZooKeeper authorizer"


class Scope(enum.Enum):
    """How far a refusal reaches beyond the item that earned it."""

    ITEM = "this item"
    PATTERN = "every item of the same resource pattern"
    REQUEST = "every item of the request"


@dataclass(frozen=True, slots=True)
class KafkaError:
    """An error as Kafka calls it; without a code it is raised in a client and never sent."""

    name: str
    code: int | None = None


UNKNOWN_SERVER_ERROR = KafkaError("UNKNOWN_SERVER_ERROR", -1)
CLUSTER_AUTHORIZATION_FAILED = KafkaError("CLUSTER_AUTHORIZATION_FAILED", 31)
UNSUPPORTED_VERSION = KafkaError("UNSUPPORTED_VERSION", 35)
INVALID_REQUEST = KafkaError("INVALID_REQUEST", 42)
POLICY_VIOLATION = KafkaError("POLICY_VIOLATION", 44)
SECURITY_DISABLED = KafkaError("SECURITY_DISABLED", 54)
CONNECTION_CLOSED = KafkaError("connection closed")
ILLEGAL_ARGUMENT = KafkaError("IllegalArgumentException")
INVALID_REQUEST_EXCEPTION = KafkaError("InvalidRequestException")


@dataclass(frozen=True, slots=True)
class Refusal:
    """One no: who says it, Kafka's name, code and text for it, and a sentence for people.

    code: None where nothing is answered, because a client never sends it or the broker
    closes the connection. text: None where Kafka gives none, or only an internal dump.
    """

    layer: Layer
    error: KafkaError
    text: str | None
    scope: Scope
    sentence: str

    @property
    def code(self) -> int | None:
        return self.error.code

    @property
    def whole_request(self) -> bool:
        """Whether the good items of the same request are refused with it."""
        return self.scope is Scope.REQUEST

    @property
    def kafka_error(self) -> str:
        """Name, code and text on one line, as `INVALID_REQUEST (42): Invalid empty resource name`."""
        code = "" if self.code is None else f" ({self.code})"
        if self.text is None:
            return f"{self.error.name}{code}"
        # Kafka's text repeats what was sent, which may hold an end of line and what drives a terminal.
        return f"{self.error.name}{code}: {visible(self.text)}"

    def as_dict(self) -> dict[str, object]:
        return {
            "layer": self.layer.value,
            "error": self.error.name,
            "code": self.code,
            "text": self.text,
            "whole_request": self.whole_request,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Target:
    """The cluster that is asked: its settings, and what else an answer depends on.

    permitted: whether the principal has Alter on the cluster (Describe, for listing). ranges:
    whether the metadata version is 4.4-IV1 or newer. prefixes: whether a ZooKeeper cluster's
    inter.broker.protocol.version is 2.0-IV1 or newer. wire_version: of the request, 0 to 3.
    """

    settings: AuthorizerSettings = field(default_factory=AuthorizerSettings)
    permitted: bool = True
    has_authorizer: bool = True
    ranges: bool = True
    prefixes: bool = True
    wire_version: int = 3


@dataclass(frozen=True, slots=True)
class Item:
    """One ACL or one filter as a request holds it: words are codes, so that any number can be one.

    Only a filter has texts that are None.
    """

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission_type: int

    @classmethod
    def of(cls, given: AclBinding | AclFilter) -> Self:
        return cls(
            given.resource_type.code,
            given.resource_name,
            given.pattern_type.code,
            given.principal,
            given.host,
            given.operation.code,
            given.permission_type.code,
        )

    @property
    def codes(self) -> tuple[int, int, int, int]:
        return self.resource_type, self.pattern_type, self.operation, self.permission_type

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text in (self.resource_name, self.principal, self.host) if text is not None)


@dataclass(frozen=True, slots=True)
class Seen:
    """An item as the layers of one cluster read it: what a version does not know is UNKNOWN to it."""

    item: Item
    target: Target
    resource_type: str
    pattern_type: str
    operation: str
    permission_type: str

    @classmethod
    def by(cls, target: Target, item: Item) -> Self:
        version = target.settings.version
        return cls(
            item,
            target,
            word_for(ResourceType, item.resource_type, version),
            word_for(PatternType, item.pattern_type, version),
            word_for(Operation, item.operation, version),
            word_for(PermissionType, item.permission_type, version),
        )

    @property
    def name(self) -> str:
        return self.item.resource_name or ""

    @property
    def principal(self) -> str:
        return self.item.principal or ""

    @property
    def host(self) -> str:
        return self.item.host or ""

    @property
    def words(self) -> tuple[str, str, str, str]:
        return self.resource_type, self.pattern_type, self.operation, self.permission_type

    @property
    def pattern(self) -> tuple[str, str, str]:
        return self.resource_type, self.pattern_type, self.name


@lru_cache(maxsize=1024)
def word_for(words: type[enum.Enum], code: int, version: Version) -> str:
    """Return the word that a broker of this version has for a code, UNKNOWN if it has none."""
    for word in words:
        if word.value == code and word is not PatternType.GLOB and version >= YOUNGER_WORDS.get(word, (0, 0)):
            return word.name
    return "UNKNOWN"


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One thing that a layer refuses; each equals itself alone.

    what: for a table, such as "an empty name". text and sentence: of one refused item.
    authorizer, since and before: where the rule holds; empty for everywhere.
    """

    layer: Layer
    what: str
    applies: Callable[[Seen], bool]
    error: KafkaError
    text: Callable[[Seen], str | None]
    sentence: Callable[[Seen], str]
    scope: Scope = Scope.ITEM
    authorizer: str = ""
    since: Version = (0, 0)
    before: Version = (99, 0)

    def holds_in(self, settings: AuthorizerSettings) -> bool:
        return self.authorizer in ("", settings.authorizer) and self.since <= settings.version < self.before

    def refusal(self, seen: Seen) -> Refusal:
        return Refusal(self.layer, self.error, self.text(seen), self.scope, self.sentence(seen))


def silent(_: Seen) -> None:
    return None


def always(text: str) -> Callable[[Seen], str]:
    return lambda _: text


ENUMS: tuple[type[enum.Enum], ...] = (ResourceType, PatternType, Operation, PermissionType)
