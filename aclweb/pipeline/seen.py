"""What was each request answered, and what do the ACLs of the snapshot answer to it?

A worker has all rows of its requests: it adds them up, decides each once, and adds up which ACLs settled how many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import permutations
from operator import and_
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.broadcast import Broadcast
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from aclweb.pipeline import schemas
from aclweb.pipeline.decisions import Shipped, matcher_of
from aclweb.pipeline.folding import Batch, Folded, Rows, folded, in_batches, table_of, texts_of, whole
from aclweb.pipeline.in_force import THEN, InForce, settled_then
from aclweb.pipeline.sums import (
    Facts,
    Numbers,
    Truths,
    in_lists,
    parents_of,
    summed,
    taken_from,
    times,
    whole_numbers,
)

_SORTS = ("use", "fact", "used_then")
"""The columns of schemas.SEEN_AND_USES of which one is there in a row that is no request."""

_KEY = (*schemas.REQUEST, "allowed")
_COLUMNS = (*_KEY, "api_name", "broker_rule", "named_key", "lines", "first_us", "last_us", "days", "raw")


@dataclass(frozen=True)
class Seen:
    """requests: schemas.SEEN, a row for each request and answer.

    uses: schemas.USES. What these say of one ACL may be in several rows. used_then: schemas.USES by the ACLs in force
    when a request was made, without a row where no history was given.
    """

    requests: DataFrame
    uses: DataFrame
    used_then: DataFrame


class Counted(NamedTuple):
    """How many requests were made, and the facts, each once.

    facts: what brokers say beside their decisions about settings that no cluster tells (schemas.FACTS): `super_user`
    (the broker allowed its principal as one), `default_allow` (allowed because no ACL was found) and `default_deny`
    (refused although the snapshot has no ACL on the resource). then: schemas.FACTS of in_force.THEN, none where no
    history was given.
    """

    requests: int
    facts: list[Row]
    then: list[Row]


def seen_requests(
    logged: Rows, snapshot: Broadcast[Shipped], then: Broadcast[InForce] | None = None
) -> DataFrame:
    """Return requests, uses and facts in one frame (schemas.SEEN_AND_USES), which `parted` takes apart.

    then: None where nobody asks what settled a request when it was made.
    """
    return logged.made(_COLUMNS, StructType.fromDDL(schemas.SEEN_AND_USES), partial(_seen, snapshot, then))


def parted(found: DataFrame) -> Seen:
    """Return what `seen_requests` gives, taken apart; found: kept."""
    uses, used_then = (
        found.filter(F.col(name).isNotNull()).select(f"{name}.*") for name in ("use", "used_then")
    )
    return Seen(found.filter(_is_request()).drop(*_SORTS), uses, used_then)


def counted_in(found: DataFrame) -> Counted:
    """Return what `seen_requests` counts, in one job; found: kept."""
    by_fact = found.filter(_is_request() | F.col("fact").isNotNull()).groupBy("fact.fact", "fact.principal")
    rows = by_fact.agg(F.sum("fact.lines").alias("lines"), F.count_if(_is_request()).alias("requests"))
    told = rows.collect()
    facts = [row for row in told if row["fact"] is not None]
    return Counted(
        sum(row["requests"] for row in told),
        [row for row in facts if row["fact"] not in THEN],
        [row for row in facts if row["fact"] in THEN],
    )


def _is_request() -> Column:
    return reduce(and_, (F.col(name).isNull() for name in _SORTS))


def _seen(
    snapshot: Broadcast[Shipped],
    then: Broadcast[InForce] | None,
    schema: pa.Schema,
    batches: Iterable[Batch],
) -> Iterator[pa.RecordBatch]:
    matcher = matcher_of(snapshot.value)
    found = folded(batches, _KEY)
    if found is None:
        return
    decided = matcher.decided(found.keys.select(schemas.REQUEST), _DECIDED)
    yield from in_batches(table_of(_requests(found, decided), len(found), schema))
    settled = _agrees(found.keys.column("allowed"), decided.column("decided_now"))
    used = uses(decided.column("determining"), decided.column("one_of"), settled, found.facts)
    used = pa.concat_arrays([used, _named(found)])
    yield from in_batches(table_of({"use": used}, len(used), schema))
    told = _facts(found, decided.column("basis_now"))
    yield from in_batches(table_of({"fact": told}, len(told), schema))
    if then is not None:
        held = settled_then(then.value, matcher.keys, found, decided, settled)
        used = uses(held.determining, held.one_of, held.is_settled, held.facts)
        yield from in_batches(table_of({"used_then": used}, len(used), schema))
        rows = [{"fact": word, "principal": None, "lines": lines} for word, lines in held.lines.items()]
        told = pa.array(rows, _FACT)
        yield from in_batches(table_of({"fact": told}, len(told), schema))


_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())
_FACT = pa.struct([("fact", _TEXT), ("principal", _TEXT), ("lines", pa.int64())])
_DECIDED = pa.schema(
    [(name, _TEXT) for name in (*schemas.REQUEST, "decided_now", "basis_now")]
    + [("determining", _TEXTS), ("one_of", _TEXTS)]
)


def _agrees(allowed: pa.Array, decided: pa.Array) -> Truths:
    """Return for each request whether the snapshot's ACLs answer as the log did."""
    return np.asarray(pc.equal(pc.equal(decided, "ALLOWED"), allowed))


def _requests(found: Folded, decided: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return the columns of schemas.SEEN."""
    allowed, now = found.keys.column("allowed"), decided.column("decided_now")
    differs = ~_agrees(allowed, now) & np.asarray(pc.not_equal(now, "UNDECIDED"))
    return {
        **{name: found.keys.column(name) for name in _KEY},
        "lines": pa.array(found.facts.lines),
        "first_at": times(found.facts.first).cast(pa.timestamp("us")),
        "last_at": times(found.facts.last).cast(pa.timestamp("us")),
        "days": _days(found),
        "api_names": _api_names(found),
        "sample": found.samples(),
        **{name: decided.column(name) for name in ("decided_now", "basis_now", "determining", "one_of")},
        "differs": pa.array(differs),
    }


def _days(found: Folded) -> pa.Array:
    """Return the days of each request with their lines, in order."""
    key, day, names, facts = found.days
    rank = np.argsort(np.argsort(np.array(names, dtype=np.str_)))
    order = np.lexsort((rank[day], key)) if len(key) else key
    entries = [taken_from(names, day[order]).cast(_TEXT), pa.array(facts.lines[order])]
    return in_lists(key[order], len(found), pa.StructArray.from_arrays(entries, names=["day", "lines"]))


def _api_names(found: Folded) -> pa.Array:
    """Return the APIs of each request, sorted; empty where the log tells none."""
    rows = pa.table({"key": found.of_row, "name": texts_of(whole(found.rows, "api_name"))})
    named = (
        rows.filter(pc.field("name").is_valid()).group_by(["key", "name"], use_threads=False).aggregate([])
    )
    named = named.sort_by([("key", "ascending"), ("name", "ascending")]).combine_chunks()
    keys, names = (whole(named, name) for name in ("key", "name"))
    return in_lists(whole_numbers(keys), len(found), names)


def uses(determining: pa.Array, one_of: pa.Array, settled: Truths, facts: Facts) -> pa.StructArray:
    """Return which ACLs settled how many decisions, and with which others (schemas.USES).

    determining, one_of: keys of ACLs, of each request. settled: whether what they answer is what the log says. facts:
    of each request.
    """
    count, needed = (whole_numbers(lists.value_lengths()) for lists in (determining, one_of))
    every = _by_acl(determining, settled & (count > 0), facts)
    alone = _by_acl(determining, settled & (count == 1), facts)
    single = _by_acl(one_of, settled & (needed == 1), facts)
    return pa.concat_arrays(
        [
            _uses(every.acl, requests=every.lines, first_us=every.first, last_us=every.last),
            _uses(alone.acl, alone=alone.lines),
            _uses(single.acl, needed=single.lines, first_needed_us=single.first, last_needed_us=single.last),
            _shared(determining, settled & (count > 1), facts.lines),
        ]
    )


def _named(found: Folded) -> pa.StructArray:
    """Return in how many lines brokers named each ACL."""
    named = texts_of(whole(found.rows, "named_key"))
    is_named = np.asarray(named.is_valid())
    given = _summed_by(named.filter(pa.array(is_named)), found.row_facts.at(is_named))
    return _uses(given.acl, named=given.lines, first_named_us=given.first, last_named_us=given.last)


def _facts(found: Folded, basis: pa.Array) -> pa.StructArray:
    """Return what brokers say of settings (schemas.FACTS); basis: what settles each request by the snapshot."""
    no_acl = np.asarray(pc.is_in(basis, pa.array(["DEFAULT_DENY", "DEFAULT_ALLOW"])))[found.of_row]
    rule, principal = (texts_of(whole(found.rows, name)) for name in ("broker_rule", "principal"))
    lines = found.row_facts.lines
    by_user: Counter[str] = Counter()
    is_user = np.asarray(pc.equal(rule, "SuperUser").fill_null(False))
    for name, count in zip(
        principal.filter(pa.array(is_user)).to_pylist(), lines[is_user].tolist(), strict=True
    ):
        by_user[name] += count
    rows = [{"fact": "super_user", "principal": name, "lines": count} for name, count in by_user.items()]
    for word, fact, among in (
        ("DefaultAllow", "default_allow", np.ones(len(lines), np.bool_)),
        ("DefaultDeny", "default_deny", no_acl),
    ):
        count = int(lines[np.asarray(pc.equal(rule, word).fill_null(False)) & among].sum())
        rows += [{"fact": fact, "principal": None, "lines": count}] if count else []
    return pa.array(rows, _FACT)


class _ByAcl(NamedTuple):
    acl: pa.Array
    lines: pa.Array
    first: pa.Array
    last: pa.Array


def _by_acl(lists: pa.Array, chosen: Truths, facts: Facts) -> _ByAcl:
    """Return each ACL in the lists of chosen requests, with their lines, and when the first and the last was made."""
    held = lists.filter(pa.array(chosen))
    return _summed_by(held.flatten(), facts.at(np.flatnonzero(chosen)[parents_of(held)]))


def _summed_by(acls: pa.Array, facts: Facts) -> _ByAcl:
    """Return the facts of each different ACL added."""
    encoded = acls.dictionary_encode()
    acl, _, found = summed(whole_numbers(encoded.indices), np.zeros(len(acls), np.int64), facts)
    return _ByAcl(
        encoded.dictionary.take(pa.array(acl)), pa.array(found.lines), times(found.first), times(found.last)
    )


def _shared(determining: pa.Array, chosen: Truths, lines: Numbers) -> pa.StructArray:
    """Return how many lines two ACLs settle together, for each two that settle some."""
    sets: Counter[tuple[str, ...]] = Counter()
    for acls, count in zip(
        determining.filter(pa.array(chosen)).to_pylist(), lines[chosen].tolist(), strict=True
    ):
        sets[tuple(acls)] += count
    pairs: Counter[tuple[str, str]] = Counter()
    for acls, count in sets.items():
        for pair in permutations(acls, 2):
            pairs[pair] += count
    keys, others = ([*column] for column in zip(*pairs, strict=True)) if pairs else ([], [])
    return _uses(
        pa.array(keys, _TEXT), other=pa.array(others, _TEXT), requests=pa.array([*pairs.values()], pa.int64())
    )


def _uses(acl: pa.Array, **columns: pa.Array) -> pa.StructArray:
    given = {"binding_key": acl, **columns}
    fields = [
        pa.field(name, _TEXT if name in ("binding_key", "other") else pa.int64()) for name in schemas.USE
    ]
    arrays = [given.get(field.name, pa.nulls(len(acl), field.type)) for field in fields]
    return pa.StructArray.from_arrays(arrays, fields=fields)
