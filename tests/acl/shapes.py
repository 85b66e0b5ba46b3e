"""Which edits cost a what-if most, and which do people make every day?

Each shape makes one question of any cluster, the same one each time, with as many ACLs as it is asked for.
`python -m bench.effects` measures CPU and memory of each on a large cluster; `shape_figures` counts its work.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

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
from aclweb.acl.simulate import Names

LONGEST_TOPIC, LONGEST_GROUP = 249, 32_767
KRAFT, ZOOKEEPER = AuthorizerSettings(), AuthorizerSettings("acl")
OPEN, GLOBS = AuthorizerSettings(allow_everyone=True), AuthorizerSettings("glob")
_IN_ONE_EDIT = 5_000


@dataclass(frozen=True)
class World:
    """A cluster: what its ACLs are, and which topics exist."""

    acls: tuple[AclBinding, ...]
    topics: tuple[str, ...]
    index: AclIndex
    principals: tuple[str, ...]

    @classmethod
    def of(cls, acls: Iterable[AclBinding], topics: Sequence[str]) -> World:
        acls = tuple(acls)
        index = AclIndex(acls)
        for kind in ResourceType:
            index.shelf(kind)
        _ = index.hosts
        return cls(acls, tuple(topics), index, tuple(sorted(index.principals)))

    def topic(self, place: int) -> str:
        return self.topics[place * 7919 % len(self.topics)]

    def principal(self, place: int) -> str:
        return self.principals[place * 31 % len(self.principals)]


@dataclass(frozen=True)
class Edit:
    """What is asked. more: ACLs in force beside those of the cluster. names: those that exist, or are to come."""

    delta: Delta = field(default_factory=Delta)
    names: Names = field(default_factory=Names)
    more: tuple[AclBinding, ...] = ()
    settings: AuthorizerSettings = KRAFT
    after_settings: AuthorizerSettings | None = None


@dataclass(frozen=True)
class Question:
    """The arguments of one what-if."""

    delta: Delta
    acls: tuple[AclBinding, ...] = field(repr=False)
    index: AclIndex
    names: Names
    settings: AuthorizerSettings
    after_settings: AuthorizerSettings


@dataclass(frozen=True)
class Shape:
    """One edit of so many ACLs. brief: how many are enough where time is short; 0 for the same number.

    ordinary: people ask for such, so it is never refused. is_large: too much for the tests of every day.
    """

    words: str
    edit: Callable[[World, int], Edit]
    count: int = 1
    brief: int = 0
    ordinary: bool = False
    is_large: bool = False

    @property
    def title(self) -> str:
        return self.words.format(n=self.count)

    @property
    def briefly(self) -> Shape:
        """The same with fewer ACLs."""
        return replace(self, count=self.brief or self.count)

    def in_small(self, most: int) -> Shape:
        """Return the same with at most so many ACLs."""
        return replace(self, count=min(self.count, most))

    def question(self, world: World) -> Question:
        """Return what is asked of a cluster."""
        edit = self.edit(world, self.count)
        own = [b.resource_name for b in edit.delta.add if b.pattern_type is PatternType.LITERAL]
        topics = dict.fromkeys((*world.topics, *edit.names.topics, *own))
        topics.pop("*", None)
        return Question(
            edit.delta,
            (*world.acls, *edit.more),
            AclIndex((*world.acls, *edit.more)) if edit.more else world.index,
            replace(edit.names, topics=tuple(topics)),
            edit.settings,
            edit.after_settings or edit.settings,
        )


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


def _range(place: int) -> str:
    return f"10.{place % 256}.{place // 256}.0/24"


Make = Callable[[World, int], AclBinding]


def _many(make: Make, world: World, count: int) -> tuple[AclBinding, ...]:
    return tuple(dict.fromkeys(make(world, number) for number in range(count)))


def adding(make: Make, settings: AuthorizerSettings = KRAFT) -> Callable[[World, int], Edit]:
    """Return the edit that adds what is made of each number."""
    return lambda world, count: Edit(Delta(add=_many(make, world, count)), settings=settings)


def removing(choose: Callable[[World], Iterable[AclBinding]]) -> Callable[[World, int], Edit]:
    """Return the edit that removes the first of these."""
    return lambda world, count: Edit(Delta(remove=tuple(choose(world))[:count]))


def beside(more: Make, edit: Callable[[World, int], Edit]) -> Callable[[World, int], Edit]:
    """Return an edit of one ACL where as many ACLs as asked for are in force already."""
    return lambda world, count: replace(edit(world, 1), more=_many(more, world, count))


def shapes() -> Iterator[Shape]:
    """Yield all of them, each title once."""
    yield from _wildcards()
    yield from _everybody()
    yield from _prefixes()
    yield from _literals()
    yield from _hosts()
    yield from _names_to_come()
    yield from _removals()
    yield from _settings()
    yield from _odd()
    yield from _globs()
    yield from _ordinary()


def _wildcards() -> Iterator[Shape]:
    for count, brief in ((1, 0), (60, 0), (300, 60), (600, 0), (5_000, 60)):
        yield Shape(
            "{n} x ALL on *, own principals and hosts",
            adding(lambda _world, n: acl("*", f"User:p{n}", "ALL", host=host_of(n))),
            count,
            brief,
        )
        yield Shape(
            "{n} x ALL on *, own principals",
            adding(lambda _world, n: acl("*", f"User:p{n}", "ALL")),
            count,
            brief,
        )
        yield Shape(
            "{n} x ALL on *, one principal, own hosts",
            adding(lambda _world, n: acl("*", "User:p", "ALL", host=host_of(n))),
            count,
            min(count, 200),
        )
        yield Shape(
            "{n} x READ on *, everybody, own hosts",
            adding(lambda _world, n: acl("*", "User:*", "READ", host=host_of(n))),
            count,
            min(count, 10),
        )
    yield Shape("{n} x READ on *, own principals", adding(lambda _world, n: acl("*", f"User:p{n}")), 600)
    yield Shape(
        "ALL on * of every type, everybody",
        adding(
            lambda _world, n: acl(
                "kafka-cluster" if n == 2 else "*",
                "User:*",
                "ALL",
                kind=("TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN")[n],
            )
        ),
        5,
    )


def _everybody() -> Iterator[Shape]:
    for permission in ("DENY", "ALLOW"):
        for operation in ("ALL", "READ"):
            for pattern in ("*", "prefix"):
                yield Shape(
                    f"{permission} User:* {operation} on {pattern}",
                    adding(
                        lambda world, _n, pattern=pattern, operation=operation, permission=permission: acl(  # type: ignore[misc]
                            "*" if pattern == "*" else world.topic(3)[:3],
                            "User:*",
                            operation,
                            pattern="LITERAL" if pattern == "*" else "PREFIXED",
                            permission=permission,
                        )
                    ),
                )
    yield Shape(
        "DENY User:* ALL on * of every type",
        adding(
            lambda _world, n: acl(
                "kafka-cluster" if n == 2 else "*",
                "User:*",
                "ALL",
                permission="DENY",
                kind=("TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN")[n],
            )
        ),
        5,
    )
    yield Shape(
        "DENY User:* ALL on *, where {n} principals have an ALLOW from a host",
        beside(
            lambda world, n: acl(world.topic(n), f"User:p{n}", host=host_of(n)),
            adding(lambda _world, _n: acl("*", "User:*", "ALL", permission="DENY")),
        ),
        2_000,
        300,
    )
    yield Shape(
        "the empty prefix, everybody",
        adding(lambda _world, _n: acl("", "User:*", "ALL", pattern="PREFIXED")),
    )


def _prefixes() -> Iterator[Shape]:
    yield Shape(
        "{n:,} nested prefixes",
        adding(lambda _world, n: acl("n" * (n + 1), f"User:p{n}", "ALL", pattern="PREFIXED")),
        1_400,
    )
    yield Shape(
        "{n:,} nested prefixes, one principal",
        adding(lambda _world, n: acl("n" * (n + 1), "User:p", "ALL", pattern="PREFIXED")),
        1_400,
    )
    yield Shape(
        "{n} nested prefixes, everybody",
        adding(lambda _world, n: acl("n" * (n + 1), "User:*", "ALL", pattern="PREFIXED")),
        240,
        10,
    )
    yield Shape(
        "READ on * for everybody over {n} nested prefixes of others",
        beside(
            lambda _world, n: acl("n" * (n + 1), f"User:p{n % 7}", "ALL", pattern="PREFIXED"),
            adding(lambda _world, _n: acl("*", "User:*")),
        ),
        LONGEST_TOPIC,
    )
    yield Shape(
        "ALL on * for who has {n} nested prefixes, in turns allowed and denied",
        beside(
            lambda _world, n: acl(
                "n" * (n + 1), "User:p", "READ", pattern="PREFIXED", permission=("ALLOW", "DENY")[n % 2]
            ),
            adding(lambda _world, _n: acl("*", "User:p", "ALL")),
        ),
        LONGEST_TOPIC,
    )
    yield Shape(
        "{n} groups of 32,767 characters",
        adding(
            lambda _world, n: acl(f"{n:03}" + "g" * (LONGEST_GROUP - 3), f"User:p{n}", "READ", kind="GROUP")
        ),
        300,
        20,
    )
    yield Shape(
        "{n} nested prefixes of groups, up to 32,767 characters, everybody",
        adding(
            lambda _world, n: acl(
                "g" * (LONGEST_GROUP * (n + 1) // 40), "User:*", "READ", pattern="PREFIXED", kind="GROUP"
            )
        ),
        40,
        20,
    )
    yield Shape(
        "{n:,} groups by prefix",
        adding(lambda _world, n: acl(f"g{n}", f"User:p{n}", "READ", pattern="PREFIXED", kind="GROUP")),
        5_000,
        300,
    )
    yield Shape(
        "{n:,} transactional ids by prefix, own hosts",
        adding(
            lambda _world, n: acl(
                f"tx-{n}", f"User:p{n}", "WRITE", pattern="PREFIXED", kind="TRANSACTIONAL_ID", host=host_of(n)
            )
        ),
        5_000,
        500,
    )


def _literals() -> Iterator[Shape]:
    for operation in ("READ", "ALL"):
        yield Shape(
            f"{{n:,}} literal topics, {operation}, one principal",
            adding(lambda _world, n, operation=operation: acl(f"lit-{n}", "User:p", operation)),  # type: ignore[misc]
            5_000,
            2_500 if operation == "READ" else 300,
        )
        yield Shape(
            f"{{n:,}} literal topics, {operation}, own principals and hosts",
            adding(
                lambda _world, n, operation=operation: acl(  # type: ignore[misc]
                    f"lit-{n}", f"User:p{n}", operation, host=host_of(n)
                )
            ),
            5_000,
            300,
        )
        yield Shape(
            f"{{n:,}} existing topics, {operation}, everybody",
            adding(lambda world, n, operation=operation: acl(world.topic(n), "User:*", operation)),  # type: ignore[misc]
            5_000,
            60 if operation == "READ" else 15,
        )
    yield Shape(
        "{n:,} literal topics, DENY everybody",
        adding(lambda _world, n: acl(f"lit-{n}", "User:*", "ALL", permission="DENY")),
        5_000,
        100,
    )
    for count, brief in ((60, 0), (600, 100), (2_500, 100)):
        yield Shape("{n} mixed", _mixed, count, brief)
    yield Shape(
        "everything on the cluster, {n:,} principals",
        adding(lambda _world, n: acl("kafka-cluster", f"User:p{n}", "ALL", kind="CLUSTER")),
        5_000,
        500,
    )


def _hosts() -> Iterator[Shape]:
    for count, brief in ((16, 8), (500, 100)):
        yield Shape(
            "{n} address ranges on *, one principal",
            adding(lambda _world, n: acl("*", "User:p", "ALL", host=_range(n))),
            count,
            brief,
        )
        yield Shape(
            "{n} address ranges on *, everybody",
            adding(lambda _world, n: acl("*", "User:*", "READ", host=_range(n))),
            count,
            brief and 10,
        )
    yield Shape(
        "{n} ranges in ranges, everybody",
        adding(lambda _world, n: acl("*", "User:*", "READ", host=f"10.0.0.0/{n + 8}")),
        24,
        4,
    )
    yield Shape(
        "{n} ranges in ranges, one principal, in turns allowed and denied",
        adding(
            lambda _world, n: acl(
                "*", "User:p", "ALL", host=f"10.0.0.0/{n + 8}", permission=("ALLOW", "DENY")[n % 2]
            )
        ),
        24,
    )
    yield Shape(
        "0.0.0.0/0, everybody", adding(lambda _world, _n: acl("*", "User:*", "ALL", host="0.0.0.0/0"))
    )
    yield Shape(
        "READ on * for who has {n} ranges in ranges",
        beside(
            lambda _world, n: acl("*", "User:p", "READ", host=f"10.{n // 16}.0.0/{n % 16 + 16}"),
            adding(lambda _world, _n: acl("*", "User:p")),
        ),
        400,
        100,
    )
    yield Shape(
        "everything on the cluster, everybody, {n:,} hosts",
        adding(lambda _world, n: acl("kafka-cluster", "User:*", "ALL", kind="CLUSTER", host=host_of(n))),
        5_000,
        100,
    )


def _names_to_come() -> Iterator[Shape]:
    for count in (100, 5_000):
        yield Shape(
            "{n} new topics",
            lambda _world, count: Edit(names=Names(new_topics=tuple(f"new-{n}" for n in range(count)))),
            count,
        )
        yield Shape(
            "{n} new topics and ALL on * for everybody",
            lambda _world, count: Edit(
                Delta(add=(acl("*", "User:*", "ALL"),)),
                Names(new_topics=tuple(f"new-{n}" for n in range(count))),
            ),
            count,
        )
    yield Shape(
        "{n:,} new groups and transactional ids",
        lambda _world, count: Edit(
            names=Names(
                new_groups=tuple(f"new-{n}" for n in range(count)),
                new_transactional_ids=tuple(f"tx-{n}" for n in range(count)),
            )
        ),
        2_500,
    )
    yield Shape(
        "READ on * for User:* on {n:,} more topics",
        lambda _world, count: Edit(
            Delta(add=(acl("*", "User:*"),)), Names(topics=tuple(f"t-{n:07}" for n in range(count)))
        ),
        1_000_000,
        10_000,
        is_large=True,
    )
    yield Shape(
        "mixed ACLs on {n:,} more topics",
        lambda world, count: replace(
            _mixed(world, min(count, 60)), names=Names(topics=tuple(f"t-{n:07}" for n in range(count)))
        ),
        1_000_000,
        10_000,
        is_large=True,
    )


def _removals() -> Iterator[Shape]:
    yield Shape("all ACLs for everybody go", removing(lambda world: _of(world, "User:*")), _IN_ONE_EDIT)
    yield Shape("{n:,} ACLs go", removing(lambda world: world.acls), _IN_ONE_EDIT)
    yield Shape("all DENYs go", removing(lambda world: (b for b in world.acls if b.is_deny)), _IN_ONE_EDIT)
    yield Shape(
        "all ACLs for every topic go",
        removing(lambda world: (b for b in world.acls if b.resource_name == "*")),
        _IN_ONE_EDIT,
    )
    yield Shape(
        "{n:,} ACLs are for every operation instead",
        lambda world, count: Edit(
            Delta.between(
                world.acls[:count], (replace(b, operation=Operation.ALL) for b in world.acls[:count])
            )
        ),
        2_500,
        60,
    )
    yield Shape(
        "{n:,} ACLs are given to another principal",
        lambda world, count: Edit(
            Delta(
                add=tuple(replace(b, principal="User:heir") for b in world.acls[:count]),
                remove=world.acls[:count],
            )
        ),
        2_500,
        100,
    )
    yield Shape(
        "one host of {n:,} ACLs is another",
        lambda world, count: Edit(
            Delta(
                add=tuple(replace(b, host="10.9.9.9") for b in world.acls[:count]),
                remove=world.acls[:count],
            )
        ),
        2_500,
        60,
    )
    yield Shape(
        "{n:,} ACLs that exist, and {n:,} that do not go",
        lambda world, count: Edit(
            Delta(
                add=world.acls[:count],
                remove=tuple(acl(f"not-there-{n}", f"User:p{n}") for n in range(count)),
            )
        ),
        2_500,
        255,
    )


def _settings() -> Iterator[Shape]:
    yield Shape(
        "{n} super users come",
        lambda world, count: Edit(
            after_settings=replace(
                KRAFT, super_users=frozenset(world.principal(n) for n in range(count)) | {"User:root"}
            )
        ),
        200,
        20,
    )
    yield Shape(
        "{n} super users go",
        lambda world, count: Edit(
            settings=replace(KRAFT, super_users=frozenset(world.principal(n) for n in range(count))),
            after_settings=KRAFT,
        ),
        200,
        20,
    )
    yield Shape("from ZooKeeper to KRaft", lambda *_: Edit(settings=ZOOKEEPER, after_settings=KRAFT))
    yield Shape("from KRaft to ZooKeeper", lambda *_: Edit(settings=KRAFT, after_settings=ZOOKEEPER))
    yield Shape(
        "to the version that reads {n} ranges",
        lambda world, count: Edit(
            more=_many(lambda _world, n: acl("*", f"User:p{n % 9}", "READ", host=_range(n)), world, count),
            settings=AuthorizerSettings(kafka_version="4.3"),
            after_settings=AuthorizerSettings(kafka_version="4.4"),
        ),
        300,
        20,
    )
    for before, after in ((KRAFT, OPEN), (OPEN, KRAFT)):
        yield Shape(
            f"allow.everyone.if.no.acl.found becomes {str(after.allow_everyone).lower()}",
            lambda *_, before=before, after=after: Edit(settings=before, after_settings=after),
        )
    yield Shape(
        "the first ACLs of {n:,} topics that are open to everybody",
        adding(lambda _world, n: acl(f"open-{n}", f"User:p{n}"), settings=OPEN),
        1_000,
        50,
    )
    yield Shape(
        "the last ACLs of {n:,} topics, which then are open to everybody",
        lambda world, count: Edit(
            Delta(remove=world.acls[:count]),
            settings=OPEN,
        ),
        5_000,
        60,
    )
    yield Shape(
        "READ on * for everybody where topics are open",
        adding(lambda _world, _n: acl("*", "User:*"), settings=OPEN),
    )


def _odd() -> Iterator[Shape]:
    yield Shape(
        "{n} ACLs with an unknown pattern come",
        adding(lambda _world, n: acl(f"u{n}", f"User:p{n}", "READ", pattern="UNKNOWN")),
        20,
        5,
    )
    yield Shape(
        "ALL on * where {n} ACLs have an unknown pattern",
        beside(
            lambda _world, n: acl(f"u{n}", f"User:p{n % 5}", "READ", pattern="UNKNOWN"),
            adding(lambda _world, _n: acl("*", "User:p1", "ALL")),
        ),
        20,
    )
    yield Shape(
        "{n} ACLs with an unknown operation",
        adding(lambda world, n: acl(world.topic(n), f"User:p{n}", "UNKNOWN")),
        500,
        100,
    )
    yield Shape(
        "{n} ACLs with an unknown permission",
        adding(lambda world, n: acl(world.topic(n), f"User:p{n}", "READ", permission="UNKNOWN")),
        500,
        100,
    )
    yield Shape(
        "READ on * for everybody beside {n} unknown permissions",
        beside(
            lambda world, n: acl(world.topic(n), f"User:p{n}", "READ", permission="UNKNOWN"),
            adding(lambda _world, _n: acl("*", "User:*")),
        ),
        500,
        100,
    )
    yield Shape(
        "{n} hosts that are no address",
        adding(lambda _world, n: acl("*", f"User:p{n}", "ALL", host=f"host-{n}.example")),
        600,
    )
    yield Shape(
        "{n} names that no topic can have",
        adding(lambda _world, n: acl(f"no topic {n}/", f"User:p{n}", "ALL")),
        600,
    )
    yield Shape(
        "{n} delegation tokens and users",
        adding(
            lambda _world, n: acl(
                f"User:owner-{n}",
                f"User:p{n}",
                ("DESCRIBE", "CREATE_TOKENS")[n % 2],
                kind=("DELEGATION_TOKEN", "USER")[n % 2],
            )
        ),
        1_000,
        200,
    )


def _globs() -> Iterator[Shape]:
    yield Shape(
        "{n} globs on names, own principals",
        adding(
            lambda world, n: acl(f"*{world.topic(n)[3:8]}*", f"User:p{n}", pattern="GLOB"), settings=GLOBS
        ),
        60,
        20,
    )
    yield Shape(
        "{n} globs on names, everybody",
        adding(lambda world, n: acl(f"??.{world.topic(n)[3:9]}*", "User:*", pattern="GLOB"), settings=GLOBS),
        20,
        4,
    )
    yield Shape(
        "READ on * for every User:svc-*",
        adding(lambda _world, _n: acl("*", "User:svc-*"), settings=GLOBS),
    )
    yield Shape(
        "{n} globs on hosts",
        adding(lambda _world, n: acl("*", f"User:p{n}", host=f"10.{n}.*"), settings=GLOBS),
        60,
        10,
    )
    yield Shape("from KRaft to globs", lambda *_: Edit(settings=KRAFT, after_settings=GLOBS))


def _ordinary() -> Iterator[Shape]:
    yield Shape(
        "60 literal topics", adding(lambda world, n: acl(world.topic(n), "User:etl")), 60, ordinary=True
    )
    yield Shape(
        "60 literal topics, own principals, ALL",
        adding(lambda world, n: acl(world.topic(n), f"User:p{n}", "ALL")),
        60,
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
            )
        ),
        60,
        ordinary=True,
    )
    yield Shape(
        "30 topics with their groups",
        adding(
            lambda world, n: (
                acl(world.topic(n), "User:app") if n % 2 else acl(f"app-{n}", "User:app", kind="GROUP")
            )
        ),
        60,
        ordinary=True,
    )
    yield Shape(
        "60 topics from own hosts",
        adding(lambda world, n: acl(world.topic(n), "User:app", host=host_of(n))),
        60,
        ordinary=True,
    )
    yield Shape(
        "ALL on * for one principal", adding(lambda _world, _n: acl("*", "User:backup", "ALL")), ordinary=True
    )
    yield Shape("READ on * for one principal", adding(lambda _world, _n: acl("*", "User:etl")), ordinary=True)
    yield Shape(
        "READ on * for 10 principals",
        adding(lambda _world, n: acl("*", f"User:audit{n}")),
        10,
        ordinary=True,
    )
    yield Shape(
        "DENY 60 topics to everybody",
        adding(lambda world, n: acl(world.topic(n), "User:*", "ALL", permission="DENY")),
        60,
        ordinary=True,
    )
    yield Shape(
        "all ACLs of one principal go",
        removing(lambda world: _of(world, world.principal(5))),
        _IN_ONE_EDIT,
        ordinary=True,
    )
    yield Shape(
        "60 ACLs for every topic go",
        removing(lambda world: (each for each in world.acls if each.resource_name == "*")),
        60,
    )
    yield Shape(
        "60 ACLs go",
        removing(lambda world: (each for each in world.acls if _is_plain(each))),
        60,
        ordinary=True,
    )
    yield Shape(
        "a new topic", lambda *_: Edit(names=Names(new_topics=("payments.refunds.v2",))), ordinary=True
    )


def _mixed(world: World, count: int) -> Edit:
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
    return Edit(Delta(add=tuple(dict.fromkeys(add)), remove=tuple(remove)))


def _of(world: World, principal: str) -> list[AclBinding]:
    return [binding for binding in world.acls if binding.principal == principal]


def _is_plain(binding: AclBinding) -> bool:
    return binding.principal != "User:*" and binding.resource_name != "*"
