"""What do the lines of Kafka's own layout say of their time, many at once?

Nearly every line of such a log is one record. Those are read here in columns: when each was written, and its text
behind the time. What is anything else (a name with a line break, a stack trace, a time that no clock shows, a byte that
is no UTF-8) is left to the core, line by line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from aclweb.acl.notation import SOME_TIME, starts_record
from aclweb.pipeline.sums import Numbers, Truths

Bytes = NDArray[np.uint8]

TEXT_START = len(SOME_TIME)
"""The bytes before the text of a record: its time in brackets, and a blank."""

# "[2026-11-20 10:00:00,000] DEBUG ": the time, and a level of at most seven letters with the blank behind it.
_LONGEST_LEVEL = 7
_HEAD = np.arange(TEXT_START + _LONGEST_LEVEL + 1)
_SIGNS = {0: "[", 5: "-", 8: "-", 11: " ", 14: ":", 17: ":", 24: "]", 25: " "}
_POINT = 20
_DIGITS = np.array([1, 2, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 23])
_CARRIAGE_RETURN, _LINE_FEED = ord("\r"), ord("\n")
_TO_THE_END = 1 << 30


@dataclass(frozen=True)
class KafkaLines:
    """Lines of a log.

    lines: as they were read, bytes. starts: a record starts with this line. is_whole: it is a record if the next one
    starts another, and `micros` and `texts` tell what it says. micros: since 1970, as the clock showed them.
    """

    lines: pa.BinaryArray
    starts: Truths
    is_whole: Truths
    micros: Numbers

    def texts(self, chosen: Truths) -> pa.StringArray:
        """Return the texts behind the time of the chosen lines, all of which must be whole."""
        lines = self.lines if chosen.all() else self.lines.filter(pa.array(chosen))
        is_fed = _has(lines, _LINE_FEED)
        end = -1 if is_fed.all() else _TO_THE_END
        # All of a whole line is UTF-8.
        found = pc.binary_slice(lines, TEXT_START, end).view(pa.string())
        if (is_fed.any() and not is_fed.all()) or (_has(lines, _CARRIAGE_RETURN, before=is_fed)).any():
            return pc.ascii_rtrim(found, characters="\r\n")
        return found


def read(values: pa.Array) -> KafkaLines:
    """Return what lines of a log say, in their order; values: bytes or texts, none of them null.

    A line feed may only be at the end of a line.
    """
    lines = _compact(values)
    offsets, data = _buffers(lines)
    head = _heads(offsets, data)
    is_long = np.diff(offsets) >= len(_HEAD)
    digits = (head[:, _DIGITS] - np.uint8(ord("0"))).astype(np.int64)
    looks_so = is_long & (digits < 10).all(axis=1) & _has_signs(head) & _has_level(head)
    micros, is_shown = _micros(digits)
    starts = looks_so.copy()
    # Shorter ones, and levels of many letters.
    for place in np.flatnonzero(~looks_so & (head[:, 0] == ord("["))):
        starts[place] = starts_record(lines[int(place)].as_py().decode("utf-8", "replace"))
    return KafkaLines(lines, starts, looks_so & is_shown & _is_utf8(lines), np.where(is_shown, micros, 0))


def _compact(values: pa.Array) -> pa.BinaryArray:
    """Return the values as bytes whose offsets begin at the first value."""
    lines = values.cast(pa.binary())
    return pa.concat_arrays([lines, lines[:0]]) if lines.offset else lines


def _buffers(lines: pa.BinaryArray) -> tuple[NDArray[np.int32], Bytes]:
    """Return where each line starts, and after the last one where it ends; and the bytes of all."""
    _, offsets, data = lines.buffers()
    found = np.frombuffer(offsets, np.int32)[: len(lines) + 1] if len(lines) else np.zeros(1, np.int32)
    # Bytes behind the last line are of no line.
    return found, np.frombuffer(data, np.uint8)[: found[-1]] if data else np.zeros(0, np.uint8)


def _heads(offsets: NDArray[np.int32], data: Bytes) -> Bytes:
    """Return the first bytes of each line, a row for each; those of a short line go on in the next one."""
    if not len(data):
        return np.zeros((len(offsets) - 1, len(_HEAD)), np.uint8)
    starts = offsets[:-1]
    # Copying windows takes a fraction of what picking each byte takes.
    fitting = int(np.searchsorted(starts, len(data) - len(_HEAD), side="right"))
    places = starts[fitting:, None] + _HEAD
    rest: Bytes = data[np.minimum(places, len(data) - 1, out=places)]
    if not fitting:
        return rest
    found: Bytes = np.concatenate((sliding_window_view(data, len(_HEAD))[starts[:fitting]], rest))
    return found


def _has_signs(head: Bytes) -> Truths:
    found: Truths = (head[:, _POINT] == ord(",")) | (head[:, _POINT] == ord("."))
    for place, sign in _SIGNS.items():
        found &= head[:, place] == ord(sign)
    return found


def _has_level(head: Bytes) -> Truths:
    """Whether capital letters, and a blank behind them, follow the time."""
    level = head[:, TEXT_START:]
    is_letter = (level >= ord("A")) & (level <= ord("Z"))
    length = np.argmin(is_letter, axis=1)
    found: Truths = (length > 0) & (level[np.arange(len(level)), length] == ord(" "))
    return found


def _micros(digits: Numbers) -> tuple[Numbers, Truths]:
    """Return the microseconds since 1970 of times, and which of them some clock shows."""
    year, month, day = _number(digits[:, :4]), _number(digits[:, 4:6]), _number(digits[:, 6:8])
    hour, minute, second = (_number(digits[:, place : place + 2]) for place in (8, 10, 12))
    is_shown = (year > 0) & (month > 0) & (month < 13) & (day > 0)
    is_shown &= (hour < 24) & (minute < 60) & (second < 60)
    months = np.where(is_shown, (year - 1970) * 12 + month - 1, 0)
    first, after = (_days(months + more) for more in (0, 1))
    is_shown &= day <= after - first
    seconds = (((first + day - 1) * 24 + hour) * 60 + minute) * 60 + second
    return (seconds * 1000 + _number(digits[:, 14:])) * 1000, is_shown


def _number(digits: Numbers) -> Numbers:
    found: Numbers = digits @ (10 ** np.arange(digits.shape[1] - 1, -1, -1, dtype=np.int64))
    return found


def _days(months: Numbers) -> Numbers:
    """Return the days from 1970 to the first day of each month; months: since January 1970."""
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _is_utf8(lines: pa.BinaryArray) -> Truths:
    try:
        lines.cast(pa.string())
    except pa.ArrowInvalid:
        return np.array([is_utf8(line) for line in lines.to_pylist()], np.bool_)
    return np.ones(len(lines), np.bool_)


def is_utf8(line: bytes) -> bool:
    """Whether the bytes are UTF-8."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def spans_lines(values: pa.Array) -> Truths:
    """Return which values have a line feed before the line ends behind them."""
    lines = _compact(values)
    offsets, data = _buffers(lines)
    feeds = np.flatnonzero(data == _LINE_FEED)
    found = np.zeros(len(lines), np.bool_)
    if len(feeds):
        rows = np.searchsorted(offsets, feeds, side="right") - 1
        ends: Any = [len(line.rstrip(b"\r\n")) for line in lines.to_pylist()]
        inside = feeds - offsets[rows] < np.array(ends, np.int64)[rows]
        found[rows[inside]] = True
    return found


def _has(lines: pa.BinaryArray, sign: int, *, before: Truths | None = None) -> Truths:
    """Return which lines have a sign at their end; before: those that have it before their last byte."""
    offsets, data = _buffers(_compact(lines))
    places = offsets[1:] - (1 if before is None else 1 + before.astype(np.int64))
    found: Truths = data[places] == sign
    return found
