"""The ACLs of a change are as the database has them at each page, and made anew only where they are others."""

from __future__ import annotations

from itertools import count

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aclweb.acl.model import Delta
from aclweb.changes import plans, review
from aclweb.changes.models import Change, ChangeItem
from tests.builders import allow

HELD = tuple(allow("User:bob", "READ", f"orders.{number}") for number in range(3))


@pytest.fixture
def drafted(cluster, ada):
    """Return what makes another draft of a change, of so many ACLs."""
    plans.forget()
    numbers = count()

    def drafted(acls: int = 4) -> Change:
        new = tuple(allow("User:eve", "READ", f"stock.{next(numbers)}") for _ in range(acls - 1))
        return review.draft(cluster=cluster, author=ada, title="Stock", delta=Delta(add=new, remove=HELD[:1]))

    return drafted


def again(change: Change) -> Change:
    return Change.objects.get(pk=change.pk)


def test_the_same_acls_are_made_once(drafted):
    change = drafted()
    first = plans.plan_of(again(change))

    assert plans.plan_of(again(change)) is first
    assert first.delta == change.delta
    assert [item.binding for item in first.items] == [item.binding for item in change.items.all()]


def test_a_change_has_them_without_another_query(drafted):
    change = again(drafted())
    with CaptureQueriesContext(connection) as asked:
        plan = plans.plan_of(change)
        told = list(change.items.all())

    assert len(asked) == 1
    assert told == list(plan.items)
    # Only what asks for all of them: any other question goes to the database.
    assert change.items.filter(op="remove").count() == 1


@pytest.mark.parametrize(
    "edit",
    [
        lambda items: items.filter(position=items.last().position).update(state=ChangeItem.State.APPLIED),
        lambda items: items.filter(op="add").update(sentence="Refused."),
        lambda items: items.filter(op="add").update(evidence={"sent": 1}),
        lambda items: items.filter(op="remove").delete(),
    ],
    ids=["state", "sentence", "evidence", "gone"],
)
def test_what_became_of_an_acl_is_read_at_once(drafted, edit):
    change = drafted()
    before = plans.plan_of(again(change))
    edit(change.items)

    after = plans.plan_of(again(change))

    assert after is not before
    assert [ChangeItem.objects.filter(pk=item.pk).values().get() for item in after.items] == [
        {name: getattr(item, name) for name in plans._COLUMNS} for item in after.items
    ]
    assert len(after.items) == change.items.count()
    assert after.delta == again(change).delta


def test_so_many_acls_in_all_stay_in_memory_and_the_change_asked_for_last(drafted, monkeypatch):
    monkeypatch.setattr(plans, "MOST_ROWS", 10)
    small, other, large = drafted(4), drafted(4), drafted(12)
    kept = plans.plan_of(again(small))
    plans.plan_of(again(other))
    assert plans.plan_of(again(small)) is kept

    last = plans.plan_of(again(large))

    assert plans.plan_of(again(large)) is last
    assert plans.plan_of(again(small)) is not kept
    assert sum(len(plan.rows) for plan in plans._plans.values()) <= 10
