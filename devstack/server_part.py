"""How does the supervisor run a server of the stack on one machine?"""

from __future__ import annotations

from collections.abc import Callable

from aclweb.operations.program import last_line
from aclweb.operations.supervisor import Layer
from devstack.servers import Server


class ServerPart:
    """A server as a part."""

    def __init__(self, name: str, layer: Layer, server: Server, *, ready: Callable[[], bool]) -> None:
        self.name = name
        self.layer = layer
        self.server = server
        self._ready = ready
        self._started = False

    def start(self) -> None:
        self.server.start()
        self._started = True

    def is_ready(self) -> bool:
        return self._ready()

    def ended(self) -> str | None:
        if not self._started or self.server.running:
            return None
        last = last_line(self.server.console)
        return f"The {self.name} ended by itself; see {self.server.console}." + (
            f" Its last output: {last}" if last else ""
        )

    def listen(self) -> str | None:
        return None  # what a demo's server does is up to whoever plays with it

    def ask_to_end(self) -> None:
        return None

    def stop(self, timeout_seconds: float) -> None:
        self._started = False
        self.server.stop(timeout_seconds)
