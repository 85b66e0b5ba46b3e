"""How are the logs of several clusters read one after another by one process, with one Spark?

A job that fails costs itself. After one that takes too long, and one over which the process died, the next job starts
another process.
"""

from __future__ import annotations

import json
import select
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from aclweb.insights import spark_child
from aclweb.insights.errors import InsightsError

_SHOWN_BYTES = 4_000


class Round:
    """Runs jobs of the pipeline, each as `spark_child.start` would; nothing is started before the first."""

    def __init__(self, longest_seconds: float, errors: IO[str]) -> None:
        self._longest_seconds = longest_seconds
        self._errors = errors
        self._child: subprocess.Popen[str] | None = None

    def run(self, arguments: Sequence[str]) -> tuple[int, str]:
        """Run one job; return its exit status and what it wrote as errors. Raises InsightsError as `start` does."""
        words = spark_child.words_of(arguments)
        if self._child is None:
            self._child = spark_child.start_round(self._errors)
        answer = self._ask(self._child, json.dumps(words))
        if answer:
            found = json.loads(answer)
            return int(found["status"]), str(found["errors"])
        self.end()
        return 1, self._last_output()

    def end(self) -> None:
        """End the process, its JVM and its Python workers; nothing of it outlives this call."""
        child, self._child = self._child, None
        if child is not None:
            spark_child.end(child)
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()

    def _ask(self, child: subprocess.Popen[str], words: str) -> str:
        """Return the line that answers a job; empty where the process died."""
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(words + "\n")
            child.stdin.flush()
        except BrokenPipeError:
            return ""
        readable, _, _ = select.select([child.stdout], [], [], self._longest_seconds)
        if not readable:
            self.end()
            raise InsightsError(
                f"Reading the logs took longer than {self._longest_seconds / 60:.0f} minutes and was ended."
            )
        return str(child.stdout.readline())

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
