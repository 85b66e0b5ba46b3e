"""What do single steps of the pipeline cost in one running Spark, without its start?

    python -m bench.spark_rounds counting|replay|hour SNAPSHOT TABLE FILE...

Prints one JSON object. Seconds are CPU of the JVM and of Python's workers, the fewest of several rounds taken in turn.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from aclweb.acl.model import Delta
from aclweb.pipeline import access, sources
from aclweb.pipeline.files import address
from aclweb.pipeline.job import keeping, read_logs, read_table
from aclweb.pipeline.log_sources import LogSource
from aclweb.pipeline.replay import write_replay
from aclweb.pipeline.session import spark_session
from aclweb.pipeline.snapshot import Snapshot, read_snapshot
from aclweb.pipeline.table import Table, Window
from bench.process_tree import cpu_of_tree
from bench.timing import fastest_of

_ROUNDS = 3
_HOURS = 8
"""A Spark that adds every hour has compiled its code after some of them."""


def counting(spark: SparkSession, files: Sequence[str]) -> dict[str, float]:
    """Count the records of files and read each different one, beside a scan that only cuts them."""

    def count() -> None:
        with keeping() as keep:
            sources.read_lines(spark, files, keep)

    def scan() -> None:
        text = spark.read.text([address(file) for file in files], lineSep="\n[")
        text.selectExpr("sum(length(value))").collect()

    counted, scanned = _fastest(spark, count, scan)
    return {"count": counted, "scan": scanned}


def replay(spark: SparkSession, snapshot: Snapshot, table: Path, files: Sequence[str]) -> dict[str, float]:
    """Replay an edit from the access table, beside the same from the logs."""
    folder = Path(tempfile.mkdtemp(prefix="aclweb-bench-"))
    manifests: dict[str, dict[str, Any]] = {}

    def run(name: str) -> None:
        with keeping() as keep:
            if name == "table":
                logged = read_table(spark, Table.open(table, snapshot.cluster), Window(), keep)
            else:
                logged = read_logs(spark, files, keep)
            manifests[name] = write_replay(
                spark, snapshot, logged, folder / name, keep, delta=edit_of(snapshot)
            )

    try:
        from_logs, from_table = _fastest(spark, partial(run, "logs"), partial(run, "table"))
        for name in ("flips", "by_principal", "by_resource", "by_day"):
            one, other = ((folder / kind / f"{name}.parquet").read_bytes() for kind in manifests)
            if one != other:
                raise SystemExit(f"The replay from the table and that from the logs differ in {name}.")
        if not manifests["logs"]["replay"]["denied"]["lines"]:
            raise SystemExit("The edit denies nothing that is in the logs, so nothing is compared.")
    finally:
        shutil.rmtree(folder)
    return {"logs": from_logs, "table": from_table, "denied": manifests["logs"]["replay"]["denied"]["lines"]}


def edit_of(snapshot: Snapshot) -> Delta:
    """Return the edit that is replayed: fifty ACLs less."""
    return Delta(remove=tuple(sorted(snapshot.bindings.values(), key=lambda acl: acl.resource_name)[:50]))


def hour(spark: SparkSession, snapshot: Snapshot, table: Path, files: Sequence[str]) -> dict[str, float]:
    """Add to the table all that the logs hold but for the last hours, and then those, one after the other."""
    last = Path(files[-1])
    whole = last.read_bytes()
    lines = whole.splitlines(keepends=True)
    each = max(len(lines) // 24, 1)
    cpu = partial(cpu_of_tree, _jvm_of(spark))

    def add(hours_later: int) -> float:
        last.write_bytes(b"".join(lines[: len(lines) - hours_later * each]))
        before = cpu()
        looked = access.look(table, snapshot.cluster, [LogSource(file) for file in files])
        access.extend(spark, looked, keep_days=40_000)
        return cpu() - before

    try:
        first, *hours = (add(hours_later) for hours_later in range(_HOURS, -1, -1))
    finally:
        last.write_bytes(whole)
    return {"before": first, "hour": min(hours)}


def _jvm_of(spark: SparkSession) -> int:
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]


def _fastest(spark: SparkSession, *works: Callable[[], object]) -> list[float]:
    jvm = _jvm_of(spark)

    def seconds_of(work: Callable[[], object]) -> float:
        before = cpu_of_tree(jvm)
        work()
        return cpu_of_tree(jvm) - before

    return fastest_of(*(partial(seconds_of, work) for work in works), rounds=_ROUNDS)


def main(step: str, snapshot: str, table: str, *files: str) -> None:
    # As the commands start it.
    size = sum(Path(file).stat().st_size for file in files)
    with spark_session("local[2]", log_bytes=size) as spark:
        if step == "counting":
            found = counting(spark, files)
        elif step == "hour":
            found = hour(spark, read_snapshot(Path(snapshot)), Path(table), files)
        else:
            found = replay(spark, read_snapshot(Path(snapshot)), Path(table), files)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
