"""Which process did a killed parent leave running, and how is it ended before the next start?

Whoever starts a process notes its id in a file. If the parent is killed, the file stays;
the process is ours only if its command line still contains a text that no other process has,
because the operating system gives ids out again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

GRACE_SECONDS = 10.0


def end(pid_file: Path, *, marker: str) -> bool:
    """End the process that the file names, if its command line contains `marker`; return whether one was ended.

    The file is gone afterwards. The process is killed if it does not end by itself.
    """
    pid = _id_in(pid_file)
    if pid is None:
        return False
    ended = False
    if marker in command_line(pid):
        for ending in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, ending)
            if _is_gone(pid, marker):
                break
        ended = True
    pid_file.unlink(missing_ok=True)
    return ended


def end_all(directory: Path) -> None:
    """End every process whose file is below this directory: programs and servers of one installation."""
    for pid_file in [*directory.rglob("*.pid"), *directory.rglob("pid")]:
        called = command_line(_id_in(pid_file) or 0)
        for marker in (identity(pid_file.parent), str(pid_file.parent.absolute())):
            if marker in called:
                end(pid_file, marker=marker)


def identity(directory: Path) -> str:
    """Return a short text that no other installation on this machine has."""
    return hashlib.sha256(str(directory.absolute()).encode()).hexdigest()[:12]


def command_line(pid: int) -> str:
    """Return how this process was called, an empty text where it is gone."""
    if Path("/proc/self/cmdline").exists():
        try:
            return (
                (Path("/proc") / str(pid) / "cmdline")
                .read_bytes()
                .replace(b"\0", b" ")
                .decode(errors="replace")
            )
        except OSError:
            return ""
    try:
        answer = subprocess.run(
            ["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout


def descendants(pid: int) -> tuple[int, ...]:
    """Return the processes that this one and its children have started and that live now, children first."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        started = children.get(waiting.pop(), [])
        found += started
        waiting += started
    return tuple(found)


def is_stopped(pid: int) -> bool:
    """Return whether the system has stopped this process until somebody lets it go on (SIGSTOP).

    Known where there is /proc; elsewhere always False.
    """
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "T"
    except (OSError, IndexError):
        return False


def _id_in(pid_file: Path) -> int | None:
    try:
        return int(pid_file.read_text())
    except (OSError, ValueError):
        return None


def _parents() -> Iterator[tuple[int, int]]:
    """Yield each process of this machine with its parent."""
    if Path("/proc/self/stat").exists():
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    # The name of the program stands in brackets and may hold anything, also brackets.
                    yield int(entry.name), int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        return
    answer = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False)
    for line in answer.stdout.splitlines():
        child, parent = line.split()
        yield int(child), int(parent)


def _is_gone(pid: int, marker: str) -> bool:
    deadline = time.monotonic() + GRACE_SECONDS
    while marker in command_line(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
