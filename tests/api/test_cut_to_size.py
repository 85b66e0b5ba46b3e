"""An effect that is too large for one answer is cut, and the answer says how much it was."""

from __future__ import annotations

import json

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.delta import Delta
from aclweb.acl.simulate import Names, simulate
from aclweb.acl.simulate.differences import Differences
from aclweb.api.size import cut_to_size
from tests.builders import allow, deny

LISTS = ("gains", "loses", "recovered", "depends")
TOPICS = tuple(f"topic-é-{n}" for n in range(60))


def effect(*, warnings: int = 0) -> Differences:
    """A DENY takes what one has, an ALLOW gives another the same topics, and a range leaves some open."""
    delta = Delta(
        add=(
            deny("User:old", "READ", "*"),
            allow("User:new", "READ", "*"),
            allow("User:ranged", "READ", "*", host="10.0.0.0/8"),
            *(allow(f"no-type-{n}-{'x' * 200}", "READ", "*") for n in range(warnings)),
        )
    )
    index = AclIndex([allow("User:old", "READ", "*")])
    return Differences.of(simulate(delta, index, Names(topics=TOPICS)))


def size(answer: dict[str, object]) -> int:
    return len(json.dumps(answer))


def test_an_effect_that_fits_is_reported_whole() -> None:
    found = effect()

    answer = cut_to_size(found)

    assert answer["is_complete"] is True
    assert {name: answer[name] for name in LISTS} == {name: list(found[name]) for name in LISTS}
    assert answer["counts"] == {name: len(answer[name]) for name in (*LISTS, "resources", "warnings")}


@pytest.mark.parametrize("warnings", [0, 40])
@pytest.mark.parametrize("most", [0, 1, 3_000, 20_000, 30_000, 60_000])
def test_a_larger_one_is_cut_to_the_size_with_its_whole_lengths(most: int, warnings: int) -> None:
    found = effect(warnings=warnings)
    whole = cut_to_size(found)

    answer = cut_to_size(found, most)

    assert size(answer) <= most + 350
    assert answer["counts"] == whole["counts"]
    assert answer["is_complete"] is (answer == whole)
    for name in (*LISTS, "resources"):
        assert answer[name] == whole[name][: len(answer[name])]


def test_too_many_warnings_are_cut_and_the_rest_is_counted() -> None:
    found = effect(warnings=40)

    answer = cut_to_size(found, 20_000)

    assert answer["counts"]["warnings"] == len(found.warnings) == 40
    assert answer["is_complete"] is False
    *kept, last = answer["warnings"]
    assert kept == list(found.warnings[: len(kept)])
    assert 0 < len(kept) < 40
    assert last == f"{40 - len(kept)} more warnings are left out, because this answer would be too large."
    assert answer["loses"], "warnings leave room for what somebody loses"


def test_what_somebody_loses_is_kept_before_what_somebody_gains() -> None:
    found = effect()
    whole = cut_to_size(found)

    answer = cut_to_size(found, size(whole["loses"]) + 100)

    assert answer["loses"] == whole["loses"]
    assert len(answer["gains"]) < len(whole["gains"])
    assert answer["depends"] == answer["recovered"] == answer["resources"] == []
