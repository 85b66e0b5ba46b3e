"""Each kafka-acls command says exactly one ACL, through a real shell and through the tool's own reading."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given

from aclweb.acl.kafka.command_lines import commands, why_no_command
from aclweb.acl.kafka.tool import plan
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.model.authorizers import OPERATIONS, AuthorizerSettings
from aclweb.acl.model.vocabulary import (
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.acl.notation.files import write_acls
from tests.builders import allow, deny
from tests.hostile import acls, round_trip

NEWEST = AuthorizerSettings()
SHELLS = [shell for shell in ("sh", "bash") if shutil.which(shell)]


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
        (allow("User:a", "WRITE", "tx\n", resource_type="TRANSACTIONAL_ID"), "line break"),
    ],
)
def test_what_the_tool_cannot_say_is_refused(binding, what):
    assert what in (why_no_command(binding, NEWEST) or "")
    with pytest.raises(AclError, match=what):
        commands([binding])


def test_operations_are_those_of_the_version_asked_about():
    younger = allow("User:a", "TWO_PHASE_COMMIT", "tx", resource_type="TRANSACTIONAL_ID")

    assert why_no_command(younger, AuthorizerSettings("standard", "4.1")) is None
    assert "refuses TWO_PHASE_COMMIT" in (why_no_command(younger, AuthorizerSettings("acl")) or "")
    assert why_no_command(allow("User:a", "ALL", "t"), AuthorizerSettings("acl")) is None


def test_a_transactional_id_keeps_its_outer_space_because_the_tool_does_not_trim_it():
    (command,) = commands([allow("User:a", "WRITE", " tx ", resource_type="TRANSACTIONAL_ID")])

    assert shlex.split(command)[-1] == " tx "


def test_a_name_with_a_line_break_is_said_on_one_line():
    (command,) = commands([allow("User:a", "READ", "x\n'y' 100% \\n", resource_type="GROUP")])

    assert command.endswith(" --group \"$(printf 'x\\n\\047y\\047 100%% \\\\n')\"")


def test_an_older_tool_has_no_option_for_users():
    grant = allow("User:a", "ALL", "User:b", resource_type="USER")

    assert "has no option for USER" in (why_no_command(grant, AuthorizerSettings("acl", "3.2")) or "")
    assert why_no_command(grant, AuthorizerSettings("acl", "3.3")) is None


def sayable(binding: AclBinding) -> AclBinding:
    """The same ACL with words that the tool has, so that only its texts decide whether it can be said."""
    kinds = list(OPERATIONS)
    kind = (
        binding.resource_type
        if binding.resource_type in kinds
        else kinds[binding.operation.code % len(kinds)]
    )
    operations = (Operation.ALL, *OPERATIONS[kind])
    is_cluster = kind is ResourceType.CLUSTER
    is_prefixed = binding.pattern_type is PatternType.PREFIXED and not is_cluster
    return AclBinding(
        kind,
        "kafka-cluster" if is_cluster else binding.resource_name,
        PatternType.PREFIXED if is_prefixed else PatternType.LITERAL,
        binding.principal,
        binding.host,
        operations[binding.operation.code % len(operations)],
        PermissionType.DENY if binding.is_deny else PermissionType.ALLOW,
    )


hostile_acls = acls().map(sayable)


@round_trip
@given(hostile_acls)
def test_a_command_is_one_line_and_reads_back_as_the_same_acl(binding):
    if why_no_command(binding, NEWEST):
        return
    (adding,) = commands([binding], bootstrap="h:1")
    (removing,) = commands([binding], op="remove", bootstrap="h:1")

    assert "\n" not in adding + removing
    assert plan(adding).acls == (binding,)
    assert plan(removing).filters == (AclFilter.exactly(binding),)


@pytest.fixture(scope="module")
def tool_folder(tmp_path_factory):
    """A folder with a kafka-acls that prints what it was given."""
    folder = tmp_path_factory.mktemp("bin")
    tool = folder / "kafka-acls"
    tool.write_text("#!/bin/sh\nfor word do printf '%s\\0' \"$word\"; done\n")
    tool.chmod(0o755)
    return folder


def through(shell: str, line: str, tool_folder: Path) -> list[str]:
    """Return the words that the tool gets when a real shell runs the line."""
    run = subprocess.run(
        [shell, "-c", line.encode()],
        env={"BOOTSTRAP": "localhost:9092", "PATH": f"{tool_folder}:/usr/bin:/bin"},
        capture_output=True,
        check=True,
        timeout=300,
    )
    return run.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("shell", SHELLS)
@round_trip
@given(hostile_acls)
def test_a_real_shell_hands_the_tool_what_makes_the_same_acl(shell, tool_folder, binding):
    if why_no_command(binding, NEWEST):
        return
    words = through(shell, commands([binding])[0], tool_folder)

    planned = plan(words)

    assert words[:2] == ["--bootstrap-server", "localhost:9092"]
    assert planned.acls == (binding,)
    assert plan(through(shell, commands([binding], op="remove")[0], tool_folder)).filters == (
        AclFilter.exactly(binding),
    )


def test_what_convert_prints_is_a_script_with_a_line_for_each_acl(tool_folder):
    hostile = [
        allow(
            "User:$(id) `id` \\ '\"!é\n#x", "READ", "*; rm -rf $HOME\n&& ~ {a,b} %s", resource_type="GROUP"
        ),
        deny(
            "User:-x", "WRITE", "--add", resource_type="TRANSACTIONAL_ID", pattern="PREFIXED", host="--force"
        ),
    ]
    text = write_acls(hostile, format="kafka-acls")

    assert [plan(through("sh", line, tool_folder)).acls for line in text.splitlines()] == [
        (binding,) for binding in hostile
    ]
