"""Sets of ACLs made to be slow, each with a friendly twin of as many ACLs and names of equal length."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aclweb.acl.model import AccessRequest, AclBinding, Operation, PatternType, PermissionType, ResourceType

ASKED = 200
LONGEST_TOPIC = 249
LONGEST_GROUP = 32_767


@dataclass(frozen=True)
class Contest:
    """One adversarial set beside its twin; `bindings` and `requests` are made when they are needed."""

    title: str
    hostile: Callable[[], tuple[list[AclBinding], list[AccessRequest]]]
    friendly: Callable[[], tuple[list[AclBinding], list[AccessRequest]]]


def contests(scale: float) -> list[Contest]:
    """Return all of them, with `scale` times the full number of ACLs."""

    def some(full: int) -> int:
        return max(int(full * scale), 50)

    return [
        Contest(
            f"{some(100_000):,} ACLs on one name",
            lambda: _made(
                (_literal("one-name-for-all", f"User:u{n}") for n in range(some(100_000))),
                (_ask("one-name-for-all", f"User:u{n * 7 % some(100_000)}") for n in range(ASKED)),
            ),
            lambda: _spread(some(100_000), len("one-name-for-all")),
        ),
        Contest(
            f"249 nested prefixes for {some(400)} principals",
            lambda: _made(
                (
                    _prefixed(_path(LONGEST_TOPIC)[:length], f"User:u{n}")
                    for n in range(some(400))
                    for length in range(1, LONGEST_TOPIC + 1)
                ),
                (_ask(_path(LONGEST_TOPIC), f"User:u{n % some(400)}") for n in range(ASKED)),
            ),
            lambda: _spread(some(400) * LONGEST_TOPIC, LONGEST_TOPIC),
        ),
        Contest(
            "names that leave a chain of 249 nested prefixes, at any depth",
            lambda: _made(
                (
                    _prefixed(_path(LONGEST_TOPIC)[:length], f"User:u{n}")
                    for n in range(some(400))
                    for length in range(1, LONGEST_TOPIC + 1)
                ),
                (
                    _ask(_leaving(_path(LONGEST_TOPIC), depth), f"User:u{depth % some(400)}")
                    for depth in range(1, LONGEST_TOPIC)
                ),
            ),
            lambda: _spread(some(400) * LONGEST_TOPIC, LONGEST_TOPIC),
        ),
        Contest(
            f"groups of 32,767 characters with {some(4_000):,} nested prefixes, left at any depth",
            lambda: _made(
                (
                    _prefixed(_path(LONGEST_GROUP)[: length * (LONGEST_GROUP // some(4_000))], "User:u0")
                    for length in range(1, some(4_000) + 1)
                ),
                (
                    _ask(_leaving(_path(LONGEST_GROUP), LONGEST_GROUP * part // 51), "User:u0")
                    for part in range(1, 51)
                ),
                ResourceType.GROUP,
            ),
            lambda: _spread(some(4_000), LONGEST_GROUP, ResourceType.GROUP, users=1, asked=50),
        ),
        Contest(
            f"{some(7_000):,} hosts on *",
            lambda: _made(
                (_literal("*", "User:u0", host=_address(n)) for n in range(some(7_000))),
                (_ask(f"topic-{n:05}", "User:u0", host=_address(n * 31 % some(7_000))) for n in range(ASKED)),
            ),
            lambda: _spread(some(7_000), len("topic-00000")),
        ),
        Contest(
            f"{some(7_000):,} address ranges on *",
            lambda: _made(
                (_literal("*", "User:u0", host=f"{_address(n)}/{8 + n % 25}") for n in range(some(7_000))),
                (_ask(f"topic-{n:05}", "User:u0", host=_address(n * 31 % some(7_000))) for n in range(ASKED)),
            ),
            lambda: _spread(some(7_000), len("topic-00000")),
        ),
        Contest(
            f"{some(1_000_000):,} ACLs of one principal",
            lambda: _made(
                ((_prefixed if n % 2 else _literal)(_text(n, 24), "User:u0") for n in range(some(1_000_000))),
                (_ask(_text(n * 31 % some(1_000_000), 24), "User:u0") for n in range(ASKED)),
            ),
            lambda: _spread(some(1_000_000), 24),
        ),
    ]


def _made(
    bindings: Iterable[AclBinding],
    requests: Iterable[AccessRequest],
    resource_type: ResourceType = ResourceType.TOPIC,
) -> tuple[list[AclBinding], list[AccessRequest]]:
    if resource_type is ResourceType.TOPIC:
        return list(bindings), list(requests)
    return (
        [
            AclBinding(
                resource_type,
                b.resource_name,
                b.pattern_type,
                b.principal,
                b.host,
                b.operation,
                b.permission_type,
            )
            for b in bindings
        ],
        [AccessRequest(r.principal, r.host, r.operation, resource_type, r.resource_name) for r in requests],
    )


def _spread(
    count: int,
    length: int,
    resource_type: ResourceType = ResourceType.TOPIC,
    *,
    users: int = 1_000,
    asked: int = ASKED,
) -> tuple[list[AclBinding], list[AccessRequest]]:
    """The twin: as many ACLs, on names of this length that differ from the start, for many principals."""
    return _made(
        ((_literal if n % 5 else _prefixed)(_text(n, length), f"User:u{n % users}") for n in range(count)),
        (
            _ask(_text(n * 31 % count, length), f"User:u{(n * 31 + n % 2) % count % users}")
            for n in range(asked)
        ),
        resource_type,
    )


def _literal(name: str, principal: str, *, host: str = "*") -> AclBinding:
    return AclBinding(
        ResourceType.TOPIC, name, PatternType.LITERAL, principal, host, Operation.READ, PermissionType.ALLOW
    )


def _prefixed(name: str, principal: str) -> AclBinding:
    return AclBinding(
        ResourceType.TOPIC, name, PatternType.PREFIXED, principal, "*", Operation.READ, PermissionType.ALLOW
    )


def _ask(name: str, principal: str, *, host: str = "10.1.2.3") -> AccessRequest:
    return AccessRequest(principal, host, Operation.WRITE, ResourceType.TOPIC, name)


def _path(length: int) -> str:
    return "abcdefghij" * (length // 10) + "k" * (length % 10)


def _leaving(path: str, depth: int) -> str:
    """A name as long as the path that is like it up to a depth and sorts behind it from there on."""
    return path[:depth] + "z" * (len(path) - depth)


def _text(number: int, length: int) -> str:
    """A name of this length, of its own from the first characters on."""
    start = f"{random.Random(number).getrandbits(40):010x}"
    return (start + "-" + "abcdefghij" * (length // 10 + 1))[:length]


def _address(number: int) -> str:
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
