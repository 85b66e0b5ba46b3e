"""Jobs that take no Spark: a child that tells its steps, and leaves a result that a test has written before."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.notation.files import binding_key
from aclweb.insights import spark_child
from aclweb.insights.analyses import running
from aclweb.insights.models import Analysis
from aclweb.insights.result import Result
from aclweb.pipeline.results import new_result, write_manifest, write_table

LAST = datetime(2026, 11, 20, 12)

# Told as a job of the pipeline does; `hang` waits with a child of its own, as the JVM is one.
_CHILD = """
import json, os, shutil, subprocess, sys, time
what, prepared, *words = sys.argv[1:]
pipe = int(words[words.index("--progress") + 1])
os.set_inheritable(pipe, False)
for number, step in enumerate(["Starting Spark", "Deciding", "Adding up"]):
    line = {"step": step, "done": number, "of": 3, "tasks_done": number, "tasks": 4 * number}
    os.write(pipe, (json.dumps(line) + "\\n").encode())
if what == "hang":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(prepared + ".new", "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.replace(prepared + ".new", prepared)
    while True:
        os.write(pipe, (json.dumps(line) + "\\n").encode())
        time.sleep(0.05)
if what == "fail":
    sys.exit("warning\\nThe job failed: no space is left.")
shutil.copytree(prepared, words[words.index("--out") + 1])
print("Read 12 records of 2 files.\\nWritten to /tmp/gone.")
"""

_FILES = ("--snapshot", "--brokers", "--history", "--delta", "--beside", "--beside-brokers")


class Jobs:
    """What the children that a worker starts do; `started` has the words of each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.started: list[Sequence[str]] = []
        self.inputs: list[Mapping[str, str]] = []
        self._folder = folder
        self._does = ("fail", "")
        popen = subprocess.Popen

        def start(command: Sequence[str], **given: Any) -> subprocess.Popen[str]:
            words = command[3:]
            self.started.append(words)
            self.inputs.append(
                {
                    word: Path(words[place + 1]).read_text(encoding="utf-8")
                    for place, word in enumerate(words)
                    if word in _FILES
                }
            )
            return popen([sys.executable, "-c", _CHILD, *self._does, *words], **given)

        monkeypatch.setattr("aclweb.insights.spark_child.subprocess.Popen", start)
        monkeypatch.setattr(spark_child, "java_home", lambda given, cache: Path("/"))

    def fail(self) -> None:
        self._does = ("fail", "")

    def hang(self) -> Path:
        """Return the file that will hold the ids of a job and of its child."""
        told = self._folder / "processes"
        self._does = ("hang", str(told))
        return told

    def leave(self, result: Path) -> None:
        self._does = ("leave", str(result))

    def run(self, result: Path | None = None) -> Analysis:
        """Have a worker run what waits longest, which leaves this result, and return it."""
        if result is not None:
            self.leave(result)
        assert running.run_next("worker")
        found = Analysis.objects.order_by("finished_at").last()
        assert found is not None
        return found


def write_analysis(folder: Path, job: str, tables: Mapping[str, list[dict[str, Any]]], **facts: Any) -> Path:
    """Write a result of a job; `facts` are of its manifest."""
    manifest = {
        "format": 1,
        "job": job,
        "files": [{"path": "/logs/b1"}],
        "coverage": {
            "first_at": "2026-10-01 00:00:00",
            "last_at": "2026-11-20 12:00:00",
            "permits_seen": True,
        },
        "unread": "",
        "rows": {name: len(rows) for name, rows in tables.items()},
    } | facts
    with new_result(folder) as unfinished:
        for name, rows in tables.items():
            write_table(unfinished, name, pa.Table.from_pylist(rows))
        write_manifest(unfinished, manifest)
    return folder


def acl_row(binding: AclBinding, state: str, **facts: Any) -> dict[str, Any]:
    """A row of the table of load-bearing."""
    row: dict[str, Any] = {
        "binding_key": binding_key(binding),
        **binding.as_dict(),
        "state": state,
        "reason": "",
    }
    row |= {"requests": 5, "needed": 0, "needed_lately": 0, "last_at": LAST, "requests_then": 4}
    return row | {"replaceable_by": ["0" * 64], "removable": False} | facts


EVIDENCE = {"days": 30, "start": "2026-10-21 12:00:00", "end": "2026-11-20 12:00:00", "brokers": ["b1"]}


def load_bearing(
    folder: Path, rows: list[dict[str, Any]], *, missing: Mapping[str, str] | None = None
) -> Path:
    """Write a result of load-bearing; missing: why ACLs of a permission cannot be called unused."""
    evidence = EVIDENCE | {"missing": dict(missing or {})}
    return write_analysis(folder, "load-bearing", {"acls": rows}, evidence=evidence)


_SIDES: dict[str, Any] = {"permitted": 9, "denied": 0, "last_at": LAST, "denied_on": [], "unknown_on": []}
_SIDES |= {"allowed_on": []}
_IN_PART = _SIDES | {"relation": "used in part", "used_on": ["test-us"], "not_used_on": ["test-eu"]}
_IN_PART |= {"allowed_on": ["test-eu"]}
_ON_ALL = _SIDES | {"relation": "used on all", "used_on": ["test-eu", "test-us"], "not_used_on": []}
_READ = {"operation": "READ", "resource_type": "TOPIC"}
RIGHTS: list[dict[str, Any]] = [
    {"principal": "User:bob", **_READ, "resource_name": "orders", **_IN_PART},
    {"principal": "User:eve", **_READ, "resource_name": "news", **_ON_ALL},
]


def compared(folder: Path, rights: list[dict[str, Any]]) -> Path:
    """Write a result of compare, of test-eu and test-us; the log of the second has no permits."""
    tables = {
        "rights": rights,
        "principals": [{"principal": "User:bob", **_IN_PART}],
        "topics": [{"topic": "orders", **_IN_PART}],
    }
    coverage = {"first_at": "2026-10-01 00:00:00", "last_at": "2026-11-20 12:00:00"}
    clusters = [
        {
            "cluster": name,
            "revision": 1,
            "coverage": coverage,
            "evidence": EVIDENCE | {"missing": missing},
        }
        for name, missing in (("test-eu", {}), ("test-us", {"ALLOW": "permits are not in the log"}))
    ]
    of_eu = {"used_on": "test-eu", "not_on": "test-us", "used": 1, "rows": 0, "allowed": 0, "unknown": 0}
    of_us = {"used_on": "test-us", "not_on": "test-eu", "used": 2, "rows": 1, "allowed": 1, "unknown": 0}
    pairs = {"rights": [of_eu, of_us], "principals": [], "topics": []}
    return write_analysis(folder, "compare", tables, clusters=clusters, pairs=pairs)


def rows_of(result: Result, table: str) -> list[dict[str, Any]]:
    """Return all rows of a table of a result."""
    found: list[dict[str, Any]] = pq.read_table(result.folder / f"{table}.parquet").to_pylist()
    return found


def ids_in(told: Path) -> list[int]:
    return [int(word) for word in told.read_text().split()]


def brokers_given(inputs: Mapping[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(inputs["--brokers"])
    return found
