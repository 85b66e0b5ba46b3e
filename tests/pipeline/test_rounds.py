"""Do jobs of a round share one Spark, which is replaced where it does not fit or broke?"""

from __future__ import annotations

import io
import json
import sys
from contextlib import contextmanager

import pytest
from py4j.protocol import Py4JError

from aclweb.pipeline import rounds, session
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.session import WarmSpark


@pytest.fixture
def started(monkeypatch, tmp_path) -> list[object]:
    """For how much text each Spark was started; None when one was stopped."""
    log: list[object] = []

    @contextmanager
    def running(_master, _conf, log_bytes, *, archive):
        log.append(log_bytes)
        yield session._Running(object(), tmp_path / "spark.log", ())
        log.append(None)

    monkeypatch.setattr(session, "_running", running)
    monkeypatch.setattr(session, "end_jvm", lambda: None)
    return log


LITTLE = session._SMALL_BYTES - 1


def use(warm: WarmSpark, log_bytes: float | None, master: str = "local[2]") -> object:
    with warm.session(master, log_bytes=log_bytes) as spark:
        return spark


def test_jobs_share_a_spark_as_long_as_it_fits(started):
    warm = WarmSpark()

    first = use(warm, 10)
    assert [use(warm, size) for size in (0, LITTLE, 5)] == [first] * 3
    much = use(warm, None)
    assert [use(warm, size) for size in (5, float("inf"))] == [much] * 2
    assert use(warm, 5, master="spark://b:7077") is not much
    warm.close()
    warm.close()

    assert started == [LITTLE, None, float("inf"), None, LITTLE, None]


def test_a_spark_in_which_a_call_failed_is_not_used_again(started):
    warm = WarmSpark()
    use(warm, 5)

    with pytest.raises(JobError), warm.session("local[2]", log_bytes=5):
        raise JobError("No log file could be read.")
    assert started == [LITTLE], "the logs were wrong, and not Spark"

    with pytest.raises(JobError), warm.session("local[2]", log_bytes=5):
        raise Py4JError("gone")
    use(warm, 5)

    assert started == [LITTLE, None, LITTLE]


def test_each_job_gets_one_answer_whatever_becomes_of_it(started):
    def run(words, start):
        print("for people")
        print(words[0], file=sys.stderr)
        if words[0] == "wrong":
            sys.exit(2)
        if words[0] == "broken":
            raise ValueError("unforeseen")
        with start("local[2]", log_bytes=5):
            return int(words[0] == "failed")

    answers = io.StringIO()
    rounds.serve(run, [json.dumps([word]) for word in ("fine", "failed", "wrong", "broken", "fine")], answers)

    assert [json.loads(line) for line in answers.getvalue().splitlines()] == [
        {"status": 0, "errors": "fine\n"},
        {"status": 1, "errors": "failed\n"},
        {"status": 2, "errors": "wrong\n"},
        {"status": 1, "errors": "broken\nThe job failed: ValueError: unforeseen\n"},
        {"status": 0, "errors": "fine\n"},
    ]
    assert started == [LITTLE, None]
