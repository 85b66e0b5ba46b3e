"""The page of a cluster says how soon an edit shows that was made elsewhere, and probes say whether it is watched."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from aclweb.inventory import leases
from aclweb.inventory.lists import how_soon, watched_clusters
from aclweb.inventory.models import Cluster, ClusterWatch
from aclweb.inventory.work import pulses
from aclweb.web.shell import liveness

pytestmark = pytest.mark.django_db


def watch(cluster: Cluster, *, connected: bool = True, seconds: float = 60) -> None:
    ClusterWatch.objects.update_or_create(
        cluster=cluster,
        defaults={
            "lease_owner": "watch worker:1",
            "lease_until": leases.later(seconds),
            "connected_at": timezone.now() if connected else None,
        },
    )


@pytest.fixture
def keeper(cluster) -> Cluster:
    Cluster.objects.filter(pk=cluster.pk).update(kind="zookeeper")
    cluster.refresh_from_db()
    return cluster


def test_brokers_tell_of_no_edit_so_it_shows_after_the_interval(cluster, settings):
    settings.ACLWEB_SYNC_INTERVAL_SECONDS = 60

    assert how_soon(cluster) == "Edits made elsewhere show at the next sync, every 60 s, or after Sync now."
    cluster.sync_seconds = 45.0
    assert how_soon(cluster) == "Edits made elsewhere show at the next sync, every 3 min, or after Sync now."


def test_a_cluster_that_was_not_read_promises_no_time(keeper):
    watch(keeper)
    Cluster.objects.filter(pk=keeper.pk).update(failures=1)
    keeper.refresh_from_db()

    assert how_soon(keeper) == "Edits made elsewhere show once a sync succeeds again."


def test_a_cluster_in_zookeeper_is_watched_or_the_page_says_that_it_is_not(keeper, settings, ada, signed_in):
    settings.ACLWEB_SYNC_INTERVAL_SECONDS = 60
    not_now = "ZooKeeper is not watched now; edits made elsewhere show at the next sync, every 60 s."
    assert how_soon(keeper) == not_now
    for connected, seconds in ((False, 60), (True, -1)):
        watch(keeper, connected=connected, seconds=seconds)
        assert how_soon(keeper) == not_now
        assert watched_clusters() == [(keeper.slug, False)]

    watch(keeper)

    sentence = "ZooKeeper is watched, so edits made elsewhere show within seconds."
    assert how_soon(keeper) == sentence
    assert watched_clusters() == [(keeper.slug, True)]
    assert sentence in signed_in(ada).get(reverse("cluster", args=[keeper.slug])).content.decode()


def test_a_paused_cluster_is_neither_synced_nor_watched(keeper):
    watch(keeper)
    Cluster.objects.filter(pk=keeper.pk).update(paused_at=timezone.now())
    keeper.refresh_from_db()

    assert how_soon(keeper) == ""
    assert watched_clusters() == []


def test_numbers_say_what_is_watched_and_whose_heartbeat_is_how_old(keeper, client, settings):
    settings.ACLWEB_METRICS = True
    watch(keeper)
    pulses.note(pulses.WATCHER)

    text = client.get("/metrics").content.decode()

    assert f'aclweb_cluster_watched{{cluster="{keeper.slug}"}} 1.0' in text
    assert 'aclweb_heartbeat_age_seconds{of="watcher"}' in text


def test_readiness_names_the_watcher(client):
    liveness.forget()
    assert client.get("/readyz").json()["watcher"] == "silent: no heartbeat yet"

    pulses.note(pulses.WATCHER)
    liveness.forget()

    assert client.get("/readyz").json()["watcher"] == "ok"


def test_where_the_deployment_watches_nothing_no_watcher_is_called_silent(client, settings):
    settings.ACLWEB_WATCH, settings.ACLWEB_METRICS = False, True
    pulses.note(pulses.WATCHER)
    liveness.forget()

    assert client.get("/readyz").json()["watcher"] == "switched off"
    assert 'of="watcher"' not in client.get("/metrics").content.decode()
