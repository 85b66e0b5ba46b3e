"""What a broker refuses is foretold with its layer, its code and its very text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from aclweb.acl.kafka.accepted import cautions
from aclweb.acl.kafka.creation import CREATION_RULES
from aclweb.acl.kafka.deletion import DELETION_RULES, LISTING_RULES
from aclweb.acl.kafka.refusals import Item, Layer, Refusal, Rule, Seen, Target
from aclweb.acl.kafka.texts import why_no_text
from aclweb.acl.kafka.validation import (
    creation_answers,
    deletion_answers,
    explained,
    listing_answer,
    refusal,
    refused_by_client,
    refused_everywhere,
    why_not_deletable,
)
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.model.authorizers import VERSIONS, AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding
from tests.builders import acl, allow
from tests.each import each
from tests.validation_cases import CREATIONS, EVERYTHING, FILTERS, GOOD, Expected, creation, deletion

KRAFT = Target(AuthorizerSettings())
ZOOKEEPER = Target(AuthorizerSettings(authorizer="acl"))


def told(answer: Refusal | None) -> Expected:
    if answer is None:
        return None
    return "closed" if answer.code is None else (answer.code, answer.text)


@each("case", CREATIONS)
def test_an_acl_gets_the_answer_that_real_brokers_gave(case):
    answers = [creation_answers([creation(case)], target)[0] for target in (KRAFT, ZOOKEEPER)]

    assert [told(answer) for answer in answers] == [case[1], case[2]]


@each("case", FILTERS)
def test_a_filter_to_delete_with_gets_the_answer_that_real_brokers_gave(case):
    answers = [deletion_answers([deletion(case)], target)[0] for target in (KRAFT, ZOOKEEPER)]

    assert [told(answer) for answer in answers] == [case[1], case[2]]


@each("case", FILTERS)
def test_a_filter_to_list_by_is_refused_for_code_zero_and_length_only(case):
    closed = case[1] == "closed"

    assert told(listing_answer(deletion(case), KRAFT)) == ("closed" if closed else None)


def test_the_good_items_of_a_request_suffer_for_a_word_that_is_for_filters_only():
    answers = creation_answers([GOOD, replace(GOOD, pattern_type=2)], KRAFT)

    assert [told(answer) for answer in answers] == [(-1, None), (-1, None)]
    assert all(answer is not None and answer.whole_request for answer in answers)
    assert "Another ACL" in answers[0].sentence
    assert "MATCH" in answers[1].sentence


def test_a_code_of_zero_closes_the_connection_before_anything_else_is_looked_at():
    answers = creation_answers([GOOD, replace(GOOD, operation=0), replace(GOOD, pattern_type=1)], KRAFT)

    assert {told(answer) for answer in answers} == {"closed"}


def test_in_zookeeper_a_principal_without_colon_harms_its_neighbours_on_the_pattern():
    items = [GOOD, replace(GOOD, principal="bob"), replace(GOOD, pattern_type=4), replace(GOOD, operation=99)]

    zookeeper = creation_answers(items, ZOOKEEPER)
    kraft = creation_answers(items, KRAFT)

    assert [told(answer) for answer in zookeeper] == [
        (-1, None),
        (-1, None),
        None,
        (42, "Failed to create ACL"),
    ]
    assert kraft[0] is None


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (AuthorizerSettings(kafka_version="4.0"), 42),
        (AuthorizerSettings(kafka_version="4.1"), None),
        (AuthorizerSettings(kafka_version="3.9"), 42),
        (AuthorizerSettings(authorizer="acl"), 42),
    ],
)
def test_a_word_younger_than_the_version_is_unknown_to_it_and_the_sentence_says_so(settings, code):
    answer = refusal(
        "add", allow("User:a", "TWO_PHASE_COMMIT", "t", resource_type="TRANSACTIONAL_ID"), Target(settings)
    )

    assert (answer and answer.code) == code
    if answer is not None:
        assert answer.sentence == "TWO_PHASE_COMMIT needs Kafka 4.1 or later."


def test_the_user_type_is_unknown_before_3_3():
    binding = allow("User:a", "CREATE_TOKENS", "User:b", resource_type="USER")
    answers = {
        version: refusal("add", binding, Target(AuthorizerSettings(authorizer="acl", kafka_version=version)))
        for version in ("3.2", "3.3")
    }

    assert told(answers["3.2"]) == (42, "Failed to create ACL")
    assert answers["3.3"] is None


def test_a_slash_in_a_name_had_no_words_of_its_own_before_3_3():
    old = refusal(
        "add",
        allow("User:a", "READ", "a/b"),
        Target(AuthorizerSettings(authorizer="acl", kafka_version="3.2")),
    )

    assert told(old) == (-1, None)
    assert old is not None
    assert "slash" in old.sentence


@pytest.mark.parametrize("version", ["3.9", "4.0", "4.3"])
def test_a_host_is_no_ones_business_before_4_4(version):
    for host in ("", "10.0.0.0/33", "nonsense"):
        assert (
            refusal(
                "add",
                allow("User:a", "READ", "t", host=host),
                Target(AuthorizerSettings(kafka_version=version)),
            )
            is None
        )


def test_a_range_needs_the_metadata_version_and_says_so_before_it_is_read():
    behind = Target(AuthorizerSettings(), ranges=False)

    for host in ("10.0.0.0/8", "10.0.0.0/33"):
        answer = refusal("add", allow("User:a", "READ", "t", host=host), behind)
        assert told(answer) == (
            35,
            "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher.",
        )


def test_an_old_inter_broker_protocol_takes_no_prefixes():
    answer = refusal(
        "add",
        allow("User:a", "READ", "t", pattern="PREFIXED"),
        Target(AuthorizerSettings(authorizer="acl"), prefixes=False),
    )

    assert told(answer) == (42, "Failed to create ACL")


def test_permission_comes_before_form_and_a_missing_authorizer_has_two_wordings():
    bad = replace(GOOD, pattern_type=1)

    assert told(creation_answers([bad], replace(KRAFT, permitted=False))[0]) == (31, None)
    assert told(creation_answers([bad], replace(KRAFT, has_authorizer=False, permitted=False))[0]) == (
        54,
        "No Authorizer is configured.",
    )
    assert told(listing_answer(EVERYTHING, replace(KRAFT, has_authorizer=False))) == (
        54,
        "No Authorizer is configured on the broker",
    )
    assert told(listing_answer(EVERYTHING, replace(KRAFT, permitted=False))) == (31, None)


def test_version_zero_of_a_request_is_unknown_from_4_0():
    assert told(listing_answer(EVERYTHING, replace(KRAFT, wire_version=0))) == "closed"
    assert listing_answer(EVERYTHING, Target(AuthorizerSettings(kafka_version="3.9"), wire_version=0)) is None
    assert listing_answer(EVERYTHING, replace(ZOOKEEPER, wire_version=0)) is None


def test_one_unknown_word_in_zookeeper_spoils_every_list_that_it_would_stand_in():
    odd = allow("User:a", "UNKNOWN", "t")

    assert told(listing_answer(EVERYTHING, ZOOKEEPER, found=[GRANT, odd])) == (-1, None)
    assert listing_answer(EVERYTHING, ZOOKEEPER, found=[GRANT]) is None


GRANT = allow("User:a", "READ", "t")


def test_ten_thousand_new_acls_are_the_most_of_one_request_and_old_ones_do_not_count():
    many = [replace(GOOD, resource_name=f"t{number}") for number in range(10_001)]
    named = replace(GOOD, resource_name="")

    too_many = creation_answers([*many, named], KRAFT)
    known = AclBinding(*_binding(many[0]))

    assert {told(answer) for answer in too_many[:-1]} == {
        (44, "Unable to perform excessively large batch operation.")
    }
    assert told(too_many[-1]) == (42, "Invalid empty resource name")
    assert set(creation_answers(many, KRAFT, present=[known])) == {None}
    assert set(creation_answers([*many[1:], many[1]], KRAFT)) == {None}
    assert set(creation_answers(many, ZOOKEEPER)) == {None}


def _binding(item: Item) -> tuple[object, ...]:
    found = allow("User:bob", "READ", item.resource_name or "")
    return (
        found.resource_type,
        found.resource_name,
        found.pattern_type,
        found.principal,
        found.host,
        found.operation,
        found.permission_type,
    )


def test_ten_thousand_acls_are_the_most_that_one_request_takes_away():
    unknown = replace(EVERYTHING, resource_type=99)

    answers = deletion_answers([unknown, EVERYTHING], KRAFT, matched=10_001)

    assert {told(answer) for answer in answers} == {
        (42, "Cannot remove more than 10000 acls in a single delete operation.")
    }
    assert deletion_answers([EVERYTHING], KRAFT, matched=10_000) == (None,)
    assert deletion_answers([EVERYTHING], ZOOKEEPER, matched=10_001) == (None,)


# --- for those who ask about one ACL ---------------------------------------------------------


def test_what_no_version_takes_is_distinguished_from_what_only_some_refuse():
    assert refused_everywhere("add", allow("bob", "READ", "t")) is not None
    assert refused_everywhere("add", allow("User:bob", "READ", "")) is not None
    assert refused_everywhere("add", allow("User:bob", "READ", "t", pattern="GLOB")) is not None
    assert refused_everywhere("add", allow("User:bob", "READ", "a/b")) is None
    assert refused_everywhere("add", allow("User:bob", "READ", "t", host="10.0.0.0/33")) is None
    assert refused_everywhere("remove", allow("bob", "READ", "")) is None
    assert refused_everywhere("remove", allow("User:bob", "UNKNOWN", "t")) is not None


def test_a_brokers_answer_is_explained_by_the_check_with_its_very_text():
    binding = allow("User:bob", "READ", "a/b", host="10.0.0.0/33")

    by_text = explained("add", binding, 42, "Failed to create ACL")
    by_code = explained("add", binding, 42, None)
    ranges = explained("add", allow("User:b", "READ", "t", host="10.0.0.0/8"), 35, None)

    assert by_text is not None
    assert by_text.layer is Layer.ZOOKEEPER
    assert by_code is not None
    assert "address range" in by_code.sentence
    assert ranges is not None
    assert "metadata.version" in ranges.sentence
    assert explained("add", allow("User:bob", "READ", "t"), 42, "Something new") is None


@pytest.mark.parametrize(
    ("field", "told_as"),
    [
        ({"operation": "UNKNOWN"}, "The operation of this ACL is UNKNOWN"),
        (
            {"operation": "UNKNOWN", "resource_type": "UNKNOWN"},
            "The resource type and operation of this ACL are",
        ),
    ],
)
def test_an_acl_of_unknown_words_can_be_shown_and_not_be_deleted_and_says_so(field, told_as):
    binding = acl("ALLOW", "User:a", field.pop("operation"), "t", **field)

    assert (why_not_deletable(binding) or "").startswith(told_as)
    assert why_not_deletable(allow("bob", "READ", "")) is None


@pytest.mark.parametrize(
    "binding",
    [
        allow("User:a", "READ", "t", pattern="MATCH"),
        allow("User:a", "READ", "t", pattern="ANY"),
        allow("User:a", "READ", "t", pattern="GLOB"),
        allow("User:a", "ANY", "t"),
        allow("User:a", "READ", "t", resource_type="ANY"),
        acl("ANY", "User:a", "READ", "t"),
    ],
    ids=lambda binding: f"{binding.resource_type.name}-{binding.pattern_type.name}-{binding.operation.name}",
)
def test_a_word_that_stands_for_several_deletes_nothing(binding):
    assert "name one word" in (why_not_deletable(binding) or "")


@pytest.mark.parametrize(
    ("binding", "text"),
    [
        (allow("User:a", "READ", "t", resource_type="ANY", pattern="MATCH"), "resourceType must not be ANY"),
        (allow("User:a", "READ", "t", pattern="MATCH"), "patternType must not be MATCH"),
        (allow("User:a", "ANY", "t"), "operation must not be ANY"),
        (acl("ANY", "User:a", "READ", "t"), "permissionType must not be ANY"),
        (allow("User:a", "UNKNOWN", "t"), "Invalid ACL creation: Operation is UNKNOWN"),
        (allow("bob", "READ", ""), None),
    ],
)
def test_javas_own_client_refuses_some_acls_before_it_sends_them(binding, text):
    answer = refused_by_client("add", binding)

    assert (answer and answer.text) == text
    assert answer is None or answer.code is None


def test_javas_own_client_refuses_unknown_filters_before_it_sends_them():
    asked = AclFilter.exactly(allow("User:a", "UNKNOWN", "t"))
    listed, removed = refused_by_client("list", asked), refused_by_client("remove", asked)

    assert listed is not None
    assert listed.text == "The AclBindingFilter must not contain UNKNOWN elements."
    assert removed is not None
    assert removed.text is None
    assert removed.whole_request


def test_what_is_taken_and_dangerous_or_useless_comes_with_a_caution():
    ranged = allow("User:a", "READ", "t", host="10.0.0.0/8")
    ids = {
        (settings.authorizer, settings.kafka_version): [caution.id for caution in cautions(ranged, settings)]
        for settings in (
            AuthorizerSettings(),
            AuthorizerSettings(kafka_version="4.3"),
            AuthorizerSettings(authorizer="acl"),
        )
    }

    assert ids == {
        ("standard", "4.4"): [],
        ("standard", "4.3"): ["dormant-address-range"],
        ("acl", "3.9"): ["dormant-address-range"],
    }
    assert [caution.id for caution in cautions(allow("bob", "READ", "t"), AuthorizerSettings())] == [
        "unparsable-principal"
    ]
    assert cautions(allow("User:a", "READ", "t"), AuthorizerSettings()) == ()


def test_half_a_character_is_no_text_for_a_request():
    assert "lone surrogate" in (why_no_text("a\ud800") or "")
    assert why_no_text("a😀") is None


# --- the table itself ------------------------------------------------------------------------

EVERY = tuple(
    Target(AuthorizerSettings(authorizer=authorizer, kafka_version=version))
    for authorizer in VERSIONS
    for version in VERSIONS[authorizer]
)


def test_every_refusal_has_a_sentence_and_travels_as_json():
    items = [creation(case) for case in CREATIONS]
    for target in EVERY:
        for item in items:
            answer = creation_answers([item], target)[0]
            if answer is not None:
                assert answer.sentence.endswith(".")
                assert answer.sentence[0].isupper()
                assert json.loads(json.dumps(answer.as_dict()))["code"] == answer.code
                assert answer.kafka_error.startswith(answer.error.name)


@pytest.mark.parametrize(
    ("rules", "items"),
    [
        (CREATION_RULES, [creation(case) for case in CREATIONS]),
        (DELETION_RULES, [deletion(case) for case in FILTERS]),
        (LISTING_RULES, [deletion(case) for case in FILTERS]),
    ],
    ids=["creation", "deletion", "listing"],
)
def test_every_check_is_the_one_that_answers_some_case(rules, items):
    targets = [
        *EVERY,
        *(replace(target, permitted=False) for target in (KRAFT, ZOOKEEPER)),
        replace(KRAFT, has_authorizer=False),
        replace(KRAFT, ranges=False),
        replace(ZOOKEEPER, prefixes=False),
        replace(KRAFT, wire_version=0),
    ]
    met = {answering(rules, Seen.by(target, item)) for target in targets for item in items}

    assert [rule.what for rule in rules if rule not in met] == []


def answering(rules: tuple[Rule, ...], seen: Seen) -> Rule | None:
    return next((rule for rule in rules if rule.holds_in(seen.target.settings) and rule.applies(seen)), None)
