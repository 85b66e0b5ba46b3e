"""`manage.py details` prints what brokers told, and never an empty list where nobody knows what is in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from aclweb.clusters import (
    ClusterFacts,
    Detail,
    DetailKind,
    DetailList,
    Details,
    GroupMember,
    GroupType,
    Known,
    ListedGroup,
)
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync import sync
from tests.inventory.answering_cluster import Answers

END = 1_798_859_040_000  # 2027-01-02 03:04 UTC
GRANT = "kafka-acls --add --transactional-id '*'"
LISTS = {
    DetailKind.SCRAM_USERS: DetailList(
        Known.ALL,
        (
            Detail("erin", user="erin", facts={"mechanisms": {"SCRAM-SHA-256": 4096}}),
            Detail("od\x1b[2Jd", user="od\x1b[2Jd", facts={"mechanisms": {}}),
        ),
    ),
    DetailKind.QUOTAS: DetailList(Known.ALL),
    DetailKind.TRANSACTIONAL_IDS: DetailList(Known.VISIBLE, (Detail("tx-1"),), "There may be others.", GRANT),
    DetailKind.TOKENS: DetailList(Known.UNKNOWN, sentence="Not to you."),
}
TOKEN = Detail(
    "t-1",
    principal="User:bob",
    facts={"requester": None, "renewers": ["User:ann"], "issued": END, "expires": END, "ends": END},
)


@pytest.fixture
def answers(monkeypatch, cluster) -> Answers:
    answers = Answers(facts=ClusterFacts("the-id"), groups=["billing", "shop"])
    answers.details = Details(LISTS, (ListedGroup("billing", GroupType.CONSUMER), ListedGroup("shop")))
    answers.members = {"billing": (GroupMember("orders-app", "10.0.0.7"),)}
    monkeypatch.setattr(syncing, "connect", lambda connection: answers)
    return answers


@pytest.fixture
def read(answers, cluster) -> None:
    sync(cluster)


def run(capsys, *words: str) -> tuple[list[str], str, int]:
    """Return the lines of the answer, what is said beside it, and the exit status."""
    status: Any = 0
    try:
        call_command("details", "test-eu", *words)
    except SystemExit as ended:
        status = ended.code
    told = capsys.readouterr()
    return told.out.splitlines(), told.err, status


def test_each_list_has_a_line_with_how_complete_it_is(read, capsys):
    lines, _, status = run(capsys)
    found = "\n".join(lines)

    assert status == 0
    assert "SCRAM users        all      2, read 20" in found
    assert "Client quotas      all      0, read 20" in found
    assert f"There may be others.\n{'':<28}{GRANT}" in found
    assert "Delegation tokens  unknown  read 20" in found
    assert (
        "Groups             all      2 (1 of unknown type, 1 consumer), members of 1 group, read 20" in found
    )


def test_as_json_each_list_is_an_object_a_line(read, capsys):
    found = {each["kind"]: each for each in map(json.loads, run(capsys, "--json")[0])}

    assert (found["scram-users"]["known"], found["scram-users"]["count"]) == ("all", 2)
    assert (found["tokens"]["known"], found["tokens"]["count"]) == ("unknown", None)
    assert found["transactional-ids"]["command"] == GRANT
    assert (found["groups"]["count"], found["groups"]["types"]) == (2, {"consumer": 1, "unknown": 1})


def test_before_the_first_read_every_list_is_unknown(cluster, capsys):
    found = [json.loads(line) for line in run(capsys, "--json")[0]]

    assert [(each["known"], each["count"]) for each in found] == [("unknown", None)] * 5


def test_the_entries_of_a_list_are_printed_a_line_each(read, capsys):
    lines, beside, status = run(capsys, "scram-users")

    assert (lines[0], beside, status) == ("erin  SCRAM-SHA-256 with 4,096 iterations", "", 0)
    assert "\x1b" not in lines[1]
    assert run(capsys, "scram-users", "--text", "RI", "--json")[0] == [lines_json(capsys)[0]]


def lines_json(capsys) -> list[str]:
    return run(capsys, "scram-users", "--json")[0]


def test_json_has_every_letter_of_a_name(read, capsys):
    assert [json.loads(line)["name"] for line in lines_json(capsys)] == ["erin", "od\x1b[2Jd"]


def test_an_unknown_list_is_status_1_and_says_why_and_prints_nothing(read, capsys):
    assert run(capsys, "tokens") == ([], "Not to you.\n", 1)
    assert run(capsys, "tokens", "--json") == ([], "Not to you.\n", 1)


def test_a_list_that_may_lack_some_says_so_beside_it(read, capsys):
    lines, beside, status = run(capsys, "transactional-ids")

    assert (lines, status) == (["tx-1"], 0)
    assert beside == f"There may be others.\n{GRANT}\n"


def test_a_complete_list_without_entries_is_empty(read, capsys):
    assert run(capsys, "quotas") == ([], "", 0)


def test_a_token_has_its_owner_and_its_end(answers, cluster, capsys):
    answers.details = Details({DetailKind.TOKENS: DetailList(Known.ALL, (TOKEN,))}, None)
    sync(cluster)

    assert run(capsys, "tokens")[0] == [
        "t-1  of User:bob  renewed by User:ann  expires 2027-01-02 03:04  ends 2027-01-02 03:04"
    ]


def test_groups_are_printed_with_their_members_or_that_these_are_unknown(read, capsys):
    assert run(capsys, "groups")[0] == [
        "billing  consumer  1 member: orders-app at 10.0.0.7",
        "shop  type unknown  members unknown",
    ]
    billing, shop = (json.loads(line) for line in run(capsys, "groups", "--json")[0])
    assert (billing["members"][0]["host"], shop["members"]) == ("10.0.0.7", None)


def test_an_unknown_cluster_and_an_unknown_list_are_bad_usage(cluster, capsys):
    with pytest.raises(CommandError) as ended:
        call_command("details", "nowhere")
    assert (ended.value.returncode, "those known are: test-eu" in str(ended.value)) == (2, True)
    with pytest.raises(CommandError, match="invalid choice: 'passwords'"):
        call_command("details", "test-eu", "passwords")
