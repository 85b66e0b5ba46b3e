"""What do the records of logs say, whatever their layout?

Python workers read the files of this machine themselves, and take the lines of others as Spark reads them
(`aclweb.pipeline.worker_lines`). A record may go over the border of two splits of a file: what is at such a border
comes back as it is, is put together for each file, and read then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import attrgetter

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.notation import LONGEST_RECORD
from aclweb.pipeline import schemas
from aclweb.pipeline.file_ranges import Range, shared_out, sizes_of
from aclweb.pipeline.files import address
from aclweb.pipeline.readings import Reading
from aclweb.pipeline.record_lines import BrokerOf
from aclweb.pipeline.worker_lines import Worker

Keep = Callable[[DataFrame], DataFrame]
"""Persists a frame for the length of a job."""

# Beside what records say, what is at the border of a split.
_BORDER = "border struct<file: string, block: long, piece: int, text: string, not_utf8: boolean>"
_PARTED = ".bz2"
_OPEN_COST, _MOST_BYTES = "spark.sql.files.openCostInBytes", "spark.sql.files.maxPartitionBytes"
# Another of Python's workers takes so many times as long to start as Spark counts for opening a file.
_OPENED_IN_A_START = 8


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
    # Of bz2, Spark gives parts of one file to several workers.
    others = [file for file in files if "://" in file or file.endswith(_PARTED)]
    opened = sorted({*files} - {*others})
    told = partial(_told, reading=reading, broker_of=broker_of, keep=keep)
    found = []
    if opened:
        shares = _shares(spark, opened)
        is_split = not all(wanted.is_whole for share in shares for wanted in share)
        numbers = spark.range(0, len(shares), 1, len(shares))
        found.append(told(numbers, partial(_Reader, shares, tolerant), is_split=is_split))
    if others:
        lines = _lines_by_spark(spark, others, tolerant=tolerant)
        found.append(told(lines, attrgetter("of_splits"), is_split=True))
    return reduce(DataFrame.unionByName, found)


@dataclass(frozen=True)
class _Reader:
    """Reads what is a worker's share of files; the share's number is all that Spark gives it."""

    shares: Sequence[Sequence[Range]]
    tolerant: bool
    worker: Worker

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = (number for batch in batches for number in batch.column(0).to_pylist())
        ranges = (wanted for number in numbers for wanted in self.shares[number])
        return self.worker.of_ranges(ranges, tolerant=self.tolerant)


def _told(
    lines: DataFrame,
    work: Callable[[Worker], Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]],
    *,
    reading: Reading,
    broker_of: BrokerOf | None,
    keep: Keep,
    is_split: bool,
) -> DataFrame:
    """Return what the records of lines say (schemas.LINES), kept.

    work: what a worker does with the lines. is_split: a record may go on in another part.
    """
    wanted = StructType.fromDDL(f"{schemas.LINES}, {_BORDER}" if is_split else schemas.LINES)
    found = keep(lines.mapInArrow(work(Worker(reading, broker_of, to_arrow_schema(wanted))), wanted))
    if not is_split:
        return found
    borders = _joined(found.filter(F.col("border").isNotNull()).select("border.*"))
    border = keep(lines_of_texts(borders, reading, broker_of))
    return found.filter(F.col("border").isNull()).drop("border").unionByName(border)


def _lines_by_spark(spark: SparkSession, files: Sequence[str], *, tolerant: bool) -> DataFrame:
    """Return the lines of files that are elsewhere, or bz2: file, block, is_last and value."""
    read = spark.read.option("ignoreCorruptFiles", tolerant).option("ignoreMissingFiles", tolerant)
    return read.text([address(file) for file in files], lineSep="\n").select(
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        (
            F.col("_metadata.file_block_start") + F.col("_metadata.file_block_length")
            >= F.col("_metadata.file_size")
        ).alias("is_last"),
        _at_most(LONGEST_RECORD, F.col("value")).alias("value"),
    )


def _shares(spark: SparkSession, files: Sequence[str]) -> list[list[Range]]:
    """Return what each of as many workers reads as Spark would have."""
    return shared_out(
        sizes_of(files),
        least=_OPENED_IN_A_START * _bytes_of(spark, _OPEN_COST),
        most=_bytes_of(spark, _MOST_BYTES),
        workers=spark.sparkContext.defaultParallelism,
    )


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
