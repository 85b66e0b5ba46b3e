"""A proxy between a client and a real server, which a test has cut, hold up or swallow what passes.

with TcpProxy("127.0.0.1:2181") as proxy:
    proxy.address             where the client connects
    proxy.cut()               every connection ends; new ones are taken
    proxy.refuse(True)        new ones end at once, until refuse(False)
    proxy.half_open(True)     nothing passes any more and nothing ends, until half_open(False)
    proxy.delay_seconds = 1   what the server says arrives so much later
    proxy.piece_bytes = 10    ... in pieces of so many bytes, each after the delay
    proxy.cut_after(1000)     connections end once so many bytes have come from the server; with once=True, only one
    proxy.swallow_replies()   what the server says from now on is lost, and the connections stay

A Kafka broker tells its clients to connect to the address that it advertises. `KafkaProxy` puts its own in that place.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from types import TracebackType
from typing import Self


class TcpProxy:
    def __init__(self, target: str) -> None:
        host, _, port = target.partition("/")[0].rpartition(":")
        self._target = (host, int(port))
        self.delay_seconds = 0.0
        self.piece_bytes = 4096
        self.bytes_from_server = 0
        self.accepted = 0
        self._budget: int | None = None
        self._cuts_once = False
        self._swallow = self._refuse = False
        self._passing = threading.Event()
        self._passing.set()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for one in pair:
                _end(one)

    def refuse(self, refuses: bool) -> None:
        self._refuse = refuses

    def half_open(self, is_half_open: bool) -> None:
        if is_half_open:
            self._passing.clear()
        else:
            self._passing.set()

    def cut_after(self, count: int | None, *, once: bool = False) -> None:
        self.bytes_from_server, self._budget, self._cuts_once = 0, count, once

    def swallow_replies(self, swallows: bool = True) -> None:
        self._swallow = swallows

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._passing.set()
        _end(self._listener)
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            try:
                if self._refuse:
                    raise OSError("refused by the test")
                server = socket.create_connection(self._target, timeout=10)
                server.settimeout(None)
            except OSError:
                _end(client)
                continue
            with self._lock:
                self._pairs.append((client, server))
            for ends, from_server in (((client, server), False), ((server, client), True)):
                threading.Thread(target=self._pass, args=(*ends, from_server), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, from_server: bool) -> None:
        try:
            while data := source.recv(4096):
                self._passing.wait()
                if from_server:
                    if self._swallow:
                        continue
                    data = self._as_told(data)
                    while self.delay_seconds and len(data) > self.piece_bytes:
                        time.sleep(self.delay_seconds)
                        sink.sendall(data[: self.piece_bytes])
                        data = data[self.piece_bytes :]
                    time.sleep(self.delay_seconds)
                    if self._budget is not None and self.bytes_from_server + len(data) > self._budget:
                        sink.sendall(data[: max(0, self._budget - self.bytes_from_server)])
                        self.bytes_from_server = self._budget
                        if self._cuts_once:
                            self._budget = None
                        return
                    self.bytes_from_server += len(data)
                sink.sendall(data)
        except OSError:
            pass
        finally:
            _end(source)
            _end(sink)

    def _as_told(self, data: bytes) -> bytes:
        """Return what the client is told where the server says this."""
        return data


class KafkaProxy(TcpProxy):
    """A proxy whose address the broker seems to advertise: both are of 127.0.0.1, as host and port."""

    def __init__(self, target: str) -> None:
        self._ports = (int(target.rpartition(":")[2]), 0)
        super().__init__(target)
        self._ports = (self._ports[0], int(self.address.rpartition(":")[2]))

    def _as_told(self, data: bytes) -> bytes:
        real, own = (b"127.0.0.1" + struct.pack(">i", port) for port in self._ports)
        return data.replace(real, own)


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
