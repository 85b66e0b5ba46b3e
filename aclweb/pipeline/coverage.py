"""Which broker wrote a file, and in which hours did each broker log?

A broker is known by where its log is: its folder and the name of the file, without what rotation
and compression add. Two brokers whose files have one name are distinguished by their folders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

import pyarrow as pa
from pyspark.sql import Row

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


def coverage_table(days: Iterable[tuple[str, Row]], brokers: Mapping[str, str]) -> pa.Table:
    """Return a row for each broker and day, sorted.

    days: the path of a file and a row of `usage.hours`. brokers: the name of each broker by `broker_of`.
    """
    found: dict[tuple[str, str], dict[str, int]] = {}
    for path, row in days:
        sums = found.setdefault(
            (brokers[broker_of(path)], row.day),
            dict.fromkeys(("lines", "decisions", "permits", "hours", "permit_hours"), 0),
        )
        for name in ("lines", "decisions", "permits"):
            sums[name] += int(row[name])
        for name in ("hours", "permit_hours"):
            sums[name] |= int(row[name])
    rows: list[dict[str, Any]] = [
        {"broker": broker, "day": day, **sums}
        | {name: [hour for hour in range(24) if sums[name] >> hour & 1] for name in ("hours", "permit_hours")}
        for (broker, day), sums in sorted(found.items())
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)
