import random
from types import SimpleNamespace

import pytest

from aclweb.acl.authorizer.answers import Result
from aclweb.acl.authorizer.decision import decide
from aclweb.acl.model.authorizers import AuthorizerSettings, operations_of
from aclweb.acl.model.vocabulary import ANY_USER, AccessRequest, Operation, Resource, ResourceType
from aclweb.inventory.access.cells import AccessRow
from aclweb.inventory.access.matrix import Joined
from aclweb.inventory.access.principal import access_of
from tests.builders import allow, deny
from tests.inventory.test_access import ELSEWHERE, view_of
from tests.random_cases import HOSTS, PRINCIPALS, SCALE, random_name, random_world

LISTED = (ResourceType.TOPIC, ResourceType.GROUP)


@pytest.mark.half
@pytest.mark.parametrize("seed", range(40 * SCALE))
def test_what_a_principal_can_do_is_what_the_core_decides_for_every_existing_name(seed):
    dice = random.Random(f"principal {seed}")
    world = random_world(dice)
    near = [binding.resource_name for binding in world.bindings]
    names = {random_name(dice, world.settings) for _ in range(12)} | set(near) | {name + "a" for name in near}
    names = {name for name in names if name >= "*" or not world.settings.is_standard}
    place = view_of(world.bindings, world.settings, topics=names, groups=tuple(sorted(names)))
    for principal in dice.sample(PRINCIPALS, 3):
        found = access_of(place, principal)

        able = {
            reach.resource: set(reach.operations)
            for reach in found.resources
            if reach.resource.resource_type in LISTED
        }
        for kind in LISTED:
            for name in names:
                expected = {
                    operation
                    for operation in operations_of(kind, world.settings)
                    if any(
                        decide(
                            AccessRequest(principal, host, operation, kind, name), place.index, world.settings
                        )[0]
                        is Result.ALLOWED
                        for host in (ELSEWHERE, *HOSTS, *(f"10.0.0.{n}" for n in (1, 8, 15, 16)))
                    )
                }
                assert able.get(Resource(kind, name), set()) == expected, (principal, kind, name)


def test_each_line_names_the_acls_that_give_it():
    own, any_user = allow("User:bob", "READ", "orders"), allow(ANY_USER, "DESCRIBE", "*")

    found = access_of(view_of([own, any_user]), "User:bob")

    assert [(reach.resource.name, reach.determining) for reach in found.resources] == [
        ("orders", (own, any_user)),
        ("payments.eu", (any_user,)),
    ]
    assert (found.own, found.inherited, found.denies) == ((own,), (any_user,), ())
    assert found.sentences == (
        "User:bob can read 1 topic.",
        "1 ACL names it and 1 counts for any user.",
    )


def test_a_deny_takes_away_and_is_listed():
    no = deny(ANY_USER, "WRITE", "pay", pattern="PREFIXED")

    found = access_of(view_of([allow("User:bob", "WRITE", "*"), no]), "User:bob")

    assert found.denies == (no,)
    assert found.counts[ResourceType.TOPIC, Operation.WRITE] == 1
    assert "1 of these 2 is a DENY" in found.sentences[1]


def test_a_principal_that_no_acl_names_can_do_nothing_and_that_is_said():
    found = access_of(view_of([allow("User:bob", "READ", "orders")]), "User:Bob")

    assert found.resources == ()
    assert found.sentences[0] == "User:Bob can do nothing with anything that exists now."


def test_a_super_user_is_reported_as_one():
    found = access_of(view_of([], AuthorizerSettings(super_users=frozenset({"User:root"}))), "User:root")

    assert found.is_super_user
    assert "may do everything" in found.sentences[0]


def test_an_open_default_gives_what_no_acl_covers():
    place = view_of([allow("User:eve", "READ", "orders")], AuthorizerSettings(allow_everyone=True))

    found = access_of(place, "User:bob")

    assert [reach.resource.name for reach in found.resources] == ["kafka-cluster", "payments.eu"]
    assert found.resources[0].determining == ()


def test_transactional_ids_are_known_by_the_acls_that_name_them():
    binding = allow("User:bob", "WRITE", "tx-1", resource_type="TRANSACTIONAL_ID")

    found = access_of(view_of([binding]), "User:bob")

    assert [reach.resource for reach in found.resources] == [Resource(ResourceType.TRANSACTIONAL_ID, "tx-1")]


def test_a_right_on_fifty_thousand_topics_is_counted_whole_and_listed_in_part():
    place = view_of([allow("User:bob", "READ", "*")], topics=[f"t{n}" for n in range(50_000)])

    found = access_of(place, "User:bob")

    assert found.total == found.counts[ResourceType.TOPIC, Operation.READ] == 50_000
    assert len(found.resources) == 1000
    assert found.sentences[0] == "User:bob can read 50,000 topics."


def test_the_work_for_a_principal_grows_with_its_acls_and_not_with_their_square(monkeypatch):
    joined = []

    def counted(bindings):
        kept = tuple(bindings)
        joined.append(len(kept))
        return Joined.of(kept)

    monkeypatch.setattr("aclweb.inventory.access.principal.Joined", SimpleNamespace(of=counted))
    own = [allow("User:bob", "READ", f"t{n:03d}.", pattern="PREFIXED") for n in range(400)]
    place = view_of(own, topics=[f"t{n:03d}.{part}" for n in range(400) for part in range(5)])

    found = access_of(place, "User:bob")

    assert found.total == 2000
    assert sum(joined) == 400  # each ACL is looked at in the one piece that it covers


def test_who_gives_a_right_is_worked_out_for_the_listed_names_only(monkeypatch):
    told = []

    def counted(row, verdict):
        told.append(verdict)
        return ()

    monkeypatch.setattr(AccessRow, "determining", counted)
    own = [allow("User:bob", "WRITE", f"t{n:04d}") for n in range(3000)]
    place = view_of(own, topics=[f"t{n:04d}" for n in range(3000)])

    found = access_of(place, "User:bob")

    assert (found.total, len(found.resources)) == (3000, 1000)
    assert len(told) == 1000 * 2  # Write, and the Describe that comes with it
