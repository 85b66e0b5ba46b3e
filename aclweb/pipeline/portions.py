"""How is much text added to the access table in portions, so that a run that is killed keeps what it committed?

A portion is a few log files, those that were written first before the others, so that most days are in one portion.
There are few of them, because each costs a change of the table. One Spark reads all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pyspark.sql import SparkSession

from aclweb.pipeline.access import Extended, Look, extend
from aclweb.pipeline.failures import SPARK_ERRORS, JobError
from aclweb.pipeline.increments import Fresh

PORTION_BYTES = 1 << 30
MOST_PORTIONS = 24

Begin = Callable[[int], None]
"""Says that the portion with this number begins, counted from 1."""


def portions_of(fresh: Sequence[Fresh]) -> list[list[Fresh]]:
    """Return the files in portions of at least PORTION_BYTES of text, but for the last, MOST_PORTIONS at most."""
    least = max(PORTION_BYTES, -(-sum(_size(each) for each in fresh) // MOST_PORTIONS))
    found: list[list[Fresh]] = []
    room = 0
    for each in sorted(fresh, key=lambda each: (each.source.stamp.mtime_ns, each.path)):
        if room <= 0:
            found.append([])
            room = least
        found[-1].append(each)
        room -= _size(each)
    return found


def _size(fresh: Fresh) -> int:
    return fresh.end - fresh.start


def extend_in_portions(
    spark: SparkSession, looked: Look, portions: Sequence[Sequence[Fresh]], *, keep_days: int, begin: Begin
) -> Extended:
    """Add the portions to the table one after another; return what was added by all of them.

    One of which nothing can be read costs itself and is a warning; raises JobError where that is so of all, and else
    as `extend` does.
    """
    parts: list[Extended] = []
    failed: list[JobError] = []
    for number, portion in enumerate(portions, 1):
        begin(number)
        counted = [fresh for part in parts for fresh in part.counted]
        try:
            part = extend(spark, looked, keep_days=keep_days, wanted=portion, counted=counted)
        except JobError as error:
            if isinstance(error.__cause__, SPARK_ERRORS):
                raise
            failed.append(error)
        else:
            parts.append(part)
            # As it will be when it is read again.
            looked = replace(looked, base=replace(part.version, highest=part.version.number))
    if not parts:
        raise failed[0]
    return Extended(
        parts[-1].version,
        files=sum(part.files for part in parts),
        lines=sum(part.lines for part in parts),
        decisions=sum(part.decisions for part in parts),
        too_old=sum(part.too_old for part in parts),
        warnings=(*(warning for part in parts for warning in part.warnings), *map(str, failed)),
        counted=tuple(fresh for part in parts for fresh in part.counted),
    )
