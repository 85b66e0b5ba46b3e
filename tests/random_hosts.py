"""Seeded worlds of ACLs full of hosts, and addresses of which one lies in each part that these hosts tell apart.

Hosts of every form: addresses as brokers write them and otherwise, names, texts, ranges that
touch, nest, hold everything or nothing, ranges that Kafka cannot read, and globs under `glob`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

from aclweb.acl.matching.addresses import as_java_prints
from aclweb.acl.matching.hosts import read_address, read_range
from aclweb.acl.matching.unmatchable import is_address
from aclweb.acl.model.authorizers import VERSIONS, AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType

SINGLE = (
    *("10.0.0.7", "10.0.0.8", "10.0.0.9", "0.0.0.0", "0.0.0.1", "203.0.113.9", "255.255.255.255"),
    *("0:0:0:0:0:0:0:0", "0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1%eth0", "0:0:0:0:0:0:0:2", "fe80:0:0:0:0:0:0:1"),
    *("fe80:0:0:0:0:0:0:1%eth0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
)
NOBODYS = (
    *(
        "::1",
        "010.0.0.7",
        "example.com",
        "",
        "::ffff:10.0.0.7",
        "10.0.0.7%eth0",
        "10.0.0",
        "10.0.0.0-10.0.0.9",
    ),
    *("[0:0:0:0:0:0:0:1]", "FE80:0:0:0:0:0:0:1", "b?oker"),
)
RANGES = (
    *("10.0.0.0/8", "10.9.9.9/8", "10.0.0.0/24", "10.0.0.8/29", "10.0.0.8/30", "10.0.0.8/31", "10.0.0.7/32"),
    *("10.0.0.8/32", "0.0.0.0/0", "1.2.3.4/0", "0.0.0.0/1", "128.0.0.0/1", "0.0.0.0/32", "0.0.0.0/31"),
    *(
        "255.255.255.254/31",
        "::/0",
        "::/1",
        "8000::/1",
        "::1/128",
        "0:0:0:0:0:0:0:1/128",
        "[::1]/128",
        "::/127",
    ),
    *("::/126", "fe80::/10", "fe80::1/128", "fe80::1%1/64", "::fffe:0:0/95", "::fffe:0:0/96", "::/96"),
)
UNREADABLE = (
    *("10.0.0.0/33", "10.0.0/24", "fe80::1%eth0/64", "::ffff:10.0.0.0/120", "10.0.0.0/", "/8", "::1/129"),
)
GLOBS = ("10.0.0.?", "10.*", "*.7", "?*", "fe80*", "*%eth0", "0:*", "**", "*.*", "*:*")
GLOB_PRINCIPALS = ("*:a", "User:?", "*:*")

PRINCIPALS = ("User:a", "User:a", "User:*", "User:b", "bob", "Group:*", "User:a*")
OPERATIONS = (Operation.READ, Operation.ALL, Operation.DESCRIBE, Operation.WRITE, Operation.ALTER_CONFIGS)
KINDS = (ResourceType.TOPIC,) * 3 + (ResourceType.GROUP,)

STRANGE_INTERFACE = "%zz9"


def random_world_of_hosts(
    rng: random.Random, *, authorizer: str | None = None
) -> tuple[tuple[AclBinding, ...], AuthorizerSettings]:
    """Return ACLs on the names `t` and `t2`, few hosts in all, now and then a value that a newer Kafka wrote."""
    authorizer = authorizer or rng.choice(("standard", "standard", "standard", "acl"))
    newest_half_of_the_time = ("",) * len(VERSIONS[authorizer])
    settings = AuthorizerSettings(
        authorizer,
        rng.choice((*VERSIONS[authorizer], *newest_half_of_the_time)),
        super_users=frozenset(rng.choice(((), (), (), ("User:a",)))),
        allow_everyone=rng.random() < 0.4,
        undeclared=frozenset(
            rng.choice(((), (), (), ("allow_everyone",), ("super_users", "allow_everyone")))
        ),
    )
    pools = [SINGLE, RANGES, RANGES, NOBODYS, UNREADABLE, ("*",), ("*",)]
    principals: tuple[str, ...] = PRINCIPALS
    if settings.has_globs:
        pools, principals = [*pools, GLOBS, GLOBS], (*PRINCIPALS, *GLOB_PRINCIPALS)
    hosts = [rng.choice(rng.choice(pools)) for _ in range(rng.randint(1, 6))]
    bindings = []
    for _ in range(rng.randrange(6 if settings.has_globs else 11)):
        binding = AclBinding(
            resource_type=rng.choice(KINDS),
            resource_name=rng.choice(("t", "t", "t", "*", "t2")),
            pattern_type=rng.choice((PatternType.LITERAL,) * 3 + (PatternType.PREFIXED,)),
            principal=rng.choice(principals),
            host=rng.choice(hosts),
            operation=rng.choice(OPERATIONS),
            permission_type=rng.choice((PermissionType.ALLOW, PermissionType.ALLOW, PermissionType.DENY)),
        )
        if rng.random() < 0.03:
            binding = replace(binding, permission_type=PermissionType.UNKNOWN)
        if rng.random() < 0.03:
            binding = replace(binding, operation=Operation.UNKNOWN)
        if rng.random() < 0.03:
            binding = replace(binding, pattern_type=PatternType.UNKNOWN)
        if rng.random() < 0.01:
            binding = replace(binding, resource_type=ResourceType.UNKNOWN)
        bindings.append(binding)
    return tuple(dict.fromkeys(bindings)), settings


def addresses_apart(bindings: Iterable[AclBinding]) -> tuple[str, ...]:
    """Return addresses that clients can have: those that the hosts name, around and in their ranges, and others.

    0.0.0.0, which no client has, is among them only if an ACL names it.
    """
    hosts = dict.fromkeys(binding.host for binding in bindings)
    found = dict.fromkeys(
        ("203.0.113.9", "198.51.100.77", "10.1.0.7", "2001:db8:0:0:0:0:0:7", "2001:db8:0:0:0:0:0:7%eth0")
    )
    for host in hosts:
        span, single = read_range(host), read_address(host)
        numbers: list[tuple[int, int]] = []
        if span is not None:
            bits, start, length = span
            size = 1 << bits - length
            first = start // size * size
            numbers = [(bits, first + step) for step in (-1, 0, 1, size - 2, size - 1, size, size + 1)]
        elif single is not None:
            found[host] = None
            numbers = [(single[0], single[1] + step) for step in (-1, 0, 1, 2)]
        for bits, number in numbers:
            if 0 <= number < 1 << bits:
                address = as_java_prints(str(IPv4Address(number) if bits == 32 else IPv6Address(number)))
                found |= {address: None} if bits == 32 else {address: None, address + STRANGE_INTERFACE: None}
    return tuple(
        address for address in found if is_address(address) and (address != "0.0.0.0" or address in hosts)
    )
