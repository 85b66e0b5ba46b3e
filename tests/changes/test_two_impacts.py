"""A change whose impact is another one now shows both beside each other, and its author is asked to submit it again."""

from __future__ import annotations

import re

import pytest

from aclweb.audit import trail
from aclweb.changes import queries, review
from aclweb.changes.models import ChangeError
from aclweb.web.changes.two_impacts import two_impacts
from tests.builders import allow, deny
from tests.changes.conftest import WISH, reread

pytestmark = pytest.mark.django_db

OTHER = allow("User:audit", "READ", "payments.us")
DENIAL = deny("User:ledger", "READ", "payments.eu")


def address(change) -> str:
    return f"/changes/CR-{change.pk}/"


def in_words(answer) -> str:
    text = re.sub(r"<[^>]+>", " ", answer.content.decode())
    return re.sub(r"\s+", " ", text)


@pytest.fixture
def stale(cluster, kafka, ask, ada):
    """A change that would give two principals a right, and since then a DENY stops one of them."""
    change = review.submit(change=ask(WISH, OTHER), actor=ada)
    kafka.edit(add=[DENIAL])
    reread(cluster)
    return change


def test_what_differs_has_its_acl_and_the_rest_is_the_same(stale, ben):
    both = two_impacts(queries.change_page(stale, ben))

    assert both is not None
    (differing,) = both.differing
    assert (differing.principal, differing.operations) == ("User:ledger", "Read")
    assert (differing.then, differing.now) == ("gains", "")
    assert (differing.added, differing.removed) == ((DENIAL,), ())
    assert (both.more, both.more_same) == (0, 0)
    (same,) = both.same
    assert (same.kind, same.count, same.operations) == ("gains", 2, "Read, Describe")


def test_an_acl_that_is_gone_is_named_and_others_are_not(cluster, kafka, ask, ada, ben):
    kept = allow("User:bob", "READ", "payments.", pattern="PREFIXED")
    reread(cluster)
    kafka.edit(add=[kept, allow("User:bob", "READ", "payments.eu")])
    reread(cluster)
    change = review.submit(change=ask(remove=(allow("User:bob", "READ", "payments.eu"),)), actor=ada)
    kafka.edit(add=[allow("User:eve", "READ", "payments.eu")], remove=[kept])
    reread(cluster)

    both = two_impacts(queries.change_page(change, ben))

    assert both is not None
    assert {(each.principal, each.then, each.now) for each in both.differing} == {("User:bob", "", "loses")}
    assert {each.removed for each in both.differing} == {(kept,)}
    assert {each.added for each in both.differing} == {()}


def test_the_page_marks_what_differs_by_a_word_and_its_head_shows_the_rows_of_either(stale, ben, signed_in):
    browser = signed_in(ben)

    page, now = browser.get(address(stale)), browser.get(address(stale), {"effect": "now"})

    text = in_words(page)
    assert "As submitted" in text
    assert re.search(
        r"differs User:ledger Read on payments\.eu gained gained no such difference not gained Added since: DENY",
        text,
    )
    assert "no difference" in text
    for answer, shown in ((page, "submitted"), (now, "now")):
        (link,) = re.findall(
            r'<a class="two-impacts-rows" href="([^"]+)" aria-current', answer.content.decode()
        )
        assert f"effect={shown}" in link


def test_where_some_of_it_is_done_already_no_group_is_called_the_same(
    cluster, kafka, ask, ada, ben, signed_in
):
    change = review.submit(change=ask(WISH, OTHER), actor=ada)
    kafka.edit(add=[WISH])
    reread(cluster)

    both = two_impacts(queries.change_page(change, ben))

    assert both is not None
    assert (both.differing, both.same, both.more_same) == ([], [], None)
    assert "Show its rows" in in_words(signed_in(ben).get(address(change)))


def test_a_change_that_means_what_it_meant_shows_one_impact(cluster, ask, ada, ben, signed_in):
    change = review.submit(change=ask(WISH), actor=ada)

    assert two_impacts(queries.change_page(change, ben)) is None
    text = signed_in(ben).get(address(change)).content.decode()
    assert "two-impacts" not in text
    assert "submit again" not in text


# --- asking for it ---------------------------------------------------------------------------


def pressed(browser, change, step, **fields):
    return browser.post(f"{address(change)}act/", {"step": step, **fields})


def test_a_reviewer_asks_the_author_with_one_click_and_writes_no_approval(stale, ben, ada, signed_in):
    browser = signed_in(ben)
    assert ">Ask ada to submit again</button>" in browser.get(address(stale)).content.decode()

    assert pressed(browser, stale, "ask-again").status_code == 302

    asked, told = browser.get(address(stale)), signed_in(ada).get(address(stale))
    assert ">Ask ada to submit again</button>" not in asked.content.decode()
    assert "You asked ada to submit it again" in in_words(asked)
    assert "ben asked you to submit it again" in in_words(told)
    assert '<button class="btn btn-primary" name="step" value="submit">Submit again' in told.content.decode()
    stale.refresh_from_db()
    assert (stale.state, stale.approvals.count()) == ("IN_REVIEW", 0)
    assert trail.sentence(trail.trail(stale.key).get(verb="change.asked_again")) == (
        "ben asked ada to submit it again."
    )


def test_what_the_reviewer_typed_is_part_of_it_and_the_author_submits_it_again(stale, ben, ada, signed_in):
    pressed(signed_in(ben), stale, "ask-again", comment="And leave audit out?")
    assert stale.comments.get().text.endswith("reviewed.\nAnd leave audit out?")

    assert pressed(signed_in(ada), stale, "submit").status_code == 302

    page = signed_in(ben).get(address(stale))
    assert 'value="approve"' in page.content.decode()
    assert "submit again" not in page.content.decode()


def test_nobody_is_asked_twice_or_without_a_reason_or_by_who_may_not_decide(
    stale, ask, ada, ben, cho, signed_in
):
    review.ask_again(change=stale, reviewer=ben)
    with pytest.raises(ChangeError, match="You have asked ada already to submit"):
        review.ask_again(change=stale, reviewer=ben)
    for person in (ada, cho):
        with pytest.raises(ChangeError):
            review.ask_again(change=stale, reviewer=person)
        assert pressed(signed_in(person), stale, "ask-again").status_code == 422

    fresh = review.submit(change=ask(OTHER), actor=ada)
    with pytest.raises(ChangeError, match="is still the one that was submitted"):
        review.ask_again(change=fresh, reviewer=ben)
    assert (stale.comments.count(), fresh.comments.count()) == (1, 0)


def test_a_change_that_was_submitted_again_may_be_asked_for_again(stale, cluster, kafka, ada, ben):
    review.ask_again(change=stale, reviewer=ben)
    again = review.submit(change=stale, actor=ada)
    kafka.edit(remove=[DENIAL])
    reread(cluster)

    assert review.ask_again(change=again, reviewer=ben).author == ben


def test_a_change_that_was_narrowed_since_may_be_asked_for_again(stale, cluster, kafka, ben):
    type(cluster).objects.update(approvals_needed=2)
    review.ask_again(change=stale, reviewer=ben)
    places = [item.position for item in stale.items.all() if item.binding == OTHER]
    shown = review.preview_of_some(stale, places)
    narrowed = review.approve_some(
        change=stale, reviewer=ben, positions=places, impact_hash=shown.impact_hash
    )
    kafka.edit(add=[deny("User:audit", "READ", "payments.us")])
    reread(cluster)

    assert review.asked_again_by(queries.change_page(narrowed, ben).timeline) == ()
    assert review.ask_again(change=narrowed, reviewer=ben).author == ben


def test_what_somebody_wrote_of_the_change_itself_is_no_acl_of_others(cluster, kafka, ask, ada, ben):
    change = review.submit(change=ask(WISH, OTHER), actor=ada)
    kafka.edit(add=[WISH, DENIAL])
    reread(cluster)

    both = two_impacts(queries.change_page(change, ben))

    assert both is not None
    assert {each.added for each in both.differing} == {(DENIAL,)}
