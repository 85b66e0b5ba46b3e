"""What is asked of Kafka's classes: seeded worlds of ACLs, each with all its questions.

The same seed gives the same world on every Python, because the dice here are our own. Names
are made from each other (longer, shorter, other case, other normal form), so that patterns
collide, nest and meet the wildcard; all resource types, operations, kinds of principals and
spellings of hosts occur. `is_hazardous` names what a broker of KRaft must never be asked; no
world for the standard authorizer holds any of it.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from aclweb.acl.model.vocabulary import (
    ANY_USER,
    WILDCARD,
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)

T = TypeVar("T")

MOST_ACLS = 60

AGES = ("2.4", "2.8", "3.3", "4.1")
"""The versions from which on brokers know more words, or may be asked about a whole type."""

FIRST_ACL = "0"
"""The letter for a world's first ACL in an answer; those of the others follow it in ASCII."""

_MASK = (1 << 64) - 1


class Dice:
    """Throws that depend on the seed and on nothing else (the splitmix64 generator)."""

    def __init__(self, seed: str) -> None:
        self._state = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8])

    def below(self, count: int) -> int:
        """Return a number from 0 to count - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK
        return ((mixed ^ mixed >> 31) >> 16) % count

    def one_of(self, values: Sequence[T]) -> T:
        return values[self.below(len(values))]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def some(self, values: Sequence[T], most: int) -> tuple[T, ...]:
        """Return up to `most` different ones, in the order of the throws."""
        left = list(dict.fromkeys(values))
        return tuple(left.pop(self.below(len(left))) for _ in range(min(most, len(left))))


@dataclass(frozen=True)
class World:
    """ACLs under one broker's settings, and the questions: every action by every principal from every host.

    actions: (type, name, operations). type_questions: (type, operation), which ask
    authorizeByResourceType.
    """

    seed: str
    engine: str
    allow_everyone: bool
    super_users: tuple[str, ...]
    bindings: tuple[AclBinding, ...]
    principals: tuple[str, ...]
    hosts: tuple[str, ...]
    actions: tuple[tuple[ResourceType, str, tuple[Operation, ...]], ...]
    type_questions: tuple[tuple[ResourceType, Operation], ...]

    @property
    def decisions(self) -> int:
        """How many questions about named resources there are."""
        callers = len(self.principals) * len(self.hosts)
        return callers * sum(len(operations) for _, _, operations in self.actions)

    @property
    def type_decisions(self) -> int:
        """How many questions about whole types there are."""
        return len(self.principals) * len(self.hosts) * len(self.type_questions)

    def requests(self) -> Iterator[AccessRequest]:
        """Yield the questions about named resources in the order of the answers."""
        for resource_type, name, operations in self.actions:
            for operation in operations:
                for principal in self.principals:
                    for host in self.hosts:
                        yield AccessRequest(principal, host, operation, resource_type, name)

    def type_requests(self) -> Iterator[AccessRequest]:
        """Yield the questions about whole types in the order of the answers."""
        for resource_type, operation in self.type_questions:
            for principal in self.principals:
                for host in self.hosts:
                    yield AccessRequest(principal, host, operation, resource_type, None)

    @cached_property
    def line(self) -> str:
        """The world as tests/oracle/java/Decisions.java reads it."""
        fields: list[str] = [self.engine, str(int(self.allow_everyone))]
        fields += [str(len(self.super_users)), *self.super_users]
        fields.append(str(len(self.bindings)))
        for binding in self.bindings:
            fields += [
                str(binding.resource_type.code),
                binding.resource_name,
                str(binding.pattern_type.code),
                binding.principal,
                binding.host,
                str(binding.operation.code),
                str(binding.permission_type.code),
            ]
        for texts in (self.principals, self.hosts):
            fields += [str(len(texts)), *texts]
        fields.append(str(len(self.actions)))
        for resource_type, name, operations in self.actions:
            fields += [str(resource_type.code), name, str(len(operations))]
            fields += [str(operation.code) for operation in operations]
        fields.append(str(len(self.type_questions)))
        for resource_type, operation in self.type_questions:
            fields += [str(resource_type.code), str(operation.code)]
        return "\t".join(map(_escaped, fields))

    @classmethod
    def from_line(cls, seed: str, line: str) -> World:
        """Return the world that has this line."""
        fields = iter([_plain(field) for field in line.split("\t")])

        def texts() -> tuple[str, ...]:
            return tuple(next(fields) for _ in range(int(next(fields))))

        engine, allow_everyone = next(fields), next(fields) == "1"
        super_users = texts()
        bindings = tuple(
            AclBinding(
                ResourceType(int(next(fields))),
                next(fields),
                PatternType(int(next(fields))),
                next(fields),
                next(fields),
                Operation(int(next(fields))),
                PermissionType(int(next(fields))),
            )
            for _ in range(int(next(fields)))
        )
        principals, hosts = texts(), texts()
        actions = tuple(
            (
                ResourceType(int(next(fields))),
                next(fields),
                tuple(Operation(int(next(fields))) for _ in range(int(next(fields)))),
            )
            for _ in range(int(next(fields)))
        )
        type_questions = tuple(
            (ResourceType(int(next(fields))), Operation(int(next(fields)))) for _ in range(int(next(fields)))
        )
        return cls(
            seed,
            engine,
            allow_everyone,
            super_users,
            bindings,
            principals,
            hosts,
            actions,
            type_questions,
        )


def _escaped(field: str) -> str:
    return field.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _plain(field: str) -> str:
    if "\\" not in field:
        return field
    pieces = field.split("\\\\")
    return "\\".join(piece.replace("\\t", "\t").replace("\\n", "\n").replace("\\r", "\r") for piece in pieces)


# --- what must not be asked ----------------------------------------------------------------


def is_hazardous(world: World) -> bool:
    """Whether a broker of KRaft may fail on something in this world, so that no such broker is asked."""
    if world.engine != "standard":
        return False
    names = [binding.resource_name for binding in world.bindings] + [name for _, name, _ in world.actions]
    return (
        any(is_hazardous_name(name) for name in names)
        or any(is_hazardous_session(principal) for principal in world.principals)
        or any(is_hazardous_acl_principal(binding.principal) for binding in world.bindings)
    )


def is_hazardous_name(name: str) -> bool:
    """Whether the first letter sorts before the asterisk; the empty name has none."""
    return name[:1] < WILDCARD and name != ""


def is_hazardous_session(principal: str) -> bool:
    return principal == ANY_USER or ":" not in principal


def is_hazardous_acl_principal(principal: str) -> bool:
    return ":" not in principal


# --- the pools ------------------------------------------------------------------------------

_ALPHABETS = (
    # Few letters, so that prefixes collide.
    ("ab*", "ab"),
    ("a*+", "a*b"),
    ("abα*+,-./", "ab.*- :,=/"),
    # Letters that look alike, compose, or sort otherwise in Java (by UTF-16) than in Python.
    ("aé\U0001f600\uffffe", "ae\u0301é\U0001f600\U00010000\uffff\ue000\ufffd"),
    # Whatever a group may be called.
    ("a;<>?@[{~\x7f", "a \t\n\r\0\"'\\%$#!()&`|"),
)
_BELOW_ASTERISK = " !#%&'()\0"
_REAL_NAMES = (
    "payments.eu.orders",
    "payments.us.orders",
    "payments.eu.orders.retry",
    "orders",
    "orders-eu",
    "Orders",
    "__consumer_offsets",
    "hardcode",
    "connect-jdbc/source:1",
    "_schemas",
)
_PRINCIPALS = (
    "User:alice",
    "User:bob",
    "User:Alice",
    "User:alice ",
    "User:CN=alice,OU=eu, O=Ex\\, ample;C=DE",
    "User:a:b:c",
    "Group:alice",
    "Group:*",
    "ServiceAccount:sa-1",
    "User:",
    ":alice",
    "User:*a",
    "User:alic",
    "User:alicé",
    "User:\U0001f600",
    "User:ANONYMOUS",
)
_ONLY_IN_ACLS = (ANY_USER, "user:*", "User:a*", "*:*", "Role:ops")
_SESSION_HOSTS = (
    "10.0.0.7",
    "10.0.0.8",
    "10.0.1.7",
    "10.255.255.255",
    "192.168.1.20",
    "127.0.0.1",
    "0.0.0.0",
    "255.255.255.255",
    "0:0:0:0:0:0:0:1",
    "2001:db8:0:0:0:0:0:1",
    "2001:db8:0:0:ffff:0:0:1",
    "fe80:0:0:0:0:0:0:1",
    "fe80:0:0:0:0:0:0:1%3",
    "0:0:0:0:0:0:a00:7",
)
_TEXT_HOSTS = (
    "::1",
    "2001:db8::1",
    "2001:DB8:0:0:0:0:0:1",
    "010.0.0.7",
    "10.0.0.7 ",
    "example.com",
    "localhost",
    "10.0.0.*",
    "10.0.0.0-10.0.0.9",
    "::ffff:10.0.0.7",
    "fe80::1%3",
    "",
)
_IPV4_RANGES = (
    "10.0.0.0/8",
    "10.0.0.0/24",
    "10.0.0.7/24",
    "10.0.0.7/32",
    "10.0.0.6/31",
    "10.0.0.0/29",
    "10.0.0.8/29",
    "0.0.0.0/0",
    "0.0.0.0/32",
    "128.0.0.0/1",
    "192.168.0.0/16",
    "255.255.255.255/32",
    "010.0.0.0/08",
    "010.000.000.007/32",
    "10.0.0.0/9",
    "10.128.0.0/9",
)
_IPV6_RANGES = (
    "2001:db8::/32",
    "2001:DB8::/32",
    "2001:db8:0:0:0:0:0:0/64",
    "2001:db8::1/128",
    "2001:db8:0:0:8000::/65",
    "[2001:db8::]/32",
    "::/0",
    "::1/128",
    "::/96",
    "::10.0.0.7/128",
    "::10.0.0.0/120",
    "64:ff9b::10.0.0.0/120",
    "fe80::/10",
    "fe80::1%3/64",
    "2001:db8::/032",
    "2001:db8::/+32",
    "::/-0",
    "2001:db8::/\uff13\uff12",
)
_MALFORMED_RANGES = (
    "10.0.0.0/33",
    "10.0.0.0/",
    "/8",
    "/",
    "10.0.0/8",
    "10.0.0.256/8",
    "10.0.0.0/024",
    "10.0.0.0/+8",
    "10.0.0.0/255.0.0.0",
    " 10.0.0.0/8",
    "10.0.0.0 /8",
    "10.0.0.0/8/8",
    "*/8",
    "10.0.0.0.0/8",
    "0x0a.0.0.0/8",
    "::/129",
    "::/",
    "::/-1",
    "fe80::1%/64",
    "1::2::3/16",
    "::ffff:10.0.0.0/120",
    "::ffff:a00:0/120",
    "2001:db8::/32/8",
    "2001:db8::g/32",
    "example.com/8",
    "[::1/128",
    "2001:db8::/\U0001d7d1\U0001d7d0",
)

_USUAL = {
    ResourceType.TOPIC: "READ WRITE CREATE DESCRIBE DELETE ALTER DESCRIBE_CONFIGS ALTER_CONFIGS",
    ResourceType.GROUP: "READ DESCRIBE DELETE DESCRIBE_CONFIGS ALTER_CONFIGS",
    ResourceType.CLUSTER: (
        "CREATE CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE ALTER DESCRIBE"
    ),
    ResourceType.TRANSACTIONAL_ID: "DESCRIBE WRITE",
    ResourceType.DELEGATION_TOKEN: "DESCRIBE",
    ResourceType.USER: "CREATE_TOKENS DESCRIBE_TOKENS",
}
_USUAL_OPERATIONS = {kind: tuple(Operation[word] for word in words.split()) for kind, words in _USUAL.items()}
_TYPES = tuple(_USUAL_OPERATIONS)


@dataclass(frozen=True)
class Words:
    """What brokers of one age know."""

    types: tuple[ResourceType, ...]
    operations: tuple[Operation, ...]
    by_type: bool


_TOKENS = (Operation.CREATE_TOKENS, Operation.DESCRIBE_TOKENS)
_OLD_OPERATIONS = tuple(
    operation for operation in Operation if Operation.ANY.code < operation.code < _TOKENS[0].code
)
_OLD_TYPES = tuple(kind for kind in _TYPES if kind is not ResourceType.USER)
WORDS = {
    "2.4": Words(_OLD_TYPES, _OLD_OPERATIONS, by_type=False),
    "2.8": Words(_OLD_TYPES, _OLD_OPERATIONS, by_type=True),
    "3.3": Words(_TYPES, (*_OLD_OPERATIONS, *_TOKENS), by_type=True),
    "4.1": Words(_TYPES, (*_OLD_OPERATIONS, *_TOKENS, Operation.TWO_PHASE_COMMIT), by_type=True),
}
_MANY_TIMES_TOPICS = (ResourceType.TOPIC,) * 5 + (ResourceType.GROUP,) * 3 + _TYPES


# --- making worlds ---------------------------------------------------------------------------


def make_world(seed: str, engine: str, age: str) -> World:
    """Return the world of this seed, for brokers of the version `age` (one of AGES) or newer."""
    dice = Dice(f"{engine} {age} {seed}")
    words = WORDS[age]
    types = dice.some([kind for kind in _MANY_TIMES_TOPICS if kind in words.types], 1 + dice.below(3))
    names = _names(dice, engine)
    sessions = dice.some(_PRINCIPALS, 2 + dice.below(3))
    hosts = dice.some(_SESSION_HOSTS, 2 + dice.below(2))
    bindings = _bindings(dice, types, names, sessions, hosts, words)
    return World(
        seed=seed,
        engine=engine,
        allow_everyone=dice.chance(30),
        super_users=tuple(
            principal
            for principal in dict.fromkeys((*sessions[:1], *dice.some(_PRINCIPALS, 2)))
            if dice.chance(12) and ";" not in principal and principal == principal.strip()
        ),
        bindings=bindings,
        principals=sessions,
        hosts=hosts,
        actions=_actions(dice, types, names, bindings, words),
        type_questions=_type_questions(dice, types, bindings, words),
    )


def worlds(seed: str, engine: str, age: str) -> Iterator[World]:
    """Yield worlds without end: the same ones for the same seed."""
    number = 0
    while True:
        yield make_world(f"{seed}/{number}", engine, age)
        number += 1


def _names(dice: Dice, engine: str) -> tuple[str, ...]:
    """Names near to each other, none of which the engine must not be asked about."""
    first, later = dice.one_of(_ALPHABETS)
    if engine == "acl" and dice.chance(30):
        first += _BELOW_ASTERISK
    stems = [
        dice.one_of(first) + "".join(dice.one_of(later) for _ in range(dice.one_of((0, 1, 1, 2, 3))))
        for _ in range(2 + dice.below(2))
    ]
    if dice.chance(25):
        stems += dice.some(_REAL_NAMES, 3)
    if dice.chance(12):
        stems += ["hardcode", "hardcode" + dice.one_of(later), "hardcod"]
    if dice.chance(4):
        stems.append(stems[0] + dice.one_of(later) * (249 - len(stems[0])))
    if dice.chance(1) and dice.chance(50):
        stems.append(stems[0] + dice.one_of(later) * (32_767 - len(stems[0])))
    found = list(stems)
    for stem in stems:
        found.append(stem + dice.one_of(later))
        found.append(_altered(dice, stem, first))
    found += ["", "*", "**", f"*{stems[0]}"][: dice.below(5)]
    return tuple(name for name in dict.fromkeys(found) if engine == "acl" or not is_hazardous_name(name))


def _altered(dice: Dice, name: str, letters: str) -> str:
    turn = dice.below(7)
    if turn == 0:
        return name.swapcase()
    if turn == 1:
        return unicodedata.normalize("NFD", unicodedata.normalize("NFC", name))
    if turn == 2:
        return f"{name} "
    if turn == 3:
        return f"{name[:-1]}{dice.one_of(letters)}"
    return name[: dice.below(len(name) + 1)] if turn == 4 else name[:-1]


def _bindings(
    dice: Dice,
    types: Sequence[ResourceType],
    names: Sequence[str],
    sessions: Sequence[str],
    hosts: Sequence[str],
    words: Words,
) -> tuple[AclBinding, ...]:
    size = dice.below(10)
    if size == 0:
        return ()
    count = 1 + dice.below(3 if size < 3 else 20 if size < 8 else MOST_ACLS)
    denies = dice.one_of((0, 10, 20, 40))
    everybody = dice.one_of((20, 40, 60))
    made: list[AclBinding] = []
    for _ in range(count):
        kind = dice.one_of(types)
        name, pattern_type = _pattern(dice, _names_of(dice, kind, names))
        made.append(
            AclBinding(
                kind,
                name,
                pattern_type,
                ANY_USER if dice.chance(everybody) else dice.one_of(_acl_principals(dice, sessions)),
                WILDCARD if dice.chance(50) else _acl_host(dice, hosts),
                _acl_operation(dice, kind, words),
                PermissionType.DENY if dice.chance(denies) else PermissionType.ALLOW,
            )
        )
    return tuple(dict.fromkeys(made))


def _pattern(dice: Dice, names: Sequence[str]) -> tuple[str, PatternType]:
    turn = dice.below(100)
    if turn < 14:
        return WILDCARD, PatternType.LITERAL
    if turn < 17:
        return WILDCARD, PatternType.PREFIXED
    if turn < 19:
        return "", PatternType.PREFIXED
    name = dice.one_of(names)
    if turn < 55:
        return name, PatternType.LITERAL
    if turn < 75 and name:
        return name[: 1 + dice.below(min(len(name), 12))], PatternType.PREFIXED
    return name or "a", PatternType.PREFIXED


def _acl_principals(dice: Dice, sessions: Sequence[str]) -> Sequence[str]:
    turn = dice.below(10)
    if turn < 8:
        return sessions
    return _PRINCIPALS if turn < 9 else _ONLY_IN_ACLS


def _acl_host(dice: Dice, hosts: Sequence[str]) -> str:
    turn = dice.below(100)
    if turn < 35:
        return dice.one_of(hosts)
    if turn < 75:
        return dice.one_of(_IPV6_RANGES if ":" in dice.one_of(hosts) else _IPV4_RANGES)
    return dice.one_of(_MALFORMED_RANGES if turn < 88 else _TEXT_HOSTS)


def _acl_operation(dice: Dice, kind: ResourceType, words: Words) -> Operation:
    turn = dice.below(100)
    if turn < 25:
        return Operation.ALL
    if turn < 35 and Operation.TWO_PHASE_COMMIT in words.operations:
        return Operation.TWO_PHASE_COMMIT
    return dice.one_of(_USUAL_OPERATIONS[kind] if turn < 80 else words.operations)


def _names_of(dice: Dice, kind: ResourceType, names: Sequence[str]) -> Sequence[str]:
    if kind is ResourceType.CLUSTER and not dice.chance(15):
        return ("kafka-cluster", "kafka-cluster", "kafka")
    if kind is ResourceType.USER and not dice.chance(25):
        return ("User:alice", "User:bob", "User:al", "Group:alice")
    return names


def _actions(
    dice: Dice,
    types: Sequence[ResourceType],
    names: Sequence[str],
    bindings: Sequence[AclBinding],
    words: Words,
) -> tuple[tuple[ResourceType, str, tuple[Operation, ...]], ...]:
    """Up to eight resources, most of them near to what the ACLs name, with up to four operations each."""
    asked: dict[tuple[ResourceType, str], tuple[Operation, ...]] = {}
    for _ in range(8):
        if bindings and dice.chance(60):
            near = dice.one_of(bindings)
            kind, name = near.resource_type, near.resource_name
            if near.pattern_type is PatternType.PREFIXED and dice.chance(60):
                name += dice.one_of(names)[:3]
        else:
            kind = dice.one_of(types)
            name = dice.one_of(_names_of(dice, kind, names))
        operations = dice.some(_asked_operations(dice, kind, bindings, words), 4)
        asked[kind, name] = operations
    return tuple((kind, name, operations) for (kind, name), operations in asked.items())


def _type_questions(
    dice: Dice, types: Sequence[ResourceType], bindings: Sequence[AclBinding], words: Words
) -> tuple[tuple[ResourceType, Operation], ...]:
    # Kafka compares a name with prefixes letter by letter, in time that grows with the square of its length.
    if not words.by_type or any(len(binding.resource_name) > 1000 for binding in bindings):
        return ()
    return tuple(
        (kind, operation)
        for kind in types
        for operation in dice.some(_asked_operations(dice, kind, bindings, words), 2)
    )


def _asked_operations(
    dice: Dice, kind: ResourceType, bindings: Sequence[AclBinding], words: Words
) -> Sequence[Operation]:
    turn = dice.below(10)
    if turn == 0:
        return words.operations
    if turn < 4 and bindings:
        near = dice.one_of(bindings).operation
        return tuple(dict.fromkeys((near, Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS, Operation.READ)))
    if turn < 6 and Operation.TWO_PHASE_COMMIT in words.operations:
        return (*_USUAL_OPERATIONS[kind], Operation.TWO_PHASE_COMMIT)
    return _USUAL_OPERATIONS[kind]


def generator_digest() -> str:
    """Return the digest of what the generator makes of some seeds; it changes with the generator."""
    found = hashlib.sha256()
    for engine in ("standard", "acl"):
        for age in AGES:
            for number in range(50):
                found.update(make_world(f"digest/{number}", engine, age).line.encode())
    return found.hexdigest()
