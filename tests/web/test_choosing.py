"""Where no scripts run, the names for a field are a page: each leads back to the form with the field filled in."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from aclweb.web.browse.choosing import MOST, ROWS_A_PAGE
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

ACLS = [
    allow("User:bob", "READ", "orders.eu", host="10.0.0.7"),
    allow("User:bill", "READ", "carts", resource_type="GROUP"),
    allow("User:tx", "WRITE", "tx-1", resource_type="TRANSACTIONAL_ID"),
]


@pytest.fixture
def browser(cluster, ada, signed_in):
    topics = [TopicInfo("orders.eu"), *(TopicInfo(f"stock.{number:04}") for number in range(MOST + 1))]
    sync(cluster, client=Answers(ACLS, topics=topics, groups=["carts"]))
    return signed_in(ada)


def listed(browser, **fields):
    page = browser.get("/c/test-eu/choose/", fields)
    assert page.status_code == 200
    return [each.name for each, _ in page.context["rows"]]


def test_each_field_lists_its_own_names_that_contain_what_it_holds(browser):
    assert listed(browser, field="principal", back="home", principal="b") == ["User:bill", "User:bob", ]  # fmt: skip
    assert listed(browser, field="host", back="explain", host="") == ["10.0.0.7"]
    assert listed(browser, field="topic", back="client-action", topic="orders") == ["orders.eu"]
    assert listed(browser, field="group", back="client-action", group="") == ["carts"]
    assert listed(browser, field="transactional-id", back="client-action") == ["tx-1"]
    assert listed(browser, field="name", back="explain", type="GROUP", name="") == ["carts"]
    assert listed(browser, field="principal", back="home", principal="b", q="tx") == ["User:tx"]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"back": "home", "action": "consume", "topic": "orders.eu"}, "/"),
        ({"back": "home", "operation": "WRITE", "type": "TOPIC", "name": "orders.eu"}, "/"),
        (
            {"back": "explain", "operation": "WRITE", "type": "TOPIC", "name": "orders.eu"},
            "/c/test-eu/explain/",
        ),
        ({"back": "client-action", "action": "consume", "topic": "orders.eu"}, "/c/test-eu/explain/client/"),
    ],
)
def test_a_name_leads_back_to_the_form_which_keeps_the_rest_and_asks_nothing(browser, fields, place):
    page = browser.get("/c/test-eu/choose/", {"field": "principal", "principal": "bob", **fields})
    ((_, address),) = page.context["rows"]

    form = browser.get(address)

    assert urlsplit(address).path == place
    assert "answer" not in form.context
    assert not form.context["form"].is_bound
    kept = {name: text for name, text in fields.items() if name != "back"}
    values = {name: form.context["form"][name].value() for name in kept if name != "action"}
    assert values == {name: text for name, text in kept.items() if name != "action"}
    assert form.context["form"]["principal"].value() == "User:bob"


def test_the_text_itself_leads_back_too_where_nothing_has_that_name(browser):
    page = browser.get("/c/test-eu/choose/", {"field": "principal", "back": "home", "principal": "bo"})
    text = " ".join(re.sub("<[^>]*>", " ", page.content.decode()).split())

    assert "User:bob 1 ACL" in text
    assert "Ask about User:bo as typed: no ACL names it" in text
    form = browser.get(page.context["typed_address"])
    assert form.context["form"]["principal"].value() == "User:bo"
    assert not form.context["form"].is_bound


def test_long_lists_are_paged_and_end_with_what_to_do(browser):
    asked = {"field": "topic", "back": "home", "topic": "stock"}

    second = browser.get("/c/test-eu/choose/", {**asked, "page": "2"})

    assert next(each.name for each, _ in second.context["rows"]) == f"stock.{ROWS_A_PAGE:04}"
    assert second.context["page"].paginator.count == MOST
    assert "More than 1,000 names contain this; narrow them down." in second.content.decode()


def test_no_known_name_says_what_to_do(browser):
    page = browser.get("/c/test-eu/choose/", {"field": "topic", "back": "home", "topic": "zzz"})

    assert "No known name contains this" in page.content.decode()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"field": "principal"},
        {"field": "principal", "back": "logout"},
        {"field": "operation", "back": "home"},
        {"field": "name", "back": "home", "type": "GALAXY"},
    ],
)
def test_a_field_or_a_form_that_does_not_exist_is_not_there(browser, fields):
    assert browser.get("/c/test-eu/choose/", fields).status_code == 404


def test_the_list_takes_few_queries(browser, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        browser.get("/c/test-eu/choose/", {"field": "topic", "back": "home", "topic": "stock"})


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("/", ["principal", "topic", "group", "host"]),
        ("/?raw=1", ["principal", "name", "host"]),
        ("/c/test-eu/explain/", ["principal", "name", "host"]),
        ("/c/test-eu/explain/client/?choose=1&action=consume", ["principal", "topic", "group", "host"]),
    ],
)
def test_every_field_of_a_question_has_its_list_where_no_scripts_run(browser, page, names):
    text = browser.get(page).content.decode()
    inside = "".join(re.findall(r"<noscript>(.*?)</noscript>", text, re.DOTALL))

    assert re.findall(r'name="field" value="([\w-]+)"', inside) == names
    (back,) = re.findall(r'name="back" value="([\w-]+)"', inside)
    for name in names:
        fields = {"field": name, "back": back, "type": "TOPIC"}
        assert browser.get("/c/test-eu/choose/", fields).status_code == 200


def test_a_hostile_text_becomes_no_markup_and_no_other_address(browser):
    hostile = '"><script>alert(1)</script>&back=logout'
    page = browser.get("/c/test-eu/choose/", {"field": "topic", "back": "home", "principal": hostile})

    assert "<script>alert" not in page.content.decode()
    for _, address in page.context["rows"]:
        assert dict(parse_qsl(urlsplit(unescape(address)).query))["principal"] == hostile
