"""How many may read or write: counted of one name, and of each name at once, as the matrix of its page has it."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import Operation, Resource, ResourceType
from aclweb.inventory.access.able import Able, able_with, able_with_each, allowed_rows, is_unsure
from aclweb.inventory.access.resource import resource_access
from aclweb.inventory.lists import every_name
from tests.builders import allow, deny
from tests.inventory.test_access import view_of
from tests.random_cases import SCALE, random_name, random_world, with_unknowns

READ, WRITE = Operation.READ, Operation.WRITE
TOPIC = ResourceType.TOPIC


def by_the_matrix(view, kind, name, operation) -> Able:
    """Count the rows of the page, the slow way."""
    rows = resource_access(view, Resource(kind, name)).rows
    named = [row for row in rows if row.kind == "principal" and not row.is_super_user]
    anybody = next(row for row in rows if row.kind == "any-user")
    open_to_all = anybody.verdict(operation)
    assert open_to_all is not None
    if open_to_all.is_allowed_somewhere:
        return Able(any_user=open_to_all.state)
    return Able(len(allowed_rows(named, operation)), "", is_unsure([*named, anybody], operation))


def test_both_ways_of_counting_say_what_the_matrix_says():
    seen = Counter()
    for seed in range(60 * SCALE):
        chance = random.Random(seed)
        world = random_world(chance)
        bindings = (with_unknowns(chance, world) if seed % 4 == 0 else world).bindings
        settings = world.settings
        if seed % 3 == 0:
            settings = AuthorizerSettings(
                settings.authorizer, settings.kafka_version, undeclared=frozenset({"allow_everyone"})
            )
        topics = {random_name(chance, settings) for _ in range(6)} - {""}
        view = view_of(bindings, settings, topics=topics)
        for kind, operation in ((TOPIC, READ), (TOPIC, WRITE), (ResourceType.GROUP, READ)):
            each = able_with_each(view, kind, operation)
            assert list(each) == list(every_name(view, kind))
            for name, able in each.items():
                assert able == by_the_matrix(view, kind, name, operation), (seed, name, operation)
                assert able_with(view, Resource(kind, name), (operation,)) == (able,), (seed, name)
                seen[bool(able.count), able.any_user, able.unsure] += 1

    kinds = {(count > 0, any_user, unsure) for count, any_user, unsure in seen}
    assert len(kinds) >= 7, "no kind of answer is rare"
    assert min(seen[True, "", False], seen[False, "some-hosts", False], seen[True, "", True]) > 10 * SCALE


@pytest.mark.parametrize(
    ("acls", "words"),
    [
        ([allow("User:bob", "READ", "orders"), allow("User:cat", "ALL", "*")], "2"),
        ([allow("User:bob", "READ", "*"), deny("User:*", "READ", "ord", pattern="PREFIXED")], "0"),
        ([allow("User:bob", "READ", "*"), deny("User:*", "READ", "orders", host="10.0.0.1")], "1"),
        ([allow("User:*", "READ", "orders"), allow("User:bob", "READ", "orders")], "any user"),
        ([allow("User:*", "READ", "orders", host="10.0.0.1")], "any user, from some hosts"),
        ([allow("User:admin", "READ", "orders"), allow("nobody", "READ", "orders")], "0"),
        ([allow("User:bob", "DESCRIBE", "orders"), allow("User:bob", "READ", "other")], "0"),
    ],
)
def test_readers_are_said_in_a_word(acls, words):
    view = view_of(acls, AuthorizerSettings(super_users=frozenset({"User:admin"})), topics=["orders"])

    assert able_with_each(view, TOPIC, READ)["orders"].words == words


def test_without_an_acl_the_default_decides_and_undeclared_it_is_unknown():
    def words(**facts):
        view = view_of([allow("User:bob", "READ", "other")], AuthorizerSettings(**facts), topics=["orders"])
        return able_with_each(view, TOPIC, READ)["orders"].words

    assert words() == "0"
    assert words(allow_everyone=True) == "any user"
    assert words(undeclared=frozenset({"allow_everyone"})) == ""


def test_any_user_sorts_above_numbers_and_what_is_unknown_below_them():
    in_order = [
        Able(0, "", True),
        Able(0),
        Able(2),
        Able(10),
        Able(any_user="some-hosts"),
        Able(any_user="allowed"),
    ]

    assert sorted((in_order[place] for place in (3, 5, 0, 4, 1, 2)), key=lambda able: able.rank) == in_order
