"""What is hidden from aclweb is neither gone nor absent: the data says all, visible or unknown."""

from __future__ import annotations

import json

import pytest

from aclweb.acl.model.vocabulary import ResourceType
from aclweb.clusters import ClusterState, Known
from aclweb.inventory.current.view import in_force
from aclweb.inventory.lists.completeness import names_known
from aclweb.inventory.models import Cluster, Declaration, StoredName
from aclweb.inventory.sync.run import sync
from aclweb.inventory.sync.snapshots import snapshot_text
from tests.builders import allow
from tests.inventory.answering_cluster import Answers, topics, trouble

pytestmark = pytest.mark.django_db

BOB = allow("User:bob", "READ", "orders")


def in_force_topics(cluster) -> list[str]:
    return [topic.name for topic in in_force(cluster).topics]


def test_a_lost_right_closes_no_row(cluster):
    sync(cluster, client=Answers([BOB], topics("orders", "stock")))

    sync(cluster, client=Answers([BOB], topics("orders"), topics_known=Known.VISIBLE))

    assert in_force_topics(cluster) == ["orders", "stock"]
    assert cluster.topics_listed == Known.VISIBLE
    assert not StoredName.objects.filter(removed_in__isnull=False)


def test_a_topic_that_would_be_seen_and_is_not_there_is_gone(cluster):
    sync(cluster, client=Answers([BOB], topics("orders", "stock")))

    answers = Answers([BOB], [], topics_known=Known.VISIBLE, sees_topic=lambda name: name == "orders")
    sync(cluster, client=answers)

    assert in_force_topics(cluster) == ["stock"]


def test_groups_of_brokers_that_did_not_answer_stay(cluster):
    sync(cluster, client=Answers([BOB], groups=["a", "b"]))

    sync(cluster, client=Answers([BOB], groups=["a"], groups_known=Known.VISIBLE))

    assert in_force(cluster).groups == ("a", "b")
    assert "there may be others" in names_known(cluster, ResourceType.GROUP).sentence


def test_names_that_could_not_be_read_stay_as_complete_as_they_were(cluster):
    sync(cluster, client=Answers([BOB], topics("orders"), topics_known=Known.VISIBLE))

    fails = {"read_topics": trouble(ClusterState.UNREACHABLE)}
    sync(cluster, client=Answers([BOB], topics("orders"), fails=fails))

    assert cluster.topics_listed == Known.VISIBLE


def test_what_was_known_then_is_reported_of_the_past(cluster):
    sync(cluster, client=Answers([BOB], topics("orders"), topics_known=Known.VISIBLE))
    sync(cluster, client=Answers([BOB], topics("orders")))

    kept = list(Declaration.objects.filter(cluster=cluster).values_list("topics_listed", flat=True))
    assert kept == [Known.UNKNOWN, Known.VISIBLE, Known.ALL]


def test_a_file_of_acls_says_nothing_about_which_topics_exist(tmp_path):
    file = tmp_path / "acls.jsonl"
    file.write_text(json.dumps(BOB.as_dict()) + "\n")
    cluster = Cluster.objects.create(slug="dump", name="dump", kind="snapshot", address=str(file))

    result = sync(cluster)

    assert "topics unknown, groups unknown" in result.sentence
    for kind in (ResourceType.TOPIC, ResourceType.GROUP):
        assert names_known(cluster, kind).known is Known.UNKNOWN
        assert "is unknown" in names_known(cluster, kind).sentence
    assert in_force(cluster).covered_now(BOB) is None


def test_a_snapshot_carries_how_complete_its_names_are(cluster, tmp_path):
    sync(cluster, client=Answers([BOB], topics("orders"), groups=["a"], topics_known=Known.VISIBLE))
    file = tmp_path / "snapshot.jsonl"
    file.write_text(snapshot_text(in_force(cluster)))

    copy = Cluster.objects.create(slug="copy", name="copy", kind="snapshot", address=str(file))
    sync(copy)

    assert (copy.topics_listed, copy.groups_listed) == (Known.VISIBLE, Known.ALL)


def test_the_groups_of_zookeeper_are_unknown_in_a_sentence(cluster):
    cluster.kind = "zookeeper"
    cluster.save()
    sync(cluster, client=Answers([BOB], topics("orders"), groups=None))

    assert names_known(cluster, ResourceType.GROUP).sentence.startswith("ZooKeeper has no groups")
    assert names_known(cluster, ResourceType.TOPIC).known is Known.ALL
