"""How do several jobs run one after another in one Spark application?

Whoever starts this process writes a job a line, the words of its command as a JSON list, and reads a line of JSON for
each: its exit `status`, and what it wrote as `errors`. Before it come the lines in which the job says how far it is
(`progress`). A job that fails costs itself. The process ends when there are no more jobs to read.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from pyspark.sql import SparkSession

from aclweb.pipeline.session import WarmSpark

StartSpark = Callable[..., AbstractContextManager[SparkSession]]
RunJob = Callable[[Sequence[str], StartSpark], int]


def serve(run: RunJob, jobs: Iterable[str], answers: TextIO) -> None:
    """Run the jobs, and write an answer to each. run: gets the words of a command, and what starts Spark for it."""
    with closing(WarmSpark()) as warm:
        for line in jobs:
            answer = _answer(run, json.loads(line), warm.session)
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


@contextmanager
def answers_alone() -> Iterator[TextIO]:
    """Yield the standard output for answers; what else is written there meanwhile, also by a JVM, goes nowhere."""
    number = sys.stdout.fileno()
    with os.fdopen(os.dup(number), "w", encoding="utf-8") as answers, open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), number)
        yield answers


def _answer(run: RunJob, words: Sequence[str], start: StartSpark) -> dict[str, Any]:
    errors = io.StringIO()
    # What a job prints is for people, and the answers are read by a program.
    with redirect_stdout(io.StringIO()), redirect_stderr(errors):
        try:
            status = run(words, start)
        except SystemExit as refused:  # words that are no command
            status = refused.code if isinstance(refused.code, int) else 2
        except Exception as error:  # the jobs of other clusters go on
            status = 1
            errors.write(f"The job failed: {type(error).__name__}: {error}\n")
    return {"status": status, "errors": errors.getvalue()}
