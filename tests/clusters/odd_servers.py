"""Ports that are no broker's, each in its own way, on 127.0.0.1."""

from __future__ import annotations

import contextlib
import itertools
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def listening(talk: Callable[[socket.socket], object]) -> Iterator[str]:
    """Yield the address of a port that does this with each connection, in a thread of its own, and then closes it."""
    server = socket.create_server(("127.0.0.1", 0))
    opened: list[socket.socket] = []

    def serve(one: socket.socket) -> None:
        with one, contextlib.suppress(OSError):
            talk(one)

    def accept() -> None:
        while True:
            try:
                one, _ = server.accept()
            except OSError:
                return
            opened.append(one)
            threading.Thread(target=serve, args=(one,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.getsockname()[1]}"
    finally:
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        for one in opened:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def silent(one: socket.socket) -> None:
    """Take everything and answer nothing, as a stopped process does."""
    while one.recv(4096):
        pass


def hangs_up(one: socket.socket) -> None:
    one.recv(1)


def web_server(one: socket.socket) -> None:
    """Wait for a line, as web servers do, and answer it."""
    text = b""
    while b"\r\n\r\n" not in text:
        part = one.recv(4096)
        if not part:
            return
        text += part
    one.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello")


def picky_web_server(one: socket.socket) -> None:
    one.recv(4096)
    one.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def mail_server(one: socket.socket) -> None:
    one.sendall(b"220 mail.example ESMTP ready\r\n")
    silent(one)


def relay(
    keeper: str, *, answers: int | None = None, pause_seconds: float = 0.0
) -> Callable[[socket.socket], None]:
    """Stand between a client and the ZooKeeper at host:port; a question in four letters is answered at once.

    answers: how many packets get through to the client, None for all. pause_seconds: before each of them.
    """
    host, _, port = keeper.rpartition(":")

    def talk(one: socket.socket) -> None:
        with socket.create_connection((host, int(port))) as server:
            first = one.recv(65536)
            server.sendall(first)
            if first == b"srvr":
                _pump(server, one)
                return
            asking = threading.Thread(target=_pump, args=(one, server), daemon=True)
            asking.start()
            for _ in itertools.count() if answers is None else range(answers):
                size = server.recv(4, socket.MSG_WAITALL)
                if not size:
                    return
                packet = server.recv(int.from_bytes(size), socket.MSG_WAITALL)
                time.sleep(pause_seconds)
                one.sendall(size + packet)
            asking.join()

    return talk


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while some := source.recv(65536):
            target.sendall(some)
        target.shutdown(socket.SHUT_WR)


def kafka_like(one: socket.socket) -> None:
    """Answer ApiVersions as a broker does, and hang up on whatever is longer than any request."""
    while True:
        size = int.from_bytes(one.recv(4))
        if not 0 < size < 1_000_000:
            return
        request = one.recv(size)
        versions = b"".join(struct.pack(">hhh", key, 0, 4) for key in (3, 18))
        body = request[4:8] + struct.pack(">hi", 0, 2) + versions
        one.sendall(struct.pack(">i", len(body)) + body)
