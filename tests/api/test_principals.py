"""Programs get the list of principals and the comparison of two, with the rows and the sentences of the pages."""

from __future__ import annotations

import csv
import io
from html import unescape

import pytest
from rest_framework.test import APIClient

from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import given, read_cluster, two_weeks_will_do  # noqa: F401 fixtures
from tests.insights.results import file
from tests.insights.test_principals import REQUESTS

URL = "/api/v1/clusters/test-eu/principals/"
PAGE = "/c/test-eu/principals/"
COMPARE = "/c/test-eu/principal/compare/"


@pytest.fixture
def program(cho) -> APIClient:
    client = APIClient()
    client.force_authenticate(cho)
    return client


@pytest.fixture
def logged(given):  # noqa: F811
    return given(requests=REQUESTS)


def text_of(answer) -> str:
    return unescape(answer.content.decode())


@pytest.mark.parametrize("asked", [{}, {"show": "denied", "sort": "-denials"}, {"text": "BOB"}])
def test_the_rows_are_those_of_the_download_in_its_order(logged, program, signed_in, cho, asked):
    found = program.get(URL, asked).json()
    of_page = {"q" if name == "text" else name: value for name, value in asked.items()}
    export = signed_in(cho).get(PAGE, {**of_page, "format": "csv"}).getvalue().decode()

    names = ("principal", "acls", "deny_acls", "topics_read", "permitted", "denied", "denied_7_days")
    rows = [tuple(row[name] for name in names) for row in csv.DictReader(io.StringIO(export))]
    assert rows
    assert [tuple(str(row[name]) for name in names) for row in found["principals"]] == rows
    assert (found["total"], found["is_complete"], found["topics"]) == (len(rows), True, 2)


def test_principals_come_by_page_and_a_page_behind_the_last_is_empty(logged, program):
    everything = program.get(URL, {"sort": "-acls"}).json()

    by_page = [
        program.get(URL, {"sort": "-acls", "size": "2", "page": str(page)}).json()
        for page in range(1, everything["total"] // 2 + 2)
    ]

    assert [row for page in by_page for row in page["principals"]] == everything["principals"]
    assert by_page[0]["pages"] == -(-everything["total"] // 2)
    assert program.get(URL, {"page": "99"}).json()["principals"] == []


def test_each_mark_has_its_number_and_the_sentence_of_the_page(logged, program, signed_in, cho):
    found = program.get(URL).json()
    page = text_of(signed_in(cho).get(PAGE))

    assert found["why_not"] == ""
    assert found["log_to"].startswith("2026-11-")
    for marked in found["marks"]:
        having = sum(marked["mark"] in row["marks"] for row in found["principals"])
        # Neither SCRAM users nor the ways by which clients log in were read here.
        assert marked["count"] == (None if marked["mark"] in ("no-login", "gone") else having)
        assert marked["sentence"] in page
    assert {marked["mark"]: marked["count"] for marked in found["marks"]}["never-seen"] > 0


def test_without_a_log_nobody_can_tell_and_no_number_is_nought(read_cluster, program, signed_in, cho):  # noqa: F811
    found = program.get(URL).json()
    never_seen = next(marked for marked in found["marks"] if marked["mark"] == "never-seen")

    assert never_seen == {
        "mark": "never-seen",
        "count": None,
        "sentence": "Cannot tell: no authorizer log has been read.",
    }
    assert never_seen["sentence"] in text_of(signed_in(cho).get(PAGE, {"show": "never-seen"}))
    assert found["why_not"] == "No authorizer log has been read."
    unknown = ("first_seen", "last_seen", "permitted", "denied", "denied_7_days")
    assert {row[name] for row in found["principals"] for name in unknown} == {None}
    assert program.get(URL, {"show": "never-seen"}).json()["principals"] == []


def test_where_permits_may_lack_none_is_not_said_to_be_nought(given, program):  # noqa: F811
    given(requests=REQUESTS, files=[file("broker-1.log")])

    found = program.get(URL).json()

    rows = {row["principal"]: row for row in found["principals"]}
    assert found["why_not"]
    assert (rows["User:bob"]["permitted"], rows["User:eve"]["permitted"]) == (5, None)
    assert (rows["User:bob"]["denied"], rows["User:eve"]["denied"]) == (7, 0)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("?show=idle", "show 'idle' is not known; use orphaned, never-seen"),
        ("?sort=age", "sort 'age' is not known; use principal, acls"),
        ("?size=900", "size '900' is not a whole number from 1 to 200"),
        ("compare/?first=User:bob", "Name two principals: `first` and `second`, such as User:bob."),
        ("compare/?first=bob&second=User:eve", "Principal 'bob' has no type; write it as 'User:bob'."),
        ("compare/?first=User:b&second=User:e&show=none", "show 'none' is not known; use only-first"),
    ],
)
def test_what_is_asked_wrongly_is_refused_with_what_is_right(read_cluster, program, address, told):  # noqa: F811
    answer = program.get(f"{URL}{address}")

    assert answer.status_code == 400
    assert told in answer.content.decode()


def test_of_a_cluster_that_was_never_synced_nothing_is_told(cluster, program):
    for address in ("", "compare/?first=User:bob&second=User:eve"):
        answer = program.get(f"{URL}{address}")

        assert answer.status_code == 409
        assert "has not been synced yet" in answer.json()["detail"]


def test_two_principals_are_compared_by_name_as_in_the_download(read_cluster, program, signed_in, cho):  # noqa: F811
    found = program.get(f"{URL}compare/", {"first": "User:bob", "second": "User:notes"}).json()
    asked = {"name": "User:bob", "with": "User:notes", "format": "csv"}
    export = signed_in(cho).get(COMPARE, asked).getvalue().decode()

    rows = {
        (row["relation"], row["resource_type"], name, " ".join(row["operations"]))
        for row in found["rows"]
        for name in row["names"]
    }
    columns = ("relation", "resource_type", "resource_name", "operations")
    assert rows == {tuple(row[name] for name in columns) for row in csv.DictReader(io.StringIO(export))}
    assert ("only-first", "TOPIC", "payments.eu") in {row[:3] for row in rows}
    through = [row["first"] for row in found["rows"] if row["names"] == ["payments.eu"]]
    assert [acl["resource_name"] for acls in through for acl in acls] == ["payments."]
    for row in found["rows"]:
        assert len(row["names"]) == row["names_total"]
        assert (len(row["first"]), len(row["second"])) == (row["first_total"], row["second_total"])
    assert found["counts"]["only-first"] == sum(
        len(row["names"]) * len(row["operations"]) for row in found["rows"] if row["relation"] == "only-first"
    )


def test_a_comparison_says_what_the_page_says_and_who_is_unknown(cluster, program, signed_in, cho):
    cluster.allow_everyone = None
    cluster.save()
    with FakeCluster([allow("User:bob", "READ", "orders")], topics=["orders", "stock"]) as fake:
        sync(cluster, client=fake)

    found = program.get(f"{URL}compare/", {"first": "User:bob", "second": "User:nobody"}).json()
    page = text_of(signed_in(cho).get(COMPARE, {"name": "User:bob", "with": "User:nobody"}))

    assert found["unsure"] is True
    assert len(found["sentences"]) == 3
    assert all(sentence in page for sentence in found["sentences"])
    assert found["unknown"] == ["User:nobody"]
    assert "names User:nobody" in page


def test_one_relation_is_shown_alone_and_by_page(read_cluster, program):  # noqa: F811
    asked = {"first": "User:bob", "second": "User:eve", "size": "1"}

    alone = program.get(f"{URL}compare/", asked | {"show": "only-first"}).json()
    second = program.get(f"{URL}compare/", asked | {"show": "only-first", "page": "2"}).json()
    none = program.get(f"{URL}compare/", asked | {"show": "only-second"}).json()

    assert alone["total"] == alone["pages"] > 1
    assert [row["relation"] for row in alone["rows"]] == ["only-first"] == [
        row["relation"] for row in second["rows"]
    ]  # fmt: skip
    assert alone["rows"] != second["rows"]
    assert (none["total"], none["rows"], none["counts"]) == (0, [], alone["counts"])


def test_a_page_of_a_comparison_is_cut_and_counts_what_it_leaves_out(cluster, program, monkeypatch):
    topics = [f"orders.{number:04}" for number in range(500)]
    acls = [allow("User:bob", "READ", "orders.", pattern="PREFIXED")]
    acls += [allow("User:bob", "READ", topic) for topic in topics[:2]]
    with FakeCluster(acls, topics=topics) as fake:
        sync(cluster, client=fake)
    monkeypatch.setattr("aclweb.api.size.MOST_BYTES", 12_000)

    answer = program.get(f"{URL}compare/", {"first": "User:bob", "second": "User:eve"})

    found = answer.json()
    assert len(answer.content) < 13_500
    assert found["is_complete"] is False
    assert len(found["rows"]) == found["total"]
    largest = max(found["rows"], key=lambda row: row["names_total"])
    assert largest["names_total"] == 498 > len(largest["names"]) > 10


@pytest.mark.parametrize("address", ["?sort=-acls", "compare/?first=User:bob&second=User:gone"])
def test_each_answer_takes_few_queries(logged, program, django_assert_max_num_queries, address):
    with django_assert_max_num_queries(12):
        assert program.get(f"{URL}{address}").status_code == 200
