"""Every recorded answer of Kafka's released classes is aclweb's answer too; no JVM is needed for this.

The compiled answer is compared for every question, the explained one with the rule that the
broker's log names for one question in `EXPLAINED_EVERY`, and the tests' reference for one in
`REFERRED_EVERY`; with ACLWEB_TEST_SCALE=full for every question.
"""

from __future__ import annotations

import hashlib
from itertools import islice

import pytest

from tests.oracle.comparing import differences
from tests.oracle.jvm import SOURCES
from tests.oracle.recording import FAMILIES, FOLDER, SEED, locked_digests, read_manifest, recorded
from tests.oracle.tally import Tally
from tests.oracle.targets import TARGETS
from tests.oracle.worlds import generator_digest, is_hazardous, make_world
from tests.random_cases import SCALE

EXPLAINED_EVERY = 19 if SCALE == 1 else 1
REFERRED_EVERY = 41 if SCALE == 1 else 1
PARTS = 3


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_aclweb_answers_every_recorded_question_as_kafkas_classes_did(family, part):
    found = []
    for one in islice(recorded(family), part, None, PARTS):
        for target, answer in one.answers:
            found += differences(
                target, one.world, answer, explain_every=EXPLAINED_EVERY, refer_every=REFERRED_EVERY
            )

    assert not found, f"{len(found)} differences, such as {found[0]}\n{found[0].scenario()}"


def test_the_recorded_answers_are_those_of_the_manifest_and_no_question_is_rare():
    tally = Tally()
    targets = set()
    for family in FAMILIES:
        for one in recorded(family):
            for target, answer in one.answers:
                targets.add(target)
                tally.add(target, one.world, answer)

    manifest = read_manifest()
    assert targets == set(TARGETS)
    assert tally.decisions == manifest["decisions"] >= 1_000_000
    assert tally.type_decisions == manifest["by_type"] >= 100_000
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


def test_the_seeds_give_the_recorded_worlds_again_and_none_is_a_hazard_for_a_broker():
    for family in FAMILIES:
        for number, one in enumerate(recorded(family)):
            assert one.world.seed == f"{SEED}/{number}"
            assert one.world == make_world(one.world.seed, family.engine, family.age)
            assert not is_hazardous(one.world)
        assert number == family.count - 1
