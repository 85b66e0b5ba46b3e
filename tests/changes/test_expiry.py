"""How long does an approval count, what happens to a change whose approval is too old, and how does it go on?"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from aclweb.changes import queries, review
from aclweb.changes.models import Approval, Change, ChangeError, ChangeItem
from aclweb.changes.rollout import run as rollout
from tests.builders import allow
from tests.changes.conftest import WISH

pytestmark = pytest.mark.django_db


def let_pass(**time):
    Approval.objects.update(at=timezone.now() - timedelta(**time))


def applied(change):
    rollout.apply(change.pk)
    return Change.objects.get(pk=change.pk)


def test_an_approval_of_last_week_writes_nothing_and_is_asked_for_again(kafka, approved, ben):
    change = approved(WISH)
    let_pass(days=7, seconds=1)

    change = applied(change)

    assert change.state == Change.State.IN_REVIEW
    assert "ben approved this change more than 7 days ago, so it must be approved again." in change.sentence
    assert WISH not in kafka.bindings
    assert queries.inbox(ben).counts["waiting"] == 1
    assert applied(review.approve(change=change, reviewer=ben)).state == Change.State.APPLIED


def test_a_younger_approval_counts(approved):
    change = approved(WISH)
    let_pass(days=6, hours=23)

    assert applied(change).state == Change.State.APPLIED


def test_the_days_are_a_setting_and_none_is_for_ever(approved, settings):
    settings.ACLWEB_APPROVAL_DAYS = 0
    change = approved(WISH)
    let_pass(days=4000)

    assert applied(change).state == Change.State.APPLIED


def test_one_of_two_approvals_that_has_expired_is_given_again(cluster, ask, ada, ben, dot):
    cluster.approvals_needed = 2
    cluster.save()
    change = review.submit(change=ask(WISH), actor=ada)
    review.approve(change=change, reviewer=ben)
    with pytest.raises(ChangeError, match="already"):
        review.approve(change=change, reviewer=ben)
    let_pass(days=8)

    page = queries.change_page(Change.objects.get(pk=change.pk), ben)
    assert (page.approvals_given, page.acts["approve"].allowed) == (0, True)
    assert [row.approvals_given for row in queries.inbox(ben).rows] == [0]

    change = review.approve(change=change, reviewer=ben)
    change = review.approve(change=change, reviewer=dot)
    assert change.state == Change.State.QUEUED


def test_a_list_counts_old_approvals_of_what_has_been_begun_alone(approved, ada):
    begun, waiting = approved(WISH), approved(allow("User:x", "READ", "orders"))
    ChangeItem.objects.filter(change=begun).update(evidence={"sent": 1})

    given = {row.change: row.approvals_given for row in queries.inbox(ada, tab="mine").rows}
    let_pass(days=30)
    later = {row.change: row.approvals_given for row in queries.inbox(ada, tab="mine").rows}

    assert (given, later) == ({begun: 1, waiting: 1}, {begun: 1, waiting: 0})


def test_what_has_been_begun_is_finished_under_its_approval(approved):
    change = approved(WISH)
    ChangeItem.objects.filter(change=change).update(evidence={"sent": 1})
    let_pass(days=30)

    assert applied(change).state == Change.State.APPLIED


def test_a_finished_change_is_not_said_to_need_an_approval_again(approved, ada):
    change = applied(approved(WISH))
    let_pass(days=30)

    assert queries.change_page(change, ada).notes == ()
