"""Which broker wrote a file, and in which hours did each broker log?

A broker is known by where its log is: its folder and the name of the file, without what rotation
and compression add. Two brokers whose files have one name are distinguished by their folders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import count
from typing import Any

import pyarrow as pa

Row = dict[str, Any]
"""A coverage row: what one source holds of one day (`totals.coverage`), with `source` and `broker`."""

SUMS = ("lines", "decisions", "probes", "other", "unparsed", "ambiguous", "permits", "not_utf8")
FIRSTS = ("first_us", "first_permit_us")
LASTS = ("last_us", "last_permit_us")
MASKS = ("hours", "permit_hours")
FIRST_DAY = "2011-01-01"  # Kafka's first release is of that month

_HOURS = pa.list_(pa.int32())
SCHEMA = pa.schema(
    [("broker", pa.string()), ("day", pa.string())]
    + [(name, pa.int64()) for name in ("lines", "decisions", "permits")]
    + [("hours", _HOURS), ("permit_hours", _HOURS)]
)

_COMPRESSED = re.compile(r"\.(?:gz|bz2|zst|zstd|lz4|snappy|deflate)$")
_DATE = r"\d{4}-?\d\d-?\d\d(?:[-_T.]?\d\d){0,3}"
_DATED = re.compile(rf"[-_.]?{_DATE}(?=$|[-_.])")
# Only behind the ending of a log: `broker.1` may be a broker's name.
_NUMBERED = re.compile(r"(\.(?:log|out|txt))(?:[-_.]\d{1,4})+$")
_DATE_FOLDER = re.compile(_DATE)


def broker_of(path: str) -> str:
    """Return the path without what rotation and compression added: equal for all files of one broker's log."""
    *folders, name = path.split("/")
    name = _COMPRESSED.sub("", name)
    name = _NUMBERED.sub(r"\1", _DATED.sub("", name)) or name
    return "/".join([*("*" if _DATE_FOLDER.fullmatch(folder) else folder for folder in folders), name])


def short_names(paths: Iterable[str]) -> dict[str, str]:
    """Return for each path its last parts, as many as tell it from every other one."""
    wanted = sorted(set(paths))
    parts = {path: path.split("/") for path in wanted}
    names: dict[str, str] = {}
    for length in count(1):
        open_paths = [path for path in wanted if path not in names]
        if not open_paths:
            return names
        tails = {path: "/".join(parts[path][-length:]) for path in wanted}
        often = Counter(tails.values())
        for path in open_paths:
            if often[tails[path]] == 1 or length >= len(parts[path]):
                names[path] = tails[path]
    raise AssertionError


def has_notes(rows: Iterable[Row]) -> bool:
    """Return whether sources hold what is no decision, or what is no UTF-8, of which `totals.notes` tells."""
    return any(row[name] for row in rows for name in ("other", "unparsed", "not_utf8"))


def added(rows: Iterable[Row], *key: str) -> list[Row]:
    """Return coverage rows with those of one key added, sorted by key; what else a row has is that of the first."""
    found: dict[tuple[str, ...], Row] = {}
    for row in rows:
        named = tuple(str(row[name] or "") for name in key)
        into = found.get(named)
        if into is None:
            found[named] = dict(row)
            continue
        for name in SUMS:
            into[name] += row[name]
        for name in MASKS:
            into[name] |= row[name]
        for names, first_or_last in ((FIRSTS, min), (LASTS, max)):
            for name in names:
                known = [micros for micros in (into[name], row[name]) if micros is not None]
                into[name] = first_or_last(known, default=None)
    return [row for _, row in sorted(found.items())]


def in_span(rows: Iterable[Row], until: date) -> list[Row]:
    """Return the rows of days that a broker's clock can have shown: since the first Kafka, up to `until`."""
    return [row for row in rows if row["day"] and FIRST_DAY <= row["day"] <= until.isoformat()]


def coverage_table(rows: Iterable[Row], names: Mapping[str, str]) -> pa.Table:
    """Return a row for each broker and day, sorted.

    rows: coverage rows of days in the span. names: what a broker is called, by `broker_of`.
    """
    by_broker = added(({**row, "broker": names[row["broker"]]} for row in rows), "broker", "day")
    shown = [
        {name: row[name] for name in ("broker", "day", "lines", "decisions", "permits")}
        | {name: [hour for hour in range(24) if row[name] >> hour & 1] for name in MASKS}
        for row in by_broker
    ]
    return pa.Table.from_pylist(shown, schema=SCHEMA)
