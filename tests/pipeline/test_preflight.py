"""Is what an executor lacks told in one sentence that names its machine and what would be right?"""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from aclweb.pipeline import preflight
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.preflight import Seen, check_executors, look_around
from aclweb.pipeline.shipping import code_digest

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
GOOD = Seen("worker-1", HERE, (), code_digest(), sees_file=True)


class Executors:
    """Stands in for a Spark whose executors have these things."""

    def __init__(self, *seen: Seen) -> None:
        self._seen = seen
        self.sparkContext = SimpleNamespace(defaultParallelism=1, parallelize=lambda *_: self)

    def mapPartitions(self, _look):
        return self

    def collect(self):
        return list(self._seen)


@pytest.mark.parametrize(
    "lacks, told",
    [
        (
            {"python": "3.9"},
            f"The executor on worker-2 runs Python 3.9 and this program {HERE}; name the same version with "
            "PYSPARK_PYTHON.",
        ),
        (
            {"missing": ("pyarrow", "pandas")},
            "The executor on worker-2 has no Python package pyarrow and no pandas; install what is missing there, or "
            "name a Python that has it with PYSPARK_PYTHON.",
        ),
        (
            {"digest": "0" * 64},
            "The executor on worker-2 loads another version of aclweb than this program; remove the one that is "
            "installed there.",
        ),
        (
            {"sees_file": False},
            "The executor on worker-2 cannot read '/logs/a.log'; put it where every executor sees it, for "
            "instance on a shared file system.",
        ),
    ],
)
def test_what_one_executor_lacks_is_a_sentence_with_its_machine(lacks, told):
    with pytest.raises(JobError) as error:
        check_executors(Executors(GOOD, replace(GOOD, host="worker-2", **lacks)), ["/logs/a.log"])

    assert str(error.value) == told


def test_executors_that_have_all_pass_and_the_first_reason_is_told():
    check_executors(Executors(GOOD, GOOD), ["hdfs://name/logs"])
    bad = replace(GOOD, python="3.9", missing=("pyarrow",), digest="0", sees_file=False)

    with pytest.raises(JobError, match=r"runs Python 3\.9"):
        check_executors(Executors(bad), ["/logs/a.log"])


def test_an_executor_looks_at_its_own_python_its_packages_its_code_and_the_file(tmp_path):
    (tmp_path / "a.log").touch()

    (seen,) = look_around(str(tmp_path / "a.log"), ())
    (blind,) = look_around(str(tmp_path / "gone.log"), ())
    (distant,) = look_around(None, ())

    assert replace(seen, host="worker-1") == GOOD
    assert (blind.sees_file, distant.sees_file) == (False, True)


def test_a_package_that_is_not_there_is_missing(monkeypatch):
    monkeypatch.setattr(preflight, "_PACKAGES", ("no_such_package",))

    (seen,) = look_around(None, ())

    assert seen.missing == ("no_such_package",)


@pytest.mark.spark
def test_a_python_that_lacks_our_packages_is_told_with_its_machine(spark, tmp_path, monkeypatch):
    """A Python of the same version without pyarrow, as a host may have it."""
    bare = python_without_packages(tmp_path)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare))

    with pytest.raises(JobError) as error:
        check_executors(spark, [])

    assert str(error.value).startswith(
        f"The executor on {socket.gethostname()} has no Python package pyarrow and no pandas"
    )


def python_without_packages(folder: Path) -> Path:
    """Return a program that is this Python with the packages of its own library only."""
    bare = folder / "bare-python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    return bare
