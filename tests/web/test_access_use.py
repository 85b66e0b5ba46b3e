"""The matrix of a resource by what is configured, what was used of it, and what was denied."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest

from aclweb.clusters import TopicInfo
from aclweb.insights.load import load
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.insights.results import LAST, file, request, write_result
from tests.inventory.answering_cluster import Answers

TOPIC = "/c/test-eu/topics/orders.eu"
ACLS = [
    allow("User:bob", "ALL", "orders.", pattern="PREFIXED"),
    allow("User:cat", "READ", "orders.eu"),
    deny("User:dan", "READ", "orders.eu"),
    *(allow(f"User:far-{number}", "READ", "*") for number in range(4)),
]
REQUESTS = [
    request("User:bob", "READ", "orders.eu", allowed=True, decided_now="ALLOWED", lines=1200),
    request("User:bob", "READ", "orders.eu", allowed=True, decided_now="ALLOWED", lines=34, host="10.0.0.8"),
    request("User:far-2", "READ", "orders.eu", allowed=True, decided_now="ALLOWED", lines=5),
    request("User:admin", "WRITE", "orders.eu", allowed=True, decided_now="ALLOWED", lines=7),
    request("User:dan", "READ", "orders.eu", lines=9),
    request("User:cat", "READ", "other", allowed=True, decided_now="ALLOWED", lines=3),
]


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(cluster, client=Answers(ACLS, topics=[TopicInfo("orders.eu")]))
    return signed_in(ada)


@pytest.fixture
def logged(browser, cluster, tmp_path):
    def with_log(requests=REQUESTS, **facts):
        load(write_result(tmp_path / "usage", ACLS, requests=requests, **facts), cluster)
        return browser

    return with_log


def plain(page) -> str:
    part = page.content.decode().split('id="access"')[1].split("</section>")[0]
    return " ".join(unescape(re.sub("<[^>]*>", " ", part)).split())


def rows_of(page) -> list[str]:
    return [row.principal for row in page.context["page"].rows]


def test_used_keeps_those_who_were_permitted_and_says_how_often(logged):
    page = logged().get(TOPIC, {"show": "used"})

    assert rows_of(page) == ["User:bob", "User:far-2"]
    assert "1,234×" in plain(page)
    assert "9×" not in plain(page)
    assert "Any other user" not in plain(page)


def test_denied_keeps_those_who_were_denied(logged):
    page = logged().get(TOPIC, {"show": "denied"})

    assert rows_of(page) == ["User:dan"]
    assert "9×" in plain(page)


def test_a_denied_right_that_no_acl_gives_is_shown_in_narrow_windows_too(logged):
    page = logged([request("User:cat", "ALTER", "orders.eu", lines=2)]).get(TOPIC, {"show": "denied"})

    cells = re.findall(r'<td data-state="none"( data-quiet)?>(.*?)</td>', page.content.decode(), re.DOTALL)
    assert [quiet for quiet, cell in cells if "2×" in cell] == [""]
    assert any(quiet for quiet, _ in cells)


def test_whoever_used_it_without_an_acl_is_counted_beside(logged):
    page = plain(logged().get(TOPIC, {"show": "used"}))

    assert "1 more principal had requests permitted, and no ACL on it names it: Traffic has them." in page


def test_what_is_configured_is_shown_unless_somebody_asks(logged):
    browser = logged()

    for query in ({}, {"show": ""}, {"show": "\x00"}, {"show": "all"}):
        page = browser.get(TOPIC, query)
        assert rows_of(page) == ["User:bob", "User:cat", "User:dan"]
        assert "×" not in plain(page)


def test_the_switch_is_in_the_address_and_keeps_the_moment(logged):
    page = logged().get(TOPIC, {"show": "used", "as_of": "1", "all": "1"}).content.decode()

    assert 'href="?show=denied&amp;as_of=1"' in page
    assert re.search(r'<a href="\?as_of=1"[^>]*>Configured', page)
    assert re.search(r'aria-current="true">Used', page)


def test_without_a_log_the_page_cannot_tell(browser):
    page = plain(browser.get(TOPIC, {"show": "used"}))

    assert "cannot tell what was permitted: no authorizer log has been read" in page
    assert "User:bob" not in page


def test_without_permits_what_was_used_is_unknown_and_what_was_denied_is_not(logged):
    browser = logged(REQUESTS[4:5], files=[file("b1.log"), file("b2.log")])

    used, denied = (browser.get(TOPIC, {"show": show}) for show in ("used", "denied"))

    assert "cannot tell what was permitted: " in plain(used)
    assert rows_of(denied) == ["User:dan"]


def test_a_topic_that_nobody_was_denied_says_so(logged):
    page = plain(logged(REQUESTS[:1]).get(TOPIC, {"show": "denied"}))

    assert "The log has no request on it that was denied." in page


def test_htmx_takes_the_table_alone(logged):
    part = logged().get(TOPIC, {"show": "used"}, headers={"HX-Request": "true"})

    assert "<html" not in part.content.decode()
    assert rows_of(part) == ["User:bob", "User:far-2"]


@pytest.mark.parametrize("show", ["used", "denied"])
def test_it_takes_few_queries(logged, show, django_assert_max_num_queries):
    browser = logged()
    browser.get(TOPIC)

    with django_assert_max_num_queries(12):
        browser.get(TOPIC, {"show": show})


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("TOPIC", "Read and Write"),
        ("GROUP", "Read"),
        ("TRANSACTIONAL_ID", "Write"),
        ("CLUSTER", "Alter and Create"),
    ],
)
def test_narrow_windows_are_told_which_rights_are_always_shown(browser, kind, words):
    name = "kafka-cluster" if kind == "CLUSTER" else "orders.eu"
    page = browser.get("/c/test-eu/resource/", {"type": kind, "name": name}, follow=True)

    assert f"Rights that no ACL gives are left out, except {words}." in plain(page)


def seen_in(page) -> dict[str, str]:
    part = page.content.decode().split('id="access"')[1].split("</section>")[0]
    rows = re.findall(r'<th scope="row">(.*?)</th>.*?<td class="last-seen">(.*?)</td>', part, re.DOTALL)
    return {
        " ".join(unescape(re.sub("<[^>]*>", " ", name)).split()): " ".join(
            re.sub("<[^>]*>", " ", cell).split()
        )
        for name, cell in rows
    }


def test_each_row_says_when_the_log_last_saw_the_principal_on_the_topic(logged):
    denied_later = request("User:far-2", "WRITE", "orders.eu", last_at=LAST + timedelta(minutes=90))
    browser = logged([*REQUESTS, denied_later])

    page = browser.get(TOPIC, {"all": "1"})

    assert seen_in(page) == {
        "User:bob": "20 Nov 20:00",
        "User:cat": "not in the log",
        "User:dan": "denied 20 Nov 20:00",
        "User:far-0": "not in the log",
        "User:far-1": "not in the log",
        "User:far-2": "denied 20 Nov 21:30",
        "User:far-3": "not in the log",
        "Any other user User:*": "",
    } | {name: "" for name in seen_in(page) if name.startswith("Super users")}
    part = browser.get(TOPIC, {"all": "1"}, headers={"HX-Request": "true"})
    assert seen_in(part) == seen_in(page)
    assert set(seen_in(browser.get(TOPIC, {"show": "used"}))) == {"User:bob", "User:far-2"}


def test_without_permits_only_a_denial_tells_when_a_principal_was_last_seen(logged):
    page = logged([REQUESTS[4]], files=[file("broker-1.log", permits=0)]).get(TOPIC)

    assert seen_in(page)["User:cat"] == "cannot tell"
    assert seen_in(page)["User:dan"] == "denied 20 Nov 20:00"


def test_without_a_log_and_of_the_past_no_row_says_when_somebody_was_seen(browser, cluster, logged):
    assert seen_in(browser.get(TOPIC)) == {}
    logged()
    sync(cluster, client=Answers(ACLS[1:], topics=[TopicInfo("orders.eu")]))

    assert seen_in(browser.get(TOPIC, {"as_of": "1"})) == {}


@pytest.mark.parametrize("show", ["", "used", "denied"])
def test_the_rows_take_few_queries(logged, show, django_assert_max_num_queries):
    browser = logged()
    browser.get(TOPIC, {"show": show})

    with django_assert_max_num_queries(12):
        browser.get(TOPIC, {"show": show})
