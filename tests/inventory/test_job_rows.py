"""Rows that people ask for are taken in turn, one of a group at a time, by one worker each, whatever they are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager

import pytest
from django.db.models.functions import Now

from aclweb.changes.models import COMPUTATIONS, Computation
from aclweb.insights.models import ANALYSES, Analysis
from aclweb.inventory import leases
from aclweb.inventory.job_rows import JobRow, JobRows
from aclweb.inventory.models import Revision

Ask = Callable[[int], JobRow]


@pytest.fixture(params=["analyses of clusters", "computations of people"])
def kind(request, cluster, other_cluster, ada, ben) -> tuple[JobRows, Ask]:
    """The rows of a model, and what makes one more of group 0 or 1."""
    if request.param.startswith("analyses"):
        return ANALYSES, lambda group: Analysis.objects.create(
            cluster=(cluster, other_cluster)[group], job="matrix", asked_by="ada", asked_at=Now()
        )
    revision = Revision.objects.create(
        cluster=cluster, number=1, read_at=Now(), digest="0" * 64, acls=0, acls_added=0, acls_removed=0
    )
    return COMPUTATIONS, lambda group: Computation.objects.create(
        kind=Computation.Kind.WHAT_IF,
        key="",
        question=b"",
        cluster=cluster,
        revision=revision,
        owner=(ada, ben)[group],
        asked_at=Now(),
    )


def now(row: JobRow) -> JobRow:
    return type(row)._default_manager.get(pk=row.pk)


def lost(row: JobRow) -> None:
    """Have the worker of a row die: it holds the row until its lease runs out."""
    type(row)._default_manager.filter(pk=row.pk).update(lease_until=leases.later(-1))


def test_of_each_group_the_oldest_is_taken_and_one_at_a_time(kind):
    rows, ask = kind
    first, second, other = ask(0), ask(0), ask(1)

    taken = [rows.take_next("one"), rows.take_next("two"), rows.take_next("three")]

    assert taken == [first, other, None]
    assert not rows.are_waiting()
    rows.end(rows.taken_by("one", first), {"state": "DONE"})
    assert rows.take_next("three") == second


def test_a_row_whose_worker_was_lost_comes_before_those_that_wait(kind):
    rows, ask = kind
    ask(0)
    second = ask(0)
    type(second)._default_manager.filter(pk=second.pk).update(
        state=rows.at_work, attempts=1, lease_owner="dead", lease_until=leases.later(-1)
    )

    found = rows.take_next("worker")

    assert (found, found.attempts, found.lease_owner) == (second, 2, "worker")


def test_a_row_over_which_many_workers_were_lost_is_given_up(kind):
    rows, ask = kind
    first, second = ask(0), ask(0)
    for number in range(1, rows.most_attempts + 1):
        assert rows.take_next(f"worker {number}").attempts == number
        lost(first)

    assert rows.take_next("worker") is None

    given_up = now(first)
    assert (given_up.state, given_up.lease_owner) == (rows.failed, "")
    assert getattr(given_up, rows.reason).startswith(f"Stopped after {rows.most_attempts} tries: ")
    assert rows.take_next("worker") == second


def test_a_row_that_the_database_refuses_to_take_is_left_alone(kind, monkeypatch):
    """Between the look and the taking, another worker has taken one of the same group."""
    rows, ask = kind
    first, second, other = ask(0), ask(0), ask(1)
    assert rows.take_next("another") == first
    monkeypatch.setattr(JobRows, "_candidates", lambda _: [second.pk, other.pk])

    assert rows.take_next("worker") == other

    assert (now(second).state, now(second).attempts) == (rows.queued, 0)


def test_only_the_worker_that_has_a_row_ends_it(kind):
    rows, ask = kind
    row = ask(0)
    rows.take_next("dead")
    mine = rows.taken_by("dead", row)
    lost(row)
    rows.take_next("worker")

    rows.end(mine, {"state": "DONE"})

    assert (now(row).state, now(row).lease_owner, now(row).finished_at) == (rows.at_work, "worker", None)
    rows.end(rows.taken_by("worker", row), {"state": "DONE"})
    assert (now(row).state, now(row).lease_owner, now(row).lease_until) == ("DONE", "", None)


def test_what_waits_or_is_at_work_is_cancelled_and_what_has_ended_is_not(kind):
    rows, ask = kind
    at_work, waits = ask(0), ask(0)
    assert rows.take_next("worker") == at_work

    assert rows.cancel(waits, "Not wanted.")
    assert rows.cancel(at_work, "Not wanted.")
    assert not rows.cancel(at_work, "Once more.")

    assert {(now(row).state, getattr(now(row), rows.reason)) for row in (waits, at_work)} == {
        (rows.cancelled, "Not wanted.")
    }
    assert not rows.taken_by("worker", at_work).exists()


def test_a_lease_is_renewed_for_as_long_as_the_block_works(kind, settings, monkeypatch):
    rows, ask = kind
    row = ask(0)
    rows.take_next("worker")
    lost(row)
    renewals = []

    @contextmanager
    def renewed(renew, *, every_seconds):
        renewals.append((renew, every_seconds))
        yield

    monkeypatch.setattr(leases, "renewed", renewed)
    settings.ACLWEB_LEASE_SECONDS = 90

    with rows.held(rows.taken_by("worker", row)):
        (renew, every_seconds) = renewals[0]
        assert renew()

    assert every_seconds == 30
    assert type(row)._default_manager.filter(leases.is_held(), pk=row.pk).exists()
    rows.cancel(row, "Not wanted.")
    assert not renew()
