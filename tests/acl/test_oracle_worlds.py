"""The worlds that Kafka's classes are asked about: repeatable, harmless to a broker, and not lopsided."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

from aclweb.acl.model.vocabulary import (
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from tests.oracle.comparing import differences, smallest
from tests.oracle.tally import Tally, host_class, name_class, principal_class
from tests.oracle.targets import Target
from tests.oracle.worlds import Dice, World, is_hazardous, make_world, worlds

ALLOW = AclBinding(
    ResourceType.TOPIC, "a", PatternType.LITERAL, "User:a", "*", Operation.READ, PermissionType.ALLOW
)
WORLD = World(
    seed="by hand",
    engine="standard",
    allow_everyone=False,
    super_users=(),
    bindings=(ALLOW,),
    principals=("User:a", "User:b"),
    hosts=("10.0.0.7",),
    actions=((ResourceType.TOPIC, "a", (Operation.READ, Operation.WRITE)),),
    type_questions=((ResourceType.TOPIC, Operation.READ),),
)


def test_the_dice_are_the_same_on_every_python():
    dice = Dice("a seed")

    assert [dice.below(1000) for _ in range(6)] == [542, 856, 68, 341, 91, 15]


def test_the_dice_are_fair():
    dice = Dice("fair")
    thrown = Counter(dice.below(10) for _ in range(50_000))

    assert set(thrown) == set(range(10))
    assert min(thrown.values()) > 4_700


@pytest.mark.parametrize("engine", ["standard", "acl"])
def test_a_world_is_the_same_for_the_same_seed_and_another_for_another(engine):
    made = [make_world(f"{number}", engine, "3.3") for number in range(200)]

    assert made == [make_world(f"{number}", engine, "3.3") for number in range(200)]
    assert len({world.line for world in made}) > 195
    assert [world.seed for world in islice(worlds("x", engine, "3.3"), 3)] == ["x/0", "x/1", "x/2"]


def test_a_world_comes_back_from_its_line_whatever_its_letters():
    hostile = 'a\\t\t\\\n\\n\r"\0\U0001f600\uffff\\\\'
    world = replace(
        WORLD,
        bindings=(replace(ALLOW, resource_name=hostile, principal=f"User:{hostile}", host=hostile),),
        super_users=(f"User:{hostile}",),
        actions=((ResourceType.GROUP, hostile, (Operation.READ,)),),
    )

    assert "\n" not in world.line
    assert "\r" not in world.line
    assert World.from_line("by hand", world.line) == world
    for number in range(300):
        made = make_world(f"line/{number}", "acl", "4.1")
        assert World.from_line(made.seed, made.line) == made


def test_no_world_for_kraft_holds_what_could_hurt_a_broker():
    for age in ("3.3", "4.1"):
        for world in islice(worlds("safe", "standard", age), 800):
            assert not is_hazardous(world), world.seed


@pytest.mark.parametrize(
    "changes",
    [
        {"bindings": (replace(ALLOW, resource_name=" a"),)},
        {"actions": ((ResourceType.GROUP, "#a", (Operation.READ,)),)},
        {"actions": ((ResourceType.GROUP, "\0", (Operation.READ,)),)},
        {"principals": ("User:a", "User:*")},
        {"bindings": (ALLOW, replace(ALLOW, principal="alice"))},
    ],
    ids=["an ACL's name", "an asked name", "a control character", "a session", "an ACL's principal"],
)
def test_what_could_hurt_a_broker_is_recognised_and_only_for_kraft(changes):
    assert is_hazardous(replace(WORLD, **changes))
    assert not is_hazardous(replace(WORLD, engine="acl", **changes))


@pytest.mark.parametrize("name", ["", "*", "**", "*a", "+", "a ", "a#", "\uffff"])
def test_harmless_names_are_not_left_out(name):
    world = replace(WORLD, actions=((ResourceType.GROUP, name, (Operation.READ,)),))

    assert not is_hazardous(world)


def test_the_questions_come_in_the_order_in_which_java_asks_them():
    assert [(request.operation.name, request.principal) for request in WORLD.requests()] == [
        ("READ", "User:a"),
        ("READ", "User:b"),
        ("WRITE", "User:a"),
        ("WRITE", "User:b"),
    ]
    assert (WORLD.decisions, WORLD.type_decisions) == (4, 2)
    assert [request.resource_name for request in WORLD.type_requests()] == [None, None]


def test_a_lopsided_generator_is_reported():
    tally = Tally()
    tally.add(KRAFT, WORLD, "0))) +-")
    tally.counts = Counter({key: count * 20_000 for key, count in tally.counts.items()})

    complaints = tally.lopsided()

    assert tally.decisions == 80_000
    assert tally.allowed_share == 0.25
    assert any("'0.0.0.0'" in complaint for complaint in complaints)
    assert any("'begins with an asterisk'" in complaint for complaint in complaints)
    assert not any("ALLOWED" in complaint for complaint in complaints)

    tally.counts["answer", "denied"] *= 10
    tally.by_type["+"] = 100
    complaints = tally.lopsided()
    assert any("3% of the answers are ALLOWED" in complaint for complaint in complaints)
    assert any("99% of the answers by type are ALLOWED" in complaint for complaint in complaints)


def test_every_kind_of_name_host_and_principal_is_told_from_the_others():
    assert [name_class(name) for name in ("", "*", "*a", "a\t", "\uffff", "é", "a:b", "ab")] == [
        "empty",
        "the asterisk",
        "begins with an asterisk",
        "control character",
        "astral or U+FFFF",
        "not ASCII",
        "separator or space",
        "plain",
    ]
    hosts = ("*", "10.0.0.7", "0:0:0:0:0:0:0:1", "10.0.0.0/8", "::/0", "10.0.0.0/33", "::1", "010.0.0.7")
    assert [host_class(host) for host in hosts] == [
        "anywhere",
        "IPv4",
        "IPv6",
        "IPv4 range",
        "IPv6 range",
        "malformed range",
        "other text",
        "other text",
    ]
    assert [principal_class(one) for one in ("User:a", "User:*", "Group:*", ":a", "Role:a")] == [
        "User",
        "everyone",
        "looks like a wildcard",
        "empty part",
        "another type",
    ]


KRAFT = Target("standard", "4.4.0")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("0))) +-", []),
        ("))))" + " +-", ["decides ALLOWED", "explains ALLOWED", "reference"]),
        ("()))" + " +-", ["decides ALLOWED", "explains ALLOWED"]),
        ("00)) +-", ["decides DENIED", "explains DENIED", "reference"]),
        ("0!#% +-", ["gives an answer"] * 3),
        ("0)~) +-", ["gives an answer"]),
        ("0))) --", ["decides ALLOWED", "explains ALLOWED", "reference"]),
        ("0))) +#", ["gives an answer"]),
        ("! no such world", ["was not asked"]),
    ],
)
def test_a_difference_in_answer_or_broker_rule_is_found_and_agreement_is_not(answer, told):
    found = list(differences(KRAFT, WORLD, answer))

    assert len(found) == len(told)
    for difference, part in zip(found, told, strict=True):
        assert part in str(difference)


def test_answers_that_are_too_few_are_no_agreement():
    with pytest.raises(ValueError):
        list(differences(KRAFT, WORLD, "0) +-"))


class DeniesEverybodyOnceThereIsAnAclForBob:
    """A class of Kafka with a bug, which has no JVM."""

    def ask(self, line: str) -> str:
        world = World.from_line("by hand", line)
        wrong = any(binding.principal == "User:bob" for binding in world.bindings)
        place = next((place for place, one in enumerate(world.bindings) if one == ALLOW), None)
        right = ")" if place is None else chr(ord("0") + place)
        letters = "".join(
            right
            if (request.principal, request.operation) == ("User:a", Operation.READ) and not wrong
            else ")"
            for request in world.requests()
        )
        return f"{letters} {'+-'[: world.type_decisions]}"


def test_a_difference_is_shrunk_to_the_acls_that_it_needs_and_reported_as_a_scenario():
    bob = replace(ALLOW, principal="User:bob")
    others = [replace(ALLOW, resource_name=f"b{number}") for number in range(9)]
    crowded = replace(
        WORLD, bindings=(*others[:5], bob, *others[5:], ALLOW), super_users=("User:x",), type_questions=()
    )
    kafka = DeniesEverybodyOnceThereIsAnAclForBob()
    found = next(differences(KRAFT, crowded, kafka.ask(crowded.line)))

    shrunk = smallest(found, kafka)

    assert set(shrunk.world.bindings) == {bob, ALLOW}
    assert shrunk.world.super_users == ()
    assert '"expected": "DENIED"' in shrunk.scenario()
    assert '"operation": "READ"' in shrunk.scenario()
