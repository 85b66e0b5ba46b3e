"""How are the parts of one machine started, watched and stopped together?

A part is a program or an embedded server. All run or none does: when one ends by itself,
the others are stopped and a sentence says which and why. Parts stop from the top layer
down, so nothing loses what it stands on: the site before the worker, the worker before
the clusters that it writes to.

Every program runs in a process group of its own, so a Ctrl-C in the terminal reaches
only the supervisor, and a program that does not go by itself is killed with all that it started.
"""

from __future__ import annotations

import contextlib
import enum
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Protocol

from aclweb import leftover

POLL_SECONDS = 0.1
LOG_BYTES = 10 * 1024 * 1024


class PartError(Exception):
    """A part that did not start, did not get ready or ended by itself; the message says which and where to look."""


class Stopping(Exception):
    """Somebody asked for the end while something was being started."""


class Layer(enum.IntEnum):
    """What stands on what: a part may need those of lower layers."""

    STORE = 0
    CLUSTER = 1
    WORKER = 2
    SITE = 3


class Part(Protocol):
    name: str
    layer: Layer

    def start(self) -> None: ...

    def is_ready(self) -> bool:
        """Return whether it does its work by now; asked again and again after a start."""
        ...

    def ended(self) -> str | None:
        """Return a sentence if it ended by itself, None while it runs."""
        ...

    def stop(self, timeout_seconds: float) -> None: ...


class Program:
    """One command with its log, in a process group of its own.

    directory holds its log and process id. marker is a text in its command line by which
    one that outlived a killed supervisor is known again, and ended before the next starts.
    """

    def __init__(
        self,
        name: str,
        layer: Layer,
        command: Sequence[str],
        *,
        directory: Path,
        marker: str,
        ready: Callable[[], bool] = lambda: True,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.layer = layer
        self.command = list(command)
        self.log = directory / f"{name.replace(' ', '-')}.log"
        self.marker = marker
        self.environment = dict(os.environ) | dict(environment or {})
        self._pid_file = directory / f"{name.replace(' ', '-')}.pid"
        self._ready = ready
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def last_words(self) -> str:
        """Return the last line that it wrote, an empty text where it wrote none."""
        return _last_line(self.log)

    def start(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        leftover.end(self._pid_file, marker=self.marker)
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                process_group=0,
            )
        self._pid_file.write_text(f"{self._process.pid}\n")

    def is_ready(self) -> bool:
        return self._ready()

    def ended(self) -> str | None:
        status = None if self._process is None else self._process.poll()
        if status is None:
            return None
        how = f"with exit status {status}" if status >= 0 else f"by signal {signal.Signals(-status).name}"
        last = self.last_words()
        return f"The {self.name} ended {how}; see {self.log}." + (f" Its last words: {last}" if last else "")

    def stop(self, timeout_seconds: float) -> None:
        process = self._process
        if process is None:
            return
        # Taken down now, because children lose their parent when it ends; a worker's Spark
        # job, for one, has a process group of its own.
        children = {child: leftover.command_line(child) for child in leftover.descendants(process.pid)}
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout_seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for child, command_line in children.items():
            if command_line and leftover.command_line(child) == command_line:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
        process.wait()
        self._process = None
        self._pid_file.unlink(missing_ok=True)


class EmbeddedServer(Protocol):
    """What aclweb.clusters.embedded offers of a server."""

    @property
    def running(self) -> bool: ...

    @property
    def console(self) -> Path: ...

    def start(self) -> None: ...

    def stop(self, timeout_seconds: float = ...) -> None: ...


class Server:
    """An embedded server as a part."""

    def __init__(self, name: str, layer: Layer, server: EmbeddedServer, *, ready: Callable[[], bool]) -> None:
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
        last = _last_line(self.server.console)
        return f"The {self.name} ended by itself; see {self.server.console}." + (
            f" Its last words: {last}" if last else ""
        )

    def stop(self, timeout_seconds: float) -> None:
        self._started = False
        self.server.stop(timeout_seconds)


class Supervisor:
    """Starts parts, waits for them, watches them, and stops all of them."""

    def __init__(self, say: Callable[[str], None], *, stop_timeout_seconds: float = 10.0) -> None:
        self._say = say
        self.stop_timeout_seconds = stop_timeout_seconds
        self._parts: list[Part] = []
        self._threads: list[threading.Thread] = []
        self._guard = threading.RLock()
        self._asked = threading.Event()

    @property
    def stopping(self) -> bool:
        return self._asked.is_set()

    def say(self, sentence: str) -> None:
        """Tell people; a terminal that is gone must not keep anything running."""
        with contextlib.suppress(OSError):
            self._say(sentence)

    def listen_to_signals(self) -> None:
        """Let Ctrl-C and SIGTERM ask for the end; call it in the main thread."""

        def ask(number: int, _: FrameType | None) -> None:
            self.ask_to_stop()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, ask)

    def ask_to_stop(self) -> None:
        self._asked.set()

    def pause(self, seconds: float) -> bool:
        """Wait, but not once the end is asked for; return whether it is."""
        return self._asked.wait(seconds)

    def start(self, part: Part) -> None:
        """Start one part; raises Stopping if the end was asked for, PartError if it cannot start."""
        with self._guard:
            if self.stopping:
                raise Stopping
            try:
                part.start()
            except OSError as error:
                raise PartError(f"The {part.name} cannot be started: {error}.") from error
            self._parts.append(part)

    def wait_ready(self, *, timeout_seconds: float = 60.0) -> None:
        """Return when every part is ready; raises PartError when one ends or it takes too long."""
        deadline = time.monotonic() + timeout_seconds
        if self.stopping:
            raise Stopping
        with self._guard:
            waiting = list(self._parts)
        while waiting:
            if self._asked.wait(POLL_SECONDS):
                raise Stopping
            self._raise_if_one_ended()
            waiting = [part for part in waiting if not part.is_ready()]
            if waiting and time.monotonic() > deadline:
                names = " and the ".join(part.name for part in waiting)
                raise PartError(f"The {names} did not get ready within {timeout_seconds:.0f} seconds.")

    def watch(self) -> None:
        """Return when somebody asks for the end; raises PartError when a part ends by itself."""
        while not self._asked.wait(POLL_SECONDS):
            self._raise_if_one_ended()

    def stop(self) -> None:
        """Stop every part, top layer first, and within a layer the youngest first."""
        self._asked.set()
        for thread in self._threads:
            thread.join(self.stop_timeout_seconds)
        with self._guard:
            parts, self._parts = self._parts, []
        numbered = sorted(enumerate(parts), key=lambda pair: (pair[1].layer, pair[0]), reverse=True)
        for _, part in numbered:
            self.say(f"Stopping the {part.name}.")
            try:
                part.stop(self.stop_timeout_seconds)
            except Exception as error:  # one that cannot be stopped must not keep the others running
                self.say(f"The {part.name} could not be stopped: {error}")

    def in_background(self, work: Callable[[], None], *, failed: Callable[[str], None]) -> None:
        """Do slow work beside the rest; `failed` is told a sentence, and nothing else stops for it."""

        def run() -> None:
            try:
                work()
            except Stopping:
                return
            except Exception as error:
                if not self.stopping:
                    failed(str(error) or type(error).__name__)

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _raise_if_one_ended(self) -> None:
        with self._guard:
            parts = list(self._parts)
        for part in parts:
            if sentence := part.ended():
                raise PartError(sentence)


def _last_line(log: Path) -> str:
    """Return the last line of a log that is not empty, shortened; an empty text where there is none."""
    try:
        with log.open("rb") as handle:
            handle.seek(max(0, log.stat().st_size - 4000))
            lines = handle.read().decode("utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    written = [line.strip() for line in lines if line.strip()]
    return written[-1][:300] if written else ""
