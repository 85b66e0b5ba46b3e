"""The figures of one run, kept as JSON and as a page to read."""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Figure:
    """One measured figure beside its baseline of the same run.

    value: mostly how many times faster than the baseline; `unit` says what it is. goal: what it
    should be at least, or at most where `at_most`; None where it is told for orientation only.
    """

    part: str
    title: str
    value: float
    unit: str = "x"
    goal: float | None = None
    at_most: bool = False
    detail: str = ""

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return "met" if (self.value <= self.goal if self.at_most else self.value >= self.goal) else "MISSED"

    @property
    def wanted(self) -> str:
        if self.goal is None:
            return ""
        return f"{'<=' if self.at_most else '>='} {_number(self.goal)} {self.unit}"

    def line(self) -> str:
        """Return the figure as one line of text."""
        goal = f" (goal {self.wanted}: {self.verdict})" if self.goal is not None else ""
        return f"{self.part}: {self.title}: {_number(self.value)} {self.unit}{goal}. {self.detail}".rstrip()


def write(figures: list[Figure], *, quick: bool, seconds: float, module: str = "bench") -> Path:
    """Write the run as two files of one name; return the one to read. module: what was run.

    What was measured on the same day under other headings stays.
    """
    now = datetime.now(UTC)
    machine = {
        "made": now.isoformat(timespec="seconds"),
        "command": " ".join([f"python -m {module}", *sys.argv[1:]]),
        "quick": quick,
        "minutes": round(seconds / 60, 1),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load_average": [round(load, 1) for load in os.getloadavg()],
    }
    RESULTS.mkdir(exist_ok=True)
    name = f"{now:%Y-%m-%d}{'-quick' if quick else ''}"
    data = RESULTS / f"{name}.json"
    figures = figures + _others(data, {figure.part for figure in figures})
    rows = [asdict(figure) | {"verdict": figure.verdict} for figure in figures]
    data.write_text(json.dumps(machine | {"figures": rows}, indent=1) + "\n", encoding="utf-8")
    page = RESULTS / f"{name}.md"
    page.write_text(_page(figures, machine), encoding="utf-8")
    return page


def _others(data: Path, parts: set[str]) -> list[Figure]:
    """Return the figures of an earlier run of the day that are not measured anew."""
    if not data.exists():
        return []
    rows = json.loads(data.read_text(encoding="utf-8"))["figures"]
    return [
        Figure(**{key: value for key, value in row.items() if key != "verdict"})
        for row in rows
        if row["part"] not in parts
    ]


def _page(figures: list[Figure], machine: dict[str, object]) -> str:
    load = ", ".join(map(str, machine["load_average"]))  # type: ignore[arg-type]
    lines = [
        f"# Measured {str(machine['made'])[:10]}",
        "",
        f"By `{machine['command']}` in {machine['minutes']} minutes; Python {machine['python']} on "
        f"{machine['machine']}, {machine['cores']} cores, load average {load}.",
        "CPU time, the fastest of several rounds taken in turn with the baseline's.",
    ]
    for part in dict.fromkeys(figure.part for figure in figures):
        lines += [
            "",
            f"## {part}",
            "",
            "| what | measured | goal | | how |",
            "| --- | --- | --- | --- | --- |",
        ]
        lines += [
            f"| {f.title} | {_number(f.value)} {f.unit} | {f.wanted} | {f.verdict} | {f.detail} |"
            for f in figures
            if f.part == part
        ]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
