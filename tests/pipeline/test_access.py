"""Does the access table hold what the logs hold, and is it extended without counting anything twice?"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from aclweb.pipeline.access import extend, look
from aclweb.pipeline.job import run_usage_of_table
from aclweb.pipeline.snapshot import read_snapshot
from aclweb.pipeline.table import Table, Window
from tests.pipeline.test_job import manifest_of, run

CLUSTER = "test-eu"
TABLES = ("usage", "requests", "unparsed", "coverage")


@pytest.fixture(scope="module")
def finished_logs(logs) -> list[Path]:
    """The logs of all tests, unchanged for two days: a broker writes no more of them."""
    before = time.time() - 2 * 24 * 3600
    for log in logs:
        os.utime(log, (before, before))
    return logs


@pytest.fixture(scope="module")
def table(spark, finished_logs, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("table of [eu], 100%")
    grow(spark, out, finished_logs)
    return out


def grow(spark: Any, table: Path, logs: list[Path], **options: Any) -> None:
    extend(spark, look(table, CLUSTER, [str(log) for log in logs]), **options)


def usage_of(spark: Any, snapshot_file: Path, table: Path, out: Path, **window: str) -> Path:
    found = Table.open(table, CLUSTER)
    run_usage_of_table(spark, read_snapshot(snapshot_file), found, Window(**window), out)
    return out


@pytest.mark.spark
def test_usage_of_the_table_is_usage_of_the_logs_that_made_it(
    spark, table, finished_logs, snapshot_file, tmp_path
):
    from_logs = run(spark, snapshot_file, finished_logs, tmp_path / "logs")

    from_table = usage_of(spark, snapshot_file, table, tmp_path / "table")

    assert manifest_of(from_table) == manifest_of(from_logs)
    assert manifest_of(from_logs)["lines"]["decisions"] > 400
    for name in TABLES:
        assert (from_table / f"{name}.parquet").read_bytes() == (
            from_logs / f"{name}.parquet"
        ).read_bytes(), name
