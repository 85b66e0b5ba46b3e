"""How often does each record occur in the logs?

Most lines of a log repeat a decision that was made before, so whole records are counted by
their text behind the time before anything is parsed. Files may be compressed, and have any layout: those of
Kafka's own are counted here, others in `aclweb.pipeline.layout_counts`. A
record may span lines: it ends as `aclweb.acl.notation.authorizer_log.records` has it, which is asked itself
wherever a record is more than one line. (One thing is not seen: a last line that is a bracket and
no line end, the first byte of a record that is being written.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from aclweb.acl.notation import KAFKA, LONGEST_RECORD, SOME_TIME, records
from aclweb.pipeline.failures import SPARK_ERRORS, JobError
from aclweb.pipeline.files import FileState, address, examine, look
from aclweb.pipeline.layout_counts import REPLACED, Keep, counts_in_layout, counts_of_texts
from aclweb.pipeline.readings import Reading

# A new record starts with a bracket at the start of a line. Cutting there, and not at every
# line, lets Spark keep most records that span lines in one piece.
_BREAK = "\n["
_TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3}"
_START = rf"^{_TIME}\] [A-Z]+ "
_BRACKET_START = rf"^\[{_TIME}\] [A-Z]+ "
# What a piece between two breaks is: a record without its bracket, with it, or something else.
_WHOLE, _BRACKETED, _TORN = 0, 1, 2
# Time and level take fewer bytes, in every log but a made-up one.
_HEAD = 48
# Nothing that a database or Python can hold is older.
_FIRST_TIME = "0001-01-01 00:00:00"
_ATTEMPTS = 3


@dataclass(frozen=True)
class RecordCounts:
    """counts: schemas.COUNTS. states: of every file that was asked for, by its path."""

    counts: DataFrame
    states: Mapping[str, FileState]


def read_counts(
    spark: SparkSession,
    files: Sequence[str],
    keep: Keep,
    *,
    readings: Mapping[str, Reading] | None = None,
    zone: str | None = None,
) -> RecordCounts:
    """Return how often each record is in each file, and how far each file could be read.

    The files are read once, and a second time only those with a line that starts with a bracket
    and is no record. A row may come in parts: add up `lines`. keep: persists a frame for the
    length of the job. readings: how to read a file; one that has none is read in Kafka's own layout with `zone`.
    Times of a zone become UTC; without one they are as they are written. Of an hour that a clock shows twice, the first
    is taken.

    Raises JobError where no file can be read, and what Spark raises where it fails for another reason.
    """
    readings = {file: (readings or {}).get(file, Reading(KAFKA, zone)) for file in files}
    states = {file: look(file) for file in files}
    for attempt in range(_ATTEMPTS):
        readable = [file for file in files if states[file].is_readable]
        if not readable:
            raise JobError(nothing_read(states))
        try:
            counts = [
                _counts_of(spark, group, reading, keep, tolerant=attempt > 0)
                for reading, group in _by_reading(readable, readings).items()
            ]
            return RecordCounts(reduce(DataFrame.unionByName, counts), states)
        except SPARK_ERRORS:
            found = examine(spark, readable)
            if attempt == _ATTEMPTS - 1 or all(states[file] == state for file, state in found.items()):
                raise
            states |= found
    raise AssertionError


def counts_of_messages(messages: DataFrame, reading: Reading) -> DataFrame:
    """Return how often each record is in messages (file, value), each of which is one record (schemas.COUNTS).

    value: bytes. reading: as for `read_counts`.
    """
    texts = messages.select(
        "file",
        F.substring(F.make_valid_utf8(F.col("value").cast("string")), 1, LONGEST_RECORD).alias("text"),
        (~F.is_valid_utf8(F.col("value").cast("string"))).alias("not_utf8"),
    )
    if reading.layout != KAFKA:
        return counts_of_texts(texts, reading)
    is_record = F.col("text").rlike(_BRACKET_START)
    found = texts.select(
        "file",
        "not_utf8",
        F.lit(None).cast("long").alias("position"),
        F.when(is_record, F.substring("text", 2, 23)).alias("time"),
        _trimmed(F.when(is_record, F.expr("substring(text, 27)")).otherwise(F.col("text"))).alias("raw"),
    )
    return _as_the_core_ends_them(_counted(found, reading.zone).select(*_COUNTED))


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


def _counts_of(
    spark: SparkSession, files: Sequence[str], reading: Reading, keep: Keep, *, tolerant: bool
) -> DataFrame:
    if reading.layout == KAFKA:
        return _counts(spark, files, keep, reading.zone, tolerant=tolerant)
    return keep(counts_in_layout(spark, files, reading, keep, tolerant=tolerant))


def _counts(
    spark: SparkSession, files: Sequence[str], keep: Keep, zone: str | None, *, tolerant: bool
) -> DataFrame:
    pieces = _pieces(spark, files, tolerant=tolerant)
    timed = F.col("shape") != _TORN
    counts = keep(
        _counted(
            pieces.select(
                "file",
                "shape",
                "not_utf8",
                F.when(F.col("block") == 0, F.col("position")).alias("position"),
                F.when(timed, _bytes("value", F.col("shape") + 1, F.lit(23))).alias("time"),
                F.when(timed, _bytes("value", F.col("shape") + 26, F.octet_length("value")))
                .otherwise(F.lit(""))
                .alias("raw"),
            ).withColumn("raw", _trimmed(F.col("raw"))),
            zone,
            "shape",
        )
    )
    # Where every piece starts a record, and only the first still has its bracket, the pieces are the records.
    shapes = counts.groupBy("file").agg(
        F.sum(F.when(F.col("shape") == _TORN, F.col("lines")).otherwise(0)).alias("torn"),
        F.sum(F.when(F.col("shape") == _BRACKETED, F.col("lines")).otherwise(0)).alias("bracketed"),
        F.min_by("shape", "position").alias("first"),
        F.max(F.col("raw").contains("\n")).alias("spans_lines"),
    )
    found = shapes.collect()
    torn = [row.file for row in found if row.torn or row.bracketed != 1 or row["first"] != _BRACKETED]
    whole = counts.filter(~F.col("file").isin(torn)) if torn else counts
    whole = whole.select(*_COUNTED)
    if any(row.spans_lines for row in found):
        whole = _as_the_core_ends_them(whole)
    if torn:
        rejoined = rejoin(pieces.filter(F.col("file").isin(torn)))
        whole = whole.unionByName(keep(_as_the_core_ends_them(_counted(rejoined, zone).select(*_COUNTED))))
    return whole


def _pieces(spark: SparkSession, files: Sequence[str], *, tolerant: bool) -> DataFrame:
    """tolerant: a file that ends too early, or is gone meanwhile, gives what could be read of it."""
    read = spark.read.option("ignoreCorruptFiles", tolerant).option("ignoreMissingFiles", tolerant)
    found = read.text([address(file) for file in files], lineSep=_BREAK).select(
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("position"),
        # First of all: Spark cuts a text whose last character lacks a byte behind its end.
        _at_most(LONGEST_RECORD, F.make_valid_utf8("value")).alias("value"),
        (~F.is_valid_utf8("value")).alias("not_utf8"),
    )
    # A regular expression makes a text of Java's of all that it is given, so it is given the beginning first.
    head = _bytes("value", F.lit(1), F.lit(_HEAD))
    is_longer = F.octet_length("value") > _HEAD
    return found.withColumn(
        "shape",
        F.when(head.rlike(_START), _WHOLE)
        .when(head.rlike(_BRACKET_START), _BRACKETED)
        .when(is_longer & F.col("value").rlike(_START), _WHOLE)
        .when(is_longer & F.col("value").rlike(_BRACKET_START), _BRACKETED)
        .otherwise(_TORN),
    )


def _bytes(name: str, start: Column, count: Column) -> Column:
    """Return so many bytes of a text from a place on; counting its characters takes several times as long."""
    return F.substring(F.col(name).cast("binary"), start, count).cast("string")


def _at_most(characters: int, text: Column) -> Column:
    """Return the beginning of a text; whether it is longer, its bytes tell in nearly all cases."""
    return F.when(F.octet_length(text) > characters, F.substring(text, 1, characters)).otherwise(text)


_COUNTED = ("file", "day", "raw", "timed", "lines", "first_at", "last_at", "hours", "not_utf8")


def _counted(found: DataFrame, zone: str | None, *key: str) -> DataFrame:
    """Return the rows of schemas.COUNTS with the columns of `key` and `position`.

    found: file, the columns of `key`, not_utf8, position (of pieces that may be the first of their file), time (as
    written, null for a record without one) and raw. Times are numbers here, so that Spark counts in
    hash tables; sorting whole texts takes five times as long.
    """
    at = F.overlay("time", F.lit("."), F.lit(20)).try_cast("timestamp_ntz")
    at = F.when(at >= F.lit(_FIRST_TIME).cast("timestamp_ntz"), at)
    if zone is not None:
        at = F.to_utc_timestamp(at.cast("timestamp"), zone).cast("timestamp_ntz")
    timed = found.select(
        *key, "file", "position", "raw", "not_utf8", F.col("time").isNotNull().alias("timed"), at.alias("at")
    )
    counted = timed.groupBy(
        "file", *key, "timed", "not_utf8", F.col("at").cast("date").alias("date"), "raw"
    ).agg(
        F.count("*").alias("lines"),
        F.min("at").alias("first_at"),
        F.max("at").alias("last_at"),
        F.expr("coalesce(bit_or(shiftleft(1, hour(at))), 0)").alias("hours"),
        F.min("position").alias("position"),
    )
    return counted.withColumn("day", F.col("date").cast("string")).drop("date")


def rejoin(pieces: DataFrame) -> DataFrame:
    """Return the records (file, not_utf8, position, time, raw) of files in which some piece is no record of its own.

    pieces: file, block and position (which put them in order), value, not_utf8 and shape. What stands behind
    the end of a record is still part of its text.
    """
    in_file = Window.partitionBy("file").orderBy("block", "position")
    is_first = F.row_number().over(in_file) == 1
    # Only the first piece of a file still has its bracket, if it starts a record.
    begins = F.when(is_first, F.col("shape") == _BRACKETED).otherwise(F.col("shape") == _WHOLE)
    marked = pieces.withColumn("begins", begins).withColumn("is_first", is_first)
    numbered = marked.select(
        "file",
        "block",
        "position",
        "begins",
        "not_utf8",
        F.when(F.col("is_first") & F.col("begins"), F.expr("substring(value, 2)"))
        .when(F.col("is_first") | F.col("begins"), F.col("value"))
        .otherwise(F.concat(F.lit("["), "value"))
        .alias("text"),
        F.sum(F.when(F.col("begins"), 1).otherwise(0)).over(in_file).alias("record"),
    )
    ordered = F.sort_array(F.collect_list(F.struct("block", "position", "text")))
    joined = numbered.groupBy("file", "record").agg(
        F.array_join(F.transform(ordered, lambda piece: piece["text"]), "\n").alias("text"),
        F.max("not_utf8").alias("not_utf8"),
    )
    timed = F.col("record") > 0
    return joined.select(
        "file",
        "not_utf8",
        F.lit(None).cast("long").alias("position"),
        F.when(timed, F.substring("text", 1, 23)).alias("time"),
        F.when(timed, _trimmed(F.expr("substring(text, 26)"))).otherwise(F.col("text")).alias("raw"),
    )


def _as_the_core_ends_them(counts: DataFrame) -> DataFrame:
    """Return the counts with each text that spans lines parted as the core parts it.

    counts: the columns of _COUNTED. What follows the end of a record has no time.
    """
    needed = F.col("raw").contains("\n") | ~F.col("timed")
    schema = counts.schema
    parted = counts.filter(needed).mapInArrow(partial(_parted_batches, to_arrow_schema(schema)), schema)
    return counts.filter(~needed).unionByName(parted)


def _parted_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    untimed = {"timed": False, "day": None, "first_at": None, "last_at": None, "hours": 0}
    for batch in batches:
        rows = []
        for row in batch.to_pylist():
            for text, timed in parts_of(row["raw"], timed=row["timed"]):
                # A part without the sign of a replaced byte has none.
                facts = {"raw": text, "not_utf8": row["not_utf8"] and REPLACED in text}
                rows.append(row | facts | ({} if timed else untimed))
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def parts_of(raw: str, *, timed: bool) -> list[tuple[str, bool]]:
    """Return the records in a text that begins one if `timed`, each behind its time and whether it has one."""
    start = SOME_TIME if timed else ""
    found = list(records((start + raw).split("\n")))
    return [
        (record[len(start) :], timed) if place == 0 else (record, False) for place, record in enumerate(found)
    ]


def _trimmed(text: Column) -> Column:
    """Without the line ends after the record, LF or CR LF."""
    # Trimming takes far longer than looking whether there is something to trim.
    ends_so = text.endswith("\n") | text.endswith("\r")
    return F.when(ends_so, F.rtrim(text, F.lit("\r\n"))).otherwise(text)
