"""What the log says of an answer is counted for the host that asked, and for the right that is checked first."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.insights.conftest import given, read_cluster  # noqa: F401
from tests.insights.results import request
from tests.web.test_ask_pages import plain

WRITE = {"principal": "User:bob", "operation": "WRITE", "type": "TOPIC", "name": "orders", "host": ""}


@pytest.fixture
def browser(read_cluster, given, ada, signed_in):  # noqa: F811
    """Bob may write to orders from 10.0.0.9 only; the log holds both, and one who is denied Describe."""
    given(
        requests=[
            request(
                "User:bob", "WRITE", "orders", host="10.0.0.9", allowed=True, lines=486, api_names=["Produce"],
                decided_now="ALLOWED",
            ),
            request("User:bob", "WRITE", "orders", host="10.0.0.8", lines=3, api_names=["Produce"]),
            request("User:bob", "DESCRIBE", "orders", host="10.0.0.30", lines=40, api_names=["Metadata"]),
        ]
    )  # fmt: skip
    return signed_in(ada)


@pytest.mark.parametrize("page", ["/", "/c/test-eu/explain/"])
def test_permits_from_the_only_allowed_host_contradict_nothing(browser, page):
    found = browser.get(page, WRITE)

    assert found.context["answer"].verdict == "depends"
    assert found.context["log_evidence"].kind == "agrees"
    assert "From 10.0.0.9: 486 permits, for Produce" in plain(found)
    assert "The broker log says otherwise" not in plain(found)


def test_each_host_has_its_own_count(browser):
    found = browser.get("/", WRITE)

    told = {part.words: words for part, _, words in found.context["parts"]}
    assert told["10.0.0.9"].startswith("486 permits, for Produce")
    assert told["every other host"].startswith("3 denials, for Produce")


def test_a_permit_from_a_host_that_is_refused_now_names_its_host(read_cluster, given, ada, signed_in):  # noqa: F811
    given(requests=[request("User:bob", "WRITE", "orders", host="10.0.0.1", allowed=True, lines=7)])

    found = signed_in(ada).get("/", WRITE)

    assert found.context["log_evidence"].kind == "contradicts"
    assert "From every other host: 7 permits" in plain(found)


def test_who_is_denied_describe_is_denied_one_step_before_writing(browser):
    found = browser.get("/", WRITE | {"host": "10.0.0.30"})

    assert found.context["log_evidence"].kind == "agrees"
    assert "Denied before Write was asked: 40 × Describe, for Metadata" in plain(found)


def test_words_after_a_host_and_a_colon_begin_small(read_cluster, given, ada, signed_in):  # noqa: F811
    given(
        requests=[
            request("User:bob", "DESCRIBE", "orders", host="10.0.0.30", lines=40, api_names=["Metadata"]),
            request("User:bob", "DESCRIBE", "orders", host="10.0.0.9", lines=9, api_names=["Metadata"]),
        ]
    )

    found = signed_in(ada).get("/", WRITE)

    told = plain(found)
    assert "From 10.0.0.9: denied before Write was asked: 9 × Describe" in told
    cells = {part.words: words for part, _, words in found.context["parts"]}
    assert cells["every other host"].startswith("denied before Write was asked: 40 × Describe")
    assert "Denied before" not in told


def test_a_request_from_another_host_is_no_evidence(browser):
    found = browser.get("/", WRITE | {"host": "10.0.0.31"})

    assert found.context["log_evidence"].kind == "silent"
    assert "No matching request in the log" in plain(found)
    assert "The log (7–20 November) has no such request." in plain(found)


def test_a_log_without_permits_cannot_confirm_a_permit(read_cluster, given, ada, signed_in):  # noqa: F811
    given(requests=[], files=[])

    found = signed_in(ada).get("/", WRITE | {"host": "10.0.0.9"})

    assert "Permits are not in the log" in plain(found)


def rights(page) -> dict[str, tuple[str, str]]:
    """What the log tells of each right that a client action needs, by its words: (kind, sentence)."""
    return {
        each.words: (told.kind, told.sentence)
        for _, rights in page.context["needs"]
        for each, told in rights
        if told is not None
    }


def test_each_right_of_a_client_action_has_its_own_evidence_per_host(browser):
    asked = {"principal": "User:bob", "action": "produce", "topic": "orders"}

    here = rights(browser.get("/c/test-eu/explain/client/", asked | {"host": "10.0.0.9"}))
    other = rights(browser.get("/c/test-eu/explain/client/", asked | {"host": "10.0.0.30"}))

    assert here["Write on topic orders"][0] == "agrees"
    assert here["Write on topic orders"][1].startswith("486 permits, for Produce")
    assert here["Describe on topic orders"] == ("silent", "no matching request")
    assert other["Describe on topic orders"][1].startswith("40 denials, for Metadata")
    assert other["Write on topic orders"][1].startswith("denied before Write was asked: 40 × Describe")


def test_the_evidence_of_a_client_action_is_of_the_hosts_that_are_shown(browser):
    asked = {"principal": "User:bob", "action": "produce", "topic": "orders", "host": ""}

    elsewhere = browser.get("/c/test-eu/explain/client/", asked)
    there = browser.get("/c/test-eu/explain/client/", asked | {"at": "10.0.0.9"})

    assert rights(elsewhere)["Write on topic orders"][1].startswith("3 denials, for Produce")
    assert rights(there)["Write on topic orders"][1].startswith("486 permits, for Produce")
    assert "In the log" in plain(there)


def test_a_log_without_permits_confirms_no_right(read_cluster, given, ada, signed_in):  # noqa: F811
    given(requests=[], files=[])
    asked = {"principal": "User:bob", "action": "produce", "topic": "orders", "host": "10.0.0.9"}

    told = rights(signed_in(ada).get("/c/test-eu/explain/client/", asked))

    assert told["Write on topic orders"] == ("unknown", "cannot tell: permits are not in the log")


@pytest.mark.parametrize("page", ["/", "/c/test-eu/explain/"])
def test_the_log_is_asked_once_for_an_answer_and_each_of_its_hosts(browser, page):
    browser.get(page, WRITE)

    with CaptureQueriesContext(connection) as asked:
        found = browser.get(page, WRITE)

    assert found.context["has_log"]
    for table in ("insights_load", "insights_requesttotals"):
        assert sum(query["sql"].startswith(f'SELECT "{table}".') for query in asked) == 1, table
    assert len(asked) <= 12
