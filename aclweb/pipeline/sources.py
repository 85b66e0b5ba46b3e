"""Which records stand in the log files, and how often does each distinct one?

Brokers write the same few thousand texts millions of times, so records are counted by
their text behind the time before anything is parsed. Files may be compressed (.gz), and a
record may span lines: it ends where a line begins with the next time and level, exactly as
`aclweb.acl.audit_log.records` has it.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

# A new record starts with a bracket at the start of a line. Cutting there, and not at every
# line, lets Spark keep most records that span lines in one piece.
_BREAK = "\n["
_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3}"
_START = rf"^{_TIME}\] [A-Z]+ "
_BRACKET_START = rf"^\[{_TIME}\] [A-Z]+ "
# What a piece between two breaks is: a record without its bracket, with it, or something else.
_WHOLE, _BRACKETED, _TORN = 0, 1, 2
_BLANK_LINES = r"^(?:[ \t\r\f\x0B]*\n)+"


class SourceError(Exception):
    """Log files that cannot be read; the message names the path and what would be right."""


def log_files(paths: Sequence[str]) -> list[str]:
    """Return the files that `paths` mean, sorted, each once: files, folders of files, and patterns with `*`.

    A path with `://` is left to Spark. Raises SourceError for one that means no file.
    """
    found: set[str] = set()
    for path in paths:
        files = [path] if "://" in path else _local_files(path)
        if not files:
            raise SourceError(
                f"No log file is at {path!r}; name a file, a folder with files in it, or a pattern."
            )
        found.update(files)
    return sorted(found)


def bytes_in(files: Sequence[str]) -> float:
    """Return the size of the files; infinite if one of them is not on this machine."""
    return sum(float("inf") if "://" in file else Path(file).stat().st_size for file in files)


def _local_files(path: str) -> list[str]:
    given = Path(path)
    if given.is_dir():
        candidates = [file for file in given.iterdir() if not file.name.startswith((".", "_"))]
    elif given.exists():
        candidates = [given]
    else:
        candidates = [Path(match) for match in glob.glob(path)]
    return [str(file.resolve()) for file in candidates if file.is_file()]


def read_counts(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """Return how often each record stands in each file (schemas.COUNTS), kept in memory or on disk.

    The files are read once, and a second time only those with a record that spans lines or
    is cut off. A row may come in two parts: add up `lines`.
    """
    pieces = _pieces(spark, files)
    counts = _counted(
        pieces.select(
            "file",
            "shape",
            F.when(F.col("shape") != _TORN, F.substring(F.col("value"), F.col("shape") + 1, F.lit(23))).alias(
                "time"
            ),
            F.when(F.col("shape") == _TORN, F.lit(""))
            .otherwise(_trimmed(F.substring(F.col("value"), F.col("shape") + 26, F.length("value"))))
            .alias("raw"),
        ),
        "file",
        "shape",
    ).persist(StorageLevel.MEMORY_AND_DISK)
    # Where every piece starts a record, and only the first still has its bracket, the pieces are the records.
    shapes = counts.groupBy("file").agg(
        F.sum(F.when(F.col("shape") == _TORN, F.col("lines")).otherwise(0)).alias("torn"),
        F.sum(F.when(F.col("shape") == _BRACKETED, F.col("lines")).otherwise(0)).alias("bracketed"),
    )
    torn = [row.file for row in shapes.filter((F.col("torn") > 0) | (F.col("bracketed") > 1)).collect()]
    whole = counts.filter(~F.col("file").isin(torn)).drop("shape")
    if not torn:
        return whole
    rejoined = _counted(rejoin(pieces.filter(F.col("file").isin(torn))), "file")
    return whole.unionByName(rejoined.persist(StorageLevel.MEMORY_AND_DISK))


def _counted(records: DataFrame, *key: str) -> DataFrame:
    """records: the columns of `key`, time (as written, null for a record without one) and raw."""
    return records.groupBy(*key, F.substring("time", 1, 10).alias("day"), "raw").agg(
        F.count("*").alias("lines"), F.min("time").alias("first_time"), F.max("time").alias("last_time")
    )


def _pieces(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    return spark.read.text(list(files), lineSep=_BREAK).select(
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("position"),
        "value",
        F.when(F.col("value").rlike(_START), _WHOLE)
        .when(F.col("value").rlike(_BRACKET_START), _BRACKETED)
        .otherwise(_TORN)
        .alias("shape"),
    )


def rejoin(pieces: DataFrame) -> DataFrame:
    """Return the records (file, time, raw) of files in which some piece is no record of its own.

    pieces: file, block and position (which put them in order) and value.
    """
    in_file = Window.partitionBy("file").orderBy("block", "position")
    is_first = F.row_number().over(in_file) == 1
    # Only the first piece of a file still has what stood before it; the others lost their bracket.
    texts = pieces.select(
        "file",
        "block",
        "position",
        is_first.alias("first"),
        F.when(is_first, F.regexp_replace("value", _BLANK_LINES, ""))
        .otherwise(F.concat(F.lit("["), "value"))
        .alias("text"),
    )
    begins = F.col("first") | F.col("text").rlike(_BRACKET_START)
    numbered = texts.withColumn("record", F.sum(F.when(begins, 1).otherwise(0)).over(in_file))
    ordered = F.sort_array(F.collect_list(F.struct("block", "position", "text")))
    joined = (
        numbered.filter(F.trim("text") != "")
        .groupBy("file", "record")
        .agg(_trimmed(F.array_join(F.transform(ordered, lambda piece: piece["text"]), "\n")).alias("text"))
    )
    timed = F.col("text").rlike(_BRACKET_START)
    return joined.select(
        "file",
        F.when(timed, F.substring("text", 2, 23)).alias("time"),
        F.when(timed, F.substring(F.col("text"), F.lit(27), F.length("text")))
        .otherwise(F.col("text"))
        .alias("raw"),
    )


def _trimmed(text: Column) -> Column:
    """Without the line ends after the record, LF or CR LF."""
    return F.rtrim(text, F.lit("\r\n"))
