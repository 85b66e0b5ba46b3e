"""Changes of an access table without Spark, and processes that die in the middle of one, for test_table.py.

python -m tests.pipeline.table_changes FOLDER     for each number that it reads, makes one change in a process of its
                                                  own that dies by SIGKILL at that point; 0 is never. Prints its status
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pandas  # noqa: F401 - Arrow loads it at the first table, which each process would wait for
import pyarrow as pa
import pyarrow.parquet as pq

from aclweb.pipeline.storage import Folder, LocalFolder
from aclweb.pipeline.table import Version, changing, failpoints
from aclweb.pipeline.table.parts import ACCESS, COVERAGE, COVERAGE_SCHEMA, NOTES, SAMPLES, place_of
from aclweb.pipeline.table.versions import latest

CLUSTER = "eu"
DAYS = ("2026-11-01", "2026-11-02")
OLDEST_DAY = "2025-01-01"
EMPTY = dict.fromkeys(COVERAGE_SCHEMA.names, 0) | {"file": "a.log", "broker": "a.log"}


def change(folder: Folder, base: Version | None) -> Version:
    """Add one decision to each day, and make the source one byte longer."""
    folded = changing.days_to_fold(base, DAYS)
    with changing.unfinished_folder(folder) as unfinished:
        written = {}
        for day in DAYS:
            old = base.days[day] if base else None
            before = old.decisions if old and day in folded else 0
            _write(
                folder, f"{unfinished}/{ACCESS}/day={day}", {"principal": ["User:a"], "lines": [before + 1]}
            )
            rows = [EMPTY | {"lines": before + 1, "decisions": before + 1}]
            parts = {
                ACCESS: changing.adopt_frames(f"{unfinished}/{ACCESS}", folder, ACCESS)[day],
                COVERAGE: changing.write_rows(
                    rows, COVERAGE_SCHEMA, unfinished, folder, place_of(COVERAGE, day)
                ),
                NOTES: (),
            }
            written[day] = changing.Written(1, 1, parts, is_folded=day in folded)
        _write(folder, f"{unfinished}/{SAMPLES}", {"raw": ["INFO x"]})
        samples = changing.adopt_frames(f"{unfinished}/{SAMPLES}", folder, SAMPLES)[""]
        offset = base.sources[0]["offset"] + 1 if base else 1
        version = changing.next_version(
            base,
            CLUSTER,
            written,
            samples=samples,
            sources=[{"path": "a.log", "offset": offset}],
            problems={},
            oldest_day=OLDEST_DAY,
        )
        changing.commit_and_sweep(folder, version)
    return version


def _write(folder: Folder, place: str, columns: dict[str, list[object]]) -> None:
    folder.make(place)
    with folder.new_file(f"{place}/part-0.parquet") as file:
        pq.write_table(pa.table(columns), file)


def die_at(moment: int) -> None:
    """Have this process die when it passes a point for the `moment`-th time."""
    passed = 0

    def hit(name: str) -> None:
        nonlocal passed
        passed += 1
        if passed == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.hit = hit


def serve(folder: Folder) -> None:
    # Nothing waits an hour or a day in a test.
    changing.KEPT_SECONDS = changing.SWEPT_AFTER_SECONDS = 0.0
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            die_at(int(line))
            change(folder, latest(folder))
            os._exit(0)
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    serve(LocalFolder(Path(sys.argv[1])))
