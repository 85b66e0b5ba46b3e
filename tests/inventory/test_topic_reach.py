"""Is the reach of all principals at once that which each principal's page has?"""

import random
from types import SimpleNamespace

import pytest

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import ANY_USER, Operation, ResourceType
from aclweb.clusters import Known
from aclweb.inventory.access.principal import access_of
from aclweb.inventory.access.spans import joined, length, less
from aclweb.inventory.access.topic_reach import ADMINISTERING, TopicReach, _Counting, topic_reaches
from tests.builders import allow, deny
from tests.inventory.test_access import view_of
from tests.random_cases import PRINCIPALS, SCALE, random_name, random_world

NOBODY = "User:whom-no-acl-names"


def by_page(place, principal):
    found = access_of(place, principal)
    topics = [reach for reach in found.resources if reach.resource.resource_type is ResourceType.TOPIC]
    assert len(found.resources) == found.total
    return TopicReach(
        found.counts.get((ResourceType.TOPIC, Operation.READ), 0),
        found.counts.get((ResourceType.TOPIC, Operation.WRITE), 0),
        sum(not set(ADMINISTERING).isdisjoint(reach.operations) for reach in topics),
    )


@pytest.mark.half
@pytest.mark.parametrize("seed", range(60 * SCALE))
def test_it_is_what_the_page_of_each_principal_counts(seed):
    dice = random.Random(f"reach {seed}")
    world = random_world(dice)
    near = [binding.resource_name for binding in world.bindings]
    names = {random_name(dice, world.settings) for _ in range(12)} | set(near) | {name + "a" for name in near}
    place = view_of(world.bindings, world.settings, topics=names)

    found = topic_reaches(place)

    everybody = {*PRINCIPALS, *place.principals, ANY_USER, NOBODY}
    assert {who: found.of(who) for who in everybody} == {who: by_page(place, who) for who in everybody}


@pytest.mark.parametrize("seed", range(40 * SCALE))
def test_spans_hold_as_sets_do(seed):
    dice = random.Random(f"spans {seed}")
    some, others = (
        [(start, start + dice.randrange(6)) for start in dice.choices(range(30), k=dice.randrange(8))]
        for _ in range(2)
    )

    def places(spans):
        return {place for start, end in spans for place in range(start, end)}

    left = less(joined(some), joined(others))

    assert places(left) == places(some) - places(others)
    assert left == joined(left)
    assert length(left) == len(places(left))


HOSTS_BESIDE_EACH_OTHER = [
    (allow("User:bob", "READ", "*", host="10.0.0.9"), deny("User:bob", "READ", "orders", host="10.0.0.9")),
    (allow("User:bob", "READ", "*"), deny("User:bob", "READ", "orders", host="10.0.0.9")),
    (allow("User:bob", "READ", "*", host="10.0.0.9"), deny("User:*", "ALL", "orders", host="10.0.0.8")),
    (allow("User:bob", "READ", "*", host="search-01.example"),),
]


@pytest.mark.parametrize("bindings", HOSTS_BESIDE_EACH_OTHER)
def test_a_topic_counts_where_it_may_be_read_from_one_host_at_least(bindings):
    place = view_of(bindings, topics=["orders", "stock"])

    assert topic_reaches(place).of("User:bob") == by_page(place, "User:bob")


@pytest.mark.half
@pytest.mark.parametrize("seed", range(60 * SCALE))
def test_hosts_and_ranges_beside_each_other_count_as_on_the_page(seed):
    dice = random.Random(f"hosts {seed}")
    hosts = (
        "10.0.0.9",
        "10.0.0.8",
        "10.0.0.8/31",
        "10.0.0.0/8",
        "0.0.0.0/0",
        "::/0",
        "2001:db8::1",
        "*",
        "x.example",
    )
    names = ["orders", "orders.eu", "stock"]
    bindings = [
        dice.choice((allow, deny))(
            dice.choice(("User:bob", "User:eve", ANY_USER)),
            dice.choice(("READ", "WRITE", "ALL", "ALTER", "DELETE")),
            dice.choice((*names, "*")),
            host=dice.choice(hosts),
        )
        for _ in range(dice.randrange(3, 12))
    ]
    version = dice.choice((None, "3.9"))
    place = view_of(bindings, AuthorizerSettings(kafka_version=version), topics=names)

    found = topic_reaches(place)

    for who in ("User:bob", "User:eve", ANY_USER, NOBODY):
        assert found.of(who) == by_page(place, who), who


def test_addresses_beside_each_other_need_no_decision_name_by_name(monkeypatch):
    monkeypatch.setattr(_Counting, "_decided", None)
    bindings = [
        *HOSTS_BESIDE_EACH_OTHER[0],
        allow("User:eve", "WRITE", "*", host="10.0.0.9"),
        deny("User:eve", "WRITE", "stock"),
        deny("User:eve", "WRITE", "*", host="10.1.0.0/16"),
    ]

    found = topic_reaches(view_of(bindings, topics=["orders", "stock"]))

    assert found.of("User:eve") == TopicReach(0, 1, 0)
    assert found.of("User:bob") == TopicReach(1, 0, 0)


def test_without_a_list_of_topics_nothing_is_counted():
    place = view_of([allow("User:bob", "READ", "*")])

    assert topic_reaches(SimpleNamespace(known=lambda kind: Known.UNKNOWN)) is None
    assert topic_reaches(place) is not None


def test_super_users_reach_each_topic_that_exists():
    settings = AuthorizerSettings(super_users=frozenset({"User:admin"}))

    found = topic_reaches(view_of([deny("User:admin", "ALL", "*")], settings, topics=["orders", "stock"]))

    assert found.of("User:admin") == TopicReach(2, 2, 2)


def test_a_topic_with_two_ways_to_administer_it_counts_once():
    bindings = [
        allow("User:bob", "DELETE", "orders"),
        allow("User:bob", "ALTER_CONFIGS", "*"),
        deny("User:bob", "ALTER_CONFIGS", "stock"),
        allow("User:eve", "CREATE", "*"),
    ]

    found = topic_reaches(view_of(bindings, topics=["orders", "pay", "stock"]))

    assert found.of("User:bob") == TopicReach(0, 0, 2)
    assert found.of("User:eve") == TopicReach(0, 0, 0)
