"""How does the result of a job appear, all at once or not at all?

Everything is written into a hidden folder beside the wanted one, which is renamed as the
very last step. So whoever finds the folder finds the whole result. An object store renames no folder: there the
manifest is put last, and whoever finds the manifest finds the whole result.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from aclweb.pipeline.storage import DistantFolder, StorageError, folder_at, is_distant

MANIFEST = "manifest.json"

_ROWS_AT_ONCE = 50_000
"""So many rows of a large table are brought here at a time, and are at most a group of its file."""

_GROUP_BYTES = 64 << 20
"""A group of fewer rows takes at most so much memory, unpacked; a single row may take more."""


class ResultError(Exception):
    """A folder that cannot take the result; the message names it and what would be right."""


@contextmanager
def new_result(out: Path) -> Iterator[Path]:
    """Yield an empty folder to write into; it becomes `out` if the block ends well, and is gone if not.

    An earlier result at `out` is replaced. Anything else there is left alone and raises
    ResultError.
    """
    if out.exists() and not (out / MANIFEST).is_file() and not _is_empty_folder(out):
        raise ResultError(_no_result(out))
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = out.parent / f".{out.name}.{os.getpid()}.unfinished"
    replaced = out.parent / f".{out.name}.{os.getpid()}.replaced"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        yield unfinished
        if out.exists():
            out.rename(replaced)
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)


@contextmanager
def result_at(out: str, spark: SparkSession) -> Iterator[Path]:
    """Yield where a job is to write its result, a folder of this machine; then it is at `out`, a path or an address.

    What happens to an earlier result, and to anything else that is there, is as in `new_result`.
    """
    if not is_distant(out):
        yield Path(out.removeprefix("file://"))
        return
    folder = folder_at(out, spark)
    assert isinstance(folder, DistantFolder)
    names = folder.names()
    if names and MANIFEST not in names:
        raise ResultError(_no_result(out))
    with tempfile.TemporaryDirectory(prefix="aclweb-result-") as directory:
        result = Path(directory) / "result"
        yield result
        if folder.is_object_store:
            _put_into(folder, names, result)
        else:
            _put_beside(folder, result)


def _put_into(folder: DistantFolder, names: Iterable[str], result: Path) -> None:
    """Replace the files in a folder of an object store."""
    # Without its manifest nobody takes what is left for a result.
    for name in sorted(names, key=lambda name: name != MANIFEST):
        folder.remove(name)
    for file in sorted(result.iterdir(), key=lambda file: file.name == MANIFEST):
        folder.send(file, file.name)


def _put_beside(folder: DistantFolder, result: Path) -> None:
    """Put a result beside the folder, and have it take the folder's place."""
    parent, name = folder.above
    unfinished, replaced = (f".{name}.{uuid.uuid4().hex}.{word}" for word in ("unfinished", "replaced"))
    try:
        for file in sorted(result.iterdir()):
            parent.send(file, f"{unfinished}/{file.name}")
        is_there = parent.has(name)
        if is_there:
            parent.move(name, replaced)
        try:
            parent.move(unfinished, name)
        except StorageError:
            if is_there:
                parent.move(replaced, name)
            raise
    finally:
        # What failed is said by the error that is on its way.
        with suppress(StorageError):
            parent.remove(unfinished)
    if is_there:
        parent.remove(replaced)


def _no_result(out: object) -> str:
    return f"{out} is there already and is no result of an earlier job; name another folder."


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    """Write one table as `name`.parquet."""
    # Spark's own notes in the schema differ between runs and say nothing to a reader; so do its batches.
    plain = table.replace_schema_metadata(None).combine_chunks()
    pq.write_table(plain, folder / f"{name}.parquet", compression="zstd")


def write_frame(
    folder: Path,
    name: str,
    frame: DataFrame,
    *key: str | Column,
    rows: int | None = None,
    look: Callable[[pa.Table], None] = lambda _: None,
) -> int:
    """Write the rows of a frame as `name`.parquet, ordered by `key`, and return their number.

    The columns of `key` tell every row from all others. Neither this process nor Spark's driver holds more than some
    rows at once. frame: kept. rows: how many it has, None where nobody has counted them. look: is given all rows, some
    at a time.
    """
    if rows is None:
        rows = frame.count()
    parts = max(1, -(-rows // _ROWS_AT_ONCE))
    placed = frame.repartitionByRange(parts, *key) if parts > 1 else frame.coalesce(1)
    packed = placed.sortWithinPartitions(*key).mapInArrow(_packed, "rows binary").toLocalIterator()
    schema = to_arrow_schema(frame.schema)
    with pq.ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd") as writer:
        for table in _in_groups((_unpacked(row["rows"]) for row in packed), schema):
            look(table)
            writer.write_table(table)
    return rows


def _packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield each batch as one value, which Spark moves without reading it."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=_SMALL) as stream:
            stream.write_batch(batch)
        yield pa.RecordBatch.from_arrays(
            [pa.array([sink.getvalue().to_pybytes()], pa.binary())], names=["rows"]
        )


_SMALL = pa.ipc.IpcWriteOptions(compression="zstd")


def _unpacked(packed: bytes) -> pa.Table:
    with pa.ipc.open_stream(packed) as stream:
        return stream.read_all()


def _in_groups(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of tables in groups that depend on the rows alone, and not on where Spark parts them."""
    waiting = schema.empty_table()
    for table in tables:
        waiting = pa.concat_tables([waiting, table.cast(schema)])
        while waiting.num_rows >= _ROWS_AT_ONCE:
            group, waiting = _parted(waiting)
            yield group
    while waiting.num_rows:
        group, waiting = _parted(waiting)
        yield group


def _parted(rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the first group of rows, and the others."""
    size = min(rows.num_rows, _ROWS_AT_ONCE)
    while size > 1 and rows.slice(0, size).nbytes > _GROUP_BYTES:
        size = -(-size // 2)
    return rows.slice(0, size).combine_chunks(), rows.slice(size)


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    text = json.dumps(manifest, indent=2, sort_keys=True, default=str)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
