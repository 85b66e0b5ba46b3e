"""Does a place such as the start of a line, or the edge of a word, hold at a position of a text?"""

from __future__ import annotations

from collections.abc import Callable

from aclweb.acl.principals.java_regex.java_text import Text
from aclweb.acl.principals.java_regex.problems import CannotTell
from aclweb.acl.principals.java_regex.tree import Place

_LF, _CR = 0x0A, 0x0D
_LINE_ENDS = frozenset(map(ord, "\n\r\x85\u2028\u2029"))
_WORD = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))
_ASCII = 128


def place_holds(place: Place, text: Text, at: int, *, last_match_end: int) -> bool:
    """Return whether the place holds at a position; raise CannotTell where Javas differ."""
    return at == last_match_end if place is Place.LAST_MATCH_END else _HOLDS[place](text, at)


def _unit(text: Text, at: int) -> int:
    """Return the unit at a position, -1 outside of the text."""
    return text.units[at] if 0 <= at < len(text) else -1


def _is_line_start(text: Text, at: int) -> bool:
    # Java finds no line after the last line end, and none in an empty text.
    if at == len(text):
        return False
    before = _unit(text, at - 1)
    return at == 0 or (before in _LINE_ENDS and not (before == _CR and _unit(text, at) == _LF))


def _is_unix_line_start(text: Text, at: int) -> bool:
    return at < len(text) and (at == 0 or _unit(text, at - 1) == _LF)


def _is_line_end(text: Text, at: int) -> bool:
    if at == len(text):
        return True
    unit = _unit(text, at)
    return unit in _LINE_ENDS and not (unit == _LF and _unit(text, at - 1) == _CR)


def _is_last_line_end(text: Text, at: int) -> bool:
    left = len(text) - at
    if left == 2:
        return _unit(text, at) == _CR and _unit(text, at + 1) == _LF
    return left < 2 and _is_line_end(text, at)


def _is_unix_last_line_end(text: Text, at: int) -> bool:
    return at == len(text) or (at == len(text) - 1 and _unit(text, at) == _LF)


def _is_word_edge(text: Text, at: int) -> bool:
    sides = _unit(text, at - 1), _unit(text, at)
    if max(sides) >= _ASCII:
        raise CannotTell(
            "Whether the edge of a word `\\b` is beside a letter outside of ASCII depends on the broker's "
            "version of Java."
        )
    return (sides[0] in _WORD) is not (sides[1] in _WORD)


_HOLDS: dict[Place, Callable[[Text, int], bool]] = {
    Place.INPUT_START: lambda _text, at: at == 0,
    Place.LINE_START: _is_line_start,
    Place.UNIX_LINE_START: _is_unix_line_start,
    Place.INPUT_END: lambda text, at: at == len(text),
    Place.LAST_LINE_END: _is_last_line_end,
    Place.LINE_END: _is_line_end,
    Place.UNIX_LAST_LINE_END: _is_unix_last_line_end,
    Place.UNIX_LINE_END: lambda text, at: at == len(text) or _unit(text, at) == _LF,
    Place.WORD_EDGE: _is_word_edge,
    Place.NO_WORD_EDGE: lambda text, at: not _is_word_edge(text, at),
}
