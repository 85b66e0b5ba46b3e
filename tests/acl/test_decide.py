"""`decide`: each answer in the promised keys and words, with its reasons when asked for."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aclweb.acl.cli.commands.decide import AFFECTING_SHOWN
from aclweb.acl.cli.main import main
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding
from aclweb.acl.notation.files import write_acls
from tests.builders import acl, allow, ask, deny, describe, read

Decide = Callable[..., list[str]]


@pytest.fixture
def decide(tmp_path, monkeypatch, capfdbinary) -> Decide:
    """Return a function that decides requests on some ACLs with options: the lines of the output."""
    monkeypatch.chdir(tmp_path)

    def lines(bindings: list[AclBinding], requests: list[AccessRequest], *options: str) -> list[str]:
        Path("acls").write_text(write_acls(bindings, format="jsonl"))
        Path("requests").write_text("".join(json.dumps(r.as_dict()) + "\n" for r in requests))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        capfdbinary.readouterr()
        status = main(["decide", "--acls", "acls", "--requests", "requests", *options])
        assert status == 0
        return capfdbinary.readouterr()[0].decode().splitlines()

    return lines


def answers(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


WORLD = [
    allow("User:bob", "READ", "orders"),
    allow("User:*", "DESCRIBE", "ord", pattern="PREFIXED"),
    deny("User:eve", "ALL", "*"),
    allow("User:eve", "READ", "orders"),
]


def test_an_answer_without_reasons_has_three_keys(decide: Decide) -> None:
    (answer,) = answers(decide(WORLD, [read("User:bob", "orders")], "--json"))

    assert answer == {"result": "ALLOWED", "basis": "ALLOW_ACL", "hazards": []}


def test_reasons_come_in_the_promised_keys_and_in_new_ones(decide: Decide) -> None:
    described, refused = answers(
        decide(WORLD, [describe("User:bob", "orders"), read("User:eve", "orders")], "--json", "--explain")
    )

    assert described["broker_rule"] == {"rule": "MatchingAcl", "acl": WORLD[1].as_dict()}
    assert described["determining"] == [WORLD[0].as_dict(), WORLD[1].as_dict()]
    assert described["would_also_decide"] == [WORLD[0].as_dict()]
    assert described["smallest_removals"] == described["determining"]
    assert described["smallest_fix"] is None
    assert refused["determining"] == [WORLD[2].as_dict()]
    assert refused["smallest_fix"] is None
    assert refused["smallest_removals"] == [WORLD[2].as_dict()]
    assert refused["fix_after_removals"] is None
    affecting = {json.dumps(part["acl"]): part for part in refused["affecting"]}
    assert affecting[json.dumps(WORLD[3].as_dict())] == {
        "acl": WORLD[3].as_dict(),
        "counted": True,
        "why_not": [],
        "fits": {
            "type": True,
            "pattern": True,
            "principal": True,
            "host": True,
            "operation": True,
            "permission": False,
        },
    }
    assert affecting[json.dumps(WORLD[0].as_dict())]["why_not"] == ["principal"]


def test_a_near_miss_beside_the_resource_is_reported_with_its_ticks(decide: Decide) -> None:
    (answer,) = answers(decide(WORLD, [read("User:bob", "Orders")], "--json", "--explain"))

    (miss,) = answer["near_misses"]
    assert miss["acl"] == WORLD[0].as_dict()
    assert {tick["part"]: tick["matches"] for tick in miss["ticks"]}["pattern"] is False
    assert "upper and lower case count" in miss["sentence"]
    assert answer["smallest_fix"] == allow("User:bob", "READ", "Orders", host="10.0.0.7").as_dict()


def test_a_question_about_a_whole_type_has_no_broker_rule_and_a_fix(decide: Decide) -> None:
    refused, allowed = answers(
        decide(WORLD, [ask("User:bob", "WRITE", None), ask("User:bob", "READ", None)], "--json", "--explain")
    )

    assert (refused["result"], refused["basis"], refused["broker_rule"]) == ("DENIED", "NO_ALLOW_ACL", None)
    assert refused["smallest_fix"] == allow("User:bob", "WRITE", "orders", host="10.0.0.7").as_dict()
    assert (allowed["result"], allowed["basis"], allowed["broker_rule"]) == ("ALLOWED", "ALLOW_ACL", None)


def test_values_that_aclweb_does_not_know_leave_no_broker_rule_and_no_way_out(decide: Decide) -> None:
    (answer,) = answers(
        decide(
            [acl("ALLOW", "User:bob", "UNKNOWN", "orders")],
            [read("User:bob", "orders")],
            "--json",
            "--explain",
        )
    )

    assert (answer["result"], answer["basis"]) == ("UNDECIDED", "UNKNOWN_VALUE")
    assert (answer["broker_rule"], answer["determining"], answer["smallest_fix"]) == (None, [], None)


def test_people_read_which_part_of_each_acl_did_not_fit(decide: Decide) -> None:
    lines = decide(WORLD, [read("User:bob", "orders")], "--explain")

    assert lines[0] == "ALLOWED    ALLOW_ACL      User:bob READ TOPIC:orders from 10.0.0.7"
    assert "    ACLs that match it:" in lines
    assert "      + all: Allow User:bob to Read topic orders from any host." in lines
    assert "      - not principal, operation: Deny" not in "".join(lines)
    assert (
        "      - not principal: Deny User:eve the right to do anything with every topic from any host."
        in lines
    )
    assert (
        "      - not operation: Allow everyone to Describe topics that start with ord from any host." in lines
    )


def test_people_are_told_how_many_acls_were_left_out(decide: Decide) -> None:
    many = [allow(f"User:u{number}", "READ", "orders") for number in range(AFFECTING_SHOWN + 2)]

    assert decide(many, [read("User:bob", "orders")], "--explain")[-1] == (
        "      and 2 more ACLs; --json lists them all."
    )
