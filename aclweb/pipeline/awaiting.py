"""How long does a job wait for its first executor, and what is said where none comes?

Spark itself waits for ever on a cluster that has no room for what an executor asks for, and says nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkConf
from pyspark.sql import SparkSession

from aclweb.acl.model import number_of
from aclweb.pipeline.failures import SPARK_ERRORS, JobError

EXECUTOR_TIMEOUT = "spark.aclweb.executorTimeout"
"""Spark's setting, given as its others are: so long a job waits for its first executor."""

_LONGEST_WAIT = "300s"
_LOOK_AGAIN_SECONDS = 0.5


@contextmanager
def executors_awaited(spark: SparkSession) -> Iterator[None]:
    """End the work of Spark that is begun meanwhile where no executor comes for it in time; raises JobError.

    Some clusters give executors only once there is work, so the work is begun first.
    """
    context = spark.sparkContext
    given = context.getConf().get(EXECUTOR_TIMEOUT) or _LONGEST_WAIT
    seconds = _seconds(spark, given)
    over, late = threading.Event(), threading.Event()
    watch = threading.Thread(
        target=_watch, args=(spark, seconds, over, late), name="aclweb-executors", daemon=True
    )
    watch.start()
    try:
        yield
    except SPARK_ERRORS as error:
        if not late.is_set():
            raise
        raise JobError(
            f"{context.master} gave no executor within {given}. Each asks for {_asked(context.getConf())}, which no "
            "worker may have to spare: free some, ask for less with --conf, or wait longer with --conf "
            f"{EXECUTOR_TIMEOUT}=1h."
        ) from error
    finally:
        over.set()
        watch.join()


def _watch(spark: SparkSession, seconds: float, over: threading.Event, late: threading.Event) -> None:
    """Look for an executor until the work is over; after so many seconds without one, cancel all that is begun."""
    while not over.wait(min(seconds, _LOOK_AGAIN_SECONDS)):
        seconds = max(seconds - _LOOK_AGAIN_SECONDS, 0.0)
        if not late.is_set() and _has_executor(spark):
            return
        if not seconds:
            late.set()
            spark.sparkContext.cancelAllJobs()
            seconds = _LOOK_AGAIN_SECONDS


def _has_executor(spark: SparkSession) -> bool:
    """Whether there is more than the driver, which Spark counts with its executors."""
    return int(spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) > 1


def _seconds(spark: SparkSession, given: str) -> float:
    assert spark.sparkContext._jvm is not None
    try:
        return float(spark.sparkContext._jvm.org.apache.spark.network.util.JavaUtils.timeStringAsSec(given))
    except SPARK_ERRORS as error:
        raise JobError(
            f"{EXECUTOR_TIMEOUT} is {given!r}, which is no time; give one such as 300s or 5m."
        ) from error


def _asked(conf: SparkConf) -> str:
    memory, cores = conf.get("spark.executor.memory") or "1g", conf.get("spark.executor.cores")
    return f"{memory} of memory" + (f" and {number_of(int(cores), 'core')}" if cores else "")
