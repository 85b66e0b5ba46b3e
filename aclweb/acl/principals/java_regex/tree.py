"""What are the parts of a parsed pattern?

One class for each kind of part. A tree says what was written, not yet how it is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from aclweb.acl.principals.java_regex.characters import CharacterSet


class Greed(Enum):
    """How a quantifier takes its turns."""

    GREEDY = ""
    LAZY = "?"
    POSSESSIVE = "+"


class Place(Enum):
    """What must hold at a place, without taking a character."""

    INPUT_START = "the start of the text"
    LINE_START = "the start of a line"
    UNIX_LINE_START = "the start of a line that ends at LF"
    INPUT_END = "the end of the text"
    LAST_LINE_END = "the end of the text, or before its last line end"
    LINE_END = "the end of a line"
    UNIX_LAST_LINE_END = "the end of the text, or before its last LF"
    UNIX_LINE_END = "the end of a line that ends at LF"
    WORD_EDGE = "the edge of a word"
    NO_WORD_EDGE = "no edge of a word"
    LAST_MATCH_END = "where the last match ended"


@dataclass(frozen=True, slots=True)
class Character:
    """One character of a set."""

    characters: CharacterSet


@dataclass(frozen=True, slots=True)
class Letter(Character):
    """One character that is written as itself; Java takes several in a row as one part."""


@dataclass(frozen=True, slots=True)
class LineBreak:
    """The end of a line, `\\R`: CR LF, or one of the characters that end a line."""


@dataclass(frozen=True, slots=True)
class At:
    """A place."""

    place: Place


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts one after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first of the alternatives with which the rest goes on too."""

    alternatives: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group in brackets; `number` is None for one that captures nothing."""

    body: Node
    number: int | None


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part with a quantifier; `most` is None where there is no limit."""

    body: Node
    least: int
    most: int | None
    greed: Greed


@dataclass(frozen=True, slots=True)
class Maybe:
    """A part that may be left out, `?` or `{0,1}`, which Java treats as a choice and not as a loop."""

    body: Node
    greed: Greed


@dataclass(frozen=True, slots=True)
class Atomic:
    """A group that keeps what it first took: (?>...)."""

    body: Node


@dataclass(frozen=True, slots=True)
class Ahead:
    """What must, or must not, follow: (?=...) and (?!...)."""

    body: Node
    is_negative: bool


@dataclass(frozen=True, slots=True)
class Again:
    """The text that a group took: \\1."""

    group: int
    ignores_case: bool


Node = Character | LineBreak | At | Sequence | Choice | Group | Repeat | Maybe | Atomic | Ahead | Again
