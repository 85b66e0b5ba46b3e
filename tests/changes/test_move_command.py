"""`manage.py move` compares both ways to read a cluster, and switches only where that was asked for."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from aclweb.clusters import ClusterFacts, ClusterState
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers, topics, trouble

pytestmark = pytest.mark.django_db

HELD = [allow("User:bob", "READ", "orders")]
THERE = ("--kind", "admin", "--address", "b1.example:9092")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(
        slug="prod", name="prod", kind="zookeeper", address="zk:2181", authorizer="acl", kafka_version="3.9"
    )


@pytest.fixture
def there(cluster, monkeypatch) -> Answers:
    """What the brokers hold, as the command finds them."""
    sync(cluster, client=reading(HELD))
    answers = reading(HELD)
    monkeypatch.setattr("aclweb.changes.management.commands.move.connect", lambda _: answers)
    return answers


def reading(bindings) -> Answers:
    return Answers(list(bindings), topics("orders"), [], facts=ClusterFacts(cluster_id="kafka-1"))


def run(capsys, *given: str) -> tuple[int, str]:
    status = 0
    try:
        call_command("move", "prod", *given)
    except SystemExit as ended:
        status = int(ended.code or 0)
    return status, capsys.readouterr().out


def test_without_confirm_both_are_compared_and_nothing_is_switched(there, capsys):
    status, out = run(capsys, *THERE)

    assert status == 0
    assert out.splitlines()[0] == (
        "It is the same Kafka cluster. Both hold 1 ACL, and nobody's access differs."
    )
    assert out.splitlines()[-1] == "Nothing was moved. To switch, add --confirm."
    assert Cluster.objects.get().kind == "zookeeper"


def test_confirm_switches_and_keeps_what_is_known(there, capsys, tmp_path):
    options = tmp_path / "client.properties"
    options.write_text("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=a\nsasl.password=b\n")

    status, out = run(capsys, *THERE, "--options", str(options), "--confirm", "--json")

    moved = Cluster.objects.get()
    assert status == 0
    assert (moved.kind, moved.address, moved.revision.number) == ("admin", "b1.example:9092", 1)
    assert moved.options["sasl.password"] == "b"
    told = json.loads(out)
    assert (told["moved"], told["is_same"], told["differences"], told["refused"]) == (True, True, 0, None)


def test_differences_end_with_1_until_they_are_accepted(there, capsys):
    there.bindings.append(allow("User:cat", "READ", "orders"))

    status, out = run(capsys, *THERE, "--confirm")
    assert (status, Cluster.objects.get().kind) == (1, "zookeeper")
    assert '{"op": "add", "resource_type": "TOPIC"' in out
    assert "At the shell that is --accept-differences." in out

    assert run(capsys, *THERE, "--confirm", "--accept-differences")[0] == 0
    assert Cluster.objects.get().kind == "admin"


def test_another_cluster_ends_with_1_also_without_confirm(there, capsys):
    there.facts = ClusterFacts(cluster_id="kafka-2")

    status, out = run(capsys, *THERE)

    assert status == 1
    assert out.splitlines()[-1].startswith(
        "Nothing was moved. Another cluster answers: it calls itself kafka-2"
    )


def test_what_does_not_answer_is_said_with_status_1(there):
    there.fails["read_acls"] = trouble(ClusterState.NOT_PERMITTED)

    with pytest.raises(CommandError, match=r"Nothing was moved\. The broker at .* said no") as raised:
        call_command("move", "prod", *THERE, "--confirm")
    assert raised.value.returncode == 1


@pytest.mark.parametrize(
    "given",
    [
        ("--kind", "admin", "--address", "b1"),
        (*THERE, "--accept-differences"),
        (*THERE, "--kafka-version", "9.9"),
        (*THERE, "--options", "/nowhere/client.properties"),
    ],
)
def test_bad_usage_ends_with_2(there, given):
    with pytest.raises(CommandError) as raised:
        call_command("move", "prod", *given)
    assert raised.value.returncode == 2
    assert Cluster.objects.get().kind == "zookeeper"
