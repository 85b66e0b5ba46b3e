"""People comment on a change and on its ACLs without deciding, name a ticket, and approve some ACLs alone."""

from __future__ import annotations

import pytest

from aclweb.acl.model import AclBinding, Delta
from aclweb.acl.notation import binding_key
from aclweb.audit import trail
from aclweb.changes import queries, review
from aclweb.changes.models import Change, ChangeError
from aclweb.changes.rollout import run as rollout
from tests.builders import allow
from tests.changes.conftest import WISH, reread

pytestmark = pytest.mark.django_db

BOB = allow("User:bob", "READ", "orders")
OTHER = allow("User:ledger", "WRITE", "orders")


@pytest.fixture
def waiting(ask, ada) -> Change:
    """A change of three ACLs, one of which is removed, that waits for review."""
    return review.submit(change=ask(WISH, OTHER, remove=(BOB,)), actor=ada)


def places(change: Change, *bindings) -> list[int]:
    return [item.position for item in change.items.all() if item.binding in bindings]


def approve_some(change: Change, reviewer, *bindings, **given) -> Change:
    chosen = places(change, *bindings)
    given = {
        "impact_hash": review.preview_of_some(change, chosen).impact_hash,
        "plan_hash": change.plan_hash,
        **given,
    }
    return review.approve_some(change=change, reviewer=reviewer, positions=chosen, **given)


def test_a_comment_decides_nothing_and_is_recorded(waiting, cho):
    review.comment(change=waiting, actor=cho, text=" Why orders? ")
    review.comment(change=waiting, actor=cho, text="Needed?", acl_key=binding_key(OTHER))

    page = queries.change_page(Change.objects.get(pk=waiting.pk), cho)
    (on_it,) = [view for step in page.steps for view in step.items if view.comments]
    assert [said.text for said in page.comments] == ["Why orders?"]
    assert (on_it.binding, [said.text for said in on_it.comments]) == (OTHER, ["Needed?"])
    assert page.change.state == Change.State.IN_REVIEW
    sentences = [trail.sentence(event) for event in trail.trail(waiting.key).filter(verb="change.commented")]
    assert "cho commented. “Why orders?”" in sentences
    assert any(sentence.startswith("cho commented on Allow User:ledger to Write") for sentence in sentences)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"text": "  "}, "needs some words"),
        ({"text": "x" * 5_001}, "at most 5,000 are kept"),
        ({"text": "a\x00"}, "NUL character"),
        (
            {"text": "a", "acl_key": binding_key(allow("User:zed", "READ", "orders"))},
            "has no such ACL any more",
        ),
        ({"text": "a", "acl_key": "1"}, "has no such ACL any more"),
    ],
)
def test_a_comment_that_cannot_be_kept_is_refused_with_a_sentence(waiting, cho, wrong, said):
    with pytest.raises(ChangeError, match=said):
        review.comment(change=waiting, actor=cho, **wrong)

    assert not waiting.comments.exists()


def comments_shown(change: Change, person) -> dict[AclBinding | None, list[str]]:
    """Return what a change's page shows by ACL; under None what is not on an ACL of the change."""
    page = queries.change_page(Change.objects.get(pk=change.pk), person)
    views = [view for step in page.steps for view in step.items]
    shown: dict[AclBinding | None, list[str]] = {None: [said.text for said in page.comments]}
    return shown | {view.binding: [said.text for said in view.comments] for view in views if view.comments}


def test_a_comment_on_an_acl_that_leaves_the_plan_stays_with_the_change(waiting, ada, ben):
    review.comment(change=waiting, actor=ben, text="This one?", acl_key=binding_key(OTHER))
    changed = review.edit(change=waiting, actor=ada, delta=Delta(add=(WISH,)))
    assert comments_shown(changed, ben) == {None: ["This one?"]}

    again = review.edit(change=changed, actor=ada, delta=Delta(add=(OTHER, WISH)))
    assert comments_shown(again, ben) == {OTHER: ["This one?"], None: []}


def test_a_comment_stays_on_its_acl_wherever_that_is_in_the_plan(cluster, ada, ben):
    draft = review.draft(cluster=cluster, author=ada, title="t", delta=Delta(add=(OTHER,)))
    review.comment(change=draft, actor=ada, text="Ledger has to.", acl_key=binding_key(OTHER))
    change = review.edit(change=draft, actor=ada, delta=Delta(add=(WISH, OTHER), remove=(BOB,)))
    change = review.submit(change=change, actor=ada)
    review.comment(change=change, actor=ben, text="Why?", acl_key=binding_key(BOB))
    assert comments_shown(change, ben) == {OTHER: ["Ledger has to."], BOB: ["Why?"], None: []}

    change = approve_some(Change.objects.get(pk=change.pk), ben, OTHER)

    assert comments_shown(change, ben) == {OTHER: ["Ledger has to."], None: ["Why?"]}


def test_a_ticket_is_kept_with_a_change_and_one_that_is_too_long_is_refused(cluster, ada):
    delta = Delta(add=(WISH,))
    change = review.draft(cluster=cluster, author=ada, title="t", ticket="  FIN-4471 ", delta=delta)
    assert change.ticket == "FIN-4471"

    with pytest.raises(ChangeError, match="The ticket has 501 characters"):
        review.draft(cluster=cluster, author=ada, title="t", ticket="x" * 501, delta=delta)
    assert Change.objects.count() == 1


def test_some_acls_are_approved_alone_and_the_others_become_a_draft_of_the_author(
    cluster, kafka, waiting, ada, ben
):
    change = approve_some(waiting, ben, WISH, OTHER, comment="Bob keeps his.")

    assert change.state == Change.State.QUEUED
    assert change.delta == Delta(add=(OTHER, WISH)) or change.delta == Delta(add=(WISH, OTHER))
    rest = Change.objects.exclude(pk=change.pk).get()
    assert (rest.state, rest.author, rest.delta) == (Change.State.DRAFT, ada, Delta(remove=(BOB,)))
    (event,) = trail.trail(change.key).filter(verb="change.split")
    assert trail.sentence(event).startswith(f"ben left out 1 to remove, now {rest.key}: ")
    (off,) = trail.trail(rest.key)
    assert trail.sentence(off) == f"ben left 1 to remove out of {change.key}, now this draft of ada."
    # Nobody is said to have done what somebody else did.
    by_ada = [event.verb for event in trail.trail(change.key) if event.actor == "ada"]
    assert by_ada.count("change.submitted") == 1
    rollout.apply(change.pk)
    change.refresh_from_db()
    assert change.state == Change.State.APPLIED
    assert {WISH, OTHER, BOB} <= kafka.bindings


def test_approving_some_is_refused_where_what_they_do_is_not_what_was_shown(cluster, kafka, waiting, ben):
    shown = review.preview_of_some(waiting, places(waiting, WISH)).impact_hash
    kafka.edit(add=[allow("User:ledger", "DESCRIBE", "payments.eu"), allow("User:*", "READ", "payments.eu")])
    reread(cluster)

    with pytest.raises(review.StaleError, match="no longer what your page showed"):
        approve_some(waiting, ben, WISH, impact_hash=shown)

    waiting.refresh_from_db()
    assert waiting.state == Change.State.IN_REVIEW
    assert waiting.items.count() == 3
    assert Change.objects.count() == 1


def test_no_acl_or_all_of_them_are_not_some(waiting, ben):
    for chosen, said in (((), "none is chosen"), ((WISH, OTHER, BOB), "approve the whole change")):
        with pytest.raises(ChangeError, match=said):
            review.approve_some(
                change=waiting, reviewer=ben, positions=places(waiting, *chosen), impact_hash=""
            )
    assert waiting.items.count() == 3


def test_nobody_approves_some_of_their_own_or_what_was_edited_since(waiting, ada, ben):
    with pytest.raises(ChangeError, match="You wrote this change"):
        approve_some(waiting, ada, WISH)
    with pytest.raises(ChangeError, match="edited after your page was made"):
        approve_some(waiting, ben, WISH, plan_hash="0" * 64)
    assert waiting.items.count() == 3


def test_an_undo_is_approved_whole(approved, ada, ben, rung):
    change = approved(WISH, OTHER)
    rollout.apply(change.pk)
    undo = review.submit(
        change=review.draft_undo(change=Change.objects.get(pk=change.pk), actor=ada), actor=ada
    )

    with pytest.raises(ChangeError, match="is an undo, which is approved or rejected whole"):
        review.preview_of_some(undo, places(undo, WISH))
    assert not queries.change_page(undo, ben).may_choose


def test_approving_some_voids_earlier_approvals_of_all(cluster, waiting, ben, dot):
    cluster.approvals_needed = 2
    cluster.save()
    review.approve(change=waiting, reviewer=ben)

    change = approve_some(Change.objects.get(pk=waiting.pk), dot, WISH)

    assert [approval.reviewer for approval in change.approvals.all()] == [dot]
    assert change.state == Change.State.IN_REVIEW


def test_the_longest_comment_is_kept_and_recorded(waiting, cho):
    text = "é" * review.LONGEST_COMMENT

    assert review.comment(change=waiting, actor=cho, text=text).text == text
    assert text in trail.sentence(trail.trail(waiting.key).get(verb="change.commented"))
