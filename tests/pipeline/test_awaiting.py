"""Does a job on a cluster that has no room for an executor end with a sentence, in the place of waiting for ever?"""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from aclweb.pipeline.awaiting import EXECUTOR_TIMEOUT, executors_awaited
from aclweb.pipeline.failures import JobError
from devstack.java import java_home
from tests.pipeline.spark_cluster import spark_cluster
from tests.servers import need_java

pytestmark = pytest.mark.spark


@pytest.fixture
def timeout(spark):
    """Sets how long is waited; the Spark of all tests has a driver only, so no executor ever comes to it."""
    conf = spark.sparkContext._conf
    yield lambda text: conf.set(EXECUTOR_TIMEOUT, text)
    conf.set(EXECUTOR_TIMEOUT, "300s")


def test_work_that_no_executor_takes_is_ended_with_a_sentence(spark, timeout):
    timeout("0s")

    with pytest.raises(JobError) as error, executors_awaited(spark):
        spark.sparkContext.parallelize([0], 1).foreach(lambda _: time.sleep(60))

    assert str(error.value) == (
        f"{spark.sparkContext.master} gave no executor within 0s. Each asks for 1g of memory, which no worker may have "
        "to spare: free some, ask for less with --conf, or wait longer with --conf spark.aclweb.executorTimeout=1h."
    )


def test_work_that_ends_in_time_and_its_own_errors_are_left_alone(spark, timeout):
    timeout("5m")

    with executors_awaited(spark):
        assert spark.sparkContext.parallelize([1, 2], 1).sum() == 3
    with pytest.raises(JobError, match="has no file"), executors_awaited(spark):
        raise JobError("It has no file.")


def test_a_time_that_is_none_is_refused(spark, timeout):
    timeout("soon")

    with pytest.raises(JobError, match=r"executorTimeout is 'soon', which is no time; give one such as 300s"):
        with executors_awaited(spark):
            raise AssertionError("not begun")


@pytest.mark.thorough(
    instead="tests/pipeline/test_awaiting.py::test_work_that_no_executor_takes_is_ended_with_a_sentence"
)
def test_a_real_cluster_without_room_is_told_by_the_command(tmp_path, few_logs, snapshot_file):
    need_java()
    (tmp_path / "cluster").mkdir()
    with spark_cluster(tmp_path / "cluster", java_home(), 1) as address:
        done = subprocess.run(
            [
                sys.executable, "-m", "aclweb.pipeline", "usage", "--master", address,
                "--conf", "spark.executor.memory=2g", "--conf", f"{EXECUTOR_TIMEOUT}=3s",
                "--snapshot", snapshot_file, "--log", few_logs[0], "--out", tmp_path / "out",
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert done.returncode == 1
    assert f"{address} gave no executor within 3s. Each asks for 2g of memory" in done.stderr
    assert not (tmp_path / "out").exists()
