"""Does a real Spark cluster give the same rows, by both documented commands, from any folder?"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aclweb.pipeline.manifest import summary, warnings
from aclweb.pipeline.shipping import write_package
from devstack.java import java_home
from tests.pipeline.spark_cluster import HOME, quick_jvm, spark_cluster
from tests.pipeline.test_files import decisions
from tests.pipeline.test_preflight import python_without_packages
from tests.pipeline.usage_job import manifest_of
from tests.servers import need_java

pytestmark = pytest.mark.spark

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
ROOT = Path(__file__).resolve().parents[2]


def small() -> list[str]:
    """What such a machine needs: it has one address and little memory."""
    options = " ".join(quick_jvm())
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": options,
        "spark.driver.extraJavaOptions": options,
        "spark.sql.shuffle.partitions": "2",
    }
    if not FULL:
        # As the Spark of all other tests: so few lines are counted before generated code has been compiled.
        settings |= {
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        }
    return [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[str]:
    need_java()
    with spark_cluster(tmp_path_factory.mktemp("spark-cluster"), java_home(), 2 if FULL else 1) as address:
        yield address


@pytest.fixture(scope="module")
def some_logs(logs, few_logs) -> list[Path]:
    """At full scale every log, else a few: all of them are read elsewhere."""
    return logs if FULL else few_logs


@pytest.fixture(scope="module")
def here(request) -> Path:
    """The result of the same job on the Spark of all tests."""
    result: Path = request.getfixturevalue("usage" if FULL else "usage_of_few")
    return result


def started(command: list[object], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": sys.executable, **env},
        timeout=500,
        check=False,
    )


def without_notes(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if " INFO " not in line)


def rows_of(result: Path) -> dict[str, object]:
    tables = sorted(result.glob("*.parquet"))
    assert len(tables) >= 3
    return {table.name: pq.read_table(table).to_pylist() for table in tables}


@pytest.mark.turns(
    3,
    0,
    instead="tests/pipeline/test_job.py::test_each_request_is_found_as_often_and_when_a_plain_count_has_it",
)
def test_the_documented_command_gives_the_same_rows_on_a_cluster(
    cluster, here, some_logs, snapshot_file, tmp_path
):
    command = [sys.executable, "-m", "aclweb.pipeline", "usage", "--master", cluster, *small()]
    command += ["--snapshot", snapshot_file, "--log", *some_logs, "--out", tmp_path / "out"]

    answer = started(command, tmp_path, PYTHONPATH=str(ROOT))

    assert answer.returncode == 0, answer.stderr
    # A summary and nothing of the JVM.
    assert answer.stdout.splitlines() == [*summary(manifest_of(here)), f"Written to {tmp_path / 'out'}."]
    assert answer.stderr.splitlines() == warnings(manifest_of(here))
    assert rows_of(tmp_path / "out") == rows_of(here)
    assert json.loads((tmp_path / "out" / "manifest.json").read_text()) == json.loads(
        (here / "manifest.json").read_text()
    )


@pytest.mark.thorough(
    instead="tests/pipeline/test_job.py::test_each_request_is_found_as_often_and_when_a_plain_count_has_it"
)
def test_spark_submit_decides_where_the_job_runs(cluster, here, some_logs, snapshot_file, tmp_path):
    """The master, the settings and the code come from spark-submit alone; the project is on no path."""
    packed, entry = write_package(tmp_path / "package")
    command = [
        HOME / "bin" / "spark-submit",
        "--master",
        cluster,
        *small(),
        "--conf",
        "spark.app.name=from-submit",
    ]
    command += ["--conf", f"spark.eventLog.dir={tmp_path.as_uri()}", "--conf", "spark.eventLog.enabled=true"]
    command += ["--conf", "spark.eventLog.compress=false"]
    command += ["--py-files", packed, entry, "usage"]
    command += ["--snapshot", snapshot_file, "--log", *some_logs, "--out", tmp_path / "out"]

    answer = started(command, tmp_path, PYTHONPATH="", PYTHONSAFEPATH="1")

    assert answer.returncode == 0, without_notes(answer.stderr)
    assert rows_of(tmp_path / "out") == rows_of(here)
    told = "".join(file.read_text() for folder in tmp_path.glob("eventlog*") for file in folder.iterdir())
    assert '"App Name":"from-submit"' in told
    assert told.count("SparkListenerExecutorAdded") >= 1


@pytest.mark.thorough(
    instead="tests/pipeline/test_preflight.py::test_a_python_that_lacks_our_packages_is_told_with_its_machine"
)
def test_an_executor_that_cannot_do_its_part_is_named_with_what_it_lacks(cluster, snapshot_file, tmp_path):
    bare = python_without_packages(tmp_path)
    (tmp_path / "a.log").write_text("[2026-11-20 10:00:04,000] WARN The disk is full (kafka.server.Log)\n")
    command = [sys.executable, "-m", "aclweb.pipeline", "usage", "--master", cluster, *small()]
    command += ["--snapshot", snapshot_file, "--log", tmp_path / "a.log", "--out", tmp_path / "out"]

    answer = started(command, tmp_path, PYTHONPATH=str(ROOT), PYSPARK_PYTHON=str(bare))

    assert answer.returncode == 1
    assert "The executor on " in answer.stderr
    assert "has no Python package pyarrow" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@pytest.mark.thorough(
    instead="tests/pipeline/test_job.py::test_each_request_is_found_as_often_and_when_a_plain_count_has_it"
)
def test_a_worker_that_is_killed_in_mid_job_costs_no_row(snapshot_file, tmp_path):
    need_java()
    lines, logs = 60_000, [tmp_path / "a.log", tmp_path / "b.log"]
    logs[0].write_text(decisions(lines))
    logs[1].write_text(decisions(lines, "pay"))
    command = [sys.executable, "-m", "aclweb.pipeline", "usage", *small(), "--snapshot", snapshot_file]
    command += ["--log", *logs, "--out", tmp_path / "out"]
    (tmp_path / "spark").mkdir()

    with spark_cluster(tmp_path / "spark", java_home(), workers=2) as address:
        process = subprocess.Popen(
            [*map(str, command), "--master", address],
            cwd=tmp_path,
            env={**os.environ, "JAVA_HOME": str(java_home()), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            worker = tmp_path / "spark" / "worker-0"
            _wait_for_task(worker / "work")
            os.killpg(int((worker / "pid").read_text()), signal.SIGKILL)
            assert process.poll() is None, "it ended before the worker did"
            _, told = process.communicate(timeout=500)

    assert (process.returncode, told) == (0, "")
    rows = pq.read_table(tmp_path / "out" / "requests.parquet").to_pylist()
    assert len(rows) == 2_000
    assert {row["lines"] for row in rows} == {lines // 1_000}


def _wait_for_task(work: Path) -> None:
    """Return once an executor runs a task behind those that look whether it can do its part."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        told = "".join(file.read_text(errors="replace") for file in work.glob("app-*/*/stderr"))
        if re.search(r"Running task \S+ in stage [1-9]", told):
            return
        time.sleep(0.05)
    raise AssertionError(f"No task has begun: {told[-2000:]}")
