"""`kafka-acls` on the command line prints the plan, and documents show what it prints."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from aclweb.acl.cli.main import main

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "kafka-acls.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^\$ python -m aclweb\.acl (.*)\n((?:(?!```).*\n)+)", DOCUMENT, re.MULTILINE)
B = ["--bootstrap-server", "localhost:9092"]


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_the_document_shows_what_is_printed(command, output, capsys):
    assert main(shlex.split(command)) == 0

    printed = capsys.readouterr()
    assert printed.out + printed.err == output


def test_the_document_shows_two_commands():
    assert len(SHOWN) == 2


def test_json_is_one_object_with_the_promised_keys(capsys):
    status = main(["kafka-acls", "--json", "--", *B, "--add", "--topic", "t", "--allow-principal", "User:a"])

    assert status == 0
    assert json.loads(capsys.readouterr().out) == {
        "action": "add",
        "acls": [
            {
                "resource_type": "TOPIC",
                "resource_name": "t",
                "pattern_type": "LITERAL",
                "principal": "User:a",
                "host": "*",
                "operation": "ALL",
                "permission_type": "ALLOW",
            }
        ],
        "filters": [],
        "error": None,
    }


def test_a_list_by_principal_is_one_filter_each(capsys):
    words = ["--list", "--principal", "User:a", "--principal", "User:b"]

    assert main(["kafka-acls", "--json", "--", *B, *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["acls"] == []
    assert told["filters"] == [
        {
            "resource_type": "ANY",
            "resource_name": None,
            "pattern_type": "ANY",
            "principal": principal,
            "host": None,
            "operation": "ANY",
            "permission_type": "ANY",
        }
        for principal in ("User:a", "User:b")
    ]


def test_what_the_tool_refuses_ends_with_2_and_its_message(capsys):
    assert main(["kafka-acls", "--json", "--", *B, "--add", "--remove"]) == 2

    printed = capsys.readouterr()
    error = "Command must include exactly one action: --list, --add, --remove. "
    assert json.loads(printed.out) == {"action": None, "acls": [], "filters": [], "error": error}
    assert printed.err == f"kafka-acls does nothing and ends with status 1: {error}\n"


def test_our_options_stand_before_the_hyphens_and_the_tools_behind_them(capsys):
    words = ["--authorizer-properties", "zookeeper.connect=localhost:2181", "--list", "--", "--json"]

    assert main(["kafka-acls", "--authorizer", "acl", "--", *words]) == 0
    assert capsys.readouterr() == ("Lists every ACL.\n", "'--json' belongs to no option and is ignored.\n")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "after --, as in"),
        (["--add", "--topic", "t"], "Unrecognized arguments"),
        (["--line", "kafka-acls --list", "--", "--list"], "not both"),
        (["--line", "ls -l"], "'ls' is not kafka-acls"),
        (["--kafka-version", "9.9", "--", "--list"], "'9.9'"),
        (["--", "--list", "--topic", "a\udcff"], "half a character"),
    ],
)
def test_what_cannot_be_asked_is_reported_with_exit_status_2(words, what, capsys):
    assert main(["kafka-acls", *words]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert what in printed.err


def test_sentences_tell_a_loose_removal_from_an_exact_one(capsys):
    removal = ["--remove", "--force", "--topic", "pay", "--allow-principal", "User:a", "--operation", "Read"]

    main(["kafka-acls", "--", *B, *removal, "--resource-pattern-type", "prefixed"])
    main(["kafka-acls", "--", *B, *removal, "--resource-pattern-type", "any"])
    main(["kafka-acls", "--", *B, "--list", "--topic", "pay", "--principal", "User:a"])

    assert capsys.readouterr().out == (
        "Removes the ACL: Allow User:a to Read topics that start with pay from any host.\n"
        "Removes the ACL: Allow User:a to Read topic pay from any host, on topic pay, literal or prefixed.\n"
        "Lists every ACL for User:a of topic pay.\n"
    )
