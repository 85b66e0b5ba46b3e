"""How far is a job? It says each of its steps when it begins, and whoever started it reads them.

The steps of a job are known before it begins. What Spark has done of the step at work is said beside them, since how
many tasks a step has is known only bit by bit.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

Step = Callable[[str], None]
"""Says that the step with these words begins."""

START = "Starting Spark"
EVERY_SECONDS = 1.0


def untold(words: str) -> None:
    """Say nothing of a step."""


class Progress:
    """The steps of one run: each is a line of JSON, with what Spark has done of it.

    A line has `step`, the words; `done` and `of`, the steps before it and all; `tasks_done` and `tasks`, those of
    Spark's stages at work, 0 where there are none.
    """

    def __init__(self, steps: Sequence[str], write: Callable[[str], None]) -> None:
        self._steps = (START, *steps)
        self._write = write
        self._at = 0
        self.spark: SparkSession | None = None

    def begin(self, words: str) -> None:
        """Say that this step begins. Raises ValueError where the job has no such step."""
        self._at = self._steps.index(words)
        self.tell()

    def tell(self) -> None:
        """Say where the job is now."""
        done, tasks = _tasks_of(self.spark)
        line = {"step": self._steps[self._at], "done": self._at, "of": len(self._steps)}
        self._write(json.dumps(line | {"tasks_done": done, "tasks": tasks}) + "\n")


@contextmanager
def told_to(descriptor: int, steps: Sequence[str]) -> Iterator[Progress]:
    """Yield a progress that is written to an open file all the while, and end the process group once nobody reads it.

    So a job whose worker was killed does not go on for nobody.
    """
    # What this process starts must not hold it open.
    os.set_inheritable(descriptor, False)
    progress = Progress(steps, lambda line: _write_or_end(descriptor, line))
    over = threading.Event()
    thread = threading.Thread(target=_tell, args=(progress, over), name="aclweb-progress", daemon=True)
    progress.begin(START)
    thread.start()
    try:
        yield progress
    finally:
        over.set()
        thread.join()


def _tell(progress: Progress, over: threading.Event) -> None:
    while not over.wait(EVERY_SECONDS):
        progress.tell()


def _write_or_end(descriptor: int, line: str) -> None:
    try:
        os.write(descriptor, line.encode("ascii"))
    except BrokenPipeError:
        # Whoever started this has a group of its own for it, and is gone.
        os.killpg(os.getpgrp(), signal.SIGKILL)


def _tasks_of(spark: SparkSession | None) -> tuple[int, int]:
    """Return how many tasks of the stages at work are done, and how many there are."""
    done = tasks = 0
    # A Spark that ends meanwhile has no numbers.
    with contextlib.suppress(Py4JError, OSError, AttributeError):
        tracker = spark.sparkContext.statusTracker() if spark is not None else None
        for stage in tracker.getActiveStageIds() if tracker is not None else ():
            found = tracker.getStageInfo(stage) if tracker is not None else None
            if found is not None:
                done, tasks = done + found.numCompletedTasks, tasks + found.numTasks
    return done, tasks
