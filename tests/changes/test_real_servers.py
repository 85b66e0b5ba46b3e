"""The story of a change on servers that nobody wrote for a test: a real ZooKeeper and a real broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from aclweb.accounts.models import User
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.changes import review
from aclweb.changes.models import Change
from aclweb.changes.rollout import run as rollout
from aclweb.clusters import Connection, OutcomeKind, Verb, connect
from aclweb.inventory.current import view as current
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from devstack.servers import KafkaBroker, ZooKeeperServer, lay_out
from tests.builders import allow, deny
from tests.servers import create_topic, produce, wipe

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster(db: None) -> Cluster:
    """The cast's cluster, not read yet; each test says where it is."""
    current.forget()
    return Cluster(
        slug="real", name="real", super_users="User:admin", allow_everyone=False, changes_enabled=True
    )


def read(cluster: Cluster) -> None:
    result = sync(cluster)
    assert result.read, result.sentence


def agreed(cluster: Cluster, delta: Delta, ada: User, ben: User) -> Change:
    change = review.draft(cluster=cluster, author=ada, title="For real", delta=delta)
    change = review.submit(change=change, actor=ada)
    return review.approve(change=change, reviewer=ben)


def bindings(cluster: Cluster) -> set[AclBinding]:
    with connect(current.connection_of(cluster)) as client:
        return set(client.read_acls().bindings)


def put(cluster: Cluster, *added: AclBinding) -> None:
    """Somebody else adds these, with a tool of their own."""
    with connect(current.connection_of(cluster)) as client:
        outcomes = client.write(Verb.ADD, added)
    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.WRITTEN}, outcomes


@pytest.fixture
def in_zookeeper(zookeeper_server: ZooKeeperServer, fresh: str, cluster: Cluster) -> Cluster:
    """A cluster in a chroot of its own of a real ZooKeeper, with two rules, read once."""
    address = f"{zookeeper_server.address}/{fresh}"
    lay_out(address, cluster_id="zk-1", topics={"orders": 1, "payments.eu": 1})
    cluster.kind = "zookeeper"
    cluster.authorizer = "acl"
    cluster.address = address
    cluster.save()
    put(cluster, allow("User:bob", "READ", "orders"), deny("User:eve", "READ", "orders"))
    read(cluster)
    return cluster


@pytest.mark.zookeeper
def test_an_approved_change_is_written_to_zookeeper_and_undone(in_zookeeper, ada, ben):
    before = bindings(in_zookeeper)
    delta = Delta(
        add=(
            allow("User:ledger", "READ", "payments.", pattern="PREFIXED"),
            deny("User:mallory", "ALL", "*"),
            allow("User:ledger", "READ", "ledger-app", resource_type="GROUP"),
        ),
        remove=(allow("User:bob", "READ", "orders"), deny("User:eve", "READ", "orders")),
    )

    change = agreed(in_zookeeper, delta, ada, ben)
    assert rollout.apply(change.pk) == "APPLIED", Change.objects.get(pk=change.pk).sentence

    assert bindings(in_zookeeper) == (before | set(delta.add)) - set(delta.remove)
    undo = review.draft_undo(change=Change.objects.get(pk=change.pk), actor=ada)
    review.submit(change=undo, actor=ada)
    review.approve(change=undo, reviewer=ben)
    assert rollout.apply(undo.pk) == "APPLIED"
    assert bindings(in_zookeeper) == before


@pytest.mark.zookeeper
def test_a_foreign_edit_in_zookeeper_is_kept_or_blocks(in_zookeeper, ada, ben):
    theirs = allow("User:theirs", "READ", "payments.eu")
    change = agreed(in_zookeeper, Delta(add=(allow("User:ledger", "READ", "payments.eu"),)), ada, ben)
    put(in_zookeeper, theirs)

    assert rollout.apply(change.pk) == "APPLIED"
    assert theirs in bindings(in_zookeeper)

    other = agreed(in_zookeeper, Delta(add=(allow("User:late", "READ", "payments.eu"),)), ada, ben)
    put(in_zookeeper, deny("User:late", "READ", "payments.eu"))
    assert rollout.apply(other.pk) == "BLOCKED_STALE"
    assert allow("User:late", "READ", "payments.eu") not in bindings(in_zookeeper)


@pytest.fixture
def on_a_broker(kafka44: KafkaBroker, fresh: str, cluster: Cluster) -> tuple[Cluster, str]:
    """A real broker with one topic and no ACL of ours, read once."""
    wipe(kafka44)
    create_topic(kafka44, fresh)
    login: Connection = kafka44.connection()
    cluster.kind, cluster.address, cluster.options = login.kind.name, login.address, dict(login.options)
    cluster.save()
    read(cluster)
    return cluster, fresh


@pytest.fixture
def granted(on_a_broker: tuple[Cluster, str], ada: User, ben: User) -> Callable[[], Change]:
    cluster, topic = on_a_broker

    def granted() -> Change:
        change = agreed(cluster, Delta(add=(allow("User:alice", "WRITE", topic),)), ada, ben)
        rollout.apply(change.pk)
        return Change.objects.get(pk=change.pk)

    return granted


@pytest.mark.kafka
def test_a_client_can_produce_after_the_change_and_not_before(kafka44, on_a_broker, granted):
    _, topic = on_a_broker
    assert produce(kafka44, "alice", topic) is not None

    change = granted()

    assert change.state == "APPLIED", change.sentence
    assert produce(kafka44, "alice", topic) is None
