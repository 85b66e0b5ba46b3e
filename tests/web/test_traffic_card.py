"""The card of traffic on the pages of topics and principals: what was permitted and denied, and what is unknown."""

from __future__ import annotations

import re
from html import unescape

import pytest

from aclweb.insights import traffic
from aclweb.insights.load import load
from tests.insights.conftest import BINDINGS, read_cluster  # noqa: F401 - a fixture
from tests.insights.results import file, request, write_result

TOPIC = "/c/test-eu/topics/payments.eu?tab=traffic"
BOB = "/c/test-eu/principal/?name=User:bob&tab=traffic"
REQUESTS = [
    request("User:bob", "READ", "payments.eu", allowed=True, decided_now="ALLOWED", lines=70),
    request(
        "User:bob", "READ", "payments.eu", allowed=True, decided_now="ALLOWED", lines=20, host="10.0.0.8"
    ),
    request("User:bob", "WRITE", "payments.eu", lines=4),
    request("User:eve", "READ", "payments.eu", lines=3),
    request("User:bob", "WRITE", "orders", allowed=True, decided_now="ALLOWED", lines=5),
]


@pytest.fixture
def card(read_cluster, tmp_path, ada, signed_in):  # noqa: F811
    """Return a function that loads a result and gives the card of a page, as text and as its lines."""
    client = signed_in(ada)

    def shown(address, requests=REQUESTS, **facts):
        if requests is not None:
            load(write_result(tmp_path / "usage", BINDINGS, requests=requests, **facts), read_cluster)
        answer = client.get(address)
        part = unescape(answer.content.decode()).split('id="traffic"')[1].split("</section>")[0]
        text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", part))
        return text, answer.context["traffic_lines"]

    return shown


def figures(lines):
    return [
        (
            line.principal,
            line.operation.name,
            line.resource.name,
            line.permitted,
            line.denied,
            len(line.hosts),
        )
        for line in lines
    ]


def test_a_topic_shows_who_used_it_and_who_was_denied(card):
    text, lines = card(TOPIC)

    assert figures(lines) == [
        ("User:bob", "READ", "payments.eu", 90, 0, 2),
        ("User:bob", "WRITE", "payments.eu", 0, 4, 1),
        ("User:eve", "READ", "payments.eu", 0, 3, 1),
    ]
    assert "90 permitted, 7 denied." in text
    assert "1 of 1 principal whom ACLs allow something was logged." in text
    assert "2026-11-20 90 7" in text, "the table beside the chart"


def test_a_principal_shows_what_it_used(card):
    text, lines = card(BOB)

    assert figures(lines)[-1] == ("User:bob", "WRITE", "payments.eu", 0, 4, 1)
    assert "95 permitted, 4 denied." in text


def test_without_permits_what_was_permitted_is_unknown_and_not_zero(card):
    text, _ = card(TOPIC, REQUESTS[2:4], files=[file("b1.log"), file("b2.log")])

    assert "cannot tell what was permitted, 7 denied." in text
    assert "2026-11-20 cannot tell 7" in text
    assert "0 permitted" not in text


def test_without_a_log_the_card_says_so(card):
    text, lines = card(TOPIC, None)

    assert "cannot tell: no authorizer log has been read." in text
    assert list(lines) == []


def test_what_is_too_much_to_add_up_is_said_to_be_a_part(card, monkeypatch):
    monkeypatch.setattr(traffic, "MOST_ROWS", 2)

    text, _ = card(TOPIC)

    assert "Of the 2 distinct requests that were logged most often: 90 permitted, 0 denied." in text


def test_a_topic_that_nobody_used_says_so(card):
    text, _ = card("/c/test-eu/topics/orders.none?tab=traffic")

    assert "The log has no request on it." in text


@pytest.mark.parametrize(
    ("tab", "most"),
    [("access", 9), ("acls", 12), ("groups", 10), ("denials", 12), ("traffic", 12), ("history", 12)],
)
def test_each_tab_of_a_topic_takes_few_queries(
    card, ada, signed_in, tab, most, django_assert_max_num_queries
):
    card(TOPIC)
    client = signed_in(ada)
    address = f"/c/test-eu/topics/payments.eu?tab={tab}"
    client.get(address)

    with django_assert_max_num_queries(most):
        client.get(address)


def test_a_reader_in_the_log_is_listed_with_the_groups_that_it_used(card, ada, signed_in):
    used = {"resource_type": "GROUP", "allowed": True, "decided_now": "ALLOWED"}
    card(TOPIC, [*REQUESTS, request("User:bob", "READ", "billing", lines=6, **used)])

    page = signed_in(ada).get("/c/test-eu/topics/payments.eu?tab=groups")

    (bob,) = page.context["reader_rows"]
    found, able, last, groups = bob
    assert (found.principal, able, last is not None) == ("User:bob", True, True)
    assert [(group.name, group.lines) for group in groups] == [("billing", 6)]


def test_the_list_of_topics_shows_denials_and_the_last_permitted_request(
    card, ada, signed_in, django_assert_max_num_queries
):
    card(TOPIC)
    client = signed_in(ada)

    with django_assert_max_num_queries(12):
        page = client.get("/c/test-eu/topics/")

    seen = page.context["seen"]
    assert {name: found.denied for name, found in seen.items()} == {"payments.eu": 7, "orders": 0}
    assert seen["payments.eu"].last_permitted is not None
    assert 'href="/c/test-eu/topics/payments.eu?tab=denials">7</a>' in page.content.decode()
