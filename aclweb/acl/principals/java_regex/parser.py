"""What does the text of a Java pattern say?

The answer is a tree, or a sentence on why there is none: InvalidPattern where Java would
throw, RefusedPattern where Java would go on and this program will not. What is neither
certainly the one nor the other is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from aclweb.acl.principals.java_regex import characters
from aclweb.acl.principals.java_regex.characters import CharacterSet
from aclweb.acl.principals.java_regex.classes import read_class, single
from aclweb.acl.principals.java_regex.escapes import character_escape, class_escape
from aclweb.acl.principals.java_regex.pattern_text import (
    DIGITS,
    LETTERS,
    LONGEST_PATTERN,
    PatternFlag,
    PatternText,
    half_a_character,
)
from aclweb.acl.principals.java_regex.problems import InvalidPattern, RefusedPattern
from aclweb.acl.principals.java_regex.tree import (
    Again,
    Ahead,
    At,
    Atomic,
    Character,
    Choice,
    Greed,
    Group,
    Letter,
    LineBreak,
    Maybe,
    Node,
    Place,
    Repeat,
    Sequence,
)

MOST_REPEATS = 100_000

_LINE_ENDS = characters.any_of("\n\r\x85\u2028\u2029")
_NO_LINE_END = _LINE_ENDS.complement()
_NO_LF = characters.one(0x0A).complement()
_EVERYTHING = characters.CharacterSet(lambda _code_point: True, is_basic=False)


_FLAGS = {
    "i": PatternFlag.IGNORES_CASE,
    "u": PatternFlag.UNICODE_CASE,
    "d": PatternFlag.UNIX_LINES,
    "m": PatternFlag.MULTILINE,
    "s": PatternFlag.DOT_ALL,
    "x": PatternFlag.FREE_SPACING,
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A pattern as a tree; `has_supplementary` says that Java's search looks at no second half of a pair."""

    tree: Node
    group_count: int
    group_names: dict[str, int]
    has_supplementary: bool


def parse(pattern: str) -> Parsed:
    """Return what a pattern says; raise InvalidPattern or RefusedPattern."""
    if len(pattern) > LONGEST_PATTERN:
        raise RefusedPattern(
            "pattern length",
            f"The pattern has {len(pattern):,} characters, and aclweb evaluates at most {LONGEST_PATTERN:,}.",
        )
    text = pattern.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if any(characters.FIRST_SURROGATE <= ord(character) <= characters.LAST_SURROGATE for character in text):
        raise half_a_character()
    return _Parser(text).parse()


class _Parser:
    """A reader of one pattern, from the outside to the inside."""

    def __init__(self, text: str) -> None:
        self._text = PatternText(text)
        self._had_free_spacing = False
        self._groups = 1
        self._names: dict[str, int] = {}
        self._has_supplementary = any(ord(character) >= characters.FIRST_SUPPLEMENTARY for character in text)

    def parse(self) -> Parsed:
        try:
            tree = self._choice()
            if self._text.at < len(self._text.characters):
                self._text.invalid("a ) closes no group; write \\) for the character")
        except InvalidPattern as error:
            if self._had_free_spacing:
                # Where spaces may stand is Java's secret in such patterns, so the error may be ours.
                raise self._text.refusal("free spacing `(?x)` at this place") from error
            raise
        return Parsed(tree, self._groups - 1, self._names, self._has_supplementary)

    # The grammar, from the outside to the inside.

    def _choice(self) -> Node:
        with self._text.level():
            alternatives = [self._sequence()]
            while self._text.take("|"):
                alternatives.append(self._sequence())
        return alternatives[0] if len(alternatives) == 1 else Choice(tuple(alternatives))

    def _sequence(self) -> Node:
        parts: list[Node | None] = []
        while True:
            self._text.skip_space()
            if self._text.at >= len(self._text.characters) or self._text.peek() in ("|", ")"):
                break
            part = self._part()
            parts.append(None if part is None else self._quantified(part))
        self._note_single_letters(parts)
        nodes = tuple(part for part in parts if part is not None)
        return nodes[0] if len(nodes) == 1 else Sequence(nodes)

    def _note_single_letters(self, parts: list[Node | None]) -> None:
        """Note letters that Java holds one by one: those with a quantifier, and those without another beside them."""
        for kind, run in groupby(parts, type):
            row = list(run)
            if kind is not Letter:
                row = [part.body for part in row if isinstance(part, Repeat | Maybe)]
            elif len(row) > 1:
                continue
            for part in row:
                if isinstance(part, Letter):
                    self._one_of(part.characters)

    def _part(self) -> Node | None:
        """Return the next part without its quantifier; None for flags."""
        character = self._text.peek()
        if not character:
            self._text.at += 1
            return self._literal(ord(self._text.characters[self._text.at - 1]))
        if character == "(":
            return self._bracketed()
        if character == "[":
            return Character(self._one_of(read_class(self._text)))
        if character == "\\":
            return self._escaped()
        if character in "*+?":
            self._text.invalid(f"there is nothing before the {character} to repeat")
        if character == "{":
            if self._text.peek(1) and self._text.peek(1) in DIGITS:
                # Java repeats the empty part before it.
                return Sequence(())
            self._text.invalid("a { starts a number of repetitions; write \\{ for the character")
        self._text.at += 1
        if character == "^":
            return At(self._start())
        if character == "$":
            return At(self._end())
        if character == ".":
            return Character(self._dot())
        return self._literal(ord(character))

    def _start(self) -> Place:
        if PatternFlag.MULTILINE not in self._text.flags:
            return Place.INPUT_START
        return Place.UNIX_LINE_START if PatternFlag.UNIX_LINES in self._text.flags else Place.LINE_START

    def _end(self) -> Place:
        if PatternFlag.MULTILINE in self._text.flags:
            return Place.UNIX_LINE_END if PatternFlag.UNIX_LINES in self._text.flags else Place.LINE_END
        return self._last_line_end()

    def _last_line_end(self) -> Place:
        return Place.UNIX_LAST_LINE_END if PatternFlag.UNIX_LINES in self._text.flags else Place.LAST_LINE_END

    def _dot(self) -> CharacterSet:
        if PatternFlag.DOT_ALL in self._text.flags:
            return _EVERYTHING
        return _NO_LF if PatternFlag.UNIX_LINES in self._text.flags else _NO_LINE_END

    def _one_of(self, found: CharacterSet) -> CharacterSet:
        """Return the set, and note what Java notes where it holds a set by itself."""
        self._has_supplementary |= not found.is_basic
        return found

    def _literal(self, code_point: int) -> Letter:
        return Letter(single(self._text, code_point))

    # Quantifiers.

    def _quantified(self, part: Node) -> Node:
        self._text.skip_space()
        sign = self._text.peek()
        if not sign or sign not in "*+?{":
            return part
        counts = self._counts(sign)
        if counts == (0, 1):
            return Maybe(part, self._greed())
        return Repeat(part, *counts, self._greed())

    def _counts(self, sign: str) -> tuple[int, int | None]:
        self._text.at += 1
        if sign != "{":
            return {"?": (0, 1), "*": (0, None), "+": (1, None)}[sign]
        first = self._number()
        least = most = first
        if first is None:
            self._text.invalid("a { starts a number of repetitions; write \\{ for the character")
        assert least is not None
        if self._text.take(","):
            most = self._number()
        if not self._text.take("}"):
            self._text.invalid("a number of repetitions has no }")
        if most is not None and most < least:
            self._text.invalid(f"the repetitions {{{least},{most}}} run from more to less")
        return least, most

    def _number(self) -> int | None:
        self._text.require_no_space_here()
        digits = self._text.digits(DIGITS, LONGEST_PATTERN)
        number = int(digits[:20]) if digits else None
        if number is not None and number > MOST_REPEATS:
            raise self._text.refusal(f"more than {MOST_REPEATS:,} repetitions")
        return number

    def _greed(self) -> Greed:
        self._text.skip_space()
        if self._text.take("?"):
            return Greed.LAZY
        return Greed.POSSESSIVE if self._text.take("+") else Greed.GREEDY

    # Groups.

    def _bracketed(self) -> Node | None:
        self._text.at += 1
        self._text.require_no_space_here()
        flags = self._text.flags
        if not self._text.take("?"):
            number = self._new_group()
            return Group(self._body(flags), number)
        if self._text.take(":"):
            return Group(self._body(flags), None)
        if self._text.take(">"):
            return Atomic(self._body(flags))
        for sign, is_negative in (("=", False), ("!", True)):
            if self._text.take(sign):
                return Ahead(self._body(flags), is_negative)
        if self._text.is_next("<=") or self._text.is_next("<!"):
            raise self._text.refusal(f"a look-behind `(?{self._text.peek()}{self._text.peek(1)}`")
        if self._text.take("<"):
            name = self._name()
            if name in self._names:
                self._text.invalid(f"two groups are called {name}")
            self._names[name] = number = self._new_group()
            return Group(self._body(flags), number)
        self._read_flags()
        if self._text.take(")"):
            return None
        if not self._text.take(":"):
            self._text.invalid("(? is followed by what is neither a kind of group nor a flag")
        return Group(self._body(flags), None)

    def _new_group(self) -> int:
        self._groups += 1
        return self._groups - 1

    def _body(self, flags: PatternFlag) -> Node:
        """Read up to the closing bracket and put `flags` back in force."""
        body = self._choice()
        if not self._text.take(")"):
            self._text.invalid("a group has no closing )")
        self._text.flags = flags
        return body

    def _name(self) -> str:
        name = ""
        while self._text.peek() and self._text.peek() in (LETTERS + DIGITS if name else LETTERS):
            name += self._text.next_literal()
        if not name:
            self._text.invalid("the name of a group does not start with a letter from A to Z")
        if not self._text.take(">"):
            self._text.invalid("the name of a group has no >")
        return name

    def _read_flags(self) -> None:
        is_on = True
        while True:
            sign = self._text.peek()
            if sign and sign in "Uc":
                raise self._text.refusal(f"the flag `(?{sign})`")
            flag = _FLAGS.get(sign)
            if flag is not None:
                self._text.flags = self._text.flags | flag if is_on else self._text.flags & ~flag
                self._had_free_spacing |= flag is PatternFlag.FREE_SPACING
            elif sign == "-" and is_on:
                is_on = False
            else:
                return
            self._text.at += 1
            self._text.require_no_space_here()

    # Escapes.

    def _escaped(self) -> Node:
        sign = self._text.peek(1)
        place = {
            "A": Place.INPUT_START,
            "z": Place.INPUT_END,
            "Z": self._last_line_end(),
            "b": Place.WORD_EDGE,
            "B": Place.NO_WORD_EDGE,
            "G": Place.LAST_MATCH_END,
        }.get(sign)
        if place is not None:
            self._text.at += 2
            if sign == "b" and self._text.is_next("{g"):
                raise self._text.refusal("`\\b{g}`")
            return At(place)
        if sign == "R":
            self._text.at += 2
            return LineBreak()
        if sign == "k":
            self._text.at += 2
            return self._named_again()
        if sign and sign in "123456789":
            self._text.at += 1
            return self._again(self._group_reference())
        found = class_escape(self._text)
        if found is None:
            return self._literal(character_escape(self._text))
        return Character(self._one_of(found))

    def _named_again(self) -> Node:
        if not self._text.take("<"):
            self._text.invalid("\\k is not followed by <")
        name = self._name()
        if name not in self._names:
            self._text.invalid(f"no group before this place is called {name}")
        return self._again(self._names[name])

    def _again(self, group: int) -> Node:
        if PatternFlag.IGNORES_CASE in self._text.flags and PatternFlag.UNICODE_CASE in self._text.flags:
            raise self._text.refusal("a reference back to a group under `(?iu)`")
        return Again(group, PatternFlag.IGNORES_CASE in self._text.flags)

    def _group_reference(self) -> int:
        number = int(self._text.next_literal())
        while self._text.peek() and self._text.peek() in DIGITS:
            longer = number * 10 + int(self._text.peek())
            if longer > self._groups - 1:
                break
            number = longer
            self._text.at += 1
        self._text.require_no_space_here()
        return number
