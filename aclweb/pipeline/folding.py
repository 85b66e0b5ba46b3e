"""What do rows of the log say of each request, added up in a worker that has all rows of it?

Spark brings the rows of a request to one worker (`by_request`); there they are columns of numbers, and adding them up
takes a fraction of what Spark's own aggregates of texts and lists take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from aclweb.pipeline.part_columns import OF_ACCESS, rows_in
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
    summed_at,
    taken_from,
    times,
    whole_numbers,
)

Batch: TypeAlias = "pa.RecordBatch | pa.Table"
Work = Callable[[pa.Schema, Iterable[Batch]], Iterator[pa.RecordBatch]]
"""What a worker does: gets the schema of what it makes as Arrow's, and a part of the rows in batches."""

_ROWS_OF_A_PART = 200_000
"""So many rows are brought to one worker, which holds them."""

MOST_ROWS_OF_ONE = 2_000_000
"""A table of so many rows is read by one worker, which takes less time than bringing its rows to several."""

_ROWS_ADDED_UP = 500_000
"""So many rows of days are added up at a time before they are brought to another worker."""

_ROWS_AT_ONCE = 10_000
_MOST_CODES = 1 << 62
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the tables show times without a zone


@dataclass(frozen=True)
class Rows:
    """What is logged of requests, wherever it is.

    frame: schemas.LOGGED, a request in several rows. size: how many rows they are, at least roughly; None if nobody
    knows. files: the same in files of an access table (`part_columns`), where one worker can hold all of them.
    """

    frame: DataFrame
    size: int | None = None
    files: DataFrame | None = None

    @property
    def is_for_one(self) -> bool:
        """Whether one worker gets all rows."""
        return self.files is not None

    def made(self, columns: Sequence[str], schema: StructType, work: Work) -> DataFrame:
        """Return what workers make of the rows, each of which has all rows of its requests.

        columns: of LOGGED, those that are wanted. work: `folded` takes what it gets.
        """
        if self.files is not None:
            return made(self.files.coalesce(1), schema, partial(_of_files, work, columns))
        return made(by_request(self.frame, self.size, *columns), schema, work)


def then(before: Work, after: Work) -> Work:
    """Return what does one thing, and another one with what that gives; both make rows of one schema."""
    return partial(_then, before, after)


def _then(before: Work, after: Work, schema: pa.Schema, rows: Iterable[Batch]) -> Iterator[pa.RecordBatch]:
    return after(schema, before(schema, rows))


def _of_files(
    work: Work, columns: Sequence[str], schema: pa.Schema, batches: Iterable[Batch]
) -> Iterator[pa.RecordBatch]:
    # In files each row is of one day.
    return work(schema, rows_in(batches, _ROWS_ADDED_UP, {*columns, "day"}))


def by_request(rows: DataFrame, size: int | None, *columns: str) -> DataFrame:
    """Return some columns of rows in parts, each of which has all rows of its requests.

    size: how many rows they are, at least roughly; None if nobody knows.
    """
    found = rows.select(*columns)
    usual = int(str(rows.sparkSession.conf.get("spark.sql.shuffle.partitions")))
    parts = -(-(size or 0) // _ROWS_OF_A_PART)
    return found.repartition(parts, *REQUEST) if parts > usual else found.repartition(*REQUEST)


def added_up(files: DataFrame) -> DataFrame:
    """Return access rows with many of their days in one row (schemas.LOGGED), without records.

    files: those of access rows (`part_columns`).
    """
    return made(files, StructType.fromDDL(LOGGED), _added_up)


def _added_up(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    held: list[pa.Table] = []
    for rows in rows_in(batches, _ROWS_ADDED_UP, OF_ACCESS.names):
        held.append(rows)
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
    key. rows: as they came, with the facts of each; texts may be numbers with a dictionary (`texts_of`).
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
            counted = whole(self.rows, "lines").is_valid()
            places = np.flatnonzero(counted)
            of_entry, facts = self.of_row[places], self.row_facts.at(places)
            day, names = codes_of(whole(self.rows, "day").filter(counted))
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
        has_text = np.asarray(whole(self.rows, "raw").is_valid())
        if chosen is not None:
            has_text &= chosen[self.of_row]
        picked = np.flatnonzero(has_text)
        raw = pc.utf8_slice_codeunits(whole(self.rows, "raw").take(pa.array(picked)), 0, TEXT_LENGTH)
        at = whole_numbers(whole(self.rows, "last_us").take(pa.array(picked)), NO_LAST)
        columns = {"key": self.of_row[picked], "at": at, "raw": raw}
        rows = pa.table(columns).sort_by([(name, "ascending") for name in columns])
        keys = whole_numbers(whole(rows, "key"))
        latest = rows.take(pa.array(np.flatnonzero(np.append(keys[1:] != keys[:-1], True))[: len(keys)]))
        found: list[str | None] = [None] * len(self)
        for key, at_us, text in zip(*(latest.column(name).to_pylist() for name in columns), strict=True):
            found[key] = sample_text(at_us, text)
        return pa.array(found, pa.string())


def sample_text(at: int, raw: str) -> str:
    """Return a record as it was logged, at most SAMPLE_LENGTH characters of it; at: microseconds since 1970."""
    time = (_EPOCH + timedelta(microseconds=at)).isoformat(" ", "milliseconds").replace(".", ",")
    return f"[{time}] {raw}"[:SAMPLE_LENGTH]


def folded(batches: Iterable[Batch], key: Sequence[str]) -> Folded | None:
    """Return rows added up by the columns of a key; None if there are none.

    batches: the columns of `key`, lines, first_us, last_us and whatever else is wanted; one that some batches have not
    is null there. A row without lines adds nothing: it says more of a key that other rows have, and is dropped
    elsewhere.
    """
    held = [pa.table(batch) for batch in batches if batch.num_rows]
    if not held:
        return None
    rows = pa.concat_tables(held, promote_options="default").combine_chunks()
    of_row, count = _numbered(rows, key)
    lines = whole_numbers(whole(rows, "lines"))
    counted = np.bincount(of_row, weights=lines, minlength=count) > 0
    if not counted.all():
        wanted = counted[of_row]
        rows = rows.filter(pa.array(wanted)).combine_chunks()
        of_row = (np.cumsum(counted) - 1)[of_row[wanted]]
        lines = lines[wanted]
    if not rows.num_rows:
        return None
    facts = _facts(*(whole(rows, name) for name in ("lines", "first_us", "last_us")))
    of_rows = facts._replace(last=np.where(lines > 0, facts.last, NO_LAST))
    # Of several places that are put at one number, the last one stays there.
    first_of_key = np.empty(int(of_row.max()) + 1, np.int64)
    first_of_key[of_row[::-1]] = np.arange(len(of_row))[::-1]
    keys = [texts_of(whole(rows, name).take(pa.array(first_of_key))) for name in key]
    facts = summed_at(of_row, len(first_of_key), of_rows)
    return Folded(rows, of_rows, pa.RecordBatch.from_arrays(keys, names=list(key)), of_row, facts)


def _numbered(rows: pa.Table, key: Sequence[str]) -> tuple[Numbers, int]:
    """Return for each row the number of its key, and how many different keys there are."""
    found, room = np.zeros(rows.num_rows, np.int64), 1
    for name in key:
        codes, values = codes_of(whole(rows, name))
        if room * len(values) >= _MOST_CODES:
            found, room = _from_nought(found)
        found, room = found * len(values) + codes, room * len(values)
    return _from_nought(found)


def _from_nought(codes: Numbers) -> tuple[Numbers, int]:
    """Return numbers from 0 on in the place of larger ones, and how many different ones there are."""
    encoded = pa.array(codes).dictionary_encode()
    return whole_numbers(encoded.indices), len(encoded.dictionary)


def whole(rows: pa.Table, name: str) -> pa.Array:
    """Return a column of a table in one piece."""
    column = rows.column(name).combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def texts_of(values: pa.Array) -> pa.Array:
    """Return a column whose texts may be numbers with a dictionary, as texts."""
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


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


def made(rows: DataFrame, schema: StructType, work: Work) -> DataFrame:
    """Return what a worker makes of each part of rows; work: gets the schema as Arrow's, and the part in batches."""
    return rows.mapInArrow(_Work(work, to_arrow_schema(schema)), schema)


@dataclass(frozen=True)
class _Work:
    work: Work
    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.work(self.schema, batches)
