"""What have all servers of the dev stack in common: a JVM with its directory, its ports, its end?"""

from __future__ import annotations

import abc
import contextlib
import os
import stat
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from aclweb.clusters import ClusterError, ClusterState
from aclweb.runtime import stale_process as leftover
from aclweb.runtime.java import JavaError
from devstack.java import find_java
from devstack.servers import class_archive
from devstack.servers.ports import HeldPort, hold_port


class EmbeddedError(ClusterError):
    """A server that could not be started or did not get ready; the sentence names its log."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, state=ClusterState.UNREACHABLE)


# A JVM that leaves an archive of its classes writes for some seconds before it ends.
_LONGEST_EXIT_SECONDS = 120.0


class Server(abc.ABC):
    """One JVM with its directory: started, watched, stopped, and found again after a crash.

    leaves_archive: whether it leaves an archive of its classes when it stops, for the next of its kind.
    """

    title = "server"
    leaves_archive = False

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory).absolute()
        self._process: subprocess.Popen[bytes] | None = None
        self._held: list[HeldPort] = []

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def console(self) -> Path:
        """What the JVM printed itself, which is where the reason of a failed start is."""
        return self.directory / "console.log"

    @property
    @abc.abstractmethod
    def class_path(self) -> str:
        """Where the JVM finds its classes."""

    @property
    def archive(self) -> Path:
        """Where the archive of its classes is, or will be; raises JavaError without Java."""
        return class_archive.archive_of(find_java(), self.class_path)

    def _spawn(self, options: list[str], main: str, configuration: Path) -> None:
        """Start the JVM with these options, its main class and the file that this is given."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("JAVA_TOOL_OPTIONS", "CLASSPATH")
        }
        try:
            java, archive = find_java(), self.archive
        except JavaError as error:
            raise EmbeddedError(str(error)) from error
        classes = (class_archive.to_make if self.leaves_archive else class_archive.to_use)(archive)
        with self.console.open("wb") as console:
            self._process = subprocess.Popen(
                [str(java), *options, *classes, "-cp", self.class_path, main, str(configuration)],
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                env=environment,
                process_group=0,
            )
        (self.directory / "pid").write_text(f"{self._process.pid}\n")

    def _ports(self, wanted: int) -> list[int]:
        """Return free ports, those of the last start where they are still free, and hold them until the stop."""
        self._release_ports()
        file = self.directory / "ports"
        with contextlib.suppress(OSError, ValueError):
            remembered = [int(line) for line in file.read_text().split()]
            if len(remembered) == wanted:
                self._held += map(hold_port, remembered)
        if len(self._held) < wanted:
            self._release_ports()
            self._held += (hold_port() for _ in range(wanted))
        ports = [held.number for held in self._held]
        file.write_text("\n".join(str(port) for port in ports) + "\n")
        return ports

    def _release_ports(self) -> None:
        while self._held:
            self._held.pop().close()

    def stop(self, timeout_seconds: float = 20.0) -> None:
        """End the server and wait until it is gone; it is killed if it does not go by itself."""
        process, self._process = self._process, None
        if process is not None:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(_LONGEST_EXIT_SECONDS if self.leaves_archive else timeout_seconds)
                except subprocess.TimeoutExpired:
                    process.kill()
            process.wait()
            (self.directory / "pid").unlink(missing_ok=True)
            if self.leaves_archive:
                class_archive.made(self.archive)
        self._release_ports()

    def _end_leftover(self) -> None:
        """End the server of this directory that a killed caller left behind, and no other process."""
        leftover.end(self.directory / "pid", marker=str(self.directory))

    def _fail(self, what: str) -> EmbeddedError:
        tail = (
            self.console.read_text(errors="replace").strip().splitlines()[-3:]
            if self.console.exists()
            else []
        )
        last = f" Its last output: {' | '.join(tail)}" if tail else ""
        return EmbeddedError(f"{self.title} in {self.directory} {what}; see {self.console}.{last}")

    @abc.abstractmethod
    def start(self) -> None:
        """Spawn the JVM and return at once."""

    @abc.abstractmethod
    def wait_ready(self, timeout_seconds: float = 120.0) -> None:
        """Return when the server does its work; raises EmbeddedError if it ends or takes too long."""

    def __enter__(self) -> Self:
        self.start()
        try:
            self.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, stat.S_IRUSR | stat.S_IWUSR)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)
