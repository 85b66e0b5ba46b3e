"""Each kafka-acls command says exactly one ACL, through a real shell and through the tool's own reading."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given

from aclweb.acl.kafka_acls_commands import commands, why_no_command
from aclweb.acl.model import AclError, ResourceType
from aclweb.acl.profiles import Rules
from tests.builders import allow, deny
from tests.hostile import acls, round_trip

NEWEST = Rules()


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
