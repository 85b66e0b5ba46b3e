"""Of each cluster the latest syncs are kept: when, how long, how many ACLs, and what came of it."""

from __future__ import annotations

from typing import Any

import pytest

from aclweb.clusters import ClusterState
from aclweb.inventory import lists
from aclweb.inventory.models import Cluster, SyncRun
from aclweb.inventory.sync import history
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers, topics, trouble

pytestmark = pytest.mark.django_db

HELD = [allow("User:bob", "READ", f"orders.{number}") for number in range(12)]


def outcomes(cluster: Cluster) -> list[str]:
    return [run.outcome for run in lists.sync_runs(cluster).rows]


def test_each_sync_is_kept_with_what_came_of_it(cluster):
    sync(cluster, client=Answers(HELD, topics("t")))
    sync(cluster, client=Answers(HELD, topics("t")))
    sync(cluster, client=Answers(HELD[1:], topics("t")))
    sync(cluster, client=Answers(fails={"read_acls": trouble(ClusterState.UNREACHABLE)}))
    sync(cluster, client=Answers([], topics("t")))

    runs = lists.sync_runs(cluster).rows
    assert outcomes(cluster) == ["quarantined", "failed", "revision", "unchanged", "revision"]
    assert [run.acls for run in runs] == [None, None, 11, 12, 12]
    assert [run.revision_number for run in runs] == [None, None, 2, None, 1]
    assert (runs[2].acls_added, runs[2].acls_removed) == (0, 1)
    assert runs[1].sentence == "The broker at 10.0.0.1:9092 said no."
    assert "missing from one snapshot" in runs[0].sentence
    assert all(run.seconds >= 0 and run.whole for run in runs)


def test_only_the_latest_are_kept_and_only_of_this_cluster(cluster, other_cluster, monkeypatch):
    monkeypatch.setattr(history, "MOST_KEPT", 3)
    sync(other_cluster, client=Answers(HELD))
    for _ in range(5):
        sync(cluster, client=Answers(HELD))

    assert outcomes(cluster) == ["unchanged"] * 3
    assert SyncRun.objects.filter(cluster=other_cluster).count() == 1


def test_bars_show_what_stands_out(cluster):
    for place, (seconds, outcome) in enumerate(
        [(1.0, "revision"), (1.2, "unchanged"), (9.0, "unchanged"), (0.1, "failed")]
    ):
        SyncRun.objects.create(
            cluster=cluster, began_at=f"2026-11-21T10:0{place}:00Z", seconds=seconds, outcome=outcome
        )

    runs = lists.sync_runs(cluster)

    assert (runs.median, runs.longest) == (1.2, 9.0)
    assert [bar.tone for bar in runs.bars] == ["good", "good", "warn", "bad"]
    assert [bar.height for bar in runs.bars] == [6.7, 8.0, 60.0, 3.0]
    assert [run.seconds for run in runs.shown] == [0.1, 9.0, 1.0]


def test_what_is_not_seen_is_one_list(cluster):
    Cluster.objects.update(super_users=None, allow_everyone=None)
    sync(cluster, client=Answers(HELD, topics("t"), None))
    sync(cluster, client=Answers(HELD[1:], topics("t"), None))
    past: Any = Cluster.objects.annotate(**lists.past_columns()).get(pk=cluster.pk)
    found = lists.not_seen(past, first_at=past.first_at, edits_elsewhere=past.elsewhere)

    assert [each.what for each in found] == [
        "Super users",
        "The default where no ACL exists",
        "The authorizer",
        "How clients are named",
        "Who changed ACLs outside aclweb",
        f"ACLs before {past.first_at:%Y-%m-%d}",
    ]
    assert all(each.sentence.endswith(".") for each in found)
    assert "1 revision changed ACLs elsewhere" in found[4].sentence


def test_what_brokers_tell_is_not_in_the_list(cluster):
    sync(cluster, client=Answers(HELD, topics("t"), ["g"]))
    Cluster.objects.update(
        settings_read={
            "where": "broker 1",
            "authorizer_class": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "proven": ["super_users", "allow_everyone"],
        }
    )
    cluster.refresh_from_db()

    found = lists.not_seen(cluster, first_at=None, edits_elsewhere=0)

    assert found == ()
