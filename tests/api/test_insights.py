"""Programs get what the logs show: denials, coverage, use, and an edit replayed, as pages have it."""

from __future__ import annotations

import csv
import io

import pytest
from rest_framework.test import APIClient

from aclweb.acl.model import Delta
from aclweb.acl.notation import write_delta
from aclweb.clusters import TopicInfo
from aclweb.insights.load import load
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.insights.results import log_days, request, use, write_result
from tests.inventory.answering_cluster import Answers

BINDINGS = [allow("User:bob", "READ", "orders.eu")]
LOGGED = [
    request("User:bob", "READ", "orders.eu", allowed=True, lines=40),
    request("User:eve", "READ", "stock.1", lines=9),
    request("User:eve", "READ", "stock.2", lines=3),
    request("User:dan", "READ", "orders.eu", lines=7),
]
CLOSES = {"remove": [BINDINGS[0].as_dict()], "add": [allow("User:dan", "READ", "orders.eu").as_dict()]}
URL = "/api/v1/clusters/test-eu/"


@pytest.fixture
def synced(cluster):
    sync(cluster, client=Answers(BINDINGS, topics=[TopicInfo("orders.eu")]))
    cluster.refresh_from_db()
    return cluster


@pytest.fixture
def logged(synced, tmp_path):
    result = write_result(
        tmp_path / "usage", BINDINGS, usage=[use(BINDINGS[0])], requests=LOGGED, coverage=log_days("b1")
    )
    load(result, synced)
    return synced


@pytest.fixture
def program(cho, synced) -> APIClient:
    client = APIClient()
    client.force_authenticate(cho)
    return client


def test_denials_are_paged_and_filtered_as_on_the_page(logged, program):
    found = program.get(f"{URL}denials/", {"size": "2"}).json()
    eve = program.get(f"{URL}denials/", {"state": "new", "cause": "no-rule", "page": "2", "size": "1"}).json()

    assert (found["total"], found["pages"], found["why_not"]) == (3, 2, "")
    assert found["counts"]["new"] == 3
    first = found["denials"][0]
    assert [first[name] for name in ("principal", "resource_name", "denials", "cause")] == [
        "User:eve", "stock.1", 9, "no-rule"
    ]  # fmt: skip
    assert len(eve["denials"]) == 1
    assert program.get(f"{URL}denials/", {"state": "fixed"}).json()["denials"] == []


def test_the_rows_of_denials_are_those_of_the_download(logged, program, signed_in, cho):
    rows = program.get(f"{URL}denials/", {"days": "all"}).json()["denials"]
    text = signed_in(cho).get("/c/test-eu/insights/denials/export/?days=all").getvalue().decode()

    names = ("state", "principal", "operation", "resource_type", "resource_name", "cause", "denials")
    expected = [tuple(row[name] for name in names) for row in csv.DictReader(io.StringIO(text))]
    assert [tuple(str(row[name]) for name in names) for row in rows] == expected


def test_coverage_says_what_each_broker_logged_on_each_day(logged, program):
    found = program.get(f"{URL}coverage/", {"days": "7", "size": "3"}).json()

    assert (found["total"], found["pages"], len(found["coverage"])) == (7, 3, 3)
    assert set(found["coverage"][0]) == {
        "broker", "day", "shows", "hours", "hours_with_permits", "lines", "permits"
    }  # fmt: skip
    assert found["sentences"][0].startswith("The log covers")
    assert program.get(f"{URL}coverage/", {"broker": "none"}).json()["total"] == 0


def test_use_is_counted_as_on_the_map(logged, program, signed_in, cho):
    found = program.get(f"{URL}use/", {"show": "denied", "days": "90"}).json()
    cells = signed_in(cho).get("/c/test-eu/insights/use/?show=denied&days=90&format=json").json()["cells"]

    assert found["use"] == cells
    assert {row["number"] for row in found["use"]} == {12, 7}
    one = program.get(f"{URL}use/", {"show": "denied", "principal": "User:dan"}).json()
    assert [row["principal"] for row in one["use"]] == ["User:dan"]


def test_an_edit_is_replayed_as_on_the_card_of_a_what_if(logged, program, signed_in, cho):
    found = program.post(f"{URL}replay/", CLOSES, format="json").json()
    by_day = program.post(f"{URL}replay/?by=principal&size=1&page=2", CLOSES, format="json").json()

    assert (found["would_be_refused"], found["would_be_allowed"], found["unchanged"]) == (40, 7, 12)
    assert found["revision"] == logged.revision.number
    assert [(row["would_be"], row["principal"], row["lines"]) for row in found["replay"]] == [
        ("refused", "User:bob", 40), ("allowed", "User:dan", 7)
    ]  # fmt: skip
    assert (by_day["total"], by_day["pages"], len(by_day["replay"])) == (2, 2, 1)
    edit = Delta(add=(allow("User:dan", "READ", "orders.eu"),), remove=tuple(BINDINGS))
    page = signed_in(cho).get("/c/test-eu/what-if/", {"paste": write_delta(edit)}, follow=True)
    assert found["sentence"] in page.content.decode()


def test_without_a_log_each_answer_says_that_it_cannot_tell(synced, program):
    why = "Nobody has said where this cluster's authorizer logs are, so the use of its ACLs is unknown."
    for name, rows in (("denials", "denials"), ("coverage", "coverage"), ("use", "use")):
        found = program.get(f"{URL}{name}/").json()
        assert (found[rows], found["total"], found["log_to"]) == ([], 0, None)
        assert found["why_not"], name

    found = program.post(f"{URL}replay/", CLOSES, format="json").json()
    assert (found["would_be_refused"], found["replay"], found["why_not"]) == (None, [], why)


@pytest.mark.parametrize(
    "address, told",
    [
        ("denials/?state=lost", "state 'lost' is not known; use new"),
        ("denials/?days=3", "days '3' is not known; use all"),
        ("denials/?cause=weather", "cause 'weather' is not known; use allowed-now"),
        ("coverage/?days=0", "days '0' is not a whole number from 1 to 400"),
        ("use/?show=all", "show 'all' is not known; use used, denied, configured"),
        ("use/?size=900", "size '900' is not a whole number from 1 to 200"),
    ],
)
def test_what_is_asked_wrongly_is_refused_with_what_is_right(logged, program, address, told):
    answer = program.get(f"{URL}{address}")

    assert answer.status_code == 400
    assert told in answer.content.decode()


def test_an_empty_edit_is_not_replayed(logged, program):
    assert program.post(f"{URL}replay/", {}, format="json").status_code == 400
    assert program.post(f"{URL}replay/?by=weather", CLOSES, format="json").status_code == 400
