"""For any host: decisions, client actions and what-ifs agree with each other and with each address.

A what-if says in `depends` what hangs on whether an address lies in a range, where
`decide_for_any_host` has a part for the range: its `*` stands for all addresses that no ACL names,
those in the range among them. The range's own line then tells what becomes of them, and the sides
of the `depends` are those of an address outside, as the part of every other host is.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.any_host import _able_to_count, decide_for_any_host
from aclweb.acl.authorizer.decision import authorize, decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.type_from_hosts import TypeFromHosts
from aclweb.acl.matching.unmatchable import is_address
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import (
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.acl.needs.actions import ACTIONS
from aclweb.acl.needs.answers import assess
from aclweb.acl.needs.any_host import assess_for_any_host
from aclweb.acl.needs.assessment import Outcome
from aclweb.acl.simulate import Names, simulate
from aclweb.acl.simulate.impact import Effect, Impact
from tests.random_cases import SCALE
from tests.random_hosts import addresses_apart, random_world_of_hosts

# Under glob each answer compares globs letter by letter, which takes its time.
WORLDS = {None: 50 * SCALE, "glob": 15 * SCALE}
PRINCIPALS = ("User:a", "User:zz", "Group:x")
OPERATIONS = (Operation.READ, Operation.DESCRIBE, Operation.ALTER_CONFIGS)
# Each in a part that some of the globs tell apart.
UNDER_GLOBS = (
    *(
        "10.0.0.1",
        "10.0.0.7",
        "10.0.0.77",
        "9.9.9.7",
        "0:0:0:0:0:0:0:9",
        "1:0:0:0:0:0:0:7",
        "fe80:1:0:0:0:0:0:1%x7",
    ),
    *("fe80:0:0:0:0:0:0:1%eth0", "203.0.113.7"),
)


def worlds(*authorizers: str | None) -> Iterable[tuple[int, tuple[AclBinding, ...], AuthorizerSettings]]:
    for authorizer in authorizers:
        for seed in range(WORLDS[authorizer]):
            rng = random.Random(f"any host {authorizer} {seed}")
            yield seed, *random_world_of_hosts(rng, authorizer=authorizer)


def addresses(bindings: Iterable[AclBinding], settings: AuthorizerSettings) -> tuple[str, ...]:
    found = addresses_apart(bindings)
    return tuple(dict.fromkeys((*found, *UNDER_GLOBS))) if settings.has_globs else found


def result_at(host: str, request: AccessRequest, index: AclIndex, settings: AuthorizerSettings) -> Result:
    return decide(
        AccessRequest(
            request.principal, host, request.operation, request.resource_type, request.resource_name
        ),
        index,
        settings,
    )[0]


def test_any_host_is_what_all_addresses_say() -> None:
    seen: Counter[str] = Counter()
    for seed, bindings, settings in worlds(None, "glob"):
        index = AclIndex(bindings)
        apart = addresses(bindings, settings)
        for principal in PRINCIPALS:
            for operation in OPERATIONS:
                for name in ("t", None):
                    request = AccessRequest(principal, "*", operation, ResourceType.TOPIC, name)
                    answer = decide_for_any_host(request, index, settings)
                    told, places = answer.result.name, apart
                    if settings.has_globs:
                        # Globs reach into the names of interfaces, of which no list has all.
                        places = (*places, *(part.example for part in answer.parts))
                    assert all(is_address(part.example) for part in answer.parts), (seed, request)
                    met = {result_at(place, request, index, settings) for place in places}
                    expected = "DEPENDS" if len(met) > 1 else next(iter(met)).name
                    expected = "UNDECIDED" if Result.UNDECIDED in met else expected
                    assert told == expected, (seed, request)
                    seen[told] += 1
    assert all(seen[result] > 5 for result in ("ALLOWED", "DENIED", "DEPENDS", "UNDECIDED")), seen


def test_a_question_about_a_whole_type_is_settled_from_each_address_as_asked_there() -> None:
    seen: Counter[str] = Counter()
    for seed, bindings, settings in worlds(None, "glob"):
        spread = under_several_names(random.Random(f"names {seed}"), bindings)
        index = AclIndex(spread)
        for principal in ("User:a", "User:zz"):
            request = AccessRequest(principal, "*", Operation.READ, ResourceType.TOPIC, None)
            whole = TypeFromHosts(request, index, settings, _able_to_count(request, index, settings))
            for address in addresses(spread, settings):
                there = replace(request, host=address)
                decision = authorize(there, index, settings)
                answer = decision.result, decision.basis
                assert whole.answer(address) == decide(there, index, settings) == answer, (seed, there)
                if decision.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL):
                    told = whole.determining(address, decision.basis)
                    assert told == decision.determining, (seed, there)
                    seen["several"] += len(told) > 1
                seen[decision.basis.name] += 1
    least = {"ALLOW_ACL": 150, "DENY_ACL": 80, "UNKNOWN_VALUE": 10, "NO_ALLOW_ACL": 500, "several": 120}
    assert all(seen[what] > count for what, count in least.items()), seen


def under_several_names(dice: random.Random, bindings: Iterable[AclBinding]) -> tuple[AclBinding, ...]:
    """Return each ACL on names of which one begins with the other, most for one principal, a few of them unknown."""
    return tuple(
        replace(
            binding,
            principal=dice.choice(("User:a", binding.principal)),
            resource_name=name,
            pattern_type=dice.choice((binding.pattern_type,) * 40 + (PatternType.UNKNOWN,)),
            operation=dice.choice((Operation.READ, binding.operation)),
            permission_type=dice.choice((binding.permission_type,) * 20 + (PermissionType.UNKNOWN,)),
        )
        for binding in bindings
        for name in dice.sample(("t", "ta", "tab", "u", "", "*", "hardcode", "hard"), 3)
    )


def test_an_action_from_any_host_ends_as_from_all_addresses() -> None:
    seen: Counter[str] = Counter()
    names, produce = {"topic": ("t",)}, ACTIONS["produce"]
    for seed, bindings, settings in worlds(None, "glob"):
        index = AclIndex(bindings)
        told = assess_for_any_host(produce, principal="User:a", names=names, index=index, settings=settings)
        met = {
            assess(
                produce, principal="User:a", host=host, names=names, index=index, settings=settings
            ).outcome
            for host in addresses(bindings, settings)
        }
        if told.outcome is Outcome.UNDECIDED and not told.is_complete:
            continue
        assert {told.outcome} == met if told.outcome else len(met) > 1, seed
        seen[told.outcome.name if told.outcome else "DEPENDS"] += 1
    assert all(seen[outcome] > 2 for outcome in ("WORKS", "FAILS", "DEPENDS")), seen


@pytest.mark.parametrize("merge_equal_hosts", [False, True])
def test_a_what_if_lists_a_change_where_the_answer_for_any_host_has_one(merge_equal_hosts: bool) -> None:
    seen: Counter[str] = Counter()
    for seed, bindings, settings in worlds(None):
        dice = random.Random(f"which come {seed}")
        stay, come = [b for b in bindings if dice.random() < 0.5], list(bindings)
        before, after = AclIndex(stay), AclIndex(come)
        delta = Delta(add=tuple(binding for binding in come if binding not in before), remove=())
        impact = simulate(
            delta, before, Names(topics=("t",)), settings, met_only=True, merge_equal_hosts=merge_equal_hosts
        )
        apart = addresses_apart(come)
        for principal in ("User:a", "User:b"):
            for operation in OPERATIONS:
                request = AccessRequest(principal, "*", operation, ResourceType.TOPIC, "t")
                expected = {
                    changed(
                        result_at(address, request, before, settings),
                        result_at(address, request, after, settings),
                    )
                    for address in apart
                } - {""}
                told = listed(impact, principal, operation)
                assert told - {"depends"} == expected - {"depends"}, (seed, request)
                seen.update(told or {"unchanged"})
    assert all(seen[change] > 5 for change in ("gains", "loses", "unchanged")), seen


def changed(before: Result, after: Result) -> str:
    if before is after:
        return ""
    if Result.UNDECIDED in (before, after):
        return "depends"
    return "gains" if after is Result.ALLOWED else "loses"


def listed(impact: Impact, principal: str, operation: Operation) -> set[str]:
    """Return what becomes of a principal's operation on the topic, from some host at least."""

    def concerns(effect: Effect) -> bool:
        is_there = (effect.resource_type, effect.resource_name) == (ResourceType.TOPIC, "t")
        is_for = effect.principal == principal or (
            effect.principal == "*" and principal not in effect.except_principals
        )
        return is_there and is_for and effect.operation is operation

    told = {name for name in ("gains", "loses") if any(concerns(effect) for effect in getattr(impact, name))}
    for effect in filter(concerns, impact.depends):
        assert effect.before is not None
        told.add(changed(effect.before.result, effect.after.result))
    return told - {""}
