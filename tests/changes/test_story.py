"""The whole story of a change, from a draft to the cluster and back."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from aclweb.audit import trail
from aclweb.changes import review
from aclweb.changes.models import ChangeError, ChangeItem
from aclweb.changes.rollout import run as rollout
from aclweb.inventory.current.view import in_force
from tests.builders import allow, deny
from tests.changes.conftest import WISH, reread

BOB = allow("User:bob", "READ", "orders")

pytestmark = pytest.mark.django_db


def test_an_approved_change_is_written_read_back_and_shown(cluster, kafka, ask, ada, ben):
    change = ask(WISH, remove=(BOB,))
    change = review.submit(change=change, actor=ada)
    assert change.state == "IN_REVIEW"
    assert [gain.principal for gain in change.impact.gains] == ["User:ledger"] * 2  # READ implies DESCRIBE

    change = review.approve(change=change, reviewer=ben, comment="Fine.")
    assert change.state == "QUEUED"
    assert WISH not in kafka.bindings

    assert rollout.apply(change.pk) == "APPLIED"

    change.refresh_from_db()
    assert WISH in kafka.bindings
    assert BOB not in kafka.bindings
    assert [item.state for item in change.items.all()] == ["APPLIED", "APPLIED"]
    assert WISH in in_force(cluster).index
    cluster.refresh_from_db()
    assert change.applied_revision == cluster.revision
    assert cluster.revision.cause == "ours"
    assert trail.verify().ok


def test_the_trail_holds_what_was_written_and_the_revision_that_proves_it(cluster, approved):
    change = approved(WISH)

    rollout.apply(change.pk)

    cluster.refresh_from_db()
    about = trail.trail(change.key)
    assert about.get(verb="change.writing").facts["rules"] == [WISH.as_dict()]
    proof = about.get(verb="change.in_force").facts
    assert proof["revision"] == cluster.revision.number
    assert [item["state"] for item in proof["items"]] == ["APPLIED"]


def test_a_change_in_force_names_the_revision_that_shows_it(cluster, approved, ben, client):
    change = approved(WISH)
    client.force_login(ben)
    door = f"/api/v1/changes/{change.key}/"
    waiting = client.get(reverse("change", args=[change.pk])).content.decode()
    asked = client.get(door).json()

    rollout.apply(change.pk)

    cluster.refresh_from_db()
    number = cluster.revision.number
    page = client.get(reverse("change", args=[change.pk])).content.decode()
    address = f"{reverse('acls', args=[cluster.slug])}?as_of={number}"
    assert "Read back as revision" not in waiting
    assert re.search(rf'Read back as revision <a href="{re.escape(address)}"[^>]*>{number}</a>\.', page)
    assert f"User:{WISH.principal.partition(':')[2]}" in client.get(address).content.decode()
    assert (asked["applied_revision"], client.get(door).json()["applied_revision"]) == (None, number)
    assert client.get("/api/v1/changes/").json()["results"][0]["applied_revision"] == number


def test_the_trail_tells_each_step_once_and_in_order(approved):
    change = approved(WISH)

    rollout.apply(change.pk)

    assert [event.verb for event in trail.trail(change.key)] == [
        "change.drafted",
        "change.submitted",
        "change.approved",
        "change.queued",
        "change.claimed",
        "change.checked",
        "change.writing",
        "change.wrote",
        "change.verifying",
        "change.in_force",
    ]


def test_an_undo_restores_the_exact_set(cluster, kafka, approved, ada, ben):
    before = kafka.bindings
    wanted = deny("User:mallory", "WRITE", "payments.", pattern="PREFIXED")
    change = approved(WISH, wanted, remove=(BOB,))
    assert rollout.apply(change.pk) == "APPLIED"
    assert kafka.bindings != before

    undo = review.draft_undo(change=change, actor=ada)
    review.submit(change=undo, actor=ada)
    review.approve(change=undo, reviewer=ben)

    assert rollout.apply(undo.pk) == "APPLIED"
    assert kafka.bindings == before
    assert undo.undo_of == change


def test_an_undo_leaves_alone_what_was_so_already(kafka, approved, ada):
    change = approved(WISH, allow("User:ledger", "WRITE", "payments.eu"))
    kafka.edit(add=[WISH])

    assert rollout.apply(change.pk) == "APPLIED"
    undo = review.draft_undo(change=change, actor=ada)

    assert [item.binding.operation.name for item in undo.items.all()] == ["WRITE"]
    assert change.items.get(operation="READ").state == ChangeItem.State.NOOP_ALREADY


def test_a_change_is_undone_once(approved, ada):
    change = approved(WISH)
    rollout.apply(change.pk)
    undo = review.draft_undo(change=change, actor=ada)

    with pytest.raises(ChangeError, match=f"{undo.key} undoes this change already"):
        review.draft_undo(change=change, actor=ada)


def test_a_read_only_cluster_ends_with_commands_to_copy(cluster, kafka, approved, rung):
    cluster.kind = "snapshot"
    cluster.save()

    change = approved(WISH)

    assert change.state == "APPROVED"
    assert "commands to copy" in change.sentence
    assert rung == []
    assert rollout.apply(change.pk) == "APPROVED"
    assert WISH not in kafka.bindings


def test_a_cluster_switched_off_for_changes_is_never_written(cluster, kafka, approved):
    change = approved(WISH)
    cluster.changes_enabled = False
    cluster.save()

    assert rollout.apply(change.pk) == "APPROVED"
    assert kafka.calls() == []


def test_the_task_is_enqueued_after_the_commit(django_capture_on_commit_callbacks, approved, rung):
    with django_capture_on_commit_callbacks(execute=True):
        change = approved(WISH)
        assert rung == []

    assert rung == [change.pk]


def test_a_change_that_would_do_nothing_is_not_submitted(ask, ada):
    with pytest.raises(ChangeError, match="nothing to do"):
        review.submit(change=ask(BOB), actor=ada)


def test_nothing_is_submitted_for_a_cluster_that_was_never_read(cluster, ask, ada):
    cluster.revision = None
    cluster.save()

    with pytest.raises(ChangeError, match="has not been synced yet"):
        review.submit(change=ask(WISH), actor=ada)


def test_the_safe_order_is_kept_on_the_cluster(kafka, approved):
    held = deny("User:bob", "DELETE", "orders")
    kafka.edit(add=[held])

    change = approved(WISH, deny("User:eve", "READ", "orders"), remove=(BOB,))
    rollout.apply(change.pk)

    written = [(entry["verb"], entry["bindings"][0].permission_type.name) for entry in kafka.calls()]
    assert written == [("add", "DENY"), ("add", "ALLOW"), ("remove", "ALLOW")]


def test_a_sync_after_the_change_finds_nothing_new(cluster, approved):
    change = approved(WISH)
    rollout.apply(change.pk)
    change.refresh_from_db()

    reread(cluster)

    assert cluster.revision == change.applied_revision
