"""How do rows of text become YAML and back, without a YAML library?

The subset that ACL files need: a flat list of objects, one `key: value` a line, values
plain, single- or double-quoted, comments and blank lines. What is written here, every
YAML reader understands; what is read here, it would read the same way, except that a
plain value is always a text (`123`, `true`), because every value of an ACL is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from aclweb.acl.model import Problems, lines_of, shown

# Of a key that a message repeats without quotes.
LONGEST_PLAIN_KEY = 40

_DASH = re.compile(r"( *)-(?:( +)(.*))?")
_PAIR = re.compile(r"""("(?:[^"\\]|\\.)*" *|'(?:[^']|'')*' *|[^\s'"#:][^:#]*):(?:[ ]+(.*))?""")
# What this module writes itself, for nearly every text; the others cost more to read.
_SIMPLE = re.compile(r'(\w+): "([^"\\]*)"')
_SIMPLE_BELOW = re.compile(r'( +)(\w+): "([^"\\]*)"')
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"[ \t]*(?:(?<=[ \t])#.*)?')
_SINGLE = re.compile(r"'((?:[^']|'')*)'[ \t]*(?:(?<=[ \t])#.*)?")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
# Not printable in YAML, or a line break in YAML 1.1.
_NOT_RAW = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
# Characters with a meaning of their own at the start of a plain value.
_INDICATORS = "-?:,[]{}#&*!|>'\"%@`"
_NEXT_KEY = "\n  "
_NULLS = ("", "~", "null", "Null", "NULL")


class _BadValue(ValueError):
    """A value outside the subset; the message is a sentence."""


def write_rows(rows: Iterable[Mapping[str, str]]) -> str:
    """Return the YAML text of `rows`; every value is in double quotes, so none needs a second look."""
    return "".join(
        f"- {_NEXT_KEY.join([f'{key}: {_quoted(value)}' for key, value in row.items()])}\n" for row in rows
    )


def _quoted(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


Row = tuple[int, dict[str, str], dict[str, int]]
"""The first line of an object, its value by key, and its line by key."""

_HEADS = ("---", "[]")
# The column of an object whose dash has a line of its own: that of its first key.
_NOT_YET = -1


def read_rows(text: str, problems: Problems) -> Iterator[Row]:
    """Return each object as (its first line, value by key, line by key); note bad lines in `problems`.

    An object with a bad line is left out.
    """
    rows = _Rows(problems)
    for number, raw in enumerate(lines_of(text), start=1):
        if rows.add_simple(number, raw):
            continue
        line = raw.rstrip(" \t\r")
        if not line:
            continue
        if line in _HEADS:
            rows.take_head(number, line)
            continue
        odd = None if line.isprintable() else _why_not_raw(line)
        if line.lstrip(" \t").startswith("#"):
            if odd is not None:
                problems.add(number, odd)
            continue
        dash = _DASH.fullmatch(line)
        if dash is not None:
            yield from rows.finished()
            pair = rows.begin(number, dash, odd)
        else:
            pair = rows.pair_below(number, line)
        if pair:
            rows.add(number, pair, odd)
    yield from rows.finished()


class _Rows:
    """The object that is being read, and where its keys and the dashes of the list are."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._item: dict[str, str] | None = None
        self._places: dict[str, int] = {}
        self._start = self._column = 0
        self._is_good = True
        self._list_indent: int | None = None
        self._heads: list[str] = []

    def finished(self) -> Iterator[Row]:
        """Yield the object that was read, if there is one without a bad line."""
        if self._item is not None and self._is_good:
            yield self._start, self._item, self._places

    def take_head(self, number: int, line: str) -> None:
        """Take a line that begins the document, or is an empty list."""
        if self._item is not None or "[]" in self._heads or line in self._heads:
            self._problems.add(number, f"{shown(line)} is where the list has begun; one file has one list.")
        self._heads.append(line)

    def begin(self, number: int, dash: re.Match[str], odd: str | None) -> str:
        """Begin an object; return its first pair, empty where the dash has a line of its own."""
        self._item, self._places, self._start, self._is_good = {}, {}, number, True
        indent, gap, rest = len(dash[1]), dash[2], dash[3]
        if self._list_indent is None:
            self._list_indent = indent
        if indent != self._list_indent:
            self._spoil(
                number, f"The '-' stands at column {indent + 1}, the first at {self._list_indent + 1}."
            )
        if "[]" in self._heads:
            self._spoil(number, "An ACL stands after '[]', which is a list of none; remove the '[]'.")
        if rest and not rest.startswith("#"):
            self._column = indent + 1 + len(gap)
            return str(rest)
        self._column = _NOT_YET
        if odd is not None:
            self._spoil(number, odd)
        return ""

    def pair_below(self, number: int, line: str) -> str:
        """Return the pair of a line without a dash, empty where it is not in line with the pairs above it."""
        rest = line.lstrip(" ")
        indent = len(line) - len(rest)
        if self._item is None:
            self._problems.add(
                number, f"{shown(line)} stands before the first '- '; an ACL begins with '- key: value'."
            )
            return ""
        if self._column == _NOT_YET and self._list_indent is not None and indent > self._list_indent:
            self._column = indent
        if indent == self._column:
            return rest
        self._spoil(
            number,
            f"{shown(line)} is not in line with the keys above it; "
            "write one 'key: value' a line, each at the same column.",
        )
        return ""

    def add_simple(self, number: int, line: str) -> bool:
        """Add the pair of a line such as this module writes below a dash; return whether it was one."""
        found = _SIMPLE_BELOW.fullmatch(line)
        item = self._item
        if found is None or item is None or found.end(1) != self._column or not line.isprintable():
            return False
        key = found[2]
        if key in item:
            return False
        item[key], self._places[key] = found[3], number
        return True

    def add(self, number: int, pair: str, odd: str | None) -> None:
        """Add a pair to the object; `odd` says what is wrong with its line."""
        item = self._item
        assert item is not None
        try:
            if odd is not None:
                raise _BadValue(odd)
            key, value = _pair(pair)
            if key in item:
                raise _BadValue(f"The key {shown(key)} is given twice in one ACL; keep one.")
            item[key], self._places[key] = value, number
        except _BadValue as error:
            self._spoil(number, str(error))

    def _spoil(self, number: int, sentence: str) -> None:
        self._problems.add(number, sentence)
        self._is_good = False


def _why_not_raw(line: str) -> str | None:
    """Return what is wrong with a line that holds a character which YAML has in escapes only."""
    found = _NOT_RAW.search(line)
    if found is None:
        return None
    return (
        f"{shown(line)} contains the character U+{ord(found[0]):04X}, which YAML readers refuse or take for the end of "
        "the line; write it as an escape in double quotes."
    )


def _pair(text: str) -> tuple[str, str]:
    simple = _SIMPLE.fullmatch(text)
    if simple is not None:
        return simple[1], simple[2]
    found = _PAIR.fullmatch(text)
    if found is None:
        raise _BadValue(f"{shown(text)} is not 'key: value'; put one pair on each line.")
    key, value = found[1], found[2] or ""
    key = key.rstrip(" ")
    named = key if key.isidentifier() and len(key) <= LONGEST_PLAIN_KEY else shown(key)
    return (_value(named, key) if key[0] in "'\"" else key), _value(named, value)


def _value(key: str, text: str) -> str:
    if text.startswith('"'):
        double = _DOUBLE.fullmatch(text)
        if double is None:
            raise _BadValue(f"The double-quoted value of {key} is not closed on its line: {shown(text)}.")
        return _unescaped(double[1])
    if text.startswith("'"):
        single = _SINGLE.fullmatch(text)
        if single is None:
            raise _BadValue(f"The single-quoted value of {key} is not closed on its line: {shown(text)}.")
        return single[1].replace("''", "'")
    return _plain(key, text)


def _plain(key: str, text: str) -> str:
    plain = re.split(r"(?:^|[ \t])#", text, maxsplit=1)[0].rstrip(" \t")
    if plain in _NULLS:
        raise _BadValue(f"The value of {key} is null ({shown(plain)}); write a text, in quotes if need be.")
    starts_plain = plain[0] not in _INDICATORS or (plain[0] in "-?:" and plain[1:2] not in ("", " "))
    if not starts_plain or ": " in plain or plain.endswith(":") or "\t" in plain:
        raise _BadValue(
            f"The value of {key} is {shown(plain)}, which YAML reads as something else; quote it."
        )
    return plain


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(_character, text)
    # JSON writes a character beyond U+FFFF as two escapes.
    text = _SURROGATES.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _BadValue(f"{shown(text)} holds half a character (a lone surrogate), which YAML cannot.")
    return text


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code:
        if int(code, 16) > 0x10FFFF:
            raise _BadValue(f"{shown(escape[0])} is no character; the last one is U+10FFFF.")
        return chr(int(code, 16))
    if escape[4] not in _ESCAPES:
        raise _BadValue(f"{shown(escape[0])} is no escape that YAML knows; write a backslash twice.")
    return _ESCAPES[escape[4]]
