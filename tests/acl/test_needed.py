"""An ACL is called needed exactly where an answer turns without it, and a set goes only where none does."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from aclweb.acl.authorizer.decision import authorize, decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.logged.needed import one_of, removable
from aclweb.acl.logged.open_names import last_covers, opens
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import Resource
from tests.builders import allow, deny
from tests.random_cases import SCALE, crowded_case, random_case, with_unknowns


@pytest.mark.parametrize("chunk", range(4))
def test_an_acl_is_needed_where_the_answer_is_another_without_it(chunk: int) -> None:
    found: Counter[str] = Counter()
    for seed in range(chunk * 150 * SCALE, (chunk + 1) * 150 * SCALE):
        world, request = (random_case if seed % 2 else crowded_case)(seed)
        if seed % 5 == 0:
            world = with_unknowns(random.Random(seed), world)
        decision = authorize(request, AclIndex(world.bindings), world.settings)
        bindings = set(world.bindings)
        turning = {
            binding
            for binding in bindings
            if decide(request, AclIndex(bindings - {binding}), world.settings)[0] is not decision.result
        }
        needed = one_of(decision)
        if decision.result.name == "UNDECIDED":
            assert needed == ()
            continue
        assert turning == (set(needed) if len(needed) == 1 else set()), seed
        found[f"{decision.basis.name} {len(needed) == 1}"] += 1
        if needed:
            rest = AclIndex(bindings - set(needed))
            assert decide(request, rest, world.settings)[0] is not decision.result, seed
    assert {
        "ALLOW_ACL True",
        "ALLOW_ACL False",
        "DENY_ACL True",
        "DENY_ACL False",
        "NO_ALLOW_ACL True",
    } <= set(found), found


def test_of_acls_that_settle_the_same_request_one_stays():
    assert removable([("a", "b")], "ab") == {"b"}
    assert removable([("a", "b"), ("b", "c"), ("c", "d"), ("b", "d")], "abcd") == {"a", "d"}


def test_an_acl_beside_one_that_stays_anyhow_may_go():
    assert removable([("a", "kept"), ("b", "kept")], "ab") == {"a", "b"}


def test_a_request_that_nothing_settles_keeps_nothing():
    assert removable([(), ()], "ab") == {"a", "b"}


@pytest.mark.parametrize("chunk", range(2))
def test_what_may_go_leaves_each_request_one_acl_and_no_other_could_go_too(chunk: int) -> None:
    for seed in range(chunk * 200 * SCALE, (chunk + 1) * 200 * SCALE):
        rng = random.Random(f"removable {seed}")
        keys = "abcdefgh"
        groups = [rng.sample(keys, rng.randint(1, 4)) for _ in range(rng.randint(0, 12))]
        candidates = set(rng.sample(keys, rng.randint(0, 8)))

        gone = removable(groups, candidates)

        assert gone <= candidates
        kept = [set(group) - gone for group in groups]
        # A request that candidates alone settle keeps one of them.
        assert all(kept), seed
        for other in candidates - gone:
            assert any(not group - {other} for group in kept), (seed, other)


OPEN = AuthorizerSettings(allow_everyone=True)
PAY, PAY_PREFIX = allow("User:bob", "READ", "pay"), allow("User:bob", "READ", "pa", pattern="PREFIXED")
OTHER = deny("User:eve", "WRITE", "pay")


def test_the_last_acl_on_a_name_keeps_it_from_everyone_where_none_means_allowed():
    assert opens(PAY, AclIndex([PAY]), OPEN)
    assert not opens(PAY, AclIndex([PAY]), AuthorizerSettings())
    assert not opens(PAY, AclIndex([PAY, OTHER]), OPEN)
    assert opens(PAY, AclIndex([PAY, OTHER]), OPEN, gone={PAY, OTHER})
    assert opens(PAY_PREFIX, AclIndex([PAY, PAY_PREFIX]), OPEN), "the prefix covers more names"


def test_of_acls_that_cover_the_same_names_the_widest_stays():
    assert last_covers([PAY, PAY_PREFIX, OTHER], AclIndex([PAY, PAY_PREFIX, OTHER]), OPEN) == {PAY_PREFIX}
    assert len(last_covers([PAY, OTHER], AclIndex([PAY, OTHER]), OPEN)) == 1
    everywhere = deny("User:mallory", "ALTER", "*")
    assert last_covers([PAY, PAY_PREFIX], AclIndex([PAY, PAY_PREFIX, everywhere]), OPEN) == frozenset()


@pytest.mark.half
@pytest.mark.parametrize("seed", range(40))
def test_removing_all_but_the_last_covers_leaves_no_name_without_an_acl(seed):
    world, request = (random_case if seed % 2 else crowded_case)(seed)
    bindings = list(dict.fromkeys(world.bindings))
    settings = replace(world.settings, allow_everyone=True)
    going = set(random.Random(f"covers {seed}").sample(bindings, len(bindings) // 2))

    stay = last_covers(going, AclIndex(bindings), settings)
    left = AclIndex(binding for binding in bindings if binding not in going or binding in stay)

    names = {request.resource} | {Resource(each.resource_type, each.resource_name) for each in going}
    for resource in names:
        if AclIndex(bindings).affecting(resource, settings):
            assert left.affecting(resource, settings), (seed, resource)
