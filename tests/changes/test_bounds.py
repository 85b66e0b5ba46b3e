"""No effect keeps others from the site: it has a budget, is kept, and is worked out outside of transactions."""

from __future__ import annotations

import importlib
import json
import time
import zlib

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from aclweb.acl.lint.redundancy import redundant, removable
from aclweb.acl.model.delta import Delta
from aclweb.acl.simulate import packed, unpacked
from aclweb.acl.simulate.budget import Budget
from aclweb.api import changes as api
from aclweb.api import impacts
from aclweb.audit import trail
from aclweb.changes import comparison, impact, kept, preview, queries, review, stored_impact
from aclweb.changes.kept import Kept
from aclweb.changes.models import Approval, Change, ChangeError
from aclweb.changes.rollout import preflight
from aclweb.changes.rollout import run as rollout
from aclweb.inventory.current import view as current
from aclweb.inventory.current.view import in_force
from aclweb.web.changes.recent_changes import recent
from aclweb.web.drafts.draft import Line
from tests.acl.test_keeping import packed_by_name
from tests.builders import allow, deny
from tests.changes.conftest import WISH, reread
from tests.web.diff_rows import shown_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def simulated(monkeypatch):
    """Each edit whose effect was worked out from now on."""
    kept.forget()
    seen, simulate = [], impact.simulate
    monkeypatch.setattr(
        impact, "simulate", lambda *asked, **how: seen.append(asked[0]) or simulate(*asked, **how)
    )
    return seen


# --- outside of transactions ----------------------------------------------------------------


@pytest.fixture
def thinking_outside(monkeypatch):
    """Fails where an effect is worked out, or what is in force is built, inside a transaction."""
    kept.forget()
    thought = []

    def outside(work):
        def checked(*asked, **how):
            assert not connection.in_atomic_block, f"{work.__name__} runs inside a transaction"
            thought.append(work.__name__)
            return work(*asked, **how)

        return checked

    for module, name in ((impact, "simulate"), (comparison, "simulate"), (current, "_build")):
        monkeypatch.setattr(module, name, outside(getattr(module, name)))
    return thought


@pytest.mark.django_db(transaction=True)
def test_no_effect_is_worked_out_inside_a_transaction(thinking_outside, cluster, kafka, ask, ada, ben):
    asked = review.request(
        cluster=cluster, author=ada, title="One", delta=Delta(add=(allow("User:x", "READ", "orders"),))
    )
    kafka.edit(add=[allow("User:else", "READ", "orders")])
    reread(cluster)
    current.forget()
    review.approve(change=asked, reviewer=ben)
    change = review.submit(change=ask(WISH), actor=ada)
    kafka.edit(add=[allow("User:more", "READ", "orders")])
    reread(cluster)
    review.approve(change=change, reviewer=ben)
    states = [rollout.apply(each.pk) for each in (asked, change)]
    undo = review.draft_undo(change=Change.objects.get(pk=change.pk), actor=ada)
    review.submit(change=undo, actor=ada)

    assert states == ["APPLIED", "APPLIED"]
    assert thinking_outside.count("simulate") >= 5
    assert "_build" in thinking_outside


def test_a_submission_is_begun_anew_where_the_cluster_moved_while_it_was_worked_out(
    cluster, kafka, ask, ada, monkeypatch
):
    worked_out, moves = review.preview, [allow("User:quick", "READ", "orders")]

    def slow(*asked, **how):
        seen = worked_out(*asked, **how)
        if moves:
            kafka.edit(add=[moves.pop()])
            reread(cluster)
        return seen

    monkeypatch.setattr(review, "preview", slow)

    change = review.submit(change=ask(WISH), actor=ada)

    cluster.refresh_from_db()
    assert change.revision == cluster.revision
    assert change.revision.number == 2


def test_a_cluster_that_never_rests_ends_a_submission_with_a_sentence(cluster, kafka, ask, ada, monkeypatch):
    worked_out, numbers = review.preview, iter(range(100))

    def slow(*asked, **how):
        seen = worked_out(*asked, **how)
        kafka.edit(add=[allow(f"User:quick{next(numbers)}", "READ", "orders")])
        reread(cluster)
        return seen

    monkeypatch.setattr(review, "preview", slow)
    change = ask(WISH)

    with pytest.raises(ChangeError, match="changed each time"):
        review.submit(change=change, actor=ada)

    assert Change.objects.get(pk=change.pk).state == Change.State.DRAFT


def test_a_request_that_is_refused_leaves_no_draft(cluster, ada):
    there = allow("User:bob", "READ", "orders")

    with pytest.raises(ChangeError, match="nothing to do"):
        review.request(cluster=cluster, author=ada, title="Again", delta=Delta(add=(there,)))

    assert not Change.objects.exists()


# --- a budget -------------------------------------------------------------------------------


@pytest.fixture
def little(monkeypatch):
    """A budget that a few ACLs use up."""
    kept.forget()
    monkeypatch.setattr(impact, "BUDGET", Budget(steps=10, differences=1_000))


def test_beyond_the_budget_the_sentence_names_the_acl_that_costs_most(cluster, little, ask, ada):
    wide = deny("User:*", "ALL", "*")

    with pytest.raises(preview.TooMuch) as refused:
        preview.preview(cluster, Delta(add=(allow("User:x", "READ", "orders"), wide)))
    with pytest.raises(ChangeError, match="costs most is: Deny everyone"):
        review.submit(change=ask(wide), actor=ada)

    assert "The ACL that costs most is: Deny everyone the right to do anything with every topic" in str(
        refused.value
    )


@pytest.fixture
def overtaken(cluster, kafka, ask, ada, monkeypatch):
    """Return what submits a change, has an ACL added elsewhere since, and makes it too large to compare the two."""

    def submitted(added):
        change = review.submit(change=ask(WISH), actor=ada)
        kafka.edit(add=[added])
        reread(cluster)
        kept.forget()
        monkeypatch.setattr(impact, "BUDGET", Budget(steps=1, differences=1))
        return change

    return submitted


def test_what_is_too_large_to_compare_is_approved_where_a_worker_checks_it_later(overtaken, ben):
    change = overtaken(allow("User:more", "READ", "orders"))

    page = queries.change_page(Change.objects.get(pk=change.pk), ben)
    review.approve(change=change, reviewer=ben)

    assert page.acts["approve"].allowed
    assert page.as_of_now.sentences == (
        "The cluster has changed since this was submitted: 1 ACL was added.",
        "Whether the impact is still the same is too much to compute for a page.",
        "A worker computes it before it writes, and writes nothing if it differs.",
    )
    assert page.notes == ()
    assert rollout.apply(change.pk) == Change.State.APPLIED


def test_a_worker_stops_what_was_too_large_to_compare_and_differs_by_now(overtaken, kafka, ben):
    change = overtaken(deny("User:ledger", "READ", "payments.eu"))
    review.approve(change=change, reviewer=ben)

    assert rollout.apply(change.pk) == Change.State.BLOCKED_STALE

    assert "Now it would not." in Change.objects.get(pk=change.pk).sentence
    assert WISH not in kafka.bindings


def test_what_is_too_large_to_compare_is_not_approved_where_no_worker_would_check_it(overtaken, cluster, ben):
    change = overtaken(allow("User:more", "READ", "orders"))
    type(cluster).objects.update(changes_enabled=False)

    page = queries.change_page(Change.objects.get(pk=change.pk), ben)
    with pytest.raises(review.StaleError):
        review.approve(change=change, reviewer=ben)

    assert not page.acts["approve"].allowed
    assert "aclweb does not write to this cluster" in page.as_of_now.sentences[2]


def test_what_is_too_large_to_compare_is_not_approved_once_writing_is_switched_off(overtaken, cluster, ben):
    change = overtaken(allow("User:more", "READ", "orders"))
    shown = queries.change_page(Change.objects.get(pk=change.pk), ben)
    type(cluster).objects.update(changes_enabled=False)

    page = queries.change_page(Change.objects.get(pk=change.pk), ben)
    with pytest.raises(review.StaleError):
        review.approve(change=change, reviewer=ben)

    assert shown.acts["approve"].allowed
    assert not page.acts["approve"].allowed
    assert "aclweb does not write to this cluster" in page.as_of_now.sentences[2]


def test_beyond_the_budget_of_a_worker_an_approved_change_is_not_written(
    cluster, kafka, ask, ada, ben, monkeypatch
):
    change = review.submit(change=ask(WISH), actor=ada)
    review.approve(change=change, reviewer=ben)
    kafka.edit(add=[allow("User:more", "READ", "orders")])
    kept.forget()
    monkeypatch.setattr(preflight, "BUDGET", Budget(steps=1, differences=1))

    assert rollout.apply(change.pk) == Change.State.BLOCKED_STALE

    assert "cannot be computed" in Change.objects.get(pk=change.pk).sentence


def test_a_refusal_for_its_cost_is_not_worked_out_again(cluster, little, simulated):
    for _ in range(3):
        with pytest.raises(preview.TooMuch):
            preview.preview(cluster, Delta(add=(deny("User:*", "ALL", "*"),)))

    assert len(simulated) == 1


# --- kept -----------------------------------------------------------------------------------


def test_an_effect_is_worked_out_once_for_a_revision_an_edit_and_the_settings(cluster, kafka, dot, simulated):
    delta = Delta(add=(WISH,))
    for requester in (1, 2, None):
        preview.preview(cluster, delta, requester=requester)
    first = len(simulated)
    kafka.edit(add=[allow("User:more", "READ", "orders")])
    reread(cluster)
    preview.preview(cluster, delta)
    second = len(simulated)
    type(cluster).objects.update(super_users="User:root")
    preview.preview(cluster, delta)
    preview.preview(cluster, delta, new_topics=("brand-new",))

    assert (first, second, len(simulated)) == (1, 2, 4)


def test_the_effect_of_a_draft_is_that_of_its_change_which_has_another_order(cluster, ask, ada, simulated):
    """DENY is written first: a what-if, its submission and its review work out one effect, and keep two plans."""
    acls = (allow("User:amy", "READ", "orders"), deny("User:bob", "READ", "orders"), WISH)
    shown = preview.preview(cluster, Delta(add=acls))
    change = review.submit(change=ask(*acls), actor=ada)
    again = preview.preview(cluster, change.delta)

    assert change.delta.add != acls
    assert again.impact is shown.impact
    assert again.plan != preview.preview(cluster, Delta(add=tuple(reversed(acls)))).plan
    assert len(simulated) == 1

    del shown, again
    kept.forget()
    preview.preview(cluster, Delta(add=acls))
    assert len(simulated) == 2


def test_paging_through_a_change_works_out_nothing_again(cluster, ask, ada, ben, signed_in, simulated):
    change = review.submit(
        change=ask(*(allow(f"User:u{n}", "READ", f"orders.{n}") for n in range(60))), actor=ada
    )
    browser = signed_in(ben)

    pages = [browser.get(f"/changes/CR-{change.pk}/", {"page": number}) for number in (1, 2, 3, 1)]

    assert {page.context["diff"].number for page in pages} == {1, 2, 3}
    assert len(simulated) == 1


def test_a_long_change_lists_its_acls_in_pages(cluster, ask, ada, ben, signed_in):
    change = review.submit(change=ask(*(allow("User:x", "READ", f"t{n}") for n in range(130))), actor=ada)
    browser = signed_in(ben)

    first, last = (browser.get(f"/changes/CR-{change.pk}/", {"acls": asked}).text for asked in ("", "13"))

    assert [page.count('class="step-binding"') for page in (first, last)] == [10, 10]
    assert "1 to 10 of 130 ACLs" in first
    assert "121 to 130 of 130 ACLs" in last


def test_the_api_cuts_the_effect_of_a_change_so_that_its_acls_fit_beside_it(
    cluster, ask, ada, ben, monkeypatch
):
    longest = 100_000
    monkeypatch.setattr(api, "MOST_BYTES", 80_000)
    monkeypatch.setattr(api, "MOST_BYTES_OF_AN_ANSWER", longest)
    wishes = (allow(f"User:{'é' * 60}{n}", "READ", f"{'x' * 150}{n}") for n in range(120))
    change = review.submit(change=ask(*wishes), actor=ada)
    program = APIClient()
    program.force_authenticate(ben)

    answer = program.get(f"/api/v1/changes/CR-{change.pk}/")

    assert len(answer.content) <= longest
    assert len(answer.json()["items"]) == 120
    assert answer.json()["impact"]["is_complete"] is False
    assert answer.json()["impact"]["counts"]["gains"] == change.impact.counts["gains"]


def test_five_hundred_lines_of_all_on_every_topic_cost_one_effect_and_a_bounded_page(
    cluster, ada, signed_in, simulated
):
    hosts = (f"10.0.{n // 256}.{n % 256}" for n in range(500))
    lines = [Line("add", allow(f"User:p{n}", "ALL", "*", host=host)) for n, host in enumerate(hosts)]
    paste = "\n".join(line.as_text() for line in lines)
    browser = signed_in(ada)
    browser.get(f"/c/{cluster.slug}/what-if/")
    begun = time.process_time()

    page = browser.post(f"/c/{cluster.slug}/what-if/", {"paste": paste}, follow=True)

    assert time.process_time() - begun < 20  # it takes about one; the issue asks for four on a quiet machine
    assert len(page.context["draft"].lines) == 500
    assert len(simulated) == 1
    assert len(page.content) < 2**20


def test_what_is_kept_is_bounded_by_number_and_by_bytes():
    few: Kept[str] = Kept(len, ChangeError, most_answers=3, most_bytes=10)
    made = []

    def make(text):
        return lambda: made.append(text) or text

    for text in ("aa", "bb", "cc", "dd"):
        few.remember(text, make(text))
    few.remember("bb", make("bb"))
    few.remember("eeeeeeee", make("eeeeeeee"))

    assert len(few) == 2
    assert few.bytes == 10
    few.remember("bb", make("bb"))
    assert made == ["aa", "bb", "cc", "dd", "eeeeeeee"]
    few.remember("aa", make("aa"))
    assert made[-1] == "aa"


# --- stored ---------------------------------------------------------------------------------


def test_lists_and_badges_never_read_a_stored_effect(cluster, ask, ada, ben, signed_in):
    change = review.submit(change=ask(WISH), actor=ada)
    browser = signed_in(ben)
    program = APIClient()
    program.force_authenticate(ben)

    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert queries.inbox(ben).counts["waiting"] == 1
        (row,) = queries.inbox(ben, tab="all").rows
        (latest, *_) = recent(ben, [cluster])
        for address in ("/", "/changes/", "/changes/?tab=all", "/api/v1/changes/"):
            (program if "api" in address else browser).get(address)

    assert not [query["sql"] for query in asked if "packed_impact" in query["sql"]]
    assert any("changes_change" in query["sql"] for query in asked)
    assert (row.effect.gains, latest.gains) == (2, 2)
    assert change.impact.counts["gains"] == 2


def test_a_stored_impact_is_read_once_for_all_its_pages(cluster, ask, ada, ben, monkeypatch):
    wishes = (allow("User:a", "READ", "orders"), allow("User:b", "WRITE", "payments.us"))
    change = review.submit(change=ask(*wishes), actor=ada)
    program = APIClient()
    program.force_authenticate(ben)
    read, unpack = [], stored_impact.unpacked
    monkeypatch.setattr(stored_impact, "unpacked", lambda data: read.append(data) or unpack(data))
    hashed, digest = [], impacts.digest_of_groups
    monkeypatch.setattr(impacts, "digest_of_groups", lambda told: hashed.append(told) or digest(told))
    kept.forget()
    door = f"/api/v1/changes/CR-{change.pk}/"

    first = program.get(door, {"size": 1}).json()["impact"]
    second = program.get(door, {"size": 1, "after": first["next"]}).json()["impact"]
    program.get(door, {"size": 1})

    assert first["groups"] != second["groups"]
    assert (len(read), len(hashed)) == (1, 1)


def test_an_effect_stored_as_json_is_packed_by_the_migration(cluster, ask, ada, ben):
    migration = importlib.import_module("aclweb.changes.migrations.0002_effect_in_numbers")
    change = review.submit(change=ask(WISH), actor=ada)
    told = json.loads(json.dumps(change.impact.as_dict()))
    rows = OldRows(pk=change.pk, impact=told, impact_hash="old")

    migration.pack(rows, None)

    assert rows.stored["gains"] == 2
    assert rows.stored["impact_hash"] == change.impact_hash
    assert rows.approvals == {"impact_hash": change.impact_hash}
    assert unpacked(rows.stored["packed_impact"]).as_dict() == change.impact.as_dict()


def test_an_impact_stored_by_row_is_stored_as_groups_by_the_migration(cluster, ask, ada, ben):
    migration = importlib.import_module("aclweb.changes.migrations.0003_impacts_as_groups")
    change = review.submit(change=ask(WISH), actor=ada)
    by_row = OldRows(pk=change.pk, packed_impact=packed_by_name(change.impact), impact_hash="old")
    as_groups = OldRows(pk=change.pk, packed_impact=packed(change.impact), impact_hash="old")

    for rows in (by_row, as_groups):
        migration.store_as_groups(rows, None)

    assert by_row.stored["impact_hash"] == change.impact_hash
    assert by_row.approvals == {"impact_hash": change.impact_hash}
    assert json.loads(zlib.decompress(by_row.stored["packed_impact"]))["format"] == 2
    assert unpacked(by_row.stored["packed_impact"]).as_dict() == change.impact.as_dict()
    assert not as_groups.stored


class OldRows:
    """What a migration sees of one change that was stored before it, and of its approvals."""

    def __init__(self, **values):
        self.values, self.stored, self.approvals = values, {}, {}

    def get_model(self, _, name):
        return type("Model", (), {"objects": OldManager(self, name)})


class OldManager:
    def __init__(self, rows, name):
        self.rows, self.name = rows, name

    def filter(self, **_):
        return self

    only = defer = lambda self, *_: self

    def values_list(self, *_, **__):
        return [self.rows.values["pk"]]

    def get(self, **_):
        return type("Row", (), self.rows.values)

    def update(self, **values):
        (self.rows.approvals if self.name == "Approval" else self.rows.stored).update(values)


# --- ACLs that nobody meets -----------------------------------------------------------------

NOBODYS = (
    allow("User:eve", "WRITE", "payments.us", host="::1"),
    allow("User:eve", "READ", "orders", host="eves-laptop"),
    allow("User:eve", "READ", "not a topic"),
    allow("User:eve", "READ", "no/", pattern="PREFIXED"),
    deny("User:*", "ALL", "orders", host="010.0.0.1"),
    allow("eve", "READ", "orders"),
)


def test_acls_that_nobody_can_meet_are_removed_without_a_loss(cluster, kafka):
    kafka.edit(add=NOBODYS)
    reread(cluster)

    shown = preview.preview(cluster, Delta(remove=NOBODYS))

    assert not any(shown.impact.counts.values())
    assert "6 of these ACLs match no request, so they change nothing for anybody." in " ".join(shown.notes)


def test_what_findings_call_removable_loses_nothing_in_its_what_if(cluster, kafka):
    kafka.edit(
        add=[*NOBODYS, allow("User:bob", "ALL", "ord", pattern="PREFIXED"), deny("User:zed", "ALL", "*")]
    )
    reread(cluster)
    force = in_force(cluster)

    gone = removable(redundant(force.index, force.settings))
    shown = preview.preview(cluster, Delta(remove=gone))

    assert {NOBODYS[0], NOBODYS[1], NOBODYS[5]} <= set(gone)
    assert {name: shown.impact.counts[name] for name in ("gains", "loses", "depends")} == {
        "gains": 0,
        "loses": 0,
        "depends": 0,
    }


# --- stale and finished changes -------------------------------------------------------------


def test_a_refused_approval_of_a_stale_change_is_recorded(cluster, kafka, ask, ada, ben):
    change = review.submit(change=ask(WISH), actor=ada)
    kafka.edit(add=[deny("User:ledger", "READ", "payments.eu")])
    reread(cluster)

    with pytest.raises(review.StaleError, match="Ask ada to submit it again"):
        review.approve(change=change, reviewer=ben)

    event = trail.trail(change.key).get(verb="change.approval_refused")
    assert event.actor == "ben"
    assert "1 ACL was added" in event.facts["why"]
    assert not Approval.objects.exists()


def test_a_stale_change_shows_both_effects_once_and_no_approve(cluster, kafka, ask, ada, ben, signed_in):
    change = review.submit(change=ask(WISH), actor=ada)
    kafka.edit(add=[deny("User:ledger", "READ", "payments.eu")])
    reread(cluster)
    address = f"/changes/CR-{change.pk}/"
    browser = signed_in(ben)

    shown = browser.get(address)
    now = browser.get(address, {"effect": "now"})
    refused = browser.post(address + "act/", {"step": "approve", "plan_hash": change.plan_hash})

    assert (shown.context["page"].effect.gains, shown.context["page"].effect_now.gains) == (2, 1)
    assert len(shown_rows(shown)) == 1
    assert {row.operations for row in shown_rows(now)} == {"Describe"}
    for page in (shown, refused):
        text = page.content.decode()
        assert 'value="approve"' not in text
        assert 'value="reject"' in text
        assert text.count("Ask ada to submit again</button>") == 1
        assert text.count("no longer the impact that was submitted") == 1
        assert text.count("The cluster has changed since this was submitted: 1 ACL was added.") == 1 + (
            page is refused  # and in the timeline, where the refusal is recorded
        )
    assert refused.status_code == 422


def test_a_finished_change_shows_no_warning_against_the_cluster_that_has_it(approved, ada):
    change = approved(allow("User:ledger", "READ", "not.yet"))
    before = queries.change_page(change, ada)
    rollout.apply(change.pk)

    page = queries.change_page(Change.objects.get(pk=change.pk), ada)

    assert page.notes == ()
    assert page.warnings == ()
    assert page.commands == before.commands
    assert page.effect == before.effect


def test_only_an_undo_in_force_is_said_to_undo(approved, ada, ben):
    change = approved(WISH)
    rollout.apply(change.pk)
    change.refresh_from_db()
    undo = review.submit(change=review.draft_undo(change=change, actor=ada), actor=ada)
    said = [queries.change_page(change, ada).undo.sentence]
    review.reject(change=undo, reviewer=ben, comment="Not now.")
    said.append(queries.change_page(change, ada).undo.sentence)
    again = review.submit(change=review.draft_undo(change=change, actor=ada), actor=ada)
    review.approve(change=again, reviewer=ben)
    rollout.apply(again.pk)
    done = queries.change_page(change, ada).undo

    assert said == ["would undo it: waiting for review.", "would undo it: rejected."]
    assert (done.change, done.sentence) == (again, "undid it.")


def test_a_change_that_was_undone_is_not_in_force_and_not_undone_again(approved, ada, ben):
    change = approved(WISH)
    rollout.apply(change.pk)
    change.refresh_from_db()
    in_force = queries.change_page(change, ada)
    undo = review.submit(change=review.draft_undo(change=change, actor=ada), actor=ada)
    waiting = queries.change_page(change, ada)
    review.approve(change=undo, reviewer=ben)
    rollout.apply(undo.pk)
    undone = queries.change_page(change, ada)

    assert [page.state for page in (in_force, waiting, undone)] == ["in force", "in force", "undone"]
    rows = {row.change.pk: row.state for row in queries.inbox(ada, tab="all").rows}
    assert rows == {change.pk: "undone", undo.pk: "in force"}
    assert {row.key: row.state for row in recent(ada, [change.cluster]) if row.key == change.key} == {
        change.key: "undone"
    }
    assert [page.acts["undo"].allowed for page in (in_force, waiting, undone)] == [True, False, False]
