"""An edit can be taken back, and nothing opens for a moment while it is written."""

from __future__ import annotations

import pickle
import random

import pytest

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding, AclError
from tests import reference
from tests.builders import acl, allow, deny, read
from tests.random_cases import SCALE, World, random_binding, random_request, random_world

CASES = 125 * SCALE


def random_edit(rng: random.Random) -> tuple[World, tuple[AclBinding, ...], Delta]:
    world = random_world(rng, most=6)
    before = tuple(dict.fromkeys(world.bindings))
    remove = tuple(b for b in before if rng.random() < 0.4)
    near = [b.resource_name for b in before]
    add = tuple(random_binding(rng, world.settings, near) for _ in range(rng.randint(0, 3)))
    return world, before, Delta(tuple(b for b in add if b not in before), remove)


def test_nothing_is_allowed_on_the_way_that_is_refused_before_and_after() -> None:
    checked = steps_seen = 0
    for seed in range(CASES):
        rng = random.Random(f"order {seed}")
        world, before, delta = random_edit(rng)
        after = delta.applied_to(before)
        questions = [random_request(rng, World(before + after, world.settings)) for _ in range(12)]
        refused = [
            q
            for q in questions
            if not reference.allows(q, before, world.settings)
            and not reference.allows(q, after, world.settings)
        ]
        now = before
        for step in delta.steps():
            # Within a step the order is the writer's, so any order must be safe.
            for binding in rng.sample(step.bindings, len(step.bindings)):
                now = (*now, binding) if step.op == "add" else tuple(b for b in now if b != binding)
                for question in refused:
                    assert not reference.allows(question, now, world.settings), f"seed {seed}: {question}"
                    checked += 1
            steps_seen += 1
        assert set(now) == set(after)
    assert checked > CASES
    assert steps_seen > CASES


def test_another_order_would_open_access_for_a_moment() -> None:
    """The claim above has teeth: removing first, or adding ALLOWs first, breaks it."""
    broad, shield = allow("User:*", "READ", "orders"), deny("User:eve", "READ", "orders")
    question = read("User:eve", "orders")
    assert reference.allows(question, [broad], AuthorizerSettings())
    assert not reference.allows(question, [shield, broad], AuthorizerSettings())
    assert [step.bindings for step in Delta(add=(broad, shield)).steps()] == [(shield,), (broad,)]
    assert [step.bindings for step in Delta(remove=(shield, broad)).steps()] == [(broad,), (shield,)]


def test_an_edit_and_its_inverse_change_nothing() -> None:
    for seed in range(CASES):
        _, before, delta = random_edit(random.Random(f"inverse {seed}"))

        after = delta.applied_to(before)

        assert set(delta.inverse().applied_to(after)) == set(before)
        assert delta.inverse().inverse() == delta


def test_the_difference_of_two_sets_turns_one_into_the_other() -> None:
    for seed in range(CASES):
        rng = random.Random(f"between {seed}")
        _, before, delta = random_edit(rng)
        after = delta.applied_to(before)

        between = Delta.between(before, after)

        assert set(between.applied_to(before)) == set(after)
        assert set(between.add) == set(after) - set(before)
        assert set(between.remove) == set(before) - set(after)


def test_a_delta_is_true_where_it_holds_an_edit() -> None:
    assert not Delta()
    assert Delta(add=(allow("User:a", "READ", "x"),))


def test_repetitions_count_once_and_order_is_kept() -> None:
    a, b = allow("User:a", "READ", "x"), allow("User:b", "READ", "x")

    assert Delta(add=(b, a, b)).add == (b, a)
    assert Delta(add=(b,)).applied_to([a, a]) == (a, b)


def test_an_acl_cannot_be_added_and_removed_at_once() -> None:
    binding = allow("User:a", "READ", "x")

    with pytest.raises(AclError, match="both added and removed"):
        Delta(add=(binding,), remove=(binding,))


def test_steps_leave_out_empty_phases_and_keep_their_numbers() -> None:
    delta = Delta(add=(allow("User:a", "READ", "x"),), remove=(deny("User:a", "READ", "x"),))

    assert [(step.phase, step.op) for step in delta.steps()] == [(2, "add"), (4, "remove")]


def test_an_unknown_permission_stays_where_both_meanings_are_safe() -> None:
    strange = acl("UNKNOWN", "User:a", "READ", "x")
    refusal, grant = deny("User:a", "READ", "x"), allow("User:a", "READ", "x")

    assert [s.bindings for s in Delta(add=(strange, grant, refusal)).steps()] == [
        (refusal, strange),
        (grant,),
    ]
    assert [s.bindings for s in Delta(remove=(refusal, strange, grant)).steps()] == [
        (grant,),
        (strange, refusal),
    ]


def test_equal_edits_have_one_hash_which_no_other_process_is_given():
    one = Delta(add=(allow("User:bob", "READ", "orders"),), remove=(deny("User:eve", "READ", "orders"),))
    same = Delta(one.add * 2, one.remove)

    assert hash(one) == hash(same)
    assert {one: "known"}[same] == "known"
    passed_on = pickle.loads(pickle.dumps(one))
    assert passed_on == one
    assert vars(passed_on).keys() == {"add", "remove"}


def test_the_difference_of_distinct_sets_is_the_same_in_whatever_order_they_are(monkeypatch) -> None:
    for seed in range(CASES):
        rng = random.Random(f"distinct {seed}")
        monkeypatch.setattr("aclweb.acl.model.delta._COMPARED_AT_ONCE", rng.choice([1, 2, 7, 512]))
        monkeypatch.setattr("aclweb.acl.model.delta._MOST_APART", rng.choice([1, 3, 1_000]))
        worlds = [random_edit(rng) for _ in range(rng.choice([1, 1, 9]))]
        every = tuple(dict.fromkeys(each for _, before, _ in worlds for each in before))
        before = tuple(each for each in every if rng.random() < 0.8)
        stay = [pickle.loads(pickle.dumps(each)) for each in before if rng.random() < 0.9]
        after = [*stay, *(each for each in every if each not in before)]
        if rng.random() < 0.3:
            rng.shuffle(after)

        assert Delta.between_distinct(before, tuple(after)) == Delta.between(before, after)
