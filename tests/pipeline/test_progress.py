"""Does a job say how far it is, and end once nobody hears it?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aclweb.pipeline import progress as telling
from aclweb.pipeline.analyses import ANALYSES
from aclweb.pipeline.progress import START, told_to

# A job with a child, as the JVM is one; it prints the child's id and works on.
WORKING = """
import subprocess, sys, time
from aclweb.pipeline import progress
progress.EVERY_SECONDS = 0.01
with progress.told_to(int(sys.argv[1]), ["Working"]) as told:
    told.begin("Working")
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(child.pid, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def lines_in(reader: int) -> list[dict[str, object]]:
    return [json.loads(line) for line in os.read(reader, 65_536).decode("ascii").splitlines()]


def test_each_step_is_told_with_how_many_there_are(pipe):
    with told_to(pipe[1], ["Deciding", "Writing"]) as progress:
        progress.begin("Deciding")
        progress.begin("Writing")

    told = [(line["step"], line["done"], line["of"]) for line in lines_in(pipe[0])]
    assert told == [(START, 0, 3), ("Deciding", 1, 3), ("Writing", 2, 3)]


def test_what_spark_has_done_of_a_step_is_told(pipe):
    with told_to(pipe[1], ["Deciding"]) as progress:
        progress.spark = Spark({4: (3, 8), 5: (1, 2)})
        progress.begin("Deciding")

    last = lines_in(pipe[0])[-1]
    assert (last["tasks_done"], last["tasks"]) == (4, 10)


def test_a_step_that_the_job_does_not_have_is_an_error(pipe):
    with told_to(pipe[1], ["Deciding"]) as progress, pytest.raises(ValueError, match="not in tuple"):
        progress.begin("Dancing")


def test_no_two_steps_of_a_job_have_the_same_words():
    for job, analysis in ANALYSES.items():
        assert len({START, *analysis.steps}) == 1 + len(analysis.steps) > 1, job


def test_a_job_that_nobody_hears_ends_with_all_that_it_started():
    reader, writer = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", WORKING, str(writer)],
        pass_fds=[writer],
        process_group=0,
        stdout=subprocess.PIPE,
        text=True,
    ) as job:
        os.close(writer)
        child = int(job.stdout.readline())
        os.kill(child, 0)

        os.close(reader)

        assert job.wait(60) == -signal.SIGKILL
        assert is_gone(child)


def is_gone(pid: int) -> bool:
    """Return whether a process that was killed ends; one that nobody has waited for is a zombie."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


class Spark:
    """Stands in for a session whose stages at work are these: tasks done, and all, by id."""

    def __init__(self, stages: dict[int, tuple[int, int]]) -> None:
        self.stages = stages

    @property
    def sparkContext(self):
        return self

    def statusTracker(self):
        return self

    def getActiveStageIds(self):
        return list(self.stages)

    def getStageInfo(self, stage: int):
        done, tasks = self.stages[stage]
        return type("Info", (), {"numCompletedTasks": done, "numTasks": tasks})


def test_a_session_that_ends_meanwhile_has_no_tasks():
    assert telling._tasks_of(None) == (0, 0)
    assert telling._tasks_of(object()) == (0, 0)
