"""Programs as processes of their own, without the second in which Python loads the packages they share.

`run(["manage.py", "grant", "list"], environment)` is what `subprocess.run([sys.executable, ...])` is: a process with
this environment and folder, its own settings, its own end. It is forked from a process that has loaded packages
already: only those that read no setting and no variable, which `serve` holds against the settings. Programs that a
test starts at a terminal, or that are killed and replaced, still start from nothing.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]

# What every command, worker and page loads, and what takes longest to load.
LOADED = (
    *(
        "aclweb.acl",
        "aclweb.clusters",
        "argon2",
        "asyncio",
        "celery.app.base",
        "celery.app.task",
        "celery.schedules",
    ),
    *(
        "celery.worker.state",
        "cryptography.fernet",
        "cryptography.x509",
        "dateutil.parser",
        "django.contrib.humanize",
    ),
    *("django.core.mail", "django.core.management.commands.migrate", "django.db.backends.sqlite3.base"),
    *("django.db.migrations.executor", "django.db.models", "django.forms", "django.template", "django.urls"),
    *("django.utils.log", "django.views.generic", "environ", "html.parser", "kombu.serialization"),
    *("kombu.transport.filesystem", "psycopg", "sqlparse", "structlog", "unittest.mock", "yaml"),
)
_MESSAGE_BYTES = 1 << 18
# What most systems give their users.
UMASK = 0o022


class Child:
    """A program that was started: `wait` for its exit status, or end it."""

    def __init__(self, answers: socket.socket, seconds: float) -> None:
        self._answers = answers
        self._answers.settimeout(seconds)
        self.pid = int(self._told())
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status, negative for a signal; raises TimeoutError where it does not end in time."""
        if self.returncode is None:
            self._answers.settimeout(timeout)
            self.returncode = int(self._told())
            self._answers.close()
        return self.returncode

    def _told(self) -> bytes:
        told = self._answers.recv(64)
        assert told, "The fork server has ended; why is in what it wrote to standard error."
        return told

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


class ForkServer:
    """The process from which programs are forked; it ends with the one that made it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asks, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("ACLWEB_", "PYTEST_"))
        }
        kept.pop("DJANGO_SETTINGS_MODULE", None)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forkserver", str(theirs.fileno())],
                cwd=ROOT, env=kept, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
            )  # fmt: skip

    def start(
        self,
        words: Sequence[object],
        environment: Mapping[str, str],
        files: Sequence[IO[Any]],
        cwd: Path,
        umask: int,
    ) -> Child:
        """Start `python WORDS...` with only this environment; files: its standard input, output and errors."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        asked: dict[str, Any] = {"words": [str(word) for word in words], "environment": dict(environment)}
        asked |= {"cwd": str(cwd), "umask": umask}
        with theirs, self._lock:
            descriptors = [theirs.fileno(), *(file.fileno() for file in files)]
            socket.send_fds(self._asks, [json.dumps(asked).encode()], descriptors)
        return Child(ours, seconds=600)

    def close(self) -> None:
        self._asks.close()
        self._process.wait(60)


_server: list[ForkServer] = []
_first = threading.Lock()


def start(
    words: Sequence[object],
    environment: Mapping[str, str],
    *,
    files: Sequence[IO[Any]],
    cwd: Path = ROOT,
    umask: int = UMASK,
) -> Child:
    """Start `python WORDS...`; the first one of a run starts the fork server."""
    with _first:
        if not _server:
            _server.append(ForkServer())
            atexit.register(_server[0].close)
    return _server[0].start(words, environment, files, cwd, umask)


def run(
    words: Sequence[object],
    environment: Mapping[str, str],
    *,
    cwd: Path = ROOT,
    umask: int = UMASK,
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run `python WORDS...` to its end and return what it printed; raises TimeoutError where it does not end."""
    with (
        open(os.devnull, "rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        child = start(words, environment, files=(nothing, out, errors), cwd=cwd, umask=umask)
        try:
            status = child.wait(timeout)
        except TimeoutError:
            child.kill()
            raise
        printed = [_text_in(file) for file in (out, errors)]
    return subprocess.CompletedProcess([sys.executable, *map(str, words)], status, *printed)


def _text_in(file: IO[bytes]) -> str:
    file.seek(0)
    return io.TextIOWrapper(file, encoding="utf-8").read()


# --- In the fork server ---


def serve(asks: socket.socket) -> dict[str, Any]:
    """Fork a process for each program asked for; returns, in that process, which program it is to be."""
    gc.disable()
    for name in LOADED:
        import_module(name)
    loaded = [name for name in ("aclweb.settings", "tests.settings", "aclweb.celery") if name in sys.modules]
    assert not loaded, f"Every program is to read its own settings, and these are loaded: {loaded}."
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(asks, _MESSAGE_BYTES, 4)
        if not message:
            sys.exit()
        # A process of its own waits for each program, so that many run at once.
        keeper = os.fork()
        if keeper == 0:
            if os.fork():
                os._exit(0)
            asks.close()
            answers, *files = descriptors
            _keep(socket.socket(fileno=answers), files)
            return dict(json.loads(message))
        os.waitpid(keeper, 0)
        for descriptor in descriptors:
            os.close(descriptor)


def _keep(answers: socket.socket, files: list[int]) -> None:
    """Fork the program and return in it; what stays tells its number and its end."""
    program = os.fork()
    if program:
        answers.send(str(program).encode())
        _, status = os.waitpid(program, 0)
        with contextlib.suppress(OSError):  # nobody waits for it any more
            answers.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    answers.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)


def become(asked: dict[str, Any]) -> None:
    """Do in this process what `python WORDS...` does in one that starts."""
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["cwd"])
    os.umask(asked["umask"])
    time.tzset()
    gc.enable()
    first, *rest = asked["words"]
    if first == "-c":
        sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif first == "-m":
        sys.argv, sys.path[0] = rest, os.getcwd()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = [first, *rest], str(Path(first).resolve().parent)
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    become(serve(socket.socket(fileno=int(sys.argv[1]))))
