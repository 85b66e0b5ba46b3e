"""Which lines are one record, and what is its text?

A layout has a frame, which says what a line of the file carries, and a body, which says where a record
starts and ends and what it holds. Records end as `aclweb.acl.notation.authorizer_log.records` has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from aclweb.acl.notation.log_layouts.frames import PLAIN, Carried, Frame
from aclweb.acl.notation.log_layouts.times import NO_TIME, LogTime

UNKNOWN = "unknown"
"""The name of the layout of lines that nobody can read: each is a record of its own."""

LONGEST_RECORD = 16 << 20
"""Characters; what has no end within so many is cut."""


class LogRecord(NamedTuple):
    """A record.

    text: behind its time as Kafka's own layout writes it, or the whole text of lines that are no record, for which
    `time` is None. lines: how many lines of the file it takes. is_whole: whether its last line is at its end.
    """

    text: str
    time: LogTime | None
    lines: int
    is_whole: bool = True


class Body(Protocol):
    """How one record is written. is_line_by_line: each line that is no record is one for itself."""

    @property
    def is_line_by_line(self) -> bool: ...

    def starts(self, line: str) -> bool:
        """Whether a record starts with this line."""

    def end_of(self, lines: Sequence[str]) -> int:
        """Return how many of these lines, the first of which starts a record, are that record."""

    def read(self, text: str) -> tuple[LogTime, str] | None:
        """Return the time and the text of a record; None if it is none."""


@dataclass(frozen=True)
class Layout:
    """How a log is written. body: None where nobody knows."""

    name: str
    frame: Frame
    body: Body | None

    def starts_record(self, line: str) -> bool:
        """Whether a record starts with this line of the file."""
        if self.body is None:
            return True
        if self.frame is PLAIN:
            return self.body.starts(line)
        carried = self.frame.opened(line)
        return self.body.starts(line if carried is None else carried.text)

    def goes_on(self, line: str) -> bool:
        """Whether what this line carries goes on in the next one."""
        return self.frame.goes_on(line)

    def read(self, lines: Iterable[str]) -> Iterator[LogRecord]:
        """Yield the records of a log, in order; lines: without their line ends."""
        for run in self.runs(lines):
            yield from self.read_run(run)

    def runs(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Yield the lines in runs, each of which starts with a record; the first one may not."""
        parting = Parting(self)
        for line in lines:
            if run := parting.add(line):
                yield run
        if parting.run:
            yield parting.run

    def read_run(self, run: Sequence[str]) -> Iterator[LogRecord]:
        """Yield the records of one run."""
        if self.body is None:
            yield from (_foreign([Carried(line)]) for line in run if line.strip())
            return
        # Nearly every run: one line that is one record.
        if len(run) == 1 and self.frame is PLAIN and (found := self.body.read(run[0][:LONGEST_RECORD])):
            yield LogRecord(found[1], found[0], 1)
            return
        lines = list(self.frame.lines(run))
        while lines and not lines[0].text.strip():
            del lines[0]
        if not lines:
            return
        end = 0
        if self.body.starts(lines[0].text):
            texts = [line.text for line in lines]
            end = self.body.end_of(texts)
            found = self.body.read("\n".join(texts[:end])[:LONGEST_RECORD])
            if found is None:
                end = 0
            else:
                time, text = found
                if time.micros is None:
                    time = next((line.time for line in lines[:end] if line.time), NO_TIME)
                size = sum(line.lines for line in lines[:end])
                yield LogRecord(text, time, size, all(line.is_whole for line in lines[:end]))
        rest = lines[end:]
        if self.body.is_line_by_line:
            yield from (_foreign([line]) for line in rest if line.text.strip(" \t\r\n,[]"))
        elif any(line.text.strip() for line in rest):
            yield _foreign(rest)


@dataclass
class Parting:
    """Parts lines into runs as they come. run: the lines since the last start of a record."""

    layout: Layout
    run: list[str] = field(default_factory=list)
    _size: int = 0
    _is_open: bool = False

    def add(self, line: str) -> list[str] | None:
        """Take one line; return the run before it, if that ends here."""
        is_start = bool(self.run) and not self._is_open and self.layout.starts_record(line)
        self._is_open = self.layout.goes_on(line)
        if not is_start and self._size <= LONGEST_RECORD:
            self.run.append(line)
            self._size += len(line)
            return None
        before, self.run, self._size = self.run, [line], len(line)
        return before


def _foreign(lines: Sequence[Carried]) -> LogRecord:
    text = "\n".join(line.text for line in lines).rstrip("\r\n")[:LONGEST_RECORD]
    return LogRecord(text, None, sum(line.lines for line in lines), all(line.is_whole for line in lines))
