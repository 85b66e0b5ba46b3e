"""A change is a page with an address: its effect, its rules, who agreed, what happened, and what one may do now."""

from __future__ import annotations

import json
import re

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.acl.notation import binding_key
from aclweb.changes import kept, review
from aclweb.changes.models import Change
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.web.test_replay_card import logged, synced  # noqa: F401 fixtures

DELTA = Delta(add=(allow("User:cat", "READ", "orders."), deny("User:dan", "READ", "orders.eu")), remove=())


@pytest.fixture
def waiting(cluster, ada) -> Change:
    with FakeCluster(bindings=[allow("User:bob", "READ", "orders.eu")], topics=["orders.eu"]) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    change = review.draft(
        cluster=cluster, author=ada, title="Let cat read <orders>", reason="Cats.", delta=DELTA
    )
    return review.submit(change=change, actor=ada)


def address(change: Change) -> str:
    return f"/changes/CR-{change.pk}/"


def test_the_page_shows_effect_acls_in_safe_order_and_who_may_approve(waiting, ben, signed_in):
    page = signed_in(ben).get(address(waiting))

    shown = page.context["page"]
    assert [step.title for step in shown.steps] == ["Add DENY ACLs", "Add ALLOW ACLs"]
    assert shown.acts["approve"].allowed
    assert b"Let cat read &lt;orders&gt;" in page.content
    assert b"ben" in page.content


@pytest.mark.parametrize(
    ("writing", "button", "told"),
    [(True, "Approve and run", "starts the run."), (False, "Approve", "then its commands can be copied.")],
)
def test_the_last_approver_is_told_what_follows(waiting, ben, signed_in, writing, button, told):
    waiting.cluster.changes_enabled = writing
    waiting.cluster.save()

    page = signed_in(ben).get(address(waiting)).content.decode()

    assert f'value="approve">{button}</button>' in page
    assert f"Your approval is the last one needed{' and' if writing else ';'} {told}" in page


@pytest.mark.parametrize(
    ("writing", "told"),
    [
        (True, "Somebody else must approve it; then a worker writes it and reads it back."),
        (False, "Somebody else must approve it. Writing to test-eu is switched off"),
    ],
)
def test_a_what_if_tells_what_follows_an_approval(waiting, ada, signed_in, writing, told):
    waiting.cluster.changes_enabled = writing
    waiting.cluster.save()
    line = json.dumps({"op": "add", **DELTA.add[0].as_dict()})

    assert told in signed_in(ada).get("/c/test-eu/what-if/", {"line": line}).content.decode()


def test_the_author_sees_no_button_to_approve(waiting, ada, signed_in):
    page = signed_in(ada).get(address(waiting))

    assert b'value="approve"' not in page.content
    assert b'value="withdraw"' in page.content


def test_the_author_who_posts_an_approval_all_the_same_is_refused_with_the_reason(waiting, ada, signed_in):
    answer = signed_in(ada).post(
        address(waiting) + "act/", {"step": "approve", "plan_hash": waiting.plan_hash}
    )

    waiting.refresh_from_db()
    assert answer.status_code == 422
    assert b"somebody else must" in answer.content
    assert waiting.state == Change.State.IN_REVIEW


def test_the_last_approval_hands_the_change_to_a_worker(waiting, ben, signed_in):
    answer = signed_in(ben).post(
        address(waiting) + "act/", {"step": "approve", "plan_hash": waiting.plan_hash}
    )

    waiting.refresh_from_db()
    assert answer.status_code == 302
    assert waiting.state == Change.State.QUEUED


def test_an_approval_of_a_plan_that_was_edited_meanwhile_does_not_count(waiting, ben, signed_in):
    answer = signed_in(ben).post(address(waiting) + "act/", {"step": "approve", "plan_hash": "0" * 64})

    waiting.refresh_from_db()
    assert answer.status_code == 422
    assert waiting.state == Change.State.IN_REVIEW


def test_a_rejection_needs_a_reason_and_keeps_what_was_typed(waiting, ben, signed_in):
    browser = signed_in(ben)

    refused = browser.post(address(waiting) + "act/", {"step": "reject", "comment": " "})
    done = browser.post(address(waiting) + "act/", {"step": "reject", "comment": "Too wide."})

    waiting.refresh_from_db()
    assert refused.status_code == 422
    assert done.status_code == 302
    assert waiting.state == Change.State.REJECTED


def test_an_unknown_step_changes_nothing(waiting, ben, signed_in):
    answer = signed_in(ben).post(address(waiting) + "act/", {"step": "explode"})

    assert answer.status_code == 422


def test_a_change_of_another_cluster_does_not_exist(waiting, eve, signed_in):
    browser = signed_in(eve)

    assert browser.get(address(waiting)).status_code == 404
    assert browser.post(address(waiting) + "act/", {"step": "approve"}).status_code == 404
    assert list(browser.get("/changes/").context["page"].object_list) == []


def test_the_list_opens_with_what_waits_for_me_and_keeps_its_tab_in_the_address(waiting, ben, signed_in):
    browser = signed_in(ben)

    first = browser.get("/changes/")
    mine = browser.get("/changes/?tab=mine")

    assert [row.change for row in first.context["page"].object_list] == [waiting]
    assert first.context["inbox"].tab == "waiting"
    assert mine.context["page"].object_list == ()
    assert b"waits for you" in first.content


def test_a_page_under_way_asks_again_by_itself_and_a_finished_one_does_not(waiting, ben, signed_in):
    browser = signed_in(ben)
    before = browser.get(address(waiting))
    Change.objects.filter(pk=waiting.pk).update(state=Change.State.APPLYING)

    during = browser.get(address(waiting), headers={"HX-Request": "true"})

    assert b'hx-trigger="every' not in before.content
    assert b'hx-trigger="every' in during.content
    assert b"<html" not in during.content


def test_the_audit_trail_shows_what_one_may_see_and_nothing_else(waiting, ben, eve, signed_in):
    seen = signed_in(ben).get("/events/")
    hidden = signed_in(eve).get("/events/")

    assert waiting.key in {row.target for row in seen.context["page"].object_list}
    assert hidden.context["page"].object_list == ()


def test_the_audit_trail_filters_by_actor_in_the_address(waiting, ben, signed_in):
    page = signed_in(ben).get("/events/?actor=ada")

    assert {row.actor for row in page.context["page"].object_list} == {"ada"}


def test_a_change_says_whose_names_it_matches(waiting, ben, signed_in):
    page = address(waiting)
    assert "Whose names it matches" not in signed_in(ben).get(page).content.decode()

    rows = waiting.cluster.owned_names
    rows.create(kind="TOPIC", pattern_type="PREFIXED", name="orders.", owner="payments", labels="restricted")
    text = signed_in(ben).get(page).content.decode()

    assert "Whose names it matches" in text
    assert '<b>payments</b> <span class="badge" data-tone="warn">restricted</span>' in text


def test_the_pages_need_few_queries(waiting, ben, signed_in, django_assert_max_num_queries):
    browser = signed_in(ben)

    for path in ("/changes/", "/events/"):
        with django_assert_max_num_queries(12):
            browser.get(path)
    with django_assert_max_num_queries(12):
        browser.get(address(waiting))


def test_comments_and_a_log_cost_a_change_that_waits_no_more_queries_than_twelve(
    logged,  # noqa: F811
    ada,
    ben,
    signed_in,
    django_assert_max_num_queries,
):
    gone = allow("User:bob", "READ", "orders")
    asked = review.draft(
        cluster=logged,
        author=ada,
        title="t",
        reason="",
        delta=Delta(add=(allow("User:zoe", "READ", "stock"),), remove=(gone,)),
    )
    asked = review.submit(change=asked, actor=ada)
    review.comment(change=asked, actor=ada, text="On the whole.")
    review.comment(change=asked, actor=ada, text="On one.", acl_key=binding_key(gone))
    browser = signed_in(ben)
    browser.get(address(asked))

    kept.forget()
    with django_assert_max_num_queries(12):
        browser.get(address(asked))
    with django_assert_max_num_queries(11):
        page = browser.get(address(asked))
    text = page.content.decode()
    assert "On the whole." in text
    assert "On one." in text
    assert page.context["page"].replay is not None


def test_the_copied_commands_are_those_of_every_acl_of_a_long_change(cluster, ada, signed_in):
    many = tuple(allow("User:eli", "READ", f"stock.{number:03}") for number in range(205))
    change = review.draft(cluster=cluster, author=ada, title="t", reason="", delta=Delta(add=many))
    browser = signed_in(ada)

    page = browser.get(f"/changes/{change.key}/").content.decode()
    lines = b"".join(browser.get(f"/changes/{change.key}/commands/").streaming_content).decode().splitlines()

    assert f'data-copy-url="/changes/{change.key}/commands/"' in page
    assert "Copy all 205" in page
    assert [line.split("--topic ")[1] for line in lines[1:]] == [
        f"stock.{number:03}" for number in range(205)
    ]


def test_what_is_written_already_is_reported_before_anybody_decides(waiting, cluster, ben, signed_in):
    with FakeCluster(
        bindings=[allow("User:bob", "READ", "orders.eu"), *DELTA.add], topics=["orders.eu"]
    ) as fake:
        sync(cluster, client=fake)

    page = signed_in(ben).get(address(waiting))
    before = signed_in(ben).get(address(waiting), {"effect": "submitted"})

    told = page.content.decode()
    assert "All its ACLs are in force already. Now it would change nothing." in told
    assert "same as when submitted" not in told
    assert page.context["effect"].gains == 0
    assert before.context["effect"].gains > 0
    bar = told[told.index("decision-text") :]
    assert "Now it would change nothing." in bar
    assert "gains" not in bar


def test_comments_a_ticket_and_some_acls_alone_on_the_page(cluster, waiting, ada, ben, signed_in):
    change = review.request(
        cluster=cluster,
        author=ada,
        title="Two",
        ticket="https://tickets.example/FIN-1",
        delta=Delta(add=(allow("User:eli", "READ", "stock"), allow("User:eli", "WRITE", "stock"))),
    )
    browser = signed_in(ben)

    page = browser.get(address(change), {"on": "1"})
    assert '<a href="https://tickets.example/FIN-1" rel="noreferrer noopener"' in page.text
    key = page.context["comment_on"]["key"]
    assert f'type="hidden" name="on" value="{key}"' in page.text
    said = browser.post(
        f"{address(change)}act/", {"step": "comment", "text": "<b>Why?</b>", "on": key}, follow=True
    )
    assert "&lt;b&gt;Why?&lt;/b&gt;" in said.text
    empty = browser.post(f"{address(change)}act/", {"step": "comment", "text": "", "on": key})
    assert (empty.status_code, "needs some words" in empty.text) == (422, True)
    assert f'type="hidden" name="on" value="{key}"' in empty.text

    one = browser.get(address(change), {"only": "0"})
    assert "What 1 of the 2 ACLs would do by itself" in one.text
    none = browser.get(address(change), {"only": "7"})
    assert "none is chosen" in none.text
    done = browser.post(
        f"{address(change)}act/",
        {
            "step": "approve-some",
            "only": "0",
            "plan_hash": change.plan_hash,
            "impact_hash": one.context["some"].impact_hash,
        },
        follow=True,
    )
    change.refresh_from_db()
    assert change.items.count() == 1
    assert done.status_code == 200


def test_a_ticket_that_is_no_address_is_no_link(cluster, ada, signed_in):
    for ticket in ("javascript:alert(1)", "FIN-1", "https://a b"):
        change = review.draft(
            cluster=cluster,
            author=ada,
            title="t",
            ticket=ticket,
            delta=Delta(add=(allow("User:eli", "READ", "stock"),)),
        )
        page = signed_in(ada).get(address(change))
        assert f"<b>{ticket}</b>" in page.text
        assert f'href="{ticket}' not in page.text


def test_what_people_write_on_several_lines_is_shown_on_several_lines(waiting, cluster, ada, signed_in):
    change = review.request(
        cluster=cluster,
        author=ada,
        title="t",
        reason="One.\r\nTwo <b>.",
        delta=Delta(add=(allow("User:eli", "READ", "stock"),)),
    )
    said = {"step": "comment", "text": "Why?\r\nNow?"}

    page = signed_in(ada).post(f"{address(change)}act/", said, follow=True)

    assert "One.<br>Two &lt;b&gt;." in page.text
    assert "Why?<br>Now?" in page.text
    assert "\\u000" not in page.text


def test_who_has_approved_is_not_said_to_be_able_to(waiting, cluster, ben, dot, signed_in):
    cluster.approvals_needed = 2
    cluster.save()
    review.approve(change=waiting, reviewer=ben)

    page = signed_in(dot).get(address(waiting))

    assert [person.username for person in page.context["page"].reviewers] == ["dot"]


def test_a_long_change_pages_its_acls_and_keeps_what_is_chosen(cluster, ada, ben, signed_in):
    with FakeCluster(bindings=[], topics=["orders"]) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    many = tuple(allow(f"User:u{number:02}", "READ", "orders") for number in range(40))
    change = review.request(cluster=cluster, author=ada, title="Many", delta=Delta(add=many))
    browser, page_of = signed_in(ben), address(change)

    chosen = browser.get(f"{page_of}?only=30").content.decode()
    pages = [browser.get(f"{page_of}?only=30&acls={number}").content.decode() for number in (1, 2, 3, 4)]

    listed = [re.findall(r'class="tick-box" name="only" value="(\d+)"', page) for page in pages]
    assert [int(place) for places in listed for place in places] == list(range(40))
    assert re.search(r'name="only" value="30"[^>]* checked', chosen)
    assert listed[3] == re.findall(r'class="tick-box" name="only" value="(\d+)"', chosen)
    assert [page.count('<input type="hidden" name="only" value="30">') for page in pages] == [2, 2, 2, 1]
    assert "1 to 10 of 40 ACLs" in pages[0]
    assert "ACLs of this step" not in pages[0], "the one step is said twice"
    assert len(browser.get(page_of).content) < 40 * 1024


def test_a_step_that_goes_on_on_other_pages_says_how_many_acls_it_has(cluster, ada, ben, signed_in):
    with FakeCluster(bindings=[], topics=["orders"]) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    many = [make("User:bob", "READ", f"t{number}") for number in range(15) for make in (allow, deny)]
    change = review.request(cluster=cluster, author=ada, title="Many", delta=Delta(add=tuple(many)))

    pages = [signed_in(ben).get(f"{address(change)}?acls={number}").text for number in (1, 2, 3)]

    told = [re.findall(r"(\d+) of the 15 ACLs of this step", page) for page in pages]
    assert told == [["10"], ["5", "5"], ["10"]]
