"""A usage job as tests run it: on the session of a test, from a snapshot and logs into a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def run(spark: SparkSession, snapshot_file: Path, logs: Sequence[Path], out: Path) -> Path:
    """Run the job and return the folder of its result, which is `out`."""
    from aclweb.pipeline.job import run_usage
    from aclweb.pipeline.snapshot import read_snapshot

    run_usage(spark, read_snapshot(snapshot_file), [str(log) for log in logs], out)
    return out


def manifest_of(result: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((result / "manifest.json").read_text(encoding="utf-8"))
    return manifest
