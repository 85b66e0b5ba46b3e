"""Where the logs of a cluster are: what is kept of it, who said so, and what is refused."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.inventory.admin import log_sources
from aclweb.inventory.admin.log_sources import (
    _LONGEST,
    FIELDS,
    RECURSIVE,
    LogSourceError,
    add,
    change,
    for_job,
    remove,
    set_paths,
)
from aclweb.inventory.models import Cluster, LogSource

pytestmark = pytest.mark.django_db

PATH = "/var/log/kafka/authorizer.log*"


def test_a_log_source_is_kept_with_what_is_known_of_it_and_a_job_gets_it(cluster, ada):
    add(
        actor=ada,
        cluster=cluster,
        path=f" {PATH} ",
        broker="broker-1",
        time_zone="Europe/Berlin",
        layout="cri+kafka",
    )
    add(actor=ada, cluster=cluster, path="/logs", pattern="[%d] %p %m (%c) %n", level="DEBUG")

    assert for_job(cluster) == [
        {"path": PATH, "broker": "broker-1", "time_zone": "Europe/Berlin", "layout": "cri+kafka"},
        {"path": "/logs", "pattern": "[%d] %p %m (%c) %n", "level": "DEBUG"},
    ]


def test_who_added_changed_and_removed_a_log_source_is_recorded(cluster, ada):
    source = add(actor=ada, cluster=cluster, path=PATH, level="INFO")
    assert change(actor=ada, source=source, level="DEBUG", broker="one")
    assert not change(actor=ada, source=source, level="DEBUG")
    remove(actor=ada, source=source)

    told = [trail.sentence(event) for event in Event.objects.order_by("pk")][-3:]
    assert told == [
        f"ada added the log source {PATH} of {cluster}: path is {PATH}, level is INFO.",
        f"ada changed the log source {PATH} of {cluster}: broker is one, level is DEBUG.",
        f"ada removed the log source {PATH} of {cluster}.",
    ]


@pytest.mark.parametrize(
    ("given", "field", "told"),
    [
        ({"path": " "}, "path", "Name a file, a folder or a pattern"),
        ({"path": "s3a://b/logs"}, "path", "is not on the worker's machine"),
        ({"path": "/a\nb"}, "path", "This holds a line break"),
        ({"path": "/" + "a" * 1000}, "path", "This has 1,001 characters; up to 1,000 fit."),
        (
            {"time_zone": "Mars/North"},
            "time_zone",
            "'Mars/North' is no time zone; write it as Europe/Berlin or UTC.",
        ),
        ({"time_zone": "../etc"}, "time_zone", "'../etc' is no time zone"),
        ({"layout": "log5j"}, "layout", "'log5j' is no layout; use kafka, strimzi"),
        ({"pattern": "%q"}, "pattern", "The pattern '%q' has %q, which cannot be read back."),
        ({"pattern": "[%d] %m%n", "layout": "kafka"}, "pattern", "give a layout or a pattern."),
        ({"level": "TRACE"}, "level", "'TRACE' is no level; use DEBUG or INFO"),
        ({"recursive": "no"}, "recursive", "'no' is no answer; write yes, or leave it empty."),
    ],
)
def test_what_cannot_be_a_log_source_is_refused_beside_its_field(cluster, ada, given, field, told):
    with pytest.raises(LogSourceError) as error:
        add(actor=ada, cluster=cluster, **({"path": PATH} | given))

    assert list(error.value.faults) == [field]
    assert told in error.value.faults[field]
    assert not LogSource.objects.exists()


def test_a_path_is_a_source_of_a_cluster_once(cluster, other_cluster, ada):
    add(actor=ada, cluster=cluster, path=PATH)
    add(actor=ada, cluster=other_cluster, path=PATH)

    with pytest.raises(LogSourceError, match=r"is a log source of .* already; change that one"):
        add(actor=ada, cluster=cluster, path=PATH)


def test_paths_given_on_the_command_line_keep_what_is_known_of_those_that_stay(cluster, ada):
    add(actor=ada, cluster=cluster, path="/a", broker="one")
    add(actor=ada, cluster=cluster, path="/b")

    call_command("cluster", "set", cluster.slug, "--logs", "/a", "--logs", "/c")

    assert for_job(cluster) == [{"path": "/a", "broker": "one"}, {"path": "/c"}]
    assert not set_paths(actor=ada, cluster=cluster, paths=["/c", "/a", ""])
    with pytest.raises(CommandError, match="is not on the worker's machine"):
        call_command("cluster", "set", cluster.slug, "--logs", "s3a://x/y")
    assert log_sources.for_job(cluster) == [{"path": "/a", "broker": "one"}, {"path": "/c"}]


def test_a_folder_is_read_with_the_folders_in_it_where_somebody_says_so(cluster, ada):
    source = add(actor=ada, cluster=cluster, path="/logs", recursive="yes")
    assert for_job(cluster) == [{"path": "/logs", "recursive": True}]
    assert not change(actor=ada, source=source, recursive="yes")
    assert change(actor=ada, source=source, recursive="")

    assert for_job(cluster) == [{"path": "/logs"}]
    told = [trail.sentence(event) for event in Event.objects.order_by("pk")][-2:]
    assert told == [
        f"ada added the log source /logs of {cluster}: path is /logs, reading folders in a folder is yes.",
        f"ada changed the log source /logs of {cluster}: reading folders in a folder is not set.",
    ]


def test_folders_of_paths_given_on_the_command_line_are_read_until_it_says_otherwise(cluster, ada):
    add(actor=ada, cluster=cluster, path="/a", broker="one")

    call_command("cluster", "set", cluster.slug, "--logs", "/a", "--logs", "/b", "--logs-recursive")
    assert for_job(cluster) == [
        {"path": "/a", "recursive": True, "broker": "one"},
        {"path": "/b", "recursive": True},
    ]
    call_command("cluster", "set", cluster.slug, "--logs", "/a")
    assert for_job(cluster) == [{"path": "/a", "recursive": True, "broker": "one"}]
    call_command("cluster", "set", cluster.slug, "--logs", "/a", "--no-logs-recursive")
    assert for_job(cluster) == [{"path": "/a", "broker": "one"}]
    with pytest.raises(CommandError, match="--logs-recursive says how --logs is read; give --logs too"):
        call_command("cluster", "set", cluster.slug, "--logs-recursive")


def test_a_value_is_as_long_as_its_column():
    columns = [name for name in FIELDS if name not in ("topic_on", "recursive")]
    assert {name: LogSource._meta.get_field(name).max_length for name in columns} | {
        "topic_on": Cluster._meta.get_field("slug").max_length,
        "recursive": len(RECURSIVE),
    } == _LONGEST


@pytest.fixture
def zookeeper(db) -> Cluster:
    return Cluster.objects.create(slug="zk", name="zk", kind="zookeeper", address="127.0.0.1:1")


def test_a_topic_is_a_log_source_with_the_cluster_that_has_it(cluster, other_cluster, ada):
    add(actor=ada, cluster=cluster, topic=" authorizer-log ", layout="ecs")
    source = add(
        actor=ada,
        cluster=cluster,
        topic="logs",
        topic_on=other_cluster.slug,
        broker_by="topic",
        time_zone="UTC",
    )
    assert change(actor=ada, source=source, broker_by="key")

    assert for_job(cluster) == [
        {"topic": "authorizer-log", "topic_on": "test-eu", "broker_by": "key", "layout": "ecs"},
        {"topic": "logs", "topic_on": "test-us", "broker_by": "key", "time_zone": "UTC"},
    ]
    told = [trail.sentence(event) for event in Event.objects.order_by("pk")][-2:]
    assert told == [
        "ada added the log source topic logs on test-us of test-eu: topic is logs, the topic's cluster is test-us, "
        "the broker's name is topic, time zone is UTC.",
        "ada changed the log source topic logs on test-us of test-eu: the broker's name is key.",
    ]


@pytest.mark.parametrize(
    ("given", "field", "told"),
    [
        ({"topic": "a b"}, "topic", "'a b' is no name of a topic"),
        ({"path": "/logs"}, "path", "A topic is named too; a source is a path or a topic"),
        ({"topic_on": "nowhere"}, "topic_on", "There is no cluster 'nowhere' that you administer"),
        ({"topic_on": "zk"}, "topic_on", "zk is read from ZooKeeper, so no broker of it is known"),
        ({"broker_by": "value"}, "broker_by", "'value' names no broker; use key or topic."),
        ({"broker": "one"}, "broker", "The messages of a topic name their brokers, or nothing does"),
        ({"recursive": "yes"}, "recursive", "A topic has no folders; leave this empty."),
        ({"level": "INFO"}, "level", "What a topic holds is read from it; leave this open."),
    ],
)
def test_what_cannot_be_a_topic_with_logs_is_refused_beside_its_field(
    cluster, zookeeper, ada, given, field, told
):
    with pytest.raises(LogSourceError) as error:
        add(actor=ada, cluster=cluster, **({"topic": "logs"} | given))

    assert list(error.value.faults) == [field]
    assert told in error.value.faults[field]


def test_a_topic_is_a_source_of_a_cluster_once_and_two_clusters_have_each_their_own(
    cluster, other_cluster, ada
):
    add(actor=ada, cluster=cluster, topic="logs")
    add(actor=ada, cluster=cluster, topic="logs", topic_on=other_cluster.slug)

    with pytest.raises(LogSourceError, match="logs is a log source of test-eu already; change that one"):
        add(actor=ada, cluster=cluster, topic="logs")


def test_topics_given_on_the_command_line_are_all_topics_and_paths_stay(cluster, other_cluster, ada):
    add(actor=ada, cluster=cluster, path="/a")
    add(actor=ada, cluster=cluster, topic="old")

    words = ("--log-topic", "logs", "--log-topic", "logs@test-us", "--log-topic-broker", "topic")
    call_command("cluster", "set", cluster.slug, *words)

    assert for_job(cluster) == [
        {"path": "/a"},
        {"topic": "logs", "topic_on": "test-eu", "broker_by": "topic"},
        {"topic": "logs", "topic_on": "test-us", "broker_by": "topic"},
    ]
    call_command("cluster", "set", cluster.slug, "--logs", "/b", "--log-topic", "logs")
    assert for_job(cluster) == [
        {"topic": "logs", "topic_on": "test-eu", "broker_by": "topic"},
        {"path": "/b"},
    ]
    with pytest.raises(CommandError, match="There is no cluster 'mars'"):
        call_command("cluster", "set", cluster.slug, "--log-topic", "logs@mars")
