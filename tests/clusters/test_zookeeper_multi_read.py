"""Many nodes are read in few requests, each as it is read alone, and from older servers all the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss, NoAuthError, NoNodeError
from kazoo.protocol.serialization import int_struct, multiheader_struct
from kazoo.security import make_acl

from aclweb.clusters import ClusterError, Connection
from aclweb.clusters.zookeeper import ZOOKEEPER, multi_read, session
from aclweb.clusters.zookeeper.errors import as_cluster_errors
from aclweb.clusters.zookeeper.session import Session

COUNT = 300


@pytest.fixture
def there(zookeeper_server, fresh) -> Iterator[tuple[Session, list[str]]]:
    """A session, and the paths of nodes of which some are odd, large, unreadable or gone."""
    raw = KazooClient(hosts=zookeeper_server.address)
    raw.start(timeout=60)
    raw.create(f"/{fresh}")
    paths = [f"/n{number}" for number in range(COUNT)] + [
        "/Ünal *:",
        "/empty",
        "/large",
        "/secret",
        "/gone",
        "/n1",
    ]
    for path in paths[:COUNT]:
        raw.create(f"/{fresh}{path}", path.encode())
    raw.create(f"/{fresh}/Ünal *:", b"x")
    raw.create(f"/{fresh}/empty", b"")
    raw.create(f"/{fresh}/large", b"x" * 900_000)
    raw.create(f"/{fresh}/n1/child", b"")
    raw.create(f"/{fresh}/secret", b"x", acl=[make_acl("digest", "a:b", all=True)])
    opened = Session(Connection(ZOOKEEPER, f"{zookeeper_server.address}/{fresh}", timeout_seconds=60))
    yield opened, paths
    opened.close()
    raw.stop()
    raw.close()


@pytest.fixture
def requests(monkeypatch) -> list[object]:
    sent: list[object] = []
    ask = KazooClient._call

    def kept(self, request, answer):
        sent.append(request)
        return ask(self, request, answer)

    monkeypatch.setattr(KazooClient, "_call", kept)
    return sent


def shown(found: dict[str, object]) -> dict[str, object]:
    return {path: type(one).__name__ if isinstance(one, Exception) else one for path, one in found.items()}


@pytest.mark.zookeeper
def test_nodes_are_read_many_at_once_as_each_is_alone(there, requests, monkeypatch):
    opened, paths = there
    many = opened.fetch(paths, tolerate=(NoAuthError,))
    few = len(requests)
    monkeypatch.setattr(session, "_MANY", 10_000)
    alone = opened.fetch(paths, tolerate=(NoAuthError,))

    assert shown(many) == shown(alone)
    assert few <= COUNT / multi_read.READS + 2
    assert len(requests) - few == len(paths)
    assert many["/gone"] is None
    assert isinstance(many["/secret"], NoAuthError)
    assert many["/n1"][1].children_count == 1
    assert many["/empty"][0] == b""


@pytest.mark.zookeeper
def test_what_is_not_tolerated_is_raised(there):
    opened, paths = there

    with pytest.raises(NoAuthError):
        opened.fetch(paths)


@pytest.mark.zookeeper
def test_a_server_that_does_not_know_the_request_is_read_node_by_node_from_then_on(
    there, monkeypatch, requests
):
    opened, paths = there
    expected = shown(opened.fetch(paths, tolerate=(NoAuthError,)))
    monkeypatch.setattr(session, "_no_multi_read", set())
    monkeypatch.setattr(multi_read.MultiRead, "type", 999)

    assert shown(opened.fetch(paths, tolerate=(NoAuthError,))) == expected

    assert session._no_multi_read == {opened.where}
    requests.clear()
    assert shown(opened.fetch(paths, tolerate=(NoAuthError,))) == expected
    assert not any(isinstance(one, multi_read.MultiRead) for one in requests)


@pytest.mark.zookeeper
def test_a_connection_that_is_lost_in_the_middle_is_an_error_and_no_shorter_answer(there, monkeypatch):
    opened, paths = there
    get, answers = opened.get, iter(range(3))

    def cut(answer):
        if next(answers, None) is None:
            raise ConnectionLoss
        return get(answer)

    monkeypatch.setattr(opened, "get", cut)

    with pytest.raises(ConnectionLoss):
        opened.fetch(paths, tolerate=(NoAuthError,))


def test_a_request_is_bounded_in_nodes_and_in_bytes():
    short = list(multi_read.batches([f"/t{n}" for n in range(200)]))
    long = list(multi_read.batches(["/" + "x" * 32_000] * 20))

    assert [len(some) for some in short] == [64, 64, 64, 8]
    assert all(sum(map(len, some)) <= multi_read.REQUEST_BYTES for some in long)
    assert sum(map(len, long)) == 20
    assert list(multi_read.batches(["/" + "x" * 600_000])) == [["/" + "x" * 600_000]]


def answer(*codes: int) -> bytes:
    """An answer in which each read has ended with this error."""
    errors = [multiheader_struct.pack(-1, False, code) + int_struct.pack(code) for code in codes]
    return b"".join(errors) + multiheader_struct.pack(-1, True, -1)


def test_an_answer_that_does_not_fit_the_question_is_an_error_and_no_shorter_list():
    asked = multi_read.MultiRead(["/a", "/b"])
    gone = NoNodeError.code
    assert [type(one) for one in asked.deserialize(answer(gone, gone), 0)] == [NoNodeError] * 2

    for damaged in (
        b"",
        answer(gone),
        answer(gone, gone, gone),
        answer(gone, gone)[:-5],
        answer(gone, -9999),
    ):
        with pytest.raises(ClusterError, match="gave no usable answer about its ACLs"):
            with as_cluster_errors("its ACLs", "zk:2181", 1):
                asked.deserialize(damaged, 0)
