"""Ports that are no broker's, each in its own way, on 127.0.0.1."""

from __future__ import annotations

import contextlib
import socket
import threading
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
