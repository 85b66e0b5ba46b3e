import pytest

from aclweb.clusters import ClusterState
from aclweb.inventory import leases, tasks
from aclweb.inventory import sync as syncing
from aclweb.inventory.models import Cluster
from tests.builders import allow
from tests.inventory.readings import Answers, trouble

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
    assert leases.holder(cluster.pk) is None


def test_a_cluster_that_somebody_works_on_is_left_alone(cluster, answers):
    assert leases.take(cluster.pk, owner="rollout CR-1", seconds=60)

    tasks.sync_cluster(cluster.pk)

    cluster.refresh_from_db()
    assert cluster.revision is None
    assert leases.holder(cluster.pk) == "rollout CR-1"


def test_a_lease_that_ran_out_is_taken_over_and_not_given_back_by_its_old_holder(cluster):
    assert leases.take(cluster.pk, owner="first", seconds=-1)
    assert leases.take(cluster.pk, owner="second", seconds=60)
    assert not leases.take(cluster.pk, owner="first", seconds=60)

    leases.release(cluster.pk, owner="first")

    assert leases.holder(cluster.pk) == "second"


def test_the_holder_can_prolong_its_lease(cluster):
    assert leases.take(cluster.pk, owner="first", seconds=60)
    assert leases.take(cluster.pk, owner="first", seconds=120)


def test_a_cluster_that_does_not_answer_is_no_failure_of_the_task(cluster, answers):
    answers.fails["describe"] = trouble(ClusterState.UNREACHABLE)

    tasks.sync_cluster(cluster.pk)

    cluster.refresh_from_db()
    assert cluster.state == ClusterState.UNREACHABLE
    assert leases.holder(cluster.pk) is None


def test_a_cluster_that_was_removed_meanwhile_is_no_failure(cluster, answers):
    Cluster.objects.all().delete()

    tasks.sync_cluster(1)


def test_every_cluster_gets_a_message_that_does_not_outlive_the_next_round(
    cluster, other_cluster, monkeypatch, settings
):
    sent = []
    monkeypatch.setattr(
        tasks.sync_cluster, "apply_async", lambda *args, **options: sent.append((args, options))
    )

    tasks.sync_all()

    expires = settings.ACLWEB_SYNC_INTERVAL_SECONDS
    assert sent == [(((pk,),), {"expires": expires}) for pk in sorted([cluster.pk, other_cluster.pk])]


def test_tasks_have_the_names_that_the_schedule_rings(settings):
    assert tasks.sync_all.name == "inventory.sync_all"
    assert tasks.sync_all.name in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
