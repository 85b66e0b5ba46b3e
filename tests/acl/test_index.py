"""The index finds every binding that covers a resource, no other, and in Kafka's order."""

from __future__ import annotations

import pickle
import random

import pytest

from aclweb.acl.authorizer.decision import authorize, decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching.patterns import PrefixChain, code_units
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, AclError, Resource, ResourceType
from tests import reference
from tests.builders import acl, allow, ask, deny, group, topic
from tests.random_cases import SCALE, random_name, random_world

CASES = 1_000 * SCALE


def scan_order(binding: AclBinding) -> tuple[object, ...]:
    """Kafka's order, but for the name, which is compared the other way round."""
    return (
        binding.pattern_type.value,
        binding.operation.value,
        binding.principal.encode("utf-16-be"),
        binding.host.encode("utf-16-be"),
        binding.permission_type.value,
    )


def test_affecting_is_every_covering_binding_in_the_order_of_kafkas_scan() -> None:
    found_some = 0
    for seed in range(CASES):
        rng = random.Random(f"affecting {seed}")
        world = random_world(rng)
        index = AclIndex(world.bindings)
        near = rng.choice(world.bindings).resource_name if world.bindings else ""
        name = rng.choice((near, near + "a", random_name(rng, world.settings)))
        for kind in (ResourceType.TOPIC, ResourceType.GROUP):
            expected = {b for b in world.bindings if reference.covers(b, kind, name, world.settings)}
            ordered = sorted(expected, key=scan_order)
            ordered.sort(key=lambda b: b.resource_name.encode("utf-16-be"), reverse=True)

            assert index.affecting(Resource(kind, name), world.settings) == tuple(ordered), f"seed {seed}"
            found_some += bool(expected)
    assert found_some > CASES / 4


def test_the_longest_names_come_first_and_the_wildcard_last() -> None:
    wildcard = deny("User:*", "WRITE", "*")
    short = allow("User:bob", "READ", "pay", pattern="PREFIXED")
    same_name_prefix = allow("User:bob", "READ", "payments", pattern="PREFIXED")
    exact = allow("User:ada", "READ", "payments")
    index = AclIndex([wildcard, short, same_name_prefix, exact, allow("User:bob", "READ", "paypal")])

    assert index.affecting(topic("payments")) == (exact, same_name_prefix, short, wildcard)


def test_equal_bindings_count_once_in_first_seen_order() -> None:
    first, second = allow("User:a", "READ", "x"), allow("User:b", "READ", "x")

    index = AclIndex([first, second, first])

    assert index.bindings == (first, second)
    assert len(index) == 2
    assert first in index
    assert deny("User:a", "READ", "x") not in index


def test_names_are_never_normalised() -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    index = AclIndex([allow("User:a", "READ", composed, resource_type="GROUP")])

    assert len(index.affecting(group(composed))) == 1
    assert index.affecting(group(decomposed)) == ()
    assert index.affecting(group(composed.upper())) == ()


def test_the_prefixes_of_a_name_are_found_however_deep_they_nest() -> None:
    name = "abcdefgh" * 30
    prefixes = [name[:length] for length in range(1, len(name), 7)]
    chain = PrefixChain.of([*prefixes, *(prefix + "~" for prefix in prefixes)])

    found = [chain.prefixes[place] for place in chain.places(name)]

    assert found == sorted(prefixes, key=len, reverse=True)


def test_texts_sort_by_utf_16_code_units_as_in_java() -> None:
    texts = ["\uffff", "\U0001f600", "z", "", "\ue000", "é", "a\U0001f600", "a\uffff"]

    assert sorted(texts, key=code_units) == sorted(texts, key=lambda text: text.encode("utf-16-be"))


def test_an_index_travels_as_its_bindings() -> None:
    index = AclIndex([allow("User:a", "READ", "x", pattern="PREFIXED"), deny("User:a", "READ", "x")])
    index.affecting(topic("xy"))

    twin = pickle.loads(pickle.dumps(index))

    assert twin.bindings == index.bindings
    assert twin.affecting(topic("xy"), AuthorizerSettings()) == index.affecting(
        topic("xy"), AuthorizerSettings()
    )


@pytest.mark.parametrize("field", [{"pattern": "MATCH"}, {"pattern": "ANY"}, {"resource_type": "ANY"}])
def test_what_is_only_for_filters_is_no_acl(field: dict[str, str]) -> None:
    with pytest.raises(AclError, match=r"\.$"):
        AclIndex([allow("User:a", "READ", "x", **field)])


def test_any_is_no_operation_and_no_permission_of_an_acl() -> None:
    with pytest.raises(AclError):
        AclIndex([allow("User:a", "ANY", "x")])
    with pytest.raises(AclError):
        AclIndex([acl("ANY", "User:a", "READ", "x")])


@pytest.mark.parametrize("authorizer", ["standard", "glob"])
def test_an_address_is_looked_up_once_for_all_texts_of_one_range(authorizer: str) -> None:
    rng = random.Random(f"ranges {authorizer}")
    settings = AuthorizerSettings(authorizer)
    bindings = [
        rng.choice((allow, allow, allow, deny))(
            rng.choice(("User:a", "User:*")),
            rng.choice(("READ", "WRITE", "ALTER")),
            rng.choice("abc"),
            pattern=rng.choice(("LITERAL", "PREFIXED")),
            host=f"10.0.{rng.randrange(3)}.{rng.randrange(256)}/{rng.choice((8, 23, 24, 25, 26))}",
        )
        for _ in range(600)
    ]
    index = AclIndex(bindings)

    for _ in range(300 * SCALE):
        request = ask(
            rng.choice(("User:a", "User:b")),
            rng.choice(("READ", "WRITE", "ALTER", "DESCRIBE")),
            rng.choice(("a", "b", "bc", "c", "d")),
            host=f"10.0.{rng.randrange(4)}.{rng.randrange(256)}",
        )
        decision = authorize(request, index, settings)
        assert decide(request, index, settings) == (decision.result, decision.basis), request

    table = index.table(ResourceType.TOPIC)
    assert table is not None
    assert len(list(table.ranges["User:a"].holding("10.0.1.7"))) <= 5


def test_an_index_of_bindings_known_to_differ_is_that_of_any() -> None:
    bindings = [allow(f"User:u{number % 3}", "READ", f"t{number}") for number in range(9)]
    index = AclIndex.of_distinct(iter(bindings))

    assert index.bindings == AclIndex(bindings).bindings == tuple(bindings)
    assert pickle.loads(pickle.dumps(index)).bindings == tuple(bindings)
    with pytest.raises(AclError, match="word for filters"):
        AclIndex.of_distinct([allow("User:a", "ANY", "t")])
