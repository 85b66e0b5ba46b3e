"""What are the bytes of a log file, decompressed, and how many bytes were read to know them?

Memory is constant, whatever the size of the file and however well it is compressed.
"""

from __future__ import annotations

import bz2
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

import pyarrow as pa

WINDOW = 4096
"""Bytes before a place in a content that are enough to know that place again."""

_READ_BYTES = 1 << 16
_PIECE_BYTES = 1 << 18
_LAST_BYTES = 1 << 16
# Arrow gives nothing of a read that meets the end of the data, so little is read at once.
_ZSTD_PIECE_BYTES = 1 << 14
_GZIP_ENDINGS, _BZ2_ENDINGS, _ZSTD_ENDINGS = (".gz",), (".bz2",), (".zst", ".zstd")


class DamagedError(Exception):
    """Compressed data that ends too early or cannot be decompressed, `at_byte` of the file or a little later."""

    def __init__(self, at_byte: int, why: str) -> None:
        super().__init__(why)
        self.at_byte = at_byte
        self.why = why


class FileChangedError(Exception):
    """A file that is no longer the one that was looked at; look again."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What the system says of a file without opening it. mtime_ns: nanoseconds since 1970, UTC."""

    size: int
    mtime_ns: int
    inode: int
    device: int

    @classmethod
    def of(cls, found: os.stat_result) -> FileStamp:
        return cls(found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev)

    def is_same_file(self, other: FileStamp) -> bool:
        """Whether both are of one file, which may have grown in between."""
        return (self.inode, self.device) == (other.inode, other.device)


@dataclass(slots=True)
class Work:
    """How many files were opened, and how many bytes of them were read, still compressed."""

    files_opened: int = 0
    bytes_read: int = 0


def is_compressed(path: str) -> bool:
    """Whether the name says that the content is compressed in a way that is read here."""
    return path.endswith((*_GZIP_ENDINGS, *_BZ2_ENDINGS, *_ZSTD_ENDINGS))


class LogContent:
    """The bytes of one open file. A file that grows later still has the `length` that it was opened with.

    A compressed file is read to its end once; what is asked for at its end is kept.
    """

    def __init__(self, path: str, opened: BinaryIO, work: Work | None = None) -> None:
        self.path = path
        self.stamp = FileStamp.of(os.fstat(opened.fileno()))
        self.is_compressed = is_compressed(path)
        self.damage: DamagedError | None = None
        self._opened = opened
        self._work = work or Work()
        self._work.files_opened += 1
        self._length = None if self.is_compressed else self.stamp.size
        self._windows: dict[int, bytes] = {}
        self._last_bytes = b""

    @property
    def length(self) -> int:
        """Bytes that can be read."""
        if self._length is None:
            self.find_windows(())
        assert self._length is not None
        return self._length

    def first_bytes(self) -> bytes:
        """Return the first bytes of the file itself, still compressed: enough to recognise what it is."""
        return self._pread(6, 0)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes of a range that is known to be small."""
        if self.is_compressed and self._length is not None:
            begin = self._length - len(self._last_bytes)
            if start >= begin:
                return self._last_bytes[start - begin : max(end - begin, 0)]
        return b"".join(self.pieces(start, end))

    def window(self, end: int) -> bytes:
        """Return the bytes before a place, WINDOW at most."""
        found = self._windows.get(end)
        return self.read(max(0, end - WINDOW), end) if found is None else found

    def find_windows(self, ends: Iterable[int]) -> None:
        """Read a compressed file to its end, and keep the windows before these places."""
        if not self.is_compressed:
            return
        wanted = sorted({*ends})
        at, before = 0, b""
        for piece in self._decompressed():
            known, begin = before + piece, at - len(before)
            at += len(piece)
            while wanted and wanted[0] <= at:
                end = wanted.pop(0)
                self._windows[end] = known[max(0, end - WINDOW - begin) : end - begin]
            before = known[-_LAST_BYTES:]
        self._length, self._last_bytes = at, before

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes from `start` to `end`, or to where nothing more can be read."""
        if self.is_compressed:
            yield from self._decompressed_range(start, end)
            return
        end = min(end, self.stamp.size)
        while start < end:
            piece = self._pread(min(_PIECE_BYTES, end - start), start)
            if not piece:
                raise FileChangedError(self.path)
            yield piece
            start += len(piece)

    def _decompressed_range(self, start: int, end: int) -> Iterator[bytes]:
        at = 0
        for piece in self._decompressed():
            if at + len(piece) > start:
                yield piece[max(0, start - at) : end - at]
            at += len(piece)
            if at >= end:
                return

    def _decompressed(self) -> Iterator[bytes]:
        """Yield what can be read; `damage` then says why there is no more, if there should be."""
        try:
            yield from decompressed(self.path, self._raw_pieces())
        except DamagedError as damage:
            self.damage = damage

    def _raw_pieces(self) -> Iterator[bytes]:
        at = 0
        while piece := self._pread(min(_READ_BYTES, self.stamp.size - at), at):
            yield piece
            at += len(piece)

    def _pread(self, size: int, at: int) -> bytes:
        piece = os.pread(self._opened.fileno(), size, at)
        self._work.bytes_read += len(piece)
        return piece


def decompressed(path: str, raw: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes that the file of this name holds; several compressed streams may follow each other.

    raw: its content, in pieces. Raises DamagedError behind the last byte that can be read.
    """
    if path.endswith(_ZSTD_ENDINGS):
        yield from _unpacked_by_arrow(raw)
    else:
        yield from _unpacked(raw, is_bz2=path.endswith(_BZ2_ENDINGS))


class _Unpacking(Protocol):
    """One compressed stream. eof: it is at its end; rest: what follows that."""

    eof: bool

    def unpack(self, raw: bytes) -> bytes: ...

    @property
    def needs_more(self) -> bool: ...

    @property
    def rest(self) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        self._stream = zlib.decompressobj(31)
        self.eof = False

    def unpack(self, raw: bytes) -> bytes:
        piece = self._stream.decompress(self._stream.unconsumed_tail + raw, _PIECE_BYTES)
        self.eof = self._stream.eof
        self.needs_more = len(piece) < _PIECE_BYTES and not self._stream.unconsumed_tail
        return piece

    needs_more = True

    @property
    def rest(self) -> bytes:
        return self._stream.unused_data


class _Bz2:
    def __init__(self) -> None:
        self._stream = bz2.BZ2Decompressor()
        self.eof = False

    def unpack(self, raw: bytes) -> bytes:
        piece = self._stream.decompress(raw, _PIECE_BYTES)
        self.eof = self._stream.eof
        return piece

    @property
    def needs_more(self) -> bool:
        return self._stream.needs_input

    @property
    def rest(self) -> bytes:
        return self._stream.unused_data


def _unpacked(raw: Iterable[bytes], *, is_bz2: bool) -> Iterator[bytes]:
    """Yield the bytes of gzip or bzip2 streams."""
    unpacking: _Unpacking | None = None
    at_byte = 0
    for piece in raw:
        rest = piece
        while rest or (unpacking and not unpacking.needs_more):
            unpacking = unpacking or (_Bz2() if is_bz2 else _Gzip())
            try:
                found = unpacking.unpack(rest)
            except (OSError, zlib.error) as error:
                raise DamagedError(at_byte, f"its data is damaged behind it ({error})") from error
            if found:
                yield found
            at_byte += len(rest)
            rest = b""
            if unpacking.eof:
                rest, unpacking = unpacking.rest, None
                at_byte -= len(rest)
    if unpacking is not None:
        raise DamagedError(at_byte, "it ends before its compressed data does")


class _RawFile:
    """Pieces of bytes as a file that Arrow can read."""

    closed = False

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.at = 0
        self._pieces = iter(pieces)
        self._left = b""

    def read(self, size: int) -> bytes:
        self._left = self._left or next(self._pieces, b"")
        found, self._left = self._left[:size], self._left[size:]
        self.at += len(found)
        return found

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def _unpacked_by_arrow(raw: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of Zstandard frames, which Python's own library cannot read."""
    file = _RawFile(raw)
    stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
    while True:
        try:
            piece = stream.read(_ZSTD_PIECE_BYTES)
        except OSError as error:
            raise DamagedError(file.at, f"it ends too early, or its data is damaged ({error})") from error
        if not piece:
            return
        yield piece
