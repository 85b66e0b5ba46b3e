"""What do the records of logs say, whatever their layout?

Python workers take the lines as Spark reads them (`aclweb.pipeline.worker_lines`). A record may go over the border of
two splits of a file: what is at such a border comes back as it is, is put together for each file, and read then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.notation import LONGEST_RECORD
from aclweb.pipeline import schemas
from aclweb.pipeline.contents import is_compressed
from aclweb.pipeline.files import address
from aclweb.pipeline.readings import Reading
from aclweb.pipeline.record_lines import BrokerOf
from aclweb.pipeline.session import runs_here
from aclweb.pipeline.worker_lines import Worker

Keep = Callable[[DataFrame], DataFrame]
"""Persists a frame for the length of a job."""

# Beside what records say, what is at the border of a split.
_BORDER = "border struct<file: string, block: long, piece: int, text: string, not_utf8: boolean>"
_SPLITTING = ("spark.sql.files.minPartitionNum", "spark.sql.leafNodeDefaultParallelism")
_OPEN_COST, _MOST_BYTES = "spark.sql.files.openCostInBytes", "spark.sql.files.maxPartitionBytes"


def lines_of_files(
    spark: SparkSession,
    files: Sequence[str],
    reading: Reading,
    keep: Keep,
    *,
    broker_of: BrokerOf | None,
    tolerant: bool,
) -> DataFrame:
    """Return what the records of log files say (schemas.LINES), all of it kept.

    tolerant: a file that ends too early, or is gone meanwhile, gives what could be read of it.
    """
    read = spark.read.option("ignoreCorruptFiles", tolerant).option("ignoreMissingFiles", tolerant)
    lines = read.text([address(file) for file in files], lineSep="\n").select(
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        (
            F.col("_metadata.file_block_start") + F.col("_metadata.file_block_length")
            >= F.col("_metadata.file_size")
        ).alias("is_last"),
        _at_most(LONGEST_RECORD, F.col("value")).alias("value"),
    )
    wanted = StructType.fromDDL(schemas.LINES)
    if not _may_be_split(spark, files):
        worker = Worker(reading, broker_of, to_arrow_schema(wanted))
        return keep(lines.mapInArrow(worker.of_splits, wanted))
    schema = StructType.fromDDL(f"{schemas.LINES}, {_BORDER}")
    worker = Worker(reading, broker_of, to_arrow_schema(schema))
    found = keep(lines.mapInArrow(worker.of_splits, schema))
    borders = _joined(found.filter(F.col("border").isNotNull()).select("border.*"))
    border = keep(lines_of_texts(borders, reading, broker_of))
    return found.filter(F.col("border").isNull()).drop("border").unionByName(border)


def lines_of_texts(texts: DataFrame, reading: Reading, broker_of: BrokerOf | None) -> DataFrame:
    """Return what records say (schemas.LINES); texts: file, text and not_utf8, each begins and ends with a record."""
    lines = StructType.fromDDL(schemas.LINES)
    return texts.mapInArrow(Worker(reading, broker_of, to_arrow_schema(lines)).of_texts, lines)


def lines_of_messages(messages: DataFrame, reading: Reading, broker_of: BrokerOf | None) -> DataFrame:
    """Return what messages say (schemas.LINES); messages: file and value, bytes, each of which is one record."""
    lines = StructType.fromDDL(schemas.LINES)
    told = messages.select("file", "value")
    return told.mapInArrow(Worker(reading, broker_of, to_arrow_schema(lines)).of_messages, lines)


def _at_most(characters: int, text: Column) -> Column:
    """Return the beginning of a text; whether it is longer, its bytes tell in nearly all cases."""
    # Spark cuts a text whose last character lacks a byte behind its end.
    cut = F.substring(F.make_valid_utf8(text), 1, characters)
    return F.when(F.octet_length(text) > characters, cut).otherwise(text)


def _may_be_split(spark: SparkSession, files: Sequence[str]) -> bool:
    """Whether Spark may read one of the files in several parts, even if it grows by half until it is read."""
    if any("://" in file or file.endswith(".bz2") or not os.path.exists(file) for file in files):
        return True
    sizes = {file: os.path.getsize(file) for file in files}
    largest = 3 * max((size for file, size in sizes.items() if not is_compressed(file)), default=0) // 2
    most, open_cost = (_bytes_of(spark, name) for name in (_MOST_BYTES, _OPEN_COST))
    if not runs_here(spark) or any(spark.conf.get(name, None) for name in _SPLITTING):
        return largest > min(most, open_cost)
    # As Spark has it: a core gets its share of all bytes, each file taken for so much larger.
    share = sum(size + open_cost for size in sizes.values()) // spark.sparkContext.defaultParallelism
    return bool(largest > min(most, max(open_cost, share)))


def _bytes_of(spark: SparkSession, name: str) -> int:
    text = str(spark.conf.get(name)).lower().removesuffix("b")
    digits = text.rstrip("kmgt")
    return int(digits or 0) << 10 * ("kmgt".find(text[len(digits) :]) + 1 if digits != text else 0)


def _joined(pieces: DataFrame) -> DataFrame:
    """Return file, text and not_utf8 of what is around each border: from the start of a record to the next one."""
    in_file = Window.partitionBy("file").orderBy("block", "piece")
    numbered = pieces.withColumn("run", F.sum("piece").over(in_file))
    ordered = F.sort_array(F.collect_list(F.struct("block", "piece", "text")))
    return numbered.groupBy("file", "run").agg(
        F.array_join(F.transform(ordered, lambda piece: piece["text"]), "\n").alias("text"),
        F.max("not_utf8").alias("not_utf8"),
    )
