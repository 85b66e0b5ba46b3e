"""What the worker does when the world is not as the approval says: drift, tampering, refusals, silence."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from aclweb.accounts.models import Grant, Role
from aclweb.audit import trail
from aclweb.audit.models import AuditError
from aclweb.changes import drift as drifting
from aclweb.changes import failpoints, review, tasks
from aclweb.changes.impact import impact_hash
from aclweb.changes.models import Change, ChangeError, ChangeItem
from aclweb.changes.preview import plan_hash
from aclweb.changes.rollout import hold
from aclweb.changes.rollout import preflight as checking
from aclweb.changes.rollout import run as rollout
from aclweb.changes.stored_impact import stored
from aclweb.clusters import AclSnapshot, Outcome, OutcomeKind
from aclweb.inventory import leases
from aclweb.inventory.findings import lint_run
from aclweb.inventory.findings import tasks as lint_tasks
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.tasks import sync_cluster
from tests.builders import allow, deny
from tests.changes.conftest import WISH, reread
from tests.changes.dying import CrashError
from tests.changes.file_cluster import FileClient

BOB = allow("User:bob", "READ", "orders")

pytestmark = pytest.mark.django_db


def ended(change: Change) -> Change:
    """Let a worker take the change up, and return it as it is then."""
    rollout.apply(change.pk)
    return Change.objects.get(pk=change.pk)


# --- Drift ---


def test_a_foreign_edit_with_the_same_effect_goes_on_with_a_note(kafka, approved):
    change = approved(WISH)
    kafka.edit(add=[allow("User:other", "READ", "orders")])

    change = ended(change)

    assert change.state == "APPLIED"
    checked = trail.trail(change.key).get(verb="change.checked")
    assert "1 ACL was added" in checked.facts["note"]
    assert allow("User:other", "READ", "orders") in kafka.bindings


@pytest.mark.parametrize(
    "foreign",
    [
        deny("User:ledger", "READ", "payments.eu"),
        allow("User:ledger", "ALL", "payments.", pattern="PREFIXED"),
        deny("User:*", "ALL", "*"),
    ],
    ids=["denied-now", "allowed-by-another-rule", "everybody-denied"],
)
def test_a_foreign_edit_with_another_effect_blocks_and_writes_nothing(kafka, approved, foreign):
    change = approved(WISH)
    kafka.edit(add=[foreign])

    change = ended(change)

    assert change.state == "BLOCKED_STALE"
    assert re.search(
        r"As submitted, User:ledger would gain Read( and Describe)? on payments\.eu\. Now it would not\.",
        change.sentence,
    )
    assert kafka.calls() == []


@pytest.fixture
def slow_check(kafka, monkeypatch):
    """Return a function that lets every check take long, and somebody write the next of these ACLs during each."""

    def given(*foreign):
        left = list(foreign)

        def slow(*words, **options):
            moved = drifting.drift(*words, **options)
            if left:
                kafka.edit(add=[left.pop(0)])
            return moved

        monkeypatch.setattr(checking, "LONG_CHECK_SECONDS", 0.0)
        monkeypatch.setattr(checking, "drift", slow)

    return given


def test_what_is_written_during_a_long_check_is_checked_too(kafka, approved, slow_check):
    change = approved(WISH)
    slow_check(allow("User:other", "READ", "orders"), deny("User:*", "ALL", "*"))

    change = ended(change)

    assert change.state == "BLOCKED_STALE"
    assert kafka.calls() == []


def test_after_a_long_check_a_cluster_that_stayed_as_it_was_is_written(approved, slow_check):
    slow_check()

    assert ended(approved(WISH)).state == "APPLIED"


def test_a_cluster_that_changes_during_every_long_check_is_left_alone(kafka, approved, slow_check):
    change = approved(WISH)
    slow_check(*(allow(f"User:other-{number}", "READ", "orders") for number in range(checking.MOST_CHECKS)))

    change = ended(change)

    assert (change.state, kafka.calls()) == ("FAILED", [])
    assert "during each of 3 checks of the impact" in change.sentence


def test_a_blocked_change_is_submitted_again_and_approved_anew(kafka, cluster, approved, ada, ben):
    change = approved(WISH)
    kafka.edit(add=[deny("User:*", "DESCRIBE", "*")])
    change = ended(change)
    assert change.state == "BLOCKED_STALE"
    reread(cluster)

    change = review.submit(change=change, actor=ada)
    assert change.approvals.count() == 0
    change = ended(review.approve(change=change, reviewer=ben))

    assert change.state == "APPLIED"


def test_a_new_topic_under_an_approved_prefix_is_the_same_effect(kafka, approved):
    change = approved(allow("User:ledger", "READ", "payments.", pattern="PREFIXED"))
    kafka.set_topics("orders", "payments.eu", "payments.us", "payments.new")

    change = ended(change)

    assert change.state == "APPLIED"
    assert "1 topic was added" in trail.trail(change.key).get(verb="change.checked").facts["note"]


@pytest.mark.parametrize(
    "foreign",
    [
        allow("User:other", "READ", "payments.eu.", pattern="PREFIXED"),
        allow("User:other", "READ", "payments.not-yet"),
        allow("User:other", "READ", "*"),
        deny("User:other", "READ", "pay", pattern="PREFIXED"),
        allow("User:other", "READ", "orders", host="10.1.2.3"),
    ],
    ids=["longer-prefix", "exact-name-under-it", "every-topic", "shorter-prefix", "elsewhere-from-a-host"],
)
def test_acls_for_others_under_an_approved_prefix_do_not_block(kafka, approved, foreign):
    change = approved(allow("User:ledger", "READ", "payments.", pattern="PREFIXED"))
    kafka.edit(add=[foreign])

    assert ended(change).state == "APPLIED"


@pytest.mark.parametrize(
    "foreign",
    [
        deny("User:ledger", "READ", "payments.eu.", pattern="PREFIXED"),
        deny("User:ledger", "READ", "payments.not-yet"),
        allow("User:ledger", "READ", "payments.not.", pattern="PREFIXED"),
    ],
    ids=["denied-under-a-longer-prefix", "denied-on-a-name-to-come", "allowed-under-a-longer-prefix"],
)
def test_acls_for_the_same_principal_under_an_approved_prefix_block(kafka, approved, foreign):
    change = approved(allow("User:ledger", "READ", "payments.", pattern="PREFIXED"))
    kafka.edit(add=[foreign])

    change = ended(change)

    assert change.state == "BLOCKED_STALE", change.sentence
    assert kafka.calls() == []


def test_what_somebody_else_did_already_is_no_effect_of_ours(kafka, approved):
    change = approved(WISH, remove=(BOB,))
    kafka.edit(add=[WISH], remove=[BOB])

    change = ended(change)

    assert change.state == "APPLIED"
    assert [(item.state, item.sentence) for item in change.items.all()] == [
        ("NOOP_ALREADY", "It was there already."),
        ("NOOP_ALREADY", "It was gone already."),
    ]
    assert kafka.calls() == []


def test_another_declaration_of_super_users_blocks(kafka, cluster, approved):
    change = approved(WISH)
    Cluster.objects.filter(pk=cluster.pk).update(super_users="User:admin;User:ledger")

    change = ended(change)

    assert change.state == "BLOCKED_STALE"
    assert kafka.calls() == []


def test_a_row_that_depends_on_a_range_of_an_older_version_blocks_nothing(kafka, approved):
    change = approved(allow("User:ledger", "READ", "payments.eu", host="10.0.0.0/8"))
    (group,) = change.impact.groups
    elsewhere = change.impact.axes.hosts.others
    reason = "It depends on whether the address lies in 10.0.0.0/8 (DENIED before, ALLOWED after)"
    depends = replace(group, change="depends", hosts=elsewhere, after=group.before, reason=reason)
    older = replace(change.impact, groups=(group, depends))
    hashed = {"impact_hash": impact_hash(older)}
    Change.objects.filter(pk=change.pk).update(**stored(older), **hashed)
    change.approvals.update(**hashed)

    change = ended(change)

    assert change.state == "APPLIED", change.sentence


def test_an_approval_is_refused_while_the_effect_is_not_the_one_submitted(kafka, cluster, ask, ada, ben):
    change = review.submit(change=ask(WISH), actor=ada)
    kafka.edit(add=[deny("User:ledger", "READ", "payments.eu")])
    reread(cluster)

    with pytest.raises(ChangeError, match="Ask ada to submit it again"):
        review.approve(change=change, reviewer=ben)


def test_foreign_edits_during_the_run_are_kept_and_reported(kafka, approved):
    theirs = allow("User:theirs", "READ", "payments.eu")
    change = approved(WISH)
    kafka.fail(foreign=[[theirs.as_dict()], []])

    change = ended(change)

    assert change.state == "PARTIAL"
    assert "somebody else changed 1 ACL" in change.sentence
    assert {theirs, WISH} <= kafka.bindings


def test_a_change_ends_in_force_when_it_is_run_again_after_a_foreign_edit(kafka, approved, ada):
    change = approved(WISH)
    kafka.fail(foreign=[[allow("User:theirs", "WRITE", "payments.eu").as_dict()], []])
    change = ended(change)

    change = ended(review.queue(change=change, actor=ada))

    assert change.state == "APPLIED"
    assert [item.state for item in change.items.all()] == ["APPLIED"]


def test_an_acl_taken_away_while_we_wrote_is_not_called_in_force(kafka, approved):
    change = approved(WISH)
    kafka.fail(foreign=[[], [WISH.as_dict()]])

    change = ended(change)

    assert change.state == "PARTIAL"
    assert change.items.get().state == ChangeItem.State.FAILED


def test_another_cluster_at_the_same_address_is_never_written(kafka, approved):
    change = approved(WISH)
    kafka.set_cluster_id("another-cluster")

    change = ended(change)

    assert change.state == "FAILED"
    assert "Another cluster answers" in change.sentence
    assert kafka.calls() == []


def test_nothing_is_written_during_a_migration(kafka, approved):
    change = approved(WISH)
    kafka.fail(migrating=True)

    assert ended(change).state == "FAILED"
    assert kafka.calls() == []


# --- Paper ---


@pytest.mark.parametrize(
    "tamper",
    [
        {"principal": "User:mallory"},
        {"operation": "ALL"},
        {"resource_name": "*"},
        {"host": "10.0.0.1"},
        {"op": "remove"},
        {"phase": 4},
    ],
    ids=lambda tamper: next(iter(tamper)),
)
def test_an_item_altered_in_the_database_is_refused(kafka, approved, tamper):
    change = approved(WISH)
    ChangeItem.objects.filter(change=change).update(**tamper)

    change = ended(change)

    assert change.state == "FAILED"
    assert "not what was approved" in change.sentence
    assert kafka.calls() == []


def test_an_item_smuggled_in_is_refused_even_with_a_fitting_plan_hash(kafka, approved):
    change = approved(WISH)
    ChangeItem.objects.create(
        change=change, position=1, phase=2, op="add", **allow("User:mallory", "ALL", "*").as_dict()
    )
    steps = [(item.phase, item.op, item.binding) for item in change.items.all()]
    altered = plan_hash(change.cluster, change.author_id, steps)
    Change.objects.filter(pk=change.pk).update(plan_hash=altered)

    change = ended(change)

    assert change.state == "FAILED"
    assert kafka.calls() == []


def test_even_the_approvals_cannot_be_rewritten_without_the_trail(kafka, approved):
    change = approved(WISH)
    ChangeItem.objects.filter(change=change).update(operation="ALL")
    steps = [(item.phase, item.op, item.binding) for item in change.items.all()]
    altered = plan_hash(change.cluster, change.author_id, steps)
    Change.objects.filter(pk=change.pk).update(plan_hash=altered)
    change.approvals.update(plan_hash=altered)

    change = ended(change)

    assert change.state == "FAILED"
    assert kafka.calls() == []


def test_an_approver_who_lost_the_right_before_the_run_does_not_count(kafka, cluster, approved, ben, dot):
    change = approved(WISH)
    Grant.objects.filter(user=ben).update(role=Role.REQUESTER)

    change = ended(change)

    assert change.state == "IN_REVIEW"
    assert "ben may no longer approve" in change.sentence
    assert kafka.calls() == []
    assert ended(review.approve(change=change, reviewer=dot)).state == "APPLIED"


def test_an_approver_who_was_switched_off_before_the_run_does_not_count(kafka, approved, ben):
    change = approved(WISH)
    ben.is_active = False
    ben.save()

    assert ended(change).state == "IN_REVIEW"
    assert kafka.calls() == []


def test_a_cluster_that_asks_for_more_approvals_since_gets_them(kafka, cluster, approved):
    change = approved(WISH)
    Cluster.objects.filter(pk=cluster.pk).update(approvals_needed=2)

    assert ended(change).state == "IN_REVIEW"
    assert kafka.calls() == []


def test_nothing_is_sent_when_its_audit_event_cannot_be_written(kafka, approved, monkeypatch):
    change = approved(WISH)
    record = trail.record

    def full(*, verb, **facts):
        if verb == "change.writing":
            raise AuditError("The disk is full.")
        return record(verb=verb, **facts)

    monkeypatch.setattr(hold.trail, "record", full)
    with pytest.raises(AuditError):
        rollout.apply(change.pk)

    assert kafka.calls() == []
    assert change.items.get().state == ChangeItem.State.PENDING


# --- Answers ---


def test_a_refusal_stops_before_the_next_acl(kafka, approved):
    kafka.fail(refuse=["User:refused"])
    change = approved(deny("User:refused", "READ", "orders"), WISH)

    change = ended(change)

    assert change.state == "FAILED"
    refused, skipped = change.items.all()
    assert (refused.state, skipped.state) == ("FAILED", "SKIPPED")
    assert skipped.sentence == "Not tried, because the cluster refused another ACL before."
    assert "The broker refuses this principal" in change.sentence
    assert WISH not in kafka.bindings


def test_what_others_wrote_in_place_of_a_skipped_item_is_no_effect_of_ours(kafka, approved, monkeypatch):
    kafka.fail(refuse=["User:refused"])
    change = approved(deny("User:refused", "READ", "orders"), WISH)
    monkeypatch.setattr(failpoints, "hit", lambda name: name == "before-verify" and kafka.edit(add=[WISH]))

    change = ended(change)

    assert [item.state for item in change.items.all()] == ["FAILED", "NOOP_ALREADY"]
    assert (change.state, change.has_effects) == ("FAILED", False)


def test_what_is_sent_is_recorded_before_and_what_was_answered_after(approved):
    change = ended(approved(WISH))

    told = {event.verb: event.facts for event in trail.trail(change.key)}
    assert told["change.writing"]["rules"] == [WISH.as_dict()]
    assert told["change.writing"]["count"] == "1 ACL"
    assert told["change.wrote"]["told"] == "1 written"
    assert "change.unanswered" not in told


def test_the_acls_of_one_phase_are_sent_in_one_call(kafka, approved):
    assert ended(approved(WISH, allow("User:ledger", "WRITE", "orders"))).state == "APPLIED"

    (call,) = kafka.calls()
    assert len(call["bindings"]) == 2


def test_the_end_of_a_change_is_recorded_with_what_became_of_each_item(approved):
    change = ended(approved(WISH))

    told = trail.trail(change.key).get(verb="change.in_force")
    assert told.facts["items"] == [{"position": 0, "state": "APPLIED", "said": ""}]
    assert change.applied_revision.cause == "ours"


def test_an_acl_that_was_there_when_the_first_call_came_is_no_effect_of_ours(kafka, approved, monkeypatch):
    change = approved(WISH)
    monkeypatch.setattr(failpoints, "hit", lambda name: name == "before-call" and kafka.edit(add=[WISH]))

    change = ended(change)

    item = change.items.get()
    assert (item.state, item.sent) == ("NOOP_ALREADY", 0)
    assert (change.state, change.has_effects) == ("APPLIED", False)
    assert change.sentence == "1 so already. Read back and found as approved."


def test_a_refusal_without_a_sentence_ends_as_failed_all_the_same(approved, monkeypatch):
    def refuse(self, verb, bindings):
        return tuple(Outcome(binding, OutcomeKind.REFUSED) for binding in bindings)

    monkeypatch.setattr(FileClient, "write", refuse)

    change = ended(approved(WISH))

    assert (change.state, change.sentence) == ("FAILED", "1 refused. Nothing was written.")


def test_a_refusal_after_something_was_written_is_partly_written(kafka, approved, ada):
    kafka.fail(refuse=["User:refused"])
    change = approved(WISH, allow("User:refused", "READ", "orders"))

    change = ended(change)

    assert change.state == "PARTIAL"
    assert [item.state for item in change.items.all()] == ["APPLIED", "FAILED"]
    undo = review.draft_undo(change=change, actor=ada)
    assert [item.binding for item in undo.items.all()] == [WISH]


def test_a_partly_written_change_goes_on_where_it_stopped(kafka, approved, ada):
    kafka.fail(refuse=["User:refused"])
    change = ended(approved(WISH, allow("User:refused", "READ", "orders")))
    kafka.fail()

    change = ended(review.queue(change=change, actor=ada))

    assert change.state == "APPLIED"
    assert [entry["bindings"] for entry in kafka.calls()] == [
        [WISH],
        [allow("User:refused", "READ", "orders")],
    ]


def test_an_answer_that_was_lost_is_settled_by_reading_back(kafka, approved):
    kafka.fail(mute=1)

    change = ended(approved(WISH))

    assert change.state == "APPLIED"
    assert change.items.get().state == ChangeItem.State.APPLIED
    assert len(kafka.calls()) == 1


def test_a_request_that_was_lost_is_sent_again(kafka, approved):
    kafka.fail(deaf=1)

    change = ended(approved(WISH))

    assert change.state == "APPLIED"
    assert change.items.get().evidence["sent"] == 2


def test_a_cluster_that_never_answers_ends_as_failed_and_says_so(kafka, approved):
    kafka.fail(deaf=99)

    change = ended(approved(WISH))

    assert change.state == "PARTIAL"
    assert "no answer several times" in change.sentence
    assert WISH not in kafka.bindings


def test_an_unreachable_cluster_keeps_the_change_waiting_and_costs_no_attempt(kafka, approved):
    kafka.fail(unreachable=7)
    change = approved(WISH)
    for _ in range(7):
        assert rollout.apply(change.pk) == "QUEUED"
        assert rollout.apply(change.pk) == "QUEUED"  # not before its time
        Change.objects.update(not_before=timezone.now() - timedelta(seconds=1))

    change = ended(change)

    assert change.state == "APPLIED"
    assert change.attempts == 1


def test_a_cluster_gone_after_the_write_leaves_the_outcome_unknown_until_it_is_back(kafka, approved):
    kafka.fail(mute=1)
    change = approved(WISH)
    readings = []

    def vanish(name):
        readings.append(name)
        if name == "replied":
            kafka.fail(mute=1, unreadable=1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failpoints, "hit", vanish)
        assert rollout.apply(change.pk) == "UNKNOWN"
    assert hold.waiting() == []

    Change.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    assert hold.waiting() == [change.pk]
    change = ended(change)
    assert change.state == "APPLIED"
    assert change.items.get().sentence == "No answer came; reading back shows that it is written."
    assert len(kafka.calls()) == 1


def test_an_acl_is_not_taken_for_gone_where_its_resource_cannot_be_read(kafka, approved, monkeypatch):
    kafka.fail(deaf=1)
    change = approved(remove=(BOB,))
    monkeypatch.setattr(failpoints, "hit", lambda name: name == "replied" and garble(monkeypatch))

    change = ended(change)

    assert change.state == "UNKNOWN"
    assert "What the cluster has for TOPIC 'orders' (LITERAL) cannot be read" in change.sentence
    assert BOB in kafka.bindings

    Change.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    change = ended(change)

    assert change.state == "PARTIAL"
    assert "writing would overwrite it" in change.sentence


def garble(monkeypatch):
    """Let the cluster hold something on BOB's resource that nobody understands."""
    read = FileClient.read_acls

    def read_acls(self):
        left = tuple(binding for binding in read(self).bindings if binding.pattern != BOB.pattern)
        return AclSnapshot(left, unreadable=(BOB.pattern,))

    monkeypatch.setattr(FileClient, "read_acls", read_acls)


def test_a_sync_that_was_not_stored_is_not_named_as_the_proof(kafka, approved, monkeypatch):
    change = approved(WISH)
    before = change.revision

    def fail_at_the_reading_to_be_stored(name):
        if name == "verified":
            kafka.fail(unreadable=1)

    monkeypatch.setattr(failpoints, "hit", fail_at_the_reading_to_be_stored)

    change = ended(change)

    assert change.state == "APPLIED"
    assert change.cluster.revision == before
    assert change.applied_revision is None


def test_a_change_in_force_asks_for_what_is_found_in_the_acls_once(
    cluster, approved, monkeypatch, django_capture_on_commit_callbacks
):
    asked = []
    monkeypatch.setattr(lint_tasks.lint_cluster, "delay", asked.append)
    change = approved(WISH)

    with django_capture_on_commit_callbacks(execute=True):
        assert ended(change).state == "APPLIED"
    lint_run.run(cluster, owner="me")
    lint_tasks.ask_for_findings(Cluster.objects.get(pk=cluster.pk))

    assert asked == [cluster.pk]


def test_a_sync_by_the_clock_does_not_report_our_edit_as_made_elsewhere(
    cluster, kafka, approved, monkeypatch
):
    change = approved(WISH)
    monkeypatch.setattr(syncing, "connect", FileClient)
    monkeypatch.setattr(failpoints, "hit", lambda name: name == "before-verify" and sync_cluster(cluster.pk))

    assert ended(change).state == "APPLIED"

    told = trail.trail(f"cluster:{cluster.slug}").filter(verb="cluster.changed").last()
    assert told.facts["origin"] == "made with aclweb"
    assert leases.holder(Cluster.objects.filter(pk=cluster.pk)) is None


@pytest.mark.parametrize(
    ("foreign", "origin", "cause"),
    [
        ([], "made with aclweb", "ours"),
        ([allow("User:x", "READ", "y")], "1 of them made elsewhere and the others with aclweb", "reading"),
    ],
    ids=["ours alone", "and another"],
)
def test_what_a_lost_worker_wrote_is_reported_as_ours_by_whoever_reads_it_first(
    cluster, kafka, approved, monkeypatch, foreign, origin, cause
):
    change = approved(WISH, remove=(BOB,))
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "hit", lambda name: name == "before-verify" and die(name))
        with pytest.raises(CrashError):
            rollout.apply(change.pk)
    kafka.edit(add=foreign)

    reread(cluster)

    told = trail.trail(f"cluster:{cluster.slug}").filter(verb="cluster.changed").last()
    assert told.facts["origin"] == origin
    cluster.refresh_from_db()
    assert cluster.revision.cause == cause
    Change.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert ended(change).state == "APPLIED"


@pytest.mark.parametrize("stored", [True, False], ids=["read after the end", "not read after the end"])
def test_what_is_undone_by_hand_after_a_change_is_reported_as_made_elsewhere(
    cluster, kafka, approved, monkeypatch, stored
):
    change = approved(WISH)
    if not stored:
        monkeypatch.setattr(failpoints, "hit", lambda name: name == "verified" and kafka.fail(unreadable=1))
    assert ended(change).state == "APPLIED"

    reread(cluster)
    kafka.edit(remove=[WISH])
    reread(cluster)

    told = trail.trail(f"cluster:{cluster.slug}").filter(verb="cluster.changed")
    assert [event.facts["origin"] for event in told] == [
        "found in the first sync",
        "made with aclweb",
        "made elsewhere",
    ]


def die(name):
    raise CrashError(name)


def instead_of_sleep(monkeypatch, nap):
    """Call this wherever a rollout would sleep; threads that other tests left behind sleep as they do."""
    here, sleep = threading.get_ident(), time.sleep
    monkeypatch.setattr(
        hold.time, "sleep", lambda seconds: nap(seconds) if threading.get_ident() == here else sleep(seconds)
    )


def test_a_sync_under_way_is_waited_for_and_not_for_ever(cluster, kafka, approved, monkeypatch):
    change = approved(WISH)
    leases.take(Cluster.objects.filter(pk=cluster.pk), owner="reading", seconds=60)
    naps = []
    instead_of_sleep(monkeypatch, naps.append)

    assert ended(change).state == "APPLIED"
    assert len(naps) == hold.BARRIER_TRIES
    assert leases.holder(Cluster.objects.filter(pk=cluster.pk)) == "reading"


def test_a_change_with_effects_never_says_that_nothing_happened(kafka, approved, ada):
    kafka.fail(refuse=["User:refused"])
    change = ended(approved(WISH, allow("User:refused", "READ", "orders")))
    kafka.fail()
    kafka.edit(add=[deny("User:refused", "READ", "orders")])
    yesterday = timezone.now() - timedelta(days=1)
    Change.objects.filter(pk=change.pk).update(finished_at=yesterday)

    change = ended(review.queue(change=change, actor=ada))

    assert change.state == "PARTIAL"
    assert "What an earlier run wrote is still there" in change.sentence
    assert change.finished_at > yesterday
    with pytest.raises(ChangeError):
        review.withdraw(change=change, actor=ada)


def test_the_next_phase_waits_until_the_cluster_shows_the_one_before(kafka, approved, monkeypatch):
    kafka.fail(lag=3)
    change = approved(WISH, deny("User:other", "READ", "orders"))
    seen = []
    instead_of_sleep(monkeypatch, lambda _: seen.append(len(kafka.calls())))

    assert ended(change).state == "APPLIED"
    assert seen == [1, 1, 1]


def test_a_phase_that_never_shows_ends_in_waiting_and_not_in_the_next_phase(kafka, approved):
    kafka.fail(lag=99)
    change = approved(WISH, deny("User:other", "READ", "orders"))

    change = ended(change)

    assert change.state == "UNKNOWN"
    assert "does not show yet" in change.sentence
    assert [entry["bindings"] for entry in kafka.calls()] == [[deny("User:other", "READ", "orders")]]


# --- One at a time ---


def test_one_change_at_a_time_is_under_way_on_a_cluster(kafka, approved):
    first, second = approved(WISH), approved(allow("User:second", "READ", "orders"))
    Change.objects.filter(pk=first.pk).update(
        state="APPLYING", lease_until=timezone.now() + timedelta(minutes=5), lease_owner="somebody"
    )

    assert rollout.apply(second.pk) == "QUEUED"
    assert kafka.calls() == []
    assert rollout.apply(first.pk) == "APPLYING"


def test_the_next_change_of_a_cluster_is_enqueued_when_one_is_done(approved, rung):

    first, second = approved(WISH), approved(allow("User:second", "READ", "orders"))

    tasks.apply_change(first.pk)

    assert rung[-1] == second.pk


def test_behind_a_change_that_is_done_one_of_its_own_cluster_is_next(approved, other_cluster):
    elsewhere, done, second, _third = (approved(WISH) for _ in range(4))
    Change.objects.filter(pk=elsewhere.pk).update(cluster=other_cluster)
    Change.objects.filter(pk=done.pk).update(state=Change.State.APPLIED)

    assert hold.waiting_behind(done.pk) == [second.pk]


def test_the_sweep_rings_for_queued_changes_and_lost_leases_only(approved, rung):

    queued = approved(WISH)
    lost = approved(allow("User:second", "READ", "orders"))
    past = timezone.now() - timedelta(seconds=1)
    Change.objects.filter(pk=lost.pk).update(state="VERIFYING", lease_until=past)
    done = approved(allow("User:third", "READ", "orders"))
    Change.objects.filter(pk=done.pk).update(state="APPLIED", lease_until=past)
    rung.clear()

    tasks.sweep()

    assert rung == [queued.pk, lost.pk]


def test_a_worker_whose_row_was_taken_over_stores_nothing(kafka, approved, monkeypatch):
    change = approved(WISH)

    def take_over(name):
        if name == "replied":
            Change.objects.filter(pk=change.pk).update(epoch=change.epoch + 7)

    monkeypatch.setattr(failpoints, "hit", take_over)
    assert rollout.apply(change.pk) == "APPLYING"

    assert change.items.get().state == ChangeItem.State.INTENT
    assert not trail.trail(change.key).filter(verb="change.wrote").exists()


def test_what_was_perhaps_written_cannot_be_withdrawn_as_if_nothing_was(kafka, approved, ada):
    kafka.fail(deaf=99)
    change = ended(approved(WISH))
    change = review.queue(change=change, actor=ada)

    with pytest.raises(ChangeError, match="undo it instead"):
        review.withdraw(change=change, actor=ada)


def test_a_worker_whose_lease_ran_out_stops_even_if_nobody_took_over(kafka, approved, monkeypatch):
    change = approved(WISH)

    def run_out(name):
        if name == "read":
            Change.objects.filter(pk=change.pk).update(lease_until=timezone.now() - timedelta(seconds=1))

    monkeypatch.setattr(failpoints, "hit", run_out)

    assert rollout.apply(change.pk) == "PREFLIGHT"
    assert kafka.calls() == []
    assert hold.waiting() == [change.pk]


def test_each_claim_has_an_epoch_of_its_own(approved, monkeypatch):
    change = approved(WISH)
    epochs = [change.epoch]
    monkeypatch.setattr(failpoints, "hit", die)
    for _ in range(2):
        with pytest.raises(CrashError):
            rollout.apply(change.pk)
        Change.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        epochs.append(Change.objects.get(pk=change.pk).epoch)

    assert epochs == sorted(set(epochs))


def test_a_change_tried_five_times_is_stopped_unwritten_and_says_why(kafka, approved):
    change = approved(WISH)
    Change.objects.filter(pk=change.pk).update(attempts=hold.MOST_ATTEMPTS)

    stopped = ended(change)

    assert stopped.state == "QUARANTINED"
    assert stopped.sentence == "Stopped after 5 tries: each worker that claimed it was lost."
    assert stopped.epoch == change.epoch + 1
    assert stopped.finished_at is not None
    event = trail.trail(change.key).get(verb="change.quarantined")
    assert (event.actor, event.facts["attempts"]) == ("aclweb", 5)
    assert kafka.calls() == []


def test_a_change_tried_four_times_is_tried_once_more(approved):
    change = approved(WISH)
    Change.objects.filter(pk=change.pk).update(attempts=hold.MOST_ATTEMPTS - 1)

    assert ended(change).state == "APPLIED"


@pytest.mark.django_db(transaction=True)
def test_a_step_longer_than_the_lease_keeps_it(cluster, kafka, approved, monkeypatch, settings):
    settings.ACLWEB_LEASE_SECONDS = 2
    slow = []

    def read(name):
        if name == "read" and not slow:
            slow.append(1)
            time.sleep(4.5)
            slow[0] = hold.waiting()

    monkeypatch.setattr(failpoints, "hit", read)

    assert rollout.apply(approved(WISH).pk) == Change.State.APPLIED

    assert slow == [[]], "no other worker may take the change up meanwhile"
