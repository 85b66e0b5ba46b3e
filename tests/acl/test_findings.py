"""An answer about a whole type looks at hardly any ACL of others, and says what it would if it looked at all."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from aclweb.acl.authorizer import near_misses, remedies, shelf
from aclweb.acl.authorizer.by_type import HARDCODE
from aclweb.acl.authorizer.decision import Decision, answer_given, authorize
from aclweb.acl.authorizer.explanation import explain
from aclweb.acl.authorizer.findings import Finding, Findings
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.scan_order import in_scan_order
from aclweb.acl.matching import Matching, covers_name
from aclweb.acl.model import AclBinding, PatternType
from tests.builders import acl, allow, ask
from tests.random_cases import SCALE, crowded_case, random_binding, random_case

CASES = 300 * SCALE


@pytest.fixture
def sorts_anew(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sort the ACLs of whoever asks even where they are many."""
    if request.param:
        monkeypatch.setattr(shelf, "_SORTED_ANEW", 0)


@pytest.mark.parametrize("sorts_anew", [False, True], indirect=True)
@pytest.mark.parametrize("authorizer", ["standard", "acl", "glob"])
def test_an_explanation_is_the_one_that_looks_at_every_acl(
    authorizer: str, sorts_anew: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_misses, "NEAR_MISSES_SHOWN", 3)
    monkeypatch.setattr(remedies, "NAMES_TRIED", 3)
    seen: Counter[str] = Counter()
    for seed, decision in decisions(authorizer):
        every = whole(decision)
        assert decision.findings == every.findings, seed
        assert explain(decision).as_dict() == explain(every).as_dict(), seed
        assert decision.determining == every.determining, seed
        assert decision.undeclared_dependencies == every.undeclared_dependencies, seed
        fewer = len(decision.findings.settling) < len(every.findings)
        seen[f"{decision.basis.name}, {'fewer' if fewer else 'all'}"] += 1
    assert {name for name, count in seen.items() if count > 3} >= {
        "ALLOW_ACL, fewer",
        "DENY_ACL, fewer",
        "NO_ALLOW_ACL, fewer",
        "ALLOW_ACL, all",
    }, seen


def test_the_acls_that_settle_an_answer_settle_it_with_others_and_without_some() -> None:
    few = 0
    for seed, decision in decisions("standard"):
        rng = random.Random(seed)
        some, every = decision.findings.settling, whole(decision).findings.bindings
        more = [random_binding(rng, decision.settings) for _ in range(2)]
        more = [replace(each, resource_type=decision.request.resource_type) for each in more]
        able = [each.binding for each in decision.findings.own]
        able += [each for each in every if covers_name(each, HARDCODE, decision.settings)]
        gone = set(rng.sample(able, rng.randrange(len(able) + 1)))
        for edited, whole_edited in (
            ([*some, *more], [*every, *more]),
            ([each for each in some if each not in gone], [each for each in every if each not in gone]),
        ):
            answers = [
                answer_given(decision.request, acls, decision.unknowns, decision.settings)
                for acls in (edited, whole_edited)
            ]
            assert answers[0] == answers[1], seed
        few += len(some) < len(every)
    assert few > CASES // 10


def test_equal_findings_of_two_requests_have_one_hash() -> None:
    one, two = (
        authorize(ask(principal, "READ", "t"), AclIndex([allow("User:c", "READ", "t")])).findings
        for principal in ("User:a", "User:b")
    )

    assert one == two
    assert hash(one) == hash(two)


def test_the_acls_of_a_type_are_in_scan_order() -> None:
    for seed in range(CASES):
        world, _ = (crowded_case if seed % 2 else random_case)(seed)
        index = AclIndex(world.bindings)
        for kind in {binding.resource_type for binding in world.bindings}:
            found = index.shelf(kind)
            assert found is not None
            assert found.bindings == in_scan_order(found.unsorted), seed
            some = random.Random(seed).sample(found.unsorted, len(found.unsorted) // 2)
            assert found.in_order(some) == in_scan_order(some), seed


def test_the_acls_of_a_name_are_those_whose_pattern_has_it() -> None:
    for seed in range(CASES):
        world, _ = (crowded_case if seed % 2 else random_case)(
            seed, authorizer="glob" if seed % 3 == 0 else None
        )
        index = AclIndex(world.bindings)
        for kind in {binding.resource_type for binding in world.bindings}:
            found = index.shelf(kind)
            assert found is not None
            for name in {each.resource_name for each in found.unsorted} | {"", "*", "other"}:
                named = [each for each in index if (each.resource_type, each.resource_name) == (kind, name)]
                assert sorted(found.named(name), key=repr) == sorted(named, key=repr), seed


@pytest.mark.parametrize("operation", ["READ", "DELETE"])
def test_the_work_of_an_answer_does_not_grow_with_the_acls_of_others(
    operation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: Counter[str] = Counter()
    admits = Matching.comes_from
    monkeypatch.setattr(
        Matching,
        "comes_from",
        lambda self, own, asked: compared.update(["hosts"]) or admits(self, own, asked),
    )
    own = [allow("User:a", "READ", f"own{number}") for number in range(20)]
    taken = []
    for size in (2_000, 20_000):
        others = [
            allow(f"User:p{number % 50}", "READ", f"t{number}", host=f"10.{number >> 8}.{number & 255}.1")
            for number in range(size)
        ]
        near = [allow("User:b", operation, f"x{number}") for number in range(100)]
        index = AclIndex([*own, *others, *near])
        compared.clear()
        explain(authorize(ask("User:a", operation, None), index))
        taken.append(compared["hosts"])
    few, many = taken
    assert many < 2 * few + 500, taken


def decisions(authorizer: str) -> Iterator[tuple[int, Decision]]:
    """Yield decisions about whole types of random worlds, by their seeds; some have unknown patterns."""
    for seed in range(CASES):
        make = crowded_case if seed % 2 else random_case
        world, request = make(seed, by_type=True, authorizer=authorizer)
        bindings: tuple[AclBinding, ...] = world.bindings
        if seed % 7 == 0:
            kind = request.resource_type.name
            bindings = (*bindings, acl("DENY", "User:c", "READ", "u", pattern="UNKNOWN", resource_type=kind))
        decision = authorize(request, AclIndex(bindings), world.settings)
        if len(decision.findings):
            yield seed, decision


def whole(decision: Decision) -> Decision:
    """Return the same decision with a finding made for each ACL of the type."""
    found = decision.index.shelf(decision.request.resource_type)
    assert found is not None
    known = [each for each in found.unsorted if each.pattern_type is not PatternType.UNKNOWN]
    return replace(decision, findings=_Every(decision.request, in_scan_order(known), decision.settings))


class _Every(Findings):
    def of_others(self, most: int, *, deny: bool) -> list[Finding]:
        return [each for each in self if each.binding.is_deny is deny and "principal" in each.why_not]
