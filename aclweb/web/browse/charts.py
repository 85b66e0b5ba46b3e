"""Where are the bars of a drawing? Sizes are units of the drawing, which the page scales; times are days."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby

SPARK_WIDTH = 92
SPARK_HEIGHT = 18
# How high the box is whose bars are in whole units.
_FOOT = 90

CHART_WIDTH = 360
PANEL_HEIGHT = 64
_LEFT = 44
_TOP = 20  # above the bars stands what they are
_GAP = 24


@dataclass(frozen=True)
class Bar:
    """An upright line from the foot of its panel. x: of its middle."""

    x: float
    top: float
    title: str = ""


@dataclass(frozen=True)
class Spark:
    """Bars as one path of upright lines in whole units of a box of its own, since each row of a table has one.

    box: one unit wide a day, and stretched to the size of a spark. width: of each bar.
    """

    path: str
    width: float
    box: str


@dataclass(frozen=True)
class Cells:
    """Cells of one kind. path: a line through those beside each other, which is dashed and as wide as they are high.

    height: 0 where the path is the outline of each cell.
    """

    kind: str
    path: str
    height: float = 0


@dataclass(frozen=True)
class Panel:
    """One row of bars with a scale of its own: `most` is at `top`, 0 at `foot`."""

    label: str
    tone: str
    most: int
    top: int
    foot: int
    bars: tuple[Bar, ...]

    @property
    def word(self) -> str:
        """Its highest number in few letters: 980, 12k, 3.1M."""
        return short(self.most)


@dataclass(frozen=True)
class DayChart:
    """Rows of bars over the same days. bar: how wide each is. marks: (x, word) of some days below them.

    figures: what static/js/chart-days.js draws in its place; empty where it draws none.
    """

    width: int
    height: int
    left: int
    bar: float
    panels: tuple[Panel, ...]
    marks: tuple[tuple[float, str], ...]
    foot: int
    figures: Mapping[str, object] = field(default_factory=dict)


def short(number: int) -> str:
    """Return a number in few letters: 980, 12k, 3.1M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= 10 * size:
            return f"{number // size}{letter}"
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return str(number)


def most_of(rows: Sequence[Sequence[tuple[str, int]]]) -> int:
    """Return the most lines of any day in any of these rows, so that their sparks share one scale."""
    return max((lines for row in rows for _, lines in row), default=0)


def spark(days: Sequence[tuple[str, int]], most: int) -> Spark | None:
    """Return a bar a day on a logarithmic scale up to `most`, None without a day; a day without lines is a hairline."""
    if not days:
        return None
    width = round(min(0.7, 8 * len(days) / SPARK_WIDTH), 2)
    path = []
    for place, (_, lines) in enumerate(days):
        share = math.log1p(lines) / math.log1p(most) if lines and most else 0
        height = max(3.0, SPARK_HEIGHT * share) if lines else 1.0
        path.append(f"M{place} {_FOOT}V{_FOOT - round(height * _FOOT / SPARK_HEIGHT)}")
    return Spark("".join(path), width, f"{-width / 2:g} 0 {len(days)} {_FOOT}")


def steps(values: Sequence[int | None]) -> str:
    """Return the path of a line that is level through each day, in a drawing as large as a spark.

    values: of each day, None before the first known one. A number that never changes is a line halfway up.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    step = SPARK_WIDTH / len(values)
    path: list[str] = []
    tall = SPARK_HEIGHT - 4
    for place, value in enumerate(values):
        if value is None:
            continue
        share = (value - low) / (high - low) if high > low else 0.5
        height = round(SPARK_HEIGHT - 2 - tall * share, 1)
        path.append(f"V{height}" if path else f"M{place * step:.1f} {height}")
        path.append(f"H{(place + 1) * step:.1f}")
    return "".join(path)


def day_chart(
    days: Sequence[str], rows: Sequence[tuple[str, str, Sequence[int]]], *, height: int = PANEL_HEIGHT
) -> DayChart:
    """Return the drawing of rows (label, tone, lines of each day), one below the other, each on its own scale.

    A row without any line is left out where another one has some.
    """
    rows = [row for row in rows if any(row[2])] or rows[-1:]
    step = (CHART_WIDTH - _LEFT) / max(1, len(days))
    width = round(min(step * 0.72, 22), 2)
    panels = []
    for place, (label, tone, counts) in enumerate(rows):
        top = _TOP + place * (height + _GAP)
        most = max(counts, default=0)
        bars = tuple(
            _bar(_LEFT + step * (number + 0.5), lines, most, top, height, f"{day}: {lines:,}")
            for number, (day, lines) in enumerate(zip(days, counts, strict=True))
            if lines
        )
        panels.append(Panel(label, tone, most, top, top + height, bars))
    foot = _TOP + len(rows) * (height + _GAP) - _GAP
    every = max(1, math.ceil(len(days) / 5))
    marks = tuple(
        (round(_LEFT + step * (number + 0.5), 2), _word(day))
        for number, day in enumerate(days)
        if number % every == 0
    )
    figures = {
        "days": list(days),
        "rows": [{"label": label, "tone": tone, "counts": list(counts)} for label, tone, counts in rows],
    }
    return DayChart(CHART_WIDTH, foot + 18, _LEFT, width, tuple(panels), marks, foot, figures)


def _bar(x: float, lines: int, most: int, top: float, height: float, title: str) -> Bar:
    return Bar(round(x, 2), round(top + height - max(1.5, height * lines / most), 2), title)


def _word(day: str) -> str:
    found = date.fromisoformat(day)
    return f"{found.day} {found:%b}"


def day_rows(
    days: Sequence[tuple[str, float]], *, outlined: Collection[str] = frozenset()
) -> tuple[Cells, ...]:
    """Return the cells of days in a drawing 10 wide a day and 20 high.

    days: the kind of each day, and how high it is, from 0 to 1. outlined: kinds of which each cell is an outline.
    """
    found = [
        Cells(
            kind,
            "".join(
                f"M{place * 10 + 0.5} 0h9v20h-9z" for place, (each, _) in enumerate(days) if each == kind
            ),
        )
        for kind in outlined
    ]
    heights = dict.fromkeys(day for day in days if day[0] not in outlined)
    for kind, share in heights:
        height = round(20 * share, 1)
        lines = _runs([day == (kind, share) for day in days], 20 - height / 2)
        found.append(Cells(kind, lines, height))
    return tuple(cells for cells in found if cells.path)


def hour_cells(days: Sequence[Sequence[str]], heights: Mapping[str, float]) -> tuple[Cells, ...]:
    """Return the cells of hours in a drawing 10 wide a day and 10 high an hour, of which the first is at the top.

    days: for each day the kind of each hour. heights: of kinds that are not 9 high.
    """
    found = []
    for kind in dict.fromkeys(kind for hours in days for kind in hours):
        height = heights.get(kind, 9)
        lines = [
            _runs([hour < len(hours) and hours[hour] == kind for hours in days], hour * 10 + 9.5 - height / 2)
            for hour in range(max(map(len, days)))
        ]
        found.append(Cells(kind, "".join(lines), height))
    return tuple(found)


def _runs(days: Sequence[bool], y: float) -> str:
    """Return a line at `y` through each run of days that are so; its dashes are 9 long, for a day each."""
    path, place = [], 0
    for is_so, run in groupby(days):
        length = len(list(run))
        if is_so:
            path.append(f"M{place * 10 + 0.5} {y:g}h{length * 10 - 1}")
        place += length
    return "".join(path)


def hour_chart(counts: Sequence[int], *, most: int) -> DayChart:
    """Return 24 bars, each up to `most`."""
    step = (CHART_WIDTH - _LEFT) / 24
    width = round(step - 3, 2)
    bars = tuple(
        _bar(_LEFT + step * (hour + 0.5), count, max(1, most), _TOP, PANEL_HEIGHT, f"{hour:02}:00: {count}")
        for hour, count in enumerate(counts)
        if count
    )
    foot = _TOP + PANEL_HEIGHT
    marks = tuple((round(_LEFT + step * (hour + 0.5), 2), f"{hour:02}") for hour in range(0, 24, 4))
    panel = Panel("days with a permit", "", most, _TOP, foot, bars)
    return DayChart(CHART_WIDTH, foot + 18, _LEFT, width, (panel,), marks, foot)
