"""The question on the home page and on the explain page: answers, reasons, ways out, and bad input."""

from __future__ import annotations

from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from aclweb.clusters import TopicInfo
from aclweb.inventory.sync import sync
from aclweb.web import links
from tests.builders import allow, deny
from tests.inventory.readings import Answers

OWN_HOST = allow("User:bob", "WRITE", "orders.", pattern="PREFIXED", host="10.0.0.7")
QUESTION = {
    "principal": "User:bob",
    "operation": "WRITE",
    "type": "TOPIC",
    "name": "orders.eu",
    "host": "10.0.0.8",
}


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(
        cluster,
        client=Answers(
            [
                OWN_HOST,
                allow("User:cat", "READ", "*"),
                deny("User:dan", "READ", "orders.", pattern="PREFIXED"),
                allow("User:dan", "ALL", "orders.eu"),
                allow("User:six", "READ", "orders.eu", host="0:0:0:0:0:0:0:1"),
            ],
            groups=["billing"],
        ),
    )
    return signed_in(ada)


def text(page) -> str:
    return unescape(page.content.decode())


def test_the_empty_question_suggests_one_that_the_rules_hold_an_answer_to(cluster, ada, signed_in):
    rules = [allow("User:bob", "WRITE", "orders.", pattern="PREFIXED"), deny("User:dan", "READ", "stock")]
    sync(cluster, client=Answers(rules, topics=[TopicInfo("orders.eu"), TopicInfo("stock")]))

    page = signed_in(ada).get("/")

    suggested = [
        (request.principal, request.operation.name, request.resource_name)
        for request in page.context["examples"]
    ]
    assert suggested == [("User:dan", "READ", "stock"), ("User:bob", "WRITE", "orders.eu")]
    assert "No, refused" in text(signed_in(ada).get(f"/?{links.question(page.context['examples'][0])}"))


def test_a_refusal_shows_the_sentence_the_gate_that_decides_and_the_nearest_miss(browser):
    page = browser.get("/", QUESTION)

    assert page.status_code == 200
    assert "No, refused" in text(page)
    assert page.context["answer"].explanation.near_misses[0].binding == OWN_HOST
    assert text(page).count("data-decides") == 1
    assert "and this one comes from 10.0.0.8" in text(page)


def test_the_smallest_fix_opens_as_a_what_if(browser):
    page = browser.get("/", QUESTION)

    link = next(part for part in text(page).split('"') if "/what-if/?add=" in part)
    (line,) = parse_qs(urlsplit(link).query)["add"]
    assert '"principal": "User:bob"' in line
    assert '"host": "10.0.0.8"' in line
    assert browser.get(link).status_code == 200


def test_an_allowed_question_names_the_rule_that_holds_it_up(browser):
    page = browser.get("/", QUESTION | {"host": "10.0.0.7"})

    assert "Yes, allowed" in text(page)
    assert "What holds it up" in text(page)
    assert page.context["answer"].settling == (OWN_HOST,)


def test_a_deny_is_told_as_what_refuses_however_exact_the_allow_is(browser):
    page = browser.get("/", QUESTION | {"principal": "User:dan", "operation": "READ"})

    assert "What refuses it" in text(page)
    assert page.context["answer"].fix[0][0] == "remove"


def test_without_a_host_the_hosts_with_another_answer_are_named(browser):
    page = browser.get("/", QUESTION | {"host": ""})

    assert page.context["answer"].other_hosts == ("10.0.0.7",)
    assert "from any host" in text(page)
    assert "from *" not in text(page)


def test_an_address_is_asked_as_brokers_write_it_and_the_page_says_so(browser):
    page = browser.get("/", QUESTION | {"principal": "User:six", "operation": "READ", "host": "::1"})

    assert "Yes, allowed" in text(page)
    assert "Brokers write the address ::1 as 0:0:0:0:0:0:0:1" in text(page)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"principal": "bob"}, "'bob' has no type; write it as 'User:bob'."),
        ({"name": ""}, "Name the topic that you ask about"),
        ({"host": "search-01.internal"}, "'search-01.internal' is not an address"),
        ({"operation": "CLUSTER_ACTION"}, "No broker asks for Cluster action on a topic"),
    ],
)
def test_a_field_that_will_not_do_says_so_and_keeps_what_was_typed(browser, typed, sentence):
    page = browser.get("/", QUESTION | typed)

    assert page.status_code == 422
    assert sentence in text(page)
    assert "answer" not in page.context or not page.context.get("answer")
    for value in {**QUESTION, **typed}.values():
        assert value in text(page)


def test_what_is_undeclared_and_could_turn_the_answer_is_said_beside_it(browser, cluster):
    type(cluster).objects.update(super_users=None, allow_everyone=None)

    page = browser.get("/", QUESTION)

    assert "Nobody has declared this cluster's super users" in text(page)


def test_htmx_gets_only_the_part_that_it_swaps_in(browser):
    page = browser.get("/", QUESTION, headers={"HX-Request": "true"})

    assert "No, refused" in text(page)
    assert "<html" not in text(page)
    assert "HX-Request" in page["Vary"]


def test_going_back_in_the_browser_gets_the_whole_page(browser):
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}

    assert "<html" in text(browser.get("/", QUESTION, headers=headers))


def test_the_explain_page_lists_every_rule_that_touches_it_nearest_first(browser, cluster):
    page = browser.get(f"/c/{cluster.slug}/explain/", QUESTION)

    assert len(page.context["rows"]) == 5
    assert page.context["rows"][0].binding == OWN_HOST
    assert page.context["rows"][0].parts == (("principal", True), ("host", False), ("operation", True))
    assert "NO_ALLOW_ACL" in text(page)


def test_the_explain_page_without_a_question_says_what_to_ask(browser, cluster):
    assert "Ask about one client and one resource" in text(browser.get(f"/c/{cluster.slug}/explain/"))


def test_a_name_can_neither_become_markup_nor_turn_the_text_around(browser):
    hostile = "User:<script>alert(1)</script>\u202egpj.exe\n"

    page = browser.get("/", QUESTION | {"principal": hostile})

    shown = page.content.decode()
    assert "<script>alert" not in shown
    assert "\u202e" not in unescape(shown).replace(
        hostile, ""
    )  # the form's own field keeps it as it was typed
    assert "\\u202e" in shown


def test_somebody_without_any_cluster_is_told_who_can_help(eve, signed_in):
    page = signed_in(eve).get("/")

    assert page.status_code == 200
    assert "There is no cluster that you may look at" in text(page)


@pytest.mark.parametrize("door", ["/", "/c/test-eu/explain/"])
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_cluster_that_was_never_read_gives_no_verdict(cluster, cho, signed_in, door, headers):
    asked = {"principal": "User:bob", "operation": "READ", "type": "TOPIC", "name": "orders.eu", "host": ""}

    page = signed_in(cho).get(door, asked, headers=headers).content.decode()

    assert "Cannot tell yet" in page
    assert "as of" not in page
    assert "has not been read" in page
    assert "data-verdict" not in page
