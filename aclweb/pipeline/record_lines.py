"""What does each counted record say?

The core reads the texts, in Python workers on the executors. All records of one text come to one worker, which reads it
once, and sends on what it says once, with how often it was written on each day: not a row for each file and day. What
each file holds of each day is a sum, since most texts come again in other files and on other days.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.acl.authorizer import HARDCODE
from aclweb.acl.model import AccessRequest, AclError, PatternType
from aclweb.acl.notation import (
    NO_ACL_NOTE,
    NO_LAYOUT,
    SOME_TIME,
    SUPER_USER_NOTE,
    UNREADABLE,
    AccessEvent,
    NotDecision,
    binding_key,
    parse_record,
)
from aclweb.pipeline import schemas

UNKNOWN_WORD = "decision with a word that this program does not know"
IMPOSSIBLE_TIME = "record with a time that no clock shows"
SAMPLE_LENGTH = 1000
"""So many characters of a record are shown, with its time."""

TEXT_LENGTH = SAMPLE_LENGTH - len("[2026-11-20 10:00:00,000] ")
"""So many characters of the text behind the time are kept of a sample."""

BrokerOf = Callable[[str], str]
"""Names the broker that wrote a file, by the file's name in schemas.COUNTS; travels to the executors."""

_SUPER_USER = re.compile(
    r"principal = (.*) is a super user, allowing operation without checking acls\.", re.S
)
_NO_ACL = re.compile(r"No acl found for resource .*, authorized = (true|false)", re.S)
_MESSAGE = re.compile(r"[A-Z]+ +(.*) \([^()\s]+\)", re.S)
_NOT_UNDERSTOOD = frozenset({NO_LAYOUT, UNREADABLE})

# A worker holds so many texts, so many characters of them, and so many counts, before it sends them on; a text that
# comes after that is sent once more.
_MOST_TEXTS = 50_000
_MOST_CHARACTERS = 16 << 20
_MOST_COUNTS = 1_000_000
_ROWS_AT_ONCE = 10_000

Said = tuple[Any, ...]
"""What a text says: the values of schemas.SAID."""

Numbers = NDArray[np.int64]

_COUNTED = ("file", "day", "lines", "first_at", "last_at", "hours", "not_utf8")
# No first time, and no last one, of records without a time.
_NO_FIRST, _NO_LAST = np.iinfo(np.int64).max, np.iinfo(np.int64).min
_TIMED, _NOT_UTF8, _NO_DAY = 4, 2, 1


def said(counts: DataFrame, broker_of: BrokerOf | None = None) -> DataFrame:
    """Return what counted records say (schemas.LINES); counts: schemas.COUNTS.

    A record whose time no clock shows is UNPARSED. broker_of: None where nobody asks which broker wrote what.
    """
    schema = StructType.fromDDL(schemas.LINES)
    columns = counts.select(*_COUNTED, "raw", "timed").repartition("raw")
    return columns.mapInArrow(partial(_said_batches, to_arrow_schema(schema), broker_of), schema)


def _said_batches(
    schema: pa.Schema, broker_of: BrokerOf | None, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    held = _Held(schema, broker_of)
    for batch in batches:
        held.add(batch)
        if held.is_full:
            yield from held.taken()
            held = _Held(schema, broker_of)
    yield from held.taken()


class _Numbered(dict[Hashable, int]):
    """Values with their numbers, in the order in which they first came."""

    def __missing__(self, value: Hashable) -> int:
        self[value] = len(self)
        return self[value]

    def of(self, values: pa.Array) -> Numbers:
        """Return the number of each value of a column."""
        encoded = values.dictionary_encode(null_encoding="encode")
        numbers = np.array([self[value] for value in encoded.dictionary.to_pylist()], np.int64)
        return numbers[_whole_numbers(encoded.indices)]


class _Held:
    """The counts that a worker holds, each with the numbers of its text, its file and its day."""

    def __init__(self, schema: pa.Schema, broker_of: BrokerOf | None) -> None:
        self._schema = schema
        self._broker_of = broker_of
        self._texts: dict[tuple[str, int], int] = {}
        self._said: list[Said] = []
        self._files, self._days = _Numbered(), _Numbered()
        self._counts: list[_Counts] = []
        self._characters = 0
        self._size = 0

    @property
    def is_full(self) -> bool:
        return (
            len(self._texts) > _MOST_TEXTS or self._characters > _MOST_CHARACTERS or self._size > _MOST_COUNTS
        )

    def add(self, batch: pa.RecordBatch) -> None:
        """batch: the columns of _COUNTED, raw and timed."""
        self._size += batch.num_rows
        self._counts.append(
            _Counts(
                self._numbers_of_texts(batch),
                self._files.of(batch.column("file")),
                self._days.of(batch.column("day")),
                _values(batch, "lines"),
                _values(batch, "first_at", _NO_FIRST),
                _values(batch, "last_at", _NO_LAST),
                _values(batch, "hours"),
            )
        )

    def _numbers_of_texts(self, batch: pa.RecordBatch) -> Numbers:
        encoded = batch.column("raw").dictionary_encode()
        marks = (
            _values(batch, "timed") * _TIMED
            + _values(batch, "not_utf8") * _NOT_UTF8
            + _whole_numbers(batch.column("day").is_null()) * _NO_DAY
        )
        texts = encoded.dictionary.to_pylist()
        different, places = np.unique(_whole_numbers(encoded.indices) * 8 + marks, return_inverse=True)
        numbers = [self._number(texts[each >> 3], each & 7) for each in different.tolist()]
        return np.array(numbers, np.int64)[places]

    def _number(self, raw: str, marks: int) -> int:
        number = self._texts.get((raw, marks))
        if number is None:
            number = self._texts[raw, marks] = len(self._texts)
            self._characters += len(raw)
            self._said.append(_KNOWN.said(raw, marks))
        return number

    def taken(self) -> Iterator[pa.RecordBatch]:
        """Yield what is held as rows of schemas.LINES."""
        if self._size:
            counts = _Counts(*map(np.concatenate, zip(*self._counts, strict=True)))
            for made in (self._rows_of_files(counts), self._rows_of_texts(counts)):
                for start in range(0, made.num_rows, _ROWS_AT_ONCE):
                    yield made.slice(start, _ROWS_AT_ONCE)

    def _rows_of_files(self, counts: _Counts) -> pa.RecordBatch:
        """Return what each file holds of each day: its records of each kind."""
        kinds = _Numbered()
        kind_of = [
            kinds[(*(said[place] for place in _KIND), bool(marks & _NOT_UTF8))]
            for said, (_, marks) in zip(self._said, self._texts, strict=True)
        ]
        keys = (counts.file, counts.day, np.array(kind_of, np.int64)[counts.text])
        (files, days, found), sums = _summed(keys, counts)
        kind, allowed, ambiguous, not_utf8 = ([*column] for column in zip(*kinds, strict=True))
        return self._batch(
            len(files),
            file=_taken_from(self._files, files),
            day=_taken_from(self._days, days),
            kind=_taken_from(kind, found),
            allowed=_taken_from(allowed, found),
            ambiguous=_taken_from(ambiguous, found),
            not_utf8=_taken_from(not_utf8, found),
            lines=pa.array(sums.lines),
            first_us=_times(sums.first),
            last_us=_times(sums.last),
            hours=pa.array(sums.hours),
        )

    def _rows_of_texts(self, counts: _Counts) -> pa.RecordBatch:
        """Return what each text says, and how often it was written on each day."""
        brokers = _Numbered()
        broker_of = self._broker_of or _nobody
        of_files = np.array([brokers[broker_of(str(file))] for file in self._files], np.int64)
        by_day, sums = _summed((counts.text, of_files[counts.file], counts.day), counts)
        days = pa.StructArray.from_arrays(
            [
                _taken_from(brokers, by_day[1]).cast(pa.string()),
                _taken_from(self._days, by_day[2]).cast(pa.string()),
                pa.array(sums.lines),
                _times(sums.first),
                _times(sums.last),
            ],
            names=["broker", "day", "lines", "first_us", "last_us"],
        )
        (texts,), whole = _summed((counts.text,), counts)
        ends = np.cumsum(np.bincount(by_day[0], minlength=len(texts)))
        offsets = np.concatenate(([0], ends)).astype(np.int32)
        columns = dict(zip(schemas.SAID, zip(*self._said, strict=True), strict=True))
        return self._batch(
            len(texts),
            **{name: list(column) for name, column in columns.items()},
            raw=[raw[:SAMPLE_LENGTH] for raw, _ in self._texts],
            not_utf8=[bool(marks & _NOT_UTF8) for _, marks in self._texts],
            lines=pa.array(whole.lines),
            first_us=_times(whole.first),
            last_us=_times(whole.last),
            days=pa.ListArray.from_arrays(offsets, days),
        )

    def _batch(self, size: int, **columns: Sequence[Any] | pa.Array) -> pa.RecordBatch:
        """Return rows of schemas.LINES in which the columns that are not given are null."""
        arrays = []
        for field in self._schema:
            column = columns.get(field.name)
            if column is None:
                arrays.append(pa.nulls(size, field.type))
            elif isinstance(column, pa.Array):
                arrays.append(column.cast(field.type))
            else:
                arrays.append(pa.array(column, field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


class _Counts(NamedTuple):
    """Columns of counts of equal length; text, file and day are numbers. first, last: microseconds since 1970."""

    text: Numbers
    file: Numbers
    day: Numbers
    lines: Numbers
    first: Numbers
    last: Numbers
    hours: Numbers


@dataclass(frozen=True, eq=False)
class _Sums:
    """Counts that were added, the times being the first and the last."""

    lines: Numbers
    first: Numbers
    last: Numbers
    hours: Numbers


def _summed(keys: Sequence[Numbers], counts: _Counts) -> tuple[tuple[Numbers, ...], _Sums]:
    """Return each different key, in order, and the counts of it added."""
    order = np.lexsort(keys[::-1])
    ordered = [key[order] for key in keys]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in ordered])
    starts = np.flatnonzero(is_new)
    sums = _Sums(
        np.add.reduceat(counts.lines[order], starts),
        np.minimum.reduceat(counts.first[order], starts),
        np.maximum.reduceat(counts.last[order], starts),
        np.bitwise_or.reduceat(counts.hours[order], starts),
    )
    return tuple(key[starts] for key in ordered), sums


def _values(batch: pa.RecordBatch, name: str, null: int = 0) -> Numbers:
    """Return a column of numbers, of times or of truths as whole numbers, with one in the place of null."""
    return _whole_numbers(batch.column(name).cast(pa.int64()).fill_null(null))


def _whole_numbers(values: pa.Array) -> Numbers:
    return np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False), np.int64)


def _taken_from(values: Iterable[Any], numbers: Numbers) -> pa.Array:
    return pa.array(list(values)).take(pa.array(numbers))


def _times(micros: Numbers) -> pa.Array:
    return pa.array(micros, mask=(micros == _NO_FIRST) | (micros == _NO_LAST))


def _nobody(_: str) -> None:
    return None


class _Known:
    """What texts say that this worker has read."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], Said] = {}
        self._characters = 0

    def said(self, raw: str, marks: int) -> Said:
        known = self._found.get((raw, marks))
        if known is None:
            if len(self._found) >= _MOST_TEXTS or self._characters > _MOST_CHARACTERS:
                self._found, self._characters = {}, 0
            known = said_of(raw, timed=bool(marks & _TIMED))
            if marks & _TIMED and marks & _NO_DAY:
                known = (schemas.UNPARSED, IMPOSSIBLE_TIME, *known[2:])
            self._found[raw, marks] = known
            self._characters += len(raw)
        return known


_KNOWN = _Known()
_KIND = tuple(map(schemas.SAID.index, ("kind", "allowed", "ambiguous")))


def said_of(raw: str, *, timed: bool) -> Said:
    """Return what the text of a record behind its time says."""
    row = _row_of(raw, timed=timed)
    return tuple(map(row.get, schemas.SAID))


def _row_of(raw: str, *, timed: bool) -> dict[str, Any]:
    found = parse_record(SOME_TIME + raw if timed else raw)
    row: dict[str, Any] = {"ambiguous": False}
    if isinstance(found, NotDecision):
        kind = schemas.UNPARSED if found.reason in _NOT_UNDERSTOOD else schemas.OTHER
        return row | {"kind": kind, "reason": found.reason, "noted": _noted(raw, found.reason)}
    row |= {
        "kind": schemas.DECISION,
        "principal": found.principal,
        "host": found.host,
        "operation": found.operation.name,
        "resource_type": found.resource_type.name,
        "resource_name": found.resource_name,
        "allowed": found.allowed,
        "api_name": found.api_name,
        "broker_rule": found.rule,
        "named_key": binding_key(found.acl) if found.acl else None,
        "ambiguous": found.ambiguous,
    }
    if _is_probe(found):
        return row | {"kind": schemas.PROBE}
    try:
        AccessRequest(found.principal, found.host, found.operation, found.resource_type, found.resource_name)
    except AclError:
        return row | {"kind": schemas.UNPARSED, "reason": UNKNOWN_WORD}
    return row


def _noted(raw: str, reason: str) -> str | None:
    """Return the super user that a note names, or whether it says that nothing found means allowed."""
    pattern = {SUPER_USER_NOTE: _SUPER_USER, NO_ACL_NOTE: _NO_ACL}.get(reason)
    message = _MESSAGE.fullmatch(raw) if pattern else None
    found = pattern.fullmatch(message[1]) if pattern and message else None
    return found[1] if found else None


def _is_probe(event: AccessEvent) -> bool:
    """Whether the broker asked about a made-up resource, as InitProducerId does for "any topic"."""
    made_up = event.pattern_type is PatternType.UNKNOWN or event.resource_name == HARDCODE
    return event.ref_count == 0 and made_up
