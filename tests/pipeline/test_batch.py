"""Batches and the access matrix answer as `decide` does, one request after another."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from aclweb.acl.authorizer.answers import Result
from aclweb.acl.authorizer.decision import decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import OPERATIONS, AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclError, Operation, ResourceType
from aclweb.pipeline.batch import AccessMatrix, Requests, decide_all, deciding
from tests.builders import allow, ask, deny
from tests.random_cases import (
    HOSTS,
    PRINCIPALS,
    SCALE,
    World,
    crowded_case,
    random_name,
    random_request,
    random_world,
    with_unknowns,
)

SEEDS = range(150 * SCALE)


def world_of(seed: int) -> tuple[random.Random, World, list[AccessRequest]]:
    """A world and requests; in every fifth some values are unknown."""
    rng = random.Random(f"batch {seed}")
    authorizer = "glob" if seed % 4 == 1 else None
    world = (
        random_world(rng, authorizer=authorizer, most=60)
        if seed % 3
        else crowded_case(seed, authorizer=authorizer)[0]
    )
    asked = [random_request(rng, world, by_type=rng.random() < 0.05) for _ in range(120)]
    return rng, with_unknowns(rng, world) if seed % 5 == 0 else world, asked


@pytest.mark.parametrize("by_arrays", [True, False])
def test_a_batch_answers_as_decide_does(by_arrays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "_PATTERNS_A_ROW", 10**9 if by_arrays else 0)
    answers: Counter[tuple[Result, object]] = Counter()
    for seed in SEEDS if by_arrays else SEEDS[:30]:
        _, world, asked = world_of(seed)
        index = AclIndex(world.bindings)
        expected = [decide(request, index, world.settings) for request in asked]

        found = decide_all(Requests.of(asked), index, world.settings)

        assert [found[place] for place in range(len(found))] == expected, f"seed {seed}"
        for result in Result:
            assert found.are(result).tolist() == [answer[0] is result for answer in expected]
        answers.update(expected)
    assert len({basis for _, basis in answers}) == 7, answers
    assert answers.total() * 0.2 < sum(n for (result, _), n in answers.items() if result is Result.ALLOWED)


def test_a_matrix_has_in_each_cell_what_decide_says() -> None:
    results: Counter[Result] = Counter()
    for seed in SEEDS:
        rng, world, _ = world_of(seed)
        index = AclIndex(world.bindings)
        resource_type = rng.choice((ResourceType.TOPIC, ResourceType.GROUP))
        names = {random_name(rng, world.settings) for _ in range(12)}
        names |= {b.resource_name for b in world.bindings if b.resource_type is resource_type}
        host = rng.choice(HOSTS if world.settings.has_globs else (None, *HOSTS))

        matrix = AccessMatrix(index, world.settings, resource_type, names, host)

        assert matrix.names == tuple(sorted(names))
        for principal, row in matrix.rows(PRINCIPALS):
            for operation in (Operation.ALL, *OPERATIONS[resource_type]):
                expected = [
                    decide(
                        AccessRequest(principal, host or "10.99.99.99", operation, resource_type, name),
                        index,
                        world.settings,
                    )[0]
                    for name in matrix.names
                ]
                results.update(expected)
                bit = operation.code
                found = [
                    Result.UNDECIDED if undecided >> bit & 1 else Result.ALLOWED if allowed else Result.DENIED
                    for undecided, allowed in zip(row.undecided, row.may(operation), strict=True)
                ]
                assert found == expected, f"seed {seed}, {principal} {operation} from {host}"
    assert min(results.values()) > 100, results


def test_a_matrix_under_globs_wants_an_address() -> None:
    with pytest.raises(AclError, match="address"):
        AccessMatrix(AclIndex(), AuthorizerSettings("glob"), ResourceType.TOPIC, ["a"])


def test_runs_say_the_same_as_the_row() -> None:
    index = AclIndex([allow("User:a", "READ", "b", pattern="PREFIXED"), deny("User:a", "READ", "bc")])
    row = AccessMatrix(
        index, AuthorizerSettings(), ResourceType.TOPIC, ["a", "ba", "bb", "bc", "bd", "c"]
    ).row("User:a")

    starts, allowed, undecided = row.runs()

    assert starts.tolist() == [0, 1, 3, 4, 5]
    lengths = np.diff([*starts, 6])
    assert np.repeat(allowed, lengths).tolist() == row.allowed.tolist()
    assert not undecided.any()


def test_no_requests_and_no_names_give_no_answers() -> None:
    index = AclIndex([allow("User:a", "READ", "b", pattern="PREFIXED")])

    assert len(decide_all(Requests.of([]), index, AuthorizerSettings())) == 0
    row = AccessMatrix(index, AuthorizerSettings(), ResourceType.TOPIC, []).row("User:a")
    assert len(row.allowed) == 0
    assert [len(part) for part in row.runs()] == [0, 0, 0]


def test_a_batch_of_few_rows_is_not_laid_out_for_all_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[AccessRequest] = []
    monkeypatch.setattr(
        deciding, "decide", lambda request, *rest: asked.append(request) or decide(request, *rest)
    )
    index = AclIndex([allow("User:a", "READ", f"t{n}", pattern="PREFIXED") for n in range(1_000)])
    few = [ask("User:a", "READ", "t1"), ask("User:a", "READ", "t1"), ask("User:b", "READ", "t1")]
    many = [ask("User:a", "READ", f"t{n}x") for n in range(1_000)]

    assert decide_all(Requests.of(few), index, AuthorizerSettings()).are(Result.ALLOWED).tolist() == [
        True,
        True,
        False,
    ]
    assert len(asked) == 2
    assert decide_all(Requests.of(many), index, AuthorizerSettings()).are(Result.ALLOWED).all()
    assert len(asked) == 2
