"""Which ports may a server take, so that nobody else gets them before it listens there?"""

from __future__ import annotations

import socket


def hold_port(port: int = 0) -> socket.socket:
    """Bind a port of 127.0.0.1, this one or a free one, and do not listen; raises OSError where it is taken.

    While the socket is open the system gives the port to nobody else, not even to a connection that goes out.
    A server that sets SO_REUSEADDR (Java, gunicorn, PostgreSQL, Redis, Erlang) listens there all the same.
    """
    held = socket.socket()
    try:
        if port:
            # Connections of the last run that still linger are no hindrance, nor are they for the server.
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", port))
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    except OSError:
        held.close()
        raise
    return held


def number_of(held: socket.socket) -> int:
    return int(held.getsockname()[1])
