"""Do two principals side by side say of each name and operation what each one's own page says?"""

import random

import pytest

from aclweb.acl.model.vocabulary import ANY_USER
from aclweb.inventory.access.principal import access_of
from aclweb.inventory.access.two_principals import BOTH, ONLY_FIRST, ONLY_SECOND, OTHER_HOSTS, compare
from tests.builders import allow, deny
from tests.inventory.test_access import view_of
from tests.random_cases import PRINCIPALS, SCALE, random_name, random_world


def rights_by_page(place, principal):
    return {
        (reach.resource.resource_type, reach.resource.name, operation)
        for reach in access_of(place, principal).resources
        for operation in reach.operations
    }


def rights(found, *relations):
    return {
        (row.resource_type, name, operation)
        for relation in relations
        for row in found.rows[relation]
        for name in row.names
        for operation in row.operations
    }


@pytest.mark.half
@pytest.mark.parametrize("seed", range(40 * SCALE))
def test_each_right_is_that_of_the_pages_of_the_two(seed):
    dice = random.Random(f"compared {seed}")
    world = random_world(dice)
    near = [binding.resource_name for binding in world.bindings]
    names = {random_name(dice, world.settings) for _ in range(8)} | set(near)
    place = view_of(world.bindings, world.settings, topics=names, groups=tuple(sorted(names)))
    first, second = dice.sample([*PRINCIPALS, ANY_USER], 2)

    found = compare(place, first, second)

    listed = {"TOPIC", "GROUP", "CLUSTER"}
    one, other = (
        {right for right in rights_by_page(place, who) if right[0].name in listed} for who in (first, second)
    )
    told = {
        relation: {right for right in rights(found, relation) if right[0].name in listed}
        for relation in (ONLY_FIRST, ONLY_SECOND, BOTH, OTHER_HOSTS)
    }
    assert told[ONLY_FIRST] == one - other
    assert told[ONLY_SECOND] == other - one
    assert told[BOTH] | told[OTHER_HOSTS] == one & other
    assert all(found.counts[relation] == len(rights(found, relation)) for relation in found.rows)


def test_names_on_which_they_differ_alike_are_one_row_with_the_acls_of_each():
    wide = allow("User:bob", "READ", "*")
    own = allow("User:eve", "READ", "orders.", pattern="PREFIXED")

    found = compare(view_of([wide, own], topics=["orders.eu", "orders.us", "stock"]), "User:bob", "User:eve")

    (both,) = [row for row in found.rows[BOTH] if "READ" in [operation.name for operation in row.operations]]
    assert both.names == ("orders.eu", "orders.us")
    assert (both.first, both.second) == ((wide,), (own,))
    assert [row.names for row in found.rows[ONLY_FIRST]] == [("stock",)]
    assert found.rows[ONLY_SECOND] == ()


def test_where_names_are_unknown_it_is_said_which_count():
    bindings = [
        allow("User:bob", "WRITE", "payout-", resource_type="TRANSACTIONAL_ID", pattern="PREFIXED"),
        allow("User:eve", "WRITE", "payout-1", resource_type="TRANSACTIONAL_ID"),
        allow("User:cat", "READ", "orders"),
    ]
    place = view_of(bindings, topics=["orders"])

    found = compare(place, "User:bob", "User:eve")

    assert "so which transactional ids exist is unknown." in " ".join(found.sentences)
    assert found.sentences[-1].startswith("Where that is unknown, the names count that ACLs for the two")
    assert compare(place, "User:cat", "User:dan").limits == ()


def test_a_right_from_other_hosts_is_apart():
    bindings = [
        allow("User:bob", "WRITE", "orders", host="10.0.0.9"),
        allow("User:eve", "WRITE", "orders"),
        allow("User:cat", "WRITE", "orders", host="10.0.0.9"),
        deny("User:dan", "WRITE", "orders"),
    ]
    place = view_of(bindings, topics=["orders"])

    assert compare(place, "User:bob", "User:eve").counts[OTHER_HOSTS] > 0
    assert compare(place, "User:bob", "User:cat").counts[OTHER_HOSTS] == 0
    assert compare(place, "User:bob", "User:cat").sentence.startswith("Both can do the same: ")
    assert compare(place, "User:bob", "User:dan").counts[ONLY_FIRST] > 0
