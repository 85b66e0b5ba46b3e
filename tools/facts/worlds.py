"""Which ACLs, requests and names are the commands and the site asked about?

Everything comes from fixed seeds and needs nothing of aclweb, so that two versions of it get the same input.

    odd(seed)     some 40 ACLs with every type, pattern, host form and quirk, and requests about them
    large()       a company of 20,000 ACLs on 6,000 topics
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any

Acl = dict[str, str]

TYPES = ("TOPIC", "GROUP", "TRANSACTIONAL_ID", "CLUSTER", "DELEGATION_TOKEN", "USER")
OPERATIONS = {
    "TOPIC": ("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "ALL"),
    "GROUP": ("READ", "DESCRIBE", "DELETE", "ALL"),
    "TRANSACTIONAL_ID": ("DESCRIBE", "WRITE", "ALL"),
    "CLUSTER": ("CREATE", "CLUSTER_ACTION", "DESCRIBE", "ALTER", "IDEMPOTENT_WRITE", "ALL"),
    "DELEGATION_TOKEN": ("DESCRIBE", "ALL"),
    "USER": ("CREATE_TOKENS", "DESCRIBE_TOKENS", "ALL"),
}  # fmt: skip
NAMES = ("a", "aa", "ab", "a.b", "orders", "orders.eu", "orders.eu.v1", "*", "stock", "Orders", "ä")
PRINCIPALS = (
    "User:*",
    "User:bob",
    "User:eve",
    "User:CN=fraud,OU=risk",
    "User:a",
    "Group:ops",
    "User:Bob",
    "User:",
)
HOSTS = (
    "*",
    "*",
    "*",
    "10.0.0.7",
    "10.0.0.9",
    "127.0.0.1",
    "::1",
    "0:0:0:0:0:0:0:1",
    "10.0.0.0/8",
    "localhost",
)
ADDRESSES = ("10.0.0.7", "10.0.0.9", "127.0.0.1", "192.0.2.1", "0:0:0:0:0:0:0:1")
KEYS = (
    "resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type",
)  # fmt: skip


@dataclass
class World:
    acls: list[Acl]
    requests: list[dict[str, str]]
    topics: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    edit: list[Acl] = field(default_factory=list)  # lines with "op"


def acl(*values: str) -> Acl:
    """An ACL from its seven values in the order of KEYS."""
    return dict(zip(KEYS, values, strict=True))


def lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@cache
def odd(seed: int, *, globs: bool = False) -> World:
    """Few names and many ACLs, so that they meet in every way."""
    draw = random.Random(seed)
    names = (*NAMES, "or*", "?rders.*", "*.eu*") if globs else NAMES
    patterns = ("LITERAL", "LITERAL", "PREFIXED", *(("GLOB",) if globs else ()))

    def one() -> Acl:
        kind = draw.choices(TYPES, (10, 4, 3, 2, 1, 1))[0]
        name = "kafka-cluster" if kind == "CLUSTER" else draw.choice(names)
        pattern = "LITERAL" if kind == "CLUSTER" else draw.choice(patterns)
        if kind == "USER":
            name, pattern = draw.choice(("User:bob", "User:eve", "*")), "LITERAL"
        permission = draw.choice(("ALLOW", "ALLOW", "DENY"))
        return acl(
            kind,
            name,
            pattern,
            draw.choice(PRINCIPALS),
            draw.choice(HOSTS),
            draw.choice(OPERATIONS[kind]),
            permission,
        )

    acls = list({json.dumps(row): row for row in (one() for _ in range(40))}.values())
    requests = []
    for _ in range(60):
        kind = draw.choices(TYPES, (10, 4, 3, 2, 1, 1))[0]
        asked = {
            "principal": draw.choice(PRINCIPALS[1:]),
            "host": draw.choice(ADDRESSES),
            "operation": draw.choice(OPERATIONS[kind][:-1]),
            "resource_type": kind,
        }
        if kind == "CLUSTER":
            asked["resource_name"] = "kafka-cluster"
        elif kind == "USER":
            asked["resource_name"] = draw.choice(("User:bob", "User:eve"))
        elif draw.random() < 0.9:
            asked["resource_name"] = draw.choice([name for name in NAMES if name not in ("*", "ä")])
        requests.append(asked)
    edit = [{"op": "remove", **row} for row in draw.sample(acls, 4)] + [
        {"op": "add", **one()} for _ in range(4)
    ]
    topics = [name for name in NAMES if name not in ("*", "ä")]
    return World(acls, requests, topics, ["a", "orders", "billing"], edit)


TEAMS = (
    "orders",
    "payments",
    "stock",
    "catalog",
    "search",
    "fraud",
    "ledger",
    "mail",
    "web",
    "data",
    "edge",
    "crm",
)
REGIONS = ("eu", "us", "asia", "latam")
THINGS = ("created", "changed", "deleted", "snapshot", "audit", "retry", "dlq", "enriched", "raw", "state")


LARGE_HOSTS = ("*",) * 12 + ("10.20.0.0/16", "10.20.5.11", "10.20.5.12", "2001:db8:0:0:0:0:0:7")


@cache
def large(acls: int = 20_000, topics: int = 6_000) -> World:
    """A company as they are: teams with prefixes, services with their own topics and groups, and some mess."""
    draw = random.Random(20_000)
    names: dict[str, None] = {}
    while len(names) < topics:
        number = draw.randrange(60)
        names[f"{draw.choice(TEAMS)}.{draw.choice(REGIONS)}.{draw.choice(THINGS)}.v{number}"] = None
    listed = sorted(names)
    services = [
        f"User:{team}-{part}-{n}" for team in TEAMS for part in ("api", "worker", "etl") for n in range(30)
    ]
    groups = [f"{service.removeprefix('User:')}-group" for service in services]
    found: dict[tuple[str, ...], Acl] = {}
    while len(found) < acls:
        row = _any_acl(draw, listed, services, groups)
        found[tuple(row.values())] = row
    rows = list(found.values())
    requests = [_question_near(draw, row) for row in draw.sample(rows, 60)]
    some = draw.sample(rows, 12)
    added = [
        acl("TOPIC", listed[7], "LITERAL", "User:new-service", "*", "READ", "ALLOW"),
        acl("TOPIC", "payments.eu.", "PREFIXED", "User:new-service", "*", "WRITE", "ALLOW"),
        acl("TOPIC", "orders.", "PREFIXED", "User:orders-api-1", "*", "ALL", "DENY"),
        acl("GROUP", "new-service-group", "LITERAL", "User:new-service", "*", "READ", "ALLOW"),
    ]
    edit = [{"op": "remove", **row} for row in some] + [{"op": "add", **row} for row in added]
    return World(rows, requests, listed, sorted(groups), edit)


def _any_acl(draw: random.Random, topics: list[str], services: list[str], groups: list[str]) -> Acl:
    kind = draw.choices(TYPES, (70, 20, 5, 2, 1, 0))[0]
    who = draw.choice(services) if draw.random() < 0.98 else draw.choice(("User:*", "User:ops", "User:admin"))
    host, permission = draw.choice(LARGE_HOSTS), "ALLOW" if draw.random() < 0.96 else "DENY"
    operation = draw.choice(OPERATIONS[kind])
    name, pattern = "kafka-cluster", "LITERAL"
    if kind == "TOPIC":
        name, pattern = _any_topic(draw, topics)
    elif kind == "GROUP":
        name = draw.choice(groups)
        if draw.random() < 0.2:
            name, pattern = name[: name.index("-") + 1], "PREFIXED"
    elif kind == "TRANSACTIONAL_ID":
        name = f"tx-{draw.choice(TEAMS)}-{draw.randrange(200)}"
    elif kind == "DELEGATION_TOKEN":
        name = f"token-{draw.randrange(100)}"
    return acl(kind, name, pattern, who, host, operation, permission)


def _any_topic(draw: random.Random, topics: list[str]) -> tuple[str, str]:
    """Return a name and its pattern type: mostly a topic, else a prefix, a topic that is gone, or all."""
    name = draw.choice(topics)
    if draw.random() < 0.2:
        return name[: name.rindex(".") + 1 if draw.random() < 0.8 else name.index(".") + 1], "PREFIXED"
    if draw.random() < 0.03:
        return f"{name}-gone", "LITERAL"
    if draw.random() < 0.002:
        return "*", "LITERAL"
    return name, "LITERAL"


def _question_near(draw: random.Random, row: Acl) -> Acl:
    """Return a request that this ACL is about."""
    return {
        "principal": row["principal"] if row["principal"] != "User:*" else "User:nobody",
        "host": draw.choice(("10.20.5.11", "192.0.2.1")),
        "operation": row["operation"] if row["operation"] != "ALL" else "DESCRIBE",
        "resource_type": row["resource_type"],
        "resource_name": row["resource_name"] + ("x" if row["pattern_type"] == "PREFIXED" else ""),
    }


def snapshot(
    name: str, world: World, *, super_users: str = "User:admin", authorizer: str = "standard"
) -> str:
    """A snapshot file: a header line with everything beside the ACLs, then one ACL a line."""
    header = {
        "cluster": name,
        "revision": 1,
        "config": {"super.users": super_users, "allow.everyone.if.no.acl.found": False},
        "authorizer": authorizer,
        "topics": [{"name": topic, "partitions": 3, "internal": False} for topic in world.topics],
        "groups": world.groups,
        "topics_known": "all",
        "groups_known": "all",
    }
    return lines([header, *world.acls])
