"""Every step x every role x being the author or not x every state, against a table written by hand."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count, product

import pytest
from django.db import transaction

from aclweb.accounts.models import Grant, Role, User
from aclweb.acl.model.delta import Delta
from aclweb.changes import policy, review
from aclweb.changes.models import Change, ChangeError, ChangeItem
from aclweb.inventory.models import Cluster
from tests.builders import allow
from tests.changes.conftest import WISH

pytestmark = pytest.mark.django_db

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"

# Who there is: role on the cluster and the beginning of the names it counts for.
PEOPLE: dict[str, tuple[Role | None, str]] = {
    "stranger": (None, ""),
    "viewer": (Role.VIEWER, ""),
    "requester": (Role.REQUESTER, ""),
    "requester of payments": (Role.REQUESTER, "payments."),
    "requester of orders": (Role.REQUESTER, "orders."),
    "approver": (Role.APPROVER, ""),
    "approver of payments": (Role.APPROVER, "payments."),
    "approver of orders": (Role.APPROVER, "orders."),
    "administrator": (Role.ADMINISTRATOR, ""),
    "approver elsewhere": (None, ""),
    "approver switched off": (Role.APPROVER, ""),
    "all-powerful": (None, ""),
}
SEES = {name for name in PEOPLE if name not in ("stranger", "approver elsewhere", "approver switched off")}
REQUESTS = SEES - {"viewer", "requester of orders", "approver of orders"}
APPROVES = {"approver", "approver of payments", "administrator", "all-powerful"}
RULES = {"administrator", "all-powerful"}

# Step: states in which it can be taken, who may as the author, who may of a change of somebody else.
TABLE: dict[str, tuple[set[str], set[str], set[str]]] = {
    "edit": ({"DRAFT", "IN_REVIEW", "APPROVED", "BLOCKED_STALE"}, REQUESTS, set()),
    "submit": ({"DRAFT", "IN_REVIEW", "BLOCKED_STALE"}, REQUESTS, set()),
    "approve": ({"IN_REVIEW"}, set(), APPROVES),
    "reject": ({"IN_REVIEW"}, set(), APPROVES),
    "withdraw": ({"DRAFT", "IN_REVIEW", "APPROVED", "QUEUED", "BLOCKED_STALE"}, SEES, RULES),
    "queue": ({"APPROVED", "PARTIAL", "FAILED", "QUARANTINED"}, REQUESTS, APPROVES),
    "undo": ({"APPLIED", "PARTIAL", "QUARANTINED"}, REQUESTS, REQUESTS),
}
WITH_EFFECTS = {"APPLIED", "PARTIAL", "QUARANTINED", "UNKNOWN", "VERIFYING"}
MOVES_TO = {
    "edit": "DRAFT",
    "submit": "IN_REVIEW",
    "approve": "QUEUED",
    "reject": "REJECTED",
    "withdraw": "CANCELLED",
    "queue": "QUEUED",
}

TAKEN: dict[str, Callable[[Change, User], Change]] = {
    "edit": lambda change, user: review.edit(change=change, actor=user, title="Another title"),
    "submit": lambda change, user: review.submit(change=change, actor=user),
    "approve": lambda change, user: review.approve(change=change, reviewer=user),
    "reject": lambda change, user: review.reject(change=change, reviewer=user, comment="Too wide."),
    "withdraw": lambda change, user: review.withdraw(change=change, actor=user),
    "queue": lambda change, user: review.queue(change=change, actor=user),
    "undo": lambda change, user: review.draft_undo(change=change, actor=user),
}

CASES = list(product(TABLE, PEOPLE, ("author", "somebody else"), Change.State.values))


def person(name: str, cluster: Cluster, other_cluster: Cluster) -> User:
    role, prefix = PEOPLE[name]
    user = User.objects.create_user("the person", is_superuser=name == "all-powerful")
    if role is not None:
        Grant.objects.create(user=user, cluster=cluster, role=role, name_prefix=prefix)
    if name == "approver elsewhere":
        Grant.objects.create(user=user, cluster=other_cluster, role=Role.APPROVER)
    if name == "approver switched off":
        user.is_active = False
        user.save()
    return user


@pytest.fixture
def submitted(cluster: Cluster, other_cluster: Cluster) -> Callable[[User], Change]:
    def submitted(author: User) -> Change:
        """Submit a change, whatever its author may do now."""
        grant, granted = Grant.objects.get_or_create(
            user=author, cluster=cluster, role=Role.REQUESTER, name_prefix=""
        )
        was_active, author.is_active = author.is_active, True
        change = review.draft(cluster=cluster, author=author, title="A title", delta=Delta(add=(WISH,)))
        change = review.submit(change=change, actor=author)
        if granted:
            grant.delete()
        author.is_active = was_active
        return change

    return submitted


def test_the_table_has_thousands_of_cases():
    assert len(CASES) > 2000
    assert {step for step, *_ in CASES} == set(policy.STATES)


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("relation", ["author", "somebody else"])
def test_a_step_is_taken_by_exactly_those_whom_the_table_names(
    cluster, other_cluster, ada, submitted, relation, who
):
    user = person(who, cluster, other_cluster)
    change = submitted(user if relation == "author" else ada)
    wrong = []
    # What may not be done is tried in every ninth case only, for each person in others: each step of `review` asks the
    # same `policy.may` first.
    refused = count(list(PEOPLE).index(who))

    for state in Change.State.values:
        Change.objects.filter(pk=change.pk).update(state=state)
        written = ChangeItem.State.APPLIED if state in WITH_EFFECTS else ChangeItem.State.PENDING
        ChangeItem.objects.filter(change=change).update(state=written)
        known = Change.objects.select_related("cluster", "author").get(pk=change.pk)
        for step, (states, as_author, of_others) in TABLE.items():
            expected = state in states and who in (as_author if relation == "author" else of_others)
            allowed, sentence = policy.may(step, known, user)
            if sentence.endswith(".") == allowed:
                wrong.append((step, state, sentence))
            if not (FULL or expected or allowed) and next(refused) % 9:
                continue
            with transaction.atomic():
                fresh = Change.objects.select_related("cluster", "author").get(pk=change.pk)
                try:
                    result = TAKEN[step](fresh, user)
                    done = step == "undo" or result.state == MOVES_TO[step]
                except ChangeError:
                    done = False
                unmoved = done or Change.objects.filter(pk=change.pk, state=state).exists()
                if (allowed, done) != (expected, expected) or not unmoved:
                    wrong.append((step, state, expected, allowed, done))
                transaction.set_rollback(True)

    assert wrong == []


def test_the_author_cannot_approve_whatever_the_role(ask, dot):
    change = review.submit(change=ask(WISH, author=dot), actor=dot)

    with pytest.raises(ChangeError, match="somebody else"):
        review.approve(change=change, reviewer=dot)


def test_two_approvals_are_two_people(cluster, ask, ada, ben, dot):
    cluster.approvals_needed = 2
    cluster.save()
    change = review.submit(change=ask(WISH), actor=ada)

    change = review.approve(change=change, reviewer=ben)
    assert change.state == "IN_REVIEW"
    with pytest.raises(ChangeError, match="already"):
        review.approve(change=change, reviewer=ben)
    assert review.approve(change=change, reviewer=dot).state == "QUEUED"


def test_an_edit_voids_every_approval(cluster, ask, ada, ben, dot):
    cluster.approvals_needed = 2
    cluster.save()
    change = review.submit(change=ask(WISH), actor=ada)
    review.approve(change=change, reviewer=ben)

    change = review.edit(
        change=change, actor=ada, delta=Delta(add=(allow("User:ledger", "ALL", "payments.eu"),))
    )

    assert change.state == "DRAFT"
    assert change.approvals.count() == 0
    assert change.plan_hash == ""
    change = review.submit(change=change, actor=ada)
    assert review.approve(change=change, reviewer=dot).state == "IN_REVIEW"


def test_a_reviewer_cannot_approve_what_was_edited_behind_the_page(ask, ada, ben):
    change = review.submit(change=ask(WISH), actor=ada)
    seen = change.plan_hash
    wider = Delta(add=(allow("User:ledger", "ALL", "payments.eu"),))
    change = review.submit(change=review.edit(change=change, actor=ada, delta=wider), actor=ada)

    with pytest.raises(ChangeError, match="edited after your page"):
        review.approve(change=change, reviewer=ben, plan_hash=seen)


def test_an_approver_of_some_names_cannot_approve_a_prefix_that_reaches_beyond(cluster, ask, ada, eve):
    Grant.objects.create(user=eve, cluster=cluster, role=Role.APPROVER, name_prefix="payments.")
    change = review.submit(change=ask(allow("User:x", "READ", "pay", pattern="PREFIXED")), actor=ada)

    assert policy.may_approve(change, eve)[0] is False
    assert eve not in policy.reviewers(change)


def test_a_right_for_names_that_begin_like_the_cluster_s_is_no_right_to_the_cluster(cluster, ask, ada, eve):
    Grant.objects.create(user=eve, cluster=cluster, role=Role.APPROVER, name_prefix="kafka-")
    alter = allow("User:x", "ALTER", "kafka-cluster", resource_type="CLUSTER")
    change = review.submit(change=ask(alter), actor=ada)

    assert policy.may_approve(change, eve) == (
        False,
        f"You may approve changes on {cluster.name} for some names only, "
        "and what reaches the whole cluster is not among them.",
    )
    assert eve not in policy.reviewers(change)
    with pytest.raises(ChangeError, match="for some names only"):
        ask(alter, author=eve)
    assert ask(allow("User:x", "READ", "kafka-logs"), author=eve).state == "DRAFT"


def test_reviewers_are_those_whose_approval_counts(ask, ada, ben, cho, dot):
    change = review.submit(change=ask(WISH), actor=ada)

    assert policy.reviewers(change) == (ben, dot)


def test_a_rejection_needs_a_reason(ask, ada, ben):
    change = review.submit(change=ask(WISH), actor=ada)

    with pytest.raises(ChangeError, match="Say why"):
        review.reject(change=change, reviewer=ben, comment="  ")
