import threading
import time

import pytest
from django.db import OperationalError

from aclweb import celery
from aclweb.celery import app
from aclweb.clusters import ClusterState
from aclweb.inventory import leases, tasks
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import run as syncing
from tests.builders import allow
from tests.inventory.answering_cluster import Answers, trouble

pytestmark = pytest.mark.django_db


@pytest.fixture
def answers(monkeypatch):
    answers = Answers([allow("User:bob", "READ", "orders")])
    monkeypatch.setattr(syncing, "connect", lambda connection: answers)
    return answers


def test_a_worker_reads_the_cluster_and_gives_it_back(cluster, answers):
    tasks.sync_cluster(cluster.pk)

    cluster.refresh_from_db()
    assert cluster.revision.number == 1
    assert leases.holder(Cluster.objects.filter(pk=cluster.pk)) is None


def test_a_cluster_that_somebody_works_on_is_left_alone(cluster, answers):
    assert leases.take(Cluster.objects.filter(pk=cluster.pk), owner="rollout CR-1", seconds=60)

    tasks.sync_cluster(cluster.pk)

    cluster.refresh_from_db()
    assert cluster.revision is None
    assert leases.holder(Cluster.objects.filter(pk=cluster.pk)) == "rollout CR-1"


def test_a_lease_that_ran_out_is_taken_over_and_not_given_back_by_its_old_holder(cluster):
    assert leases.take(Cluster.objects.filter(pk=cluster.pk), owner="first", seconds=-1)
    assert leases.take(Cluster.objects.filter(pk=cluster.pk), owner="second", seconds=60)
    assert not leases.take(Cluster.objects.filter(pk=cluster.pk), owner="first", seconds=60)

    leases.release(Cluster.objects.filter(pk=cluster.pk), owner="first")

    assert leases.holder(Cluster.objects.filter(pk=cluster.pk)) == "second"


def test_the_holder_can_prolong_its_lease(cluster):
    assert leases.take(Cluster.objects.filter(pk=cluster.pk), owner="first", seconds=60)
    assert leases.take(Cluster.objects.filter(pk=cluster.pk), owner="first", seconds=120)


def test_a_cluster_that_does_not_answer_is_no_failure_of_the_task(cluster, answers):
    answers.fails["describe"] = trouble(ClusterState.UNREACHABLE)

    tasks.sync_cluster(cluster.pk)

    cluster.refresh_from_db()
    assert cluster.state == ClusterState.UNREACHABLE
    assert leases.holder(Cluster.objects.filter(pk=cluster.pk)) is None


def test_a_cluster_that_was_removed_meanwhile_is_no_failure(cluster, answers):
    Cluster.objects.all().delete()

    tasks.sync_cluster(1)


def test_a_lease_is_renewed_while_the_work_goes_on(cluster):
    renewals, renew = [], threading.Event()

    def take():
        renewals.append(1)
        renew.set()
        return True

    with leases.renewed(take, every_seconds=0.01):
        assert renew.wait(60)
    before = len(renewals)

    renew.clear()
    assert not renew.wait(0.1)
    assert len(renewals) == before


@pytest.mark.django_db(transaction=True)
def test_a_sync_longer_than_its_lease_is_not_done_by_a_second_worker(cluster, answers, monkeypatch, settings):
    settings.ACLWEB_LEASE_SECONDS = 6  # a renewal that comes two seconds late on a busy machine is in time
    describe, second = answers.describe, []

    def slowly():
        if not second:
            second.append(1)
            time.sleep(7.5)
            second[0] = leases.take(Cluster.objects.filter(pk=cluster.pk), owner="second", seconds=60)
        return describe()

    monkeypatch.setattr(answers, "describe", slowly)
    tasks.sync_cluster(cluster.pk)

    assert second == [False]
    assert leases.holder(Cluster.objects.filter(pk=cluster.pk)) is None


def test_tasks_have_queues_of_their_own():
    def queue_of(task):
        return app.amqp.router.route({}, task)["queue"].name

    assert {queue_of(name) for name in ("changes.apply_change", "changes.sweep")} == {"changes"}
    assert {queue_of(name) for name in ("inventory.sync_all", "inventory.sync_next", "inventory.sync")} == {
        "syncs"
    }
    assert {queue_of(name) for name in ("inventory.search", "insights.refresh", "insights.refresh_all")} == {
        "searches"
    }


def test_a_locked_database_is_met_by_trying_again_with_a_sentence(monkeypatch):
    calls, said = [], []
    # Its own logger: what another test has left of the levels of a process must not matter.
    monkeypatch.setattr(celery.logger, "warning", lambda text, *words: said.append(text % words))

    @app.task(name="tests.locked")
    def locked():
        calls.append(1)
        raise OperationalError("database is locked")

    ended = locked.apply()

    assert len(calls) == 1 + locked.max_retries
    assert ended.state == "FAILURE"
    assert (
        said
        == ["The database could not be used (database is locked), so tests.locked is tried again soon."]
        * locked.max_retries
    )
    del app.tasks["tests.locked"]


def test_tasks_have_the_names_that_the_schedule_enqueues(settings):
    assert tasks.sync_all.name == "inventory.sync_all"
    assert tasks.sync_all.name in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
