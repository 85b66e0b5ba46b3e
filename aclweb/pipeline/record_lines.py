"""What do the records say that a worker has counted?

Most lines of a log repeat a decision that was made before, so whole records are counted by their text behind the time
before anything is parsed. The core reads each text once in a worker. That sends on what the text says once, with how
often it was written on each day: not a row for each file and day. What each file holds of each day is a sum, since most
texts come again in other files and on other days.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import date
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

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
from aclweb.pipeline.sums import (
    NO_FIRST,
    NO_LAST,
    ROOM,
    Facts,
    Numbers,
    Truths,
    in_lists,
    summed,
    taken_from,
    times,
    whole_numbers,
)

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
_MOST_TEXTS = 100_000
_MOST_CHARACTERS = 48 << 20
_MOST_COUNTS = 1_000_000
# So many records of columns are counted at a time, or so many bytes of them: the more, the seldomer comes each text.
_COLUMNS_AT_ONCE = 300_000
_MOST_COLUMN_BYTES = 96 << 20
# So many other records are counted at a time, and so many rows are sent on.
_LINES_AT_ONCE = 100_000
_ROWS_AT_ONCE = 10_000

Said = tuple[Any, ...]
"""What a text says: the values of schemas.SAID."""

_TIMED, _NOT_UTF8, _NO_DAY = 4, 2, 1

_HOUR_MICROS = 3_600_000_000
_HOURS = 24
_DAY_MICROS = _HOURS * _HOUR_MICROS
_EPOCH_DAY = date(1970, 1, 1).toordinal()


_Value = TypeVar("_Value", bound=Hashable)


class _Numbered(dict[_Value, int]):
    """Values with their numbers, in the order in which they first came."""

    def __missing__(self, value: _Value) -> int:
        self[value] = len(self)
        return self[value]


class _Texts(dict[str, int]):
    """Texts of one sort with their numbers; `new` gives that of a text that comes for the first time."""

    def __init__(self, new: Callable[[str], int]) -> None:
        super().__init__()
        self._new = new

    def __missing__(self, text: str) -> int:
        self[text] = self._new(text)
        return self[text]


class Tally:
    """What a worker has counted of its records, by text, file and day, until it sends on what they say."""

    def __init__(self, schema: pa.Schema, broker_of: BrokerOf | None) -> None:
        """schema: that of schemas.LINES, perhaps with more columns, which stay null."""
        self._schema = schema
        self._broker_of = broker_of or _nobody
        self._texts: list[tuple[str, int]] = []
        self._said: list[Said] = []
        self._sorts: dict[int, _Texts] = {}
        self._files: _Numbered[str] = _Numbered()
        self._spans: _Numbered[tuple[int, str | None]] = _Numbered()
        # The texts of columns so far, with the number of each.
        self._encoded: tuple[pa.StringArray, Numbers] = pa.array([], pa.string()), np.zeros(0, np.int64)
        self._columns: list[_Columns] = []
        self._columns_size = self._columns_bytes = 0
        self._single: dict[tuple[int, int], list[int]] = {}
        self._counts: list[_Counts] = []
        self._size = 0
        self._characters = 0
        self._denied = _Denied()

    @property
    def is_full(self) -> bool:
        return (
            len(self._texts) > _MOST_TEXTS
            or self._characters > _MOST_CHARACTERS
            or max(self._size, self._denied.size) > _MOST_COUNTS
        )

    def number_of_file(self, file: str) -> int:
        """Return the number under which `add_columns` takes a file."""
        return self._files[file]

    def add_columns(self, files: Numbers, micros: Numbers, texts: pa.StringArray) -> None:
        """Count records that were written at times which a clock shows.

        files: the number of each one's file. micros: since 1970. texts: behind the time.
        """
        self._columns.append(_Columns(files, micros, texts))
        self._columns_size += len(texts)
        self._columns_bytes += texts.nbytes
        if self._columns_size >= _COLUMNS_AT_ONCE or self._columns_bytes > _MOST_COLUMN_BYTES:
            self._count_columns()

    def add(
        self, file: str, text: str, *, timed: bool, at: tuple[str | None, int, int | None], not_utf8: bool
    ) -> None:
        """Count one record.

        timed: it begins with a time. at: day, hour and microseconds of that; no day where no clock shows it.
        """
        day, hour, micros = at
        number = self._of_sort(timed * _TIMED + not_utf8 * _NOT_UTF8 + (day is None) * _NO_DAY)[text]
        key = number, self._spans[self._files[file], day]
        if micros is not None:
            self._denied.add(*key, hour)
        known = self._single.get(key)
        if known is None:
            hours = 0 if micros is None else 1 << hour
            first, last = (NO_FIRST, NO_LAST) if micros is None else (micros, micros)
            self._single[key] = [1, first, last, hours]
            if len(self._single) >= _LINES_AT_ONCE:
                self._count_single()
            return
        known[0] += 1
        if micros is not None:
            known[1] = min(known[1], micros)
            known[2] = max(known[2], micros)
            known[3] |= 1 << hour

    def _of_sort(self, marks: int) -> _Texts:
        known = self._sorts.get(marks)
        if known is None:
            known = self._sorts[marks] = _Texts(partial(self._new, marks))
        return known

    def _new(self, marks: int, text: str) -> int:
        self._characters += len(text)
        said = _KNOWN.said(text, marks)
        self._said.append(said)
        self._denied.new_text(said)
        self._texts.append((text[:SAMPLE_LENGTH], marks))
        return len(self._texts) - 1

    def _count_columns(self) -> None:
        columns, self._columns = self._columns, []
        self._columns_size = self._columns_bytes = 0
        micros = np.concatenate([each.micros for each in columns])
        spans = np.concatenate([each.files for each in columns]) * ROOM + micros // _DAY_MICROS + _EPOCH_DAY
        facts = Facts(np.ones(len(micros), np.int64), micros, micros, 1 << (micros // _HOUR_MICROS) % _HOURS)
        texts, spans = self._numbers_of([each.texts for each in columns]), self._numbers_of_spans(spans)
        self._denied.add_columns(texts, spans, micros)
        self._hold(_Counts(*summed(texts, spans, facts)))

    def _numbers_of(self, texts: Sequence[pa.StringArray]) -> Numbers:
        """Return the number of each of the texts, all of which begin with a time."""
        before, of_text = self._encoded
        encoded = pa.chunked_array([before, *texts], pa.string()).dictionary_encode()
        # All chunks have the same dictionary, each as far as it had come; it begins with what came before.
        longest = max((chunk.dictionary for chunk in encoded.chunks), key=len)
        known = self._of_sort(_TIMED)
        new = [known[text] for text in longest[len(before) :].to_pylist()]
        of_text = np.concatenate([of_text, np.array(new, np.int64)])
        self._encoded = longest, of_text
        indices = [whole_numbers(chunk.indices) for chunk in encoded.chunks]
        # An empty array gives no chunk.
        numbers: Numbers = of_text[np.concatenate(indices)[len(before) :]]
        return numbers

    def _numbers_of_spans(self, spans: Numbers) -> Numbers:
        different, places = np.unique(spans, return_inverse=True)
        found = [self._spans[number // ROOM, _day_text(number % ROOM)] for number in different.tolist()]
        numbers: Numbers = np.array(found, np.int64)[places]
        return numbers

    def _count_single(self) -> None:
        single, self._single = self._single, {}
        if single:
            text, span = np.array(list(single), np.int64).T
            self._hold(_Counts(text, span, Facts(*np.array(list(single.values()), np.int64).T)))

    def _hold(self, counts: _Counts) -> None:
        self._counts.append(counts)
        self._size += len(counts.text)
        if self._size > _MOST_COUNTS:
            self._add_up()

    def _add_up(self) -> None:
        self._counts = [_Counts.added(self._counts)]
        self._size = len(self._counts[0].text)

    def taken(self) -> Iterator[pa.RecordBatch]:
        """Yield what was counted as rows of schemas.LINES."""
        if self._columns:
            self._count_columns()
        self._count_single()
        if self._counts:
            self._add_up()
            for made in (self._rows_of_files(self._counts[0]), self._rows_of_texts(self._counts[0])):
                for start in range(0, made.num_rows, _ROWS_AT_ONCE):
                    yield made.slice(start, _ROWS_AT_ONCE)

    def _rows_of_files(self, counts: _Counts) -> pa.RecordBatch:
        """Return what each file holds of each day: its records of each kind."""
        kinds: _Numbered[tuple[Any, ...]] = _Numbered()
        kind_of = [
            kinds[(*(said[place] for place in _KIND), bool(marks & _NOT_UTF8))]
            for said, (_, marks) in zip(self._said, self._texts, strict=True)
        ]
        spans, found, sums = summed(counts.span, np.array(kind_of, np.int64)[counts.text], counts.facts)
        names = [*self._files]
        files, days = zip(*self._spans, strict=True)
        kind, allowed, ambiguous, not_utf8 = zip(*kinds, strict=True)
        is_denial = np.array([each[:2] == _DENIAL for each in kinds], np.bool_)
        return self._batch(
            len(spans),
            file=taken_from([names[number] for number in files], spans),
            day=taken_from(days, spans),
            kind=taken_from(kind, found),
            allowed=taken_from(allowed, found),
            ambiguous=taken_from(ambiguous, found),
            not_utf8=taken_from(not_utf8, found),
            lines=pa.array(sums.lines),
            first_us=times(sums.first),
            last_us=times(sums.last),
            hours=pa.array(sums.hours),
            denied=self._denied.of_rows(spans, is_denial[found]),
        )

    def _rows_of_texts(self, counts: _Counts) -> pa.RecordBatch:
        """Return what each text says, and how often it was written on each day."""
        parts: _Numbered[tuple[str | None, str | None]] = _Numbered()
        broker_of, names = self._broker_of, [*self._files]
        part_of = [parts[broker_of(names[file]), day] for file, day in self._spans]
        texts, found, sums = summed(counts.text, np.array(part_of, np.int64)[counts.span], counts.facts)
        brokers, of_days = zip(*parts, strict=True)
        days = pa.StructArray.from_arrays(
            [
                taken_from(brokers, found).cast(pa.string()),
                taken_from(of_days, found).cast(pa.string()),
                pa.array(sums.lines),
                times(sums.first),
                times(sums.last),
            ],
            names=["broker", "day", "lines", "first_us", "last_us"],
        )
        different, _, whole = summed(texts, np.zeros(len(texts), np.int64), sums)
        columns = dict(zip(schemas.SAID, zip(*self._said, strict=True), strict=True))
        return self._batch(
            len(different),
            **columns,
            raw=[raw for raw, _ in self._texts],
            not_utf8=[bool(marks & _NOT_UTF8) for _, marks in self._texts],
            lines=pa.array(whole.lines),
            first_us=times(whole.first),
            last_us=times(whole.last),
            days=in_lists(texts, len(different), days),
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


class _Columns(NamedTuple):
    """Records that are not counted yet: the number of each one's file, when it was written, and its text."""

    files: Numbers
    micros: Numbers
    texts: pa.StringArray


class _Counts(NamedTuple):
    """Counts by text and span, which is a file and a day; both are numbers."""

    text: Numbers
    span: Numbers
    facts: Facts

    @classmethod
    def added(cls, held: Sequence[_Counts]) -> _Counts:
        """Return counts in which each text and span comes once, in their order."""
        text, span = (np.concatenate(columns) for columns in zip(*(each[:2] for each in held), strict=True))
        facts = Facts(*map(np.concatenate, zip(*(each.facts for each in held), strict=True)))
        return cls(*summed(text, span, facts))


class _Denied:
    """How many requests of each principal were denied in each hour, by span."""

    def __init__(self) -> None:
        self._principals: _Numbered[str] = _Numbered()
        # The number of the principal whom a text denies something, by the number of the text; else _NOBODY.
        self._of_text: list[int] = []
        self._of_texts = np.zeros(0, np.int64)
        self._single: Counter[int] = Counter()
        self._held: list[tuple[Numbers, Numbers]] = []
        self._held_size = 0

    @property
    def size(self) -> int:
        return self._held_size + len(self._single)

    def new_text(self, said: Said) -> None:
        """Take what the next text says."""
        is_denial = (said[_KIND[0]], said[_KIND[1]]) == _DENIAL
        self._of_text.append(self._principals[said[_PRINCIPAL]] if is_denial else _NOBODY)

    def add(self, text: int, span: int, hour: int) -> None:
        """Count one record."""
        principal = self._of_text[text]
        if principal != _NOBODY:
            self._single[span * ROOM + principal * _HOURS + hour] += 1

    def add_columns(self, texts: Numbers, spans: Numbers, micros: Numbers) -> None:
        """Count records: the numbers of the text and of the span of each, and when it was written."""
        new = np.array(self._of_text[len(self._of_texts) :], np.int64)
        self._of_texts = np.concatenate([self._of_texts, new])
        principals = self._of_texts[texts]
        chosen = np.flatnonzero(principals != _NOBODY)
        if len(chosen):
            hours = micros[chosen] // _HOUR_MICROS % _HOURS
            self._hold(
                *np.unique(spans[chosen] * ROOM + principals[chosen] * _HOURS + hours, return_counts=True)
            )

    def _hold(self, keys: Numbers, lines: Numbers) -> None:
        self._held.append((keys, lines))
        self._held_size += len(keys)
        if self._held_size > _MOST_COUNTS:
            self._held = [self._added()]
            self._held_size = len(self._held[0][0])

    def _added(self) -> tuple[Numbers, Numbers]:
        keys, lines = (np.concatenate(columns) for columns in zip(*self._held, strict=True))
        different, places = np.unique(keys, return_inverse=True)
        return different, np.bincount(places, weights=lines).astype(np.int64)

    def of_rows(self, spans: Numbers, is_denial: Truths) -> pa.ListArray:
        """Return the `denied` of rows of files: all of a span is in its first row that has denials.

        spans: of each row, in order.
        """
        single = np.array([*self._single.items()], np.int64).reshape(-1, 2)
        self._held.append((single[:, 0], single[:, 1]))
        self._single = Counter()
        keys, lines = self._added()
        rows = np.flatnonzero(is_denial)
        with_denials, first = np.unique(spans[rows], return_index=True)
        parents = rows[first][np.searchsorted(with_denials, keys // ROOM)] if len(keys) else keys
        principals, hours = np.divmod(keys % ROOM, _HOURS)
        names = pa.array([*self._principals], pa.string())
        columns = [names.take(pa.array(principals)), pa.array(hours, pa.int32()), pa.array(lines)]
        entries = pa.StructArray.from_arrays(columns, names=["principal", "hour", "lines"])
        return in_lists(parents, len(spans), entries)


def _day_text(day: int) -> str:
    return date.fromordinal(day).isoformat()


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
_PRINCIPAL = schemas.SAID.index("principal")
_DENIAL = (schemas.DECISION, False)
_NOBODY = -1


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
