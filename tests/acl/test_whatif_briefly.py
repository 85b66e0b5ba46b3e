"""Hosts that only ACLs for others name are left out of a brief what-if, and nothing else is."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from aclweb.acl.authorizer.answers import Basis
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.acl.simulate import Effect, Impact, Names, Side, simulate
from tests.builders import allow, deny
from tests.random_cases import SCALE

WORLDS = 150 * SCALE
LISTS = ("gains", "loses", "recovered", "depends")
RANGES = ("10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "192.168.0.0/16")
HOSTS = ("*", "*", *RANGES, "10.1.2.3", "10.2.0.1", "192.168.0.1", "172.16.0.1")
NAMES = ("orders", "orders-eu", "payments")
EVERYBODY = "User:*"


def one(rng: random.Random, principals: tuple[str, ...]) -> AclBinding:
    return AclBinding(
        resource_type=ResourceType.TOPIC,
        resource_name=rng.choice((*NAMES, "ord", "*")),
        pattern_type=rng.choice((PatternType.LITERAL, PatternType.PREFIXED)),
        principal=rng.choice(principals),
        host=rng.choice(HOSTS),
        operation=rng.choice((Operation.READ, Operation.WRITE, Operation.ALL)),
        permission_type=rng.choice((PermissionType.ALLOW, PermissionType.ALLOW, PermissionType.DENY)),
    )


def effects(impact: Impact) -> list[tuple[str, Effect]]:
    """Every effect with its list, without what counts classes, names those of others or covers a refusal."""
    return [
        (
            name,
            replace(
                effect,
                except_hosts=(),
                reason=None,
                cells=0,
                before=plain(effect.before),
                after=plain(effect.after),
            ),
        )
        for name in LISTS
        for effect in getattr(impact, name)
    ]


def plain(side: Side) -> Side:
    """A brief what-if shows no ACL for a refusal that comes from none allowing."""
    return replace(side, determining=()) if side.basis is Basis.NO_ALLOW_ACL else side


def holds(outer: str, inner: str) -> bool:
    part: Any = ip_network(inner, strict=False)  # of the same family as `outer`
    return "/" in outer and part.subnet_of(ip_network(outer, strict=False))


@pytest.mark.parametrize("allow_everyone", [False, True])
def test_only_hosts_with_the_result_of_the_narrowest_range_are_left_out(allow_everyone: bool) -> None:
    left_out = 0
    for seed in range(WORLDS):
        rng = random.Random(f"briefly {allow_everyone} {seed}")
        stored = [one(rng, ("User:a", "User:b", "User:c", EVERYBODY)) for _ in range(rng.randrange(1, 9))]
        changed = rng.choice((("User:a",), ("User:a", "User:b")))
        add = [acl for acl in (one(rng, changed) for _ in range(rng.randrange(1, 3))) if acl not in stored]
        remove = [acl for acl in dict.fromkeys(stored) if acl.principal in changed and rng.random() < 0.3]
        delta = Delta(add=tuple(dict.fromkeys(add)), remove=tuple(remove))
        index, names, settings = (
            AclIndex(stored),
            Names(topics=NAMES),
            AuthorizerSettings(allow_everyone=allow_everyone),
        )

        whole = effects(simulate(delta, index, names, settings))
        brief = effects(simulate(delta, index, names, settings, merge_equal_hosts=True))

        touched = {acl.principal for acl in (*delta.add, *delta.remove)}
        kept = {acl.host for acl in (*stored, *delta.add) if acl.principal in touched | {EVERYBODY}} | {"*"}
        assert set(brief) == {each for each in whole if each[1].host in kept}, f"seed {seed}"
        for name, effect in whole:
            if effect.host in kept:
                continue
            around = [host for host in kept if holds(host, effect.host)]
            place = max(around, key=lambda host: ip_network(host, strict=False).prefixlen, default="*")
            twin = replace(effect, host=place)
            assert (name, twin) in brief, f"seed {seed}: {effect}"
            left_out += 1
    assert left_out > WORLDS / 3


def test_what_others_may_from_hundreds_of_addresses_makes_no_lines_of_its_own() -> None:
    others = [allow(f"User:{place}", "READ", "orders", host=f"10.0.0.{place}") for place in range(200)]
    delta = Delta(add=(allow("User:new", "READ", "orders", host="10.0.0.0/8"),))

    impact = simulate(delta, AclIndex(others), Names(topics=NAMES), merge_equal_hosts=True)

    assert {effect.host for effect in impact.gains} == {"10.0.0.0/8"}


def test_every_host_counts_where_an_acl_for_everybody_changes() -> None:
    stored = [allow("User:a", "READ", "orders", host="10.0.0.1")]
    delta = Delta(add=(allow(EVERYBODY, "READ", "orders", host="10.0.0.0/8"),))
    index, names = AclIndex(stored), Names(topics=NAMES)

    assert effects(simulate(delta, index, names, merge_equal_hosts=True)) == effects(
        simulate(delta, index, names)
    )


def test_every_host_counts_that_an_acl_over_a_new_topic_names() -> None:
    stored = [
        allow("User:other", "READ", "*", host="10.0.0.0/8"),
        allow("User:other", "READ", "*", host="192.168.0.1"),
        allow("User:third", "WRITE", "payments", host="172.16.0.1"),
    ]
    delta = Delta(add=(allow("User:a", "READ", "orders"),))
    index, names = AclIndex(stored), Names(topics=NAMES, new_topics=("fresh",))

    brief = simulate(delta, index, names, merge_equal_hosts=True)

    on_fresh = {effect.host for effect in brief.gains if effect.resource_name == "fresh"}
    assert on_fresh == {"10.0.0.0/8", "192.168.0.1"}
    assert "172.16.0.1" not in {host for effect in brief.depends for host in effect.except_hosts}


def test_everybody_less_many_hosts_is_never_fewer_cells_than_none() -> None:
    stored = [
        allow("User:other", "READ", "*"),
        *(deny("User:other", "READ", "*", host=f"10.0.0.{n}") for n in range(9)),
    ]
    delta = Delta(add=(allow("User:a", "READ", "orders"),))

    brief = simulate(delta, AclIndex(stored), Names(new_topics=("fresh",)), merge_equal_hosts=True)

    assert min(effect.cells for effect in brief.gains) > 0
