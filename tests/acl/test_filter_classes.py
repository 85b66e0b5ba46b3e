"""Kafka's own classes find what our filters find, and refuse what is foretold in the same words, in each version."""

from __future__ import annotations

import base64
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from aclweb.acl.kafka.creation import CREATION_RULES
from aclweb.acl.kafka.refusals import (
    INVALID_REQUEST,
    UNSUPPORTED_VERSION,
    Item,
    Layer,
    Refusal,
    Seen,
    Target,
    word_for,
)
from aclweb.acl.kafka.texts import why_no_range
from aclweb.acl.kafka.validation import refused_by_client
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from tests.filter_cases import HOSTILE, random_acl, random_filter, with_unknown_word
from tests.oracle.jvm import JavaProgram
from tests.random_cases import SCALE

ACLS, FILTERS = 400, 500


@pytest.fixture(scope="module")
def kafka(java_program) -> JavaProgram:
    return java_program("Filters", "4.4.0")


@pytest.mark.parametrize("world", range(SCALE))
def test_200_000_random_matches_and_every_answer_on_a_filter_are_kafkas(kafka, world):
    rng = random.Random(f"filter classes {world}")
    bindings = [random_acl(rng) for _ in range(ACLS)]
    bindings = [with_unknown_word(rng, one) if rng.random() < 0.05 else one for one in bindings]
    filters = [random_filter(rng, bindings) for _ in range(FILTERS)]
    filters = [unknown(rng, one) if rng.random() < 0.05 else one for one in filters]

    assert set(kafka.ask_many(["forget", *(asking("acl", binding) for binding in bindings)])) == {"ok"}
    answers = kafka.ask_many(asking("filter", one) for one in filters)
    found = Counter()
    for asked, answer in zip(filters, answers, strict=True):
        is_unknown, at_most_one, indefinite, numbers = answer.split("|")
        ours = [number for number, binding in enumerate(bindings) if asked.matches(binding)]
        assert ours == [int(number) for number in numbers.split() if number[0] != "!"], asked
        assert all(
            bindings[int(number[1:])].pattern_type is PatternType.UNKNOWN
            for number in numbers.split()
            if number[0] == "!"
        )
        assert str(asked.is_unknown).lower() == is_unknown
        assert str(asked.matches_at_most_one).lower() == at_most_one
        assert (asked.find_indefinite_field() or "") == indefinite
        found[min(len(ours), 3)] += 1
    print(f"{ACLS * FILTERS} matches; filters by how many they find (3 = more): {sorted(found.items())}")
    assert min(found[0], found[1], found[3]) > FILTERS // 20


def unknown(rng: random.Random, asked: AclFilter) -> AclFilter:
    binding = AclBinding(
        asked.resource_type, asked.resource_name or "", asked.pattern_type, asked.principal or "", asked.host or "",
        asked.operation, asked.permission_type,
    )  # fmt: skip
    return AclFilter.exactly(with_unknown_word(rng, binding))


def test_the_exact_filter_of_an_acl_finds_it_alone_among_thousands_in_kafka_too(kafka):
    rng = random.Random("exact")
    bindings = list(dict.fromkeys(random_acl(rng) for _ in range(2_000)))
    list(kafka.ask_many(["forget", *(asking("acl", binding) for binding in bindings)]))

    ours = list(kafka.ask_many(asking("filter", AclFilter.exactly(binding)) for binding in bindings))
    theirs = list(kafka.ask_many(f"exact {number}" for number in range(len(bindings))))

    assert ours == [f"false|true||{number}" for number in range(len(bindings))]
    assert theirs == [str(number) for number in range(len(bindings))]


def test_kafkas_client_refuses_to_create_and_to_list_by_what_is_foretold(kafka):
    rng = random.Random("client")
    kinds = Counter()
    for verb, question in (("add", "create"), ("list", "list")):
        asked = [bent(rng, random_acl(rng)) for _ in range(150)]
        asked = [one for one in asked if refused_by_client(verb, exact(one)) is not None]
        answers = list(kafka.ask_many(asking(question, one) for one in asked))
        for one, answer in zip(asked, answers, strict=True):
            foretold = refused_by_client(verb, one if verb == "add" else exact(one))
            assert foretold is not None
            assert told(answer) == (foretold.error.name, foretold.text), one
            kinds[foretold.error.name] += 1
        good = random_acl(rng)
        assert kafka.ask(asking(question, good)) == "sent"
    assert set(kinds) == {"IllegalArgumentException", "InvalidRequestException"}


def told(answer: str) -> tuple[str, str]:
    """Return the class and the text of a Java exception."""
    kind, _, text = answer.partition("|")
    return kind, base64.b64decode(text).decode()


def exact(binding: AclBinding) -> AclFilter:
    return AclFilter.exactly(binding)


def bent(rng: random.Random, binding: AclBinding) -> AclBinding:
    """The ACL with one or two words that no ACL can have."""
    words = {
        "resource_type": (ResourceType.ANY, ResourceType.UNKNOWN),
        "pattern_type": (PatternType.ANY, PatternType.MATCH, PatternType.UNKNOWN),
        "operation": (Operation.ANY, Operation.UNKNOWN),
        "permission_type": (PermissionType.ANY, PermissionType.UNKNOWN),
    }
    chosen = rng.sample(sorted(words), rng.choice((1, 1, 2)))
    fields = {name: getattr(binding, name) for name in binding.__slots__} | {
        name: rng.choice(words[name]) for name in chosen
    }
    return AclBinding(**fields)


def test_20_000_random_address_ranges_are_read_and_refused_in_kafkas_words(kafka):
    rng = random.Random("ranges")
    hosts = [random_range(rng) for _ in range(20_000 * SCALE)]

    answers = kafka.ask_many(f"range {word_of(host)}" for host in hosts)
    counts = Counter()
    for host, answer in zip(hosts, answers, strict=True):
        text = None if answer == "ok" else base64.b64decode(answer).decode()
        assert why_no_range(host) == text, host
        counts["ok" if text is None else text.partition("[")[0] + text.rpartition("]")[2]] += 1
    print(counts.most_common())
    assert len(counts) == 6
    assert counts["ok"] > len(hosts) // 10


KRAFT = {"3.9.2": "3.9", "4.0.2": "4.0", "4.1.2": "4.1", "4.2.1": "4.2", "4.3.1": "4.3", "4.4.0": "4.4"}
ASKED = KRAFT if SCALE > 1 else ("3.9.2", "4.4.0")


@pytest.fixture(scope="module", params=ASKED)
def version(request, java_program) -> tuple[JavaProgram, AuthorizerSettings]:
    """The classes of one version: the oldest and the newest, and at full scale those between."""
    return java_program("Filters", request.param), AuthorizerSettings(kafka_version=KRAFT[request.param])


def test_the_controller_of_each_version_refuses_in_the_words_that_are_foretold(version):
    program, settings = version
    rng = random.Random("controller")
    bindings = [crooked(rng) for _ in range(3_000 * SCALE)]
    counts = Counter()
    for ranges in (True, False):
        target = Target(settings, ranges=ranges)
        word = "YES" if ranges else "NO"
        answers = program.ask_many(asking(f"controller {word}", binding) for binding in bindings)
        for binding, answer in zip(bindings, answers, strict=True):
            foretold = controller_answer(binding, target)
            expected = None if foretold is None else (foretold.error, foretold.text)
            heard = None if answer == "ok" else told(answer)
            assert (heard and (_ERRORS[heard[0]], heard[1])) == expected, binding
            counts[heard and heard[0]] += 1
    print(settings.kafka_version, counts)
    assert len(counts) == (3 if settings.version >= (4, 4) else 2)


_ERRORS = {"InvalidRequestException": INVALID_REQUEST, "UnsupportedVersionException": UNSUPPORTED_VERSION}


def controller_answer(binding: AclBinding, target: Target) -> Refusal | None:
    """Return what the controller alone says, past the broker's own checks."""
    # A word as this program calls it reaches the controller as a code, which must be one that it does not know.
    item = Item.of(binding)
    coded = ("resource_type", "pattern_type", "operation", "permission_type")
    codes: dict[str, Any] = {name: 99 for name in coded if getattr(item, name) == 0}
    item = replace(item, **codes)
    seen = Seen.by(target, item)
    rules = [
        rule for rule in CREATION_RULES if rule.layer is Layer.CONTROLLER and rule.holds_in(target.settings)
    ]
    return next((rule.refusal(seen) for rule in rules if rule.applies(seen)), None)


def crooked(rng: random.Random) -> AclBinding:
    """An ACL with an unknown word, no colon, or a host that is none: often good, never with an empty name."""
    binding = random_acl(rng)
    if binding.operation is Operation.TWO_PHASE_COMMIT or not binding.resource_name:
        return crooked(rng)
    if rng.random() < 0.2:
        binding = with_unknown_word(rng, binding)
    if rng.random() < 0.2:
        binding = replace(binding, principal=binding.principal.replace(":", ""))
    if rng.random() < 0.4:
        binding = replace(binding, host=random_range(rng))
    return binding


def test_each_version_knows_the_words_that_are_foretold(version):
    program, settings = version
    kinds = {
        "resource": ResourceType,
        "pattern": PatternType,
        "operation": Operation,
        "permission": PermissionType,
    }

    for kind, words in kinds.items():
        for code in (*range(20), 99):
            assert program.ask(f"word {kind} {code}") == word_for(words, code, settings.version)


_GROUPS = (
    "0",
    "1",
    "00",
    "ffff",
    "FFFF",
    "0ffff",
    "12345",
    "g",
    "",
    "a00",
    "10.0.0.7",
    "256.1.1.1",
    "1.2.3",
    "01.2.3.4",
)
_TAILS = (
    "/8",
    "/32",
    "/64",
    "/128",
    "/129",
    "/-0",
    "/-1",
    "/+7",
    "/032",
    "/",
    "/x",
    "/ 8",
    "/8/8",
    "/٣",
    "/𝟏",
    "/99999999999",
)


def random_range(rng: random.Random) -> str:
    """A host with a slash: IPv4, IPv6 or neither, good and bad."""
    turn = rng.random()
    if turn < 0.3:
        parts = [
            rng.choice(("0", "10", "255", "256", "007", "1000", "", "x", "٣")[: rng.choice((3, 5, 9))])
            for _ in range(rng.choice((4, 4, 4, 3, 5)))
        ]
        address = ".".join(parts)
    elif turn < 0.9:
        parts = [rng.choice(_GROUPS[: rng.choice((4, 6, len(_GROUPS)))]) for _ in range(rng.randint(0, 8))]
        address = ":".join(parts)
        if rng.random() < 0.6:
            place = rng.randint(0, len(parts))
            address = ":".join(parts[:place]) + "::" + ":".join(parts[place:])
        if rng.random() < 0.2:
            address = rng.choice(("::ffff:", "0:0:0:0:0:ffff:", "::", "::ffff:0:")) + rng.choice(
                ("10.0.0.0", "a00:7", "1")
            )
        if rng.random() < 0.1:
            address += rng.choice(("%", "%1", "%007", "%99999999999"))
        if rng.random() < 0.1:
            address = rng.choice((f"[{address}]", f"[{address}", f"{address}]"))
    else:
        address = rng.choice(HOSTILE)
    return address + rng.choice(_TAILS[: rng.choice((4, 8, len(_TAILS)))])


def asking(what: str, given: AclBinding | AclFilter) -> str:
    return " ".join(
        [
            what,
            given.resource_type.name,
            word_of(given.resource_name),
            given.pattern_type.name,
            word_of(given.principal),
            word_of(given.host),
            given.operation.name,
            given.permission_type.name,
        ]
    )


def word_of(text: str | None) -> str:
    if text is None:
        return "-"
    return base64.b64encode(text.encode()).decode() or "="
