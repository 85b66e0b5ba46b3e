"""What does a busy cluster look like, and what is logged on it? Made up, the same for the same numbers.

Most requests are made by few principals on few topics, each on some days of the last 90 and from one of a few hundred
hosts; a tenth is denied. 800 principals, twelve brokers, 2,000 rows of owners.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from aclweb.acl.model import AclBinding, PatternType, ResourceType
from aclweb.acl.notation import binding_key
from bench import worlds

DAYS_LOGGED = 400
PRINCIPALS, BROKERS = 800, 12

_OWNED, _OWNERS = 2_000, 120
_OPERATIONS = ("READ", "WRITE", "DESCRIBE")


@dataclass(frozen=True)
class World:
    """A cluster and what is logged on it. requests: rows of a result, without their days; days: of each, as shares."""

    bindings: Sequence[AclBinding]
    topics: Sequence[str]
    groups: Sequence[str]
    requests: Sequence[dict[str, Any]]


def world_of(requests: int, acls: int, topics: int, groups: int = 0) -> World:
    """Return a cluster and its requests; most of them by few principals and on few topics, as on a real one."""
    chance = random.Random(11)
    bindings = tuple(worlds.bindings(acls))
    names = worlds.topic_names(topics)
    literal = [
        binding
        for binding in bindings
        if binding.pattern_type is PatternType.LITERAL
        and binding.resource_type is ResourceType.TOPIC
        and binding.resource_name != "*"
    ]
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    while len(rows) < requests:
        binding = literal[int(len(literal) * chance.random() ** 2)]
        key = (
            f"User:svc-{int(PRINCIPALS * chance.random() ** 2):04d}",
            f"10.{chance.randrange(4)}.{chance.randrange(60)}.7",
            chance.choice(_OPERATIONS),
            names[int(topics * chance.random() ** 2)],
            chance.random() >= 0.1,
        )
        rows[key] = {"binding": binding_key(binding)}
    named = sorted({each.resource_name for each in bindings if each.resource_type is ResourceType.GROUP})
    return World(
        bindings, names, tuple(named[:groups]), [{"key": key, **row} for key, row in sorted(rows.items())]
    )


def result_of(directory: Path, name: str, made: World, last: datetime) -> Path:
    """Write a result of the log up to `last`; return its folder. A request was made on some days of the last 90."""
    from tests.insights.results import log_days, request, use, write_result

    chance = random.Random(int(f"{last:%Y%m%d}"))
    first = last - timedelta(days=DAYS_LOGGED)
    pool = [_some_days(chance, last.date()) for _ in range(400)]
    requests, used = [], dict.fromkeys(map(binding_key, made.bindings), 0)
    for row in made.requests:
        principal, host, operation, topic, allowed = row["key"]
        days = chance.choice(pool)
        lines = sum(day["lines"] for day in days)
        used[row["binding"]] += lines if allowed else 0
        requests.append(
            request(
                principal,
                operation,
                topic,
                host=host,
                allowed=allowed,
                decided_now="ALLOWED" if allowed else "DENIED",
                determining=[row["binding"]] if allowed else [],
                lines=lines * 4,
                first_at=first + timedelta(hours=chance.randrange(8_000)),
                last_at=datetime.fromisoformat(f"{days[-1]['day']} 12:00"),
                days=days,
                sample="[2026-11-20 12:00:00,000] INFO Principal = " + "x" * 200,
            )
        )
    folder = write_result(
        directory / name,
        made.bindings,
        requests=requests,
        usage=[
            use(binding, requests=used[key], alone=0, needed=used[key], first_at=first, last_at=last)
            for binding in made.bindings
            if used[key := binding_key(binding)]
        ],
        coverage=[day for broker in range(BROKERS) for day in log_days(f"b{broker}", first=first, last=last)],
    )
    manifest = folder / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    told["coverage"] |= {"first_at": str(first), "last_at": str(last)}
    manifest.write_text(json.dumps(told), encoding="utf-8")
    return folder


def _some_days(chance: random.Random, last: date) -> list[dict[str, Any]]:
    share = chance.choice((0.05, 0.3, 1.0))
    days = [(last - timedelta(days=back)).isoformat() for back in reversed(range(90))]
    found = [day for day in days if chance.random() < share] or days[-1:]
    return [{"day": day, "lines": chance.randint(1, 400)} for day in found]


def cluster_of(slug: str, made: World) -> Any:
    """Return a cluster that was read, with owners of prefixes, topics and principals."""
    from aclweb.inventory.models import Cluster, OwnedNames
    from aclweb.inventory.sync import sync
    from tests.fake_cluster import FakeCluster

    cluster = Cluster.objects.create(
        slug=slug,
        name=slug,
        kind="admin",
        address="127.0.0.1:1",
        super_users="User:admin",
        allow_everyone=False,
    )
    with FakeCluster(bindings=made.bindings, topics=list(made.topics), groups=made.groups) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    chance = random.Random(3)
    rows = {("TOPIC", "PREFIXED", ".".join(name.split(".")[:2]) + ".") for name in made.topics[:1_600]}
    rows |= {("TOPIC", "LITERAL", name) for name in made.topics[:_OWNED]}
    rows |= {("PRINCIPAL", "LITERAL", f"User:svc-{number:04d}") for number in range(PRINCIPALS)}
    OwnedNames.objects.bulk_create(
        OwnedNames(
            cluster=cluster,
            kind=kind,
            pattern_type=pattern,
            name=name,
            owner=f"team-{chance.randrange(_OWNERS)}",
        )
        for kind, pattern, name in sorted(rows)
    )
    return cluster
