"""Which fewest ACLs would have allowed several denied requests together?"""

import random

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.logged import Choices, Used, smallest_set
from aclweb.acl.model import AccessRequest, AuthorizerSettings, Operation, ResourceType
from tests.builders import allow, deny

SETTINGS = AuthorizerSettings()


def denied(principal, operation, name, host="10.0.0.7", lines=3, kind="TOPIC"):
    return Used(AccessRequest(principal, host, Operation[operation], ResourceType[kind], name), lines)


def test_describe_needs_no_acl_of_its_own_beside_read():
    asked = [denied("User:bob", "DESCRIBE", "orders"), denied("User:bob", "READ", "orders")]

    found = smallest_set(asked, AclIndex([]), SETTINGS)

    assert found.bindings == (allow("User:bob", "READ", "orders", host="10.0.0.7"),)
    assert (found.allowed, found.lines, found.not_allowed) == (6, 6, ())


def test_what_is_allowed_by_now_and_what_a_deny_forbids_get_no_acl():
    index = AclIndex([allow("User:bob", "READ", "orders"), deny("User:eve", "READ", "orders")])
    asked = [denied("User:bob", "READ", "orders"), denied("User:eve", "READ", "orders")]

    found = smallest_set(asked, index, SETTINGS)

    assert (found.bindings, found.already, found.allowed) == ((), 3, 3)
    assert [each.request.principal for each in found.not_allowed] == ["User:eve"]


def test_one_prefix_and_any_host_can_take_the_place_of_several_acls():
    asked = [
        denied("User:bob", "READ", "orders.a"),
        denied("User:bob", "READ", "orders.b", host="10.0.0.8"),
        denied("User:bob", "DESCRIBE", "orders.c"),
    ]

    exact = smallest_set(asked, AclIndex([]), SETTINGS)
    wide = smallest_set(asked, AclIndex([]), SETTINGS, Choices(names="first-delimiter", hosts="any"))

    assert len(exact.bindings) == 3
    assert wide.bindings == (allow("User:bob", "READ", "orders.", pattern="PREFIXED"),)
    assert wide.allowed == wide.lines


def test_every_set_allows_all_that_it_says_and_none_of_it_could_be_left_out():
    dice = random.Random(7)
    sizes = set()
    for _ in range(60):
        asked = list(
            {
                denied(
                    dice.choice(["User:a", "User:b"]),
                    dice.choice(["READ", "WRITE", "DESCRIBE"]),
                    dice.choice(["x", "y.1", "y.2", "y.3"]),
                    host=dice.choice(["10.0.0.1", "10.0.0.2"]),
                ): None
                for _ in range(dice.randint(1, 9))
            }
        )
        choices = Choices(names=dice.choice(["exact", "first-delimiter"]), hosts=dice.choice(["seen", "any"]))
        index = AclIndex([deny("User:b", "WRITE", "x")] if dice.random() < 0.5 else [])

        found = smallest_set(asked, index, SETTINGS, choices)

        def refused(bindings, asked=asked, index=index):
            whole = AclIndex([*index, *bindings])
            return [each for each in asked if decide(each.request, whole, SETTINGS)[0] is not Result.ALLOWED]

        assert refused(found.bindings) == list(found.not_allowed)
        for binding in found.bindings:
            assert len(refused(set(found.bindings) - {binding})) > len(found.not_allowed)
        sizes.add(len(found.bindings))
    assert len(sizes) > 3
