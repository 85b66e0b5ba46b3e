"""How often does each record occur in logs whose layout is not Kafka's own?

The layout's reader of the core takes the lines in Python workers, which add up equal texts before anything is sent
on. A record may go over the border of two splits of a file: what is at such a border is sent on as it
is, put together for each file, and read then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.notation import LONGEST_RECORD, Layout, LogRecord, LogTime, Parting, layout_of
from aclweb.pipeline import schemas
from aclweb.pipeline.contents import is_compressed
from aclweb.pipeline.files import address
from aclweb.pipeline.readings import Reading

Keep = Callable[[DataFrame], DataFrame]
"""Persists a frame for the length of a job."""

REPLACED = "\ufffd"

_HEAD, _TAIL = 0, 1
# What is at the border of a split, beside the counts: its text in `raw`, where `piece` is not null.
_SCHEMA = f"{schemas.COUNTS}, block long, piece int"
# Equal texts are added up until a worker has so many different ones, or so many characters of them.
_MOST_TEXTS = 100_000
_MOST_CHARACTERS = 64 << 20
_HOUR, _MINUTE = 3_600_000_000, 60_000_000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - counts show times without a zone


def counts_in_layout(
    spark: SparkSession, files: Sequence[str], reading: Reading, keep: Keep, *, tolerant: bool
) -> DataFrame:
    """Return how often each record is in each file (schemas.COUNTS).

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
        F.substring(F.make_valid_utf8("value"), 1, LONGEST_RECORD).alias("value"),
        (~F.is_valid_utf8("value")).alias("not_utf8"),
    )
    schema = StructType.fromDDL(_SCHEMA)
    found = lines.mapInArrow(partial(_counted_batches, reading, to_arrow_schema(schema)), schema)
    counts = StructType.fromDDL(schemas.COUNTS)
    if not any(_may_be_split(spark, file) for file in files):
        return found.select(*counts.names)
    found = keep(found)
    border = counts_of_texts(_joined(found.filter(F.col("piece").isNotNull())), reading)
    return found.filter(F.col("piece").isNull()).select(*counts.names).unionByName(border)


def counts_of_texts(texts: DataFrame, reading: Reading) -> DataFrame:
    """Return how often each record is in texts (file, text, not_utf8), each of which begins and ends with a record."""
    counts = StructType.fromDDL(schemas.COUNTS)
    return texts.mapInArrow(partial(_text_batches, reading, to_arrow_schema(counts)), counts)


def _may_be_split(spark: SparkSession, file: str) -> bool:
    """Whether Spark may read a file in several parts."""
    if is_compressed(file):
        return file.endswith(".bz2")
    if "://" in file:
        return True
    sizes = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
    smallest = min(int(str(spark.conf.get(name)).removesuffix("b") or 0) for name in sizes)
    return not os.path.exists(file) or os.path.getsize(file) > smallest


def _joined(pieces: DataFrame) -> DataFrame:
    """Return file, text and not_utf8 of what is around each border: from the start of a record to the next one."""
    in_file = Window.partitionBy("file").orderBy("block", "piece")
    numbered = pieces.withColumn("run", F.sum("piece").over(in_file))
    ordered = F.sort_array(F.collect_list(F.struct("block", "piece", "raw")))
    return numbered.groupBy("file", "run").agg(
        F.array_join(F.transform(ordered, lambda piece: piece["raw"]), "\n").alias("text"),
        F.max("not_utf8").alias("not_utf8"),
    )


def _counted_batches(
    reading: Reading, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    layout = layout_of(reading.layout)
    counted = _Counted(reading.zone, schema)
    split: _Split | None = None
    for batch in batches:
        for file, block, is_last, line, is_bad in zip(*(c.to_pylist() for c in batch.columns), strict=True):
            if split is None or (file, block) != (split.file, split.block):
                if split is not None:
                    split.end(counted)
                split = _Split(layout, file, block, is_last)
            split.add(line, is_bad, counted)
        if counted.is_full:
            yield counted.taken()
    if split is not None:
        split.end(counted)
    yield counted.taken()


def _text_batches(
    reading: Reading, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    layout = layout_of(reading.layout)
    counted = _Counted(reading.zone, schema)
    for batch in batches:
        for row in batch.to_pylist():
            for record in layout.read(row["text"].split("\n")):
                counted.add(row["file"], record, row["not_utf8"])
        yield counted.taken()


class _Split:
    """One split of a file, line by line. is_last: it ends with the file."""

    def __init__(self, layout: Layout, file: str, block: int, is_last: bool) -> None:
        self.file, self.block = file, block
        self._layout = layout
        self._is_last = is_last
        self._parting = Parting(layout)
        self._is_head = block > 0
        self._has_bad = False

    def add(self, line: str, is_bad: bool, counted: _Counted) -> None:
        run = self._parting.add(line)
        if run is not None:
            self._take(run, counted, _HEAD if self._is_head else None)
            self._is_head = False
        self._has_bad = self._has_bad or is_bad

    def end(self, counted: _Counted) -> None:
        piece = _HEAD if self._is_head else None if self._is_last else _TAIL
        self._take(self._parting.run, counted, piece)

    def _take(self, run: list[str], counted: _Counted, piece: int | None) -> None:
        if piece is not None:
            counted.add_piece(self.file, self.block, piece, "\n".join(run), self._has_bad)
        else:
            for record in self._layout.read_run(run):
                counted.add(self.file, record, self._has_bad)
        self._has_bad = False


class _Counted:
    """Rows of counts that a worker adds up."""

    def __init__(self, zone: str | None, schema: pa.Schema) -> None:
        self._zone = zone
        self._schema = schema
        self._found: dict[tuple[Any, ...], list[int]] = {}
        self._pieces: list[dict[str, Any]] = []
        self._characters = 0

    @property
    def is_full(self) -> bool:
        return len(self._found) > _MOST_TEXTS or self._characters > _MOST_CHARACTERS

    def add(self, file: str, record: LogRecord, has_bad: bool) -> None:
        not_utf8 = has_bad and REPLACED in record.text
        day, hour, micros = (None, 0, None) if record.time is None else _placed(record.time, self._zone)
        key = (file, day, record.text, record.time is not None, not_utf8)
        known = self._found.get(key)
        if known is None:
            self._characters += len(record.text)
            hours = 0 if micros is None else 1 << hour
            self._found[key] = [1, micros, micros, hours]  # type: ignore[list-item]
            return
        known[0] += 1
        if micros is not None:
            known[1] = min(known[1], micros)
            known[2] = max(known[2], micros)
            known[3] |= 1 << hour

    def add_piece(self, file: str, block: int, piece: int, text: str, not_utf8: bool) -> None:
        self._characters += len(text)
        self._pieces.append(
            {"file": file, "raw": text, "timed": False, "lines": 0, "hours": 0, "not_utf8": not_utf8}
            | {"block": block, "piece": piece}
        )

    def taken(self) -> pa.RecordBatch:
        """Return the rows so far, and forget them."""
        rows = [
            {"file": file, "day": day, "raw": raw, "timed": timed, "lines": lines, "first_at": first}
            | {"last_at": last, "hours": hours, "not_utf8": not_utf8}
            for (file, day, raw, timed, not_utf8), (lines, first, last, hours) in self._found.items()
        ]
        rows += self._pieces
        self._found, self._pieces, self._characters = {}, [], 0
        return pa.RecordBatch.from_pylist(rows, schema=self._schema)


def _placed(time: LogTime, zone: str | None) -> tuple[str | None, int, int | None]:
    """Return day, hour and microseconds since 1970 of a time, which counts as one of `zone` if it names none."""
    micros = time.micros
    if micros is None:
        return None, 0, None
    if zone is not None and not time.is_utc:
        micros -= _offset(zone, micros // _MINUTE)
    day, hour = _day_and_hour(micros // _HOUR)
    return day, hour, None if day is None else micros


@lru_cache(maxsize=4096)
def _offset(zone: str, minute: int) -> int:
    """Return how many microseconds a clock of the zone is ahead of UTC.

    Of a minute that it shows twice, the first counts.
    """
    try:
        found = (_EPOCH + timedelta(minutes=minute)).replace(tzinfo=ZoneInfo(zone)).utcoffset()
    except OverflowError:
        found = None
    return 0 if found is None else found // timedelta(microseconds=1)


@lru_cache(maxsize=4096)
def _day_and_hour(hours: int) -> tuple[str | None, int]:
    try:
        at = _EPOCH + timedelta(hours=hours)
    except OverflowError:
        return None, 0
    return at.date().isoformat(), at.hour
