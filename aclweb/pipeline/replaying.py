"""What becomes of logged requests with an edit, decided and added up by the workers that have them?

Each worker decides its requests by the ACLs before and after, and adds up what turns: of each principal, resource and
day. Where several have some, those sums are added by name, and at the end one worker puts the rows that matter most in
order; only they leave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.broadcast import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from aclweb.acl.authorizer import AclIndex, Result
from aclweb.acl.model import Delta
from aclweb.pipeline.batch import Answers, answer_texts, decide_all, requests_of
from aclweb.pipeline.decisions import Shipped, bindings_of
from aclweb.pipeline.folding import Batch, Folded, Rows, folded, in_batches, made, table_of, then
from aclweb.pipeline.schemas import REPLAYED, REQUEST
from aclweb.pipeline.sums import NO_LAST, ROOM, Facts, Numbers, Truths, codes_of, times

MOST_FLIPS = 100_000
"""So many rows of each table are written, those with most lines; the manifest says how many requests turn."""

_MOST_DAYS = 10_000
_MOST_ROWS = 3 * MOST_FLIPS + _MOST_DAYS

DENIED, ALLOWED, UNCLEAR, UNCHANGED = "denied", "allowed", "unclear", "unchanged"
CHANGES = (DENIED, ALLOWED, UNCLEAR, UNCHANGED)

# What sums are of. PRINCIPALS: how many have some lines of a change.
PRINCIPAL, RESOURCE, DAY, CHANGE, PRINCIPALS = "principal", "resource", "day", "change", "principals"

_ANSWERS = ("before", "basis_before", "after", "basis_after")
_COLUMNS = (*REQUEST, "lines", "first_us", "last_us", "days", "raw")
# Where the sums of a name come together.
_NAMES = ("sum.of", "sum.a", "sum.b")


def decide_both(requests: DataFrame, edit: Broadcast[Edit]) -> DataFrame:
    """Return requests with the answers to each before and after the edit.

    requests: the columns of schemas.REQUEST, each request once, with any others. The answers are texts: before,
    basis_before, after and basis_after.
    """
    schema = StructType([*requests.schema, *(StructField(name, StringType()) for name in _ANSWERS)])
    return requests.mapInArrow(partial(_decided_batches, to_arrow_schema(schema), edit), schema)


def replayed(logged: Rows, edit: Broadcast[Edit]) -> DataFrame:
    """Return what becomes of the logged requests, in order (schemas.REPLAYED); some rows, however much is logged.

    Of what the log holds of a request the latest record is shown, whatever the answer.
    """
    schema, decide = StructType.fromDDL(REPLAYED), partial(_replayed, edit)
    if logged.is_for_one:
        found = logged.made(_COLUMNS, schema, then(then(decide, _summed), _most))
    else:
        # What turns has no sums, and is parted by its principal.
        parts = logged.made(_COLUMNS, schema, decide).repartition(*_NAMES, "principal")
        found = made(made(parts, schema, _summed).coalesce(1), schema, _most)
    return found.limit(_MOST_ROWS)


@dataclass(frozen=True)
class Edit:
    """The ACLs and what is added and removed, as they travel to the executors."""

    snapshot: Shipped
    delta: Delta


class _Indexes:
    """The ACLs before and after an edit, filed for questions."""

    def __init__(self, edit: Edit) -> None:
        bindings = bindings_of(edit.snapshot)
        self.settings = edit.snapshot.settings
        self.before = AclIndex(bindings)
        self.after = AclIndex(edit.delta.applied_to(bindings))


_known: list[tuple[Edit, _Indexes]] = []


def _indexes_of(edit: Edit) -> _Indexes:
    """Return this worker's indexes for the edit, made the first time it is asked for."""
    if not _known or _known[0][0] != edit:
        _known[:] = [(edit, _Indexes(edit))]
    return _known[0][1]


def _decided_batches(
    schema: pa.Schema, edit: Broadcast[Edit], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    known = _indexes_of(edit.value)
    for batch in batches:
        asked = requests_of(batch)
        answers = [
            texts
            for index in (known.before, known.after)
            for texts in answer_texts(decide_all(asked, index, known.settings))
        ]
        yield pa.RecordBatch.from_arrays([*batch.columns, *answers], schema=schema)


def _replayed(edit: Broadcast[Edit], schema: pa.Schema, batches: Iterable[Batch]) -> Iterator[pa.RecordBatch]:
    known = _indexes_of(edit.value)
    found = folded(batches, REQUEST)
    if found is None:
        return
    asked = requests_of(found.keys)
    before, after = (decide_all(asked, index, known.settings) for index in (known.before, known.after))
    change = _changes(before, after)
    turned = change != CHANGES.index(UNCHANGED)
    yield from in_batches(table_of(_flips(found, change, turned, (before, after)), int(turned.sum()), schema))
    sums = _sums(found, change)
    yield from in_batches(table_of({"sum": sums}, len(sums), schema))


def _summed(schema: pa.Schema, batches: Iterable[Batch]) -> Iterator[pa.RecordBatch]:
    """Yield the sums of each name added, and how many principals have some lines of each change.

    batches: schemas.REPLAYED, all sums of the names that are in them. What does not matter most is left out.
    """
    flips, held = _Most(_FLIPS), list[pa.Table]()
    for batch in batches:
        turned, sums = parted(pa.table(batch))
        flips.add(turned)
        held.append(sums)
    if not held:
        return
    yield from in_batches(flips.rows().cast(schema))
    numbers = [(name, "sum") for name in (*CHANGES, "lines", "requests")]
    found = pa.concat_tables(held).group_by(["of", "a", "b"], use_threads=False)
    added = found.aggregate([*numbers, ("last_denied_us", "max")])
    added = added.rename_columns(
        [name.removesuffix("_sum").removesuffix("_max") for name in added.column_names]
    )
    principals = added.filter(pc.field("of") == PRINCIPAL)
    who = [int(np.count_nonzero(principals[name].to_numpy())) for name in CHANGES]
    for of in (PRINCIPAL, RESOURCE):
        most = _Most(_SUMS)
        most.add(added.filter(pc.field("of") == of))
        yield from _as_sums(most.rows(), schema)
    yield from _as_sums(added.filter(pc.field("of").isin([DAY, CHANGE])), schema)
    counted = _sum(PRINCIPALS, list(CHANGES), {"requests": pa.array(who)})
    yield from in_batches(table_of({"sum": counted}, len(counted), schema))


def _most(schema: pa.Schema, batches: Iterable[Batch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of `_summed` in order, those that matter most."""
    flips, others = _Most(_FLIPS), list[pa.Table]()
    most = {PRINCIPAL: _Most(_SUMS), RESOURCE: _Most(_SUMS), DAY: _Most(_DAYS)}
    for batch in batches:
        turned, sums = parted(pa.table(batch))
        flips.add(turned)
        for of, rows in most.items():
            rows.add(sums.filter(pc.field("of") == of))
        others.append(sums.filter(~pc.field("of").isin([*most])))
    if not others:
        return
    yield from in_batches(flips.rows().cast(schema))
    for rows in most.values():
        yield from _as_sums(rows.rows(), schema)
    yield from _as_sums(pa.concat_tables(others), schema)


_FLIPS = (("lines", "descending"), *((name, "ascending") for name in ("change", *REQUEST)))
_SUMS = (
    *((name, "descending") for name in (DENIED, ALLOWED, UNCLEAR)),
    *((name, "ascending") for name in ("a", "b")),
)
_DAYS = (("a", "ascending"),)


class _Most:
    """The first MOST_FLIPS rows in an order, of any number of them."""

    def __init__(self, order: Sequence[tuple[str, str]]) -> None:
        self._order = [(name, direction, "at_start") for name, direction in order]
        self._held: list[pa.Table] = []

    def add(self, rows: pa.Table) -> None:
        self._held.append(rows)
        if sum(held.num_rows for held in self._held) > 2 * MOST_FLIPS:
            self._held = [self.rows()]

    def rows(self) -> pa.Table:
        """Return them in order; null is first."""
        rows = pa.concat_tables(self._held)
        places = pc.sort_indices(rows, sort_keys=self._order)
        return rows.take(places[:MOST_FLIPS])


def parted(rows: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the requests whose answers turn, and the sums with their parts as columns; rows: schemas.REPLAYED."""
    is_sum = rows.column("sum").is_valid()
    sums = pa.Table.from_struct_array(rows.column("sum").filter(is_sum))
    return rows.filter(pc.invert(is_sum)), sums


def _as_sums(rows: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    fields = list(schema.field("sum").type)
    columns = [rows.column(field.name).combine_chunks().cast(field.type) for field in fields]
    sums = pa.StructArray.from_arrays(columns, fields=fields)
    yield from in_batches(table_of({"sum": sums}, len(sums), schema))


def _changes(before: Answers, after: Answers) -> Numbers:
    """Return the place in CHANGES of what becomes of each request."""
    is_clear = ~(before.are(Result.UNDECIDED) | after.are(Result.UNDECIDED))
    were, are = (answers.are(Result.ALLOWED) for answers in (before, after))
    same = (were == are) & (before.are(Result.UNDECIDED) == after.are(Result.UNDECIDED))
    turned = np.where(are, CHANGES.index(ALLOWED), CHANGES.index(DENIED))
    return np.where(same, CHANGES.index(UNCHANGED), np.where(is_clear, turned, CHANGES.index(UNCLEAR)))


def _flips(found: Folded, change: Numbers, turned: Truths, answers: Sequence[Answers]) -> dict[str, pa.Array]:
    """Return each request whose answer turns, with how often, when and on how many days it was logged."""
    chosen, facts = pa.array(turned), found.facts.at(turned)
    days = np.bincount(found.days[0], minlength=len(found))
    texts = (text.filter(chosen) for one in answers for text in answer_texts(one))
    return {
        **{name: found.keys.column(name).filter(chosen) for name in REQUEST},
        "change": pa.array(CHANGES).take(pa.array(change[turned])),
        **dict(zip(_ANSWERS, texts, strict=True)),
        "lines": pa.array(facts.lines),
        "days": pa.array(days[turned]),
        "first_at": times(facts.first).cast(pa.timestamp("us")),
        "last_at": times(facts.last).cast(pa.timestamp("us")),
        "sample": found.samples(turned).filter(chosen),
    }


def _sums(found: Folded, change: Numbers) -> pa.StructArray:
    """Return the sums of schemas.REPLAYED."""
    facts, keys = found.facts, found.keys
    principal, principals = codes_of(keys.column("principal"))
    kind, kinds = codes_of(keys.column("resource_type"))
    name, names = codes_of(keys.column("resource_name"))
    resources, resource = np.unique(kind * ROOM + name, return_inverse=True)
    key, day, days, of_days = found.days
    requests = np.bincount(change, minlength=len(CHANGES))
    lines = np.zeros(len(CHANGES), np.int64)
    np.add.at(lines, change, facts.lines)
    return pa.concat_arrays(
        [
            _sum(PRINCIPAL, principals, _by_change(principal, len(principals), change, facts)),
            _sum(
                RESOURCE,
                [kinds[place // ROOM] for place in resources.tolist()],
                _by_change(resource, len(resources), change, facts),
                b=[names[place % ROOM] for place in resources.tolist()],
            ),
            _sum(DAY, days, _by_change(day, len(days), change[key], of_days)),
            _sum(CHANGE, list(CHANGES), {"lines": pa.array(lines), "requests": pa.array(requests)}),
        ]
    )


def _by_change(code: Numbers, size: int, change: Numbers, facts: Facts) -> dict[str, pa.Array]:
    """Return for each code the lines of each change, and when one that would be denied was logged last."""
    lines = np.zeros((len(CHANGES), size), np.int64)
    np.add.at(lines, (change, code), facts.lines)
    last, is_denied = np.full(size, NO_LAST), change == CHANGES.index(DENIED)
    np.maximum.at(last, code[is_denied], facts.last[is_denied])
    return dict(zip(CHANGES, map(pa.array, lines), strict=True)) | {"last_denied_us": times(last)}


def _sum(
    of: str, a: Sequence[str], numbers: Mapping[str, pa.Array], *, b: Sequence[str] | None = None
) -> pa.StructArray:
    texts: dict[str, Sequence[str | None]] = {"of": [of] * len(a), "a": a, "b": b or [None] * len(a)}
    columns = {name: pa.array(column, pa.string()) for name, column in texts.items()}
    for name in (*CHANGES, "last_denied_us", "lines", "requests"):
        columns[name] = numbers.get(name, pa.nulls(len(a), pa.int64()))
    return pa.StructArray.from_arrays(list(columns.values()), names=list(columns))
