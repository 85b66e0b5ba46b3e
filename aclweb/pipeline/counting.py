"""What do some bytes of the logs say, while the files may change?

Only bytes that were read as they were looked at are counted. What changed meanwhile is named, and left for later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from aclweb.acl.notation import UNKNOWN
from aclweb.pipeline import schemas, totals
from aclweb.pipeline.coverage import Row
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import READ, FileState
from aclweb.pipeline.increments import Fresh, NotTheSameError, copy_bytes, is_still_there
from aclweb.pipeline.job import path_of
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.readings import Reading, first_line
from aclweb.pipeline.sources import read_lines


@dataclass(frozen=True)
class Counted:
    """What Spark counted: only the bytes of `fresh`, all of which were read as they were looked at.

    lines: schemas.LINES with brokers. coverage: rows of `totals.coverage` with the `file` and `broker` that a table
    shows. changed: the paths of files that were replaced meanwhile.
    """

    lines: DataFrame
    coverage: Sequence[Row]
    fresh: Sequence[Fresh]
    changed: Sequence[str]


def count_bytes(
    spark: SparkSession,
    wanted: Sequence[Fresh],
    copies: Path,
    keep: Keep,
    *,
    shown: Callable[[Path], str],
    zone_of: Callable[[Fresh], str | None],
    choose: Callable[[Sequence[Row]], Collection[str]] | None = None,
) -> Counted:
    """Count the bytes of log files.

    copies: a folder for copies of parts of files. shown: puts a copy where all executors see it, and returns its path.
    zone_of: that of the clock that wrote a file. choose: gets how many records each file has of each day (file, broker,
    day, lines), and returns the days to count; all unless given. Raises JobError where no file can be read.
    """
    files, changed = _readable(wanted, copies, shown)
    while files:
        lines, coverage, unsure = _read(spark, files, keep, zone_of)
        changed += [files[path].path for path in sorted(unsure)]
        wrong = {row["file"] for row in coverage} & unsure
        files = {path: fresh for path, fresh in files.items() if path not in unsure}
        # What was read is known now: a file that changed before is seen to have done so, and is in all sums.
        if not wrong:
            break
    else:
        lines, coverage = spark.createDataFrame([], schemas.LINES), []
    rows = [
        row | {"file": files[row["file"]].path, "broker": files[row["file"]].source.broker}
        for row in coverage
    ]
    if choose is not None:
        days = choose(rows)
        lines, rows = keep(totals.of_days(lines, days)), [row for row in rows if row["day"] in days]
    return Counted(lines, rows, list(files.values()), changed)


def _read(
    spark: SparkSession,
    files: Mapping[str, Fresh],
    keep: Keep,
    zone_of: Callable[[Fresh], str | None],
) -> tuple[DataFrame, list[Row], set[str]]:
    """Return schemas.LINES, their coverage with the path of each file, and the files whose bytes are not sure."""
    readings = {path: Reading(fresh.source.layout, zone_of(fresh)) for path, fresh in files.items()}
    brokers = partial(_broker_of, {path: fresh.source.broker for path, fresh in files.items()})
    read = read_lines(spark, list(files), keep, readings=readings, broker_of=brokers)
    rows = [row | {"file": path_of(row["file"])} for row in read.coverage]
    return read.lines, rows, _unsure(files, read.states)


def _unsure(files: Mapping[str, Fresh], states: Mapping[str, FileState]) -> set[str]:
    """Return the files of which other bytes may have been read than were looked at."""
    return {
        path
        for path, fresh in files.items()
        if states[path].state != READ or (fresh.is_whole_file and not is_still_there(fresh))
    }


def _broker_of(brokers: Mapping[str, str], file: str) -> str:
    """Return the broker of a file as Spark names it; brokers: by path."""
    return brokers[path_of(file)]


def unknown_layouts(wanted: Sequence[Fresh]) -> Mapping[str, str]:
    """Return the paths of the files of an unknown layout, with the first line of each."""
    return {one.path: first_line(one.path) for one in wanted if one.source.layout == UNKNOWN}


def _readable(
    wanted: Sequence[Fresh], copies: Path, shown: Callable[[Path], str]
) -> tuple[dict[str, Fresh], list[str]]:
    """Return the files for Spark with what each holds, and the paths of files that are no longer there."""
    files, late = {}, []
    for fresh in wanted:
        try:
            path = fresh.path if fresh.is_whole_file else shown(copy_bytes(fresh, copies))
        except NotTheSameError:
            late.append(fresh.path)
        else:
            files[path] = fresh
    if not files:
        raise JobError(f"Every log file with something new was replaced while it was read: {late[0]}.")
    return files, late
