"""A cluster that tells of edits is synced at once, by one worker, and nothing depends on that worker."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.db.models import F
from django.db.models.functions import Now

from aclweb.clusters import KINDS, ClusterError, ClusterState, Connection, Moved
from aclweb.inventory import leases
from aclweb.inventory.admin import pausing
from aclweb.inventory.admin.register import change
from aclweb.inventory.models import Cluster, ClusterWatch
from aclweb.inventory.sync import tasks, watching
from aclweb.inventory.sync.watching import Watching
from aclweb.inventory.work import pulses

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 30.0
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "DIGEST-MD5",
    "sasl.username": "aclweb",
    "sasl.password": "a secret",
}


class Bell:
    """Stands in for sessions with ZooKeeper: each that is opened tells what a test puts into it."""

    def __init__(self) -> None:
        self.opened: list[FakeWatch] = []
        self.fails = False

    def __call__(self, connection: Connection) -> FakeWatch:
        watch = FakeWatch(connection)
        self.opened.append(watch)
        if self.fails:
            raise ClusterError("Nobody answers.", state=ClusterState.UNREACHABLE)
        return watch

    @property
    def open(self) -> list[FakeWatch]:
        return [watch for watch in self.opened if not watch.closed]


class FakeWatch:
    def __init__(self, connection: Connection) -> None:
        self.connection, self.closed, self.is_connected = connection, False, True
        self.moved: queue.SimpleQueue[Moved | Exception] = queue.SimpleQueue()

    def wait(self, timeout_seconds: float) -> Moved | None:
        try:
            told = self.moved.get(timeout=min(timeout_seconds, 0.02))
        except queue.Empty:
            return None
        if isinstance(told, Exception):
            raise told
        return told

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def bell(monkeypatch) -> Bell:
    bell = Bell()
    monkeypatch.setitem(KINDS, "zookeeper", replace(KINDS["zookeeper"], watch=bell))
    return bell


@pytest.fixture
def keeper(db) -> Cluster:
    return Cluster.objects.create(
        slug="zk", name="zk", kind="zookeeper", address="127.0.0.1:1/kafka", read_at=Now(), tried_at=Now()
    )


@pytest.fixture
def watch() -> Iterator[Callable[[], Watching]]:
    """Make the watching of one more worker; none of them looks by itself."""
    made: list[Watching] = []

    def make() -> Watching:
        made.append(Watching(rung.set, pause_seconds=0.0))
        return made[-1]

    rung = threading.Event()
    yield make
    for one in made:
        one.end(PATIENCE)


def until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def at_rest(cluster: Cluster) -> None:
    """Let the next sync be due in an hour, as if one had just begun."""
    later = leases.later(3600)
    Cluster.objects.filter(pk=cluster.pk).update(next_sync_at=later, sync_asked_at=None)


def is_due(cluster: Cluster) -> bool:
    return Cluster.objects.filter(pk=cluster.pk, next_sync_at__lte=Now()).exists()


def watched_by(cluster: Cluster) -> str | None:
    return leases.holder(ClusterWatch.objects.filter(cluster=cluster, connected_at__isnull=False))


def test_a_new_watch_has_its_cluster_synced_and_then_each_edit(keeper, bell, watch):
    at_rest(keeper)
    watch()._look()
    until(lambda: is_due(keeper), "What changed before it was watched is not looked for.")

    at_rest(keeper)
    bell.open[0].moved.put(Moved.SOMETHING)

    until(lambda: is_due(keeper), "An edit makes no sync due.")
    keeper.refresh_from_db()
    assert keeper.sync_asked_at is None
    assert watched_by(keeper)


def test_after_it_could_not_watch_everything_is_to_be_read(keeper, bell, watch):
    at_rest(keeper)
    watch()._look()
    until(lambda: is_due(keeper), "What changed before it was watched is not looked for.")
    at_rest(keeper)

    bell.open[0].moved.put(Moved.EVERYTHING)
    bell.open[0].moved.put(Moved.SOMETHING)

    until(lambda: is_due(keeper), "A reconnect makes no sync due.")
    keeper.refresh_from_db()
    assert keeper.sync_asked_at is not None


def test_a_thousand_edits_at_once_make_few_syncs(keeper, bell, watch, monkeypatch):
    rung: list[float] = []
    monkeypatch.setattr(watching.scheduling, "ring", lambda *_, **__: rung.append(time.monotonic()) or 0.1)
    watch()._look()
    until(lambda: bell.open, "It is not watched.")
    for _ in range(1000):
        bell.open[0].moved.put(Moved.SOMETHING)

    until(lambda: bell.open[0].moved.empty() and len(rung) >= 2, "The last edits make no sync due.")
    time.sleep(0.3)

    # One when it began, and at most one a second after it.
    assert len(rung) <= 2 + (rung[-1] - rung[0]) / watching.LEAST_SECONDS_BETWEEN
    assert all(after - before >= watching.LEAST_SECONDS_BETWEEN for before, after in itertools.pairwise(rung))


def paused(cluster: Cluster) -> None:
    pausing.pause(actor="ada", cluster=cluster)


def removed(cluster: Cluster) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(removed_at=Now())


def deleted(cluster: Cluster) -> None:
    cluster.delete()


def became_another_kind(cluster: Cluster) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(kind="admin")


@pytest.mark.parametrize("event", [paused, removed, deleted, became_another_kind], ids=lambda e: e.__name__)
def test_what_is_not_synced_any_more_is_not_watched(keeper, bell, watch, event):
    mine = watch()
    mine._look()
    until(lambda: watched_by(keeper), "It is not watched.")

    pk = keeper.pk
    event(keeper)
    mine._look()

    until(lambda: not bell.open, "The session stays open.")
    assert not leases.holder(ClusterWatch.objects.filter(cluster_id=pk))


@pytest.mark.parametrize(
    "edit", [{"address": "127.0.0.1:2/kafka"}, {"options": LOGIN}], ids=["address", "login"]
)
def test_an_edit_of_the_address_or_the_login_opens_another_session(keeper, bell, watch, edit):
    mine = watch()
    mine._look()
    until(lambda: watched_by(keeper), "It is not watched.")

    change(actor="ada", cluster=keeper, **edit)
    mine._look()

    until(lambda: len(bell.opened) == 2 and bell.opened[0].closed, "The old session stays.")
    until(lambda: watched_by(keeper), "It is not watched any more.")
    assert bell.open[0].connection != bell.opened[0].connection


def test_of_two_workers_one_watches_and_the_other_goes_on_at_once_where_that_ends(keeper, bell, watch):
    first, second = watch(), watch()
    first._look()
    second._look()
    until(lambda: watched_by(keeper), "Nobody watches.")
    assert len(bell.opened) == 1
    owner = watched_by(keeper)

    first.end(PATIENCE)
    second._look()

    until(lambda: watched_by(keeper), "Nobody goes on.")
    assert watched_by(keeper) != owner
    assert len(bell.open) == 1


def test_a_worker_that_was_killed_is_followed_when_its_lease_ends(keeper, bell, watch):
    lost = ClusterWatch.objects.create(
        cluster=keeper, lease_owner="watch gone:1", lease_until=leases.later(20)
    )
    mine = watch()
    mine._look()
    assert not bell.opened

    ClusterWatch.objects.filter(pk=lost.pk).update(lease_until=leases.later(-1))
    mine._look()

    until(lambda: len(bell.open) == 1, "Nobody follows.")


def test_a_worker_that_lost_its_lease_stops_watching(keeper, bell, watch):
    mine = watch()
    mine._look()
    until(lambda: watched_by(keeper), "It is not watched.")
    other = leases.later(60)
    ClusterWatch.objects.filter(cluster=keeper).update(lease_owner="watch other:1", lease_until=other)

    mine._look()

    until(lambda: not bell.open, "Two watch.")
    assert leases.holder(ClusterWatch.objects.filter(cluster=keeper)) == "watch other:1"


def test_a_session_that_ends_or_cannot_be_opened_is_opened_anew_later(keeper, bell, watch):
    mine = watch()
    bell.fails = True
    mine._look()
    until(lambda: bell.opened, "It is not opened.")
    until(lambda: not any(one.is_alive() for one in mine._watches.values()), "It does not end.")
    bell.fails = False
    mine._look()
    mine._look()
    until(lambda: watched_by(keeper), "It is not opened anew.")

    bell.opened[-1].moved.put(ClusterError("Refused now.", state=ClusterState.LOGIN_REFUSED))
    until(lambda: bell.opened[-1].closed, "It stays open.")
    mine._look()
    mine._look()

    until(lambda: len(bell.opened) == 3 and watched_by(keeper), "It is not opened anew.")


def test_a_cluster_that_does_not_answer_is_not_opened_and_stays_open_where_it_was(keeper, bell, watch):
    Cluster.objects.filter(pk=keeper.pk).update(failures=1)
    mine = watch()
    mine._look()
    assert not bell.opened
    Cluster.objects.filter(pk=keeper.pk).update(failures=0)
    mine._look()
    until(lambda: watched_by(keeper), "It is not watched.")

    Cluster.objects.filter(pk=keeper.pk).update(failures=F("failures") + 1)
    bell.open[0].is_connected = False
    mine._look()

    until(lambda: watched_by(keeper) is None, "It counts as connected.")
    assert len(bell.open) == 1


def test_it_outlives_a_database_that_is_away_and_says_that_it_lives(keeper, bell, monkeypatch):
    fails = {"left": 3}
    to_watch = watching._to_watch

    def flaky(watched):
        if fails["left"]:
            fails["left"] -= 1
            raise DatabaseError("gone for a moment")
        return to_watch(watched)

    monkeypatch.setattr(watching, "_to_watch", flaky)
    mine = Watching(lambda: None, every_seconds=0.02)
    mine.start()
    try:
        until(lambda: watched_by(keeper), "It gave up.")
        assert not pulses.life().is_silent(pulses.WATCHER)
    finally:
        mine.end(PATIENCE)
    assert not mine.is_alive()
    assert not bell.open
    assert watched_by(keeper) is None


class _Worker:
    """What Celery says of a worker when it is ready."""

    def __init__(self, *queues: str) -> None:
        self.app = self.amqp = self.queues = self
        self.consume_from = queues


@pytest.mark.parametrize(
    ("queues", "wanted", "starts"),
    [(("syncs",), True, 1), (("changes", "syncs"), True, 1), (("changes",), True, 0), (("syncs",), False, 0)],
)
def test_a_worker_for_syncs_watches_unless_the_deployment_says_no(
    monkeypatch, settings, queues, wanted, starts
):
    started: list[object] = []
    settings.ACLWEB_WATCH = wanted
    monkeypatch.setattr(Watching, "start", lambda mine: started.append(mine.name))

    tasks._watch(_Worker(*queues))

    assert len(started) == starts


def test_a_silent_watcher_is_no_reason_to_call_the_installation_unwell(db):
    for name in (pulses.CHANGES, pulses.SYNCS, pulses.BEAT, pulses.WATCHER):
        pulses.note(name)
    pulses.Pulse.objects.filter(pk=pulses.WATCHER).update(at=Now() - timedelta(minutes=5))

    life = pulses.life()

    assert life.is_ready
    assert life.words(pulses.WATCHER).startswith("silent since")
