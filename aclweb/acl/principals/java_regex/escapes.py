"""What does an escape stand for: a character, or a set of them?"""

from __future__ import annotations

from aclweb.acl.principals.java_regex import characters
from aclweb.acl.principals.java_regex.characters import CharacterSet
from aclweb.acl.principals.java_regex.pattern_text import (
    DIGITS,
    LETTERS,
    LONGEST_PATTERN,
    SPACE,
    PatternFlag,
    PatternText,
    half_a_character,
)

_HEX = "0123456789abcdefABCDEF"
_OCTAL = "01234567"
_SIMPLE_ESCAPES = {"a": 0x07, "e": 0x1B, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09}
_CLASS_ESCAPES = {
    "d": characters.any_of(DIGITS),
    "s": characters.any_of(SPACE),
    "w": characters.any_of(LETTERS + DIGITS + "_"),
    "h": characters.any_of(
        " \t\xa0\u1680\u180e\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
    ),
    "v": characters.any_of("\n\x0b\f\r\x85\u2028\u2029"),
}


def class_escape(text: PatternText) -> CharacterSet | None:
    """Return the set that an escape such as \\d or \\p{L} stands for; None, and nothing taken, for others."""
    sign = text.peek(1)
    if sign in ("p", "P"):
        text.at += 2
        found = _property(text)
        return found.complement() if sign == "P" else found
    predefined = _CLASS_ESCAPES.get(sign.lower()) if sign else None
    if predefined is None:
        return None
    text.at += 2
    return predefined if sign.islower() else predefined.complement()


def _property(text: PatternText) -> CharacterSet:
    if not text.take("{"):
        name = text.next_literal()
        if not name or name not in "LMNZCPS":
            text.invalid(f"\\p is followed by {name or 'nothing'}, which is no property of characters")
    else:
        name = ""
        while text.at < len(text.characters) and not text.is_next("}"):
            name += text.next_literal()
        if not text.take("}"):
            text.invalid("a property \\p{ has no }")
        if not name:
            text.invalid("the property \\p{} has no name")
    if any(space in name for space in SPACE):
        raise text.refusal("a space in the name of a property")
    found = characters.named(name, ignores_case=PatternFlag.IGNORES_CASE in text.flags)
    if found is None:
        raise text.refusal(f"the property `\\p{{{name}}}`")
    return found


def character_escape(text: PatternText) -> int:
    """Return the character that an escape stands for; `text.at` is on the backslash."""
    text.at += 1
    if text.at >= len(text.characters):
        text.invalid("the pattern ends in a single backslash")
    sign = text.next_literal()
    if sign in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[sign]
    if sign == "0":
        return _octal(text)
    if sign == "x":
        return _whole(_hex(text))
    if sign == "u":
        return _utf16(text)
    if sign == "c":
        return _control(text)
    if sign in ("N", "X"):
        raise text.refusal(f"`\\{sign}`")
    if sign in LETTERS or sign in DIGITS:
        text.invalid(f"\\{sign} means nothing")
    return ord(sign)


def _control(text: PatternText) -> int:
    if text.at >= len(text.characters):
        text.invalid("\\c is followed by nothing")
    text.require_no_space_here()
    return ord(text.next_literal()) ^ 64


def _octal(text: PatternText) -> int:
    first = text.digits(_OCTAL, 1)
    if not first:
        text.invalid("\\0 is not followed by a digit from 0 to 7")
    rest = text.digits(_OCTAL, 2 if first in "0123" else 1)
    return int(first + rest, 8)


def _hex(text: PatternText) -> int:
    if text.take("{"):
        digits = text.digits(_HEX, LONGEST_PATTERN)
        if not digits or not text.take("}"):
            text.invalid("\\x{ is not followed by hexadecimal digits and }")
        if len(digits.lstrip("0")) > 6 or int(digits, 16) > 0x10FFFF:
            text.invalid("\\x{...} is greater than 10FFFF")
        return int(digits, 16)
    digits = text.digits(_HEX, 2)
    if len(digits) < 2:
        text.invalid("\\x is not followed by two hexadecimal digits")
    return int(digits, 16)


def _utf16(text: PatternText) -> int:
    high = _four_digits(text)
    if 0xD800 <= high <= 0xDBFF and text.take("\\u"):
        low = _four_digits(text)
        if 0xDC00 <= low <= 0xDFFF:
            return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
        raise half_a_character()
    return _whole(high)


def _four_digits(text: PatternText) -> int:
    digits = text.digits(_HEX, 4)
    if len(digits) < 4:
        text.invalid("\\u is not followed by four hexadecimal digits")
    return int(digits, 16)


def _whole(code_point: int) -> int:
    if characters.FIRST_SURROGATE <= code_point <= characters.LAST_SURROGATE:
        raise half_a_character()
    return code_point
