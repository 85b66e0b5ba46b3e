"""Can every executor do its part: the right Python, pyarrow, this very code, and the files in view?

Asked once before a job on other machines, so that what is missing there is reported as one sentence with
the host's name, and not in the middle of a job.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import SparkSession

from aclweb.pipeline.failures import JobError
from aclweb.pipeline.shipping import code_digest

# So many small tasks for each core that every executor gets one of them.
_TASKS_A_CORE = 2
_PACKAGES = ("pyarrow", "pandas")


@dataclass(frozen=True)
class Seen:
    """What one executor has."""

    host: str
    python: str
    missing: tuple[str, ...]  # packages
    digest: str
    sees_file: bool


def check_executors(spark: SparkSession, files: Sequence[str]) -> None:
    """Raise JobError with a sentence for the first executor that cannot do its part.

    files: what all of them read, such as logs, or the folder of a table.
    """
    local = next((file for file in files if "://" not in file), None)
    tasks = max(2, _TASKS_A_CORE * spark.sparkContext.defaultParallelism)
    found = (
        spark.sparkContext.parallelize(range(tasks), tasks)
        .mapPartitions(partial(look_around, local))
        .collect()
    )
    wanted = code_digest()
    for seen in sorted(set(found), key=lambda seen: seen.host):
        if sentence := _wrong(seen, wanted, local):
            raise JobError(sentence)


def look_around(local: str | None, _numbers: Iterable[int]) -> Iterator[Seen]:
    """Yield what this executor has; local: the first file or folder to read that is on this machine."""
    yield Seen(
        host=socket.gethostname(),
        python=_python(),
        missing=tuple(name for name in _PACKAGES if importlib.util.find_spec(name) is None),
        digest=code_digest(),
        sees_file=local is None or os.access(local, os.R_OK),
    )


def _wrong(seen: Seen, digest: str, local: str | None) -> str | None:
    if seen.python != _python():
        return (
            f"The executor on {seen.host} runs Python {seen.python} and this program {_python()}; name the same "
            "version with PYSPARK_PYTHON."
        )
    if seen.missing:
        return (
            f"The executor on {seen.host} has no Python package {' and no '.join(seen.missing)}; install what is "
            "missing there, or name a Python that has it with PYSPARK_PYTHON."
        )
    if seen.digest != digest:
        return (
            f"The executor on {seen.host} loads another version of aclweb than this program; remove the one that is "
            "installed there."
        )
    if not seen.sees_file:
        return (
            f"The executor on {seen.host} cannot read {local!r}; put it where every executor sees it, "
            "for instance on a shared file system."
        )
    return None


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
