"""What is too much for a page is computed by a worker: once, for one person at a time, and again where one is lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from aclweb.accounts.models import User
from aclweb.acl.model.delta import Delta
from aclweb.acl.simulate import digest_of_groups
from aclweb.acl.simulate.budget import Budget
from aclweb.celery import app
from aclweb.changes import asking, computing, impact, kept, preview, queries, review, rollout, tasks
from aclweb.changes.models import COMPUTATIONS, Change, ChangeError, Computation
from aclweb.changes.question import question_of, what_if
from aclweb.inventory.current import in_force
from tests.builders import allow, deny
from tests.changes.conftest import reread

pytestmark = pytest.mark.django_db

State = Computation.State
WIDE = Delta(add=(deny("User:*", "ALL", "*"),), remove=(allow("User:bob", "READ", "orders"),))
MORE = Delta(add=(deny("User:*", "READ", "*"),))


@pytest.fixture(autouse=True)
def little(monkeypatch):
    """A budget of pages that a few ACLs use up."""
    kept.forget()
    monkeypatch.setattr(impact, "BUDGET", Budget(steps=10, differences=1_000))


@pytest.fixture(autouse=True)
def enqueued(monkeypatch):
    """The messages to workers; no queue is needed, because the row is the truth."""
    sent = []
    monkeypatch.setattr(tasks, "enqueue_computing", lambda: sent.append(1))
    return sent


@pytest.fixture
def asked(cluster, ada):
    """Return a function that asks for the impact of an edit."""

    def asked(delta=WIDE, *, person=ada, new_topics=()):
        return asking.ask(what_if(in_force(cluster), delta, new_topics), person=person)

    return asked


def now(row: Computation) -> Computation:
    return Computation.objects.get(pk=row.pk)


def test_a_worker_computes_what_is_too_much_for_a_page(cluster, asked, monkeypatch):
    row = asked()
    with pytest.raises(preview.TooMuch):
        preview.preview(cluster, WIDE)

    assert computing.run_next("worker")

    done = now(row)
    found = preview.preview(cluster, WIDE)
    monkeypatch.setattr(impact, "BUDGET", Budget(steps=10**6, differences=10**6))
    kept.forget()
    Computation.objects.all().delete()
    directly = preview.preview(cluster, WIDE)
    assert (done.state, done.gains, done.loses) == (State.DONE, 0, directly.impact.counts["loses"])
    assert done.loses > 0
    assert found.impact_hash == directly.impact_hash
    assert digest_of_groups(found.impact) == digest_of_groups(directly.impact)


def test_what_was_computed_is_not_simulated_again(cluster, asked, monkeypatch):
    asked()
    computing.run_next("worker")
    kept.forget()
    monkeypatch.setattr(impact, "simulate", None)

    assert preview.preview(cluster, WIDE).impact.counts["loses"]


def test_the_same_question_is_computed_once_whoever_asks_and_in_whatever_order(asked, ben):
    first = asked(Delta(add=(*WIDE.add, *MORE.add)))

    assert asked(Delta(add=(*MORE.add, *WIDE.add)), person=ben).pk == first.pk
    computing.run_next("worker")
    assert asked(Delta(add=(*MORE.add, *WIDE.add)), person=ben).pk == first.pk


def test_another_edit_revision_setting_or_topic_is_another_question(cluster, kafka, asked):
    keys = [asked().key, asked(MORE).key, asked(new_topics=("new",)).key]
    kafka.edit(add=[allow("User:more", "READ", "orders")])
    reread(cluster)
    keys.append(what_if(in_force(cluster), WIDE).key)
    type(cluster).objects.update(super_users="User:root")
    keys.append(what_if(in_force(cluster), WIDE).key)

    assert len(set(keys)) == 5


def test_a_question_is_answered_as_of_the_revision_that_was_asked_about(cluster, kafka, asked):
    asked_of = in_force(cluster)
    row = asked()
    kafka.edit(remove=[allow("User:bob", "READ", "orders")])
    reread(cluster)

    computing.run_next("worker")

    side = question_of(now(row)).sides[0]
    assert (side.view.revision, side.view.settings) == (asked_of.revision, asked_of.settings)
    assert side.view.index.bindings == asked_of.index.bindings
    assert now(row).loses == preview.preview(cluster, WIDE, view=asked_of).impact.counts["loses"]
    with pytest.raises(preview.TooMuch):
        preview.preview(cluster, WIDE)


def test_beyond_the_budget_of_a_worker_the_sentence_names_the_acl(asked, monkeypatch):
    monkeypatch.setattr(computing, "BUDGET", Budget(steps=11, differences=1_000, whose="a worker"))
    row = asked()

    computing.run_next("worker")

    assert now(row).state == State.TOO_MUCH
    assert "a worker takes about 11 steps. The ACL that costs most is: Deny everyone" in now(row).sentence
    assert asked().pk == row.pk


def test_how_far_it_is_is_counted_while_a_worker_computes(asked, monkeypatch):
    row, seen = asked(), []
    monkeypatch.setattr(computing, "PROGRESS_SECONDS", 0)
    simulate = impact.simulate

    def looked_at(*question, watch, **how):
        def watched(done, at_most):
            watch(done, at_most)
            watch(at_most // 2, at_most)
            seen.append((now(row).state, asking.progress_of(now(row)).share))

        return simulate(*question, watch=watched, **how)

    monkeypatch.setattr(impact, "simulate", looked_at)
    computing.run_next("worker")

    assert seen[0][0] == State.WORKING
    assert 40 <= seen[0][1] <= 50
    assert asking.progress_of(now(row)).share == 100


@pytest.mark.parametrize("state", [State.QUEUED, State.WORKING])
def test_one_that_was_cancelled_is_not_computed_and_not_stored(asked, ada, monkeypatch, state):
    row = asked()
    monkeypatch.setattr(computing, "PROGRESS_SECONDS", 0)
    if state == State.QUEUED:
        asking.cancel(row, person=ada)
    else:
        simulate = impact.simulate
        monkeypatch.setattr(
            impact, "simulate", lambda *a, **how: asking.cancel(row, person=ada) or simulate(*a, **how)
        )

    assert computing.run_next("worker") is (state == State.WORKING)

    assert (now(row).state, now(row).sentence) == (State.CANCELLED, "Cancelled by ada.")
    assert now(row).impact is None
    assert asked().pk != row.pk


def test_only_who_asked_and_administrators_cancel(asked, ben, dot):
    row = asked()

    with pytest.raises(ChangeError, match="ada asked for this"):
        asking.cancel(row, person=ben)
    asking.cancel(row, person=dot)

    with pytest.raises(ChangeError, match="ended already"):
        asking.cancel(now(row), person=dot)


def lost(row: Computation) -> None:
    """Have the worker of this computation die: it holds the row until its lease runs out."""
    Computation.objects.filter(pk=row.pk).update(lease_until=Now() - timedelta(seconds=1))


def test_a_worker_that_lost_its_lease_stores_nothing(asked, monkeypatch):
    row = asked()
    answer = computing._computed

    def overtaken(question, watch):
        values = answer(question, watch)
        lost(row)
        assert COMPUTATIONS.take_next("another").pk == row.pk
        return values

    monkeypatch.setattr(computing, "_computed", overtaken)
    computing.run_next("worker")

    assert (now(row).state, now(row).lease_owner, now(row).impact) == (State.WORKING, "another", None)


def test_an_error_of_the_program_is_said_and_can_be_asked_again(asked, monkeypatch):
    row = asked()
    monkeypatch.setattr(impact, "simulate", lambda *_, **__: 1 / 0)

    computing.run_next("worker")

    assert now(row).state == State.FAILED
    assert now(row).sentence == "This could not be computed: ZeroDivisionError. The site's log says more."
    assert asked().pk != row.pk


def test_a_result_that_cannot_be_stored_is_a_failure_that_is_said(asked, monkeypatch):
    row = asked()
    monkeypatch.setattr(computing, "stored", lambda _: {"gains": "no number"})

    assert computing.run_next("worker")

    assert (now(row).state, now(row).lease_owner) == (State.FAILED, "")
    assert "This could not be computed: ValueError." in now(row).sentence


def test_of_each_person_one_is_at_work_and_others_need_not_wait_for_it(asked, ben):
    first, second, bens = asked(), asked(MORE), asked(Delta(remove=WIDE.remove), person=ben)

    taken = [COMPUTATIONS.take_next(owner) for owner in ("one", "two", "three")]

    assert taken == [first, bens, None]
    assert "1 that ada asked for comes first" in asking.progress_of(now(second)).sentences[1]


def test_a_person_has_a_few_that_wait_at_most(asked, ben):
    edits = [Delta(add=(allow(f"User:{number}", "READ", "*"),)) for number in range(asking.MOST_OPEN + 1)]
    for delta in edits[:-1]:
        asked(delta)

    with pytest.raises(ChangeError, match="5 computations that are not done"):
        asked(edits[-1])
    assert asked(edits[-1], person=ben)


def test_what_the_same_person_asks_at_once_is_found_and_counted_under_their_lock(cluster, ada, monkeypatch):
    """Another request of the same person stores its rows just before this one has the lock."""
    lock, meanwhile = User.objects.select_for_update, []

    def after_another(**how):
        monkeypatch.setattr(User.objects, "select_for_update", lock)
        meanwhile.extend(asking.ask(question, person=ada) for question in others)
        return lock(**how)

    def asked_beside(question):
        monkeypatch.setattr(User.objects, "select_for_update", after_another)
        return asking.ask(question, person=ada)

    same = what_if(in_force(cluster), WIDE)
    others = [same]
    assert asked_beside(same) in meanwhile
    assert Computation.objects.count() == 1

    edits = [Delta(add=(allow(f"User:{number}", "READ", "*"),)) for number in range(asking.MOST_OPEN)]
    others = [what_if(in_force(cluster), delta) for delta in edits[1:]]
    with pytest.raises(ChangeError, match="5 computations that are not done"):
        asked_beside(what_if(in_force(cluster), edits[0]))
    assert asking.of_question(what_if(in_force(cluster), edits[0])) is None


def test_old_computations_are_forgotten_and_those_beyond_the_newest(asked, ben, monkeypatch):
    old, young, waiting = asked(), asked(MORE), asked(Delta(remove=WIDE.remove), person=ben)
    for row in (old, young):
        Computation.objects.filter(pk=row.pk).update(state=State.DONE, finished_at=timezone.now())
    Computation.objects.filter(pk=old.pk).update(
        finished_at=timezone.now() - computing.KEPT_FOR - timedelta(minutes=1)
    )

    computing.forget_old()
    assert set(Computation.objects.all()) == {young, waiting}

    monkeypatch.setattr(computing, "MOST_KEPT", 0)
    computing.forget_old()
    assert set(Computation.objects.all()) == {waiting}


def test_what_an_open_change_needs_is_kept_however_old_it_is(
    asked, ask, ada, ben, cluster, kafka, monkeypatch
):
    """Ben's draft needs what Ada asked for, so no link names it; of two that serve it, the newer one stays."""
    monkeypatch.setattr(computing, "MOST_KEPT", 0)
    asked()
    computing.run_next("worker")
    kafka.edit(add=[allow("User:more", "READ", "orders")])
    reread(cluster)
    newer, _ = asked(), asked(MORE)
    computing.run_next("worker")
    computing.run_next("worker")
    draft = ask(*WIDE.add[::-1], remove=WIDE.remove, author=ben)
    long_ago = timezone.now() - computing.KEPT_FOR - timedelta(days=1)
    Computation.objects.update(finished_at=long_ago)

    computing.forget_old()
    assert set(Computation.objects.all()) == {newer}

    review.withdraw(change=draft, actor=ben)
    computing.forget_old()
    assert not Computation.objects.exists()


def test_the_sweep_enqueues_what_waits_and_the_task_goes_on_until_nothing_does(asked, enqueued):
    tasks.sweep()
    assert not enqueued
    rows = asked(), asked(MORE)
    tasks.sweep()
    assert enqueued == [1]

    tasks.compute_next()
    assert enqueued == [1, 1]
    tasks.compute_next()

    assert enqueued == [1, 1]
    assert {now(row).state for row in rows} == {State.DONE}


def test_a_process_computes_one_at_a_time_so_that_its_other_work_goes_on(asked, ben, monkeypatch):
    first, second, during = asked(), asked(person=ben, delta=MORE), []
    run_next = computing.run_next

    def while_another_thread_asks(owner):
        tasks.compute_next()
        during.append({now(first).state, now(second).state})
        return run_next(owner)

    monkeypatch.setattr(computing, "run_next", while_another_thread_asks)
    tasks.compute_next()

    assert during == [{State.QUEUED}]
    assert (now(first).state, now(second).state) == (State.DONE, State.QUEUED)


def test_computations_have_the_queue_of_long_work():
    assert app.amqp.router.route({}, "changes.compute_next")["queue"].name == "searches"


def test_a_list_of_computations_reads_neither_questions_nor_impacts(asked, ada, cluster):
    asked()
    computing.run_next("worker")

    (row,) = asking.newest_of(ada, cluster, 5)

    assert {"question", "packed_impact"} <= row.get_deferred_fields()
    assert row.asked_words == "1 ACL to add and 1 ACL to remove"
    assert row.loses


# --- submitting -------------------------------------------------------------------------------


def test_a_change_is_submitted_with_the_impact_that_a_worker_computed(cluster, asked, ada):
    with pytest.raises(preview.TooMuch):
        review.request(cluster=cluster, author=ada, title="t", delta=WIDE)
    row = asked()
    computing.run_next("worker")

    change = review.request(cluster=cluster, author=ada, title="t", delta=WIDE)

    stored = Change.objects.get(pk=change.pk)
    assert (stored.state, stored.loses) == (Change.State.IN_REVIEW, now(row).loses)
    assert stored.impact_hash == now(row).impact_hash


def test_a_change_is_submitted_as_of_the_revision_that_was_computed(cluster, kafka, asked, ada):
    row = asked()
    computing.run_next("worker")
    kafka.edit(add=[allow("User:more", "READ", "orders")])
    reread(cluster)
    of_then = question_of(now(row)).sides[0].view

    change = review.request(cluster=cluster, author=ada, title="t", delta=WIDE, computed_on=of_then)

    assert change.revision == of_then.revision != in_force(cluster).revision


def test_what_is_declared_since_makes_a_computed_impact_too_old_to_submit(cluster, asked, ada):
    row = asked()
    computing.run_next("worker")
    type(cluster).objects.update(super_users="User:root")
    of_then = question_of(now(row)).sides[0].view

    with pytest.raises(ChangeError, match="declared of test-eu has changed since"):
        review.request(cluster=cluster, author=ada, title="t", delta=WIDE, computed_on=of_then)
    assert not Change.objects.exists()


def test_a_draft_that_waits_is_submitted_with_what_was_computed_for_it(cluster, kafka, ask, ada):
    change = ask(*WIDE.add, remove=WIDE.remove)
    row = asking.ask_for_change(change, person=ada)
    computing.run_next("worker")
    kafka.edit(add=[allow("User:more", "READ", "orders")])
    reread(cluster)
    of_then = question_of(now(row)).sides[0].view

    with pytest.raises(preview.TooMuch):
        review.submit(change=change, actor=ada)
    review.submit(change=change, actor=ada, computed_on=of_then)

    stored = Change.objects.get(pk=change.pk)
    assert (stored.state, stored.impact_hash) == (Change.State.IN_REVIEW, now(row).impact_hash)
    assert now(row).for_change == change


def test_a_change_edited_while_it_is_submitted_is_refused_under_the_lock(cluster, ask, ada, monkeypatch):
    change = ask(*WIDE.add, remove=WIDE.remove)
    row = asking.ask_for_change(change, person=ada)
    computing.run_next("worker")
    side = question_of(now(row)).sides[0]
    seen = review._seen

    def edited_meanwhile(*what):
        found = seen(*what)
        review.edit(change=change, actor=ada, delta=Delta(add=(allow("User:z", "READ", "q"),)))
        return found

    monkeypatch.setattr(review, "_seen", edited_meanwhile)

    with pytest.raises(ChangeError, match="was edited since, so this is not its impact"):
        review.submit(change=change, actor=ada, computed_on=side.view, shown=side.delta)
    assert Change.objects.get().state == Change.State.DRAFT


def test_a_large_change_is_reviewed_approved_and_written_as_a_small_one(cluster, kafka, asked, ada, ben):
    asked()
    computing.run_next("worker")
    change = review.request(cluster=cluster, author=ada, title="t", delta=WIDE)

    page = queries.change_page(Change.objects.get(pk=change.pk), ben)
    review.approve(change=change, reviewer=ben)

    assert page.as_of_now.same_effect
    assert not page.notes
    assert rollout.apply(change.pk) == Change.State.APPLIED
    assert WIDE.add[0] in kafka.bindings
