"""When can Python's own engine answer for Java's, and faster?

For printable ASCII text, and patterns made of characters, sets of them, runs, choices and
groups that are not repeated: there the two agree, and the work has a small bound. Every set is
written out letter by letter, so that nothing depends on how Python reads a class.
"""

from __future__ import annotations

import re

from aclweb.acl.model import computed_once
from aclweb.acl.principals.java_regex.characters import CharacterSet
from aclweb.acl.principals.java_regex.java_text import Span
from aclweb.acl.principals.java_regex.parser import Parsed
from aclweb.acl.principals.java_regex.problems import CannotTell
from aclweb.acl.principals.java_regex.tree import (
    At,
    Character,
    Choice,
    Greed,
    Group,
    Node,
    Place,
    Repeat,
    Sequence,
)

_PRINTABLE = range(0x20, 0x7F)
_PLACES = {
    Place.INPUT_START: r"\A",
    Place.INPUT_END: r"\Z",
    # In a text of one line.
    Place.LAST_LINE_END: r"\Z",
    Place.UNIX_LAST_LINE_END: r"\Z",
}
# With n runs a text of length l can take l to the power of n steps.
_LONGEST_TEXT = {0: 20_000, 1: 20_000, 2: 2_000, 3: 200}


class _NotNative(Exception):
    """A part that is left to the machine."""


class NativePattern:
    """A pattern for Python's engine, where there is one."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self._runs = 0

    @computed_once
    def _pattern(self) -> re.Pattern[str] | None:
        try:
            return re.compile(self._written(self._parsed.tree))
        except (_NotNative, CannotTell):
            return None

    def takes(self, text: str) -> bool:
        """Return whether this text can be answered for."""
        if not (text.isascii() and text.isprintable()):
            return False
        return self._pattern is not None and len(text) <= _LONGEST_TEXT.get(self._runs, 0)

    def matches(self, text: str) -> list[Span] | None:
        """Return the spans of all groups if the whole text matches."""
        assert self._pattern is not None
        found = self._pattern.fullmatch(text)
        return None if found is None else list(found.regs)

    def find_all(self, text: str) -> list[list[Span]]:
        """Return the spans of all groups for each match."""
        assert self._pattern is not None
        matches: list[list[Span]] = []
        start = 0
        while start <= len(text) and (found := self._pattern.search(text, start)) is not None:
            matches.append(list(found.regs))
            # After an empty match Java goes on one character later, and Python would not.
            start = found.end() + (found.end() == found.start())
        return matches

    def _written(self, node: Node) -> str:
        match node:
            case Character(characters):
                return _set(characters)
            case At(place):
                if place in _PLACES:
                    return _PLACES[place]
            case Sequence(parts):
                return "".join(map(self._written, parts))
            case Choice(alternatives):
                return f"(?:{'|'.join(map(self._written, alternatives))})"
            case Group(body, number):
                return f"({'?:' if number is None else ''}{self._written(body)})"
            case Repeat(Character(characters), least, most, greed) if greed is not Greed.POSSESSIVE:
                self._runs += least != most
                limits = f"{{{least},{'' if most is None else most}}}"
                return f"{_set(characters)}{limits}{greed.value}"
        raise _NotNative


def _set(characters: CharacterSet) -> str:
    """Return a class with the printable characters of a set."""
    letters = [f"\\x{code_point:02x}" for code_point in _PRINTABLE if characters[code_point]]
    # A class cannot be empty; nothing of the text is outside of the printable characters.
    return f"[{''.join(letters)}]" if letters else r"[\x00]"
