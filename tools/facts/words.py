"""Which words were changed on purpose between two recordings, and how often was each met?

Hundreds of expressions meet thousands of pages. So an expression is tried only where the letters that
it must contain are, and a block of lines that many pages share is worked out once.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ARROW, BOTH = "=>", "<=>"
_PAIR = re.compile(rf"(.+?) ({BOTH}|{ARROW})(?: (.*))?")
_UNCERTAIN = re.compile(r"\(\?[a-zA-Z-]+[:)]|\\[xuUN\d]")
# Longer texts are not compared line by line: that would take minutes.
MOST_LINES = 20_000


class WordsError(ValueError):
    """A list of words that cannot be used; the message says which line."""


@dataclass(frozen=True)
class Pair:
    """An expression for what was said before, and what is said now; `both`: the same is read in both recordings."""

    old: re.Pattern[str]
    new: str
    both: bool

    def __str__(self) -> str:
        return f"{self.old.pattern} {BOTH if self.both else ARROW} {self.new}"

    @cached_property
    def letters(self) -> str:
        """The longest text that everything it matches contains."""
        return letters_of(self.old.pattern)


@dataclass
class Words:
    """Texts that were changed on purpose, and how often each was met."""

    pairs: list[Pair] = field(default_factory=list)
    used: Counter[Pair] = field(default_factory=Counter)
    _known: dict[str, tuple[str, Counter[Pair]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Words:
        r"""Read lines of `OLD => NEW` or `OLD <=> NEW`; empty ones and those that begin with # are for people.

        OLD is a regular expression, NEW may contain \1, and \n in either is the end of a line.
        """
        found = cls()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            parts = _PAIR.fullmatch(line)
            if parts is None:
                raise WordsError(f"{path}:{number}: {line!r} is not OLD {ARROW} NEW.")
            try:
                old = re.compile(parts[1], re.MULTILINE)
            except re.error as error:
                raise WordsError(
                    f"{path}:{number}: {parts[1]!r} is no regular expression: {error}."
                ) from error
            found.pairs.append(Pair(old, parts[3] or "", parts[2] == BOTH))
        return found

    def agree(self, old: str, new: str) -> tuple[str, str]:
        """Return two texts without what differs on purpose; words are changed only in lines that differ."""
        left = self._in_both(old).splitlines()
        right = self._in_both(new).splitlines()
        if max(len(left), len(right)) > MOST_LINES:
            return self._changed("\n".join(left)), "\n".join(right)
        start, end = _equal_ends(left, right)
        middle = left[start : len(left) - end], right[start : len(right) - end]
        lines = left[:start]
        for what, first, last, *_ in difflib.SequenceMatcher(None, *middle).get_opcodes():
            block = middle[0][first:last]
            lines += block if what == "equal" else self._changed("\n".join(block)).splitlines()
        lines += left[len(left) - end :]
        return "\n".join(lines), "\n".join(right)

    def name(self, name: str) -> str:
        """Return the name of a fact as it is now."""
        return self._changed(name)

    def _changed(self, text: str) -> str:
        if text not in self._known:
            self._known[text] = _replaced(text, [pair for pair in self.pairs if not pair.both])
        changed, used = self._known[text]
        self.used.update(used)
        return changed

    def _in_both(self, text: str) -> str:
        text, used = _replaced(text, [pair for pair in self.pairs if pair.both])
        self.used.update(used)
        return text


def letters_of(pattern: str) -> str:
    """Return the longest text that every match of the expression contains; "" where none is certain.

    Only what is plainly written counts: no class, no group, nothing that may be repeated or left out. Flags
    within the expression and characters by their numbers leave nothing certain.
    """
    if _UNCERTAIN.search(pattern):
        return ""
    runs, run, at, depth = [""], "", 0, 0
    while at < len(pattern):
        sign = pattern[at]
        plain = ""
        if sign == "[":
            at = _end_of_class(pattern, at)
        elif sign == "\\":
            at += 1
            escaped = pattern[at : at + 1]
            plain = "\n" if escaped == "n" else "" if escaped.isalnum() else escaped
        elif sign == "|" and not depth:
            return ""
        elif sign in "()":
            depth += 1 if sign == "(" else -1
        elif sign not in ".^$|*+?{}":
            plain = sign
        at += 1
        if plain and not depth and pattern[at : at + 1] not in tuple("*+?{"):
            run += plain
        elif run:
            runs.append(run)
            run = ""
        if sign == "{" and (closed := pattern.find("}", at)) >= 0:
            at = closed + 1
    return max([*runs, run], key=len)


def _end_of_class(pattern: str, start: int) -> int:
    """Return the place of the bracket that closes the class of characters which begins at `start`."""
    at = start + 1 + pattern.startswith("^", start + 1)
    at += pattern.startswith("]", at)
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at


def _equal_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """Return how many lines are equal at the start, and of the rest at the end."""
    shorter = min(len(left), len(right))
    start = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    rest = shorter - start
    end = next((at for at in range(rest) if left[-1 - at] != right[-1 - at]), rest)
    return start, end


def _replaced(text: str, pairs: Sequence[Pair]) -> tuple[str, Counter[Pair]]:
    """Return the text with each pair replaced in turn, and how often each was met."""
    used: Counter[Pair] = Counter()
    for pair in pairs:
        if pair.letters in text:
            text, count = pair.old.subn(pair.new, text)
            if count:
                used[pair] += count
    return text, used
