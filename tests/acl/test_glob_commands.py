"""Every command with `--authorizer glob`, and GLOB patterns refused in one sentence without it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from aclweb.acl.cli.main import main
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.notation.files import read_acls, write_acls
from tests.builders import allow, ask, deny, read

ACCOUNTS = allow("User:a*", "READ", "*-accounts-*", pattern="GLOB", host="10.*")
PLAIN = deny("User:bob", "READ", "nl-", pattern="PREFIXED")
TOPIC = "nl-accounts-local"
GLOB = ("--authorizer", "glob")
MATCH = {
    "resource_type": "TOPIC", "resource_name": TOPIC, "pattern_type": "MATCH", "principal": None, "host": None,
    "operation": "ANY", "permission_type": "ANY",
}  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """Return a function that runs one command in a directory with ACLs and requests: (status, out, err)."""
    monkeypatch.chdir(tmp_path)
    Path("acls").write_text(write_acls([ACCOUNTS, PLAIN], format="jsonl"))
    Path("requests").write_text(json.dumps(read("User:alice", TOPIC, host="10.1.1.1").as_dict()) + "\n")
    Path("topics").write_text(f"{TOPIC}\nnl-bills\n")

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        capfdbinary.readouterr()
        status = main(arguments)
        out, err = capfdbinary.readouterr()
        return status, out.decode("utf-8"), err.decode("utf-8")

    return command


def answers(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


CALLS = {
    "decide": ["decide", "--acls", "acls", "--requests", "requests", "--json"],
    "explain": ["decide", "--acls", "acls", "--requests", "requests", "--explain", "--json"],
    "affecting": ["affecting", "--acls", "acls", "--new-topic", TOPIC, "--json"],
    "list": ["list", "--acls", "acls", "--filter", json.dumps(MATCH), "--json"],
    "whatif": ["whatif", "--acls", "acls", "--topics", "topics", "--remove", "acls", "--json"],
    "lint": ["lint", "--acls", "acls", "--json"],
    "redundant": ["redundant", "--acls", "acls", "--json"],
    "needs": [
        *("needs", "consume", "--acls", "acls", "--principal", "User:alice", "--host", "10.1.1.1"),
        *("--topic", TOPIC, "--group", "g", "--json"),
    ],
    "convert": ["convert", "--acls", "acls", "--to", "csv"],
}


@pytest.mark.parametrize("name", CALLS)
def test_every_command_reads_globs_for_the_authorizer_glob_and_for_no_other(run, name) -> None:
    status, out, err = run(*CALLS[name], *GLOB)
    assert status in (0, 1), err
    for other in ((), ("--authorizer", "acl"), ("--kafka-version", "4.4")):
        status, out, err = run(*CALLS[name], *other)
        assert (status, out) == (2, ""), other
        assert "acls:1: pattern_type is 'GLOB', which only the authorizer 'glob' knows" in err


def test_an_answer_under_globs_has_no_broker_rule_and_the_order_of_specificity(run) -> None:
    (answer,) = answers(run(*CALLS["explain"], *GLOB)[1])
    assert (answer["result"], answer["basis"], answer["hazards"]) == ("ALLOWED", "ALLOW_ACL", [])
    assert answer["broker_rule"] is None
    assert [entry["acl"] for entry in answer["affecting"]] == [PLAIN.as_dict(), ACCOUNTS.as_dict()]
    assert answers(run(*CALLS["affecting"], *GLOB)[1]) == [PLAIN.as_dict(), ACCOUNTS.as_dict()]
    assert answers(run(*CALLS["list"], *GLOB)[1]) == [ACCOUNTS.as_dict(), PLAIN.as_dict()]


def test_a_what_if_names_the_glob_and_warns_that_it_tries_examples(run) -> None:
    (answer,) = answers(run(*CALLS["whatif"], *GLOB)[1])
    kinds = {(e["names"]["kind"], e["names"]["text"], e["resource_name"]) for e in answer["loses"]}
    assert kinds == {("EXACT", TOPIC, TOPIC), ("PATTERN", "*-accounts-*", None)}
    assert answer["warnings"]
    words = run(*[part for part in CALLS["whatif"] if part != "--json"], *GLOB)[1]
    assert "any topic that matches *-accounts-*" in words


def test_a_migration_to_the_proposal_is_a_what_if(run) -> None:
    Path("stored").write_text(write_acls([allow("User:a*", "READ", TOPIC)], format="jsonl"))
    Path("names").write_text("User:alice\n")
    status, out, _ = run(
        "whatif", "--acls", "stored", "--principals", "names", "--to-authorizer", "glob", "--json"
    )
    assert status == 0
    assert "User:alice" in {effect["principal"] for effect in answers(out)[0]["gains"]}
    status, out, err = run("whatif", "--acls", "acls", *GLOB, "--to-authorizer", "standard")
    assert (status, out) == (2, "")
    assert "which the authorizer 'standard' does not know" in err


@pytest.mark.parametrize("notation", ["jsonl", "csv", "yaml", "listing"])
def test_a_glob_is_written_and_read_in_every_notation_that_holds_it(run, notation) -> None:
    status, out, err = run("convert", "--acls", "acls", "--to", notation, *GLOB)
    assert (status, err) == (0, "")
    assert set(read_acls(out, source="out")) == {ACCOUNTS, PLAIN}


def test_zookeeper_has_no_place_for_a_glob(run) -> None:
    status, out, err = run("convert", "--acls", "acls", "--to", "zk", *GLOB)
    assert (status, out) == (2, "")
    assert err.startswith("acls:1: ZooKeeper has no place for the pattern type GLOB")


def test_the_command_of_a_glob_says_the_same_to_kafka_acls(run) -> None:
    status, out, _ = run("convert", "--acls", "acls", "--to", "kafka-acls", *GLOB)
    assert status == 0
    line = out.splitlines()[0]
    assert "--resource-pattern-type glob" in line
    status, out, _ = run("kafka-acls", "--json", *GLOB, "--line", line.replace('"$BOOTSTRAP"', "b:9092"))
    assert status == 0
    assert answers(out)[0]["acls"] == [ACCOUNTS.as_dict()]
    assert run("kafka-acls", "--json", "--line", line.replace('"$BOOTSTRAP"', "b:9092"))[0] == 2


@pytest.mark.parametrize(
    ("acl", "key"),
    [
        (allow("User:a", "READ", "a" * 4_097, pattern="GLOB"), "resource_name"),
        (allow(f"User:{'a' * 4_096}*", "READ", "t"), "principal"),
        (allow("User:a", "READ", "t", host="?" * 4_097), "host"),
    ],
)
def test_a_glob_that_is_too_long_is_refused_where_it_is_read(run, acl, key) -> None:
    Path("long").write_text(write_acls([acl], format="jsonl"))
    status, out, err = run("affecting", "--acls", "long", "--new-topic", "t", *GLOB)
    assert (status, out) == (2, "")
    assert err.startswith(f"long:1: {key} is a glob of ")
    assert err.endswith("write one of at most 4,096.\n")
    if acl.pattern_type.name == "LITERAL":
        Path("long").write_text(write_acls([acl], format="zk"))
        status, out, again = run("affecting", "--acls", "long", "--new-topic", "t", *GLOB)
        assert (status, out, again) == (2, "", err)
    literal = allow("User:a", "READ", "a" * 4_097)
    Path("long").write_text(write_acls([literal], format="jsonl"))
    assert run("affecting", "--acls", "long", "--new-topic", "t", *GLOB)[0] == 0


def test_scenarios_hold_globs_where_their_authorizer_knows_them(run) -> None:
    scenario = {
        "id": "globs",
        "authorizer": "glob",
        "acls": [ACCOUNTS.as_dict()],
        "requests": [
            ask("User:alice", "READ", TOPIC, host="10.1.1.1").as_dict(),
            ask("User:alice", "READ", TOPIC, host="11.1.1.1").as_dict(),
            ask("User:alice", "READ", None, host="10.1.1.1").as_dict(),
        ],
        "expected": ["ALLOWED", "DENIED", "ALLOWED"],
    }
    long = ACCOUNTS.as_dict() | {"resource_name": "*" * 5_000}
    bad = [scenario | {"authorizer": "standard"}, scenario | {"acls": [long]}]
    Path("s").write_text("".join(json.dumps(one) + "\n" for one in [scenario, *bad]))
    status, out, err = run("check", "s", "--json")
    assert status == 2
    assert [answer["ok"] for answer in answers(out)] == [True, False, False]
    assert "only the authorizer 'glob'" in err
    assert "at most 4,096" in err


def test_acls_are_rewritten_and_compiled_on_the_command_line(run) -> None:
    status, out, err = run("glob", "--rewrite", "--acls", "acls")
    assert status == 0
    assert read_acls(out, source="out")[1].resource_name == "nl-*"
    assert err == "2 ACLs read; 2 written exactly.\n"
    Path("principals").write_text("User:alice\n")
    Path("hosts").write_text("10.0.0.7\n")
    known = ("--topics", "topics", "--principals", "principals", "--hosts", "hosts")
    status, out, err = run("glob", "--compile", "--acls", "acls", *known)
    assert status == 0
    assert read_acls(out, source="out") == (
        allow("User:alice", "READ", TOPIC, host="10.0.0.7"),
        PLAIN,
    )
    assert "Topics that do not exist yet do not match" in err
    status, out, err = run("glob", "--compile", "--acls", "acls", *known, "--json")
    assert (status, err) == (0, "")
    assert [(answer["acl"], answer["exact"]) for answer in answers(out)] == [
        (ACCOUNTS.as_dict(), False),
        (PLAIN.as_dict(), True),
    ]
    status, out, _ = run("glob", "--compile", "--acls", "acls", *known, "--to", "zk")
    assert status == 0
    assert "kafka-acl" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--acls", "acls"],
        ["--rewrite", "--compile", "--acls", "acls"],
        ["--rewrite", "--acls", "acls", "--authorizer", "standard"],
        ["--rewrite", "--acls", "acls", "--json", "--to", "csv"],
        ["--compile", "--acls", "missing"],
    ],
)
def test_what_the_command_glob_cannot_do_is_one_sentence(run, arguments) -> None:
    status, out, err = run("glob", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_glob_is_known_for_the_newest_kafka_only() -> None:
    assert AuthorizerSettings.read(authorizer="glob", kafka_version="4.4.0") == AuthorizerSettings("glob")
