"""How many bytes of a growing log are whole records, so that the rest has to wait?

Cut there, the pieces of a log have the records that the whole log has. A record is whole if another one
starts behind it, or if its last line is complete and the core can read it. Lines that are no record wait
for the next record, because all of them are one record together.
"""

from __future__ import annotations

from collections.abc import Callable

from aclweb.acl.notation import NO_LAYOUT, SOME_TIME, UNREADABLE, Layout, LogRecord, NotDecision, parse_record

LONGEST_RECORD_BYTES = 16 << 20
"""What has no end within so many bytes is cut at the end of a line."""

_FIRST_LOOK_BYTES = 1 << 14
# What stands in front of a message is shorter.
_START_BYTES = 1 << 17

Read = Callable[[int, int], bytes]


def end_of_records(read: Read, start: int, end: int, layout: Layout) -> int:
    """Return the place behind the last whole record between `start` and `end`; `start` if there is none.

    read: gives the bytes of a range. start: where a record may start. In a log of an unknown layout every
    complete line counts.
    """
    lowest = max(start, end - LONGEST_RECORD_BYTES)
    size = _FIRST_LOOK_BYTES
    while layout.body is not None:
        low = max(lowest, end - size)
        text = read(low, end)
        found = last_start(text, layout, at_line_start=low == start)
        if found is not None:
            return low + found + _whole_bytes(text[found:], layout)
        if low == lowest:
            break
        size *= 8
    if layout.body is not None and lowest == start:
        return start
    return lowest + read(lowest, end).rfind(b"\n") + 1


def may_go_on(read: Read, start: int, end: int, layout: Layout) -> bool:
    """Whether the bytes from `start` to `end`, which are no whole record, may be the beginning of one."""
    text = read(max(start, end - LONGEST_RECORD_BYTES), end)
    if text.endswith(b"\n") and not _starts_record(text, 0, layout):
        return False
    return not _whole_bytes(text + b"\n", layout) or text.endswith(b"\n")


def start_of_record(read: Read, place: int, layout: Layout) -> int:
    """Return where the last record starts that starts at `place` or before it; 0 if that is too far away."""
    size = _FIRST_LOOK_BYTES
    while size <= LONGEST_RECORD_BYTES * 8:
        low = max(0, place - size)
        found = last_start(read(low, place + _START_BYTES), layout, at_line_start=low == 0)
        while found is not None and low + found > place:
            found = last_start(read(low, low + found), layout, at_line_start=low == 0)
        if found is not None:
            return low + found
        if low == 0:
            break
        size *= 8
    return 0


def last_start(text: bytes, layout: Layout, *, at_line_start: bool) -> int | None:
    """Return where the last record of `text` starts. at_line_start: the text begins with a whole line."""
    place = len(text)
    while (place := text.rfind(b"\n", 0, place)) >= 0:
        if _starts_record(text, place + 1, layout):
            return place + 1
    return 0 if at_line_start and _starts_record(text, 0, layout) else None


def _starts_record(text: bytes, place: int, layout: Layout) -> bool:
    if place == len(text):
        return False
    if not layout.starts_record(_line(text, place)):
        return False
    # Of a line that was parted, another part is no start.
    before = text.rfind(b"\n", 0, max(place - 1, 0)) + 1
    return not place or not layout.goes_on(_line(text, before))


def _line(text: bytes, place: int) -> str:
    end = text.find(b"\n", place, place + _START_BYTES)
    return text[place : end if end >= 0 else place + _START_BYTES].decode("utf-8", "replace")


def _whole_bytes(text: bytes, layout: Layout) -> int:
    """Return the bytes of the record that `text` starts with, with the blank lines behind it; 0 if it may go on."""
    lines = [line + b"\n" for line in text.split(b"\n")[:-1]]
    record = next(layout.read(line[:-1].decode("utf-8", "replace") for line in lines), None)
    if record is None or not _is_whole(record):
        return 0
    count = record.lines
    while count < len(lines) and not lines[count].strip():
        count += 1
    return sum(map(len, lines[:count]))


def _is_whole(record: LogRecord) -> bool:
    if record.time is None or not record.is_whole:
        return False
    found = parse_record(SOME_TIME + record.text)
    if isinstance(found, NotDecision):
        # The end of another logger's record may be a line of a name in a decision that is being written.
        return found.reason not in (NO_LAYOUT, UNREADABLE) and "Principal = " not in record.text
    return True
