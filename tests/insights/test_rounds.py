"""Does one process run the jobs of a round, and does one that dies or hangs cost one job only?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from aclweb.insights import rounds, spark_child
from aclweb.insights.errors import InsightsError

# Answers each job with its last word, dies over `die`, and gives no answer to `hang`.
CHILD = """
import json, sys, time
for line in sys.stdin:
    word = json.loads(line)[-1]
    if word == "die":
        sys.exit("The JVM is gone.")
    if word == "hang":
        time.sleep(600)
    print(json.dumps({"status": 0, "errors": word}), flush=True)
"""


@pytest.fixture
def children(monkeypatch) -> list[subprocess.Popen[str]]:
    """The processes that were started."""
    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def start(_command, **options):
        started.append(popen([sys.executable, "-c", CHILD], **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(spark_child, "java_home", lambda given, cache: "/java")
    return started


def test_one_process_runs_all_jobs_and_ends_with_the_round(children):
    with rounds.one_spark(60) as one:
        assert children == [], "nothing is started before the first job"
        answers = [one.run(["access", word]) for word in ("a", "b")]

    assert answers == [(0, "a"), (0, "b")]
    assert [child.poll() is not None for child in children] == [True]


def test_a_process_that_dies_costs_one_job_and_why_is_told(children):
    with rounds.one_spark(60) as one:
        answers = [one.run(["access", word]) for word in ("a", "die", "b")]

    assert answers == [(0, "a"), (1, "The JVM is gone.\n"), (0, "b")]
    assert len(children) == 2


def test_a_job_that_takes_too_long_is_ended_and_the_next_one_runs(children, monkeypatch):
    with rounds.one_spark(60) as one:
        monkeypatch.setattr(one, "_longest_seconds", 0.1)
        with pytest.raises(InsightsError, match="Reading the logs took longer than"):
            one.run(["access", "hang"])
        monkeypatch.setattr(one, "_longest_seconds", 60)

        assert one.run(["access", "b"]) == (0, "b")

    assert [child.poll() is not None for child in children] == [True, True]


def test_where_logs_are_switched_off_nothing_is_started(children, settings):
    settings.ACLWEB_SPARK_MASTER = ""

    with rounds.one_spark(60) as one, pytest.raises(InsightsError, match="switched off"):
        one.run(["access", "a"])

    assert children == []
