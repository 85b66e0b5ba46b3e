"""What does a replacement such as `$1-x` stand for?

Java reads it anew at every match, so what is wrong with it shows only when something matches.
"""

from __future__ import annotations

from dataclasses import dataclass

from aclweb.acl.model import shown
from aclweb.acl.principals.java_regex.problems import InvalidReplacement

_DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class GroupReference:
    """The text of one group."""

    number: int


Part = str | GroupReference


@dataclass(frozen=True, slots=True)
class Replacement:
    """The parts of a replacement that can be used, in order."""

    parts: tuple[Part, ...]


def read_replacement(text: str, *, group_count: int, group_names: dict[str, int]) -> Replacement:
    """Return what a replacement says; raise InvalidReplacement where Java throws."""
    parts: list[Part] = []
    at = 0
    while at < len(text):
        sign = text[at]
        at += 1
        if sign == "\\":
            if at == len(text):
                raise _invalid(text, "it ends in a single backslash")
            parts.append(text[at])
            at += 1
        elif sign == "$":
            number, at = _reference(text, at, group_count, group_names)
            parts.append(GroupReference(number))
        else:
            parts.append(sign)
    return Replacement(tuple(parts))


def _invalid(text: str, what: str) -> InvalidReplacement:
    return InvalidReplacement(f"Java cannot use the replacement {shown(text)}: {what}.")


def _reference(text: str, at: int, group_count: int, group_names: dict[str, int]) -> tuple[int, int]:
    """Return the group that is named after a dollar sign, and where the text goes on."""
    if text[at : at + 1] == "{":
        return _named(text, at + 1, group_names)
    if not text[at : at + 1] or text[at] not in _DIGITS:
        raise _invalid(text, "a $ is followed by no group; write \\$ for the character")
    number = int(text[at])
    at += 1
    while at < len(text) and text[at] in _DIGITS and number * 10 + int(text[at]) <= group_count:
        number = number * 10 + int(text[at])
        at += 1
    if number > group_count:
        raise _invalid(text, f"it asks for group {number}, and the pattern has {group_count}")
    return number, at


def _named(text: str, at: int, group_names: dict[str, int]) -> tuple[int, int]:
    end = at
    while end < len(text) and text[end].isascii() and text[end].isalnum():
        end += 1
    name = text[at:end]
    if not name:
        raise _invalid(text, "${ is followed by no name of a group")
    if text[end : end + 1] != "}":
        raise _invalid(text, f"${{{name} has no }}")
    if name not in group_names:
        raise _invalid(text, f"no group is called {name}")
    return group_names[name], end + 1
