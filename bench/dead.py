"""In which ways is a cluster dead, and what stands at its address meanwhile?

Each way is played by a real socket or server on 127.0.0.1 for as long as `of_all_kinds` is open.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

from devstack.servers import ZooKeeperServer
from tests.clusters.odd_servers import hangs_up, listening, relay, silent


@dataclass(frozen=True)
class Dead:
    """A connection behind which nothing works; title says why."""

    title: str
    kind: str
    address: str
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Ground:
    """Where dead clusters are played. living: host:port/chroot of a large cluster in ZooKeeper."""

    open_ones: ExitStack
    directory: Path
    living: str


@contextmanager
def of_all_kinds(number: int, directory: Path, living: str) -> Iterator[list[Dead]]:
    """Have so many clusters be dead, in turn in each of the ways there are.

    directory: for the files of servers. living: host:port/chroot of a large cluster in ZooKeeper, in
    front of which some of them stand.
    """
    ways: tuple[Callable[[_Ground], Dead], ...] = (
        _closed_port,
        _silent_broker,
        _stopped_server,
        _unknown_name,
        _hung_handshake,
        _no_packet_answered,
        _silent_after_the_session,
        _one_answer_a_second,
        _silent_keeper,
        _hangs_up,
    )
    with ExitStack() as open_ones:
        numbered = ((turn, way) for turn in count() for way in ways)
        yield [
            way(_Ground(open_ones, directory / f"dead-{turn}", living))
            for turn, way in islice(numbered, number)
        ]


def _closed_port(ground: _Ground) -> Dead:
    # Bound and not listening: refused, and nobody else can take it.
    return Dead("closed port", "admin", _address(_bound(ground)))


def _silent_broker(ground: _Ground) -> Dead:
    address = ground.open_ones.enter_context(listening(silent))
    return Dead("accepts and stays silent", "admin", address)


def _silent_keeper(ground: _Ground) -> Dead:
    address = ground.open_ones.enter_context(listening(silent))
    return Dead("ZooKeeper port that stays silent", "zookeeper", f"{address}/kafka")


def _stopped_server(ground: _Ground) -> Dead:
    server = ground.open_ones.enter_context(ZooKeeperServer(ground.directory))
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    ground.open_ones.callback(os.kill, server.pid, signal.SIGCONT)
    return Dead("stopped ZooKeeper (SIGSTOP)", "zookeeper", f"{server.address}/kafka")


def _unknown_name(_ground: _Ground) -> Dead:
    return Dead("unknown host name", "admin", "kafka.bench.invalid:9092")  # RFC 2606


def _hung_handshake(ground: _Ground) -> Dead:
    address = ground.open_ones.enter_context(listening(silent))
    return Dead("TLS handshake that hangs", "admin", address, {"security.protocol": "SSL"})


def _no_packet_answered(ground: _Ground) -> Dead:
    full = _bound(ground)
    full.listen(0)
    # Whoever connects once its queue is full gets no answer at all, as behind a firewall that drops.
    for _ in range(3):
        waiting = ground.open_ones.enter_context(socket.socket())
        waiting.setblocking(False)
        waiting.connect_ex(full.getsockname())
    return Dead("no packet answered", "admin", _address(full))


def _silent_after_the_session(ground: _Ground) -> Dead:
    server, _, chroot = ground.living.partition("/")
    address = ground.open_ones.enter_context(listening(relay(server, answers=1)))
    return Dead("silent after the session began", "zookeeper", f"{address}/{chroot}")


def _one_answer_a_second(ground: _Ground) -> Dead:
    server, _, chroot = ground.living.partition("/")
    address = ground.open_ones.enter_context(listening(relay(server, pause_seconds=1.0)))
    return Dead("one answer a second", "zookeeper", f"{address}/{chroot}")


def _hangs_up(ground: _Ground) -> Dead:
    return Dead("hangs up at once", "admin", ground.open_ones.enter_context(listening(hangs_up)))


def _bound(ground: _Ground) -> socket.socket:
    one = ground.open_ones.enter_context(socket.socket())
    one.bind(("127.0.0.1", 0))
    return one


def _address(one: socket.socket) -> str:
    host, port = one.getsockname()
    return f"{host}:{port}"
