"""An answer copies as one paragraph and as Markdown, and says there what the page says."""

from __future__ import annotations

import re
from html import unescape

import pytest

from aclweb.clusters import TopicInfo
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

OWN_HOST = allow("User:bob", "WRITE", "orders.", pattern="PREFIXED", host="10.0.0.7")
QUESTION = {
    "principal": "User:bob",
    "operation": "WRITE",
    "type": "TOPIC",
    "name": "orders.eu",
    "host": "10.0.0.8",
}
CLIENT = {"principal": "User:bob", "action": "produce", "topic": "orders.eu", "host": "10.0.0.8"}


@pytest.fixture
def browser(cluster, ada, signed_in):
    acls = [
        OWN_HOST,
        deny("User:dan", "READ", "orders.", pattern="PREFIXED"),
        allow("User:`a`*b*", "READ", "orders.eu"),
    ]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("orders.eu")], groups=["billing"]))
    return signed_in(ada)


def fields(page) -> dict[str, str]:
    """The texts of the page's fields to copy from, by id."""
    found = re.findall(
        r'<textarea[^>]* id="(ticket-\w+)"[^>]*>(.*?)</textarea>', page.content.decode(), re.DOTALL
    )
    return {name: unescape(text) for name, text in found}


@pytest.mark.parametrize("address", ["/", "/c/test-eu/explain/"])
def test_an_answer_has_its_text_and_its_markdown_in_fields(browser, address):
    page = browser.get(address, QUESTION)
    ticket = fields(page)

    assert ticket["ticket-text"].startswith("No, refused. ")
    assert page.context["answer"].sentence in ticket["ticket-text"]
    assert "(test-eu, revision 1, read 20" in ticket["ticket-text"]
    lines = ticket["ticket-markdown"].splitlines()
    assert lines[0].startswith("**No, refused.** ")
    assert "- Principal: `User:bob`" in lines
    assert "- Operation: Write" in lines
    assert "- Resource: topic `orders.eu`" in lines
    assert "- Host: `10.0.0.8`" in lines
    assert "- add: Allow User:bob to Write to topic orders.eu from 10.0.0.8" in lines


def test_the_address_in_it_asks_the_same_again(browser):
    page = browser.get("/", QUESTION)
    (address,) = re.findall(r"<http://testserver(/\S+)>", fields(page)["ticket-markdown"])

    assert browser.get(address).context["answer"].request == page.context["answer"].request


def test_an_answer_that_depends_lists_its_hosts_and_offers_no_edit(browser):
    markdown = fields(browser.get("/", QUESTION | {"host": ""}))["ticket-markdown"]

    assert "- Host: any host" in markdown
    assert "- from 10.0.0.7: allowed\n- from every other host: refused" in markdown
    assert "add:" not in markdown


def test_a_name_that_is_not_known_is_told_and_gets_no_edit(browser):
    ticket = fields(browser.get("/", QUESTION | {"name": "order.eu"}))

    assert "There is no topic order.eu on test-eu." in ticket["ticket-text"]
    assert "To mind:\n\n- There is no topic order.eu on test-eu." in ticket["ticket-markdown"]
    assert "add:" not in ticket["ticket-markdown"]


def test_what_is_undeclared_is_said_in_it_too(browser):
    Cluster.objects.update(super_users=None, allow_everyone=None)

    assert (
        "Nobody has declared this cluster's super users" in fields(browser.get("/", QUESTION))["ticket-text"]
    )


def test_no_name_can_be_markup_in_it(browser):
    asked = {"principal": "User:`a`*b*", "operation": "READ", "host": ""}

    markdown = fields(browser.get("/", QUESTION | asked))["ticket-markdown"]

    assert "- Principal: `` User:`a`*b* ``" in markdown
    sentences = [line for line in markdown.splitlines() if not re.match(r"- \w+: .*`$|<http", line)]
    assert not [line for line in sentences if re.search(r"(?<!\\)[`_\[]", line)]
    assert re.findall(r"(?<!\\)\*+", "".join(sentences)) == ["**", "**"]


def test_a_line_end_in_a_name_begins_no_line_of_its_own(browser):
    asked = {"principal": "User:x\n# Approved", "operation": "READ", "host": ""}

    ticket = fields(browser.get("/", QUESTION | asked))

    assert not [line for text in ticket.values() for line in text.splitlines() if line.startswith("# ")]
    assert "\n" not in ticket["ticket-text"]


def test_a_client_action_copies_with_what_is_missing(browser):
    page = browser.get("/c/test-eu/explain/client/", CLIENT)
    ticket = fields(page)

    assert ticket["ticket-text"].startswith("No, it would fail. ")
    markdown = ticket["ticket-markdown"]
    assert "- Client action: `produce`" in markdown
    assert "What is missing:\n\n- Allow User:bob to Write to topic orders.eu from 10.0.0.8" in markdown
    assert "TOPIC\\_AUTHORIZATION\\_FAILED (29)" in markdown
    assert "<http://testserver/c/test-eu/explain/client/?principal=User%3Abob" in markdown


def test_a_page_without_an_answer_has_nothing_to_copy(browser):
    assert fields(browser.get("/")) == {}
    assert fields(browser.get("/c/test-eu/explain/client/")) == {}
