"""Recorded answers of Kafka's released classes are aclweb's answers too; no JVM is needed for this.

One world in `COMPARED_EVERY` is compared. Of the versions that answered it alike one is compared, another one in the
next world. The compiled answer is compared for every question, the explained one with the rule that the broker's log
names for one question in `EXPLAINED_EVERY`, and the tests' reference for one in `REFERRED_EVERY`. With
ACLWEB_TEST_SCALE=full every world and every version is compared, and all three for every question.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

import pytest

from tests.oracle.comparing import Difference, differences
from tests.oracle.jvm import SOURCES
from tests.oracle.recording import (
    FAMILIES,
    FOLDER,
    SEED,
    Family,
    Recorded,
    locked_digests,
    read_manifest,
    recorded,
)
from tests.oracle.tally import Tally
from tests.oracle.targets import TARGETS
from tests.oracle.worlds import generator_digest, is_hazardous, make_world
from tests.random_cases import SCALE

FULL = SCALE > 1
COMPARED_EVERY = 1 if FULL else 2
EXPLAINED_EVERY = 1 if FULL else 11
REFERRED_EVERY = 1 if FULL else 23

Read = Callable[[Family], Sequence[Recorded]]


@pytest.fixture(scope="module")
def read() -> Read:
    """Return what reads the worlds of a family, once."""
    return lru_cache(lambda family: tuple(recorded(family)))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_aclweb_answers_recorded_questions_as_kafkas_classes_did(family: Family, read: Read) -> None:
    found: list[Difference] = []
    compared: Counter[object] = Counter()
    for number, one in enumerate(read(family)[::COMPARED_EVERY]):
        for target, answer in one.answers if FULL else one.one_of_each(number):
            compared[target] += one.world.decisions
            found += differences(
                target, one.world, answer, explain_every=EXPLAINED_EVERY, refer_every=REFERRED_EVERY
            )

    assert not found, f"{len(found)} differences, such as {found[0]}\n{found[0].scenario()}"
    assert set(compared) == set(family.targets)
    assert min(compared.values()) > 5_000 // COMPARED_EVERY, compared


def test_the_recorded_answers_are_those_of_the_manifest_and_no_question_is_rare(read: Read) -> None:
    tally = Tally()
    targets = set()
    for family in FAMILIES:
        for one in read(family):
            for target, answer in one.answers:
                targets.add(target)
                tally.add(target, one.world, answer)

    manifest = read_manifest()
    assert targets == set(TARGETS)
    assert tally.decisions == manifest["decisions"]
    assert tally.decisions >= 1_000_000
    assert tally.type_decisions == manifest["by_type"]
    assert tally.type_decisions >= 100_000
    assert tally.lopsided() == []


def test_the_recorded_files_and_their_makers_are_those_of_the_manifest():
    manifest = read_manifest()
    files = {f"{family.name}.jsonl.gz": FOLDER / f"{family.name}.jsonl.gz" for family in FAMILIES}

    assert manifest["files"] == {
        name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in files.items()
    }
    assert manifest["jars"] == locked_digests(sorted({target.version for target in TARGETS}))
    assert manifest["program"] == hashlib.sha256((SOURCES / "Decisions.java").read_bytes()).hexdigest()
    assert manifest["generator"] == generator_digest(), (
        "The generator makes other worlds than it did; record anew with python -m tests.oracle record."
    )


def test_the_seeds_give_the_recorded_worlds_again_and_none_is_a_hazard_for_a_broker(read: Read) -> None:
    for family in FAMILIES:
        for number, one in enumerate(read(family)):
            assert one.world.seed == f"{SEED}/{number}"
            assert one.world == make_world(one.world.seed, family.engine, family.age)
            assert not is_hazardous(one.world)
        assert number == family.count - 1
