"""A folder of logs that grow, rotate and are compressed, and what a program counts of them look by look."""

from __future__ import annotations

import bz2
import gzip
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from aclweb.acl.notation import KAFKA, layout_of
from aclweb.acl.notation.authorizer_log import records
from aclweb.pipeline.increments import Found, Fresh, copy_bytes, look_for_new
from aclweb.pipeline.known_content import Source

NOW = 1_800_000_000 * 1_000_000_000
"""When these tests look, in nanoseconds since 1970, whatever a real clock shows."""

DECISION = (
    "[2026-11-{day:02} {hour:02}:{minute:02}:{second:02},{milli:03}] DEBUG Principal = User:u{number} is Allowed "
    "operation = READ from host = 10.0.0.7 on resource = Topic:LITERAL:{name} for request = Fetch with "
    "resourceRefCount = 1 based on rule DefaultAllow (kafka.authorizer.logger)\n"
)


def decision(number: int, name: str = "orders") -> str:
    """Return the decision of this number; no two of them are alike."""
    at, milli = divmod(number, 1000)
    minutes, second = divmod(at, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return DECISION.format(
        day=days + 1, hour=hour, minute=minute, second=second, milli=milli, number=number, name=name
    )


def decisions(first: int, behind: int) -> bytes:
    return "".join(map(decision, range(first, behind))).encode()


def packed(name: str, data: bytes) -> bytes:
    """Return the data compressed as the name of a file says, in two parts that follow each other."""
    pack = gzip.compress if name.endswith(".gz") else bz2.compress if name.endswith(".bz2") else _zstandard
    return pack(data[: len(data) // 2]) + pack(data[len(data) // 2 :])


def _zstandard(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


class Reader:
    """Looks at logs, counts what is new, and keeps what it knows as a table does: as JSON."""

    def __init__(self, *paths: Path) -> None:
        self.paths = paths
        self.known: Sequence[Source] = ()
        self.counted: list[str] = []

    def look(self, now_ns: int = NOW) -> Found:
        return look_for_new([str(path) for path in self.paths], self.known, now_ns=now_ns)

    def read(self, now_ns: int = NOW, counts: Callable[[Fresh], bool] = bool) -> Found:
        """Look, and count what is found. counts: whether a file can still be read when it is counted."""
        found = self.look(now_ns)
        counted = [fresh for fresh in found.fresh if counts(fresh)]
        self.counted += records_in(counted)
        self.known = stored(found.after(counted))
        return found


def records_in(all_fresh: Sequence[Fresh]) -> list[str]:
    """Return the records of the bytes that a look found, read by the core."""
    counted: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for fresh in all_fresh:
            text = copy_bytes(fresh, Path(folder)).read_bytes().decode("utf-8", "replace")
            layout = layout_of(fresh.source.layout)
            if layout.name == KAFKA:
                counted += records(text.split("\n"))
            else:
                counted += [record.text for record in layout.read(text.split("\n"))]
    return counted


def stored(sources: Sequence[Source]) -> tuple[Source, ...]:
    return tuple(Source.from_dict(json.loads(json.dumps(source.as_dict()))) for source in sources)
