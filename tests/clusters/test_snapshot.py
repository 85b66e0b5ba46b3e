"""A file stands for a cluster, in every notation, and is either used whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclweb.acl.notation.files import write_acls
from aclweb.clusters import (
    ClusterError,
    ClusterState,
    Connection,
    TopicInfo,
    connect,
)
from aclweb.clusters.snapshot import SNAPSHOT, SnapshotClient
from tests.builders import allow, deny

ACLS = (
    allow("User:bob", "READ", "orders", pattern="PREFIXED"),
    deny("User:CN=x,OU=y", "WRITE", "orders.eu", host="10.0.0.1"),
)
HEADER = {"cluster": "prod-eu", "kafka_version": "3.9", "topics": ["orders.eu"], "groups": ["b", "a", "b"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "prod.txt"


def opened(file: Path) -> SnapshotClient:
    client = connect(Connection(SNAPSHOT, str(file)))
    assert isinstance(client, SnapshotClient)
    return client


def failure(file: Path) -> ClusterError:
    with pytest.raises(ClusterError) as caught:
        opened(file).read_acls()
    return caught.value


@pytest.mark.parametrize("format", ["jsonl", "csv", "yaml", "listing", "zk"])
def test_every_notation_is_recognised(file, format):
    file.write_text(write_acls(ACLS, format=format), encoding="utf-8")

    with opened(file) as client:
        assert set(client.read_acls().bindings) == set(ACLS)
        assert client.read_topics() == ()
        assert client.read_groups() is None


def test_the_first_line_may_tell_of_the_cluster(file):
    topics = ["orders.eu", {"name": "payments", "partitions": 6, "internal": True}]
    file.write_text(json.dumps({**HEADER, "topics": topics}) + "\n" + write_acls(ACLS, format="jsonl"))

    with opened(file) as client:
        facts = client.describe()
        assert (facts.cluster_id, facts.kafka_version) == ("prod-eu", "3.9")
        assert client.read_topics() == (TopicInfo("orders.eu"), TopicInfo("payments", 6, internal=True))
        assert client.read_groups() == ("a", "b")
        assert client.read_acls().bindings == ACLS


def test_a_first_line_alone_is_a_cluster_without_acls(file):
    file.write_text(json.dumps(HEADER))

    assert opened(file).read_acls().bindings == ()


def test_repeated_acls_count_once(file):
    file.write_text(write_acls(ACLS + ACLS, format="jsonl"))

    assert opened(file).read_acls().bindings == ACLS


def test_the_file_is_read_anew_each_time(file):
    file.write_text(write_acls(ACLS, format="jsonl"))
    with opened(file) as client:
        client.read_acls()
        file.write_text(write_acls(ACLS[:1], format="jsonl"))

        assert client.read_acls().bindings == ACLS[:1]


@pytest.mark.parametrize("text", ["", "\n\n  \n"])
def test_an_empty_file_is_no_cluster_without_acls(file, text):
    file.write_text(text)

    with pytest.raises(ClusterError, match="is empty") as caught:
        opened(file)

    assert caught.value.state is ClusterState.UNREADABLE


def test_a_bad_line_is_reported_with_file_line_and_value_and_nothing_is_read(file):
    good = write_acls(ACLS, format="jsonl")
    file.write_text(json.dumps(HEADER) + "\n" + good + good.replace("READ", "FLY"))

    error = failure(file)

    assert error.state is ClusterState.UNREADABLE
    assert f"{file}:4: " in str(error)
    assert "FLY" in str(error)


@pytest.mark.parametrize("format", ["jsonl", "csv", "yaml", "listing"])
def test_an_acl_that_no_broker_can_hold_is_reported_and_nothing_is_read(file, format):
    file.write_text(write_acls(ACLS, format=format).replace("PREFIXED", "GLOB"))

    error = failure(file)

    assert error.state is ClusterState.UNREADABLE
    assert "pattern_type is 'GLOB'" in str(error)


def test_of_many_bad_lines_a_few_are_reported_and_the_rest_counted(file):
    file.write_text(
        write_acls(ACLS, format="jsonl").replace("LITERAL", "LATERAL").replace("PREFIXED", "PRE") * 10
    )

    assert "And 15 more such lines." in str(failure(file))


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ({"cluster": 7}, "cluster is 7"),
        ({"cluster": "x", "topics": "orders"}, "topics is 'orders', which is no list"),
        ({"cluster": "x", "topics": [7]}, "7 is no topic"),
        ({"cluster": "x", "groups": [None]}, "groups has something that is no text"),
        ({"cluster": "x", "acls": []}, "'acls' is no key"),
    ],
)
def test_a_first_line_that_is_wrong_is_reported(file, header, why):
    file.write_text(json.dumps(header))

    error = failure(file)

    assert error.state is ClusterState.UNREADABLE
    assert f"{file}:1: " in str(error)
    assert why in str(error)


def test_text_that_is_not_utf_8_is_reported_with_its_line(file):
    file.write_bytes(b"first line\nsecond \xff line\n")

    with pytest.raises(ClusterError, match=r"not UTF-8 text \(line 2, byte 19\)"):
        opened(file)


@pytest.mark.parametrize("name", ["missing.jsonl", "nul\0name"])
def test_a_file_that_is_not_there_is_reported_at_once(tmp_path, name):
    with pytest.raises(ClusterError, match="cannot be read") as caught:
        opened(tmp_path / name)

    assert caught.value.state is ClusterState.UNREACHABLE


def test_a_folder_is_reported_as_one(tmp_path):
    with pytest.raises(ClusterError, match="is a folder"):
        opened(tmp_path)
