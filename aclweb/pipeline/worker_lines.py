"""What does a Python worker make of the lines of logs?

Those of Kafka's own layout are read many at once (`aclweb.pipeline.kafka_lines`), others by the core, line by line;
equal texts are added up before anything is sent on (`aclweb.pipeline.record_lines`). A record ends as
`aclweb.acl.notation.authorizer_log.records` has it. What may go on in another split of a file is sent on as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aclweb.acl.notation import KAFKA, LONGEST_RECORD, LogTime, Parting, kafka_records, layout_of
from aclweb.pipeline import kafka_lines
from aclweb.pipeline.file_ranges import Range, lines_in
from aclweb.pipeline.kafka_lines import KafkaLines
from aclweb.pipeline.readings import Reading
from aclweb.pipeline.record_lines import BrokerOf, Tally
from aclweb.pipeline.sums import Numbers, Truths

REPLACED = "\ufffd"
LINE_FEED = b"\n"

HEAD, TAIL = 0, 1
"""Pieces at the border of a split: what may belong to the split before, and what may go on in the next one."""

_HOUR, _MINUTE, _DAY = 3_600_000_000, 60_000_000, 86_400_000_000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - counts show times without a zone
_NO_PLACE: tuple[None, int, None] = (None, 0, None)
# The days since 1970 that Python's dates have.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896


@dataclass(frozen=True)
class Worker:
    """What a Python worker does with the lines of one layout; it travels to the executors."""

    reading: Reading
    broker_of: BrokerOf | None
    schema: pa.Schema

    def of_splits(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """batches: file, block, is_last and value, the lines of each split in order."""
        told = _Told(self)
        split: _Split | None = None
        for batch in batches:
            files, blocks, are_last, values = batch.columns
            for start, end in _runs_of(files, blocks):
                file, block = files[start].as_py(), blocks[start].as_py()
                if split is None or (file, block) != (split.file, split.block):
                    if split is not None:
                        split.end(told)
                    split = _Split(self.reading, file, block, is_last=are_last[start].as_py())
                split.add(values.slice(start, end - start), told)
            yield from told.taken_if_full()
        if split is not None:
            split.end(told)
        yield from told.taken()

    def of_ranges(self, ranges: Iterable[Range], *, tolerant: bool) -> Iterator[pa.RecordBatch]:
        """tolerant: as `lines_in` has it."""
        told = _Told(self)
        for wanted in ranges:
            split = _Split(self.reading, wanted.file, wanted.start, is_last=wanted.is_last)
            for lines in lines_in(wanted, tolerant=tolerant):
                split.add(lines, told)
                yield from told.taken_if_full()
            split.end(told)
        yield from told.taken()

    def of_texts(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """batches: file, text and not_utf8; each text begins and ends with a record."""
        told = _Told(self)
        layout = layout_of(self.reading.layout)
        for batch in batches:
            for row in batch.to_pylist():
                for run in layout.runs(row["text"].split("\n")):
                    told.add_run(row["file"], run, row["not_utf8"])
            yield from told.taken_if_full()
        yield from told.taken()

    def of_messages(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """batches: file and value; each value is one record."""
        told = _Told(self)
        layout = layout_of(self.reading.layout)
        for batch in batches:
            files, values = batch.columns
            is_whole = np.zeros(len(values), np.bool_)
            if self.reading.layout == KAFKA:
                lines = kafka_lines.read(values)
                is_whole = lines.is_whole & ~kafka_lines.spans_lines(values)
                told.add_lines(files, lines, is_whole)
            rest = pa.array(~is_whole)
            for file, value in zip(
                files.filter(rest).to_pylist(), values.filter(rest).to_pylist(), strict=True
            ):
                text = value.decode("utf-8", "replace")[:LONGEST_RECORD]
                has_bad = REPLACED in text and not kafka_lines.is_utf8(value)
                for run in layout.runs(text.split("\n")):
                    told.add_run(file, run, has_bad)
            yield from told.taken_if_full()
        yield from told.taken()


def _runs_of(files: pa.Array, blocks: pa.Array) -> Iterator[tuple[int, int]]:
    """Yield from where to where rows are of one file and block."""
    names = np.asarray(files.dictionary_encode().indices)
    places = blocks.to_numpy(zero_copy_only=False)
    changes = np.flatnonzero((names[1:] != names[:-1]) | (places[1:] != places[:-1])) + 1
    ends = [*changes.tolist(), len(names)] if len(names) else []
    yield from zip([0, *ends], ends, strict=False)


class _Told:
    """What a worker has to send on: what the records say, and what is at the borders of splits."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._zone = worker.reading.zone
        self._read = (
            kafka_records if worker.reading.layout == KAFKA else layout_of(worker.reading.layout).read_run
        )
        self._borders: list[dict[str, object]] = []
        self._new()

    def _new(self) -> None:
        self._tally = Tally(self._worker.schema, self._worker.broker_of)

    def add_lines(self, files: pa.Array | str, lines: KafkaLines, chosen: Truths) -> None:
        """Count lines of Kafka's own layout that are whole records. files: of each line, or of all."""
        if not chosen.any():
            return
        micros = lines.micros[chosen]
        if self._zone is not None:
            micros = _in_utc(micros, self._zone)
            chosen, micros = self._without_impossible(files, lines, chosen, micros)
        self._tally.add_columns(self._numbers_of(files, chosen), micros, lines.texts(chosen))

    def _without_impossible(
        self, files: pa.Array | str, lines: KafkaLines, chosen: Truths, micros: Numbers
    ) -> tuple[Truths, Numbers]:
        """Count lines whose time has no day in UTC, and return what is left."""
        days = micros // _DAY
        is_possible = (days >= _FIRST_DAY) & (days <= _LAST_DAY)
        if is_possible.all():
            return chosen, micros
        for place in np.flatnonzero(chosen)[~is_possible].tolist():
            file = files if isinstance(files, str) else files[place].as_py()
            line = lines.lines[place].as_py().removesuffix(LINE_FEED).decode("utf-8")
            self.add_run(file, [line], has_bad=False)
        left = chosen.copy()
        left[np.flatnonzero(chosen)[~is_possible]] = False
        return left, micros[is_possible]

    def _numbers_of(self, files: pa.Array | str, chosen: Truths) -> Numbers:
        if isinstance(files, str):
            return np.full(int(chosen.sum()), self._tally.number_of_file(files), np.int64)
        encoded = files.dictionary_encode()
        known = np.array(
            [self._tally.number_of_file(file) for file in encoded.dictionary.to_pylist()], np.int64
        )
        numbers: Numbers = known[np.asarray(encoded.indices)[chosen]]
        return numbers

    def add_run(self, file: str, run: Sequence[str], has_bad: bool) -> None:
        """Count the records of lines that start with one. has_bad: some byte of them was no UTF-8."""
        for record in self._read(run):
            timed = record.time is not None
            at = _NO_PLACE if record.time is None else placed(record.time, self._zone)
            # A part without the sign of a replaced byte has none.
            not_utf8 = has_bad and REPLACED in record.text
            self._tally.add(file, record.text, timed=timed, at=at, not_utf8=not_utf8)

    def add_border(self, file: str, block: int, piece: int, run: Sequence[str], has_bad: bool) -> None:
        """Keep lines that may go on in another split; raises RuntimeError where nobody would put them together."""
        if "border" not in self._worker.schema.names:
            raise RuntimeError(
                f"{file} goes on in a part that was not asked for, so its records cannot be read whole."
            )
        border = {"file": file, "block": block, "piece": piece, "text": "\n".join(run), "not_utf8": has_bad}
        self._borders.append({"border": border})

    def taken_if_full(self) -> Iterator[pa.RecordBatch]:
        """Yield what there is once it is much."""
        if self._tally.is_full:
            yield from self._tally.taken()
            self._new()

    def taken(self) -> Iterator[pa.RecordBatch]:
        """Yield all that there is."""
        yield from self._tally.taken()
        if self._borders:
            yield pa.RecordBatch.from_pylist(self._borders, schema=self._worker.schema)


class _Split:
    """One split of a file, some lines at a time. is_last: it ends with the file."""

    def __init__(self, reading: Reading, file: str, block: int, *, is_last: bool) -> None:
        self.file, self.block = file, block
        self._is_kafka = reading.layout == KAFKA
        self._is_last = is_last
        self._layout = layout_of(reading.layout)
        self._parting = Parting(self._layout)
        # Before the first start of a record: what belongs to the split before.
        self._is_head = block > 0
        self._has_bad = False

    def add(self, values: pa.Array, told: _Told) -> None:
        """Take the next lines of the split."""
        if not self._is_kafka:
            self._add_each(values, told)
            return
        lines = kafka_lines.read(values)
        # What follows the last line is not known yet.
        is_record = lines.is_whole & np.append(lines.starts[1:], False)
        told.add_lines(self.file, lines, is_record)
        done = 0
        for start, end in _stretches(~is_record):
            if start > done:
                self._close(told)
            self._add_each(lines.lines.slice(start, end - start), told)
            done = end
        if done < len(is_record):
            self._close(told)

    def _close(self, told: _Told) -> None:
        """End the lines so far: a record starts behind them."""
        if self._parting.run:
            self._take(self._parting.run, told, HEAD if self._is_head else None)
            self._parting = Parting(self._layout)
        self._is_head = False

    def _add_each(self, values: pa.Array, told: _Told) -> None:
        for value in values.cast(pa.binary()).to_pylist():
            line = value.removesuffix(LINE_FEED).decode("utf-8", "replace")
            run = self._parting.add(line)
            if run is not None:
                self._take(run, told, HEAD if self._is_head else None)
                self._is_head = False
            self._has_bad = self._has_bad or (REPLACED in line and not kafka_lines.is_utf8(value))

    def end(self, told: _Told) -> None:
        """Take what is left at the end of the split."""
        # Where a line of another split is longer than this one, no line begins here: not even an empty one.
        if not self._parting.run:
            return
        piece = HEAD if self._is_head else None if self._is_last else TAIL
        self._take(self._parting.run, told, piece)

    def _take(self, run: Sequence[str], told: _Told, piece: int | None) -> None:
        if piece is not None:
            told.add_border(self.file, self.block, piece, run, self._has_bad)
        else:
            told.add_run(self.file, run, self._has_bad)
        self._has_bad = False


def _stretches(chosen: Truths) -> Iterator[tuple[int, int]]:
    """Yield from where to where the truths are true."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], chosen, [False])).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _in_utc(micros: Numbers, zone: str) -> Numbers:
    """Return what a clock of the zone showed as times in UTC."""
    minutes, places = np.unique(micros // _MINUTE, return_inverse=True)
    offsets: NDArray[np.int64] = np.array([_offset(zone, minute) for minute in minutes.tolist()], np.int64)
    found: Numbers = micros - offsets[places]
    return found


def placed(time: LogTime, zone: str | None) -> tuple[str | None, int, int | None]:
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
