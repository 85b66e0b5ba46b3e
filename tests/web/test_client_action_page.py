"""A whole client action is answered call by call: the first that fails, what the client sees, and what is missing."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

import pytest

from aclweb.acl.needs.actions import ACTIONS
from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers
from tests.web.test_ask_pages import plain

RULES = [
    allow("User:bob", "READ", "orders.eu"),
    allow("User:cat", "READ", "orders.eu"),
    allow("User:cat", "READ", "carts", resource_type="GROUP"),
    allow("User:dan", "ALL", "*"),
    deny("User:dan", "WRITE", "orders.", pattern="PREFIXED"),
]


@pytest.fixture
def address(cluster) -> str:
    sync(cluster, client=Answers(RULES, topics=[TopicInfo("orders.eu")], groups=["carts"]))
    return f"/c/{cluster.slug}/explain/client/"


@pytest.fixture
def browser(ada, signed_in):
    return signed_in(ada)


def asked(action: str, who: str, **names: str) -> dict[str, str]:
    return {"principal": who, "action": action, "host": "", **names}


def test_a_consumer_without_its_group_is_told_what_fails_first_and_what_is_missing(address, browser):
    page = browser.get(address, asked("consume", "User:bob", topic="orders.eu", group="carts"))

    answer = page.context["answer"]
    first = next(row for row in answer.calls if row.verdict.first_failing)
    draft = parse_qs(answer.draft_query)["add"]
    assert answer.heading == "No, it would fail"
    assert first.text.startswith("FIND_COORDINATOR (10)")
    assert answer.assessment.error.name == "GROUP_AUTHORIZATION_FAILED"
    assert [json.loads(text)["resource_name"] for text in draft] == ["carts"]
    assert b"GROUP_AUTHORIZATION_FAILED" in page.content
    assert b"the first that fails" in page.content


def test_the_answer_begins_with_one_sentence_and_lists_each_right_with_its_answer(address, browser):
    page = browser.get(address, asked("consume", "User:bob", topic="orders.eu", group="carts"))

    assert (
        "User:bob may not consume (topic orders.eu, group carts): Describe on group carts is refused."
        in plain(page)
    )
    rights = [([each.words for each, _ in rights], need.word) for need, rights in page.context["needs"]]
    assert rights == [
        (["Describe on group carts"], "refused"),
        (["Describe on topic orders.eu"], "allowed"),
        (["Read on group carts"], "refused"),
        (["Read on topic orders.eu"], "allowed"),
    ]


def test_a_name_that_nothing_knows_is_said_beside_the_answer(address, browser):
    typo = browser.get(address, asked("consume", "User:bib", topic="order.eu", group="carts"))
    known = browser.get(address, asked("consume", "User:bob", topic="orders.eu", group="new-group"))
    streams = browser.get(address, asked("streams", "User:bob", topic="orders.eu", group="new-app"))

    assert "There is no topic order.eu on test-eu." in plain(typo)
    assert "names User:bib. Check the spelling" in plain(typo)
    assert "There is no topic order.eu on test-eu." in typo.context["ticket"].text
    assert (known.context["unknown"], streams.context["unknown"]) == ((), ())


def test_a_consumer_with_both_rights_works(address, browser):
    page = browser.get(address, asked("consume", "User:cat", topic="orders.eu", group="carts"))

    assert page.context["answer"].verdict == "allowed"
    assert b"What is missing" not in page.content


def test_what_is_missing_opens_as_a_draft_with_which_it_works(address, browser, cluster):
    page = browser.get(address, asked("consume", "User:bob", topic="orders.eu", group="carts"))
    draft = browser.get(f"/c/{cluster.slug}/what-if/?{page.context['answer'].draft_query}").context["draft"]
    sync(
        cluster,
        client=Answers([*RULES, *draft.delta.add], topics=[TopicInfo("orders.eu")], groups=["carts"]),
    )

    again = browser.get(address, asked("consume", "User:bob", topic="orders.eu", group="carts"))

    assert len(draft.lines) == 1
    assert again.context["answer"].verdict == "allowed"


def test_a_deny_in_the_way_is_shown_and_can_be_tried_away(address, browser, cluster):
    page = browser.get(address, asked("produce", "User:dan", topic="orders.eu"))

    answer = page.context["answer"]
    draft = browser.get(f"/c/{cluster.slug}/what-if/?{answer.removal_query}").context["draft"]
    assert answer.verdict == "refused"
    assert not answer.assessment.missing
    assert [line.binding for line in draft.lines] == [RULES[4]]


def test_each_right_leads_to_its_own_explanation(address, browser, cluster):
    page = browser.get(address, asked("produce", "User:dan", topic="orders.eu"))

    rights = [
        (right, asked.result)
        for row in page.context["answer"].calls
        for asked, rights in row.checks
        for right in rights
    ]
    for right, _result in rights:
        explained = browser.get(f"/c/{cluster.slug}/explain/?{right.question}").context["answer"]
        assert {"none": "refused"}.get(right.mark, right.mark) == explained.verdict


def test_every_action_can_be_chosen_and_asked_with_the_names_that_its_form_has(address, browser):
    for action in ACTIONS:
        form = browser.get(address, {"choose": "1", "action": action}).context["form"]
        names = {field.name: "stock" for field in form.role_fields}

        page = browser.get(address, asked(action, "User:bob", **names))

        assert page.status_code == 200, action
        assert page.context["answer"].calls, action
        assert form.needed <= names.keys(), action


def test_a_name_that_is_needed_is_asked_for_at_its_field(address, browser):
    page = browser.get(address, asked("consume", "User:bob", topic="orders.eu"))

    assert page.status_code == 422
    assert "the group" in page.context["form"].errors["group"][0]
    assert "answer" not in page.context


@pytest.mark.parametrize(
    "given",
    [
        {"principal": "bob"},
        {"principal": ""},
        {"host": "bobs-laptop"},
        {"action": "fly"},
        {"topic": "x\x00y"},
        {"topic": "<script>alert(1)</script>"},
        {"principal": "User:<script>alert(1)</script>"},
    ],
)
def test_hostile_or_wrong_words_are_answered_with_a_page(given, address, browser):
    page = browser.get(address, asked("produce", "User:bob", topic="t") | given)

    assert page.status_code in (200, 422)
    assert b"<script>alert" not in page.content


def test_choosing_another_action_keeps_what_was_typed_and_asks_nothing(address, browser):
    page = browser.get(address, {"choose": "1", **asked("consume", "User:bob", topic="orders.eu")})

    assert "answer" not in page.context
    assert page.context["form"]["topic"].value() == "orders.eu"
    assert [field.name for field in page.context["form"].role_fields] == ["topic", "group"]


def test_the_past_is_answered_and_gives_no_draft(address, browser, cluster):
    sync(cluster, client=Answers(RULES[:2], topics=[TopicInfo("orders.eu")], groups=["carts"]))

    question = asked("consume", "User:cat", topic="orders.eu", group="carts")
    now = browser.get(address, question)
    then = browser.get(address, {**question, "as_of": "1"})
    earlier = browser.get(address, {**asked("produce", "User:bob", topic="orders.eu"), "as_of": "1"})

    assert now.context["answer"].verdict == "refused"
    assert then.context["answer"].verdict == "allowed"
    assert b"what-if/?" not in earlier.content


def test_htmx_gets_only_the_part_and_the_page_needs_few_queries(
    address, browser, django_assert_max_num_queries
):
    with django_assert_max_num_queries(12):
        browser.get(address, asked("consume", "User:bob", topic="orders.eu", group="carts"))
    part = browser.get(
        address, asked("produce", "User:bob", topic="orders.eu"), headers={"HX-Request": "true"}
    )

    assert b"<html" not in part.content
    assert b'id="answer"' in part.content


# --- from every host ---------------------------------------------------------------------------


@pytest.fixture
def narrow(address, cluster) -> str:
    """Eve may read from 10.20.6.21 alone, and Fay from there and from a range that lacks the group."""
    sync(
        cluster,
        client=Answers(
            [
                allow("User:eve", "READ", "orders.eu", host="10.20.6.21"),
                allow("User:eve", "READ", "carts", resource_type="GROUP"),
                allow("User:fay", "READ", "orders.eu", host="10.20.6.21"),
                allow("User:fay", "READ", "carts", resource_type="GROUP", host="10.20.6.22"),
            ],
            topics=[TopicInfo("orders.eu")],
            groups=["carts"],
        ),
    )
    return address


def test_a_client_that_works_from_one_host_alone_depends_on_the_host(narrow, browser):
    page = browser.get(narrow, asked("consume", "User:eve", topic="orders.eu", group="carts"))

    told = plain(page)
    assert page.context["answer"].verdict == "depends"
    assert "It depends on the host" in told
    assert "works from 10.20.6.21, fails from every other host" in told
    assert "What is missing" not in told
    assert "No, it would fail" not in told
    assert "may not Describe topic orders.eu from any host" not in told


def test_each_part_of_the_hosts_shows_its_own_calls(narrow, browser):
    question = asked("consume", "User:eve", topic="orders.eu", group="carts")

    elsewhere = browser.get(narrow, question)
    here = browser.get(narrow, {**question, "at": "10.20.6.21"})

    assert "Its calls from every other host" in plain(elsewhere)
    assert "may not Describe topic orders.eu from any other host" in plain(elsewhere)
    assert elsewhere.context["answer"].assessment.outcome.name == "FAILS"
    assert "at=10.20.6.21" in elsewhere.content.decode()
    assert "Its calls from 10.20.6.21" in plain(here)
    assert here.context["answer"].assessment.outcome.name == "WORKS"
    assert here.context["answer"].verdict == "depends"


def test_what_is_missing_is_offered_for_one_host_and_never_for_all(narrow, browser):
    question = asked("consume", "User:fay", topic="orders.eu", group="carts")

    elsewhere = browser.get(narrow, question).context["answer"]
    there = browser.get(narrow, {**question, "at": "10.20.6.21"}).context["answer"]

    assert (elsewhere.heading, elsewhere.assessment.missing) == ("No, it would fail", ())
    assert [(acl.resource_name, acl.host) for acl in there.assessment.missing] == [("carts", "10.20.6.21")]


def test_an_unknown_part_shows_every_other_host(narrow, browser):
    question = asked("consume", "User:eve", topic="orders.eu", group="carts")

    page = browser.get(narrow, {**question, "at": "<b>nowhere"})

    assert "Its calls from every other host" in plain(page)


def test_a_bare_name_is_said_to_be_read_as_a_user(address, browser):
    page = browser.get(address, asked("produce", "bob", topic="orders.eu"))

    assert "'bob' has no type, so it is read as 'User:bob'." in plain(page)


def test_an_address_in_another_spelling_is_said_to_be_asked_as_brokers_write_it(address, browser):
    page = browser.get(address, asked("produce", "User:bob", topic="orders.eu") | {"host": "::1"})

    assert "Brokers write the address ::1 as 0:0:0:0:0:0:0:1" in plain(page)
