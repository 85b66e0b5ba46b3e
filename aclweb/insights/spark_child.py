"""How is a job of the pipeline run: as a child with a process group of its own, of which nothing is left behind?"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import IO

from django.conf import settings

from aclweb.insights.errors import InsightsError
from aclweb.runtime import child_process
from aclweb.runtime.java import JavaError, java_home

_GRACE_SECONDS = 10.0


def start(
    arguments: Sequence[str],
    *,
    stdout: IO[str] | int = subprocess.DEVNULL,
    stderr: IO[str] | int,
    pass_fds: Collection[int] = (),
    more: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start a job on the Spark that the settings name. Raises InsightsError where there is none, or no Java.

    arguments: the job and its options. more: further variables of its environment. Call `end` whatever becomes of it.
    """
    return _started(words_of(arguments), subprocess.DEVNULL, stdout, stderr, pass_fds, more or {})


def start_round(stderr: IO[str]) -> subprocess.Popen[str]:
    """Start what runs job after job in one Spark (`aclweb.pipeline.rounds`); raises InsightsError as `start` does."""
    return _started(["round"], subprocess.PIPE, subprocess.PIPE, stderr, (), {})


def words_of(arguments: Sequence[str]) -> list[str]:
    """Return the words of a job on the Spark that the settings name. Raises InsightsError where there is none."""
    if not settings.ACLWEB_SPARK_MASTER:
        raise InsightsError("Reading logs is switched off here: ACLWEB_SPARK_MASTER is empty.")
    job, *options = arguments
    return [job, "--master", settings.ACLWEB_SPARK_MASTER, *options]


def _started(
    words: Sequence[str],
    stdin: int,
    stdout: IO[str] | int,
    stderr: IO[str] | int,
    pass_fds: Collection[int],
    more: Mapping[str, str],
) -> subprocess.Popen[str]:
    try:
        home = java_home(settings.JAVA_HOME, cache=settings.XDG_CACHE_HOME)
    except JavaError as error:
        raise InsightsError(f"The logs were not read, because Spark needs Java. {error}") from error
    return subprocess.Popen(
        [sys.executable, "-m", "aclweb.pipeline", *words],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        text=True,
        env=child_process.environment(
            {
                "JAVA_HOME": str(home),
                "PYTHONPATH": os.pathsep.join(sys.path),
                "ACLWEB_SPARK_MEMORY": settings.ACLWEB_SPARK_MEMORY,
                **more,
            }
        ),
        process_group=0,
        pass_fds=tuple(pass_fds),
    )


def end(child: subprocess.Popen[str]) -> None:
    """End the child's whole group, the JVM and its Python workers too; nothing of it outlives this call."""
    for ending in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, ending)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE_SECONDS)


def why_failed(errors: str) -> str:
    """Return the last line that a job wrote as an error: the sentence that says why it ended."""
    last = [line for line in errors.splitlines() if line.strip()][-1:]
    return last[0] if last else "The job gave no reason."
