"""Which character of a pattern comes next, and what may be said of the pattern at that place?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Flag, auto
from typing import NoReturn

from aclweb.acl.model import shown
from aclweb.acl.principals.java_regex.problems import InvalidPattern, RefusedPattern

LONGEST_PATTERN = 20_000
DEEPEST_NESTING = 80

SPACE = " \t\n\x0b\f\r"
DIGITS = "0123456789"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class PatternFlag(Flag):
    """The inline flags that are evaluated."""

    IGNORES_CASE = auto()
    UNICODE_CASE = auto()
    UNIX_LINES = auto()
    MULTILINE = auto()
    DOT_ALL = auto()
    FREE_SPACING = auto()


def half_a_character() -> RefusedPattern:
    """Return the error for half of a surrogate pair in a pattern."""
    return RefusedPattern(
        "half of a surrogate pair",
        "The pattern has half of a surrogate pair, which aclweb does not evaluate; write the whole character.",
    )


class PatternText:
    """The text of a pattern, and how far it was read; `at` is the next character that nobody has taken."""

    def __init__(self, text: str) -> None:
        self.characters: list[str] = []
        # Between \Q and \E a character stands for itself.
        self._quoted: list[bool] = []
        self._unquote(text)
        self.at = 0
        self.flags = PatternFlag(0)
        self._depth = 0

    @contextmanager
    def level(self) -> Iterator[None]:
        """Read what is one level of brackets deeper; raise RefusedPattern below the deepest."""
        self._depth += 1
        if self._depth > DEEPEST_NESTING:
            raise self.refusal(f"more than {DEEPEST_NESTING} levels of brackets")
        yield
        self._depth -= 1

    def _unquote(self, text: str) -> None:
        at, is_quoting = 0, False
        while at < len(text):
            two = text[at : at + 2]
            if two == "\\Q" and not is_quoting:
                is_quoting, at = True, at + 2
            elif two == "\\E" and is_quoting:
                is_quoting, at = False, at + 2
            elif text[at] == "\\" and not is_quoting:
                self.characters += two
                self._quoted += [False] * len(two)
                at += 2
            else:
                self.characters.append(text[at])
                self._quoted.append(is_quoting)
                at += 1

    def peek(self, ahead: int = 0) -> str:
        """Return a coming character if it may mean something; empty where it is quoted or there is none."""
        at = self.at + ahead
        return self.characters[at] if at < len(self.characters) and not self._quoted[at] else ""

    def is_next(self, text: str) -> bool:
        """Return whether `text` comes next and may mean something."""
        return all(self.peek(ahead) == character for ahead, character in enumerate(text))

    def take(self, text: str) -> bool:
        """Go past `text` if it comes next."""
        if not self.is_next(text):
            return False
        self.at += len(text)
        return True

    def next_literal(self) -> str:
        """Take one character of a construct, which may not be quoted."""
        if self.at >= len(self.characters):
            return ""
        if self._quoted[self.at]:
            raise self.refusal("`\\Q` inside of a construct")
        self.at += 1
        return self.characters[self.at - 1]

    def digits(self, allowed: str, most: int) -> str:
        """Take at most so many of the allowed digits."""
        found = ""
        while len(found) < most and self.peek() and self.peek() in allowed:
            found += self.next_literal()
        self.require_no_space_here()
        return found

    def skip_space(self) -> None:
        """Go past spaces and comments where the flag x is set."""
        if PatternFlag.FREE_SPACING not in self.flags:
            return
        ends = "\n" if PatternFlag.UNIX_LINES in self.flags else "\n\r\x85\u2028\u2029"
        while space := self.peek():
            if space == "#":
                while (rest := self.at) < len(self.characters) and self.characters[rest] not in ends:
                    self.at += 1
            elif space in SPACE:
                self.at += 1
            else:
                return

    def require_no_space_here(self) -> None:
        """Raise RefusedPattern where a space comes next under the flag x, inside of a construct."""
        if PatternFlag.FREE_SPACING in self.flags and self.peek() and self.peek() in SPACE + "#":
            raise self.refusal("a space inside of a construct under `(?x)`")

    def invalid(self, what: str) -> NoReturn:
        """Raise InvalidPattern; what: what Java finds wrong at this place."""
        raise InvalidPattern(
            f"Java refuses the pattern {shown(''.join(self.characters))} at character {self.at + 1:,}: {what}."
        )

    def refusal(self, construct: str) -> RefusedPattern:
        """Return the error for a construct that is not evaluated."""
        return RefusedPattern(
            construct, f"The pattern uses {construct}, which aclweb does not evaluate; say it in another way."
        )
