"""A sync that is cut anywhere loses no row, and the next one is as if nothing had happened."""

from __future__ import annotations

from itertools import cycle

import pytest
from kazoo.exceptions import ConnectionLoss, OperationTimeoutError, SessionExpiredError
from kazoo.handlers.threading import KazooTimeoutError

from aclweb.clusters import Connection, Verb, connect
from aclweb.clusters.zookeeper import ZOOKEEPER, session
from aclweb.clusters.zookeeper.client import ZooKeeperClient
from aclweb.inventory.models import Cluster, StoredAcl, StoredName
from aclweb.inventory.sync import sync
from devstack.servers import lay_out
from tests.builders import allow
from tests.tcp_proxy import TcpProxy

pytestmark = [pytest.mark.zookeeper, pytest.mark.django_db]

NODES = 60
# Bytes of a sync after which a proxy ends the connection: so many points, and all of them in thorough runs.
POINTS, ALL_POINTS = 6, 100


@pytest.fixture
def chroot(zookeeper_server, fresh) -> str:
    """A chroot with ACLs on as many literal names as prefixes, and topics."""
    address = f"{zookeeper_server.address}/{fresh}"
    lay_out(address, cluster_id="zk-1", topics={f"t{number}": 2 for number in range(5)})
    many = [
        allow("User:bob", "READ", f"t{number}", pattern="PREFIXED" if number % 2 else "LITERAL")
        for number in range(NODES)
    ]
    with connect(Connection(ZOOKEEPER, address, timeout_seconds=60)) as client:
        client.write(Verb.ADD, many)
    return fresh


def cluster_at(address: str) -> Cluster:
    return Cluster.objects.create(slug="zk", name="zk", kind="zookeeper", address=address, authorizer="acl")


def in_force(cluster: Cluster) -> tuple[int, int]:
    return (
        StoredAcl.objects.filter(cluster=cluster, removed_in__isnull=True).count(),
        StoredName.objects.filter(cluster=cluster, removed_in__isnull=True).count(),
    )


class Cut:
    """Lets so many answers of a session through, and none after them."""

    def __init__(self, client: ZooKeeperClient) -> None:
        self._get = client._session.get
        client._session.get = self.get  # type: ignore[method-assign]
        self.left: int | None = None
        self.given = 0
        self._faults = cycle([ConnectionLoss, SessionExpiredError, OperationTimeoutError, KazooTimeoutError])

    def get(self, answer: object) -> object:
        if self.left == 0:
            raise next(self._faults)()
        found = self._get(answer)
        self.given += 1
        if self.left is not None:
            self.left -= 1
        return found


@pytest.mark.parametrize(("several_at_once", "points"), [(True, 20), (False, 100)])
def test_a_sync_that_is_cut_after_any_of_its_answers_loses_no_row(
    zookeeper_server, chroot, monkeypatch, several_at_once, points
):
    if not several_at_once:
        monkeypatch.setattr(session, "_MANY", 10_000)
    cluster = cluster_at(f"{zookeeper_server.address}/{chroot}")
    with connect(Connection(ZOOKEEPER, cluster.address, timeout_seconds=60)) as client:
        assert isinstance(client, ZooKeeperClient)
        cut = Cut(client)
        assert sync(cluster, client=client).changed
        answers, whole = cut.given, in_force(cluster)
        assert whole == (NODES, 5)
        assert answers >= points
        read = 0
        for left in range(answers):
            cut.left = left
            result = sync(cluster, client=client)
            read += result.read
            assert in_force(cluster) == whole, f"cut after {left} of {answers} answers"
            assert not result.changed
        cut.left = None

        last = sync(cluster, client=client)

    # Only the list of topics may be missing in a sync that counts.
    assert read <= 7
    assert (last.read, last.changed, last.state) == (True, False, "ok")
    cluster.refresh_from_db()
    assert cluster.failures == 0
    assert cluster.revision is not None
    assert cluster.revision.number == 1


@pytest.mark.parametrize(
    "points",
    [
        POINTS,
        pytest.param(
            ALL_POINTS,
            marks=pytest.mark.thorough(
                instead="tests/inventory/test_cut_reads.py::"
                "test_a_sync_that_is_cut_after_any_of_its_answers_loses_no_row"
            ),
        ),
    ],
)
def test_a_connection_that_ends_after_any_byte_loses_no_row(zookeeper_server, chroot, settings, points):
    settings.ACLWEB_CLUSTER_TIMEOUT_SECONDS = 4
    with TcpProxy(zookeeper_server.address) as proxy:
        cluster = cluster_at(f"{proxy.address}/{chroot}")
        proxy.cut_after(None)
        assert sync(cluster).changed, cluster.state_sentence
        everything, whole = proxy.bytes_from_server, in_force(cluster)
        failed = 0
        for point in range(points):
            proxy.cut_after(everything * point // points)
            failed += not sync(cluster).read
            assert in_force(cluster) == whole, (
                f"cut after {everything * point // points} of {everything} bytes"
            )
        proxy.cut_after(None)

        last = sync(cluster)

    assert failed >= points // 2
    assert (last.read, last.changed) == (True, False)
