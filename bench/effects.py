"""Is every what-if within its budget, or refused by naming the ACL that costs most?

Sixty edits that would cost most, and some of ordinary use, on a small and on a large cluster.
Each is worked out as pages and the API do it, in a process of its own: the effect, its hash, the
packed form that a change stores, the first page of rows. Prints the CPU seconds, the memory it
took on top, the stored size, and what was refused; ends with 1 if one is beyond the limits or
an ordinary edit was refused.

    python -m bench.effects [--acls 100000] [--topics 50000] [--only TEXT]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    Delta,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.acl.simulate import LISTS, ON_A_SITE, Budget, Differences, Names, TooCostly, simulate
from bench import worlds

CPU_SECONDS, MEGABYTES, STORED = 4.0, 150, 5 * 2**20


@dataclass(frozen=True)
class World:
    """A cluster: what its ACLs are, and which topics exist."""

    acls: tuple[AclBinding, ...]
    topics: tuple[str, ...]
    index: AclIndex
    principals: tuple[str, ...]
    settings: AuthorizerSettings

    @classmethod
    def of(
        cls, acls: Iterable[AclBinding], topics: Sequence[str], settings: AuthorizerSettings | None = None
    ) -> World:
        acls = tuple(acls)
        index = AclIndex(acls)
        for kind in ResourceType:
            index.shelf(kind)
        _ = index.hosts
        return cls(
            acls, tuple(topics), index, tuple(sorted(index.principals)), settings or AuthorizerSettings()
        )

    def topic(self, place: int) -> str:
        return self.topics[place * 7919 % len(self.topics)]

    def principal(self, place: int) -> str:
        return self.principals[place * 31 % len(self.principals)]


@dataclass(frozen=True)
class Shape:
    """One edit. ordinary: people ask for such, so it is never refused."""

    title: str
    edit: Callable[[World], tuple[Delta, tuple[str, ...]]]
    ordinary: bool = False


def acl(
    name: str,
    principal: str = "User:new",
    operation: str = "READ",
    *,
    pattern: str = "LITERAL",
    host: str = "*",
    permission: str = "ALLOW",
    kind: str = "TOPIC",
) -> AclBinding:
    return AclBinding(
        ResourceType[kind],
        name,
        PatternType[pattern],
        principal,
        host,
        Operation[operation],
        PermissionType[permission],
    )


def host_of(place: int) -> str:
    return f"10.{place >> 16 & 255}.{place >> 8 & 255}.{place & 255}"


def adding(make: Callable[[World, int], AclBinding], count: int) -> Callable[[World], Any]:
    return lambda world: (Delta(add=tuple(dict.fromkeys(make(world, n) for n in range(count)))), ())


def removing(choose: Callable[[World], Iterable[AclBinding]]) -> Callable[[World], Any]:
    return lambda world: (Delta(remove=tuple(choose(world))[:5_000]), ())


def _mixed(world: World, count: int) -> tuple[Delta, tuple[str, ...]]:
    chance = random.Random(11)
    ops = ("READ", "WRITE", "ALL", "DESCRIBE", "ALTER_CONFIGS")
    add = [
        acl(
            chance.choice(
                ("*", world.topic(chance.randrange(10_000)), world.topic(chance.randrange(99))[:5])
            ),
            chance.choice((f"User:n{chance.randrange(99)}", world.principal(chance.randrange(999)))),
            chance.choice(ops),
            pattern=chance.choice(("LITERAL", "PREFIXED")),
            host=chance.choice(("*", host_of(chance.randrange(500)), "10.0.0.0/8")),
            permission=chance.choice(("ALLOW", "ALLOW", "DENY")),
        )
        for _ in range(count)
    ]
    remove = [each for each in chance.sample(world.acls, min(len(world.acls) // 4, count)) if each not in add]
    return Delta(add=tuple(dict.fromkeys(add)), remove=tuple(remove)), ()


def _of(world: World, principal: str) -> list[AclBinding]:
    return [binding for binding in world.acls if binding.principal == principal]


def _is_plain(binding: AclBinding) -> bool:
    return binding.principal != "User:*" and binding.resource_name != "*"


def shapes() -> Iterator[Shape]:
    for count in (1, 60, 300, 600, 5_000):
        yield Shape(
            f"{count} x ALL on *, own principals and hosts",
            adding(lambda _world, n: acl("*", f"User:p{n}", "ALL", host=host_of(n)), count),
        )
        yield Shape(
            f"{count} x ALL on *, own principals",
            adding(lambda _world, n: acl("*", f"User:p{n}", "ALL"), count),
        )
        yield Shape(
            f"{count} x ALL on *, one principal, own hosts",
            adding(lambda _world, n: acl("*", "User:p", "ALL", host=host_of(n)), count),
        )
        yield Shape(
            f"{count} x READ on *, everybody, own hosts",
            adding(lambda _world, n: acl("*", "User:*", "READ", host=host_of(n)), count),
        )
    for permission in ("DENY", "ALLOW"):
        for operation in ("ALL", "READ"):
            for pattern in ("*", "prefix"):
                yield Shape(
                    f"{permission} User:* {operation} on {pattern}",
                    adding(
                        lambda world, _n, pattern=pattern, operation=operation, permission=permission: acl(
                            "*" if pattern == "*" else world.topic(3)[:3],
                            "User:*",
                            operation,
                            pattern="LITERAL" if pattern == "*" else "PREFIXED",
                            permission=permission,
                        ),
                        1,
                    ),
                )
    yield Shape(
        "1,400 nested prefixes",
        adding(lambda _world, n: acl("n" * (n + 1), f"User:p{n}", "ALL", pattern="PREFIXED"), 1_400),
    )
    yield Shape(
        "1,400 nested prefixes, one principal",
        adding(lambda _world, n: acl("n" * (n + 1), "User:p", "ALL", pattern="PREFIXED"), 1_400),
    )
    yield Shape(
        "240 nested prefixes, everybody",
        adding(lambda _world, n: acl("n" * (n + 1), "User:*", "ALL", pattern="PREFIXED"), 240),
    )
    for operation in ("READ", "ALL"):
        yield Shape(
            f"5,000 literal topics, {operation}, one principal",
            adding(lambda _world, n, operation=operation: acl(f"lit-{n}", "User:p", operation), 5_000),
        )
        yield Shape(
            f"5,000 literal topics, {operation}, own principals and hosts",
            adding(
                lambda _world, n, operation=operation: acl(
                    f"lit-{n}", f"User:p{n}", operation, host=host_of(n)
                ),
                5_000,
            ),
        )
        yield Shape(
            f"5,000 existing topics, {operation}, everybody",
            adding(lambda world, n, operation=operation: acl(world.topic(n), "User:*", operation), 5_000),
        )
    yield Shape(
        "5,000 literal topics, DENY everybody",
        adding(lambda _world, n: acl(f"lit-{n}", "User:*", "ALL", permission="DENY"), 5_000),
    )
    for count in (16, 500):
        yield Shape(
            f"{count} address ranges on *, one principal",
            adding(lambda _world, n: acl("*", "User:p", "ALL", host=f"10.{n % 256}.{n // 256}.0/24"), count),
        )
        yield Shape(
            f"{count} address ranges on *, everybody",
            adding(lambda _world, n: acl("*", "User:*", "READ", host=f"10.{n % 256}.{n // 256}.0/24"), count),
        )
    yield Shape(
        "ranges in ranges, everybody",
        adding(lambda _world, n: acl("*", "User:*", "ALL", host=f"10.0.0.0/{n + 8}"), 24),
    )
    yield Shape(
        "0.0.0.0/0, everybody", adding(lambda _world, _n: acl("*", "User:*", "ALL", host="0.0.0.0/0"), 1)
    )
    for count in (100, 5_000):
        yield Shape(
            f"{count} new topics",
            lambda _world, count=count: (Delta(), tuple(f"new-{n}" for n in range(count))),
        )
        yield Shape(
            f"{count} new topics and ALL on * for everybody",
            lambda _world, count=count: (
                Delta(add=(acl("*", "User:*", "ALL"),)),
                tuple(f"new-{n}" for n in range(count)),
            ),
        )
    for count in (60, 600, 2_500):
        yield Shape(f"{count} mixed", lambda world, count=count: _mixed(world, count))
    yield Shape(
        "the empty prefix, everybody",
        adding(lambda _world, _n: acl("", "User:*", "ALL", pattern="PREFIXED"), 1),
    )
    yield Shape(
        "5,000 groups by prefix",
        adding(lambda _world, n: acl(f"g{n}", f"User:p{n}", "READ", pattern="PREFIXED", kind="GROUP"), 5_000),
    )
    yield Shape(
        "everything on the cluster, 5,000 principals",
        adding(lambda _world, n: acl("kafka-cluster", f"User:p{n}", "ALL", kind="CLUSTER"), 5_000),
    )
    yield Shape(
        "everything on the cluster, everybody, 5,000 hosts",
        adding(
            lambda _world, n: acl("kafka-cluster", "User:*", "ALL", kind="CLUSTER", host=host_of(n)), 5_000
        ),
    )
    yield Shape("all ACLs for everybody go", removing(lambda world: _of(world, "User:*")))
    yield Shape("5,000 ACLs go", removing(lambda world: world.acls))
    yield Shape("all DENYs go", removing(lambda world: (b for b in world.acls if b.is_deny)))
    yield Shape(
        "all ACLs for every topic go",
        removing(lambda world: (b for b in world.acls if b.resource_name == "*")),
    )

    yield Shape(
        "60 literal topics", adding(lambda world, n: acl(world.topic(n), "User:etl"), 60), ordinary=True
    )
    yield Shape(
        "60 literal topics, own principals, ALL",
        adding(lambda world, n: acl(world.topic(n), f"User:p{n}", "ALL"), 60),
        ordinary=True,
    )
    yield Shape(
        "60 prefixes of a team",
        adding(
            lambda world, n: acl(
                world.topic(n).rpartition(".")[0] or world.topic(n),
                f"User:p{n % 30}",
                ("READ", "WRITE")[n % 2],
                pattern="PREFIXED",
            ),
            60,
        ),
        ordinary=True,
    )
    yield Shape(
        "30 topics with their groups",
        adding(
            lambda world, n: (
                acl(world.topic(n), "User:app") if n % 2 else acl(f"app-{n}", "User:app", kind="GROUP")
            ),
            60,
        ),
        ordinary=True,
    )
    yield Shape(
        "60 topics from own hosts",
        adding(lambda world, n: acl(world.topic(n), "User:app", host=host_of(n)), 60),
        ordinary=True,
    )
    yield Shape(
        "ALL on * for one principal",
        adding(lambda _world, _n: acl("*", "User:backup", "ALL"), 1),
        ordinary=True,
    )
    yield Shape(
        "READ on * for 10 principals", adding(lambda _world, n: acl("*", f"User:audit{n}"), 10), ordinary=True
    )
    yield Shape(
        "DENY 60 topics to everybody",
        adding(lambda world, n: acl(world.topic(n), "User:*", "ALL", permission="DENY"), 60),
        ordinary=True,
    )
    yield Shape(
        "all ACLs of one principal go", removing(lambda world: _of(world, world.principal(5))), ordinary=True
    )
    yield Shape(
        "60 ACLs for every topic go",
        removing(lambda world: [each for each in world.acls if each.resource_name == "*"][:60]),
    )
    yield Shape(
        "60 ACLs go",
        removing(lambda world: [each for each in world.acls if _is_plain(each)][:60]),
        ordinary=True,
    )
    yield Shape("a new topic", lambda _world: (Delta(), ("payments.refunds.v2",)), ordinary=True)


def work_out(world: World, shape: Shape, budget: Budget | None) -> Mapping[str, Any]:
    """Return what one edit gives: its counts and sizes, or the sentence that refuses it."""
    from aclweb.web.drafts import impact_rows

    delta, new_topics = shape.edit(world)
    own = tuple(
        b.resource_name for b in delta.add if b.pattern_type is PatternType.LITERAL and b.resource_name != "*"
    )
    names = Names(topics=tuple(dict.fromkeys((*world.topics, *own))), new_topics=new_topics)
    try:
        impact = simulate(
            delta, world.index, names, world.settings, merge_equal_hosts=True, met_only=True, budget=budget
        )
    except TooCostly as error:
        return {"refused": str(error)}
    told = Differences.of(impact)
    told.digest(("gains", "loses", "depends"))
    stored = len(told.packed())
    for kind in impact_rows.KINDS:
        _ = impact_rows.rows(told, kind)[:50]
    return {"counts": {name: told.counts[name] for name in LISTS}, "stored": stored}


def in_a_process(world: World, shape: Shape, budget: Budget) -> Mapping[str, Any]:
    """Return the same with the CPU seconds and megabytes that it took in a process of its own."""
    return measured(lambda: work_out(world, shape, budget))


def measured(work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what this gives in a process of its own, with the CPU seconds and megabytes that it took."""
    reading, writing = os.pipe()
    gc.collect()
    gc.freeze()
    child = os.fork()
    if not child:
        os.close(reading)
        before = resource.getrusage(resource.RUSAGE_SELF)
        try:
            found = dict(work())
            after = resource.getrusage(resource.RUSAGE_SELF)
            found["cpu"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found["megabytes"] = max(0, after.ru_maxrss - before.ru_maxrss) / 1024
        except BaseException as error:
            found = {"failed": repr(error)}
        with os.fdopen(writing, "w") as out:
            json.dump(found, out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    told: Mapping[str, Any] = json.loads(text) if text else {"failed": "the process died"}
    return told


def faults(shape: Shape, found: Mapping[str, Any]) -> list[str]:
    """Return what is beyond the limits."""
    if "failed" in found:
        return [str(found["failed"])]
    told = []
    if found["cpu"] > CPU_SECONDS:
        told.append(f"{found['cpu']:.1f} CPU s")
    if found["megabytes"] > MEGABYTES:
        told.append(f"{found['megabytes']:.0f} MB")
    if found.get("stored", 0) > STORED:
        told.append(f"{found['stored'] / 2**20:.1f} MB stored")
    if "refused" in found and shape.ordinary:
        told.append("an ordinary edit was refused")
    if "refused" in found and "The ACL that costs most is" not in found["refused"] and shape.edit is not None:
        told.append("no ACL is named")
    return told


def clusters(acls: int, topics: int) -> Iterator[tuple[str, World]]:
    """Yield a small cluster and a large one."""
    yield "255 ACLs", World.of(worlds.bindings(255), worlds.topic_names(150))
    yield f"{acls:,} ACLs", World.of(worlds.bindings(acls), worlds.topic_names(topics))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--acls", type=int, default=100_000, help="ACLs of the large cluster")
    parser.add_argument("--topics", type=int, default=50_000)
    parser.add_argument("--only", default="", help="only edits whose title holds this text")
    asked = parser.parse_args()
    wrong = 0
    for title, world in clusters(asked.acls, asked.topics):
        print(f"\n{title}, {len(world.topics):,} topics\n", flush=True)
        for shape in shapes():
            if asked.only not in shape.title:
                continue
            found = in_a_process(world, shape, ON_A_SITE)
            told = faults(shape, found)
            wrong += bool(told)
            print(_line(shape, found, told), flush=True)
    print(f"\n{wrong} beyond the limits: {CPU_SECONDS:g} CPU s, {MEGABYTES} MB, {STORED >> 20} MB stored.")
    return 1 if wrong else 0


def _line(shape: Shape, found: Mapping[str, Any], told: Sequence[str]) -> str:
    if "failed" in found:
        return f"{shape.title}: FAILED {found['failed']}"
    what = "refused" if "refused" in found else f"{sum(found['counts'].values()):,} differ"
    sizes = f"{found['cpu']:5.2f} s {found['megabytes']:5.0f} MB {found.get('stored', 0) / 1024:7,.0f} KiB"
    return f"{sizes}  {shape.title}: {what}{' <-- ' + ', '.join(told) if told else ''}"


if __name__ == "__main__":
    sys.exit(main())
