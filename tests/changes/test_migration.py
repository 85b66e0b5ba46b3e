"""A real migration of Kafka 3.9 from ZooKeeper to KRaft, step by step: the ACLs stay, and aclweb moves after them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from aclweb.accounts.models import Grant
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.audit.models import Event
from aclweb.changes import review
from aclweb.clusters import ClusterState, Verb, connect
from aclweb.inventory.models import Cluster, Revision, StoredAcl
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.migrating_kafka import MigratingKafka
from tests.servers import USERS, need_jars, need_java

pytestmark = pytest.mark.django_db

HELD = (
    allow("User:bob", "READ", "orders.eu"),
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    deny("User:eve", "READ", "orders.eu"),
    allow("User:*", "DESCRIBE", "*"),
    allow("User:CN=pay,OU=eu west,O=Æther", "WRITE", "orders.eu", host="10.0.6.30"),
    allow("Group:a:b", "READ", "team:one two;ü", resource_type="GROUP"),
    allow("User:tx", "WRITE", "tx-", pattern="PREFIXED", resource_type="TRANSACTIONAL_ID"),
    allow("User:ops", "ALTER", "kafka-cluster", resource_type="CLUSTER"),
    allow("User:ops", "DESCRIBE_TOKENS", "User:bob", resource_type="USER"),
)
BETWEEN = allow("User:cat", "WRITE", "orders.eu")


@pytest.fixture
def kafka(tmp_path: Path):
    need_java()
    kafka = MigratingKafka(tmp_path, need_jars("3.9.2"), USERS)
    try:
        kafka.start()
        yield kafka
    finally:
        kafka.stop()


@pytest.fixture
def cluster(kafka: MigratingKafka) -> Cluster:
    """The cluster as aclweb knows it before: read from ZooKeeper."""
    write(kafka, *HELD)
    return Cluster.objects.create(
        slug="prod",
        name="prod",
        kind="zookeeper",
        address=kafka.address,
        authorizer="acl",
        kafka_version="3.9",
        super_users="User:admin",
        allow_everyone=False,
        authorizer_declared="on",
    )


def write(kafka: MigratingKafka, *bindings: AclBinding) -> None:
    with connect(kafka.broker.connection()) as client:
        assert {outcome.kind.value for outcome in client.write(Verb.ADD, bindings)} == {"written"}


def in_brokers(kafka: MigratingKafka) -> set[AclBinding]:
    with connect(kafka.broker.connection()) as client:
        return set(client.read_acls().bindings)


def moved(kafka: MigratingKafka, tmp_path: Path, capsys, *more: str) -> tuple[int, dict[str, object]]:
    """Return the status of `manage.py move`, and what it printed."""
    options = tmp_path / "client.properties"
    connection = kafka.broker.connection()
    options.write_text("".join(f"{name}={value}\n" for name, value in connection.options.items()))
    options.chmod(0o600)
    status = 0
    try:
        call_command(
            "move", "prod", "--kind", "admin", "--address", connection.address, "--options", str(options),
            "--json", *more,
        )  # fmt: skip
    except SystemExit as ended:
        status = int(ended.code or 0)
    return status, json.loads(capsys.readouterr().out)


# Six starts of a JVM: half a minute of processor time.
@pytest.mark.thorough(
    instead="tests/changes/test_moving.py::test_history_roles_declarations_and_changes_stay"
)
@pytest.mark.kafka
@pytest.mark.own_server
def test_a_cluster_leaves_zookeeper_with_its_acls_and_its_history(kafka, cluster, ada, tmp_path, capsys):
    assert sync(cluster).read
    first = cluster.revision
    change = review.draft(
        cluster=cluster, author=ada, title="t", delta=Delta(add=(allow("User:x", "READ", "y"),))
    )
    before = in_brokers(kafka)
    assert before == set(HELD)

    kafka.begin()

    # Brokers write to both sides now: ZooKeeper still shows all, and says that it is on its way.
    assert in_brokers(kafka) == before
    write(kafka, BETWEEN)
    held = sync(cluster)
    assert held.read
    assert (held.revision.number, held.revision.acls) == (2, len(HELD) + 1)
    assert any("moving from ZooKeeper to KRaft" in problem["sentence"] for problem in cluster.problems)
    status, found = moved(kafka, tmp_path, capsys)
    assert (status, found["moved"], found["is_same"]) == (0, False, True), found
    assert (found["here_only"], found["there_only"], found["differences"]) == (0, 0, 0)

    kafka.leave_zookeeper()

    assert in_brokers(kafka) == before | {BETWEEN}
    status, found = moved(kafka, tmp_path, capsys)
    assert (found["is_same"], found["here_only"], found["there_only"]) == (True, 0, 0)
    assert [each["name"] for each in found["settings"] if each["differs"]] == ["Authorizer"]
    status, found = moved(kafka, tmp_path, capsys, "--confirm", "--accept-differences")
    assert (status, found["moved"]) == (0, True), found

    kafka.end()

    after = Cluster.objects.get()
    assert (after.pk, after.kind, after.authorizer) == (cluster.pk, "admin", "standard")
    result = sync(after)
    assert (result.read, result.state) == (True, ClusterState.OK), result.sentence
    assert in_brokers(kafka) == before | {BETWEEN}
    in_force = StoredAcl.objects.filter(cluster=after, removed_in__isnull=True)
    assert in_force.count() == len(HELD) + 1
    assert not StoredAcl.objects.filter(cluster=after, removed_in__isnull=False).exists()
    assert Revision.objects.filter(cluster=after, acls_removed__gt=0).count() == 0
    assert Revision.objects.get(number=1).pk == first.pk
    assert list(after.changes.all()) == [change]
    assert Grant.objects.filter(cluster=after).count() == 1
    assert Event.objects.filter(verb="cluster.moved").count() == 1
