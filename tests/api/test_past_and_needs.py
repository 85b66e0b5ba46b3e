"""Programs ask about the past, about client actions, findings and differences, in the words of the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from urllib.parse import urlencode

import pytest
from rest_framework.test import APIClient

from aclweb.accounts.models import Grant, Role
from aclweb.acl.notation.files import write_acls
from aclweb.acl.simulate.budget import Budget
from aclweb.changes import comparison
from aclweb.clusters import TopicInfo
from aclweb.inventory.admin.declare import declare
from aclweb.inventory.findings import lint_run
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

TOPICS = [TopicInfo("orders"), TopicInfo("stock")]
THEN = [allow("User:bob", "READ", "orders"), allow("User:bob", "READ", "g", resource_type="GROUP")]
NOW = [
    *THEN,
    allow("User:bob", "DESCRIBE", "orders"),
    deny("User:eve", "ALL", "orders"),
    allow("User:eve", "READ", "orders"),
    allow("User:bob", "READ", "stock", host="laptop"),
]


@pytest.fixture
def read_cluster(cluster, dot):
    """Revision 1 with carol as a super user, and revision 2 with the admin."""
    declare(cluster=cluster, actor=dot, super_users="User:carol")
    sync(cluster, client=Answers(THEN, topics=TOPICS))
    sync(cluster, client=Answers(NOW, topics=TOPICS))
    declare(cluster=cluster, actor=dot, super_users="User:admin")
    cluster.refresh_from_db()
    return cluster


@pytest.fixture
def program(cho, read_cluster) -> APIClient:
    client = APIClient()
    client.force_authenticate(cho)
    return client


def door(cluster, name):
    return f"/api/v1/clusters/{cluster.slug}/{name}/"


def question(**fields):
    return {
        "principal": "User:carol",
        "host": "10.0.0.7",
        "operation": "READ",
        "resource_type": "TOPIC",
        "resource_name": "stock",
        **fields,
    }


def said_by_the_command(tmp_path, acls, *arguments):
    """Return the lines of JSON that the command line prints about these ACLs."""
    file = tmp_path / "acls.jsonl"
    file.write_text(write_acls(acls, format="jsonl"))
    command, *options = arguments
    done = subprocess.run(
        [sys.executable, "-m", "aclweb.acl", command, *options, "--acls", str(file), "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


# --- as of ----------------------------------------------------------------------------------


def test_a_decision_as_of_a_revision_is_that_of_then_and_says_what_was_declared(program, read_cluster):
    then = program.post(f"{door(read_cluster, 'decide')}?as_of=1", question(), format="json").json()
    now = program.post(door(read_cluster, "decide"), question(), format="json").json()

    assert (then["result"], then["basis"], then["revision"]) == ("ALLOWED", "SUPER_USER", 1)
    assert (now["result"], now["revision"], now["as_of"]) == ("DENIED", 2, None)
    assert then["as_of"]["sentences"] == ["Super users: User:carol then, User:admin today."]
    assert then["as_of"]["until"] is not None


def test_lists_as_of_a_revision_hold_what_was_there_then(program, read_cluster):
    acls = program.get(door(read_cluster, "acls"), {"as_of": "1"}).json()
    affecting = program.get(
        door(read_cluster, "affecting"), {"as_of": "1", "resource": "TOPIC:orders"}
    ).json()

    assert (acls["total"], acls["revision"]) == (len(THEN), 1)
    assert affecting["acls"] == [THEN[0].as_dict()]


@pytest.mark.half
@pytest.mark.parametrize("moment", ["99", "yesterday", "1999-01-01", "\x00", "9" * 300])
@pytest.mark.parametrize("name", ["acls", "affecting", "decide", "needs", "compare"])
def test_a_moment_that_is_none_is_refused_and_never_answered_with_now(program, read_cluster, name, moment):
    bodies = {"decide": question(), "needs": {"actions": ["consume"]}}
    if name in bodies:
        url = f"{door(read_cluster, name)}?{urlencode({'as_of': moment})}"
        answer = program.post(url, bodies[name], format="json")
    else:
        answer = program.get(door(read_cluster, name), {"as_of": moment, "resource": "TOPIC:orders"})

    assert answer.status_code == 400
    assert answer.json()["as_of"]


# --- what-if --------------------------------------------------------------------------------


# As the command tells it too: no ACL names a host, and names that an ACL matches are allowed to somebody.
BEFORE = NOW[:-1]
EDIT = {
    "add": [allow("User:*", "READ", "st", pattern="PREFIXED"), deny("User:bob", "ALL", "stock")],
    "remove": [NOW[0], *NOW[2:5]],
}


def test_a_what_if_as_a_stream_is_what_the_command_prints(
    program, read_cluster, tmp_path, django_assert_num_queries
):
    sync(read_cluster, client=Answers(BEFORE, topics=TOPICS))
    body = {op: [acl.as_dict() for acl in acls] for op, acls in EDIT.items()} | {"new_topics": ["stock.eu"]}
    (tmp_path / "topics.txt").write_text("".join(f"{topic.name}\n" for topic in TOPICS))
    for op, acls in EDIT.items():
        (tmp_path / f"{op}.jsonl").write_text(write_acls(acls, format="jsonl"))
    options = ["--topics", str(tmp_path / "topics.txt"), "--new-topic", "stock.eu"]
    files = [option for op in EDIT for option in (f"--{op}", str(tmp_path / f"{op}.jsonl"))]

    answer = program.post(f"{door(read_cluster, 'what-if')}?cells=true", body, format="json")
    with django_assert_num_queries(0):
        cells = streamed(answer)

    (printed,) = said_by_the_command(
        tmp_path, BEFORE, "whatif", *files, *options, "--super-users", "User:admin"
    )
    assert cells.pop("revision") == 3
    assert cells == printed
    assert all(cells[name] for name in ("gains", "loses", "resources"))


def test_the_groups_of_a_what_if_hold_all_of_its_cells(program, read_cluster):
    body = {op: [acl.as_dict() for acl in acls] for op, acls in EDIT.items()}
    url, groups = f"{door(read_cluster, 'what-if')}?size=2", []
    key = ""
    while key is not None:
        page = program.post(f"{url}&after={key}", body, format="json").json()
        groups += page["groups"]
        key = page["next"]

    cells = streamed(program.post(f"{door(read_cluster, 'what-if')}?cells=true", body, format="json"))
    assert len(groups) == page["counts"]["groups"] > 2
    assert page["is_complete"]
    for name in ("gains", "loses", "recovered", "depends"):
        of_name = [group for group in groups if group["category"] == name]
        assert sum(map(entries_in, of_name)) == len(cells[name])


def entries_in(group):
    """Return how many single differences a group is."""
    callers = [len(group[which].get("in", "*")) for which in ("principals", "hosts")]
    names = len(group["names"]["existing"]) + len(group["names"]["patterns"])
    return callers[0] * callers[1] * len(group["operations"]) * names


@pytest.mark.parametrize(
    ("query", "name"), [("after=2", "after"), ("size=0", "size"), ("cells=all", "cells"), ("page=2", "page")]
)
def test_what_cannot_be_asked_of_an_impact_is_refused_by_name(program, read_cluster, query, name):
    answers = [
        program.post(f"{door(read_cluster, 'what-if')}?{query}", {"add": [NOW[0].as_dict()]}, format="json"),
        program.get(f"{door(read_cluster, 'compare')}?as_of=1&{query}"),
        program.get(f"/api/v1/changes/CR-1/?{query}"),
    ]

    for answer in answers:
        assert answer.status_code == 400
        assert list(answer.json()) == [name]


# --- needs ----------------------------------------------------------------------------------


def test_needs_are_reported_in_the_words_of_the_command(program, read_cluster, tmp_path):
    asked = {
        "actions": ["consume", "METADATA"],
        "principal": "User:bob",
        "host": "10.0.0.7",
        "names": {"topic": ["orders"], "group": ["g"]},
    }

    answer = program.post(door(read_cluster, "needs"), asked, format="json").json()

    options = ["--principal", "User:bob", "--host", "10.0.0.7", "--topic", "orders", "--group", "g"]
    printed = said_by_the_command(
        tmp_path, NOW, "needs", "consume", "METADATA", *options, "--super-users", "User:admin"
    )
    assert answer["actions"] == printed
    assert answer["actions"][0]["outcome"] == "WORKS"


@pytest.mark.parametrize(
    ("who", "outcome"), [("User:eve", "DEPENDS"), ("User:bob", "WORKS"), ("User:nobody", "FAILS")]
)
def test_for_every_host_at_once_needs_tell_where_hosts_differ(program, cluster, tmp_path, who, outcome):
    acls = [
        allow("User:eve", "READ", "orders", host="10.20.6.21"),
        allow("User:eve", "READ", "g", resource_type="GROUP"),
        allow("User:bob", "READ", "orders"),
        allow("User:bob", "READ", "g", resource_type="GROUP"),
    ]
    sync(cluster, client=Answers(acls))
    asked = {
        "actions": ["consume"],
        "principal": who,
        "host": "*",
        "names": {"topic": ["orders"], "group": ["g"]},
    }

    (found,) = program.post(door(cluster, "needs"), asked, format="json").json()["actions"]

    options = ["--principal", who, "--host", "*", "--topic", "orders", "--group", "g"]
    printed = said_by_the_command(tmp_path, acls, "needs", "consume", *options, "--super-users", "User:admin")
    assert [found] == printed
    assert found["any_host"]["outcome"] == outcome
    assert bool(found["missing"]) == (who == "User:nobody")
    assert len(found["any_host"]["parts"]) == (2 if who == "User:eve" else 1)


def test_without_a_principal_needs_are_the_bare_table(program, read_cluster):
    answer = program.post(door(read_cluster, "needs"), {"actions": ["produce"]}, format="json").json()

    assert "outcome" not in answer["actions"][0]
    assert answer["actions"][0]["calls"]


def test_what_a_client_needed_then_was_there_then(program, read_cluster):
    asked = {
        "actions": ["consume"],
        "principal": "User:carol",
        "host": "::1",
        "names": {"topic": ["stock"], "group": ["g"]},
    }

    then = program.post(f"{door(read_cluster, 'needs')}?as_of=1", asked, format="json").json()
    now = program.post(door(read_cluster, "needs"), asked, format="json").json()

    assert [found["actions"][0]["outcome"] for found in (then, now)] == ["WORKS", "FAILS"]
    assert now["actions"][0]["host"] == "0:0:0:0:0:0:0:1"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "required"),
        ({"actions": []}, "at least 1"),
        ({"actions": ["fly"]}, "no client action"),
        ({"actions": ["consume"], "principal": "User:bob"}, "give principal and host"),
        ({"actions": ["consume"], "names": {"topic": ["t"]}}, "give principal and host"),
        ({"actions": ["consume"], "principal": "User:bob", "host": "10.0.0.7"}, "names['group']"),
        ({"actions": ["consume"], "principal": "User:bob", "host": "laptop"}, "laptop"),
        ({"actions": ["consume"], "names": {"topics": ["t"]}}, "'topics' names nothing"),
        ({"actions": ["consume"], "names": {"topic": ["t"] * 101}}, "At most 100"),
        ({"actions": ["consume"] * 21}, "20"),
    ],
)
def test_needs_that_are_unknown_are_refused_with_what_would_be_right(program, read_cluster, wrong, told):
    answer = program.post(door(read_cluster, "needs"), wrong, format="json")

    assert answer.status_code == 400
    assert told in json.dumps(answer.json())


# --- findings -------------------------------------------------------------------------------


def test_findings_are_those_of_lint_and_redundant(program, read_cluster, tmp_path):
    found = program.get(door(read_cluster, "findings")).json()
    going = program.get(door(read_cluster, "findings"), {"show": "can-go"}).json()

    settings = ("--super-users", "User:admin")
    linted = said_by_the_command(tmp_path, NOW, "lint", *settings)
    wasted = said_by_the_command(tmp_path, NOW, "redundant", *settings)
    promised = ("rule", "severity", "sentence", "acl", "by")
    told = [{key: row[key] for key in promised} for row in found["findings"]]
    assert told
    assert all(row in [*linted, *wasted] or row["rule"] == "orphan" for row in told)
    assert {row["acl"]["principal"] for row in told} >= {
        row["acl"]["principal"] for row in wasted if "extra" not in row
    }
    assert (found["is_done"], found["revision"], found["total"]) == (True, 2, len(told))
    assert all(row["can_go"] for row in going["findings"])
    assert going["total"] == found["counts"]["can-go"] > 0


def test_findings_come_by_page_and_by_severity(program, read_cluster):
    everything = program.get(door(read_cluster, "findings")).json()["findings"]
    pages = [
        program.get(door(read_cluster, "findings"), {"size": "1", "page": str(page)}).json()["findings"]
        for page in range(1, len(everything) + 2)
    ]
    worst = everything[0]["severity"]
    bad = program.get(door(read_cluster, "findings"), {"severity": worst}).json()["findings"]

    assert [row for page in pages for row in page] == everything
    assert pages[-1] == []
    assert bad == [row for row in everything if row["severity"] == worst] != everything


def test_a_page_behind_the_last_is_empty_for_findings_and_the_last_for_acls(program, read_cluster):
    found = program.get(door(read_cluster, "findings"), {"page": "99"}).json()
    acls = program.get(door(read_cluster, "acls"), {"page": "99", "size": "2"}).json()

    assert (found["page"], found["findings"]) == (99, [])
    assert acls["page"] == acls["pages"] == -(-acls["total"] // 2) > 1
    assert 1 <= len(acls["acls"]) <= 2


def test_findings_that_are_still_worked_out_say_so(program, read_cluster, monkeypatch):
    monkeypatch.setattr(findings, "_start", lambda *_: None)

    answer = program.get(door(read_cluster, "findings")).json()

    assert (answer["is_done"], answer["findings"], answer["problem"]) == (False, [], "")


def test_findings_that_failed_say_so(program, read_cluster, monkeypatch):
    def stumble(*_, **__):
        raise RuntimeError

    monkeypatch.setattr(lint_run, "find_all", stumble)

    answer = program.get(door(read_cluster, "findings")).json()

    assert answer["is_done"] is False
    assert "could not be worked out" in answer["problem"]


@pytest.mark.parametrize(
    "wrong", [{"severity": "bad"}, {"show": "all"}, {"rule": "\x00"}, {"page": "0"}, {"size": "201"}]
)
def test_findings_that_nobody_can_look_for_are_refused(program, read_cluster, wrong):
    answer = program.get(door(read_cluster, "findings"), wrong)

    assert answer.status_code == 400
    assert list(answer.json()) == list(wrong)


# --- compare --------------------------------------------------------------------------------


def test_two_moments_are_compared_in_the_words_of_a_what_if(program, read_cluster):
    found = program.get(door(read_cluster, "compare"), {"as_of": "1"}).json()

    assert {"groups", "counts", "unchanged", "resources", "warnings", "is_complete", "next"} <= set(found)
    assert who("loses", found) >= {"User:carol"}
    assert who("gains", found) >= {"User:admin"}
    assert any(sentence.startswith("Super users: User:carol before") for sentence in found["sentences"])
    assert (found["left"]["revision"], found["right"]["revision"]) == (1, 2)
    assert (found["acls_left_only"], found["acls_right_only"]) == (0, len(NOW) - len(THEN))


def test_a_comparison_put_together_from_its_pages_is_the_whole(program, read_cluster):
    whole = program.get(door(read_cluster, "compare"), {"as_of": "1", "size": "200"}).json()
    pages = [program.get(door(read_cluster, "compare"), {"as_of": "1", "size": "3"}).json()]
    while (key := pages[-1]["next"]) is not None:
        asked = {"as_of": "1", "size": "3", "after": key}
        pages.append(program.get(door(read_cluster, "compare"), asked).json())

    assert len(pages) > 1
    assert whole["next"] is None
    assert [group for page in pages for group in page["groups"]] == whole["groups"]
    assert len(whole["groups"]) == whole["counts"]["groups"]


def test_the_pages_of_a_comparison_end_once_the_cluster_was_synced(program, read_cluster):
    asked = {"as_of": "1", "size": "3"}
    key = program.get(door(read_cluster, "compare"), asked).json()["next"]
    sync(read_cluster, client=Answers(NOW[:-1], topics=TOPICS))

    answer = program.get(door(read_cluster, "compare"), {**asked, "after": key})

    assert answer.status_code == 400
    assert "the cluster was synced since" in str(answer.json()["after"])


def test_the_cells_of_a_comparison_come_beside_what_is_told_of_it(program, read_cluster):
    page = program.get(door(read_cluster, "compare"), {"as_of": "1"}).json()

    cells = streamed(program.get(door(read_cluster, "compare"), {"as_of": "1", "cells": "true"}))

    lists = ("gains", "loses", "recovered", "depends", "resources", "warnings")
    assert {name: len(cells[name]) for name in lists} == {name: page["counts"][name] for name in lists}
    assert set(cells) - set(page) == {"gains", "loses", "recovered", "depends"}
    assert set(page) - set(cells) == {"groups", "counts", "is_complete", "next"}
    assert all(cells[key] == page[key] for key in set(page) & set(cells))


def who(category, found):
    groups = [group for group in found["groups"] if group["category"] == category]
    return {text for group in groups for text in group["principals"].get("in", ())}


def streamed(answer):
    assert (answer.status_code, answer.streaming) == (200, True)
    assert answer["Content-Type"] == "application/json"
    return json.loads(answer.getvalue())


def test_two_clusters_are_compared_for_whom_may_see_both(program, read_cluster, other_cluster, cho):
    hidden = program.get(door(read_cluster, "compare"), {"other": "test-us"})
    Grant.objects.create(user=cho, cluster=other_cluster, role=Role.VIEWER)
    unread = program.get(door(read_cluster, "compare"), {"other": "test-us"})
    sync(other_cluster, client=Answers([], topics=TOPICS))
    found = program.get(door(read_cluster, "compare"), {"other": "test-us"}).json()

    assert (hidden.status_code, unread.status_code) == (404, 409)
    assert found["right"]["cluster"] == "test-us"
    assert who("loses", found) >= {"User:bob", "User:admin"}


@pytest.mark.parametrize("other", ["none", "\x00", "a/b", "é"])
def test_a_cluster_that_is_none_is_not_found(program, read_cluster, other):
    assert program.get(door(read_cluster, "compare"), {"other": other}).status_code == 404


def test_what_would_take_long_to_compare_is_refused_with_a_sentence(program, read_cluster, monkeypatch):
    monkeypatch.setattr(comparison, "BUDGET", Budget(steps=1, differences=1))

    answer = program.get(door(read_cluster, "compare"), {"as_of": "1"})

    assert answer.status_code == 422
    assert "too much to compare" in answer.json()["detail"]


# --- of all ---------------------------------------------------------------------------------


def test_nothing_is_told_of_a_cluster_that_one_may_not_see_or_that_was_never_read(
    program, cho, other_cluster
):
    def statuses():
        asked = door(other_cluster, "needs")
        return [
            program.post(asked, {"actions": ["consume"]}, format="json").status_code,
            program.get(door(other_cluster, "findings")).status_code,
            program.get(door(other_cluster, "compare")).status_code,
        ]

    hidden = statuses()
    Grant.objects.create(user=cho, cluster=other_cluster, role=Role.VIEWER)

    assert hidden == [404, 404, 404]
    assert statuses() == [409, 409, 409]


@pytest.mark.parametrize(
    ("name", "most"), [("acls", 8), ("affecting", 7), ("findings", 9), ("compare", 9), ("decide", 7)]
)
def test_an_answer_of_the_past_needs_few_queries(
    name, most, program, read_cluster, django_assert_max_num_queries
):
    def ask():
        if name == "decide":
            return program.post(f"{door(read_cluster, name)}?as_of=1", question(), format="json")
        return program.get(door(read_cluster, name), {"as_of": "1", "resource": "TOPIC:orders"})

    ask()  # builds what was in force then

    with django_assert_max_num_queries(most):
        assert ask().status_code == 200
