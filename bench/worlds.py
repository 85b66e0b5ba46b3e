"""Made-up clusters for measurements: as many ACLs as asked for, in the proportions of a large company.

1,000 principals; topics such as `nl.team17.orders-audit.raw.v12`; 60 % literal and 40 %
prefixed patterns at three depths, a team's the shallowest; 80 % topics, the rest groups; 1 % for any user, 10 % from
one host, 5 % denials; and, as on real clusters, a few hundred for all topics.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from aclweb.acl.model import AccessRequest, AclBinding, Operation, PatternType, PermissionType, ResourceType

COUNTRIES = ("nl", "de", "fi", "se", "no", "dk", "fr", "uk")
SUBJECTS = ("orders", "payments", "stock", "clicks", "prices", "audit", "search", "fraud", "mail", "users")
STAGES = ("raw", "clean", "agg", "dlq")
OPERATIONS = (
    Operation.READ,
    Operation.WRITE,
    Operation.DESCRIBE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.ALL,
    Operation.READ,
)
FOR_ALL_TOPICS = 452


def topic_names(count: int, *, seed: int = 1) -> list[str]:
    """Return `count` distinct topic names."""
    chance = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) < count:
        names[_name(chance)] = None
    return list(names)


def bindings(count: int, *, seed: int = 1, for_all: int = FOR_ALL_TOPICS) -> Iterator[AclBinding]:
    """Yield `count` distinct bindings, the same for the same seed; up to `for_all` are for all topics."""
    chance = random.Random(seed)
    seen: set[AclBinding] = set()
    while len(seen) < count:
        binding = _for_all(chance) if len(seen) < min(for_all, count // 10) else _one(chance)
        if binding not in seen:
            seen.add(binding)
            yield binding


def questions(count: int, *, seed: int = 2) -> list[AccessRequest]:
    """Return requests of any principal from any host about any topic: few repeat and most are refused."""
    chance = random.Random(seed)
    return [
        AccessRequest(
            f"User:svc-{chance.randrange(1_000):04d}",
            f"10.{chance.randrange(8)}.{chance.randrange(8)}.{chance.randrange(250)}",
            chance.choice(OPERATIONS[:-2]),
            ResourceType.TOPIC,
            _name(chance),
        )
        for _ in range(count)
    ]


def near_questions(given: Sequence[AclBinding], count: int, *, seed: int = 2) -> list[AccessRequest]:
    """Return requests that one binding is about, half of them by another binding's principal."""
    chance = random.Random(seed)
    found: list[AccessRequest] = []
    while len(found) < count:
        near, other = chance.choice(given), chance.choice(given)
        session = near if chance.random() < 0.5 else other
        found.append(
            AccessRequest(
                session.principal if session.principal != "User:*" else "User:svc-0001",
                session.host if session.host != "*" else "10.9.9.9",
                near.operation if near.operation is not Operation.ALL else Operation.READ,
                near.resource_type,
                near.resource_name + ("new" if near.pattern_type is PatternType.PREFIXED else ""),
            )
        )
    return found


def traffic(given: Sequence[AclBinding], count: int, *, topics: int, seed: int = 5) -> list[AccessRequest]:
    """Return requests about at most so many names; half of them by a session that an ACL names for it."""
    chance = random.Random(seed)
    near = near_questions(given, topics // 2)
    strangers = questions(count // 2)
    others = topic_names(topics - len(near))
    found = [
        replace(request, operation=chance.choice(OPERATIONS[:-2]))
        for request in chance.choices(near, k=count - len(strangers))
    ]
    found += [
        replace(request, resource_name=name)
        for request, name in zip(strangers, chance.choices(others, k=len(strangers)), strict=True)
    ]
    chance.shuffle(found)
    return found


def authorizer_benchmark(resources: int, acls: int, *, denied: float = 0.2) -> Iterator[AclBinding]:
    """Yield the data of Kafka's own AuthorizerBenchmark.

    Principals on each of many resources, ten hosts on a prefix that covers them all, and a tenth
    as many ACLs as resources on the wildcard, each for another host.
    """
    chance = random.Random(resources * acls)
    prefix = "foo-bar35_resource-"

    def binding(
        kind: ResourceType, name: str, pattern: PatternType, user: str, host: str, deny: bool
    ) -> AclBinding:
        permission = PermissionType.DENY if deny else PermissionType.ALLOW
        return AclBinding(kind, name, pattern, user, host, Operation.READ, permission)

    for place in range(resources):
        kind = ResourceType.GROUP if place % 10 == 0 else ResourceType.TOPIC
        pattern = PatternType.PREFIXED if place % 5 == 0 else PatternType.LITERAL
        for number in range(acls):
            user = f"User:test-user{number or ''}"
            yield binding(kind, f"{prefix}{place}", pattern, user, "*", False)
            if chance.random() < denied:
                yield binding(kind, f"{prefix}{place}", pattern, user, "*", True)
    for number in range(10):
        yield binding(
            ResourceType.TOPIC, prefix, PatternType.PREFIXED, "User:test-user", f"127.0.0{number}", False
        )
    for number in range(resources // 10):
        yield binding(
            ResourceType.TOPIC, "*", PatternType.LITERAL, "User:test-user", f"127.0.0{number}", False
        )


def authorizer_benchmark_questions(resources: int, acls: int, count: int) -> list[AccessRequest]:
    """Return what Kafka's benchmark measures again and again, and behind it a mix over all of its data."""
    chance = random.Random(resources + acls)
    kafkas = AccessRequest(
        "User:test-user", "127.0.0.1", Operation.WRITE, ResourceType.TOPIC, "foo-bar35_resource-95"
    )
    mix: list[AccessRequest] = []
    for place in (chance.randrange(resources) for _ in range(count - 1)):
        user = f"User:test-user{chance.randrange(acls) or ''}"
        operation = chance.choice((Operation.READ, Operation.WRITE, Operation.DESCRIBE))
        kind = ResourceType.GROUP if place % 10 == 0 else ResourceType.TOPIC
        mix.append(AccessRequest(user, "127.0.0.1", operation, kind, f"foo-bar35_resource-{place}"))
    return [kafkas, *mix]


def globs(count: int, *, seed: int = 3) -> list[str]:
    """Return `count` distinct glob patterns, each made from a topic name and matching it."""
    chance = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        pieces = _name(chance).split(".")
        for _ in range(chance.choice((1, 1, 2))):
            pieces[chance.randrange(len(pieces))] = chance.choice(("*", "*", "*", "v?", "v1?"))
        text = ".".join(pieces)
        if chance.random() < 0.3:
            text = text.replace("-", "*", 1)
        if chance.random() < 0.2:
            text = "??" + text[2:]
        found[text] = None
    return list(found)


def _name(chance: random.Random) -> str:
    subject = f"{chance.choice(SUBJECTS)}-{chance.choice(SUBJECTS)}"
    return (
        f"{chance.choice(COUNTRIES)}.team{chance.randrange(200)}.{subject}"
        f".{chance.choice(STAGES)}.v{chance.randrange(1, 20)}"
    )


def _principal(chance: random.Random) -> str:
    return "User:*" if chance.random() < 0.01 else f"User:svc-{chance.randrange(1_000):04d}"


def _host(chance: random.Random) -> str:
    return (
        f"10.{chance.randrange(8)}.{chance.randrange(8)}.{chance.randrange(250)}"
        if chance.random() < 0.1
        else "*"
    )


def _one(chance: random.Random) -> AclBinding:
    name = _name(chance)
    literal = chance.random() < 0.6
    if not literal:
        name = ".".join(name.split(".")[: chance.choice((2, 3, 4))]) + "."
    return AclBinding(
        resource_type=ResourceType.TOPIC if chance.random() < 0.8 else ResourceType.GROUP,
        resource_name=name,
        pattern_type=PatternType.LITERAL if literal else PatternType.PREFIXED,
        principal=_principal(chance),
        host=_host(chance),
        operation=chance.choice(OPERATIONS),
        permission_type=PermissionType.DENY if chance.random() < 0.05 else PermissionType.ALLOW,
    )


def _for_all(chance: random.Random) -> AclBinding:
    return AclBinding(
        resource_type=ResourceType.TOPIC,
        resource_name="*",
        pattern_type=PatternType.LITERAL,
        principal=f"User:svc-{chance.randrange(1_000):04d}",
        host="*",
        operation=chance.choice((Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS, Operation.READ)),
        permission_type=PermissionType.ALLOW,
    )
