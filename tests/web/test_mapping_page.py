"""Certificates and Kerberos names as Kafka sees them: who each becomes, by which rule, and why not."""

from __future__ import annotations

from html import unescape

import pytest

from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

PAGE = "/c/test-eu/mapping/"
RULES = r"RULE:^CN=([^,]*),OU=risk.*$/$1/L, RULE:^CN=([^,]*)$/$1/U, DEFAULT"


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(
        cluster,
        client=Answers([allow("User:fraud", "READ", "orders"), allow("User:fraud", "WRITE", "orders")]),
    )
    return signed_in(ada)


def text(page) -> str:
    return unescape(page.content.decode())


def told(page):
    return [
        (client.name, client.identity.principal, client.identity.rule) for client in page.context["clients"]
    ]


def test_an_empty_page_has_an_example_that_can_be_pressed(browser):
    empty = browser.get(PAGE)
    page = browser.get(empty.context["example"])

    assert "mapping/?kind=ssl&amp;rules=" in empty.content.decode()
    assert told(page) == [
        ("CN=fraud-detector,OU=risk,O=Nordhavn", "User:fraud-detector", "RULE:^CN=([^,]*),OU=.*$/$1/L")
    ]


def test_each_subject_is_told_with_its_principal_the_rule_and_the_rules_that_name_it(browser):
    names = "CN=Fraud,OU=risk,O=Nordhavn\r\nCN=bob\r\n\r\nO=Nordhavn,CN=Fraud\r\n"

    page = browser.post(PAGE, {"kind": "ssl", "rules": RULES, "names": names})

    first, second, third = (rule.strip() for rule in RULES.split(", "))
    assert told(page) == [
        ("CN=Fraud,OU=risk,O=Nordhavn", "User:fraud", first),
        ("CN=bob", "User:BOB", second),
        ("O=Nordhavn,CN=Fraud", "User:O=Nordhavn,CN=Fraud", third),
    ]
    assert [client.rules for client in page.context["clients"]] == [2, 0, 0]
    assert "Its pattern does not match the whole name." in text(page)


def test_a_subject_as_openssl_prints_it_is_reported_as_brokers_see_it(browser):
    page = browser.post(
        PAGE, {"kind": "ssl", "rules": RULES, "names": "subject=O = Nordhavn, OU = risk, CN = Fraud"}
    )

    (client,) = page.context["clients"]
    assert (client.seen, client.identity.principal) == ("CN=Fraud,OU=risk,O=Nordhavn", "User:fraud")
    assert "the broker sees" in text(page)


def test_a_principal_builder_of_its_own_leaves_nothing_to_tell(browser):
    page = browser.post(PAGE, {"kind": "ssl", "builder": "com.example.Builder", "names": "CN=bob"})

    assert page.context["clients"][0].identity.cannot_tell
    assert "The broker names clients with com.example.Builder" in text(page)
    assert "cannot tell" in text(page)


def test_without_rules_kafkas_default_leaves_the_subject_as_it_is(browser):
    page = browser.get(PAGE, {"kind": "ssl", "names": "CN=a,O=b"})

    assert told(page) == [("CN=a,O=b", "User:CN=a,O=b", "DEFAULT")]


def test_kerberos_names_are_mapped_with_the_default_realm(browser):
    given = {
        "kind": "kerberos",
        "rules": "DEFAULT",
        "realm": "NORDHAVN.EU",
        "names": "kafka/b1@NORDHAVN.EU\nbob@ELSE",
    }

    page = browser.post(PAGE, given)

    assert [client.identity.principal for client in page.context["clients"]] == ["User:kafka", None]
    assert "No rules apply to bob@ELSE" in text(page)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"kind": "ssl", "rules": "RULE:(/x/", "names": "CN=a"}, "cannot be used"),
        ({"kind": "ssl", "names": " \n"}, ""),
        ({"kind": "ssl", "names": ""}, "Paste at least one name"),
        ({"kind": "ssl", "names": "\n".join(map(str, range(201)))}, "at most 200 fit on a page"),
        ({"kind": "ssl", "realm": "R", "names": "CN=a"}, "Mapping rules for certificates have no realm"),
        ({"kind": "", "names": "CN=a"}, "This field is required"),
    ],
)
def test_what_cannot_be_used_is_reported_at_its_field_and_stays(browser, given, sentence):
    page = browser.post(PAGE, given)

    assert page.status_code == (422 if sentence else 200)
    assert sentence in text(page)
    assert given["names"][:20].strip() in text(page)


def test_a_principal_leads_to_the_question_about_it(browser):
    page = browser.post(PAGE, {"kind": "ssl", "rules": RULES, "names": "CN=bob"})

    link = next(part for part in text(page).split('"') if "/explain/?who=" in part)
    asked = browser.get(link)
    assert asked.status_code == 200
    assert 'value="User:BOB"' in text(asked)


def test_a_short_question_has_an_address_and_a_long_one_has_none(browser):
    short = browser.post(
        PAGE, {"kind": "ssl", "rules": RULES, "names": "CN=bob"}, headers={"HX-Request": "true"}
    )
    long = browser.post(PAGE, {"kind": "ssl", "names": "CN=bob\n" * 200 + "x" * 2_000})

    assert told(browser.get(short["HX-Push-Url"])) == told(short)
    assert "<html" not in text(short)
    assert long.status_code == 422 or "HX-Push-Url" not in long


def test_hostile_names_are_shown_letter_by_letter(browser):
    page = browser.post(PAGE, {"kind": "ssl", "names": "CN=\u202e<script>alert(1)</script>"})

    assert "\\u202e" in text(page)
    assert "<script>alert" not in page.content.decode()


def test_rules_that_take_for_ever_do_not_hold_the_page_up(browser, monkeypatch):
    monkeypatch.setattr("aclweb.web.ask.mapping.LONGEST_SECONDS", 0)
    rules = "RULE:^CN=(a+)+b$/$1/,DEFAULT"

    page = browser.post(PAGE, {"kind": "ssl", "rules": rules, "names": f"CN={'a' * 500}\n" * 50})

    assert len(page.context["clients"]) == 1
    assert "49 more names were not tried" in text(page)


def test_a_cluster_that_was_never_read_is_not_said_to_have_no_rules(cluster, cho, signed_in):
    page = signed_in(cho).post(PAGE, {"kind": "ssl", "names": "CN=bob"})

    assert 'aria-label="cannot tell"' in text(page)
