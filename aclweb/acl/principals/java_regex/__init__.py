"""What would Java's regular expressions find in a text?

Brokers read rules for names as java.util.regex patterns. A JavaPattern answers as Java does
or says why it does not: InvalidPattern, RefusedPattern, or CannotTell for one text. Work is
bounded whatever the pattern: no answer takes more than a set number of steps.

Positions and results are in UTF-16 units and may split a pair of surrogates, as in Java.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from aclweb.acl.model import shown
from aclweb.acl.principals.java_regex.java_text import NO_SPAN, Span, Text, whole_characters
from aclweb.acl.principals.java_regex.machine import MOST_STEPS, Machine
from aclweb.acl.principals.java_regex.native import NativePattern
from aclweb.acl.principals.java_regex.parser import parse
from aclweb.acl.principals.java_regex.problems import (
    CannotTell,
    InvalidPattern,
    InvalidReplacement,
    RefusedPattern,
    RegexError,
)
from aclweb.acl.principals.java_regex.program import Program, compiled
from aclweb.acl.principals.java_regex.replacement import Replacement, read_replacement

__all__ = [
    "MOST_RESULT",
    "MOST_STEPS",
    "NO_SPAN",
    "CannotTell",
    "InvalidPattern",
    "InvalidReplacement",
    "JavaPattern",
    "RefusedPattern",
    "RegexError",
    "Span",
    "Text",
    "Work",
]


@dataclass(slots=True)
class Work:
    """What several questions took together, about as many as the steps of the machine."""

    steps: int = 0


# UTF-16 units of a text with its matches replaced; no name of a client is a thousandth of it.
MOST_RESULT = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class JavaPattern:
    """A pattern as Java reads it; make one with `JavaPattern.read`."""

    text: str
    group_count: int
    group_names: dict[str, int]
    program: Program
    native: NativePattern

    @staticmethod
    @lru_cache(maxsize=256)
    def read(pattern: str) -> JavaPattern:
        """Return the pattern; raise InvalidPattern or RefusedPattern."""
        parsed = parse(pattern)
        return JavaPattern(
            pattern, parsed.group_count, parsed.group_names, compiled(parsed), NativePattern(parsed)
        )

    def matches(self, text: str, work: Work | None = None) -> list[Span] | None:
        """Return the spans of all groups, 0 the whole, if the whole text matches; (-1, -1) for an unused group.

        work: what counts how much this took.
        """
        if work is not None:
            work.steps += len(text)
        if self.native.takes(text):
            return self.native.matches(text)
        machine = self._machine(text)
        found = machine.matches()
        if work is not None:
            work.steps += machine.steps_taken
        return found

    def find_all(self, text: str) -> list[list[Span]]:
        """Return the spans of all groups for each match, from left to right."""
        if self.native.takes(text):
            return self.native.find_all(text)
        return self._machine(text).find_all()

    def find(self, text: str) -> list[Span] | None:
        """Return the spans of all groups of the first match."""
        return self._machine(text).find()

    def replace_all(self, text: str, replacement: str) -> str:
        """Return the text with every match replaced; raise InvalidReplacement or CannotTell."""
        return self._replace(text, replacement, self.find_all(text))

    def replace_first(self, text: str, replacement: str) -> str:
        """Return the text with the first match replaced; raise InvalidReplacement or CannotTell."""
        first = self.find(text)
        return self._replace(text, replacement, [] if first is None else [first])

    def _machine(self, text: str) -> Machine:
        return Machine(self.program, Text(text))

    def _replace(self, text: str, replacement: str, found: list[list[Span]]) -> str:
        if not found:
            return text
        parts = _replacement(self.text, replacement).parts
        subject = Text(text)
        pieces: list[str] = []
        done = size = 0
        for spans in found:
            start, end = spans[0]
            pieces.append(subject.part((done, start)))
            for part in parts:
                if isinstance(part, str):
                    pieces.append(part)
                elif spans[part.number] != NO_SPAN:
                    pieces.append(subject.part(spans[part.number]))
                else:
                    continue
                size += len(pieces[-1])
                if size > MOST_RESULT:
                    raise CannotTell(
                        f"What the replacement {shown(replacement)} makes of this text has more than {MOST_RESULT:,} "
                        "characters and is not worked out."
                    )
            done = end
        pieces.append(subject.part((done, len(subject))))
        return whole_characters("".join(pieces))


@lru_cache(maxsize=256)
def _replacement(pattern: str, replacement: str) -> Replacement:
    read = JavaPattern.read(pattern)
    return read_replacement(replacement, group_count=read.group_count, group_names=read.group_names)
