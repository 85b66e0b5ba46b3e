"""Two drafts that nobody has saved are compared as access; what was typed is never lost, and nothing is stored."""

from __future__ import annotations

import json
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.acl.notation.files import write_delta
from aclweb.acl.simulate import plain
from aclweb.changes.models import Change
from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from aclweb.web.drafts.keeping import LONGEST_LINK
from tests.builders import allow
from tests.inventory.answering_cluster import Answers
from tests.web.diff_rows import shown_rows

TOOL = "kafka-acls --bootstrap-server b:1"
BOB = allow("User:bob", "READ", "orders.eu")
EXACT = f"{TOOL} --add --allow-principal User:eli --operation Read --topic orders.eu"
PREFIX = f"{TOOL} --add --allow-principal User:eli --operation Read --topic orders. --resource-pattern-type prefixed"


@pytest.fixture
def address(cluster) -> str:
    sync(cluster, client=Answers([BOB], topics=[TopicInfo("orders.eu"), TopicInfo("orders.us")]))
    return f"/c/{cluster.slug}/compare/drafts/"


@pytest.fixture
def browser(ada, signed_in):
    return signed_in(ada)


def text(page) -> str:
    return unescape(page.content.decode())


def gains(page) -> set[tuple[str, str]]:
    return {(plain(row.who), plain(row.which)) for row in shown_rows(page)}


def test_the_answer_is_what_the_second_gives_and_the_first_does_not(address, browser):
    page = browser.post(address, {"first": EXACT, "second": PREFIX, "show": "gains"}, follow=True)

    assert gains(page) == {
        ("User:eli", "every topic that starts with 'orders.' (1 now, and all to come), except orders.eu")
    }
    assert "The second draft grants " in text(page)


def test_two_ways_to_say_the_same_differ_in_no_answer(address, browser):
    as_json = json.dumps({"op": "add", **allow("User:eli", "READ", "orders.eu").as_dict()})

    page = browser.post(address, {"first": EXACT, "second": as_json}, follow=True)

    assert "Nobody's access differs" in text(page)


def test_an_edit_as_json_lines_removes_too(address, browser):
    nothing = write_delta(Delta(add=(BOB,)))

    page = browser.post(address, {"first": nothing, "second": write_delta(Delta(remove=(BOB,)))}, follow=True)

    assert page.context["show"] == "loses"
    assert gains(page) == {("User:bob", "orders.eu")}


def test_what_cannot_be_read_is_reported_beside_its_draft_and_stays_in_the_form(address, browser):
    wrong = f"{EXACT}\n{TOOL} --add --allow-principal eli --operation Read --topic stock"

    page = browser.post(address, {"first": wrong, "second": f"{PREFIX}\n{TOOL} --no-such-thing"}, follow=True)

    assert [bool(side["draft"].faults) for side in page.context["sides"]] == [True, True]
    assert wrong in text(page)
    assert f"{TOOL} --no-such-thing</textarea>" in text(page)
    assert "Left out of the second draft" in text(page)
    assert page.context["comparison"].impact.gains
    assert "The lines that could not be read are left out below." in text(page)


@pytest.mark.parametrize("side", ["first", "second"])
def test_a_draft_of_which_nothing_can_be_read_is_compared_with_nothing(address, browser, side):
    page = browser.post(address, {"first": EXACT, "second": PREFIX, side: "no notation at all"}, follow=True)

    assert "comparison" not in page.context
    assert "no notation at all</textarea>" in text(page)
    assert f"Left out of the {side} draft" in text(page)
    assert f"Nothing could be read of the {side} draft" in text(page)
    assert "Nobody's access differs" not in text(page)
    assert "begin with an ACL in JSON" in text(page)
    assert "--format" not in text(page)


def test_a_draft_that_only_asks_for_what_is_so_already_is_compared_all_the_same(address, browser):
    gone = write_delta(Delta(remove=(allow("User:eli", "READ", "never"),)))

    page = browser.post(address, {"first": gone, "second": EXACT}, follow=True)

    assert page.context["sides"][0]["draft"].faults
    assert gains(page) == {("User:eli", "orders.eu")}


def test_a_topic_that_does_not_exist_yet_counts_as_if_both_drafts_had_it(address, browser, cluster):
    whatif = browser.post(
        f"/c/{cluster.slug}/what-if/", {"paste": PREFIX, "new_topic": "orders.new"}, follow=True
    )
    lines = [line.as_text() for line in whatif.context["draft"].lines]
    handed = text(whatif).partition(f'action="{address}"')[2].partition("</form>")[0]

    from_whatif = browser.post(address, {"line": lines, "new_topic": "orders.new"}, follow=True)
    compared = browser.post(
        address,
        {"first": EXACT, "second": PREFIX, "show": "gains", "new_topic": ["orders.new", ""]},
        follow=True,
    )
    without = browser.post(address, {"first": EXACT, "second": PREFIX, "show": "gains"}, follow=True)
    again = browser.get(compared.redirect_chain[0][0])

    assert 'name="new_topic" value="orders.new"' in handed
    assert 'name="new_topic" value="orders.new"' in text(from_whatif)
    ((principal, names),) = gains(without)
    assert "(1 now, and all to come)" in names
    with_one_more = {(principal, names.replace("(1 now", "(2 now"))}
    assert gains(compared) == gains(again) == with_one_more


def test_a_new_topic_that_can_never_be_made_is_reported_and_stays_in_the_form(address, browser):
    page = browser.post(address, {"first": EXACT, "second": PREFIX, "new_topic": "no topic"}, follow=True)

    assert "'no topic' cannot be created: no topic can be called" in text(page)
    assert 'value="no topic"' in text(page)
    assert page.context["comparison"].impact.gains


def test_one_draft_alone_is_read_and_waits_for_the_other(address, browser):
    page = browser.post(address, {"first": EXACT}, follow=True)

    assert "comparison" not in page.context
    assert len(page.context["sides"][0]["draft"].lines) == 1
    assert "Two drafts, side by side" in text(page)


def test_a_what_if_becomes_the_first_draft_line_by_line(address, browser, cluster):
    whatif = browser.post(f"/c/{cluster.slug}/what-if/", {"paste": PREFIX}, follow=True)
    lines = [line.as_text() for line in whatif.context["draft"].lines]

    page = browser.post(address, {"line": lines}, follow=True)

    assert f'action="{address}"' in text(whatif)
    assert page.context["sides"][0]["draft"].lines == whatif.context["draft"].lines


def test_each_draft_opens_as_a_what_if(address, browser):
    page = text(browser.post(address, {"first": EXACT, "second": PREFIX}, follow=True))

    for side in ("first", "second"):
        assert f'form="open-{side}"' in page
        assert f'<form id="open-{side}" method="post" action="/c/test-eu/what-if/"' in page


def test_the_address_is_the_whole_comparison_where_it_is_short_enough(address, browser):
    short = browser.post(address, {"first": EXACT, "second": PREFIX, "show": "gains"}, follow=True)
    long = browser.post(address, {"first": EXACT * 30, "second": PREFIX}, follow=True)

    link = short.redirect_chain[0][0]
    assert parse_qs(urlsplit(link).query)["second"] == [PREFIX]
    assert gains(browser.get(link)) == gains(short)
    assert len(EXACT * 30) > LONGEST_LINK
    assert set(parse_qs(urlsplit(long.redirect_chain[0][0]).query)) == {"draft"}
    assert long.context["sides"][0]["text"] == EXACT * 30


def test_the_rows_are_paged_and_narrowed_and_the_button_pressed_has_the_last_word(
    address, browser, monkeypatch
):
    monkeypatch.setattr("aclweb.web.drafts.comparing.FOLDS_A_PAGE", 1)
    form = {"first": EXACT, "second": f"{PREFIX}\n{PREFIX.replace('User:eli', 'User:fay')}"}

    second = browser.post(address, {**form, "show": ["loses", "gains"], "page": "2"}, follow=True)
    narrowed = browser.post(address, {**form, "show": "gains", "name": "ORDERS.U"}, follow=True)

    assert second.context["show"] == "gains"
    assert (second.context["diff"].number, len(shown_rows(second))) == (2, 1)
    # Whoever gains most comes first.
    assert gains(narrowed) == {("User:fay", "orders.us")}
    assert narrowed.context["diff"].paginator.num_pages == 2


def test_comparing_stores_nothing(address, browser):
    browser.post(address, {"first": EXACT, "second": PREFIX}, follow=True)

    assert not Change.objects.exists()


def test_a_cluster_that_was_never_read_says_so(cluster, browser):
    page = browser.get(f"/c/{cluster.slug}/compare/drafts/", {"first": EXACT, "second": PREFIX})

    assert page.status_code == 200
    assert "Cannot tell yet" in text(page)


def test_the_page_needs_few_queries_however_long_the_drafts_are(
    address, browser, django_assert_max_num_queries
):
    longer = write_delta(Delta(add=tuple(allow(f"User:u{number}", "READ", "stock") for number in range(50))))
    for first in (EXACT, longer):
        sent = browser.post(address, {"first": first, "second": PREFIX})
        with django_assert_max_num_queries(12):
            page = browser.get(sent["Location"])
        assert page.context["comparison"].impact
