"""Seeded worlds of ACLs and questions about them, balanced so that no answer is rare.

Names are short and made of few letters, so that prefixes collide, nest and meet literals
and the wildcard. For the `standard` engine no name starts with a character that sorts
before the asterisk: such names are left out of every test. Worlds of the authorizer `glob` hold
globs of names, principals and hosts beside all that.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from aclweb.acl.model.authorizers import OPERATIONS, VERSIONS, AuthorizerSettings
from aclweb.acl.model.vocabulary import (
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)

SCALE = 50 if os.environ.get("ACLWEB_TEST_SCALE") == "full" else 1
"""How many times the usual number of cases to try."""

FIRST = "abα*+"
LATER = "ab.*- é\U0001f600"
BELOW_ASTERISK = " #"
PRINCIPALS = ("User:a", "User:b", "User:a:b", "Group:a", "User:A", "User:CN=a,O=b")
ACL_PRINCIPALS = (*PRINCIPALS, "User:*", "User:*", "User:*", "Group:*", "User:a*")
HOSTS = ("10.0.0.7", "10.0.0.9", "0:0:0:0:0:0:0:1", "192.168.1.1", "0.0.0.0")
ACL_HOSTS = ("*", "*", "*", "*", *HOSTS, "::1", "10.0.0.0/24", "10.0.0.8/29", "::/16", "10.0.0.0/33")
GLOB_PRINCIPALS = ("User:?", "User:a*", "*:a", "Gr*:?", "*:*", "User:?:*", "User:CN=*,O=b", "?*:b")
GLOB_HOSTS = ("10.0.0.?", "10.*", "*.7", "0:*", "?*", "*:1")
TYPES = (ResourceType.TOPIC, ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)

CROWDED_OPERATIONS = (Operation.ALL, Operation.READ, Operation.WRITE, Operation.DESCRIBE)


@dataclass(frozen=True)
class World:
    """A set of ACLs with the rules that they are under."""

    bindings: tuple[AclBinding, ...]
    settings: AuthorizerSettings


def random_settings(rng: random.Random, *, authorizer: str | None = None) -> AuthorizerSettings:
    authorizer = authorizer or rng.choice(("standard", "acl"))
    newest_half_of_the_time = ("",) * len(VERSIONS[authorizer])
    return AuthorizerSettings(
        authorizer=authorizer,
        kafka_version=rng.choice((*VERSIONS[authorizer], *newest_half_of_the_time)),
        super_users=frozenset({"User:b"} if rng.random() < 0.1 else ()),
        allow_everyone=rng.random() < 0.3,
    )


def random_name(rng: random.Random, settings: AuthorizerSettings) -> str:
    """A name of up to four letters; sometimes empty, sometimes `*`."""
    length = rng.choice((0, 1, 1, 2, 2, 3, 4))
    first = FIRST if settings.is_kraft else FIRST + BELOW_ASTERISK
    return "".join([rng.choice(first if place == 0 else LATER) for place in range(length)])


def random_binding(rng: random.Random, settings: AuthorizerSettings, names: Iterable[str] = ()) -> AclBinding:
    """One ACL, often on a name from `names` or on a piece of one."""
    resource_type = rng.choice(TYPES)
    known = sorted(names)
    name = rng.choice(known) if known and rng.random() < 0.6 else random_name(rng, settings)
    pattern_type = rng.choice((PatternType.LITERAL, PatternType.PREFIXED))
    if rng.random() < 0.15:
        name, pattern_type = "*", rng.choice((PatternType.LITERAL,) * 3 + (PatternType.PREFIXED,))
    elif pattern_type is PatternType.PREFIXED:
        name = name[: rng.randint(0, len(name))] if rng.random() < 0.5 else name
        if not name and rng.random() < 0.8:
            name = "a"
    operations = (Operation.ALL, Operation.ALL, *OPERATIONS[resource_type])
    principals: tuple[str, ...] = ACL_PRINCIPALS
    hosts: tuple[str, ...] = ACL_HOSTS
    if settings.has_globs:
        principals, hosts = (*principals, *GLOB_PRINCIPALS), (*hosts, *GLOB_HOSTS)
        if rng.random() < 0.4:
            pattern_type, name = PatternType.GLOB, random_glob(rng, name)
    return AclBinding(
        resource_type=resource_type,
        resource_name=name,
        pattern_type=pattern_type,
        principal=rng.choice(principals),
        host=rng.choice(hosts),
        operation=rng.choice(operations),
        permission_type=PermissionType.DENY if rng.random() < 0.25 else PermissionType.ALLOW,
    )


def random_glob(rng: random.Random, name: str) -> str:
    """A glob that matches the name, or nearly."""
    letters: list[str] = []
    for letter in name:
        turn = rng.random()
        letters.append("?" if turn < 0.2 else "*" if turn < 0.4 else letter)
    if rng.random() < 0.4:
        letters.insert(rng.randint(0, len(letters)), rng.choice("*?"))
    return "".join(letters)


def random_request(rng: random.Random, world: World, *, by_type: bool = False) -> AccessRequest:
    """A question, mostly about something that an ACL of the world is near to."""
    near = rng.choice(world.bindings) if world.bindings and rng.random() < 0.85 else None
    resource_type = near.resource_type if near is not None else rng.choice(TYPES)
    name = near.resource_name if near is not None else random_name(rng, world.settings)
    if rng.random() < 0.3:
        name = _neighbour(rng, name, world.settings)
    principal, host = rng.choice(PRINCIPALS), rng.choice(HOSTS)
    operation = rng.choice(OPERATIONS[resource_type])
    if near is not None and rng.random() < 0.8:
        principal = near.principal if near.principal in PRINCIPALS else principal
        host = near.host if near.host in HOSTS else host
        operation = near.operation if near.operation is not Operation.ALL else operation
        if near.operation is not Operation.ALL and rng.random() < 0.3:
            operation = Operation.DESCRIBE
    if rng.random() < 0.02:
        operation = Operation.ALL
    return AccessRequest(principal, host, operation, resource_type, None if by_type else name)


def random_world(rng: random.Random, *, authorizer: str | None = None, most: int = 24) -> World:
    """Up to `most` ACLs, with names that are pieces of each other."""
    settings = random_settings(rng, authorizer=authorizer)
    names = [random_name(rng, settings) for _ in range(3)]
    count = rng.randint(0, most) if rng.random() < 0.8 else rng.randint(0, 4)
    return World(tuple(random_binding(rng, settings, names) for _ in range(count)), settings)


def random_case(
    seed: int, *, authorizer: str | None = None, by_type: bool = False
) -> tuple[World, AccessRequest]:
    rng = random.Random(f"case {seed} {authorizer} {by_type}")
    world = random_world(rng, authorizer=authorizer)
    return world, random_request(rng, world, by_type=by_type)


def crowded_case(
    seed: int, *, authorizer: str | None = None, by_type: bool = False
) -> tuple[World, AccessRequest]:
    """A case in which many ACLs meet on few names and few principals, so that several settle it."""
    rng = random.Random(f"crowded {seed} {authorizer} {by_type}")
    settings = random_settings(rng, authorizer=authorizer)
    names = ("a", "ab", "ab.", "ab.c", "*", rng.choice(("*a", "", "b", "hardcode")))
    resource_type = rng.choice(TYPES)
    deny_share = rng.choice((0, 0.1, 0.3))
    bindings = tuple(
        AclBinding(
            resource_type=resource_type if rng.random() < 0.9 else rng.choice(TYPES),
            resource_name=rng.choice(names),
            pattern_type=rng.choice((PatternType.LITERAL, PatternType.PREFIXED)),
            principal=rng.choice(("User:a", "User:a", "User:*", "Group:a")),
            host=rng.choice(("*", "*", "10.0.0.7", "10.0.0.0/24")),
            operation=rng.choice(CROWDED_OPERATIONS),
            permission_type=PermissionType.DENY if rng.random() < deny_share else PermissionType.ALLOW,
        )
        for _ in range(rng.randint(1, 10))
    )
    name = None if by_type else rng.choice((*names, "ab.c", "ab.d"))
    operation = rng.choice(CROWDED_OPERATIONS[1:])
    request = AccessRequest("User:a", "10.0.0.7", operation, resource_type, name)
    return World(bindings, settings), request


def with_unknowns(rng: random.Random, world: World) -> World:
    """The same world with some values that a newer Kafka may have written."""
    return World(tuple(_with_unknowns(rng, binding) for binding in world.bindings), world.settings)


def _with_unknowns(rng: random.Random, binding: AclBinding) -> AclBinding:
    changed = binding
    if rng.random() < 0.15:
        changed = replace(changed, pattern_type=PatternType.UNKNOWN)
    if rng.random() < 0.15:
        changed = replace(changed, operation=Operation.UNKNOWN)
    if rng.random() < 0.15:
        changed = replace(changed, permission_type=PermissionType.UNKNOWN)
    if rng.random() < 0.05:
        changed = replace(changed, resource_type=ResourceType.UNKNOWN)
    return changed


def assert_balanced(answers: Counter[tuple[str, str]], bases: Iterable[str]) -> None:
    """Fail unless a fifth to four fifths of the answers are ALLOWED and each basis was met."""
    total = sum(answers.values())
    allowed = sum(count for (result, _), count in answers.items() if result == "ALLOWED")
    report = ", ".join(f"{basis} {count}" for (_, basis), count in sorted(answers.items()))
    print(f"{total} answers, {allowed / total:.0%} allowed: {report}")
    assert 0.2 <= allowed / total <= 0.8, report
    missing = set(bases) - {basis for _, basis in answers}
    assert not missing, f"no case ended with {sorted(missing)}: {report}"


def _neighbour(rng: random.Random, name: str, settings: AuthorizerSettings) -> str:
    """A name one letter longer or shorter, or an unrelated one."""
    turn = rng.random()
    if turn < 0.5:
        return name + rng.choice(LATER) if name else random_name(rng, settings)
    return name[:-1] if turn < 0.8 else random_name(rng, settings)
