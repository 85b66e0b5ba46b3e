"""Make the archive of Spark's classes, so that each start of Spark in a test takes a quarter less.

A small job of the pipeline leaves it when it ends; where it is there already, nothing is started.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from aclweb.pipeline import class_archive, environment
from aclweb.runtime.java import JavaError
from devstack.java import java_home

_ROOT = Path(__file__).resolve().parent.parent
_SNAPSHOT = (
    '{"cluster": "any", "revision": 1, "authorizer": "standard", "kafka_version": "4.1", "config": {}}\n'
)
_LOG = (
    "[2026-11-20 10:00:00,000] INFO Principal = User:eve is Denied operation = READ from host = 10.0.0.7 on resource = "
    "Topic:LITERAL:orders for request = Fetch with resourceRefCount = 1 based on rule DefaultDeny "
    "(kafka.authorizer.logger)\n"
)


def main() -> int:
    try:
        home = java_home()
    except JavaError as error:
        print(f"No archive of Spark's classes was made. {error}")
        return 0
    archive = class_archive.archive_of(environment.of_this_process().cache, home / "bin" / "java")
    if archive.exists():
        print("The archive of Spark's classes is here.")
        return 0
    with tempfile.TemporaryDirectory(prefix="aclweb-classes-") as directory:
        folder = Path(directory)
        (folder / "snapshot.jsonl").write_text(_SNAPSHOT, encoding="utf-8")
        (folder / "a.log").write_text(_LOG, encoding="utf-8")
        job = ["access", "--cluster", "any", "--log", folder / "a.log", "--out", folder / "table"]
        job += ["--snapshot", folder / "snapshot.jsonl", "--usage", folder / "usage"]
        status = subprocess.run(
            [sys.executable, "-m", "aclweb.pipeline", *map(str, job)],
            cwd=_ROOT,
            env={**os.environ, "JAVA_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            check=False,
        ).returncode
    if status == 0:
        print(
            "The archive of Spark's classes was made." if archive.exists() else "This Java makes no archive."
        )
    return status


if __name__ == "__main__":
    sys.exit(main())
