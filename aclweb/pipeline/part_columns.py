"""What do parts of a table hold, read in columns by the worker that needs them?

Spark brings the bytes of each file, from wherever Spark opens it. Taking rows out of Parquet in the JVM, and giving
them to Python, takes several times as long as Arrow takes for columns; and a name that comes a thousand times stays a
number.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from aclweb.pipeline.schemas import ACCESS_KEY, REQUEST

FILES = "path string, content binary"
"""One row for a file: where it is, and its bytes."""

# Rows without a day (records without a time) are in the folder that Hive and Spark name so.
NO_DAY = "__HIVE_DEFAULT_PARTITION__"

_DAY = "day="
_IS_TRUTH = "allowed"
_TEXT = pa.dictionary(pa.int32(), pa.string())
_NUMBERS = ("lines", "first_us", "last_us")

OF_ACCESS = pa.schema(
    [(name, pa.bool_() if name == _IS_TRUTH else _TEXT) for name in (*ACCESS_KEY, "day")]
    + [(name, pa.int64()) for name in _NUMBERS]
)
OF_SAMPLES = pa.schema(
    [(name, _TEXT) for name in REQUEST]
    + [(_IS_TRUTH, pa.bool_()), ("last_us", pa.int64()), ("raw", pa.string())]
)


def rows_in(batches: Iterable[pa.RecordBatch], at_once: int, wanted: Container[str]) -> Iterator[pa.Table]:
    """Yield what parts of access rows and of samples hold, at most so many rows at a time.

    batches: FILES. wanted: which columns of OF_ACCESS and OF_SAMPLES; one that a file does not have is null.
    """
    of_access, of_samples = (
        pa.schema([field for field in schema if field.name in wanted]) for schema in (OF_ACCESS, OF_SAMPLES)
    )
    for batch in batches:
        for path, content in zip(batch.column("path").to_pylist(), batch.column("content"), strict=True):
            place = path.split("/")[-2]
            # Samples are of no day.
            schema = of_access if place.startswith(_DAY) else of_samples
            yield from _rows_of(place, content.as_buffer(), at_once, schema)


def _rows_of(place: str, content: pa.Buffer, at_once: int, schema: pa.Schema) -> Iterator[pa.Table]:
    day = place.removeprefix(_DAY) if place.startswith(_DAY) else None
    metadata = pq.read_metadata(pa.BufferReader(content))
    there = [name for name in schema.names if name in metadata.schema.names]
    numbered = [name for name in there if schema.field(name).type == _TEXT]
    file = pq.ParquetFile(pa.BufferReader(content), metadata=metadata, read_dictionary=numbered)
    for rows in file.iter_batches(at_once, columns=there, use_threads=False):
        columns = [
            rows.column(field.name).cast(field.type)
            if field.name in there
            else _made(field, day, rows.num_rows)
            for field in schema
        ]
        yield pa.Table.from_arrays(columns, schema=schema)


def _made(field: pa.Field, day: str | None, size: int) -> pa.Array:
    if field.name != "day" or day == NO_DAY:
        return pa.nulls(size, field.type)
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), size), pa.array([day]))
