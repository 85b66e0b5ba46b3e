"""Does the driver get sums only, and in few jobs of Spark, whatever the command asks?"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.pipeline.analyses import ANALYSES
from aclweb.pipeline.table import Table, Window
from tests.pipeline.samples import BINDINGS
from tests.pipeline.test_access import CLUSTER, run_main
from tests.pipeline.test_files import decisions
from tests.pipeline.usage_job import manifest_of, run

pytestmark = pytest.mark.spark

MOST_JOBS = 8
# These write tables of as many rows as there are requests.
IN_EVERY_RUN = ("matrix", "least-privilege")
# Columns that have more different values the more is asked.
GROWING = {"principal", "host", "resource_name", "topic", "raw", "latest_host", "a", "b"}
# Of these there are as many rows as somebody wrote ACLs and settings, or as there are words, whatever is asked.
OF_FEW_ROWS = {
    ("fact", "principal", "lines", "requests"): "for each super user",
    ("principal",): "for each that ACLs name",
    ("a", "l", "r"): "for each word of what changes",
    ("a", "lines"): "for each word of what changes",
}
# What the optimizer puts above a limit.
ABOVE = ("Project", "Sort")


def is_limited(frame: Any) -> bool:
    """Whether a frame has at most so many rows, whatever is logged."""
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    operators = (re.match(r"[ :+-]*(\w+)", line) for line in plan.splitlines())
    first = next(found[1] for found in operators if found and found[1] not in ABOVE)
    return first in ("GlobalLimit", "LocalRelation")


@contextmanager
def watched() -> Iterator[list[list[str]]]:
    """Yield the columns of each frame that is brought to the driver; a failing claim if it grows with what is asked."""
    from pyspark.sql.classic.dataframe import DataFrame

    brought: list[list[str]] = []

    def checked(name: str) -> Any:
        real = getattr(DataFrame, name)

        def fetched(self: Any, *rest: Any, **named: Any) -> Any:
            brought.append(self.columns)
            # Packed rows come some at a time, and go into a file.
            if self.columns != ["rows"] and tuple(self.columns) not in OF_FEW_ROWS:
                assert not GROWING & set(self.columns) or is_limited(self), (name, self.columns)
            return real(self, *rest, **named)

        return fetched

    with pytest.MonkeyPatch.context() as patch:
        for name in ("collect", "toArrow", "toPandas", "toLocalIterator"):
            patch.setattr(DataFrame, name, checked(name))
        yield brought


@pytest.fixture(scope="module")
def table(spark, few_logs, tmp_path_factory) -> Path:
    table = tmp_path_factory.mktemp("driver") / "table"
    odd = [log for log in few_logs if log.name == "odd.log"]
    run_main(spark, "access", "--cluster", "test-eu", "--log", *odd, "--out", table)
    return table


def test_a_frame_of_all_requests_is_not_taken_for_a_few_rows(spark):
    rows = spark.range(10).selectExpr("cast(id as string) principal", "id")

    assert is_limited(rows.orderBy("id").limit(3))
    assert not is_limited(rows)
    assert not is_limited(rows.orderBy("id"))
    with watched(), pytest.raises(AssertionError, match="'toArrow', \\['principal', 'id'\\]"):
        rows.toArrow()


@pytest.mark.parametrize(
    "job",
    [
        job
        if job in IN_EVERY_RUN
        else pytest.param(
            job,
            marks=pytest.mark.thorough(
                instead="tests/pipeline/test_driver.py::test_usage_takes_at_most_eight_jobs_and_brings_sums_to_the_driver"
            ),
        )
        for job in ANALYSES
    ],
)
def test_no_analysis_brings_to_the_driver_what_grows_with_what_was_asked(
    spark, table, snapshot_file, tmp_path, job
):
    words: list[object] = []
    if job == "replay":
        (tmp_path / "delta.jsonl").write_text(json.dumps({**BINDINGS[0].as_dict(), "op": "remove"}) + "\n")
        words = ["--delta", tmp_path / "delta.jsonl"]
    if job == "compare":
        other = Path(shutil.copy(snapshot_file, tmp_path))
        other.write_text(other.read_text().replace('"test-eu"', '"other"', 1))
        table = Path(shutil.copytree(table, tmp_path / "table"))
        shutil.copytree(table / "cluster=test-eu", table / "cluster=other")
        words = ["--beside", other]

    with watched() as brought:
        run_main(spark, job, "--snapshot", snapshot_file, "--table", table, *words, "--out", tmp_path / "out")

    assert brought
    for name, rows in manifest_of(tmp_path / "out")["rows"].items():
        assert pq.read_table(tmp_path / "out" / f"{name}.parquet").num_rows == rows, name


def test_usage_takes_at_most_eight_jobs_and_brings_sums_to_the_driver(
    spark, few_logs, snapshot_file, tmp_path
):
    spark.sparkContext.setJobGroup("usage-of-few", "counted by a test")
    try:
        with watched() as brought:
            run(spark, snapshot_file, few_logs, tmp_path / "out")
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup("usage-of-few")
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)

    assert ["rows"] in brought
    assert 3 <= len(jobs) <= MOST_JOBS


def test_records_that_are_no_decisions_are_looked_for_only_where_a_log_has_some(spark, tmp_path):
    log, table = tmp_path / "kafka-authorizer.log", tmp_path / "table"
    log.write_text(decisions(50))
    words = ("access", "--cluster", CLUSTER, "--log", log, "--out", table)
    with watched() as brought:
        run_main(spark, *words)
    assert brought
    assert not any("noted" in columns for columns in brought)

    with log.open("a") as opened:
        opened.write("nothing that a broker writes\n" + decisions(3))
    with watched() as brought:
        run_main(spark, *words)
    assert any("noted" in columns for columns in brought)
    assert [note["lines"] for note in Table.open(table, CLUSTER).notes(Window())] == [1]
