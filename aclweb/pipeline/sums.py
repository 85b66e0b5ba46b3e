"""How are counts with equal keys added, in columns of numbers?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

ROOM = 1 << 31
"""Two numbers below this one are a single number."""

# No first time, and no last one, of records without a time.
NO_FIRST, NO_LAST = np.iinfo(np.int64).max, np.iinfo(np.int64).min


class Facts(NamedTuple):
    """What is known of counted records: how many, when the first and the last (microseconds), and in which hours."""

    lines: Numbers
    first: Numbers
    last: Numbers
    hours: Numbers

    def at(self, places: NDArray[Any]) -> Facts:
        """Return those of some places, or where a truth is true."""
        return Facts(*(column[places] for column in self))


def summed(major: Numbers, minor: Numbers, facts: Facts) -> tuple[Numbers, Numbers, Facts]:
    """Return each different pair of two numbers below ROOM, in order, with what is known of all of that pair."""
    keys = major * ROOM + minor
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))[: len(keys)]
    found = facts.at(order)
    return (
        keys[starts] // ROOM,
        keys[starts] % ROOM,
        Facts(
            np.add.reduceat(found.lines, starts),
            np.minimum.reduceat(found.first, starts),
            np.maximum.reduceat(found.last, starts),
            np.bitwise_or.reduceat(found.hours, starts),
        ),
    )


def summed_at(places: Numbers, count: int, facts: Facts) -> Facts:
    """Return what is known of all that is at each of `count` places; places: of each fact."""
    found = Facts(*(np.full(count, start, np.int64) for start in (0, NO_FIRST, NO_LAST, 0)))
    for add, into, column in zip(_ADDED_BY, found, facts, strict=True):
        add.at(into, places, column)
    return found


# How two facts are one, in the order of Facts.
_ADDED_BY = (np.add, np.minimum, np.maximum, np.bitwise_or)


def whole_numbers(values: pa.Array, null: int = 0) -> Numbers:
    """Return a column of numbers, times or truths as whole numbers, with one in the place of null."""
    found = values.cast(pa.int64())
    return np.asarray(
        (found.fill_null(null) if found.null_count else found).to_numpy(zero_copy_only=False), np.int64
    )


def codes_of(values: pa.Array) -> tuple[Numbers, list[Any]]:
    """Return the number of each value, and the values by their numbers; null is a value."""
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode(null_encoding="encode")
    found = values.dictionary.to_pylist()
    if values.indices.null_count:
        return whole_numbers(values.indices, len(found)), [*found, None]
    return whole_numbers(values.indices), found


def taken_from(values: Iterable[Any], numbers: Numbers) -> pa.Array:
    """Return the values of some numbers."""
    return pa.array(list(values)).take(pa.array(numbers))


def times(micros: Numbers) -> pa.Array:
    """Return times as numbers, null where there is none."""
    return pa.array(micros, mask=(micros == NO_FIRST) | (micros == NO_LAST))


def in_lists(parents: Numbers, count: int, values: pa.Array) -> pa.ListArray:
    """Return for each of `count` parents the values that are its; parents: of each value, in order."""
    ends = np.cumsum(np.bincount(parents, minlength=count))
    return pa.ListArray.from_arrays(np.concatenate(([0], ends)).astype(np.int32), values)


def parents_of(lists: pa.ListArray) -> Numbers:
    """Return for each value in lists the place of its list."""
    return np.repeat(np.arange(len(lists)), whole_numbers(lists.value_lengths()))
