"""Which bytes of the log files of a machine does each worker read, and which lines are in them?

A worker opens such a file itself. Spark would read it line by line in the JVM and hand each line over, which takes as
long as all that is then done with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from io import FileIO
from math import inf
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from aclweb.acl.notation import LONGEST_RECORD
from aclweb.pipeline.contents import DamagedError, decompressed, is_compressed
from aclweb.pipeline.sums import Numbers

_CHUNK_BYTES = 4 << 20
_SHORT_CHUNK_BYTES = 1 << 14
_PACKED_BYTES = 1 << 16
_MARK = b"\xef\xbb\xbf"
_LINE_FEED = ord("\n")
# So many times as much is in a compressed file.
_PACKED = 10
# No character takes more bytes.
_LONGEST_BYTES = 4 * LONGEST_RECORD


@dataclass(frozen=True)
class Range:
    """The lines of a file that begin at byte `start` or later, and before `end`. is_last: all others come before.

    Of a compressed file it is all lines.
    """

    path: str
    start: int
    end: int
    is_last: bool

    @property
    def is_whole(self) -> bool:
        """Whether all lines of the file are in it."""
        return not self.start and self.is_last

    @property
    def file(self) -> str:
        """What Spark would call the file."""
        return f"file://{quote(self.path)}"


def sizes_of(paths: Iterable[str]) -> dict[str, int]:
    """Return the bytes of files; 0 for one that is gone, as who reads it will find."""
    found = {}
    for path in paths:
        found[path] = 0
        with suppress(OSError):
            found[path] = os.path.getsize(path)
    return found


def shared_out(sizes: Mapping[str, int], *, least: int, most: int, workers: int) -> list[list[Range]]:
    """Return what each of some workers reads at once: about as much as each other, as often as each other.

    sizes: in bytes, by the paths of files; a file is parted only where it is more than a worker's share. least: of
    fewer bytes no second worker is worth its start. most: so many are read at once.
    """
    sizes = {path: size * (_PACKED if is_compressed(path) else 1) for path, size in sizes.items()}
    total, workers = sum(sizes.values()), max(workers, 1)
    rounds = max(-(-total // (most * workers)), 1)
    share = max(min(least, most), -(-total // (rounds * workers)))
    ranges = [found for path, size in sizes.items() for found in _ranges_of(path, size, share)]
    needed = -(-total // share)
    bins: list[list[Range]] = [[] for _ in range(min(len(ranges), max(needed, 1)))]
    loads = [0] * len(bins)
    for found in sorted(ranges, key=lambda found: found.start - found.end):
        lightest = loads.index(min(loads))
        bins[lightest].append(found)
        loads[lightest] += found.end - found.start
    return bins


def _ranges_of(path: str, size: int, share: int) -> Iterator[Range]:
    if is_compressed(path):
        yield Range(path, 0, size, is_last=True)
        return
    for start in range(0, max(size, 1), share):
        end = min(start + share, size)
        yield Range(path, start, end, is_last=end == size)


def lines_in(wanted: Range, *, tolerant: bool = False) -> Iterator[pa.BinaryArray]:
    """Yield the lines of a range in order, many at a time, with the line feeds behind them.

    Of a line that is too long for a record, the beginning is given. A mark of UTF-8 at the start of a file is none of
    its bytes. tolerant: a file that is gone, or whose compressed data is damaged, gives what can be read of it; else
    it raises OSError or DamagedError.
    """
    with suppress(FileNotFoundError) if tolerant else nullcontext():
        with open(wanted.path, "rb", buffering=0) as file:
            if is_compressed(wanted.path):
                yield from _lines_of(_unpacked(wanted.path, file, tolerant=tolerant), 0, inf)
                return
            begin = _first_line(file, wanted.start)
            file.seek(begin)
            yield from _lines_of(iter(partial(file.read, _CHUNK_BYTES), b""), begin, wanted.end)


def _unpacked(path: str, file: FileIO, *, tolerant: bool) -> Iterator[bytes]:
    """Yield what a compressed file holds, much at a time."""
    held, size = list[bytes](), 0
    try:
        for piece in decompressed(path, iter(partial(file.read, _PACKED_BYTES), b"")):
            held.append(piece)
            size += len(piece)
            if size >= _CHUNK_BYTES:
                yield b"".join(held)
                held, size = [], 0
    except DamagedError:
        if not tolerant:
            raise
    yield b"".join(held)


def _lines_of(chunks: Iterator[bytes], begin: int, end: float) -> Iterator[pa.BinaryArray]:
    """Yield the lines in chunks of a file that begin before `end`; begin: where the first one does."""
    # The beginning of the line that begins there, and how much of that line is left out behind it.
    held, left_out = b"", 0
    while begin < end:
        chunk = next(chunks, b"")
        ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == _LINE_FEED) + (len(held) + 1)
        data = held + chunk
        if not chunk and data and (begin or data != _MARK):
            ends = np.array([len(data)])
        starts = np.concatenate(([0], ends[:-1]))
        places = begin + starts + np.where(starts, left_out, 0)
        # A line is of the range in which it begins.
        count = int(np.searchsorted(places[: len(ends)], end))
        if count:
            first = len(_MARK) if not begin and data.startswith(_MARK) else 0
            yield _lines(data, np.concatenate(([first], ends[:count])))
        if not chunk or count < len(ends):
            return
        done = int(ends[-1]) if len(ends) else 0
        if done:
            begin, left_out = begin + left_out + done, 0
        held = data[done : done + _LONGEST_BYTES]
        left_out += len(data) - done - len(held)


def _first_line(file: FileIO, start: int) -> int:
    """Return where the first line begins that does so at `start` or later."""
    if not start:
        return 0
    file.seek(start - 1)
    place = start - 1
    while chunk := file.read(_SHORT_CHUNK_BYTES):
        found = chunk.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(chunk)
    return place


def _lines(data: bytes, offsets: Numbers) -> pa.BinaryArray:
    """Return lines by where each begins, and the last one ends."""
    lengths = np.diff(offsets)
    if lengths.max() > LONGEST_RECORD:
        places = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        return pa.array([_at_most(data[start:end]) for start, end in places], pa.binary())
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.BinaryArray.from_buffers(pa.binary(), len(lengths), buffers)


def _at_most(line: bytes) -> bytes:
    if len(line) <= LONGEST_RECORD:
        return line
    return line.decode("utf-8", "replace")[:LONGEST_RECORD].encode()
