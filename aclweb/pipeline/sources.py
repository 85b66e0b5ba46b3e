"""What do the records of log files say, and how far could each file be read?

Files may be compressed, and have any layout; each is read once (`aclweb.pipeline.layout_counts`). One that turns out
to end too early, or to be gone, costs itself: it is named with its state, and the others are read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from aclweb.acl.notation import KAFKA
from aclweb.pipeline import totals
from aclweb.pipeline.coverage import Row
from aclweb.pipeline.failures import SPARK_ERRORS, JobError
from aclweb.pipeline.files import FileState, examine, look
from aclweb.pipeline.layout_counts import Keep, lines_of_files
from aclweb.pipeline.readings import Reading
from aclweb.pipeline.record_lines import BrokerOf

_ATTEMPTS = 3


@dataclass(frozen=True)
class FileLines:
    """lines: schemas.LINES, kept. coverage: their rows of `totals.coverage`. texts: how many of them are texts.

    states: of every file that was asked for, by its path.
    """

    lines: DataFrame
    coverage: list[Row]
    texts: int
    states: Mapping[str, FileState]


def read_lines(
    spark: SparkSession,
    files: Sequence[str],
    keep: Keep,
    *,
    readings: Mapping[str, Reading] | None = None,
    zone: str | None = None,
    broker_of: BrokerOf | None = None,
) -> FileLines:
    """Return what the records of log files say, and how far each file could be read.

    keep: persists a frame for the length of the job. readings: how to read a file; one that has none is read in
    Kafka's own layout with `zone`. Times of a zone become UTC; without one they are as they are written. Of an hour
    that a clock shows twice, the first is taken. broker_of: None where nobody asks which broker wrote what.

    Raises JobError where no file can be read, and what Spark raises where it fails for another reason.
    """
    readings = {file: (readings or {}).get(file, Reading(KAFKA, zone)) for file in files}
    states = {file: look(file) for file in files}
    for attempt in range(_ATTEMPTS):
        readable = [file for file in files if states[file].is_readable]
        if not readable:
            raise JobError(nothing_read(states))
        try:
            lines = [
                lines_of_files(spark, group, reading, keep, broker_of=broker_of, tolerant=attempt > 0)
                for reading, group in _by_reading(readable, readings).items()
            ]
            found = reduce(DataFrame.unionByName, lines)
            # Only once all is read, one knows that it can be.
            rows = [row.asDict() for row in totals.coverage_and_texts(found).collect()]
        except SPARK_ERRORS:
            examined = examine(spark, readable)
            if attempt == _ATTEMPTS - 1 or all(states[file] == state for file, state in examined.items()):
                raise
            states |= examined
        else:
            coverage = [row for row in rows if row["file"] is not None]
            return FileLines(found, coverage, sum(row["texts"] for row in rows), states)
    raise AssertionError


def nothing_read(states: Mapping[str, FileState]) -> str:
    """Return the sentence for log files of which none can be read."""
    first = "; ".join(f"{file}: {state.state}. {state.reason}" for file, state in list(states.items())[:3])
    if len(states) == 1:
        return f"The log file could not be read: {first}"
    return f"None of the {len(states)} log files could be read: {first}"


def _by_reading(files: Sequence[str], readings: Mapping[str, Reading]) -> dict[Reading, list[str]]:
    found: dict[Reading, list[str]] = {}
    for file in files:
        found.setdefault(readings[file], []).append(file)
    return found
