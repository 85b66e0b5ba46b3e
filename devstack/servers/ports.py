"""Which ports may a server take, so that nobody else gets them before it listens there?"""

from __future__ import annotations

import errno
import socket
from contextlib import suppress

# Free ports of TCP that are tried until one is free for UDP too.
_TRIES = 100


class HeldPort:
    """A port of 127.0.0.1 that is kept until `close`, for a server that sets SO_REUSEADDR to listen on.

    Java, gunicorn, PostgreSQL, Redis and Erlang set it. Nobody listens on the port here, and the system gives it
    to nobody else, not even to a connection that goes out. UDP's port of the same number tells other holders:
    of TCP's, which is bound with SO_REUSEADDR, two may be had at once while nobody listens.
    """

    def __init__(self, port: int) -> None:
        """port: this one, or 0 for a free one; raises OSError where it is taken."""
        self._udp = socket.socket(type=socket.SOCK_DGRAM)
        self._tcp = socket.socket()
        try:
            if port:
                # Connections of the last run that still linger are no hindrance, nor are they for the server.
                self._tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._tcp.bind(("127.0.0.1", port))
            self._udp.bind(("127.0.0.1", self.number))
            self._tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        except OSError:
            self.close()
            raise

    @property
    def number(self) -> int:
        return int(self._tcp.getsockname()[1])

    def close(self) -> None:
        self._tcp.close()
        self._udp.close()


def hold_port(port: int = 0) -> HeldPort:
    """Hold this port of 127.0.0.1 or a free one; raises OSError where it is taken."""
    if port:
        return HeldPort(port)
    for _ in range(_TRIES):
        with suppress(OSError):
            return HeldPort(0)
    raise OSError(errno.EADDRINUSE, "No port is free for TCP and for UDP.")
