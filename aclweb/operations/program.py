"""How is one program started, watched and ended, with all that it started?

Every program runs in a process group of its own, so a Ctrl-C in the terminal reaches
only the supervisor, and a program that does not go by itself is killed with all that it started.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from aclweb.operations.supervisor import Layer
from aclweb.runtime import child_process
from aclweb.runtime import stale_process as leftover

LOG_BYTES = 10 * 1024 * 1024
# A process that the system has stopped (SIGSTOP) for so long is killed and replaced.
FROZEN_SECONDS = 5.0


class Program:
    """One command with its log, in a process group of its own.

    directory holds its log and process id. marker is a text in its command line by which
    one that outlived a killed supervisor is known again, and ended before the next starts.
    alive is asked about once a second; where it says no for `silent_seconds` on end, the
    program is taken to do nothing. Without own_log it writes where the supervisor writes.
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
        alive: Callable[[], bool] = lambda: True,
        silent_seconds: float = 45.0,
        environment: Mapping[str, str] | None = None,
        own_log: bool = True,
    ) -> None:
        self.name = name
        self.layer = layer
        self.command = list(command)
        self.log = directory / f"{name.replace(' ', '-')}.log"
        self.marker = marker
        self.environment = child_process.environment(environment or {})
        self._pid_file = directory / f"{name.replace(' ', '-')}.pid"
        self._ready = ready
        self._alive = alive
        self._silent_seconds = silent_seconds
        self._own_log = own_log
        self._heard_at = time.monotonic()
        self._frozen_since: dict[int, float] = {}
        self._children: dict[int, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def last_words(self) -> str:
        """Return the last line that it wrote, an empty text where it wrote none."""
        return last_line(self.log)

    def start(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.end_leftover()
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log if self._own_log else None,
                stderr=log if self._own_log else None,
                env=self.environment,
                process_group=0,
            )
        self._heard_at = time.monotonic()
        self._frozen_since = {}
        self._pid_file.write_text(f"{self._process.pid}\n")

    def end_leftover(self) -> None:
        """End the program that a killed supervisor left running, if there is one."""
        leftover.end(self._pid_file, marker=self.marker)

    def is_ready(self) -> bool:
        return self._ready()

    def ended(self) -> str | None:
        status = None if self._process is None else self._process.poll()
        if status is None:
            return None
        how = f"with exit status {status}" if status >= 0 else f"by signal {signal.Signals(-status).name}"
        last = self.last_words()
        return f"The {self.name} ended {how}; see {self.log}." + (f" Its last output: {last}" if last else "")

    def listen(self) -> str | None:
        process = self._process
        if process is None or process.poll() is not None:
            return None
        now = time.monotonic()
        stopped = {
            pid for pid in (process.pid, *leftover.descendants(process.pid)) if leftover.is_stopped(pid)
        }
        self._frozen_since = {pid: self._frozen_since.get(pid, now) for pid in stopped}
        for pid in [pid for pid, since in self._frozen_since.items() if now - since >= FROZEN_SECONDS]:
            if pid == process.pid:
                return f"The {self.name} was stopped by a signal for {FROZEN_SECONDS:.0f} s."
            # Its parent replaces it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if self._alive():
            self._heard_at = time.monotonic()
        elif time.monotonic() - self._heard_at > self._silent_seconds:
            return f"The {self.name} gave no heartbeat for {self._silent_seconds:.0f} s."
        return None

    def ask_to_end(self) -> None:
        self._note_children()
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def _note_children(self) -> None:
        """Keep what it has started: children lose their parent when it ends.

        A worker's Spark job, for one, has a process group of its own.
        """
        if self._process is not None:
            for child in leftover.descendants(self._process.pid):
                self._children.setdefault(child, leftover.command_line(child))

    def stop(self, timeout_seconds: float) -> None:
        process = self._process
        if process is None:
            return
        self._note_children()
        if process.poll() is None:
            if timeout_seconds > 0:
                process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout_seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for child, command_line in self._children.items():
            if command_line and leftover.command_line(child) == command_line:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
        process.wait()
        self._process = None
        self._children = {}
        self._pid_file.unlink(missing_ok=True)


def last_line(log: Path) -> str:
    """Return the last line of a log that is not empty, shortened; an empty text where there is none."""
    try:
        with log.open("rb") as handle:
            handle.seek(max(0, log.stat().st_size - 4000))
            lines = handle.read().decode("utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    written = [line.strip() for line in lines if line.strip()]
    return written[-1][:300] if written else ""
