"""kafka-acls listings of every version are read to the letter, and its commands say exactly one ACL."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest
from hypothesis import given

from aclweb.acl.listing import commands, read_listing, why_no_command, write_listing
from aclweb.acl.model import AclBinding, AclError, Operation, PatternType, PermissionType, ResourceType
from aclweb.acl.problems import Problems
from aclweb.acl.profiles import Rules
from tests.builders import allow, deny
from tests.hostile import acls, round_trip
from tests.real_outputs import real_output

NEWEST = Rules()


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
            "stands under no resource",
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


# Commands.


def test_a_command_adds_one_acl():
    assert commands(
        [
            allow("User:bob", "READ", "orders"),
            deny("User:*", "DESCRIBE_CONFIGS", "pay ments", pattern="PREFIXED", host="10.0.0.7"),
            allow("User:a", "IDEMPOTENT_WRITE", "kafka-cluster", resource_type="CLUSTER"),
            allow("User:a", "WRITE", "-tx", resource_type="TRANSACTIONAL_ID"),
            allow("User:a", "CREATE_TOKENS", "User:b", resource_type="USER"),
            allow("User:a", "DESCRIBE", "AbC", resource_type="DELEGATION_TOKEN"),
            allow("User:a", "READ", "it's $HOME", resource_type="GROUP"),
        ]
    ) == [
        "kafka-acls --bootstrap-server \"$BOOTSTRAP\" --add --allow-principal User:bob --allow-host '*' "
        "--operation Read --topic orders",
        "kafka-acls --bootstrap-server \"$BOOTSTRAP\" --add --deny-principal 'User:*' --deny-host 10.0.0.7 "
        "--operation DescribeConfigs --topic 'pay ments' --resource-pattern-type prefixed",
        "kafka-acls --bootstrap-server \"$BOOTSTRAP\" --add --allow-principal User:a --allow-host '*' "
        "--operation IdempotentWrite --cluster",
        "kafka-acls --bootstrap-server \"$BOOTSTRAP\" --add --allow-principal User:a --allow-host '*' "
        "--operation Write --transactional-id=-tx",
        "kafka-acls --bootstrap-server \"$BOOTSTRAP\" --add --allow-principal User:a --allow-host '*' "
        "--operation CreateTokens --user-principal User:b",
        "kafka-acls --bootstrap-server \"$BOOTSTRAP\" --add --allow-principal User:a --allow-host '*' "
        "--operation Describe --delegation-token AbC",
        "kafka-acls --bootstrap-server \"$BOOTSTRAP\" --add --allow-principal User:a --allow-host '*' "
        "--operation Read --group 'it'\"'\"'s $HOME'",
    ]


def test_a_removal_names_everything_because_the_tool_would_guess_the_rest():
    (command,) = commands([deny("User:bob", "ALL", "orders")], op="remove", bootstrap="localhost:9092")

    assert command == (
        "kafka-acls --bootstrap-server localhost:9092 --remove --force --deny-principal User:bob --deny-host '*' "
        "--operation All --topic orders"
    )


@pytest.mark.parametrize(
    ("binding", "what"),
    [
        (allow("User:a", "UNKNOWN", "t"), "no word for UNKNOWN"),
        (allow("User:a", "READ", "t", resource_type="UNKNOWN"), "no word for UNKNOWN"),
        (allow("User:a", "READ", "t", pattern="GLOB"), "pattern type GLOB"),
        (allow("bob", "READ", "t"), "has no colon"),
        (allow("User:a", "READ", ""), "name is empty"),
        (allow("User:a", "CLUSTER_ACTION", "t"), "refuses CLUSTER_ACTION on TOPIC"),
        (allow("User:a", "ALTER", "kafka", resource_type="CLUSTER"), "only name the cluster"),
        (
            allow("User:a", "ALTER", "kafka-cluster", resource_type="CLUSTER", pattern="PREFIXED"),
            "only name the",
        ),
        (allow("User:a ", "READ", "t"), "white space"),
        (allow("User:a", "READ", "t\n"), "white space"),
        (allow("User:a", "READ", "t", host=" *"), "white space"),
        (allow("User:a", "READ", "a\0b"), "NUL"),
        (allow("User:a", "READ", "a\ud800"), "half a character"),
    ],
)
def test_what_the_tool_cannot_say_is_refused(binding, what):
    assert what in (why_no_command(binding, NEWEST) or "")
    with pytest.raises(AclError, match=what):
        commands([binding])


def test_operations_are_those_of_the_version_asked_about():
    younger = allow("User:a", "TWO_PHASE_COMMIT", "tx", resource_type="TRANSACTIONAL_ID")

    assert why_no_command(younger, Rules("standard", "4.1")) is None
    assert "refuses TWO_PHASE_COMMIT" in (why_no_command(younger, Rules("acl")) or "")
    assert why_no_command(allow("User:a", "ALL", "t"), Rules("acl")) is None


def test_a_transactional_id_keeps_its_outer_space_because_the_tool_does_not_trim_it():
    (command,) = commands([allow("User:a", "WRITE", " tx ", resource_type="TRANSACTIONAL_ID")])

    assert shlex.split(command)[-1] == " tx "


@round_trip
@given(acls())
def test_a_command_carries_every_text_through_the_shell(binding):
    if why_no_command(binding, NEWEST):
        return
    words = shlex.split(commands([binding], bootstrap="b")[0])
    values = {word.partition("=")[2] for word in words if word.startswith("--")} | set(words)

    assert {binding.principal, binding.host, binding.operation.pascal} <= values
    assert binding.resource_name in values or binding.resource_type is ResourceType.CLUSTER


def test_a_real_shell_hands_the_texts_over_unchanged(tmp_path):
    hostile = allow(
        "User:$(id) `id` \\ '\"!é\n#x", "READ", "*; rm -rf $HOME\n&& ~ {a,b} %s", resource_type="GROUP"
    )
    tool = tmp_path / "kafka-acls"
    tool.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word"; done\n')
    tool.chmod(0o755)

    run = subprocess.run(
        ["sh", "-c", commands([hostile])[0]],
        env={"BOOTSTRAP": "localhost:9092", "PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        check=True,
        timeout=30,
    )
    words = run.stdout.decode().split("\0")

    assert words[:2] == ["--bootstrap-server", "localhost:9092"]
    assert hostile.principal in words
    assert hostile.resource_name in words
