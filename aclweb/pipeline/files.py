"""Which log files are there, and can each of them be read to its end?

A file that cannot costs itself and is named with its state; the others are read all the same.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from aclweb.pipeline.contents import DamagedError, decompressed, is_compressed
from aclweb.pipeline.failures import SPARK_ERRORS, cause_of

READ = "read"
TRUNCATED = "truncated"
GONE = "gone"
NOT_GZIP = "not a gzip file"
REFUSED = "refused"
COPY = "copy"

_GZIP = b"\x1f\x8b"
_MAGIC = {_GZIP: ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
_NOT_READ = (".xz", ".lz4", ".snappy", ".deflate", ".zip", ".lzma")
_MAGIC_NOT_READ = (b"\xfd7zXZ\x00", b"PK\x03\x04", b"\x04\x22\x4d\x18")
_FIRST_BYTES = 6
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# What no text holds but for names that somebody made up: all control characters without white space and escape.
_CONTROLS = bytes({*range(1, 32), 127} - {*b"\t\n\v\f\r\x1b"})
_MOST_CONTROLS = 0.05
_CHUNK_BYTES = 1 << 20
# What a pattern of Hadoop gives a meaning to; a backslash takes it away.
_PATTERN_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\[]{}*?,"})


class SourceError(Exception):
    """Log files that cannot be read; the message names the path and what would be right."""


@dataclass(frozen=True)
class FileState:
    """How far a file can be read.

    state: READ, TRUNCATED (readable up to byte `at_byte` of it, None where that is unknown),
    GONE, NOT_GZIP, REFUSED, or COPY: all that it holds is read in another file. reason: a sentence, empty for READ.
    """

    state: str
    reason: str = ""
    at_byte: int | None = None

    @property
    def is_readable(self) -> bool:
        return self.state in (READ, TRUNCATED)

    def as_dict(self) -> dict[str, Any]:
        """Return the keys that a file has in the manifest."""
        found: dict[str, Any] = {"state": self.state}
        if self.reason:
            found["reason"] = self.reason
        if self.at_byte is not None:
            found["at_byte"] = self.at_byte
        return found


def log_files(paths: Sequence[str], *, recursive: Collection[str] = ()) -> list[str]:
    """Return the files that `paths` mean, sorted, each once: files, folders of files, and patterns with `*`.

    recursive: those of `paths` whose folders mean the files of the folders in them too. A path with `://` is left to
    Spark. Raises SourceError for one that means no file.
    """
    found: set[str] = set()
    for path in paths:
        files = [path] if "://" in path else _local_files(path, is_recursive=path in recursive)
        if not files:
            raise SourceError(_why_no_file(path, is_recursive=path in recursive))
        found.update(files)
    return sorted(found)


def _why_no_file(path: str, *, is_recursive: bool) -> str:
    """Return the sentence for a path that means no file."""
    given = Path(path)
    if not given.is_dir():
        return f"No log file is at {path!r}; name a file, a folder with files in it, or a pattern."
    if not is_recursive and any(found.is_dir() for found in _shown_in(given)):
        return f"The folder {path!r} has folders in it and no file; name one of them, or read them too (--recursive)."
    return f"The folder {path!r} has no file in it; name one that has, a file, or a pattern."


def bytes_in(files: Sequence[str]) -> float:
    """Return the size of the files; infinite if one of them is not on this machine."""
    return sum(float("inf") if "://" in file else _size(file) for file in files)


def address(file: str) -> str:
    """Return the path that Spark gets for a file: its very name, whatever signs it holds."""
    return file if "://" in file else f"file://{escaped(file)}"


def escaped(path: str) -> str:
    """Return the pattern of Hadoop that means one path."""
    return path.translate(_PATTERN_SIGNS)


def look(file: str) -> FileState:
    """Return what the beginning of a file tells, without reading the rest."""
    if "://" in file:
        return FileState(READ)
    try:
        file.encode("utf-8")
        with open(file, "rb") as opened:
            first = opened.read(_FIRST_BYTES)
    except (OSError, UnicodeEncodeError) as error:
        return why_not_opened(error)
    return readable_state(file, first)


def why_not_opened(error: OSError | UnicodeEncodeError) -> FileState:
    """Return the state of a local file that could not be opened."""
    if isinstance(error, UnicodeEncodeError):
        return FileState(REFUSED, "Its name is not UTF-8 text; rename it.")
    if isinstance(error, FileNotFoundError):
        return _gone()
    return FileState(REFUSED, f"The system says: {error.strerror or error}.")


def state_by_first_bytes(file: str, first: bytes) -> FileState:
    """Return whether the name of a file says how its content is compressed. first: two bytes of it or more."""
    if file.endswith(".gz") and first and not first.startswith(_GZIP):
        return FileState(NOT_GZIP, "Its name ends in .gz and its content is no gzip data; rename it.")
    if not file.endswith(".gz") and first.startswith(_GZIP):
        return FileState(REFUSED, "It is compressed and its name does not end in .gz; rename it.")
    return FileState(READ)


def readable_state(file: str, first: bytes) -> FileState:
    """Return whether a file can be read. first: six bytes of it or more."""
    state = state_by_first_bytes(file, first)
    if file.endswith(_NOT_READ) or (first.startswith(_MAGIC_NOT_READ) and not is_compressed(file)):
        return FileState(REFUSED, "It is compressed in a way that is not read here; use .gz, .bz2 or .zst.")
    for magic, ending in _MAGIC.items():
        if state.is_readable and first.startswith(magic) and not is_compressed(file):
            return FileState(REFUSED, f"It is compressed and its name does not end in {ending}; rename it.")
    return state


def state_of_unknown(beginning: bytes) -> FileState:
    """Return the state of a file in which no layout was found. beginning: some of its first bytes, decompressed."""
    text = beginning.replace(b"\0", b"")
    if beginning.startswith(_UTF16_MARKS) or _is_every_other_zero(beginning):
        return FileState(
            REFUSED, "It looks like UTF-16; convert it to UTF-8, for instance with iconv -f UTF-16 -t UTF-8."
        )
    if len(text) - len(text.translate(None, _CONTROLS)) > _MOST_CONTROLS * len(text):
        return FileState(REFUSED, "It holds binary data and no log; name files of logs only.")
    return FileState(READ)


def _is_every_other_zero(data: bytes) -> bool:
    """Whether most characters are written as two bytes of which always the same one is zero."""
    zeros = sorted(half.count(0) for half in (data[::2], data[1::2]))
    return zeros[1] * 4 > len(data) and zeros[0] * 8 < zeros[1]


def copy_of(path: str) -> FileState:
    """Return the state of a file whose content is read in the file `path`."""
    return FileState(COPY, f"All that it holds is also in {path}, and is counted once.")


def examine(spark: SparkSession, files: Sequence[str]) -> Mapping[str, FileState]:
    """Return the state of each file, read to its end: those of a file system by the executors, all at once."""
    local = [file for file in files if "://" not in file]
    states = {file: _read_by_spark(spark, file) for file in files if "://" in file}
    if local:
        found = spark.sparkContext.parallelize(local, min(len(local), 64)).map(read_through).collect()
        states |= dict(zip(local, found, strict=True))
    return states


def read_through(file: str) -> FileState:
    """Return the state of one local file after decompressing all of it."""
    state = look(file)
    if state.state != READ or not is_compressed(file):
        return state
    try:
        with open(file, "rb") as opened:
            for _ in decompressed(file, iter(partial(opened.read, _CHUNK_BYTES), b"")):
                pass
    except DamagedError as damage:
        return truncated(damage)
    except OSError as error:
        return why_not_opened(error)
    return FileState(READ)


def _read_by_spark(spark: SparkSession, file: str) -> FileState:
    try:
        spark.read.text(address(file)).count()
    except SPARK_ERRORS as error:
        cause = cause_of(error)
        if "FileNotFound" in cause or "PATH_NOT_FOUND" in cause or "does not exist" in cause:
            return _gone()
        if "EOFException" in cause or "Unexpected end" in cause:
            return FileState(
                TRUNCATED, "It ends before its compressed data does; what comes before that was read."
            )
        return FileState(REFUSED, f"{cause}")
    return FileState(READ)


def _gone() -> FileState:
    return FileState(GONE, "It was there when the files were listed and is gone.")


def truncated(damage: DamagedError) -> FileState:
    """Return the state of a file whose compressed data cannot be read to its end."""
    return FileState(
        TRUNCATED,
        f"It can be read up to byte {damage.at_byte:,}: {damage.why}. What comes before that was read.",
        damage.at_byte,
    )


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size
    except OSError:
        return 0


def _local_files(path: str, *, is_recursive: bool) -> list[str]:
    given = Path(path)
    if given.is_dir():
        candidates = list(_files_below(given) if is_recursive else _shown_in(given))
    elif given.exists():
        candidates = [given]
    else:
        candidates = [Path(match) for match in glob.glob(path)]
        if is_recursive:
            candidates = [
                file for found in candidates for file in (_files_below(found) if found.is_dir() else (found,))
            ]
    return [str(file.resolve()) for file in candidates if file.is_file()]


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder and in those in it, but for folders that are links."""
    for found in _shown_in(folder):
        if found.is_dir() and not found.is_symlink():
            yield from _files_below(found)
        else:
            yield found


def _shown_in(folder: Path) -> list[Path]:
    """Return what is in a folder under names that hide nothing."""
    return [found for found in folder.iterdir() if not found.name.startswith((".", "_"))]
