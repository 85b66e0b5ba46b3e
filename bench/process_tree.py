"""What does a command cost, with every process that it starts, however far down?

Run as a program it becomes the parent of all of them whose own parent ends first, waits for each, and then
knows the CPU time of all. Linux only.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Cost:
    """CPU and wall seconds of a command, and the most memory that one of its processes held, in bytes."""

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    output: str


def cost_of(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end; raises SystemExit with its last words where it fails."""
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as folder:
        told = Path(folder) / "cost"
        begun = time.perf_counter()
        ended = subprocess.run(
            [sys.executable, "-m", "bench.process_tree", str(told), *command],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - begun
        if ended.returncode:
            raise SystemExit(f"{' '.join(command[:5])} … failed: {(ended.stderr or ended.stdout)[-2000:]}")
        found = json.loads(told.read_text())
        return Cost(found["cpu_seconds"], seconds, found["peak_bytes"], ended.stdout)


def cpu_of_tree(process: int) -> float:
    """Return the CPU seconds of a running process, its descendants, and those of them that it has waited for."""
    stats = {
        int(folder.name): found for folder in Path("/proc").glob("[0-9]*") if (found := _stat_of(folder))
    }
    children: dict[int, list[int]] = {}
    for number, fields in stats.items():
        children.setdefault(int(fields[1]), []).append(number)
    ticks, left = 0, [process]
    while left:
        number = left.pop()
        left += children.get(number, ())
        # User and system time, own and of children that ended.
        ticks += sum(map(int, stats[number][11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat_of(folder: Path) -> list[str]:
    """Return what Linux tells of a process behind its name: state, parent and so on; nothing if it is gone."""
    try:
        return (folder / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []


def _main(told: str, *command: str) -> int:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    first = subprocess.Popen(command)
    status = None
    while True:
        try:
            process, ended = os.wait()
        except ChildProcessError:
            break
        if process == first.pid:
            status = os.waitstatus_to_exitcode(ended)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {"cpu_seconds": used.ru_utime + used.ru_stime, "peak_bytes": used.ru_maxrss * 1024}
    Path(told).write_text(json.dumps(found))
    return 1 if status is None else abs(status)


if __name__ == "__main__":
    raise SystemExit(_main(*sys.argv[1:]))
