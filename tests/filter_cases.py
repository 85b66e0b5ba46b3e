"""Random ACLs, and random filters that are near to them: equal, one letter off, wider, or about something else.

No resource name starts with a character that sorts before the asterisk, no principal lacks
a colon and no host a broker would refuse, so that the ACLs may go to real brokers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aclweb.acl.kafka.refusals import Target
from aclweb.acl.kafka.validation import refusal
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.model.authorizers import OPERATIONS, AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType

NAMES = (
    "*",
    "a",
    "ab",
    "aB",
    "abc",
    "ab.",
    "b",
    "*a",
    "**",
    "a*",
    "a ",
    "é",
    "e\u0301",
    "ab.c.d",
    "+",
    "?",
    "User:a",
)
PRINCIPALS = ("User:a", "User:*", "User:A", "User:a ", "Group:a", ":", "User:", "User:CN=a,O=é", "User:a:b")
HOSTS = ("*", "10.0.0.1", "10.0.0.1 ", "10.0.0.0/8", "0:0:0:0:0:0:0:1", "::1", "host")
HOSTILE = (
    "", " ", "null", "*", "**", "%", "'", '"', "\\", "`", "$a", "a,b", "a;b", "a|b", "a=b", "a\tb",
    "a\nb", "a\r", "a\0b",
    "\ufeffa", "a\u2028b", "ß", "SS", "İ", "i̇",
    "ı", "K", "\u212a", "Å", "A\u030a", "😀", "a😀b", "\uffff", "あ", "a" * 300,
)  # fmt: skip

_STORED_TYPES = tuple(kind for kind in ResourceType if kind.code >= ResourceType.TOPIC.code)
_STORED_PATTERNS = (PatternType.LITERAL, PatternType.PREFIXED)
_STORED_PERMISSIONS = (PermissionType.ALLOW, PermissionType.DENY)
_ASKED_PATTERNS = (*_STORED_PATTERNS, PatternType.ANY, PatternType.MATCH)


def random_acl(rng: random.Random) -> AclBinding:
    """An ACL that Kafka's classes take, also such as no broker would store."""
    kind = rng.choice(_STORED_TYPES)
    name = rng.choice(NAMES) if rng.random() < 0.8 else rng.choice(HOSTILE)
    return AclBinding(
        kind,
        name if not name or name[0] >= "*" else f"x{name}",
        rng.choice(_STORED_PATTERNS),
        rng.choice(PRINCIPALS) if rng.random() < 0.9 else f"User:{rng.choice(HOSTILE)}",
        rng.choice(HOSTS) if rng.random() < 0.9 else rng.choice(HOSTILE),
        rng.choice((Operation.ALL, *OPERATIONS[kind])),
        rng.choice(_STORED_PERMISSIONS),
    )


def storable_acls(rng: random.Random, count: int, settings: AuthorizerSettings) -> list[AclBinding]:
    """Different ACLs that a cluster under these rules takes."""
    found: dict[AclBinding, None] = {}
    while len(found) < count:
        binding = random_acl(rng)
        if binding.resource_type is ResourceType.CLUSTER:
            binding = replace(binding, resource_name="kafka-cluster")
        if refusal("add", binding, Target(settings)) is None:
            found[binding] = None
    return list(found)


def with_unknown_word(rng: random.Random, binding: AclBinding) -> AclBinding:
    """The same ACL with a word that a newer Kafka may have written."""
    field, word = rng.choice(
        (
            ("resource_type", ResourceType.UNKNOWN),
            ("pattern_type", PatternType.UNKNOWN),
            ("operation", Operation.UNKNOWN),
            ("permission_type", PermissionType.UNKNOWN),
        )
    )
    unknown: dict[str, Any] = {field: word}
    return replace(binding, **unknown)


def random_filter(rng: random.Random, bindings: Sequence[AclBinding]) -> AclFilter:
    """A filter that mostly finds something: an ACL's own one with fields opened and bent."""
    near = rng.choice(bindings) if bindings else random_acl(rng)
    other = random_acl(rng)
    openness = rng.choice((0.0, 0.3, 0.6, 0.9))

    def pick(own, wide, far):
        turn = rng.random()
        return wide if turn < openness else far if turn > 0.95 else own

    name = pick(near.resource_name, None, other.resource_name)
    if name is not None and rng.random() < 0.3:
        name = name[: rng.randint(0, len(name))] if rng.random() < 0.3 else name + rng.choice("abc.*é")
    if name and name[0] < "*":
        name = f"a{name}"
    pattern = near.pattern_type if rng.random() < 0.3 else rng.choice(_ASKED_PATTERNS)
    return AclFilter(
        pick(near.resource_type, ResourceType.ANY, other.resource_type),
        name,
        pattern,
        pick(near.principal, None, other.principal),
        pick(near.host, None, other.host),
        pick(near.operation, Operation.ANY, other.operation),
        pick(near.permission_type, PermissionType.ANY, other.permission_type),
    )
