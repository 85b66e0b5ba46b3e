"""A watch on a real ZooKeeper tells of each edit, and says when it may have missed some."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_acl

from aclweb.acl.notation import znodes
from aclweb.clusters import AllowedHosts, ClusterError, Connection, Moved, Verb, connect
from aclweb.clusters.zookeeper import ZOOKEEPER
from aclweb.clusters.zookeeper.watch import ZooKeeperWatch
from devstack.servers import ZooKeeperServer, lay_out
from tests.builders import allow
from tests.servers import need_java, stopped
from tests.tcp_proxy import TcpProxy

pytestmark = pytest.mark.zookeeper

# Of a session: as short as aclweb asks for.
TIMEOUT = 4.0
PATIENCE = 60.0


@pytest.fixture
def chroot(zookeeper_server, fresh) -> str:
    lay_out(f"{zookeeper_server.address}/{fresh}", cluster_id="zk-1")
    return fresh


@pytest.fixture
def proxy(zookeeper_server) -> Iterator[TcpProxy]:
    with TcpProxy(zookeeper_server.address) as proxy:
        yield proxy


@pytest.fixture
def watch(proxy, chroot) -> Iterator[ZooKeeperWatch]:
    watch = ZooKeeperWatch(Connection(ZOOKEEPER, f"{proxy.address}/{chroot}", timeout_seconds=TIMEOUT))
    yield watch
    proxy.half_open(False)
    watch.close()


@contextmanager
def somebody(address: str) -> Iterator[KazooClient]:
    """Somebody else's session, straight on the server."""
    raw = KazooClient(hosts=address)
    raw.start(timeout=60)
    try:
        yield raw
    finally:
        raw.stop()
        raw.close()


def edit(server: ZooKeeperServer, chroot: str, number: int) -> None:
    """Edit ACLs as somebody else does, straight on the server; even numbers are of a prefix."""
    pattern = "LITERAL" if number % 2 else "PREFIXED"
    binding = allow("User:bob", "READ", f"t{number}", pattern=pattern)
    with connect(Connection(ZOOKEEPER, f"{server.address}/{chroot}", timeout_seconds=60)) as client:
        client.write(Verb.ADD, [binding])


def told(watch: ZooKeeperWatch) -> Moved | None:
    """Return what the watch tells next, None where it tells nothing for long."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        moved = watch.wait(0.5)
        if moved is not None:
            return moved
    return None


def test_each_edit_is_told_of_literal_names_and_of_prefixes(watch, zookeeper_server, chroot):
    for number in range(4):
        edit(zookeeper_server, chroot, number)
        assert told(watch) is Moved.SOMETHING

    assert watch.wait(0.1) is None
    assert watch.is_connected


def test_a_root_that_a_broker_makes_later_is_watched_from_then_on(zookeeper_server, fresh):
    address = f"{zookeeper_server.address}/{fresh}"
    with somebody(zookeeper_server.address) as raw:
        raw.create(f"/{fresh}")
        with closing(ZooKeeperWatch(Connection(ZOOKEEPER, address, timeout_seconds=TIMEOUT))) as watch:
            raw.create(f"/{fresh}{znodes.LITERAL_CHANGES}")
            assert told(watch) is Moved.SOMETHING
            raw.create(f"/{fresh}{znodes.LITERAL_CHANGES}/{znodes.CHANGE_PREFIX}", sequence=True)
            assert told(watch) is Moved.SOMETHING


def test_a_root_that_is_made_between_two_looks_is_watched(zookeeper_server, fresh, monkeypatch):
    with somebody(zookeeper_server.address) as raw:
        raw.create(f"/{fresh}")
        look = KazooClient.exists_async

        def late(client: KazooClient, path: str, watch: object = None) -> object:
            if path == znodes.LITERAL_CHANGES:
                raw.ensure_path(f"/{fresh}{path}")
            return look(client, path, watch)

        monkeypatch.setattr(KazooClient, "exists_async", late)
        address = f"{zookeeper_server.address}/{fresh}"
        with closing(ZooKeeperWatch(Connection(ZOOKEEPER, address, timeout_seconds=TIMEOUT))) as watch:
            while watch.wait(0.2) is not None:
                pass
            raw.create(f"/{fresh}{znodes.LITERAL_CHANGES}/{znodes.CHANGE_PREFIX}", sequence=True)

            assert told(watch) is Moved.SOMETHING


def cut(proxy: TcpProxy, _watch: ZooKeeperWatch, _server: ZooKeeperServer) -> None:
    proxy.cut()


def half_open(proxy: TcpProxy, watch: ZooKeeperWatch, _server: ZooKeeperServer) -> None:
    proxy.half_open(True)
    deadline = time.monotonic() + PATIENCE
    while watch.is_connected:
        assert time.monotonic() < deadline, "The watch believes in a connection on which nothing passes."
        watch.wait(0.5)
    proxy.half_open(False)


def swallowed(proxy: TcpProxy, watch: ZooKeeperWatch, _server: ZooKeeperServer) -> None:
    proxy.swallow_replies()
    deadline = time.monotonic() + PATIENCE
    while watch.is_connected:
        assert time.monotonic() < deadline, "The watch believes in a server that answers nothing."
        watch.wait(0.5)
    proxy.swallow_replies(False)


def expired(proxy: TcpProxy, watch: ZooKeeperWatch, server: ZooKeeperServer) -> None:
    """End the session on the server: who ends another connection of it takes it with that."""
    session = watch._session.kazoo.client_id
    twin = KazooClient(hosts=server.address, client_id=session)
    twin.start(timeout=60)
    twin.stop()
    twin.close()
    deadline = time.monotonic() + PATIENCE
    while watch._session.kazoo.client_id in (None, session):
        assert time.monotonic() < deadline, "The session has not ended."
        time.sleep(0.05)


@pytest.mark.parametrize("fault", [cut, half_open, swallowed, expired])
def test_after_a_fault_everything_may_have_changed_and_edits_are_told_again(
    watch, proxy, zookeeper_server, chroot, fault
):
    fault(proxy, watch, zookeeper_server)
    edit(zookeeper_server, chroot, 1)

    assert told(watch) is Moved.EVERYTHING

    edit(zookeeper_server, chroot, 2)
    # That of the edit before may be told too, where the connection was up again by then.
    assert told(watch) is Moved.SOMETHING
    assert watch.is_connected


def test_a_watch_outlives_a_server_that_is_away_for_longer_than_its_session(
    watch, proxy, zookeeper_server, chroot
):
    proxy.refuse(True)
    proxy.cut()
    end = time.monotonic() + 2 * TIMEOUT
    while time.monotonic() < end:
        assert watch.wait(0.5) is None
        assert not watch.is_connected
    proxy.refuse(False)

    assert told(watch) is Moved.EVERYTHING


def test_what_arrives_late_is_told_all_the_same(watch, proxy, zookeeper_server, chroot):
    proxy.delay_seconds = 0.5
    edit(zookeeper_server, chroot, 1)

    assert told(watch) is Moved.SOMETHING


def test_a_watch_connects_again_only_where_that_is_allowed(proxy, chroot, zookeeper_server, monkeypatch):
    connection = Connection(
        ZOOKEEPER,
        f"{proxy.address}/{chroot}",
        timeout_seconds=TIMEOUT,
        within=AllowedHosts.read(["127.0.0.0/8"]),
    )
    watch = ZooKeeperWatch(connection)
    try:
        monkeypatch.setattr(AllowedHosts, "_reaches", lambda *_: False)
        accepted = proxy.accepted
        proxy.cut()
        for _ in range(6):
            assert watch.wait(0.5) is None
        assert proxy.accepted == accepted
        monkeypatch.undo()

        assert told(watch) is Moved.EVERYTHING
    finally:
        watch.close()


def test_a_watch_ends_where_its_login_may_not_read_the_change_nodes_any_more(
    watch, proxy, zookeeper_server, chroot
):
    with somebody(f"{zookeeper_server.address}/{chroot}") as raw:
        raw.set_acls(znodes.LITERAL_CHANGES, [make_acl("digest", "a:b", all=True)])
    proxy.cut()

    with pytest.raises(ClusterError, match="does not let this login read changes of its ACLs"):
        told(watch)


def test_nobody_there_is_an_error_at_once():
    with TcpProxy("127.0.0.1:1") as nobody, pytest.raises(ClusterError):
        ZooKeeperWatch(Connection(ZOOKEEPER, nobody.address, timeout_seconds=TIMEOUT))


@pytest.mark.thorough(
    instead="tests/clusters/test_zookeeper_watch.py::"
    "test_after_a_fault_everything_may_have_changed_and_edits_are_told_again"
)
@pytest.mark.own_server
def test_a_zookeeper_that_was_stopped_and_goes_on_is_watched_again(tmp_path):
    need_java()
    with ZooKeeperServer(tmp_path) as server:
        lay_out(f"{server.address}/kafka", cluster_id="zk-1")
        watch = ZooKeeperWatch(Connection(ZOOKEEPER, f"{server.address}/kafka", timeout_seconds=TIMEOUT))
        try:
            assert server.pid is not None
            with stopped(server.pid):
                deadline = time.monotonic() + PATIENCE
                while watch.is_connected and time.monotonic() < deadline:
                    watch.wait(0.5)
                assert not watch.is_connected
            assert told(watch) is Moved.EVERYTHING
            edit(server, "kafka", 1)
            assert told(watch) is Moved.SOMETHING
        finally:
            watch.close()
