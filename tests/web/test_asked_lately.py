"""The home page lists what the same person asked last on the cluster, each as a link that asks it again."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from aclweb.web.ask import asked_lately
from aclweb.web.models import AskedLately
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

pytestmark = pytest.mark.django_db

ACLS = [
    allow("User:bob", "READ", "orders.eu"),
    allow("User:bob", "READ", "bob-app", resource_type="GROUP"),
    allow("User:cat", "READ", "orders.eu", host="10.0.0.7"),
    deny("User:dan", "READ", "orders.eu"),
]
RAW = {"operation": "READ", "type": "TOPIC", "name": "orders.eu", "host": "*"}
CONSUME = {"principal": "User:bob", "action": "consume", "topic": "orders.eu", "group": "bob-app", "host": ""}
CLIENT = "/c/test-eu/explain/client/"
HOME = "/?cluster=test-eu"


@pytest.fixture
def synced(cluster):
    sync(cluster, client=Answers(ACLS, topics=[TopicInfo("orders.eu")]))
    return cluster


@pytest.fixture
def browser(synced, ada, signed_in):
    return signed_in(ada)


def ask(browser, principal="User:bob", page="/", **fields):
    answer = browser.get(page, {"cluster": "test-eu", **RAW, "principal": principal, **fields})
    assert answer.status_code == 200
    assert "answer" in answer.context


def listed(browser, page=HOME) -> list[str]:
    found = re.search(r'<div class="asked">.*?<ul>(.*?)</ul>', browser.get(page).content.decode(), re.DOTALL)
    lines = re.findall(r"<li>(.*?)</li>", found[1] if found else "", re.DOTALL)
    words = [re.sub(r'<svg [^>]*aria-label="([^"]*)"[^>]*>', r"\1: ", line) for line in lines]
    return [" ".join(unescape(re.sub("<[^>]*>", " ", each)).split()) for each in words]


def test_what_was_asked_is_listed_with_the_answer_of_then_newest_first(browser):
    ask(browser)
    ask(browser, "User:dan", page="/c/test-eu/explain/")
    ask(browser, "User:cat", operation="WRITE", host="10.0.0.7")
    ask(browser, "User:cat")
    browser.get(CLIENT, CONSUME)

    assert [re.sub(r" \d+ s ago$", "", line) for line in listed(browser)] == [
        "was allowed: User:bob consume topic orders.eu group bob-app",
        "depended on the host: User:cat Read topic orders.eu",
        "was refused: User:cat Write topic orders.eu from 10.0.0.7",
        "was refused: User:dan Read topic orders.eu",
        "was allowed: User:bob Read topic orders.eu",
    ]
    assert len(listed(browser, f"{HOME}&raw=1")) == 5


def test_a_link_asks_the_same_again(browser):
    ask(browser, "User:cat", type="ANY_TOPIC", name="", operation="WRITE")
    browser.get(CLIENT, CONSUME)

    for _, address in browser.get(HOME).context["lately"]:
        assert "answer" in browser.get(address).context

    assert [asked.fields["principal"] for asked, _ in browser.get(HOME).context["lately"]] == [
        "User:cat",
        "User:bob",
    ]


def test_asking_again_moves_it_up_and_only_the_last_few_are_kept(browser):
    for number in range(asked_lately.MOST_KEPT + 2):
        ask(browser, f"User:{number}")
    ask(browser, "User:5")

    found = [asked.principal for asked, _ in browser.get(HOME).context["lately"]]
    assert found == ["User:5", "User:7", "User:6", "User:4", "User:3", "User:2"]


def test_nobody_else_and_no_other_cluster_shows_it(synced, other_cluster, ben, root, signed_in):
    browser = signed_in(root)
    ask(browser)

    assert listed(signed_in(ben)) == []
    assert listed(browser, f"/?cluster={other_cluster.slug}") == []
    assert len(listed(signed_in(root))) == 1, "in whichever browser"


def test_what_gets_no_answer_and_what_is_asked_of_the_past_is_not_kept(browser, synced):
    sync(synced, client=Answers(ACLS[1:], topics=[TopicInfo("orders.eu")]))
    browser.get("/", {"cluster": "test-eu", **RAW, "principal": ""})
    browser.get("/", {"cluster": "test-eu", **RAW, "principal": "User:bob", "choose": "1"})
    browser.get("/c/test-eu/explain/", {**RAW, "principal": "User:bob", "as_of": "1"})
    browser.get(CLIENT, {**CONSUME, "as_of": "1"})
    browser.get(CLIENT, {**CONSUME, "topic": ""})

    assert not AskedLately.objects.exists()


def test_what_is_long_or_looks_like_a_key_is_not_kept(synced, ada):
    for name in ("x" * asked_lately.LONGEST, "-----BEGIN PRIVATE KEY-----"):
        asked_lately.note(
            ada, synced, {**RAW, "principal": "User:bob", "type": "GROUP", "name": name}, "allowed"
        )

    assert not AskedLately.objects.exists()


def test_the_next_page_of_an_answer_is_not_another_question(browser):
    ask(browser, page="/c/test-eu/explain/")
    row = AskedLately.objects.get()

    ask(browser, page="/c/test-eu/explain/", page_number="2")

    assert AskedLately.objects.get().questions == row.questions


def test_a_person_can_have_them_forgotten(browser, signed_in, ben):
    ask(browser)
    ask(signed_in(ben))

    assert browser.get("/c/test-eu/asked/forget/").status_code == 302
    assert len(listed(browser)) == 1
    answer = browser.post("/c/test-eu/asked/forget/", follow=True)

    assert answer.redirect_chain == [(HOME, 302)]
    assert listed(browser) == []
    assert len(listed(signed_in(ben))) == 1


def test_they_go_with_the_account_and_with_the_cluster(browser, ada, synced):
    ask(browser)
    (row,) = AskedLately.objects.all()
    on_delete = {
        field.name: field.remote_field.on_delete.__name__ for field in row._meta.fields if field.is_relation
    }

    assert on_delete == {"owner": "CASCADE", "cluster": "CASCADE"}


def test_hostile_names_are_shown_as_text_and_survive_the_link(browser):
    name = "<script>\u202e&group=x"
    ask(browser, f"User:{name}", type="GROUP", name=name)

    page = browser.get(HOME)
    assert "<script>\u202e" not in page.content.decode()
    ((asked, address),) = page.context["lately"]
    assert browser.get(address).context["answer"].request.resource_name == name
    assert asked.principal == f"User:{name}"


def test_an_answer_is_shown_where_it_cannot_be_kept(browser, monkeypatch):
    def refuse(*_, **__):
        raise DatabaseError("database is locked")

    monkeypatch.setattr(AskedLately.objects, "create", refuse)

    ask(browser)

    assert not AskedLately.objects.exists()


@pytest.mark.parametrize("word", ['"allowed"', '"TOPIC"'])
def test_a_question_of_another_release_is_left_out(browser, word):
    ask(browser, "User:bob")
    row = AskedLately.objects.get()
    AskedLately.objects.update(questions=row.questions.replace(word, '"newer"'))

    assert listed(browser) == []


def test_of_two_questions_at_once_one_may_be_left_out_and_the_list_stays_whole(synced, ada, monkeypatch):
    fields = {**RAW, "principal": "User:bob"}
    asked_lately.note(ada, synced, fields, "allowed")
    written, others = (
        asked_lately._written,
        AskedLately.objects.get().questions.replace("User:bob", "User:cat"),
    )

    def while_another_writes(questions):
        AskedLately.objects.update(questions=others)
        return written(questions)

    monkeypatch.setattr(asked_lately, "_written", while_another_writes)
    asked_lately.note(ada, synced, {**fields, "operation": "WRITE"}, "refused")

    assert AskedLately.objects.get().questions == others


def test_asking_takes_two_queries_more_and_listing_none(browser):
    browser.get(HOME)
    with CaptureQueriesContext(connection) as without:
        browser.get(HOME)
    ask(browser)
    with CaptureQueriesContext(connection) as listing:
        assert listed(browser)
    with CaptureQueriesContext(connection) as asking:
        ask(browser, "User:cat")

    assert len(listing) <= len(without)
    assert sum("web_askedlately" in query["sql"] for query in asking) == 3, (
        "one with the clusters, two of its own"
    )
