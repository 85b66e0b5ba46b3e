"""Made-up clusters for measurements: as many ACLs as asked for, in the proportions of a large company.

1,000 principals; topics such as `nl.team17.orders-audit.raw.v12`; 60 % literal and 40 %
prefixed patterns at three depths; 80 % topics, the rest groups; 1 % for any user, 10 % from
one host, 5 % denials; and, as on real clusters, a few hundred for all topics.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType

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


def bindings(count: int, *, seed: int = 1) -> Iterator[AclBinding]:
    """Yield `count` distinct bindings, the same for the same seed."""
    chance = random.Random(seed)
    seen: set[AclBinding] = set()
    while len(seen) < count:
        binding = _for_all(chance) if len(seen) < min(FOR_ALL_TOPICS, count // 10) else _one(chance)
        if binding not in seen:
            seen.add(binding)
            yield binding


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
        name = ".".join(name.split(".")[: chance.choice((1, 2, 3))]) + "."
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
