"""Input that is too long, too much or about nothing: a sentence, or an answer, in every command that may meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclweb.acl.cli.commands.options import LONGEST_GLOB
from aclweb.acl.cli.main import main
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.notation.files import write_acls
from tests.builders import allow, deny, read

PLAIN = allow("User:bob", "READ", "orders")
TOO_LONG = {
    "stars": allow("User:bob", "READ", "*" * 10_000, pattern="GLOB"),
    "over the cap": allow("User:bob", "READ", "a" * (LONGEST_GLOB + 1), pattern="GLOB"),
    "principal": allow("User:" + "a*" * LONGEST_GLOB, "READ", "orders"),
    "host": allow("User:bob", "READ", "orders", host="1*" * LONGEST_GLOB),
}
LONGEST = [
    allow("User:bob", "READ", "*" * LONGEST_GLOB, pattern="GLOB"),
    allow("User:bob", "READ", "a*" * (LONGEST_GLOB // 2), pattern="GLOB"),
    allow("User:bob", "WRITE", "?*" * (LONGEST_GLOB // 2), pattern="GLOB"),
    deny("User:" + "*a" * 2_000, "ALL", "*ab" * 1_300, pattern="GLOB"),
    allow("User:bob", "READ", "orders", host="1*" * (LONGEST_GLOB // 2)),
]
GLOB = ("--authorizer", "glob")
COMMANDS = {
    "decide": ["decide", "--acls", "acls", "--requests", "requests", "--explain", *GLOB],
    "affecting": ["affecting", "--acls", "acls", "--new-topic", "never-made", *GLOB],
    "whatif": ["whatif", "--acls", "acls", "--remove", "acls", "--topics", "names", *GLOB],
    "whatif to glob": ["whatif", "--acls", "none", "--to-acls", "acls", "--to-authorizer", "glob"],
    "lint": ["lint", "--acls", "acls", *GLOB],
    "redundant": ["redundant", "--acls", "acls", "--topics", "names", *GLOB],
    "convert": ["convert", "--acls", "acls", "--to", "csv", *GLOB],
    "glob --rewrite": ["glob", "--rewrite", "--acls", "acls"],
    "glob --compile": ["glob", "--compile", "--acls", "acls", "--topics", "names"],
    "check": ["check", "scenarios"],
}


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("none").write_text("")
    Path("names").write_text("never-made\norders\n")

    def command(arguments: list[str], *bindings: AclBinding) -> tuple[int, str, str]:
        asked = read("User:bob", "a" * 32_767)
        Path("acls").write_text(write_acls(bindings, format="jsonl"))
        Path("requests").write_text(f"{json.dumps(asked.as_dict())}\n")
        scenario = {
            "id": "long",
            "authorizer": "glob",
            "acls": [binding.as_dict() for binding in bindings],
            "request": asked.as_dict(),
            "expected": "ALLOWED",
        }
        Path("scenarios").write_text(f"{json.dumps(scenario)}\n")
        capfd.readouterr()
        status = main(arguments)
        return status, *capfd.readouterr()

    return command


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("what", TOO_LONG)
def test_a_glob_that_is_too_long_is_refused_in_one_sentence(run, name, what) -> None:
    status, out, err = run(COMMANDS[name], PLAIN, TOO_LONG[what])
    assert status == 2
    assert not out or name == "check"
    # The file of `whatif` is read as two, and each is told.
    told = [*dict.fromkeys(line for line in err.splitlines() if "is a glob of" in line)]
    assert len(told) == 1
    assert "at most 4,096" in told[0]
    assert len(told[0]) < 250


@pytest.mark.parametrize("name", COMMANDS)
def test_the_longest_globs_of_all_are_answered(run, name) -> None:
    assert run(COMMANDS[name], PLAIN, *LONGEST)[0] in (0, 1)


def test_a_glob_that_is_too_long_is_refused_in_arguments_of_kafka_acls(run) -> None:
    start = ["kafka-acls", *GLOB, "--", "--bootstrap-server", "b:1", "--add", "--operation", "Read"]
    names = ["--topic", "*" * 10_000, "--resource-pattern-type", "glob", "--allow-principal", "User:bob"]
    status, out, err = run([*start, *names])
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "write one of at most 4,096" in err


def test_a_topic_that_nobody_knows_is_an_answer_and_nothing_worse(run) -> None:
    status, out, err = run(["affecting", "--acls", "acls", "--new-topic", "never-made"], PLAIN)
    assert (status, out, err) == (0, "", "No ACL matches topic never-made.\n")
    Path("more").write_text(write_acls([allow("User:bob", "READ", "nowhere")], format="jsonl"))
    status, out, _err = run(["whatif", "--acls", "acls", "--add", "more", "--topics", "names"], PLAIN)
    assert status == 0
    assert "Warning: Not known yet: topic nowhere. Its ACLs count once it is made." in out
    every = dict.fromkeys(("resource_type", "pattern_type", "operation", "permission_type"), "ANY")
    asked = json.dumps(every | {"resource_name": "nowhere", "principal": None, "host": None})
    status, out, err = run(["list", "--acls", "acls", "--filter", asked], PLAIN)
    assert (status, out, err) == (0, "", "No ACL fits this filter.\n")


def test_a_list_of_many_names_is_answered_in_few_lines(run) -> None:
    Path("many").write_text("".join(f"eu-orders-{number}\n" for number in range(5_000)))
    several = [allow("User:bob", "READ", "*-orders-*", pattern="GLOB"), PLAIN]
    for command in (["whatif", "--remove", "acls"], ["redundant"], ["lint"]):
        given = ["--topics", "many"] if command[0] != "lint" else []
        status, out, _err = run([*command, "--acls", "acls", *given, *GLOB], *several)
        assert status == 0
        assert len(out) < 10_000
    status, out, err = run(["glob", "--compile", "--acls", "acls", "--topics", "many"], *several)
    assert (status, out.count("\n")) == (0, 5_001)
    assert "Topics that do not exist yet do not match" in err
