"""What an edit costs at most is known before it is worked out, and the ACL that costs most is named."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.model import AclBinding, AuthorizerSettings, Delta
from aclweb.acl.simulate import ON_A_SITE, Budget, Names, TooCostly, estimate, simulate
from aclweb.acl.simulate.budget import Cost, Meter
from aclweb.acl.simulate.worlds import Worlds
from tests.acl import test_glob_whatif, test_whatif
from tests.builders import allow, deny
from tests.each import each
from tests.random_cases import SCALE

BOUNDLESS = Budget(steps=10**12, differences=10**12)
TOPICS = tuple(f"t{number}" for number in range(300))
OTHERS = tuple(allow(f"User:p{number}", "READ", f"t{number}") for number in range(300))


class Counted:
    """What one what-if was foreseen to cost at most, and what it cost."""

    def __init__(self) -> None:
        self.most, self.steps, self.differences = Cost(0, 0), 0, 0


@contextmanager
def counting() -> Iterator[Counted]:
    counted = Counted()

    def foresee(_: Meter, costs: Iterable[Cost], more: Cost) -> None:
        every = [more, *costs]
        counted.most = Cost(sum(cost.steps for cost in every), sum(cost.differences for cost in every))

    def spend(_: Meter, steps: int, differences: int = 0) -> None:
        counted.steps += steps
        counted.differences += differences

    with patch.object(Meter, "foresee", foresee), patch.object(Meter, "spend", spend):
        yield counted


def cases(seed: int) -> Iterator[tuple[Delta, AclIndex, Names, AuthorizerSettings]]:
    case = test_whatif.random_edit(seed)
    yield case.delta, AclIndex(case.before.bindings), case.names, case.before.settings
    glob = test_glob_whatif.random_edit(seed)
    known = glob.settings if glob.settings.has_globs else AuthorizerSettings("glob")
    yield glob.delta, AclIndex(glob.before), glob.names, known


@each("seed", range(40 * SCALE))
def test_an_edit_costs_at_most_what_was_foreseen(seed: int) -> None:
    for delta, index, names, settings in cases(60_000 + seed):
        for page in (True, False):
            with counting() as counted:
                simulate(
                    delta, index, names, settings, merge_equal_hosts=page, met_only=page, budget=BOUNDLESS
                )
            assert counted.steps <= counted.most.steps
            assert counted.differences <= counted.most.differences


@each("seed", range(40 * SCALE))
def test_as_much_is_foreseen_however_the_acls_near_one_are_counted(seed: int) -> None:
    for delta, index, names, settings in cases(70_000 + seed):
        foreseen = []
        for counted_one_by_one in (0, 10**9):
            with counting() as counted, patch.object(estimate, "_SORTED_ASKED", counted_one_by_one):
                simulate(delta, index, names, settings, budget=BOUNDLESS)
            foreseen.append(counted.most)
        assert foreseen[0] == foreseen[1]


EVERYONE = AuthorizerSettings(allow_everyone=True)
GLOB = AuthorizerSettings("glob")


@each("seed", range(40 * SCALE))
def test_the_same_is_foreseen_of_each_acl_whichever_come_first(seed: int) -> None:
    for delta, index, names, settings in cases(80_000 + seed):
        worlds = Worlds(delta, index, names, settings, settings)
        in_order = Counter(estimate.costs(worlds))

        assert Counter(estimate.costs(worlds, widest_first=True)) == in_order


def test_a_bound_is_reached_by_the_few_acls_for_everybody_where_they_come_first() -> None:
    wide = [allow("User:*", "READ", f"t{number}", pattern="PREFIXED") for number in range(9)]
    acls = AclIndex(
        [*OTHERS, *wide, *(allow(f"User:q{n}", "READ", "t", pattern="PREFIXED") for n in range(60))]
    )
    worlds = Worlds(
        Delta(remove=acls.bindings), acls, Names(topics=TOPICS), AuthorizerSettings(), AuthorizerSettings()
    )
    first, in_order = (
        [cost.binding for cost in estimate.costs(worlds, widest_first=True) if cost.binding],
        [cost.binding for cost in estimate.costs(worlds) if cost.binding],
    )

    assert set(first[: len(wide)]) == set(wide)
    assert set(in_order[: len(wide)]) != set(wide)


@pytest.mark.parametrize(
    "acl, acls, settings",
    [
        (deny("Group:a", "ALTER", "t1"), (), EVERYONE),
        (allow("no type", "READ", "t", pattern="PREFIXED"), (), EVERYONE),
        (allow("User:a*", "READ", "t1"), [allow(f"User:a{n}", "WRITE", "t2") for n in range(9)], GLOB),
    ],
    ids=["the first ACL on a name", "for nobody", "a glob of principals"],
)
def test_what_is_easily_overlooked_is_foreseen_too(
    acl: AclBinding, acls: Iterable[AclBinding], settings: AuthorizerSettings
) -> None:
    with counting() as counted:
        simulate(Delta(add=(acl,)), AclIndex(acls), Names(topics=TOPICS[:20]), settings, budget=BOUNDLESS)
    assert 0 < counted.differences <= counted.most.differences
    assert counted.steps <= counted.most.steps


def refusal(add: Iterable[AclBinding], acls: Iterable[AclBinding], budget: Budget) -> tuple[TooCostly, int]:
    """Return the error of an edit that costs too much, and how much was spent until then."""
    spent = 0
    spend = Meter.spend

    def noted(self: Meter, steps: int, differences: int = 0) -> None:
        nonlocal spent
        spent += steps
        spend(self, steps, differences)

    with patch.object(Meter, "spend", noted), pytest.raises(TooCostly) as refused:
        simulate(Delta(add=tuple(add)), AclIndex(acls), Names(topics=TOPICS), budget=budget)
    return refused.value, spent


@pytest.mark.parametrize(
    "costly",
    [
        deny("User:*", "ALL", "*"),
        deny("User:*", "ALL", "t", pattern="PREFIXED"),
        deny("User:many", "ALL", "*"),
    ],
    ids=["everybody on *", "everybody on a prefix", "a principal with many ACLs"],
)
def test_the_acl_that_costs_most_is_named_before_anything_is_worked_out(costly: AclBinding) -> None:
    many = [allow("User:many", "READ", f"t{number}") for number in range(100)]
    cheap = [allow("User:new", "READ", f"t{number}") for number in range(5)]
    error, spent = refusal([*cheap, costly, *cheap], [*OTHERS, *many], Budget(steps=20, differences=10_000))
    assert error.costliest == costly
    assert "The ACL that costs most is: Deny" in str(error)
    assert spent == 0


def test_what_needs_too_much_memory_is_refused_before_it_is_worked_out() -> None:
    hosts = [allow("User:*", "READ", "*", host=f"10.0.0.{number}") for number in range(50)]
    error, spent = refusal(hosts, OTHERS, Budget(steps=10**9, differences=100))
    assert error.costliest in hosts
    assert "kinds of difference" in str(error)
    assert spent == 0


def test_many_cheap_acls_are_to_be_asked_for_a_few_at_a_time() -> None:
    add = [allow("User:new", "READ", topic) for topic in TOPICS]
    error, _ = refusal(add, OTHERS, Budget(steps=200, differences=10_000))
    assert "Ask for fewer of its 300 ACLs at a time" in str(error)


def test_what_people_ask_for_is_within_the_budget_of_a_site() -> None:
    add = [
        allow(f"User:w{number}", "ALL", "*", host=f"10.0.{number // 250}.{number % 250}")
        for number in range(600)
    ]
    for delta in (
        Delta(add=tuple(add)),
        Delta(add=tuple(allow("User:new", "READ", f"new-{number}") for number in range(5_000))),
        Delta(add=(deny("User:*", "ALL", "*"),)),
        Delta(remove=OTHERS),
    ):
        with counting() as counted:
            simulate(delta, AclIndex(OTHERS), Names(topics=TOPICS), merge_equal_hosts=True, budget=ON_A_SITE)
        assert max(counted.steps, counted.most.steps) < ON_A_SITE.steps
        assert max(counted.differences, counted.most.differences) < ON_A_SITE.differences


def test_work_stops_where_it_costs_more_than_the_budget_whatever_was_foreseen() -> None:
    budget = Budget(steps=200, differences=10_000)
    with patch.object(Meter, "foresee", lambda *_: None):
        _, spent = refusal([deny("User:*", "ALL", "*")], OTHERS, budget)
    assert budget.steps < spent < 2 * budget.steps


@each("seed", range(20 * SCALE))
def test_a_refusal_that_names_no_acl_weighs_fewer_and_refuses_the_same(seed: int) -> None:
    rng = random.Random(seed)
    one = allow("User:a", "READ", "t")
    costs = [Cost(rng.randrange(9), rng.randrange(9), one) for _ in range(60)]
    budget = Budget(steps=rng.randrange(1, 60), differences=rng.randrange(1, 60))
    refused = {}
    weighed = {}
    for names_costliest in (True, False):
        left = iter(costs)
        try:
            Meter(replace(budget, names_costliest=names_costliest)).foresee(left, Cost(3, 3))
        except TooCostly as error:
            refused[names_costliest] = error.costliest
        weighed[names_costliest] = len(costs) - len(list(left))
    assert set(refused) in ({True, False}, set())
    assert weighed[True] == len(costs) >= weighed[False]
    if refused:
        assert refused == {True: one, False: None}
        assert sum(cost.steps for cost in costs) + 3 > 8 * budget.steps or (
            sum(cost.differences for cost in costs) + 3 > 8 * budget.differences
        )
