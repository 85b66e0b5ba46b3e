"""What do rows of the log say of each request, added up in a worker that has all rows of it?

Spark brings the rows of a request to one worker (`by_request`); there they are columns of numbers, and adding them up
takes a fraction of what Spark's own aggregates of texts and lists take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.pipeline.record_lines import SAMPLE_LENGTH, TEXT_LENGTH
from aclweb.pipeline.schemas import ACCESS_KEY, LOGGED, REQUEST
from aclweb.pipeline.sums import (
    NO_FIRST,
    NO_LAST,
    Facts,
    Numbers,
    Truths,
    codes_of,
    in_lists,
    parents_of,
    summed,
    taken_from,
    times,
    whole_numbers,
)

_ROWS_OF_A_PART = 200_000
"""So many rows are brought to one worker, which holds them."""

_ROWS_ADDED_UP = 500_000
"""So many rows of days are added up at a time before they are brought to another worker."""

_ROWS_AT_ONCE = 10_000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the tables show times without a zone


def by_request(rows: DataFrame, size: int | None, *columns: str) -> DataFrame:
    """Return some columns of rows in parts, each of which has all rows of its requests.

    size: how many rows they are, at least roughly; None if nobody knows.
    """
    found = rows.select(*columns)
    usual = int(str(rows.sparkSession.conf.get("spark.sql.shuffle.partitions")))
    parts = -(-(size or 0) // _ROWS_OF_A_PART)
    return found.repartition(parts, *REQUEST) if parts > usual else found.repartition(*REQUEST)


def added_up(access: DataFrame) -> DataFrame:
    """Return access rows (schemas.ACCESS) with many of their days in one row (schemas.LOGGED), without records."""
    columns = (*ACCESS_KEY, "day", "lines", "first_us", "last_us")
    return made(access.select(*columns), StructType.fromDDL(LOGGED), _added_up)


def _added_up(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) >= _ROWS_ADDED_UP:
            yield from _rows_of(folded(held, ACCESS_KEY), schema)
            held = []
    yield from _rows_of(folded(held, ACCESS_KEY), schema)


def _rows_of(found: Folded | None, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if found is None:
        return
    key, day, names, facts = found.days
    entries = pa.StructArray.from_arrays(
        [
            taken_from(names, day).cast(pa.string()),
            pa.array(facts.lines),
            times(facts.first),
            times(facts.last),
        ],
        names=["day", "lines", "first_us", "last_us"],
    )
    columns = {name: found.keys.column(name) for name in ACCESS_KEY} | {
        "lines": pa.array(found.facts.lines),
        "first_us": times(found.facts.first),
        "last_us": times(found.facts.last),
        "days": in_lists(key, len(found), entries),
    }
    yield from in_batches(table_of(columns, len(found), schema))


@dataclass(frozen=True)
class Folded:
    """Rows added up by a key; each row is of one `day`, or has `days`.

    keys: the columns of the key, a row for each different one. of_row: the place in `keys` of each row. facts: of each
    key. rows: as they came, with the facts of each.
    """

    rows: pa.Table
    row_facts: Facts
    keys: pa.RecordBatch
    of_row: Numbers
    facts: Facts

    def __len__(self) -> int:
        return len(self.facts.lines)

    @cached_property
    def days(self) -> tuple[Numbers, Numbers, list[str], Facts]:
        """Return the place of the key and the number of the day of each different such pair, the days, and facts."""
        if "day" in self.rows.column_names:
            of_entry, facts = self.of_row, self.row_facts
            day, names = codes_of(whole(self.rows, "day"))
        else:
            lists = whole(self.rows, "days")
            entries = lists.flatten()
            of_entry = self.of_row[parents_of(lists)]
            day, names = codes_of(entries.field("day"))
            facts = _facts(entries.field("lines"), entries.field("first_us"), entries.field("last_us"))
        key, day, facts = summed(of_entry, day, facts)
        return key, day, names, facts

    def samples(self, chosen: Truths | None = None) -> pa.Array:
        """Return the latest record of each key, or of each chosen one, null where the rows have none.

        Of two of one time, the one whose text is later in the alphabet.
        """
        columns = {"key": self.of_row, "at": self.rows.column("last_us"), "raw": self.rows.column("raw")}
        rows = pa.table(columns).filter(pc.field("raw").is_valid())
        if chosen is not None:
            rows = rows.filter(pa.array(chosen[whole_numbers(whole(rows, "key"))]))
        text = pc.utf8_slice_codeunits(whole(rows, "raw"), 0, TEXT_LENGTH)
        rows = rows.set_column(2, "raw", text).sort_by([(name, "ascending") for name in columns])
        keys = whole_numbers(whole(rows, "key"))
        latest = rows.take(pa.array(np.flatnonzero(np.append(keys[1:] != keys[:-1], True))[: len(keys)]))
        found: list[str | None] = [None] * len(self)
        for key, at, raw in zip(*(latest.column(name).to_pylist() for name in columns), strict=True):
            found[key] = sample_text(at, raw)
        return pa.array(found, pa.string())


def sample_text(at: int, raw: str) -> str:
    """Return a record as it was logged, at most SAMPLE_LENGTH characters of it; at: microseconds since 1970."""
    time = (_EPOCH + timedelta(microseconds=at)).isoformat(" ", "milliseconds").replace(".", ",")
    return f"[{time}] {raw}"[:SAMPLE_LENGTH]


def folded(batches: Iterable[pa.RecordBatch], key: Sequence[str]) -> Folded | None:
    """Return rows added up by the columns of a key; None if there are none.

    batches: the columns of `key`, lines, first_us, last_us and whatever else is wanted. A row without lines adds
    nothing: it says more of a key that other rows have, and is dropped elsewhere.
    """
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return None
    rows = pa.Table.from_batches(held).combine_chunks()
    of_row = _numbered(rows, key)
    lines = whole_numbers(whole(rows, "lines"))
    counted = np.bincount(of_row, weights=lines) > 0
    if not counted.all():
        wanted = counted[of_row]
        rows = rows.filter(pa.array(wanted)).combine_chunks()
        _, of_row = np.unique(of_row[wanted], return_inverse=True)
        lines = lines[wanted]
    if not rows.num_rows:
        return None
    facts = _facts(*(whole(rows, name) for name in ("lines", "first_us", "last_us")))
    of_rows = facts._replace(last=np.where(lines > 0, facts.last, NO_LAST))
    _, _, facts = summed(of_row, np.zeros(len(of_row), np.int64), of_rows)
    _, first_of_key = np.unique(of_row, return_index=True)
    keys = [whole(rows, name).take(pa.array(first_of_key)) for name in key]
    return Folded(rows, of_rows, pa.RecordBatch.from_arrays(keys, names=list(key)), of_row, facts)


def _numbered(rows: pa.Table, key: Sequence[str]) -> Numbers:
    """Return for each row the number of its key."""
    found = np.zeros(rows.num_rows, np.int64)
    for name in key:
        codes, values = codes_of(whole(rows, name))
        _, found = np.unique(found * len(values) + codes, return_inverse=True)
    return found


def whole(rows: pa.Table, name: str) -> pa.Array:
    """Return a column of a table in one piece."""
    column = rows.column(name).combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def _facts(lines: pa.Array, first: pa.Array, last: pa.Array) -> Facts:
    counted = whole_numbers(lines)
    hours = np.zeros(len(counted), np.int64)
    return Facts(counted, whole_numbers(first, NO_FIRST), whole_numbers(last, NO_LAST), hours)


def in_batches(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield rows some at a time."""
    yield from rows.to_batches(max_chunksize=_ROWS_AT_ONCE)


def table_of(columns: Mapping[str, pa.Array], size: int, schema: pa.Schema) -> pa.Table:
    """Return rows of a schema in which the columns that are not given are null."""
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(size, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def made(
    rows: DataFrame,
    schema: StructType,
    work: Callable[[pa.Schema, Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
) -> DataFrame:
    """Return what a worker makes of each part of rows; work: gets the schema as Arrow's, and the part in batches."""
    return rows.mapInArrow(_Work(work, to_arrow_schema(schema)), schema)


@dataclass(frozen=True)
class _Work:
    work: Callable[[pa.Schema, Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.work(self.schema, batches)
