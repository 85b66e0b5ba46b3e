"""Real brokers of 4.4 and 3.9 answer bad requests with the codes and texts that are foretold."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from aclweb.acl.kafka.refusals import MOST_RECORDS, Item, Refusal, Target
from aclweb.acl.kafka.validation import creation_answers, deletion_answers, listing_answer
from aclweb.acl.model.authorizers import AuthorizerSettings
from devstack.java import find_java
from devstack.servers import KafkaBroker
from tests.clusters.wire import CREATE, DELETE, DESCRIBE, Answer, Closed, Wire
from tests.random_cases import SCALE
from tests.servers import USERS, need_jars, need_java, wipe
from tests.validation_cases import (
    CLOSED,
    CREATIONS,
    EVERYTHING,
    FILTERS,
    GOOD,
    creation,
    deletion,
    random_creation,
)

pytestmark = pytest.mark.kafka

TARGETS = {
    "kafka44": Target(AuthorizerSettings(kafka_version="4.4")),
    "kafka39": Target(AuthorizerSettings(authorizer="acl")),
}
# The full scale of other tests is fifty; here each case is a question to a broker.
TIMES = 5 if SCALE > 1 else 1
CREATIONS_ALONE = [creation(case) for case in CREATIONS]
FILTERS_ALONE = [deletion(case) for case in FILTERS]


@pytest.fixture(params=sorted(TARGETS))
def asked(request) -> Iterator[tuple[KafkaBroker, Target, Wire]]:
    """A real broker without ACLs, what is foretold of it, and a connection of its super user."""
    broker: KafkaBroker = request.getfixturevalue(request.param)
    wipe(broker)
    with Wire(broker) as wire:
        yield broker, TARGETS[request.param], wire
        wire.delete([EVERYTHING])


Seen = tuple[int, str | None] | str


def heard(answer: Answer) -> Seen:
    # Brokers leave the text of a success empty in one answer and out of the other.
    return answer.code, answer.text if answer.code else None


def foretold(answer: Refusal | None) -> Seen:
    if answer is None:
        return 0, None
    return CLOSED if answer.code is None else (answer.code, answer.text)


def send(wire: Wire, key: int, items: Sequence[Item], version: int = 3) -> list[Seen]:
    try:
        (answers,) = wire.pipelined([(key, items)], version)
    except Closed:
        return [CLOSED] * len(items)
    return [heard(answer) for answer in answers]


def test_each_bad_and_good_acl_alone_gets_the_answer_that_is_foretold(asked):
    _, target, wire = asked

    answers = {item: send(wire, CREATE, [item])[0] for item in CREATIONS_ALONE}

    assert answers == {item: foretold(creation_answers([item], target)[0]) for item in CREATIONS_ALONE}
    assert len(answers) >= 60


def test_each_bad_and_good_filter_alone_gets_the_answer_that_is_foretold(asked):
    _, target, wire = asked

    for item in FILTERS_ALONE:
        assert send(wire, DELETE, [item]) == [foretold(deletion_answers([item], target)[0])]
        assert send(wire, DESCRIBE, [item]) == [foretold(listing_answer(item, target))]


def test_random_mixes_of_good_and_bad_acls_get_the_answers_that_are_foretold(asked):
    broker, target, wire = asked
    rng = random.Random(f"mixes {broker.engine}")
    counts: Counter[Seen] = Counter()

    for _ in range(250 * TIMES):
        items = [random_creation(rng) for _ in range(rng.randint(1, 8))]
        expected = [foretold(answer) for answer in creation_answers(items, target)]
        assert send(wire, CREATE, items) == expected, items
        counts.update(expected)

    print(f"{counts.total()} items: {counts.most_common(12)}")
    assert {0, 42, -1} <= {seen[0] for seen in counts if seen != CLOSED}
    assert CLOSED in counts


def test_random_mixes_of_filters_get_the_answers_that_are_foretold(asked):
    broker, target, wire = asked
    rng = random.Random(f"filters {broker.engine}")

    for _ in range(100 * TIMES):
        items = [rng.choice(FILTERS_ALONE) for _ in range(rng.randint(1, 5))]
        if rng.random() < 0.9:
            items = [
                item for item in items if 0 not in item.codes and len(item.resource_name or "") < 99
            ] or [EVERYTHING]
        expected = [foretold(answer) for answer in deletion_answers(items, target)]
        assert send(wire, DELETE, items) == expected, items


def test_a_principal_without_rights_gets_one_code_unless_the_connection_is_closed(asked):
    broker, target, _ = asked
    stranger = replace(target, permitted=False)
    asking = [
        (CREATE, [GOOD, replace(GOOD, pattern_type=1), replace(GOOD, resource_name="")], creation_answers),
        (CREATE, [GOOD, replace(GOOD, operation=0)], creation_answers),
        (DELETE, [EVERYTHING, replace(EVERYTHING, operation=99)], deletion_answers),
        (DESCRIBE, [EVERYTHING], lambda items, at: [listing_answer(items[0], at)]),
    ]

    with Wire(broker, "bob") as wire:
        for key, items, answers in asking:
            expected = [foretold(answer) for answer in answers(items, stranger)]
            # The text is a dump of the broker's insides, so none is foretold.
            got = [seen if seen == CLOSED else (seen[0], None) for seen in send(wire, key, items)]
            assert got == expected


@pytest.mark.parametrize("version", [0, 1, 2])
def test_older_versions_of_the_requests_are_answered_alike_users_included(asked, version):
    _, target, wire = asked
    older = replace(target, wire_version=version)
    user = replace(GOOD, resource_type=7, resource_name="User:bob", operation=13)

    for item in (GOOD, user, replace(GOOD, resource_name=""), replace(GOOD, operation=99)):
        expected = [foretold(answer) for answer in creation_answers([item], older)]
        assert send(wire, CREATE, [item], version) == expected
    assert send(wire, DESCRIBE, [EVERYTHING], version) == [foretold(listing_answer(EVERYTHING, older))]
    assert send(wire, DELETE, [EVERYTHING], version) == [
        foretold(answer) for answer in deletion_answers([EVERYTHING], older)
    ]


@pytest.fixture(scope="module")
def behind(tmp_path_factory) -> Iterator[Wire]:
    """A connection to a broker of 4.4 whose metadata version is still that of 4.3."""
    need_java()
    jars = need_jars("4.4.0")
    directory = tmp_path_factory.mktemp("behind")
    format_with(directory, jars, "4.3-IV0")
    with KafkaBroker(directory, jars, users=USERS) as broker, Wire(broker) as wire:
        yield wire


def format_with(directory: Path, jars: Path, metadata_version: str) -> None:
    """Let Kafka's own tool prepare the broker's directory."""
    settings = directory / "format.properties"
    settings.write_text(
        "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:1\n"
        "listeners=PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:1\ncontroller.listener.names=CONTROLLER\n"
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
        f"log.dirs={directory / 'data'}\n"
    )
    command: list[str | Path] = [
        find_java(),
        "-XX:TieredStopAtLevel=1",
        "-cp",
        f"{jars}/*",
        "kafka.tools.StorageTool",
        "format",
    ]
    command += ["-t", "uzI15-ToR7OwqUkO-JxNwQ", "-c", settings, "--release-version", metadata_version]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.thorough(
    instead="tests/acl/test_validation.py::test_a_range_needs_the_metadata_version_and_says_so_before_it_is_read"
)
def test_a_broker_behind_its_metadata_version_refuses_every_range_and_nothing_more(behind):
    target = Target(AuthorizerSettings(), ranges=False)
    expected = {item: foretold(creation_answers([item], target)[0]) for item in CREATIONS_ALONE}

    answers = {item: send(behind, CREATE, [item])[0] for item in CREATIONS_ALONE}

    assert answers == expected
    assert 35 in {seen[0] for seen in answers.values() if seen != CLOSED}


@pytest.mark.thorough(
    instead="tests/acl/test_validation.py::test_ten_thousand_new_acls_are_the_most_of_one_request_and_old_ones_do_not_count"
)
def test_the_limit_of_ten_thousand_is_the_controllers_and_not_zookeepers(asked):
    broker, target, wire = asked
    named = replace(GOOD, resource_name="")
    names = [f"many-{number}" for number in range(5 if broker.engine == "acl" else 50)]
    many = [
        replace(GOOD, resource_name=names[number % len(names)], principal=f"User:u{number}")
        for number in range(MOST_RECORDS + 1)
    ]

    assert send(wire, CREATE, [*many, named]) == [
        foretold(answer) for answer in creation_answers([*many, named], target)
    ]
    if broker.engine == "standard":
        # Those that are there already do not count, nor does one that is named twice.
        assert set(send(wire, CREATE, many[:2])) == {(0, None)}
        assert set(send(wire, CREATE, [*many, many[5]])) == {(0, None)}
        filters = [replace(EVERYTHING, operation=99), EVERYTHING]
        assert send(wire, DELETE, filters) == [
            foretold(answer) for answer in deletion_answers(filters, target, matched=len(many))
        ]
        until_gone(wire, replace(EVERYTHING, resource_name=names[0]))
    until_gone(wire, EVERYTHING)


def until_gone(wire: Wire, matching: Item) -> None:
    for _ in range(1200):
        wire.delete([matching])
        if not wire.describe(matching).found:
            return
        time.sleep(0.05)
    raise AssertionError("The ACLs cannot be removed.")
