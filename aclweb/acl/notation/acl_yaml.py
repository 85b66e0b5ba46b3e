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

# Of a key that stands in a message as it is.
LONGEST_PLAIN_KEY = 40

_DASH = re.compile(r"( *)-(?:( +)(.*))?")
_PAIR = re.compile(r"""("(?:[^"\\]|\\.)*" *|'(?:[^']|'')*' *|[^\s'"#:][^:#]*):(?:[ ]+(.*))?""")
# What this module writes itself, for nearly every text; the others cost more to read.
_SIMPLE = re.compile(r'(\w+): "([^"\\]*)"')
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


def read_rows(text: str, problems: Problems) -> Iterator[tuple[int, dict[str, str], dict[str, int]]]:
    """Return each object as (its first line, value by key, line by key); note bad lines in `problems`.

    An object with a bad line is left out.
    """
    item: dict[str, str] | None = None
    places: dict[str, int] = {}
    start, column, good = 0, 0, True
    list_indent: int | None = None
    heads: list[str] = []

    for number, raw in enumerate(lines_of(text), start=1):
        line = raw.rstrip(" \t\r")
        if not line:
            continue
        if line in ("---", "[]"):
            if item is not None or "[]" in heads or line in heads:
                problems.add(number, f"{shown(line)} is where the list has begun; one file has one list.")
            heads.append(line)
            continue
        odd = None if line.isprintable() else _why_not_raw(line)
        if line.lstrip(" \t").startswith("#"):
            if odd is not None:
                problems.add(number, odd)
            continue
        dash = _DASH.fullmatch(line)
        if dash is not None:
            if item is not None and good:
                yield start, item, places
            item, places, start, good = {}, {}, number, True
            indent, gap, rest = len(dash[1]), dash[2], dash[3]
            if list_indent is None:
                list_indent = indent
            if indent != list_indent:
                problems.add(
                    number, f"The '-' stands at column {indent + 1}, the first at {list_indent + 1}."
                )
                good = False
            if "[]" in heads:
                problems.add(number, "An ACL stands after '[]', which is a list of none; remove the '[]'.")
                good = False
            if not rest or rest.startswith("#"):
                column = -1  # the first key's own line tells
                if odd is not None:
                    problems.add(number, odd)
                    good = False
                continue
            column = indent + 1 + len(gap)
        else:
            rest = line.lstrip(" ")
            indent = len(line) - len(rest)
            if item is None:
                problems.add(
                    number, f"{shown(line)} stands before the first '- '; an ACL begins with '- key: value'."
                )
                continue
            if column == -1 and list_indent is not None and indent > list_indent:
                column = indent
            if indent != column:
                problems.add(
                    number,
                    f"{shown(line)} is not in line with the keys above it; "
                    "write one 'key: value' a line, each at the same column.",
                )
                good = False
                continue
        try:
            if odd is not None:
                raise _BadValue(odd)
            key, value = _pair(rest)
            if key in item:
                raise _BadValue(f"The key {shown(key)} is given twice in one ACL; keep one.")
            item[key], places[key] = value, number
        except _BadValue as error:
            problems.add(number, error)
            good = False
    if item is not None and good:
        yield start, item, places


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
