"""aclweb answers fresh questions as Kafka's released classes answer them now, and gives the rule that they log.

The seed is new in each run and printed; ACLWEB_ORACLE_SEED asks the same questions again.
"""

from __future__ import annotations

import os
import secrets
import sys
from dataclasses import replace

import pytest

from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from tests.oracle.comparing import PATIENCE_SECONDS, PROGRAM, compare, smallest
from tests.oracle.tally import Tally
from tests.oracle.targets import Target
from tests.oracle.worlds import World
from tests.random_cases import SCALE


@pytest.mark.parametrize(
    ("target", "decisions", "type_decisions"),
    [
        (Target("standard", "4.4.0"), 8_000, 1_000),
        (Target("standard", "3.9.2"), 8_000, 1_000),
        (Target("acl", "3.9.2"), 8_000, 1_000),
    ],
    ids=str,
)
def test_fresh_questions_are_answered_as_kafkas_class_answers_them(
    target, decisions, type_decisions, capsys, java_program
):
    seed = os.environ.get("ACLWEB_ORACLE_SEED") or secrets.token_hex(4)
    with capsys.disabled():
        print(f"\n{target} is asked with ACLWEB_ORACLE_SEED={seed}", file=sys.stderr)
    tally = Tally()

    program = java_program(PROGRAM, target.version, seconds=PATIENCE_SECONDS)
    found = list(
        compare(
            program,
            target,
            seed,
            decisions=decisions * SCALE,
            type_decisions=type_decisions * SCALE,
            tally=tally,
        )
    )
    shrunk = smallest(found[0], program) if found else None

    assert shrunk is None, f"{len(found)} differences with seed {seed}, such as {shrunk}\n{shrunk.scenario()}"
    assert tally.decisions >= decisions * SCALE
    assert tally.type_decisions >= type_decisions * SCALE
    assert tally.lopsided() == [], seed


ALLOW = AclBinding(
    ResourceType.GROUP, "a", PatternType.PREFIXED, "User:a", "*", Operation.READ, PermissionType.ALLOW
)
WORLD = World(
    seed="by hand",
    engine="standard",
    allow_everyone=False,
    super_users=("User:admin",),
    bindings=(replace(ALLOW, resource_name="b"), ALLOW, replace(ALLOW, permission_type=PermissionType.DENY)),
    principals=("User:a", "User:b", "User:admin"),
    hosts=("10.0.0.7",),
    actions=((ResourceType.GROUP, "ab", (Operation.READ, Operation.DESCRIBE)),),
    type_questions=((ResourceType.GROUP, Operation.READ),),
)


def test_each_letter_of_an_answer_says_what_the_class_answered_and_logged(java_program):
    program = java_program(PROGRAM, "4.4.0")
    assert program.ask(WORLD.line) == "2)*1)* +-+"
    assert program.ask(replace(WORLD, bindings=(), allow_everyone=True).line) == "((*((* +++"
    assert program.ask(replace(WORLD, engine="standard", bindings=WORLD.bindings[:1]).line) == "))*))* +-+"


def test_the_class_of_zookeeper_mode_logs_no_rule(java_program):
    program = java_program(PROGRAM, "3.9.2")
    assert program.ask(replace(WORLD, engine="acl").line) == "--++-+ +-+"


def test_a_decision_that_does_not_end_is_given_up_and_the_next_world_is_asked(java_program):
    stuck = replace(WORLD, principals=("User:a", "Endless:a", "User:b"))
    failing = replace(WORLD, principals=("User:a", "Failing:a", "User:b"))

    program = java_program(PROGRAM, "4.4.0", arguments=("2", "6"))
    answers = list(program.ask_many([stuck.line, failing.line, WORLD.line]))

    assert answers == ["2#%%%% %%%", "2!)1!) +!-", "2)*1)* +-+"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hosts": ("::1",)}, "no address as Java prints it|Java prints"),
        ({"hosts": ("example.com",)}, "no address as Java prints it: example.com"),
        ({"principals": ("alice",)}, "colon"),
        ({"engine": "acl"}, "ClassNotFoundException"),
    ],
    ids=["a short address", "a host name", "a principal without a type", "a class that 4.4 lacks"],
)
def test_a_world_that_cannot_be_asked_is_refused_with_the_reason(changes, why, java_program):
    program = java_program(PROGRAM, "4.4.0")
    answer = program.ask(replace(WORLD, **changes).line)

    assert answer.startswith("! ")
    assert any(part in answer for part in why.split("|")), answer
