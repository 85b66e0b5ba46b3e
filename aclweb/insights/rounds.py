"""How are the logs of several clusters read one after another by one process, with one Spark?

A job that fails costs itself. After one that takes too long, that somebody cancelled, or over which the process died,
the next job starts another process.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from aclweb.insights import spark_child
from aclweb.insights.errors import InsightsError
from aclweb.insights.telling import LOOK_SECONDS, Tell, Told, untold

_SHOWN_BYTES = 4_000


class Round:
    """Runs jobs of the pipeline, each as `spark_child.start` would; nothing is started before the first."""

    def __init__(self, longest_seconds: float, errors: IO[str]) -> None:
        self._longest_seconds = longest_seconds
        self._errors = errors
        self._child: subprocess.Popen[str] | None = None
        self._said = b""  # by the child, and not read as lines yet

    def run(self, arguments: Sequence[str], tell: Tell = untold) -> tuple[int, str]:
        """Run one job; return its exit status and what it wrote as errors. Raises InsightsError as `start` does.

        tell: is told again and again how far the job is. What it raises ends the process and is passed on.
        """
        words = spark_child.words_of(arguments)
        if self._child is None:
            self._child = spark_child.start_round(self._errors)
        try:
            answer = self._ask(self._child, json.dumps(words), tell)
        except BaseException:
            self.end()
            raise
        if answer is not None:
            return int(answer["status"]), str(answer["errors"])
        self.end()
        return 1, self._last_output()

    def end(self) -> None:
        """End the process, its JVM and its Python workers; nothing of it outlives this call."""
        child, self._child, self._said = self._child, None, b""
        if child is not None:
            spark_child.end(child)
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()

    def _ask(self, child: subprocess.Popen[str], words: str, tell: Tell) -> Mapping[str, Any] | None:
        """Return what answers a job; None where the process died."""
        assert child.stdin is not None
        try:
            child.stdin.write(words + "\n")
            child.stdin.flush()
        except BrokenPipeError:
            return None
        deadline, told = time.monotonic() + self._longest_seconds, Told()
        while True:
            tell(told)
            if time.monotonic() > deadline:
                raise InsightsError(
                    f"Reading the logs took longer than {self._longest_seconds / 60:.0f} minutes and was ended."
                )
            lines = self._lines(child, min(LOOK_SECONDS, self._longest_seconds))
            if lines is None:
                return None
            for line in lines:
                found = json.loads(line)
                if "status" in found:
                    return dict(found)
                told = Told.of(found)

    def _lines(self, child: subprocess.Popen[str], seconds: float) -> list[bytes] | None:
        """Return the whole lines that the process writes within so long; None where it died."""
        assert child.stdout is not None
        # Past the buffers of the file object, which would hide from `select` what they hold.
        number = child.stdout.fileno()
        if not select.select([number], [], [], seconds)[0]:
            return []
        said = os.read(number, 65_536)
        if not said:
            return None
        *lines, self._said = (self._said + said).split(b"\n")
        return lines

    def _last_output(self) -> str:
        """Return the end of what the process wrote as errors, which is not read while it lives."""
        self._errors.seek(0, 2)
        self._errors.seek(max(0, self._errors.tell() - _SHOWN_BYTES))
        return self._errors.read()


@contextmanager
def one_spark(longest_seconds: float) -> Iterator[Round]:
    """Yield what runs the jobs of a round; its process has ended afterwards."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        round_of_jobs = Round(longest_seconds, errors)
        try:
            yield round_of_jobs
        finally:
            round_of_jobs.end()
