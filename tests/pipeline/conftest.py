"""One Spark for all tests of a run, started by the first that needs it; real logs and a snapshot."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.pipeline import plain
from tests.pipeline.samples import BINDINGS, ODD_LOG, RULES
from tests.pipeline.usage_job import run
from tests.real_outputs import DATA


@pytest.fixture(scope="session")
def logs(tmp_path_factory) -> list[Path]:
    """The logs of all tests, no longer written, in a folder whose name is a pattern."""
    folder = tmp_path_factory.mktemp("logs of [eu], 100%")
    files = [Path(shutil.copy(file, folder)) for file in sorted((DATA / "audit").glob("*.log.gz"))]
    assert len(files) >= 6
    (folder / "odd.log").write_text(ODD_LOG, encoding="utf-8")
    (folder / "windows.log").write_bytes(ODD_LOG.replace("\n", "\r\n").encode("utf-8"))
    (folder / "empty.log").write_text("")
    found = [*files, folder / "odd.log", folder / "windows.log", folder / "empty.log"]
    for log in found:
        finish(log)
    return found


def finish(log: Path) -> None:
    """Make a log look as if its broker had written nothing for two days."""
    before = time.time() - 2 * 24 * 3600
    os.utime(log, (before, before))


@pytest.fixture(scope="session")
def elsewhere(spark, tmp_path_factory) -> tuple[str, Path]:
    """The address of a folder that Spark alone reaches, by Hadoop's own viewfs, and where its files really are."""
    really = tmp_path_factory.mktemp("elsewhere")
    spark._jsc.hadoopConfiguration().set("fs.viewfs.mounttable.aclweb.link./data", f"file://{really}")
    return "viewfs://aclweb/data", really


@pytest.fixture(scope="session")
def usage(spark, logs, snapshot_file, tmp_path_factory) -> Path:
    """The result of a usage job on all logs."""
    return run(spark, snapshot_file, logs, tmp_path_factory.mktemp("out") / "usage")


@pytest.fixture(scope="session")
def counted_plainly(logs) -> plain.Counted:
    """What a plain program counts in all logs."""
    return plain.count(logs, BINDINGS, RULES)


@pytest.fixture(scope="session")
def few_logs(logs) -> list[Path]:
    """One log of a real broker and those with odd lines."""
    return [logs[0], *(log for log in logs if log.suffix != ".gz")]


@pytest.fixture(scope="session")
def usage_of_few(spark, few_logs, snapshot_file, tmp_path_factory) -> Path:
    """The result of a usage job on these."""
    return run(spark, snapshot_file, few_logs, tmp_path_factory.mktemp("few") / "usage")


@pytest.fixture(scope="session")
def snapshot_file(tmp_path_factory) -> Path:
    header = {"cluster": "test-eu", "revision": 7, "authorizer": "standard", "kafka_version": "4.4"}
    header |= {"config": {"super.users": "User:admin", "allow.everyone.if.no.acl.found": False}}
    path = tmp_path_factory.mktemp("snapshot") / "snapshot.jsonl"
    lines = [header | {"topics": [], "groups": []}, *(binding.as_dict() for binding in BINDINGS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
