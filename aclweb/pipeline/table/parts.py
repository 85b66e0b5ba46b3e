"""Which Parquet file is a part of the access table, and is it still what was written?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aclweb.pipeline.coverage import FIRSTS, LASTS, MASKS, SUMS
from aclweb.pipeline.part_columns import NO_DAY
from aclweb.pipeline.storage import Folder
from aclweb.pipeline.table import failpoints

ACCESS, COVERAGE, NOTES, SAMPLES = "access", "coverage", "notes", "samples"
DENIED = "denied_by_hour"
BY_DAY = (ACCESS, COVERAGE, NOTES, DENIED)

COVERAGE_SCHEMA = pa.schema(
    [("file", pa.string()), ("broker", pa.string())]
    + [(name, pa.int64()) for name in (*SUMS, *FIRSTS, *LASTS)]
    + [(name, pa.int32()) for name in MASKS]
)
NOTES_SCHEMA = pa.schema(
    # Tables of earlier versions have no broker.
    [(name, pa.string()) for name in ("broker", "kind", "reason", "noted")]
    + [("lines", pa.int64()), ("sample", pa.string())]
)

_ROWS_AT_ONCE = 65_536


class TableError(Exception):
    """An access table that cannot be read or changed; the message names the file and what would be right."""


class NoTableError(TableError):
    """A folder without an access table of the cluster; the message names the clusters that it has."""


@dataclass(frozen=True)
class Part:
    """One Parquet file: its path in the cluster's folder, rows, their `lines` added, bytes, and SHA-256."""

    name: str
    rows: int
    lines: int
    bytes: int
    digest: str

    def as_list(self) -> list[Any]:
        return [self.name, self.rows, self.lines, self.bytes, self.digest]


def place_of(dataset: str, day: str | None) -> str:
    """Return the folder of a day's parts in the cluster's folder."""
    return f"{dataset}/day={day or NO_DAY}"


def adopt(cluster: Folder, file: str, name: str, *, lines: str | None) -> Part:
    """Give a written file its place `name` in the cluster's folder, safe from a power cut; return the part.

    lines: the column to add up, None where there is none.
    """
    with cluster.copies([file]) as (read,):
        part = part_of(read, name, lines=lines)
    place(cluster, file, part)
    return part


def part_of(file: Path, name: str, *, lines: str | None) -> Part:
    """Return what a file will be as a part; lines: as in `adopt`."""
    return Part(name, _rows_of(file), _sum_of(file, lines), file.stat().st_size, _digest_of(file))


def place(cluster: Folder, file: str, part: Part) -> None:
    """Give a written file the place of the part that it is."""
    cluster.move(file, part.name)
    failpoints.hit("part")


def check(cluster: Folder, parts: Iterable[Part]) -> None:
    """Raise TableError for the first part that is missing or has another size than it was written with."""
    parts = list(parts)
    sizes = cluster.sizes([part.name for part in parts])
    for part in parts:
        size = sizes.get(part.name)
        if size is None:
            raise TableError(
                f"{cluster}/{part.name} is missing, a part of the access table; put it back from a backup, or make the "
                "table anew from the logs in another folder."
            )
        if size != part.bytes:
            raise TableError(
                f"{cluster}/{part.name} has {size:,} bytes and was written with {part.bytes:,}; put it back from a "
                "backup, or make the table anew from the logs in another folder."
            )


def check_content(cluster: Folder, parts: Iterable[Part]) -> None:
    """Raise TableError for the first part whose bytes are not those that were written."""
    parts = list(parts)
    check(cluster, parts)
    for part in parts:
        with cluster.copies([part.name]) as (file,):
            if _digest_of(file) != part.digest:
                raise TableError(
                    f"{cluster}/{part.name} holds other bytes than were written; put it back from a backup, or make "
                    "the table anew from the logs in another folder."
                )


def rows_of(cluster: Folder, parts: Sequence[Part], schema: pa.Schema) -> list[list[dict[str, Any]]]:
    """Return the rows of each of some small parts; a column that a part does not have is null."""
    with cluster.copies([part.name for part in parts]) as files:
        return [_rows_in(file, schema) for file in files]


def _rows_in(file: Path, schema: pa.Schema) -> list[dict[str, Any]]:
    # A file is opened by itself: its folder's name is no column of it.
    table = pq.ParquetFile(file).read()
    for name in schema.names:
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(table.num_rows, schema.field(name).type))
    return list(table.select(schema.names).to_pylist())


def _rows_of(file: Path) -> int:
    return int(pq.ParquetFile(file).metadata.num_rows)


def _sum_of(file: Path, column: str | None) -> int:
    if column is None:
        return 0
    batches = pq.ParquetFile(file).iter_batches(_ROWS_AT_ONCE, columns=[column])
    return sum(sum(batch.column(0).to_pylist()) for batch in batches)


def _digest_of(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
