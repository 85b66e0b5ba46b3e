"""What does the text of a Java pattern say?

The answer is a tree, or a sentence on why there is none: InvalidPattern where Java would
throw, RefusedPattern where Java would go on and this program will not. What is neither
certainly the one nor the other is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto
from itertools import groupby
from typing import NoReturn

from aclweb.acl.model import shown
from aclweb.acl.principals.java_regex import characters
from aclweb.acl.principals.java_regex.characters import CharacterSet
from aclweb.acl.principals.java_regex.problems import CannotTell, InvalidPattern, RefusedPattern
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

LONGEST_PATTERN = 20_000
DEEPEST_NESTING = 80
MOST_REPEATS = 100_000

_SPACE = " \t\n\x0b\f\r"
_HEX = "0123456789abcdefABCDEF"
_OCTAL = "01234567"
_DIGITS = "0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SIMPLE_ESCAPES = {"a": 0x07, "e": 0x1B, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09}
_CLASS_ESCAPES = {
    "d": characters.any_of(_DIGITS),
    "s": characters.any_of(_SPACE),
    "w": characters.any_of(_LETTERS + _DIGITS + "_"),
    "h": characters.any_of(
        " \t\xa0\u1680\u180e\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
    ),
    "v": characters.any_of("\n\x0b\f\r\x85\u2028\u2029"),
}
_LINE_ENDS = characters.any_of("\n\r\x85\u2028\u2029")
_NO_LINE_END = _LINE_ENDS.complement()
_NO_LF = characters.one(0x0A).complement()
_EVERYTHING = characters.CharacterSet(lambda _code_point: True, is_basic=False)


class _Flag(Flag):
    """The inline flags that are evaluated."""

    IGNORES_CASE = auto()
    UNICODE_CASE = auto()
    UNIX_LINES = auto()
    MULTILINE = auto()
    DOT_ALL = auto()
    FREE_SPACING = auto()


_FLAGS = {
    "i": _Flag.IGNORES_CASE,
    "u": _Flag.UNICODE_CASE,
    "d": _Flag.UNIX_LINES,
    "m": _Flag.MULTILINE,
    "s": _Flag.DOT_ALL,
    "x": _Flag.FREE_SPACING,
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
        raise _half_a_character()
    return _Parser(text).parse()


def _half_a_character() -> RefusedPattern:
    return RefusedPattern(
        "half of a surrogate pair",
        "The pattern has half of a surrogate pair, which aclweb does not evaluate; write the whole character.",
    )


class _Parser:
    """A reader of one pattern. `_at` is always the next character that nobody has taken."""

    def __init__(self, text: str) -> None:
        self._text: list[str] = []
        # Between \Q and \E a character stands for itself.
        self._quoted: list[bool] = []
        self._unquote(text)
        self._at = 0
        self._flags = _Flag(0)
        self._had_free_spacing = False
        self._depth = 0
        self._groups = 1
        self._names: dict[str, int] = {}
        self._has_supplementary = any(ord(character) >= characters.FIRST_SUPPLEMENTARY for character in text)

    def parse(self) -> Parsed:
        try:
            tree = self._choice()
            if self._at < len(self._text):
                self._invalid("a ) closes no group; write \\) for the character")
        except InvalidPattern as error:
            if self._had_free_spacing:
                # Where spaces may stand is Java's secret in such patterns, so the error may be ours.
                raise self._refusal("free spacing `(?x)` at this place") from error
            raise
        return Parsed(tree, self._groups - 1, self._names, self._has_supplementary)

    def _unquote(self, text: str) -> None:
        at, is_quoting = 0, False
        while at < len(text):
            two = text[at : at + 2]
            if two == "\\Q" and not is_quoting:
                is_quoting, at = True, at + 2
            elif two == "\\E" and is_quoting:
                is_quoting, at = False, at + 2
            elif text[at] == "\\" and not is_quoting:
                self._text += two
                self._quoted += [False] * len(two)
                at += 2
            else:
                self._text.append(text[at])
                self._quoted.append(is_quoting)
                at += 1

    # Reading characters.

    def _peek(self, ahead: int = 0) -> str:
        """Return a coming character if it may mean something; empty where it is quoted or there is none."""
        at = self._at + ahead
        return self._text[at] if at < len(self._text) and not self._quoted[at] else ""

    def _is_next(self, text: str) -> bool:
        return all(self._peek(ahead) == character for ahead, character in enumerate(text))

    def _take(self, text: str) -> bool:
        """Go past `text` if it comes next."""
        if not self._is_next(text):
            return False
        self._at += len(text)
        return True

    def _next_literal(self) -> str:
        """Take one character of a construct, which may not be quoted."""
        if self._at >= len(self._text):
            return ""
        if self._quoted[self._at]:
            raise self._refusal("`\\Q` inside of a construct")
        self._at += 1
        return self._text[self._at - 1]

    def _digits(self, allowed: str, most: int) -> str:
        found = ""
        while len(found) < most and self._peek() and self._peek() in allowed:
            found += self._next_literal()
        self._require_no_space_here()
        return found

    def _skip_space(self) -> None:
        """Go past spaces and comments where the flag x is set."""
        if _Flag.FREE_SPACING not in self._flags:
            return
        ends = "\n" if _Flag.UNIX_LINES in self._flags else "\n\r\x85\u2028\u2029"
        while space := self._peek():
            if space == "#":
                while (rest := self._at) < len(self._text) and self._text[rest] not in ends:
                    self._at += 1
            elif space in _SPACE:
                self._at += 1
            else:
                return

    def _require_no_space_here(self) -> None:
        if _Flag.FREE_SPACING in self._flags and self._peek() and self._peek() in _SPACE + "#":
            raise self._refusal("a space inside of a construct under `(?x)`")

    def _invalid(self, what: str) -> NoReturn:
        raise InvalidPattern(
            f"Java refuses the pattern {shown(''.join(self._text))} at character {self._at + 1:,}: {what}."
        )

    def _refusal(self, construct: str) -> RefusedPattern:
        return RefusedPattern(
            construct, f"The pattern uses {construct}, which aclweb does not evaluate; say it in another way."
        )

    # The grammar, from the outside to the inside.

    def _choice(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST_NESTING:
            raise self._refusal(f"more than {DEEPEST_NESTING} levels of brackets")
        alternatives = [self._sequence()]
        while self._take("|"):
            alternatives.append(self._sequence())
        self._depth -= 1
        return alternatives[0] if len(alternatives) == 1 else Choice(tuple(alternatives))

    def _sequence(self) -> Node:
        parts: list[Node | None] = []
        while True:
            self._skip_space()
            if self._at >= len(self._text) or self._peek() in ("|", ")"):
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
        character = self._peek()
        if not character:
            self._at += 1
            return self._literal(ord(self._text[self._at - 1]))
        if character == "(":
            return self._bracketed()
        if character == "[":
            return Character(self._one_of(self._class()))
        if character == "\\":
            return self._escaped()
        if character in "*+?":
            self._invalid(f"there is nothing before the {character} to repeat")
        if character == "{":
            if self._peek(1) and self._peek(1) in _DIGITS:
                # Java repeats the nothing that stands before it.
                return Sequence(())
            self._invalid("a { starts a number of repetitions; write \\{ for the character")
        self._at += 1
        if character == "^":
            return At(self._start())
        if character == "$":
            return At(self._end())
        if character == ".":
            return Character(self._dot())
        return self._literal(ord(character))

    def _start(self) -> Place:
        if _Flag.MULTILINE not in self._flags:
            return Place.INPUT_START
        return Place.UNIX_LINE_START if _Flag.UNIX_LINES in self._flags else Place.LINE_START

    def _end(self) -> Place:
        if _Flag.MULTILINE in self._flags:
            return Place.UNIX_LINE_END if _Flag.UNIX_LINES in self._flags else Place.LINE_END
        return self._last_line_end()

    def _last_line_end(self) -> Place:
        return Place.UNIX_LAST_LINE_END if _Flag.UNIX_LINES in self._flags else Place.LAST_LINE_END

    def _dot(self) -> CharacterSet:
        if _Flag.DOT_ALL in self._flags:
            return _EVERYTHING
        return _NO_LF if _Flag.UNIX_LINES in self._flags else _NO_LINE_END

    def _one_of(self, found: CharacterSet) -> CharacterSet:
        """Return the set, and note what Java notes where it holds a set by itself."""
        self._has_supplementary |= not found.is_basic
        return found

    def _literal(self, code_point: int) -> Letter:
        return Letter(self._single(code_point))

    def _single(self, code_point: int) -> CharacterSet:
        if _Flag.IGNORES_CASE not in self._flags:
            return characters.one(code_point)
        try:
            return characters.folded(code_point, unicode_case=_Flag.UNICODE_CASE in self._flags)
        except CannotTell as error:
            raise self._refusal(f"the character {chr(code_point)} under `(?iu)`") from error

    # Quantifiers.

    def _quantified(self, part: Node) -> Node:
        self._skip_space()
        sign = self._peek()
        if not sign or sign not in "*+?{":
            return part
        counts = self._counts(sign)
        if counts == (0, 1):
            return Maybe(part, self._greed())
        return Repeat(part, *counts, self._greed())

    def _counts(self, sign: str) -> tuple[int, int | None]:
        self._at += 1
        if sign != "{":
            return {"?": (0, 1), "*": (0, None), "+": (1, None)}[sign]
        first = self._number()
        least = most = first
        if first is None:
            self._invalid("a { starts a number of repetitions; write \\{ for the character")
        assert least is not None
        if self._take(","):
            most = self._number()
        if not self._take("}"):
            self._invalid("a number of repetitions has no }")
        if most is not None and most < least:
            self._invalid(f"the repetitions {{{least},{most}}} run from more to less")
        return least, most

    def _number(self) -> int | None:
        self._require_no_space_here()
        digits = self._digits(_DIGITS, LONGEST_PATTERN)
        number = int(digits[:20]) if digits else None
        if number is not None and number > MOST_REPEATS:
            raise self._refusal(f"more than {MOST_REPEATS:,} repetitions")
        return number

    def _greed(self) -> Greed:
        self._skip_space()
        if self._take("?"):
            return Greed.LAZY
        return Greed.POSSESSIVE if self._take("+") else Greed.GREEDY

    # Groups.

    def _bracketed(self) -> Node | None:
        self._at += 1
        self._require_no_space_here()
        flags = self._flags
        if not self._take("?"):
            number = self._new_group()
            return Group(self._body(flags), number)
        if self._take(":"):
            return Group(self._body(flags), None)
        if self._take(">"):
            return Atomic(self._body(flags))
        for sign, is_negative in (("=", False), ("!", True)):
            if self._take(sign):
                return Ahead(self._body(flags), is_negative)
        if self._is_next("<=") or self._is_next("<!"):
            raise self._refusal(f"a look-behind `(?{self._peek()}{self._peek(1)}`")
        if self._take("<"):
            name = self._name()
            if name in self._names:
                self._invalid(f"two groups are called {name}")
            self._names[name] = number = self._new_group()
            return Group(self._body(flags), number)
        self._read_flags()
        if self._take(")"):
            return None
        if not self._take(":"):
            self._invalid("(? is followed by what is neither a kind of group nor a flag")
        return Group(self._body(flags), None)

    def _new_group(self) -> int:
        self._groups += 1
        return self._groups - 1

    def _body(self, flags: _Flag) -> Node:
        """Read up to the closing bracket and put `flags` back in force."""
        body = self._choice()
        if not self._take(")"):
            self._invalid("a group has no closing )")
        self._flags = flags
        return body

    def _name(self) -> str:
        name = ""
        while self._peek() and self._peek() in (_LETTERS + _DIGITS if name else _LETTERS):
            name += self._next_literal()
        if not name:
            self._invalid("the name of a group does not start with a letter from A to Z")
        if not self._take(">"):
            self._invalid("the name of a group has no >")
        return name

    def _read_flags(self) -> None:
        is_on = True
        while True:
            sign = self._peek()
            if sign and sign in "Uc":
                raise self._refusal(f"the flag `(?{sign})`")
            flag = _FLAGS.get(sign)
            if flag is not None:
                self._flags = self._flags | flag if is_on else self._flags & ~flag
                self._had_free_spacing |= flag is _Flag.FREE_SPACING
            elif sign == "-" and is_on:
                is_on = False
            else:
                return
            self._at += 1
            self._require_no_space_here()

    # Escapes.

    def _escaped(self) -> Node:
        sign = self._peek(1)
        place = {
            "A": Place.INPUT_START,
            "z": Place.INPUT_END,
            "Z": self._last_line_end(),
            "b": Place.WORD_EDGE,
            "B": Place.NO_WORD_EDGE,
            "G": Place.LAST_MATCH_END,
        }.get(sign)
        if place is not None:
            self._at += 2
            if sign == "b" and self._is_next("{g"):
                raise self._refusal("`\\b{g}`")
            return At(place)
        if sign == "R":
            self._at += 2
            return LineBreak()
        if sign == "k":
            self._at += 2
            return self._named_again()
        if sign and sign in "123456789":
            self._at += 1
            return self._again(self._group_reference())
        found = self._class_escape()
        if found is None:
            return self._literal(self._character_escape())
        return Character(self._one_of(found))

    def _named_again(self) -> Node:
        if not self._take("<"):
            self._invalid("\\k is not followed by <")
        name = self._name()
        if name not in self._names:
            self._invalid(f"no group before this place is called {name}")
        return self._again(self._names[name])

    def _again(self, group: int) -> Node:
        if _Flag.IGNORES_CASE in self._flags and _Flag.UNICODE_CASE in self._flags:
            raise self._refusal("a reference back to a group under `(?iu)`")
        return Again(group, _Flag.IGNORES_CASE in self._flags)

    def _group_reference(self) -> int:
        number = int(self._next_literal())
        while self._peek() and self._peek() in _DIGITS:
            longer = number * 10 + int(self._peek())
            if longer > self._groups - 1:
                break
            number = longer
            self._at += 1
        self._require_no_space_here()
        return number

    def _class_escape(self) -> CharacterSet | None:
        """Return the set that an escape such as \\d or \\p{L} stands for; None, and nothing taken, for others."""
        sign = self._peek(1)
        if sign in ("p", "P"):
            self._at += 2
            found = self._property()
            return found.complement() if sign == "P" else found
        predefined = _CLASS_ESCAPES.get(sign.lower()) if sign else None
        if predefined is None:
            return None
        self._at += 2
        return predefined if sign.islower() else predefined.complement()

    def _property(self) -> CharacterSet:
        if not self._take("{"):
            name = self._next_literal()
            if not name or name not in "LMNZCPS":
                self._invalid(f"\\p is followed by {name or 'nothing'}, which is no property of characters")
        else:
            name = ""
            while self._at < len(self._text) and not self._is_next("}"):
                name += self._next_literal()
            if not self._take("}"):
                self._invalid("a property \\p{ has no }")
            if not name:
                self._invalid("the property \\p{} has no name")
        if any(space in name for space in _SPACE):
            raise self._refusal("a space in the name of a property")
        found = characters.named(name, ignores_case=_Flag.IGNORES_CASE in self._flags)
        if found is None:
            raise self._refusal(f"the property `\\p{{{name}}}`")
        return found

    def _character_escape(self) -> int:
        """Return the character that an escape stands for; `_at` is on the backslash."""
        self._at += 1
        if self._at >= len(self._text):
            self._invalid("the pattern ends in a single backslash")
        sign = self._next_literal()
        if sign in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[sign]
        if sign == "0":
            return self._octal()
        if sign == "x":
            return self._whole(self._hex())
        if sign == "u":
            return self._utf16()
        if sign == "c":
            return self._control()
        if sign in ("N", "X"):
            raise self._refusal(f"`\\{sign}`")
        if sign in _LETTERS or sign in _DIGITS:
            self._invalid(f"\\{sign} means nothing")
        return ord(sign)

    def _control(self) -> int:
        if self._at >= len(self._text):
            self._invalid("\\c is followed by nothing")
        self._require_no_space_here()
        return ord(self._next_literal()) ^ 64

    def _octal(self) -> int:
        first = self._digits(_OCTAL, 1)
        if not first:
            self._invalid("\\0 is not followed by a digit from 0 to 7")
        rest = self._digits(_OCTAL, 2 if first in "0123" else 1)
        return int(first + rest, 8)

    def _hex(self) -> int:
        if self._take("{"):
            digits = self._digits(_HEX, LONGEST_PATTERN)
            if not digits or not self._take("}"):
                self._invalid("\\x{ is not followed by hexadecimal digits and }")
            if len(digits.lstrip("0")) > 6 or int(digits, 16) > 0x10FFFF:
                self._invalid("\\x{...} is greater than 10FFFF")
            return int(digits, 16)
        digits = self._digits(_HEX, 2)
        if len(digits) < 2:
            self._invalid("\\x is not followed by two hexadecimal digits")
        return int(digits, 16)

    def _utf16(self) -> int:
        high = self._four_digits()
        if 0xD800 <= high <= 0xDBFF and self._take("\\u"):
            low = self._four_digits()
            if 0xDC00 <= low <= 0xDFFF:
                return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
            raise _half_a_character()
        return self._whole(high)

    def _four_digits(self) -> int:
        digits = self._digits(_HEX, 4)
        if len(digits) < 4:
            self._invalid("\\u is not followed by four hexadecimal digits")
        return int(digits, 16)

    def _whole(self, code_point: int) -> int:
        if characters.FIRST_SURROGATE <= code_point <= characters.LAST_SURROGATE:
            raise _half_a_character()
        return code_point

    # Classes in square brackets.

    def _class(self) -> CharacterSet:
        """Read from the opening bracket to after the closing one."""
        self._at += 1
        self._require_no_space_here()
        is_negative = self._take("^")
        found = self._class_items()
        self._at += 1
        return found.complement() if is_negative else found

    def _class_items(self) -> CharacterSet:
        """Return the union and intersections up to the closing bracket, which is not taken."""
        self._depth += 1
        if self._depth > DEEPEST_NESTING:
            raise self._refusal(f"more than {DEEPEST_NESTING} levels of brackets")
        found: CharacterSet | None = None
        has_intersected = False
        while True:
            self._skip_space()
            if self._at >= len(self._text):
                self._invalid("a class has no closing ]")
            if self._is_next("]") and found is not None:
                self._depth -= 1
                return found
            if self._is_next("&&"):
                self._at += 2
                if found is None:
                    raise self._refusal("`&&` with nothing before it")
                found = found.intersection(self._right_side())
                has_intersected = True
                continue
            if has_intersected:
                raise self._refusal("`&` after `&&`")
            item = self._class() if self._is_next("[") else self._class_item()
            found = item if found is None else found.union(item)

    def _right_side(self) -> CharacterSet:
        """Return what stands after &&, up to the closing bracket or the next &."""
        right: CharacterSet | None = None
        while True:
            self._skip_space()
            if self._at >= len(self._text):
                self._invalid("a class has no closing ]")
            if self._peek() in ("]", "&"):
                if right is None:
                    raise self._refusal("`&&` with nothing after it")
                return right
            # Java reads all that follows a plain character, && too, as one side.
            item = self._class() if self._is_next("[") else self._class_items()
            right = item if right is None else right.union(item)

    def _class_item(self) -> CharacterSet:
        if self._is_next("\\"):
            found = self._class_escape()
            if found is not None:
                if self._text[self._at - 1] == "v" and self._is_next("-"):
                    raise self._refusal("`\\v-` in a class")
                return found
        first = self._class_character()
        self._require_no_space_here()
        if not self._is_next("-") or self._peek(1) in ("[", "]"):
            return self._single(first)
        self._at += 1
        self._require_no_space_here()
        if self._at >= len(self._text):
            self._invalid("a class has no closing ]")
        if self._is_next("\\") and self._peek(1) in tuple("dDsSwWhHvVpPRXbBAGzZk"):
            self._invalid("a range ends in what is not a single character")
        last = self._class_character()
        if last < first:
            self._invalid(f"the range from {chr(first)} to {chr(last)} runs backwards")
        if _Flag.IGNORES_CASE in self._flags:
            return characters.folded_span(first, last, unicode_case=_Flag.UNICODE_CASE in self._flags)
        return characters.span(first, last)

    def _class_character(self) -> int:
        if not self._is_next("\\"):
            self._at += 1
            return ord(self._text[self._at - 1])
        if self._peek(1) in tuple("123456789bBAGzZRXk"):
            self._invalid(f"\\{self._peek(1)} means nothing in a class")
        return self._character_escape()
