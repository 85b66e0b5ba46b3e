"""Which rows does a YAML list hold, each value the text that it is in the file?

A team may be called `on` or `007`, so nothing becomes a number or a truth value. The file is read as it is parsed, so
that what is nested deeply, or an alias of aliases, is never made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import yaml

from aclweb.acl.model import Problems, shown

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_NULLS = ("", "~", "null", "Null", "NULL")
_MOST_LEVELS = 100
"""What is nested deeper is not read on: the parser looks at every level again for each one more."""
_MOST_DIRECTIVES = 20
"""The parser compares each with all others."""

Row = tuple[int, dict[str, str], dict[str, int]]
"""The first line of a row, its value by key, and its line by key."""


def read_rows(text: str, problems: Problems, *, lists: Collection[str] = ()) -> Iterator[Row]:
    """Yield each row of a YAML list; null is the empty text.

    lists: keys whose value may be a list of words, which is read as `a, b`. What is no row is noted in `problems`;
    reading ends where the text is no YAML or no list.
    """
    directives = [number for number, line in enumerate(text.splitlines(), start=1) if line.startswith("%")]
    if len(directives) > _MOST_DIRECTIVES:
        told = f"More than {_MOST_DIRECTIVES} lines of this file begin with %, and a list needs none; leave them out."
        problems.add(directives[_MOST_DIRECTIVES], told)
        return
    try:
        yield from _Rows(_events(text), problems, lists).read()
    except _TooDeepError as error:
        problems.add(error.line, f"This is nested more than {_MOST_LEVELS} levels deep.")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        problems.add(mark.line + 1 if mark else 1, f"This is no YAML: {error.problem}.")
    except yaml.YAMLError as error:
        # A character that YAML does not have; it tells no line.
        problems.add(1, f"This is no YAML: {str(error).splitlines()[0]}.")


class _TooDeepError(Exception):
    """Lists in lists, or objects in objects, beyond what is read."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def _events(text: str) -> Iterator[yaml.Event]:
    """Yield what the parser finds; raises _TooDeepError."""
    level = 0
    for event in yaml.parse(text, Loader=_LOADER):
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
        if level > _MOST_LEVELS:
            raise _TooDeepError(_line(event))
        yield event


class _OddError(Exception):
    """Something of a row that is no text; it was read over."""


@dataclass(frozen=True)
class _Rows:
    events: Iterator[yaml.Event]
    problems: Problems
    lists: Collection[str]

    def read(self) -> Iterator[Row]:
        for kind in (yaml.StreamStartEvent, yaml.DocumentStartEvent, yaml.SequenceStartEvent):
            if not isinstance(event := next(self.events), kind):
                self.problems.add(_line(event), "This is no list of rows; begin each with '- '.")
                return
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            if isinstance(event, yaml.MappingStartEvent):
                yield from self._row(_line(event))
            else:
                self._read_over(event)
                self.problems.add(_line(event), "This is no row; write 'key: value' pairs, one a line.")
        next(self.events)
        if not isinstance(event := next(self.events), yaml.StreamEndEvent):
            self.problems.add(_line(event), "Here a second document begins; one file has one list.")

    def _row(self, line: int) -> Iterator[Row]:
        values: dict[str, str] = {}
        lines: dict[str, int] = {}
        is_good = True
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            begun = _line(event)
            try:
                key = self._text(event, "A key")
                value = self._value(key)
                if key in values:
                    raise _OddError(f"The key {shown(key)} is given twice in one row; keep one.")
            except _OddError as odd:
                self.problems.add(begun, odd)
                is_good = False
            else:
                values[key], lines[key] = value, begun
        if is_good:
            yield line, values, lines

    def _value(self, key: str) -> str:
        event = next(self.events)
        what = f"The value of {shown(key)}"
        if key not in self.lists or not isinstance(event, yaml.SequenceStartEvent):
            return self._text(event, what)
        words, odd = [], None
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            try:
                words.append(self._text(event, f"A word in {what[0].lower()}{what[1:]}"))
            except _OddError as error:
                odd = error
        if odd:
            raise odd
        return ", ".join(words)

    def _text(self, event: yaml.Event, what: str) -> str:
        if isinstance(event, yaml.ScalarEvent):
            is_null = event.implicit[0] and not event.style and event.value in _NULLS
            return "" if is_null else str(event.value)
        self._read_over(event)
        if what == "A key":
            self._read_over(next(self.events))
        raise _OddError(f"{what} is no text; write it out, in quotes if need be.")

    def _read_over(self, event: yaml.Event) -> None:
        """Go to the end of what begins with an event."""
        depth = 0
        while True:
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if not depth:
                return
            event = next(self.events)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
