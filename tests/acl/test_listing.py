"""kafka-acls listings of every version are read to the letter, and written byte for byte."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclweb.acl.model.errors import Problems
from aclweb.acl.model.vocabulary import (
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.acl.notation.listing import read_listing, why_not_listed, write_listing
from tests.builders import allow, deny
from tests.hostile import acls, round_trip
from tests.real_outputs import real_output


def read(text: str) -> list[AclBinding]:
    problems = Problems("x")
    found = [binding for _line, binding in read_listing(text, problems)]
    problems.raise_if_any()
    return found


def bad_lines(text: str) -> list[str]:
    problems = Problems("x")
    list(read_listing(text, problems))
    return list(problems.messages)


def truth() -> set[AclBinding]:
    return {
        AclBinding(
            ResourceType(acl["resource_type"]),
            acl["name"],
            PatternType(acl["pattern_type"]),
            acl["principal"],
            acl["host"],
            Operation(acl["operation"]),
            PermissionType(acl["permission"]),
        )
        for acl in map(json.loads, real_output("kafka-acls/4.3.1-truth.jsonl").splitlines())
    }


def test_a_real_listing_gives_exactly_what_the_broker_described():
    found = read(real_output("kafka-acls/4.3.1-list-all.out"))

    assert len(found) == 42
    assert set(found) == truth()


@pytest.mark.parametrize("name", ["list-any", "list-match", "list-literal", "list-cluster"])
def test_a_real_listing_of_one_filter_is_a_part_of_what_the_broker_described(name):
    found = read(real_output(f"kafka-acls/4.3.1-{name}.out"))

    assert found
    assert set(found) <= truth()


def test_a_real_listing_by_principal_gives_the_acls_of_each():
    found = read(real_output("kafka-acls/4.3.1-list-principals.out"))

    assert len(found) == 21
    assert set(found) <= truth()


def test_an_empty_listing_gives_no_acls():
    assert read(real_output("kafka-acls/4.3.1-list-empty.out")) == []


@pytest.mark.parametrize(
    ("name", "scala"), [("4.3.1-list-all", False), ("4.3.1-list-any", False), ("3.9.2-list-any", True)]
)
def test_a_listing_is_written_byte_for_byte_as_the_tool_prints_it(name, scala):
    text = real_output(f"kafka-acls/{name}.out")

    assert write_listing(read(text), scala=scala) == text


def test_what_adding_prints_is_no_listing():
    (message, *_others) = bad_lines(real_output("kafka-acls/3.9.2-add-producer.out"))

    assert message.startswith("x:1: 'Adding ACLs for resource")
    assert "is not a line of `kafka-acls --list`" in message


def test_the_listing_of_2_0_to_2_3_is_read():
    text = (
        "Current ACLs for resource `Group:PREFIXED:team:a`: \n"
        " \tUser:bob has Allow permission for operations: Read from hosts: *\n"
        "\tUser:CN=x has Allow permission for operations: y, O=z has Deny permission for operations: DescribeConfigs "
        "from hosts: 10.0.0.7 \n\n"
    )
    assert read(text) == [
        allow("User:bob", "READ", "team:a", pattern="PREFIXED", resource_type="GROUP"),
        deny(
            "User:CN=x has Allow permission for operations: y, O=z",
            "DESCRIBE_CONFIGS",
            "team:a",
            pattern="PREFIXED",
            resource_type="GROUP",
            host="10.0.0.7",
        ),
    ]


def test_the_listing_of_0_9_to_1_1_has_no_pattern_type():
    text = (
        "Current ACLs for resource `Topic:test`: \n"
        " \tUser:bob has Allow permission for operations: All from hosts: * \n\n"
        "Current ACLs for resource `TransactionalId:APP:1`: \n"
        " \tUser:bob has Allow permission for operations: Write from hosts: * \n\n"
    )
    assert read(text) == [
        allow("User:bob", "ALL", "test"),
        allow("User:bob", "WRITE", "APP:1", resource_type="TRANSACTIONAL_ID"),
    ]


def test_a_listing_with_windows_line_ends_is_read():
    text = real_output("kafka-acls/3.9.2-list-any.out")

    assert read(text.replace("\n", "\r\n")) == read(text)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (
            "\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n",
            1,
            "is under no resource",
        ),
        ("Current ACLs for resource `Topic:x\n", 1, "is cut off or damaged"),
        (
            "Current ACLs for resource `Topic:x`: \n\t(principal=User:a, host=*, oper\n",
            2,
            "is cut off or damaged",
        ),
        ("Current ACLs for resource `Thing:x`: \n\n", 1, "Resource type 'Thing'"),
        ("Current ACLs for resource `Any:x`: \n\n", 1, "Resource type 'Any'"),
        (
            "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=x, patternType=MATCH)`:\n",
            1,
            "Pattern type 'MATCH'",
        ),
        (
            "\n\nCurrent ACLs for resource `Topic:x`:\n\t(principal=b, host=*, operation=FLY, permissionType=DENY)\n",
            4,
            "Operation 'FLY'",
        ),
        (
            "Current ACLs for resource `Topic:x`:\n\tUser:a has Some permission for operations: Read from hosts: *\n",
            2,
            "Permission type 'Some'",
        ),
        ("hello\n", 1, "is not a line of"),
    ],
)
def test_a_damaged_line_is_named(text, line, what):
    (message,) = bad_lines(text)

    assert message.startswith(f"x:{line}: ")
    assert what in message


def test_reading_goes_on_after_a_damaged_line_so_that_all_are_named():
    good = "Current ACLs for resource `Topic:x`:\n\t(principal=User:a, host=*, operation=READ, permissionType=DENY)\n"
    damaged = "Current ACLs for resource `Topic\n\t(principal=User:a, host=*, operation=READ, permissionType=DENY)\n"

    messages = bad_lines(good + damaged + good + "x\n")

    assert [message[:4] for message in messages] == ["x:3:", "x:7:"]


def test_a_header_that_never_ends_does_not_take_for_ever():
    text = "Current ACLs for resource `Topic\n" + "x`: \nPrincipal\n" * 50_000

    assert bad_lines(text)[0].startswith("x:1: ")


@pytest.mark.parametrize(
    "binding",
    [
        allow("User:a", "READ", "x", host="*, host=1"),
        allow("User:a", "READ", "x`:\n\t(principal=User:b, host=*, operation=ALL, permissionType=ALLOW)\n"),
        allow("User:a", "READ", "x, patternType=LITERAL)`: \ny"),
        allow("User:a\n\nCurrent ACLs for resource `Topic:y`: ", "READ", "x"),
    ],
)
def test_an_acl_that_would_read_as_another_is_not_listed(binding):
    try:
        text = write_listing([binding], scala=True)
    except AclError as refusal:
        assert "would be read as another" in str(refusal)  # noqa: PT017
    else:
        assert read(text) == [binding]


def is_plain(binding: AclBinding) -> bool:
    """Whether no text holds a line break, ends in the tool's stray space, or imitates the words around it."""
    marks = ("\n", "\r", " has ", ", host=", " from hosts: ", "(principal=")
    written = (binding.resource_name, binding.principal, binding.host)
    begins_like_a_type = binding.resource_name.partition(":")[0] in PatternType.__members__
    return not (
        begins_like_a_type
        or binding.host.endswith(" ")
        or any(mark in text for mark in marks for text in written)
    )


plain_acls = acls().filter(is_plain)


def as_simple(binding: AclBinding) -> str:
    """The entry as 0.9 to 2.3 print it without an admin client."""
    return (
        f"{binding.principal} has {binding.permission_type.pascal} permission for operations: "
        f"{binding.operation.pascal} from hosts: {binding.host}"
    )


@round_trip
@given(plain_acls, plain_acls)
def test_the_listing_of_2_0_to_2_3_is_read_whatever_the_names(first, second):
    second = replace(
        second,
        resource_type=first.resource_type,
        resource_name=first.resource_name,
        pattern_type=first.pattern_type,
    )
    resource = f"{first.resource_type.pascal}:{first.pattern_type.name}:{first.resource_name}"
    text = f"Current ACLs for resource `{resource}`: \n \t{as_simple(first)}\n\t{as_simple(second)} \n\n"

    assert read(text) == [first, second]


@round_trip
@given(plain_acls)
def test_the_listing_of_0_9_to_1_1_is_read_whatever_the_names(binding):
    binding = replace(binding, pattern_type=PatternType.LITERAL)
    resource = f"{binding.resource_type.pascal}:{binding.resource_name}"
    text = f"Current ACLs for resource `{resource}`: \n \t{as_simple(binding)} \n\n"

    assert read(text) == [binding]


@round_trip
@given(acls(), st.booleans())
def test_a_listing_of_both_newer_shapes_reads_back_or_is_refused(binding, scala):
    if why_not_listed(binding):
        return

    assert read(write_listing([binding], scala=scala)) == [binding]


@round_trip
@given(plain_acls, st.booleans())
def test_a_listing_by_principal_reads_like_one_without(binding, scala):
    text = f"ACLs for principal `{binding.principal}`\n{write_listing([binding], scala=scala)}"

    assert read(text + text) == [binding, binding]
