"""The cluster that has waited longest is synced next; dead ones back off; nobody is starved."""

import heapq
import itertools
import random
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from aclweb.clusters import ClusterState, Earlier, TopicInfo
from aclweb.inventory import leases, tasks
from aclweb.inventory.lists.cluster_status import status
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync import tasks as sync_tasks
from aclweb.inventory.sync.run import sync
from aclweb.inventory.work import scheduling
from aclweb.operations import workers
from tests.builders import allow
from tests.inventory.answering_cluster import Answers, trouble

pytestmark = pytest.mark.django_db

INTERVAL = 60
SLOTS = 2  # of each lane
DEAD, LARGE, LIVE = range(10), range(10, 15), range(15, 30)
# Seconds of a worker: a dead cluster eats its whole patience.
COST = dict.fromkeys(DEAD, 15.0) | dict.fromkeys(LARGE, 20.0) | dict.fromkeys(LIVE, 0.5)


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves: what the database says is now."""

    class Clock:
        now = timezone.now()

        def later(self, seconds):
            return self.now + timedelta(seconds=seconds)

    clock = Clock()
    for module in (scheduling, leases):
        monkeypatch.setattr(module, "Now", lambda: clock.now)
    monkeypatch.setattr(leases, "later", clock.later)
    return clock


def make(count):
    return make_named(*(f"c{number}" for number in range(count)))


def make_named(*names):
    return [
        Cluster.objects.create(slug=name, name=name, kind="admin", address="127.0.0.1:1").pk for name in names
    ]


def test_thirty_clusters_of_which_ten_are_dead_are_each_begun_within_two_intervals(clock, settings):
    settings.ACLWEB_SYNC_INTERVAL_SECONDS = INTERVAL
    settings.ACLWEB_LEASE_SECONDS = 30
    random.seed(11)
    pks = make(30)
    number = {pk: place for place, pk in enumerate(pks)}
    begun = {place: [] for place in range(30)}
    start, end = clock.now, clock.now + timedelta(seconds=20 * INTERVAL)
    # (when, what): a worker's slot that is free, or a sync that ends.
    lanes = [*scheduling.Lane] * SLOTS
    events = [(start, slot, None) for slot in range(len(lanes))]
    while events and clock.now < end:
        clock.now, slot, ending = heapq.heappop(events)
        if ending is not None:
            changes = {"lease_owner": "", "lease_until": None, "tried_at": clock.now}
            if number[ending] in DEAD:
                failures = Cluster.objects.get(pk=ending).failures + 1
                changes |= {"failures": failures, "next_sync_at": scheduling.after_failure(failures)}
            Cluster.objects.filter(pk=ending).update(**changes)
        taken = scheduling.take_next(owner=f"slot {slot}", lane=lanes[slot])
        if taken is None:
            heapq.heappush(events, (clock.later(5), slot, None))
            continue
        begun[number[taken]].append(clock.now)
        # The lease is renewed while the sync goes on.
        Cluster.objects.filter(pk=taken).update(lease_until=clock.later(COST[number[taken]] + 30))
        heapq.heappush(events, (clock.later(COST[number[taken]]), slot, taken))

    for place in (*LARGE, *LIVE):
        times = [start, *begun[place], end]
        gaps = [(after - before).total_seconds() for before, after in itertools.pairwise(times)]
        assert max(gaps) <= 2 * INTERVAL, f"cluster {place} waited {max(gaps):.0f} s"
    attempts = [len(begun[place]) for place in DEAD]
    assert min(attempts) >= 3
    assert max(attempts) <= 10, "a dead cluster is tried less and less often"
    # Not all at the same time again and again.
    assert len({times[-1] for times in (begun[place] for place in DEAD)}) > 3


def test_the_longest_waiting_comes_first_and_a_new_one_before_all(clock):
    first, second, third = make(3)
    Cluster.objects.filter(pk=first).update(next_sync_at=clock.later(-10))
    Cluster.objects.filter(pk=second).update(next_sync_at=clock.later(-20))

    taken = [scheduling.take_next(owner="me") for _ in range(4)]

    assert taken == [third, second, first, None]


def test_a_cluster_that_answers_never_waits_for_those_that_do_not(clock):
    dead = make(5)
    (living,) = make_named("living")
    Cluster.objects.filter(pk__in=dead).update(
        tried_at=clock.later(-60), failures=1, next_sync_at=clock.later(-30)
    )
    Cluster.objects.filter(pk=living).update(tried_at=clock.later(-60), next_sync_at=clock.later(-1))

    assert scheduling.take_next(owner="me", lane=scheduling.Lane.ANSWERED) == living
    assert scheduling.take_next(owner="me", lane=scheduling.Lane.ANSWERED) is None
    assert scheduling.take_next(owner="me", lane=scheduling.Lane.UNANSWERED) == dead[0]


def test_a_new_cluster_is_taken_in_either_lane_after_those_that_answer(clock):
    living, *new = make(3)
    Cluster.objects.filter(pk=living).update(tried_at=clock.later(-60), next_sync_at=clock.later(-1))

    lanes = (scheduling.Lane.ANSWERED, scheduling.Lane.ANSWERED, scheduling.Lane.UNANSWERED)

    assert [scheduling.take_next(owner="me", lane=lane) for lane in lanes] == [living, *new]


def test_a_cluster_that_somebody_works_on_or_that_is_not_due_is_not_taken(clock):
    leased, later = make(2)
    Cluster.objects.filter(pk=leased).update(lease_owner="rollout CR-1", lease_until=clock.later(20))
    Cluster.objects.filter(pk=later).update(next_sync_at=clock.later(20))

    assert scheduling.take_next(owner="me") is None


def test_failures_back_off_to_ten_minutes_and_one_success_ends_that(cluster, settings):
    settings.ACLWEB_SYNC_INTERVAL_SECONDS = INTERVAL
    dead = Answers(fails={"describe": trouble(ClusterState.UNREACHABLE)})
    waits = []
    for _ in range(8):
        sync(cluster, client=dead)
        cluster.refresh_from_db()
        waits.append((cluster.next_sync_at - cluster.tried_at).total_seconds())
    assert 44 <= waits[0] <= 76
    assert 85 <= waits[1] <= 151
    assert 440 <= waits[-1] <= 760

    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))

    cluster.refresh_from_db()
    assert cluster.failures == 0
    assert (cluster.next_sync_at - cluster.tried_at).total_seconds() <= INTERVAL + 1


def test_an_edit_that_is_told_of_while_a_cluster_recovers_is_not_put_off(cluster):
    @dataclass
    class Recovering(Answers):
        def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
            scheduling.ring(cluster.pk, whole=False)
            return super().read_topics(earlier)

    sync(cluster, client=Answers(fails={"describe": trouble(ClusterState.UNREACHABLE)}))
    sync(cluster, client=Recovering([allow("User:bob", "READ", "orders")]))

    assert cluster.failures == 0
    assert scheduling.due().filter(pk=cluster.pk).exists()


def test_the_page_tells_when_a_dead_cluster_is_tried_again(cluster):
    sync(cluster, client=Answers(fails={"describe": trouble(ClusterState.UNREACHABLE)}))
    Cluster.objects.update(next_sync_at=timezone.now() + timedelta(seconds=290))

    told = status(Cluster.objects.select_related("revision").get(pk=cluster.pk)).sentence

    assert told.endswith("The next try is in 5 min.")


def test_one_worker_syncs_cluster_after_cluster_until_none_is_due(monkeypatch):
    make(3)
    answers = Answers([allow("User:bob", "READ", "orders")])
    monkeypatch.setattr(syncing, "connect", lambda connection: answers)
    rung = []
    monkeypatch.setattr(tasks.sync_next, "apply_async", lambda **_: rung.append(1))
    monkeypatch.setattr(tasks.lint_cluster, "delay", lambda pk: None)

    tasks.sync_all()
    assert len(rung) == 3
    while rung:
        rung.pop()
        tasks.sync_next()

    assert Cluster.objects.filter(state="ok").count() == 3
    assert not scheduling.due().exists()


@contextmanager
def all_slots_taken(*lanes):
    with ExitStack() as taken:
        for lane in lanes:
            for _ in range(settings.ACLWEB_SYNCS_AT_ONCE):
                assert sync_tasks._slots[lane].acquire(blocking=False)
                taken.callback(sync_tasks._slots[lane].release)
        yield


def test_no_more_syncs_run_at_once_than_leave_a_thread_for_the_heartbeat(cluster):
    with all_slots_taken(*scheduling.Lane):
        tasks.sync_next()

    assert scheduling.due().filter(pk=cluster.pk, lease_until__lt=Now()).count() == 0
    assert scheduling.due().filter(pk=cluster.pk).exists()
    threads = workers.program(
        "syncs", directory=Path("logs"), hearing=workers.Hearing(), environment={}
    ).command
    at_once = len(scheduling.Lane) * settings.ACLWEB_SYNCS_AT_ONCE
    assert int(threads[threads.index("--concurrency") + 1]) == at_once + 1


def test_a_cluster_is_synced_while_all_that_may_wait_for_dead_ones_do(monkeypatch):
    living, dead = make_named("living", "dead")
    Cluster.objects.filter(pk=living).update(tried_at=timezone.now(), next_sync_at=timezone.now())
    Cluster.objects.filter(pk=dead).update(tried_at=timezone.now(), failures=1)
    synced = []
    monkeypatch.setattr(sync_tasks, "_sync", lambda pk, owner: synced.append(pk))
    monkeypatch.setattr(tasks.sync_next, "apply_async", lambda **_: None)

    with all_slots_taken(scheduling.Lane.UNANSWERED):
        tasks.sync_next()
        tasks.sync_next()
    assert synced == [living]

    tasks.sync_next()
    assert synced == [living, dead]


def test_a_cluster_whose_syncs_take_long_is_synced_less_often(clock, settings):
    settings.ACLWEB_SYNC_INTERVAL_SECONDS = INTERVAL
    waits = []
    for number, took in enumerate((0.0, 5.0, INTERVAL / 4, 45.0, 100_000.0)):
        (pk,) = make_named(f"slow-{number}")
        Cluster.objects.filter(pk=pk).update(sync_seconds=took, failures=0, tried_at=clock.now)
        assert scheduling.take_next(owner="me") == pk
        waits.append((Cluster.objects.get(pk=pk).next_sync_at - clock.now).total_seconds())

    assert waits == [INTERVAL, INTERVAL, INTERVAL, 180, scheduling.LONGEST_INTERVAL_SECONDS]
