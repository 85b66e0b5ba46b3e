"""How is each log file to be read: in which layout, and with which zone of its clock?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from aclweb.acl.notation import KAFKA, UNKNOWN, detected, is_of_layout, layout_of
from aclweb.pipeline.contents import FileChangedError, LogContent
from aclweb.pipeline.coverage import Row
from aclweb.pipeline.failures import JobError

_LOOKED_AT = (1 << 16, 1 << 20)
"""Bytes at the beginning of a log that tell its layout; more where these tell none, as a report of a start does not."""

_SHOWN = 120

Read = Callable[[int, int], bytes]


@dataclass(frozen=True)
class Reading:
    """layout: a name for `layout_of`. zone: that of the broker's clock, None to keep times as they are written."""

    layout: str = KAFKA
    zone: str | None = None


def layout_in(read: Read, wanted: str | None = None) -> str:
    """Return the name of the layout that a log has; UNKNOWN if it has none that can be read.

    read: gives the bytes of a range, or fewer at the end of the log. wanted: a layout that somebody named. One that
    has no frame is looked for in all frames.
    """
    found = UNKNOWN
    for size in _LOOKED_AT:
        data = read(0, size)
        lines = _whole_lines(data, is_all=len(data) < size)
        if not any(line.strip() for line in lines):
            return wanted or KAFKA
        found = _layout_of_lines(lines, wanted)
        if found != UNKNOWN or len(data) < size:
            break
    return found


def _layout_of_lines(lines: list[str], wanted: str | None) -> str:
    if wanted is None or layout_of(wanted).frame.name == "":
        return detected(lines, wanted)
    return wanted if is_of_layout(lines, wanted) else UNKNOWN


def _whole_lines(data: bytes, *, is_all: bool) -> list[str]:
    """Return the lines of the beginning of a log, without the last one if that may go on and is not the only one."""
    lines = data.decode("utf-8-sig", "replace").split("\n")
    return lines if is_all or len(lines) == 1 else lines[:-1]


def reading_of(path: str, wanted: Reading) -> Reading:
    """Return how a file of this machine is read; wanted.layout is "" unless somebody named one.

    A file that cannot be read is left to the job, which says why.
    """
    try:
        with open(path, "rb") as opened:
            content = LogContent(path, opened)
            return replace(wanted, layout=layout_in(content.read, wanted.layout or None))
    except (OSError, UnicodeEncodeError, FileChangedError):
        return replace(wanted, layout=wanted.layout or KAFKA)


def beginning_of(path: str) -> bytes:
    """Return the first bytes of a file, decompressed; none if it is gone."""
    try:
        with open(path, "rb") as opened:
            return LogContent(path, opened).read(0, _LOOKED_AT[0])
    except (OSError, FileChangedError):
        return b""


def first_line(path: str) -> str:
    """Return the beginning of the first line of a file that is not blank, as it is shown in a sentence."""
    return first_line_in(beginning_of(path))


def first_line_in(beginning: bytes) -> str:
    """Return the same of the beginning of a file."""
    lines = beginning.decode("utf-8-sig", "replace").split("\n")
    return next((line.strip() for line in lines if line.strip()), "")[:_SHOWN]


def check_layouts(coverage: Iterable[Row], unknown: Mapping[str, str], source: str) -> None:
    """Raise JobError where all lines are in files of an unknown layout.

    coverage: rows of `totals.coverage`, with the path in the column that `source` names. unknown: the path of each
    file of an unknown layout, with its first line.
    """
    rows = list(coverage)
    lines = dict.fromkeys(unknown, 0)
    for row in rows:
        if row[source] in lines:
            lines[row[source]] += row["lines"]
    lost, read = sum(lines.values()), sum(row["lines"] for row in rows)
    if lost and lost == read:
        raise JobError(why_unknown(unknown, f"{lost:,} of {read:,} lines cannot be read"))


def not_understood(path: str, line: str) -> str:
    """Return the sentence for a file of an unknown layout beside others. line: its first one."""
    return (
        f"{path}: Its layout is unknown, so its lines are counted and not read. It begins with {line!r}; name its "
        "layout with --layout, or its log4j pattern with --pattern."
    )


def why_unknown(unknown: Mapping[str, str], loss: str) -> str:
    """Return the sentence for files of an unknown layout, each with its first line."""
    path, line = min(unknown.items())
    more = f" (and that of {len(unknown) - 1} more)" if len(unknown) > 1 else ""
    return (
        f"The layout of {path}{more} is unknown, so {loss}. It begins with {line!r}; "
        "name its layout with --layout, or its log4j pattern with --pattern."
    )
