"""What is too much for a page has an address, on which its progress, its end and its impact are seen."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from aclweb.accounts.models import Grant, Role
from aclweb.acl.model.delta import Delta
from aclweb.acl.simulate.budget import Budget
from aclweb.changes import asking, computing, impact, kept, question, review, tasks
from aclweb.changes import comparison as comparing
from aclweb.changes.models import Change, Computation
from aclweb.changes.question import what_if
from aclweb.clusters import TopicInfo
from aclweb.inventory.current import in_force
from aclweb.inventory.sync.run import sync
from tests.browsing import axe_violations
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers
from tests.web.diff_rows import shown_rows

pytestmark = pytest.mark.django_db

TOPICS = [TopicInfo(f"orders.{number}") for number in range(40)]
HELD = [allow(f"User:u{number}", "READ", f"orders.{number}") for number in range(40)]
WIDE = tuple(deny(f"User:u{number}", "ALL", "*") for number in range(40))
PAGE = "/c/test-eu/what-if/"
LINES = [json.dumps({"op": "add", **acl.as_dict()}) for acl in WIDE]


@pytest.fixture(autouse=True)
def little(monkeypatch, cluster):
    """A cluster, a budget of pages that a few ACLs use up, and no queue: the row is the truth."""
    kept.forget()
    monkeypatch.setattr(impact, "BUDGET", Budget(steps=60, differences=1_000))
    monkeypatch.setattr(tasks, "enqueue_computing", lambda: None)
    sync(cluster, client=Answers(HELD, topics=TOPICS))
    cluster.refresh_from_db()


@pytest.fixture
def ada_browser(ada, signed_in):
    return signed_in(ada)


@pytest.fixture
def row(cluster, ada):
    """An impact that ada asked for."""
    return asking.ask(what_if(in_force(cluster), Delta(add=WIDE)), person=ada, asked_from=PAGE)


def address(row: Computation, act: str = "") -> str:
    return f"/c/{row.cluster.slug}/computations/{row.address}/{act}"


def test_what_is_too_much_for_a_page_is_asked_of_a_worker_there(ada_browser):
    page = ada_browser.post(PAGE, {"line": LINES}, follow=True)
    assert "Too much for a page." in page.content.decode()
    assert "Have a worker compute it" in page.content.decode()

    asked = ada_browser.post(f"{PAGE}compute/", {"line": LINES})

    row = Computation.objects.get()
    assert asked["Location"] == address(row)
    assert (row.acls_added, row.state) == (len(WIDE), "QUEUED")
    again = ada_browser.get(row.asked_from)
    assert f'href="{address(row)}"' in again.content.decode()
    assert "See how far it is" in again.content.decode()


def test_a_finished_one_shows_what_a_small_one_shows_without_simulating(ada_browser, row, monkeypatch):
    computing.run_next("worker")
    kept.forget()
    monkeypatch.setattr(impact, "simulate", None)

    done = ada_browser.get(address(row), {"show": "loses"})
    opened = ada_browser.get(address(row), {"show": "loses", "open": "3"}).context
    whatif = ada_browser.post(PAGE, {"line": LINES, "show": "loses"}, follow=True)

    # A draft has fewer rows a page.
    shown = shown_rows(whatif)
    assert shown_rows(done)[: len(shown)] == shown != []
    assert done.context["tiles"] == whatif.context["tiles"]
    assert opened["opened"].cells
    assert done.context["progress"].sentences[0].endswith("The newest 20 of each person are kept for 7 days.")


def test_a_draft_that_a_worker_has_computed_is_shown_on_its_own_page(ada_browser, row):
    before = ada_browser.post(PAGE, {"line": LINES}, follow=True)
    computing.run_next("worker")

    after = ada_browser.post(PAGE, {"line": LINES}, follow=True)

    assert "too_much" in before.context
    assert "preview" not in before.context
    assert after.context["preview"].impact.counts["loses"] == 80


def test_it_is_said_that_the_cluster_has_changed_and_computed_again_at_a_press(
    ada_browser, row, cluster, ada
):
    computing.run_next("worker")
    assert "Compute it again" not in ada_browser.get(address(row)).content.decode()
    sync(cluster, client=Answers(HELD[1:], topics=TOPICS))

    page = ada_browser.get(address(row)).content.decode()
    again = ada_browser.post(address(row, "again/"))

    newest = Computation.objects.order_by("pk").last()
    assert "This is as of revision 1. test-eu has changed since: it has revision 2 now." in page
    assert again["Location"] == address(newest) != address(row)
    assert newest.revision.number == 2


def test_a_change_is_requested_from_the_page_as_of_what_was_computed(ada_browser, row, cluster):
    computing.run_next("worker")
    sync(cluster, client=Answers(HELD[1:], topics=TOPICS))

    refused = ada_browser.post(address(row, "change/"), {"title": " "})
    requested = ada_browser.post(address(row, "change/"), {"title": "Nobody but orders"})

    change = Change.objects.get()
    assert refused.status_code == 422
    assert "A change needs a title" in refused.content.decode()
    assert requested["Location"] == f"/changes/{change.key}/"
    assert (change.state, change.loses, change.revision.number) == ("IN_REVIEW", 80, 1)


def test_a_draft_too_large_to_submit_from_its_page_is_computed_and_then_submitted(ada_browser, cluster, ada):
    change = review.draft(cluster=cluster, author=ada, title="t", delta=Delta(add=WIDE))
    asked = ada_browser.post(f"/changes/{change.key}/act/", {"step": "submit"})
    row = Computation.objects.get()
    computing.run_next("worker")

    page = ada_browser.get(asked["Location"]).content.decode()
    submitted = ada_browser.post(address(row, "change/"))

    change.refresh_from_db()
    assert asked["Location"] == address(row)
    assert f"Submit {change.key} for review" in page
    assert submitted["Location"] == f"/changes/{change.key}/"
    assert (change.state, change.loses) == ("IN_REVIEW", 80)
    assert Change.objects.count() == 1


@pytest.fixture
def wait_for(cluster, ada):
    """Return a function that drafts the wide edit and has its impact asked for: the change and its computation."""

    def wait_for(browser, author=ada):
        change = review.draft(cluster=cluster, author=author, title="t", delta=Delta(add=WIDE))
        there = browser.post(f"/changes/{change.key}/act/", {"step": "submit"})["Location"]
        return change, Computation.objects.get(address=there.split("/")[-2])

    return wait_for


def test_a_draft_edited_since_is_not_submitted_with_an_impact_that_is_not_its_own(ada_browser, ada, wait_for):
    change, row = wait_for(ada_browser)
    computing.run_next("worker")
    other = Delta(add=(allow("User:z", "READ", "q"),))
    review.edit(change=change, actor=ada, title="t", reason="", delta=other)

    page = ada_browser.get(address(row)).content.decode()
    bare = ada_browser.post(address(row, "change/"))
    named = ada_browser.post(address(row, "change/"), {"change": change.pk})

    change.refresh_from_db()
    assert f"{change.key} was edited since, so this is not its impact." in page
    assert "for review</button>" not in page
    assert "Request this change" not in page
    assert (bare.status_code, named.status_code) == (422, 422)
    assert (change.state, change.delta, change.impact) == ("DRAFT", other, None)


def test_a_draft_whose_acls_are_only_in_another_order_is_submitted(ada_browser, ada, wait_for):
    change, row = wait_for(ada_browser)
    computing.run_next("worker")
    review.edit(change=change, actor=ada, title="t", reason="", delta=Delta(add=WIDE[::-1]))

    ada_browser.post(address(row, "change/"), {"change": change.pk})

    change.refresh_from_db()
    assert (change.state, change.loses) == ("IN_REVIEW", 80)


def test_each_person_submits_their_own_change_with_an_impact_that_is_shared(
    ada_browser, signed_in, row, ben, wait_for
):
    bens, shared = wait_for(signed_in(ben), author=ben)
    computing.run_next("worker")

    for_ada = ada_browser.get(address(row)).content.decode()
    for_ben = signed_in(ben).get(address(row)).content.decode()
    stolen = ada_browser.post(address(row, "change/"), {"change": bens.pk})
    signed_in(ben).post(address(row, "change/"), {"change": bens.pk})

    bens.refresh_from_db()
    assert shared == row
    assert Computation.objects.get().for_change is None
    assert bens.key not in for_ada
    assert "Request this change" in for_ada
    assert f"Submit {bens.key} for review" in for_ben
    assert stolen.status_code == 422
    assert (bens.state, bens.loses) == ("IN_REVIEW", 80)


def test_a_link_to_a_change_is_not_replaced_by_the_change_of_another(
    ada_browser, signed_in, ben, cluster, wait_for
):
    adas, row = wait_for(ada_browser)
    bens, _ = wait_for(signed_in(ben), author=ben)
    computing.run_next("worker")

    assert Computation.objects.get().for_change == adas
    for_ben = signed_in(ben).get(address(row)).content.decode()
    assert adas.key not in for_ben
    assert f"Submit {bens.key} for review" in for_ben
    assert f"Submit {adas.key} for review" in ada_browser.get(address(row)).content.decode()


def test_what_is_computed_again_is_still_for_the_change_that_waits(ada_browser, cluster, wait_for):
    change, row = wait_for(ada_browser)
    computing.run_next("worker")
    sync(cluster, client=Answers(HELD[1:], topics=TOPICS))
    ada_browser.post(address(row, "again/"))
    newest = Computation.objects.order_by("pk").last()
    computing.run_next("worker")

    page = ada_browser.get(address(newest)).content.decode()
    ada_browser.post(address(newest, "change/"), {"title": "As of an older page"})

    change.refresh_from_db()
    assert newest != row
    assert newest.for_change == change
    assert f"Submit {change.key} for review" in page
    assert "Request this change" not in page
    assert (change.state, change.revision.number) == ("IN_REVIEW", 2)
    assert Change.objects.count() == 1


def test_what_waits_for_review_with_this_impact_is_not_submitted_twice(ada_browser, ben, wait_for):
    change, row = wait_for(ada_browser)
    computing.run_next("worker")
    ada_browser.post(address(row, "change/"), {"change": change.pk})

    page = ada_browser.get(address(row)).content.decode()
    twice = ada_browser.post(address(row, "change/"), {"change": change.pk})

    assert f"{change.key} was submitted with this impact, and waits for review." in page
    assert "for review</button>" not in page
    assert twice.status_code == 422


def test_who_may_not_see_the_cluster_sees_no_computation_of_it(signed_in, row, eve, ben):
    assert signed_in(eve).get(address(row)).status_code == 404
    assert signed_in(ben).get(address(row)).status_code == 200
    assert signed_in(ben).get(address(row).replace(row.address, "0" * 32)).status_code == 404


def test_who_has_the_address_may_look_and_not_cancel(signed_in, row, ben):
    page = signed_in(ben).post(address(row, "cancel/"), follow=True).content.decode()

    assert "ada asked for this, so you cannot cancel it." in page
    assert "/cancel/" not in page
    row.refresh_from_db()
    assert row.state == "QUEUED"


def test_one_under_the_address_of_another_cluster_is_not_there(signed_in, row, ada, other_cluster):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)

    assert signed_in(ada).get(f"/c/test-us/computations/{row.address}/").status_code == 404


def test_while_it_is_computed_a_page_reads_neither_question_nor_impact(
    ada_browser, row, django_assert_num_queries
):
    headers = {"HX-Request": "true", "HX-Target": "progress"}
    ada_browser.get(address(row), headers=headers)

    with django_assert_num_queries(6) as asked:
        part = ada_browser.get(address(row), headers=headers)

    assert not any('"question"' in each["sql"] or "packed" in each["sql"] for each in asked.captured_queries)
    assert part.content.decode().strip().startswith('<section class="card run" id="progress"')


def test_too_much_for_a_worker_and_failures_are_said_on_the_page(ada_browser, row, monkeypatch):
    monkeypatch.setattr(computing, "BUDGET", Budget(steps=61, differences=1_000, whose="a worker"))
    computing.run_next("worker")

    page = ada_browser.get(address(row)).content.decode()

    assert "<b>Not computed.</b> The impact of this edit is too large to compute here: a worker takes" in page


def test_one_that_was_asked_for_is_found_again_from_an_empty_what_if(ada_browser, row, signed_in, ben):
    assert f'href="{address(row)}"' in ada_browser.get(PAGE).content.decode()
    assert "Computed by workers for you" not in signed_in(ben).get(PAGE).content.decode()


# --- in a browser -----------------------------------------------------------------------------


@pytest.mark.thorough(
    instead="tests/web/test_analyses_page.py::test_a_press_starts_one_and_the_page_follows_it_to_the_end"
)
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_in_a_browser_the_page_follows_the_worker_and_shows_the_impact(window, ada):
    page = window(ada, PAGE)
    page.get_by_text("Paste or upload ACLs").click()
    page.locator("#id_paste").fill("\n".join(LINES))
    page.get_by_role("button", name="Show the impact").last.click()
    page.get_by_role("button", name="Have a worker compute it").click()
    expect(page.get_by_role("heading", name="It waits for a worker.")).to_be_visible()
    assert not axe_violations(page)

    computing.run_next("worker")

    # Nobody presses anything: the page asks by itself.
    expect(page.get_by_role("heading", name="Access diff")).to_be_visible()
    expect(page.locator("#progress")).to_have_count(0)
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("Page 2 of")).to_be_visible()
    page.get_by_role("button", name="Show all of row").first.click()
    expect(page.locator("tr.delta-open")).to_be_visible()
    assert not axe_violations(page)
    page.locator("#id_title").fill("Nobody but orders")
    page.get_by_role("button", name="Request this change").click()
    expect(page.get_by_text("Waiting for review: 0 of 1 approval.")).to_be_visible()
    assert not page.watch.complaints


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scripts", [True, False])
def test_in_a_browser_it_is_asked_for_and_cancelled_with_scripts_and_without(window, ada, scripts):
    page = window(ada, PAGE, scripts=scripts)
    page.get_by_text("Paste or upload ACLs").click()
    page.locator("#id_paste").fill("\n".join(LINES))
    page.get_by_role("button", name="Show the impact").last.click()
    page.get_by_role("button", name="Have a worker compute it").click()
    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_text("Cancelled by ada.")).to_be_visible()
    expect(page.locator("#progress")).to_have_count(0)
    assert Computation.objects.get().state == Computation.State.CANCELLED
    assert not computing.run_next("worker")
    assert not page.watch.complaints


# --- comparisons ------------------------------------------------------------------------------

COMPARED = "/c/test-eu/compare/?at=1&other=test-eu"


@pytest.fixture
def two_revisions(cluster, monkeypatch):
    """Two revisions whose comparison is too much for a page."""
    sync(cluster, client=Answers([*HELD[20:], *WIDE[:10]], topics=TOPICS))
    monkeypatch.setattr(comparing, "BUDGET", Budget(steps=60, differences=1_000))


def test_a_comparison_too_much_for_a_page_is_computed_and_shown_as_a_small_one(
    ada_browser, two_revisions, monkeypatch
):
    page = ada_browser.get(COMPARED)
    asked = ada_browser.post(COMPARED.replace("?", "compute/?"))
    row = Computation.objects.get()
    open_page = ada_browser.get(address(row)).content.decode()
    computing.run_next("worker")
    kept.forget()
    monkeypatch.setattr(comparing, "simulate", None)

    done = ada_browser.get(address(row), {"show": "loses", "principal": "u1"})
    there = ada_browser.get(COMPARED, {"show": "loses", "principal": "u1"} | {"at": "1", "other": "test-eu"})

    assert 'action="/c/test-eu/compare/compute/?' in page.content.decode()
    assert asked["Location"] == address(row)
    assert "From <b>test-eu as of revision 1</b> to <b>test-eu now</b>" in open_page
    assert done.context["tiles"] == there.context["tiles"]
    assert shown_rows(done) == shown_rows(there) != []
    assert done.context["comparison"].sentences == there.context["comparison"].sentences
    assert "lacks 40 rights" in done.content.decode()


@pytest.mark.parametrize("shown", [{}, {"show": "gains"}, {"view": "matrix"}, {"view": "small"}])
def test_what_a_worker_found_between_two_clusters_is_lost_and_gained_by_nobody(
    ada_browser, two_revisions, other_cluster, ada, shown
):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    sync(other_cluster, client=Answers(HELD[:30], topics=TOPICS))
    ada_browser.post("/c/test-eu/compare/compute/?other=test-us")
    computing.run_next("worker")

    page = ada_browser.get(address(Computation.objects.get()), shown).content.decode()

    told = page.partition('id="computation"')[2].partition("replay-heading")[0]
    assert "Allowed only on test-eu" in told
    assert "Allowed only on test-us" in told
    assert re.findall(r"\b(?:los[et]s?|gain(?:s|ed)?|[Bb]efore|[Aa]fter)\b(?=[^<>]*<)", told) == []


def test_a_comparison_with_too_many_acls_for_a_worker_is_shown_without_them(
    ada_browser, two_revisions, monkeypatch
):
    ada_browser.post(COMPARED.replace("?", "compute/?"))
    computing.run_next("worker")
    row = Computation.objects.get()
    exact = ada_browser.get(address(row), {"show": "loses"})
    Computation.objects.all().delete()
    kept.forget()
    monkeypatch.setattr(computing, "BUDGET", Budget(steps=1_000_000, differences=5, whose="a worker"))

    ada_browser.post(COMPARED.replace("?", "compute/?"))
    computing.run_next("worker")
    row = Computation.objects.get()
    page = ada_browser.get(address(row), {"show": "loses", "open": "0"})

    assert (row.state, row.impact_hash) == ("DONE", computing.impact_hash(row.impact))
    assert page.context["diff"].paginator.count == exact.context["diff"].paginator.count > 0
    assert [tile.hint for tile in page.context["tiles"]] == [tile.hint for tile in exact.context["tiles"]]
    opened = page.context["opened"]
    assert (opened.after.words, opened.after.bindings) == (
        shown_rows(exact)[0].after.words,
        (),
    )
    assert "the ACLs which settle them are left out" in page.content.decode()


def test_what_was_compared_with_now_keeps_its_revision_when_the_cluster_changes(
    ada_browser, two_revisions, cluster
):
    ada_browser.post(COMPARED.replace("?", "compute/?"))
    row = Computation.objects.get()
    computing.run_next("worker")
    sync(cluster, client=Answers(HELD, topics=TOPICS))

    page = ada_browser.get(address(row)).content.decode()

    assert "From <b>test-eu as of revision 1</b> to <b>test-eu as of revision 2</b>" in page
    assert ada_browser.get(COMPARED).context["comparison"].impact.counts["loses"] == 0


def test_a_comparison_is_seen_only_by_who_may_see_both_clusters(
    ada_browser, two_revisions, other_cluster, ada, signed_in, ben
):
    grant = Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    sync(other_cluster, client=Answers(WIDE, topics=TOPICS))
    ada_browser.post("/c/test-eu/compare/compute/?other=test-us")
    row = Computation.objects.get()

    assert row.other_cluster == other_cluster
    assert ada_browser.get(address(row)).status_code == 200
    assert signed_in(ben).get(address(row)).status_code == 404
    assert address(row) in ada_browser.get(PAGE).content.decode()
    grant.delete()
    assert ada_browser.get(address(row)).status_code == 404
    assert address(row) not in ada_browser.get(PAGE).content.decode()


def test_two_drafts_are_compared_by_a_worker_too(ada_browser, two_revisions):
    drafts = {"first": "\n".join(LINES[:20]), "second": "\n".join(LINES[20:])}
    page = ada_browser.post("/c/test-eu/compare/drafts/", drafts, follow=True)
    asked = ada_browser.post("/c/test-eu/compare/drafts/", drafts | {"compute": "1"})
    row = Computation.objects.get()
    computing.run_next("worker")

    done = ada_browser.get(address(row)).content.decode()
    again = ada_browser.get(row.asked_from)

    assert "Have a worker compute it" in page.content.decode()
    assert asked["Location"] == address(row)
    assert "From <b>the first draft</b> to <b>the second draft</b>" in done
    assert again.context["comparison"].impact.counts == Computation.objects.get().impact.counts


def test_who_was_left_out_of_a_computed_comparison_is_left_out_on_its_page(
    ada_browser, two_revisions, other_cluster, ada, monkeypatch
):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    type(other_cluster).objects.update(super_users="User:other", allow_everyone=False)
    sync(other_cluster, client=Answers(HELD, topics=TOPICS))
    ada_browser.post("/c/test-us/compare/compute/?other=test-eu")
    found = []
    compute = comparing._impact

    def refusing(*question, **options):
        impact, left_out = compute(*question, **options)
        found.append(left_out)
        return impact, frozenset({"User:admin", "User:other"})

    monkeypatch.setattr(comparing, "_impact", refusing)
    computing.run_next("worker")
    monkeypatch.setattr(comparing, "_impact", None)
    kept.forget()

    page = ada_browser.get("/c/test-us/compare/?other=test-eu")

    assert found == [frozenset()]
    assert page.context["comparison"].left_out == {"User:admin", "User:other"}


@pytest.mark.parametrize("end", ["CANCELLED", "FAILED"])
def test_a_comparison_that_was_not_done_is_asked_again_with_both_sides(
    ada_browser, two_revisions, monkeypatch, end
):
    ada_browser.post(COMPARED.replace("?", "compute/?"))
    first = Computation.objects.get()
    if end == "CANCELLED":
        ada_browser.post(address(first, "cancel/"))
    else:
        with monkeypatch.context() as broken:
            broken.setattr(comparing, "simulate", lambda *_, **__: 1 / 0)
            computing.run_next("worker")
    page = ada_browser.get(address(first)).content.decode()

    there = ada_browser.post(address(first, "again/"))["Location"]

    again = Computation.objects.order_by("pk").last()
    first.refresh_from_db()
    assert "A worker begins anew, with the same two sides." in page
    assert (first.state, again.state, there) == (end, "QUEUED", address(again))
    assert (again.key, again.revision, again.other_revision) == (
        first.key,
        first.revision,
        first.other_revision,
    )
    computing.run_next("worker")
    assert "lacks 40 rights" in ada_browser.get(there).content.decode()


@pytest.mark.parametrize("kind", Computation.Kind.values)
def test_what_is_done_is_shown_though_a_release_makes_other_keys(
    ada_browser, two_revisions, cluster, ada, monkeypatch, kind
):
    if kind == Computation.Kind.COMPARISON:
        ada_browser.post(COMPARED.replace("?", "compute/?"))
    else:
        asking.ask(what_if(in_force(cluster), Delta(add=WIDE)), person=ada)
    row = Computation.objects.get()
    computing.run_next("worker")
    kept.forget()
    monkeypatch.setattr(question, "KEY_FORMAT", question.KEY_FORMAT + 1)

    done = ada_browser.get(address(row), {"show": "loses"})

    row.refresh_from_db()
    assert done.status_code == 200
    assert done.context["impact"].counts["loses"] == row.loses > 0
