"""Whatever happens on the way to a broker: a read is whole, or an error with a sentence, and ends in bounded time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from kafka.errors import KafkaTimeoutError

from aclweb.clusters import ClusterError, ClusterState, Connection, connect
from aclweb.clusters.admin_api.client import AdminClient
from aclweb.clusters.admin_api.session import Node
from aclweb.inventory.models import Cluster, Revision, StoredAcl
from aclweb.inventory.sync import SyncResult, sync
from aclweb.inventory.work import scheduling
from devstack.servers import KafkaBroker
from tests.builders import allow
from tests.servers import settle, wipe
from tests.tcp_proxy import KafkaProxy

pytestmark = pytest.mark.kafka

# Enough that their list is many packets long.
ACLS = [allow("User:bob", "READ", f"topic-{number:04d}") for number in range(400)]
TIMEOUT = 1.5
# What must end, ends long before; a busy machine tells them apart.
PATIENCE = 60.0
# Bytes of a sync after which the connection ends: so many points, and all of them in thorough runs.
POINTS, ALL_POINTS = 5, 100


@pytest.fixture(scope="module")
def broker(kafka44) -> KafkaBroker:
    wipe(kafka44)
    settle(kafka44, add=ACLS)
    return kafka44


@pytest.fixture
def proxy(broker) -> Iterator[KafkaProxy]:
    with KafkaProxy(broker.bootstrap) as proxy:
        yield proxy


def through(proxy: KafkaProxy, broker: KafkaBroker, timeout_seconds: float = TIMEOUT) -> Connection:
    return Connection(broker.connection().kind, proxy.address, broker.connection().options, timeout_seconds)


@pytest.fixture
def client(proxy, broker) -> Iterator[AdminClient]:
    with connect(through(proxy, broker, PATIENCE)) as client:
        assert isinstance(client, AdminClient)
        assert client.describe().brokers == (proxy.address,)
        client._session.timeout_seconds = TIMEOUT
        yield client
        proxy.half_open(False)


READS: dict[str, Callable[[AdminClient], object]] = {
    "its ACLs": lambda client: client.read_acls(),
    "its topics": lambda client: client.read_topics(),
    "its groups": lambda client: client.read_groups(),
    "its brokers": lambda client: client.describe(),
}


def hang(proxy: KafkaProxy) -> None:
    proxy.half_open(True)


def lose_replies(proxy: KafkaProxy) -> None:
    proxy.swallow_replies()


def drip(proxy: KafkaProxy) -> None:
    proxy.delay_seconds, proxy.piece_bytes = 0.5, 1


def cut_and_refuse(proxy: KafkaProxy) -> None:
    proxy.refuse(True)
    proxy.cut()


def end_in_the_middle(proxy: KafkaProxy) -> None:
    proxy.cut_after(10)


FAULTS = (hang, lose_replies, drip, cut_and_refuse, end_in_the_middle)


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        # Each waits for its time to be over.
        pytest.param(
            fault,
            what,
            marks=[]
            if what == "its ACLs" or fault is hang
            else pytest.mark.thorough(
                instead="tests/clusters/test_admin_faults.py::"
                "test_a_list_whose_connection_ends_once_is_asked_for_again_and_is_whole"
            ),
        )
        for fault in FAULTS
        for what in READS
    ],
)
def test_a_read_that_is_not_answered_whole_is_an_error_that_says_so(client, proxy, fault, what):
    fault(proxy)
    began = time.monotonic()

    with pytest.raises(ClusterError) as raised:
        READS[what](client)

    assert time.monotonic() - began < PATIENCE
    assert raised.value.state is ClusterState.UNREACHABLE
    sentence = f"The Kafka broker at {proxy.address} stopped answering when asked for {what} ("
    assert str(raised.value).startswith(sentence)


def test_a_list_whose_connection_ends_once_is_asked_for_again_and_is_whole(client, proxy):
    proxy.cut_after(None)
    assert set(client.read_acls().bindings) == set(ACLS)
    size = proxy.bytes_from_server
    assert size > len(ACLS) * 20

    client._session.timeout_seconds = PATIENCE
    for point in (1, size // 2, size - 1):
        proxy.cut_after(point, once=True)
        assert set(client.read_acls().bindings) == set(ACLS)


def test_a_slow_answer_that_comes_in_time_is_whole(client, proxy):
    client._session.timeout_seconds = PATIENCE
    proxy.delay_seconds = 0.05

    assert set(client.read_acls().bindings) == set(ACLS)


@pytest.mark.parametrize("fault", [hang, lose_replies, cut_and_refuse])
def test_nobody_who_answers_is_an_error_when_a_session_opens(proxy, broker, fault):
    fault(proxy)
    began = time.monotonic()

    with pytest.raises(ClusterError, match=proxy.address) as raised:
        connect(through(proxy, broker))
    proxy.half_open(False)

    assert time.monotonic() - began < PATIENCE
    assert raised.value.state is ClusterState.UNREACHABLE


@pytest.mark.django_db
@pytest.mark.parametrize(
    "points",
    [
        POINTS,
        pytest.param(
            ALL_POINTS,
            marks=pytest.mark.thorough(
                instead="tests/clusters/test_admin_faults.py::"
                "test_a_list_whose_connection_ends_once_is_asked_for_again_and_is_whole"
            ),
        ),
    ],
)
def test_a_sync_whose_connection_ends_after_any_byte_loses_no_row(proxy, broker, settings, points):
    cluster = Cluster.objects.create(
        slug="kraft", name="kraft", kind="admin", address=proxy.address, options=broker.connection().options
    )

    def stored() -> tuple[int, int]:
        in_force = StoredAcl.objects.filter(cluster=cluster, removed_in__isnull=True)
        return in_force.count(), Revision.objects.filter(cluster=cluster).count()

    def synced_whole() -> SyncResult:
        settings.ACLWEB_CLUSTER_TIMEOUT_SECONDS = PATIENCE
        proxy.cut_after(None)
        scheduling.ask(cluster.pk)
        return sync(cluster)

    assert synced_whole().changed, cluster.state_sentence
    everything = proxy.bytes_from_server
    assert stored() == (len(ACLS), 1)

    settings.ACLWEB_CLUSTER_TIMEOUT_SECONDS = TIMEOUT
    failed = 0
    for point in range(points):
        proxy.cut_after(everything * point // points)
        result = sync(cluster)
        failed += not result.read
        assert result.read or result.state == ClusterState.UNREACHABLE
        assert result.read or proxy.address in result.sentence
        assert stored() == (len(ACLS), 1), f"cut after {everything * point // points} of {everything} bytes"

    assert failed >= points // 2
    last = synced_whole()
    assert (last.read, last.changed, cluster.failures) == (True, False, 0)


def test_of_many_brokers_that_answer_nothing_in_their_time_two_are_waited_for(client, monkeypatch):
    asked = []

    def take_all_its_time(_request: object, timeout_seconds: float, node_id: int | None = None) -> object:
        asked.append((node_id, timeout_seconds))
        raise KafkaTimeoutError("no answer")

    monkeypatch.setattr(client._session, "send", take_all_its_time)
    client._session.nodes = tuple(Node(number, f"broker-{number}:9092") for number in range(30))

    with pytest.raises(ClusterError, match="broker-1:9092 stopped answering when asked for its topics"):
        client.read_topics()

    assert asked == [(0, TIMEOUT), (1, TIMEOUT)]


def test_a_broker_that_answers_and_then_does_not_show_its_settings_counts_as_silent(
    client, proxy, monkeypatch
):
    ask, one = client._session.ask, client._session.nodes[0]
    other = Node(2, "broker-2:9092")

    def ask_of(make, what: str, *, node: Node | None = None) -> object:
        if node == other:
            raise ClusterError("It hangs.", state=ClusterState.UNREACHABLE)
        return ask(make, what, node=node)

    client._session.timeout_seconds = PATIENCE
    client._session.nodes = client._session._there = (one, other)
    monkeypatch.setattr(client._session, "ask", ask_of)

    facts = client.describe()

    assert facts.settings.brokers == (1,)
    assert facts.silent == (other.address,)
