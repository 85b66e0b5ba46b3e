"""How often was each principal permitted and denied each name in the whole log, and in its last 7, 30 and 90 days?

Requests of a principal on a name are added up over hosts and operations. That is the same for as long as a load is
shown, so a load keeps it packed beside its rows, and a page need not add up every request of the log.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import compress
from typing import Any

from django.db.models import Max, Sum

from aclweb.insights.models import Load, LoadedPairs
from aclweb.insights.requests import requests_of
from aclweb.insights.staging import step
from aclweb.insights.window import WINDOWS, Window

MOST_PAIRS = 50_000
"""So many pairs of principal and name are told of a window, those of most lines first."""

_MOST_CHARACTERS = 16_000_000
"""Of all names together. Of a log with more, each page adds up the requests itself."""

_LINES = ("lines", *(f"lines_{days}" for days in WINDOWS))
_NAMES = (
    "request__principal",
    "request__resource_type",
    "request__resource_name",
    "request__allowed",
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Pairs:
    """What was logged of each principal and name in a window, permitted and denied apart.

    principals: sorted. kinds, names: resource types and names, sorted by both. The others have a place for each row:
    principal, name: places in these; allowed: 1 or 0; lines: how many; last: the last one in the whole log, in
    microseconds. whole: whether every pair is told.
    """

    principals: Sequence[str]
    kinds: Sequence[str]
    names: Sequence[str]
    principal: Sequence[int]
    name: Sequence[int]
    allowed: Sequence[int]
    lines: Sequence[int]
    last: Sequence[int]
    whole: bool


def pairs_of(window: Window) -> Pairs:
    """Return the pairs of a window; one query, or two where its load has not kept them."""
    kept = LoadedPairs.objects.filter(load=window.load).values_list("texts", "numbers").first()
    found = _Found.unpacked(*map(bytes, kept)) if kept else _counted(window.load, [window.column])
    return found.of(window)


def keep_pairs(fresh: Load) -> None:
    """Keep the pairs of a load whose requests are stored; raises OvertakenError where it is no longer wanted."""
    found = _counted(fresh, _LINES)
    if sum(map(len, (*found.principals, *found.names))) > _MOST_CHARACTERS:
        return
    texts, numbers = found.packed()
    with step(fresh):
        LoadedPairs.objects.create(load=fresh, texts=texts, numbers=numbers)


def moment_of(last: int) -> datetime:
    """Return the time of a number in `Pairs.last`."""
    return _EPOCH + timedelta(microseconds=last)


@dataclass(frozen=True)
class _Found:
    """Pairs with the lines of several windows. columns: those of Pairs up to allowed, the last, then of each window."""

    principals: Sequence[str]
    kinds: Sequence[str]
    names: Sequence[str]
    columns: Sequence[array[int]]
    windows: Sequence[str]

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[Any, ...]], windows: Sequence[str]) -> _Found:
        """Return the pairs of rows of _NAMES, the lines of each window, and the last time."""
        rows = list(rows)
        principals = sorted({row[0] for row in rows})
        names = sorted({row[1:3] for row in rows})
        places = {principal: place for place, principal in enumerate(principals)}
        places_of_names = {name: place for place, name in enumerate(names)}
        columns = (
            [places[row[0]] for row in rows],
            [places_of_names[row[1:3]] for row in rows],
            [row[3] for row in rows],
            [(row[-1] - _EPOCH) // _MICROSECOND for row in rows],
            *([row[4 + place] for row in rows] for place in range(len(windows))),
        )
        kinds, texts = zip(*names, strict=True) if names else ((), ())
        return cls(principals, kinds, texts, [array("q", column) for column in columns], windows)

    def of(self, window: Window) -> Pairs:
        """Return what is of one window."""
        of_window = self.columns[4 + list(self.windows).index(window.column)]
        columns: Sequence[Sequence[int]] = (*self.columns[:3], of_window, self.columns[3])
        if not all(of_window):
            columns = [list(compress(column, of_window)) for column in columns]
        whole = len(columns[0]) <= MOST_PAIRS
        if not whole:
            rows = sorted(zip(*columns, strict=True), key=lambda row: (-row[3], *row[:3]))[:MOST_PAIRS]
            columns = list(zip(*rows, strict=True))
        principal, name, allowed, lines, last = columns
        return Pairs(
            self.principals, self.kinds, self.names, principal, name, allowed, lines, last, whole=whole
        )

    def packed(self) -> tuple[bytes, bytes]:
        # A flat list for each of them: a list for each name would have the garbage collector look at all of them.
        texts = json.dumps([self.principals, Counter(self.kinds), self.names])
        numbers = array("q", [number for column in self.columns for number in column])
        if sys.byteorder == "big":
            numbers.byteswap()
        return zlib.compress(texts.encode()), zlib.compress(numbers.tobytes(), 1)

    @classmethod
    def unpacked(cls, texts: bytes, numbers: bytes) -> _Found:
        principals, count_of, names = json.loads(zlib.decompress(texts))
        kinds = [kind for kind, number in count_of.items() for _ in range(number)]
        every = array("q", zlib.decompress(numbers))
        if sys.byteorder == "big":
            every.byteswap()
        count = len(every) // (4 + len(_LINES))
        columns = [every[start : start + count] for start in range(0, len(every), count)] if count else []
        empty = [array("q")] * (4 + len(_LINES))
        return cls(principals, kinds, names, columns or empty, _LINES)


def _counted(load: Load, windows: Sequence[str]) -> _Found:
    """Return the pairs of a load or, where they are more than MOST_PAIRS, one more than these of each window.

    One query, and one for each window where they are more.
    """
    every = requests_of(load).values_list(*_NAMES)
    sums = every.annotate(*(Sum(window) for window in windows), last=Max("last_at")).order_by()
    rows = list(sums[: MOST_PAIRS + 1])
    if len(rows) > MOST_PAIRS:
        found: dict[tuple[Any, ...], None] = {}
        for window in windows:
            logged = sums.filter(**{f"{window}__sum__gt": 0}).order_by(f"-{window}__sum", *_NAMES)
            found |= dict.fromkeys(logged[: MOST_PAIRS + 1])
        rows = list(found)
    return _Found.of_rows(rows, windows)
