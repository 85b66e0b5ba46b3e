"""What do some bytes of the logs say, while the files may change?

Only bytes that were read as they were looked at are counted. What changed meanwhile is named, and left for later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from aclweb.acl.notation import UNKNOWN
from aclweb.pipeline import record_lines, totals
from aclweb.pipeline.coverage import Row
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import READ, FileState
from aclweb.pipeline.increments import Fresh, NotTheSameError, copy_bytes, is_still_there
from aclweb.pipeline.job import path_of
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.readings import Reading, check_layouts, first_line
from aclweb.pipeline.sources import read_counts


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
    unfinished: Path,
    keep: Keep,
    *,
    zone_of: Callable[[Fresh], str | None],
    choose: Callable[[Sequence[Row]], Collection[str]] | None = None,
) -> Counted:
    """Count the bytes of log files.

    unfinished: a folder for copies of parts of files, which all executors see. zone_of: that of the clock that wrote a
    file. choose: gets how many records each file has of each day (file, broker, day, lines), and returns the days to
    count; all unless given. Raises JobError where no file can be read, and where most lines are in files of an unknown
    layout.
    """
    files, changed = _readable(wanted, unfinished)
    readings = {path: Reading(fresh.source.layout, zone_of(fresh)) for path, fresh in files.items()}
    counted = read_counts(spark, list(files), keep, readings=readings)
    counts = counted.counts
    if choose is not None:
        sums = counts.groupBy("file", "day").agg(F.sum("lines").alias("lines")).collect()
        rows = [row.asDict() for row in sums]
        counts = counts.filter(
            F.col("day").isin(list(choose(_of_files(rows, files, _unsure(files, counted.states)))))
        )
    brokers = partial(_broker_of, {path: fresh.source.broker for path, fresh in files.items()})
    lines = keep(record_lines.said(counts, brokers))
    found = [row.asDict() for row in totals.coverage(lines).collect()]
    # What was read is known now: a file that changed before is seen to have done so.
    unsure = _unsure(files, counted.states)
    wrong = [row["file"] for row in found if path_of(row["file"]) in unsure]
    if wrong:
        lines = keep(record_lines.said(counts.filter(~F.col("file").isin(wrong)), brokers))
    coverage = _of_files(found, files, unsure)
    check_layouts(coverage, unknown_layouts(list(files.values())), "file")
    return Counted(
        lines,
        coverage,
        [fresh for path, fresh in files.items() if path not in unsure],
        [*changed, *(files[path].path for path in sorted(unsure))],
    )


def _unsure(files: Mapping[str, Fresh], states: Mapping[str, FileState]) -> set[str]:
    """Return the files of which other bytes may have been read than were looked at."""
    return {
        path
        for path, fresh in files.items()
        if states[path].state != READ or (fresh.is_whole_file and not is_still_there(fresh))
    }


def _of_files(rows: Sequence[Row], files: Mapping[str, Fresh], unsure: Collection[str]) -> list[Row]:
    """Return rows with the path and the broker of their files, without those of `unsure`."""
    found = []
    for row in rows:
        if (path := path_of(row["file"])) not in unsure:
            fresh = files[path]
            found.append(row | {"file": fresh.path, "broker": fresh.source.broker})
    return found


def _broker_of(brokers: Mapping[str, str], file: str) -> str:
    """Return the broker of a file as Spark names it; brokers: by path."""
    return brokers[path_of(file)]


def unknown_layouts(wanted: Sequence[Fresh]) -> Mapping[str, str]:
    """Return the paths of the files of an unknown layout, with the first line of each."""
    return {one.path: first_line(one.path) for one in wanted if one.source.layout == UNKNOWN}


def _readable(wanted: Sequence[Fresh], unfinished: Path) -> tuple[dict[str, Fresh], list[str]]:
    """Return the files for Spark with what each holds, and the paths of files that are no longer there."""
    copies = unfinished / "new"
    copies.mkdir()
    files, late = {}, []
    for fresh in wanted:
        try:
            path = fresh.path if fresh.is_whole_file else str(copy_bytes(fresh, copies).resolve())
        except NotTheSameError:
            late.append(fresh.path)
        else:
            files[path] = fresh
    if not files:
        raise JobError(f"Every log file with something new was replaced while it was read: {late[0]}.")
    return files, late
