"""A filter finds the ACLs that DescribeAcls would return."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.kafka.validation import why_not_deletable
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding, Operation, PatternType, PermissionType, ResourceType
from tests.builders import read
from tests.hostile import acls, round_trip, texts


def acl(name: str, pattern: str = "LITERAL", **words: str) -> AclBinding:
    return AclBinding(
        ResourceType[words.get("resource_type", "TOPIC")],
        name,
        PatternType[pattern],
        words.get("principal", "User:bob"),
        words.get("host", "*"),
        Operation[words.get("operation", "READ")],
        PermissionType[words.get("permission", "ALLOW")],
    )


def asking(name: str | None = None, pattern: str = "ANY", **words: str) -> AclFilter:
    return AclFilter(
        ResourceType[words.get("resource_type", "ANY")],
        name,
        PatternType[pattern],
        words.get("principal"),
        words.get("host"),
        Operation[words.get("operation", "ANY")],
        PermissionType[words.get("permission", "ANY")],
    )


ACLS = (
    acl("foo"),
    acl("foobar"),
    acl("foo", "PREFIXED"),
    acl("f", "PREFIXED"),
    acl("bar", "PREFIXED"),
    acl("*"),
    acl("*", "PREFIXED"),
)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (asking(), ACLS),
        (asking("foo"), (ACLS[0], ACLS[2])),
        (asking("foo", "LITERAL"), (ACLS[0],)),
        (asking("foo", "PREFIXED"), (ACLS[2],)),
        (asking("foo", "MATCH"), (ACLS[0], ACLS[2], ACLS[3], ACLS[5])),
        (asking("foobar", "MATCH"), (ACLS[1], ACLS[2], ACLS[3], ACLS[5])),
        (asking("*"), (ACLS[5], ACLS[6])),
        (asking("*", "LITERAL"), (ACLS[5],)),
        (asking("*", "MATCH"), (ACLS[5], ACLS[6])),
        (asking("*team", "MATCH"), (ACLS[5], ACLS[6])),
        (asking(None, "PREFIXED"), (ACLS[2], ACLS[3], ACLS[4], ACLS[6])),
        (asking(None, "MATCH"), ACLS),
        (asking("foo", resource_type="GROUP"), ()),
        (asking("foo", "UNKNOWN"), ()),
    ],
)
def test_a_filter_on_the_resource_finds_what_a_broker_finds(asked, found):
    assert tuple(binding for binding in ACLS if asked.matches(binding)) == found


@pytest.mark.parametrize(
    ("asked", "binding"),
    [
        (asking(principal="User:bob"), acl("a", principal="User:*")),
        (asking(operation="READ"), acl("a", operation="ALL")),
        (asking(host="10.0.0.1"), acl("a", host="*")),
        (asking(host="10.0.0.1"), acl("a", host="10.0.0.0/8")),
        (asking(permission="DENY"), acl("a", permission="ALLOW")),
        (asking(principal="User:BOB"), acl("a", principal="User:bob")),
    ],
)
def test_a_filter_compares_words_and_expands_nothing(asked, binding):
    assert not asked.matches(binding)


def test_any_finds_unknown_words_too():
    assert asking().matches(acl("a", operation="UNKNOWN"))
    assert not asking(operation="READ").matches(acl("a", operation="UNKNOWN"))


@pytest.mark.parametrize(
    "binding", ACLS, ids=lambda binding: f"{binding.pattern_type.name}-{binding.resource_name}"
)
def test_the_exact_filter_of_an_acl_finds_that_acl_alone(binding):
    asked = AclFilter.exactly(binding)

    assert [found for found in ACLS if asked.matches(found)] == [binding]
    assert asked.matches_at_most_one


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, None),
        ({"pattern": "ANY"}, None),
        ({"resource_type": "ANY", "name": None}, "Resource type is ANY."),
        ({"resource_type": "UNKNOWN"}, "Resource type is UNKNOWN."),
        ({"name": None, "pattern": "MATCH"}, "Resource name is NULL."),
        ({"pattern": "MATCH"}, "Resource pattern type is MATCH."),
        ({"pattern": "UNKNOWN"}, "Resource pattern type is UNKNOWN."),
        ({"principal": None}, "Principal is NULL"),
        ({"host": None, "operation": "ANY"}, "Host is NULL"),
        ({"operation": "ANY"}, "Operation is ANY"),
        ({"operation": "UNKNOWN"}, "Operation is UNKNOWN"),
        ({"permission": "ANY"}, "Permission type is ANY"),
        ({"permission": "UNKNOWN"}, "Permission type is UNKNOWN"),
    ],
)
def test_the_first_indefinite_field_is_reported_in_kafkas_words(change, text):
    exact = {
        "name": "a", "pattern": "LITERAL", "resource_type": "TOPIC", "principal": "User:a", "host": "*",
        "operation": "READ", "permission": "ALLOW",
    }  # fmt: skip
    asked = asking(**(exact | change))

    assert asked.find_indefinite_field() == text
    assert asked.matches_at_most_one == (text is None)
    assert asked.is_unknown == ("UNKNOWN" in change.values())


bindings = acls()
fields = st.sampled_from(["resource_name", "principal", "host"])


@round_trip
@given(bindings, bindings)
def test_the_exact_filter_finds_an_acl_and_no_other_whatever_its_texts(one, other):
    asked = AclFilter.exactly(one)

    assert asked.matches(one)
    assert asked.matches(other) == (other == one)
    assert asked.matches_at_most_one == (not one.has_unknown)
    assert asked.matches_at_most_one == (why_not_deletable(one) is None)


@round_trip
@given(bindings, fields)
def test_null_finds_any_text_and_an_asterisk_finds_only_the_asterisk(binding, field):
    anything = asking()

    assert anything.matches(binding)
    assert replace(anything, **{field: "*"}).matches(binding) == (getattr(binding, field) == "*")


@round_trip
@given(bindings, fields, texts)
def test_a_text_is_compared_letter_by_letter_and_nothing_is_made_alike(binding, field, text):
    own = getattr(binding, field)

    for given_text in (text, own, own.upper(), f"{own} ", own + "\u0301"):
        assert replace(asking(), **{field: given_text}).matches(binding) == (given_text == own)


def test_match_finds_the_wildcard_also_where_the_kraft_authorizer_does_not_apply_it():
    everything = acl("*", principal="User:*")
    asked = asking("*team", "MATCH", resource_type="TOPIC")
    request = read("User:bob", "*team")

    assert asked.matches(everything)
    assert not authorize(request, AclIndex([everything]), AuthorizerSettings()).allowed
    assert authorize(request, AclIndex([everything]), AuthorizerSettings(authorizer="acl")).allowed
