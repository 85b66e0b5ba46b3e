"""Which characters does a part of a pattern stand for?

A CharacterSet answers for one code point and remembers its answers. What depends on Unicode's
tables is answered for the characters of Unicode 13 that are still the same in Unicode 16, as
every Java from 17 to 25 knows them: for others, Javas differ and CannotTell is raised.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import cache

from aclweb.acl.principals.java_regex.problems import CannotTell

Test = Callable[[int], bool]

FIRST_SURROGATE, LAST_SURROGATE = 0xD800, 0xDFFF
FIRST_SUPPLEMENTARY = 0x10000
_ASCII = 128

# Code points that got their character, another category or another case in Unicode 14 to 16.
_UNSETTLED_TEXT = """
19b 264 61d 870-88e 890-891 897-89f 8b5 8c8-8d2 c3c c5d cdd cf3 ece 10fc 170d 1715 171f 1734 180f 1ac1-1ace 1b4c
1b4e-1b4f 1b7d-1b7f 1c89-1c8a 1dfa 20c0 2427-2429 2c2f 2c5f 2e53-2e5d 2ffc-2fff 31e4-31e5 31ef 9ffd-9fff
a7c0-a7c1 a7cb-a7cd a7d0-a7d1 a7d3 a7d5-a7dc a7f2-a7f4 ab69 fbc2 fd40-fd4f fdcf fdfe-fdff 10570-1057a
1057c-1058a 1058c-10592 10594-10595 10597-105a1 105a3-105b1 105b3-105b9 105bb-105bc 105c0-105f3 10780-10785
10787-107b0 107b2-107ba 10d40-10d65 10d69-10d85 10d8e-10d8f 10ec2-10ec4 10efc-10eff 10f70-10f89 11070-11075
110c2 1123f-11241 11380-11389 1138b 1138e 11390-113b5 113b7-113c0 113c2 113c5 113c7-113ca 113cc-113d5
113d7-113d8 113e1-113e2 116b9 116d0-116e3 1171e 11740-11746 11ab0-11abf 11b00-11b09 11bc0-11be1 11bf0-11bf9
11f00-11f10 11f12-11f3a 11f3e-11f5a 12f90-12ff2 1342f 13439-13455 13460-143fa 16100-16139 16a70-16abe
16ac0-16ac9 16d40-16d79 18cff 1aff0-1aff3 1aff5-1affb 1affd-1affe 1b11f-1b122 1b132 1b155 1cc00-1ccf9
1cd00-1ceb3 1cf00-1cf2d 1cf30-1cf46 1cf50-1cfc3 1d1e9-1d1ea 1d2c0-1d2d3 1df00-1df1e 1df25-1df2a 1e030-1e06d
1e08f 1e290-1e2ae 1e4d0-1e4f9 1e5d0-1e5fa 1e5ff 1e7e0-1e7e6 1e7e8-1e7eb 1e7ed-1e7ee 1e7f0-1e7fe 1f6dc-1f6df
1f774-1f776 1f77b-1f77f 1f7d9 1f7f0 1f8b2-1f8bb 1f8c0-1f8c1 1f979 1f9cc 1fa75-1fa77 1fa7b-1fa7c 1fa87-1fa89
1fa8f 1faa9-1faaf 1fab7-1fabf 1fac3-1fac6 1face-1facf 1fad7-1fadc 1fadf-1fae9 1faf0-1faf8 1fbcb-1fbef
2a6de-2a6df 2b735-2b739 2ebf0-2ee5d 31350-323af
"""
_UNSETTLED = [
    (int(first, 16), int(last or first, 16))
    for first, _dash, last in (span.partition("-") for span in _UNSETTLED_TEXT.split())
]
_UNSETTLED_STARTS = [first for first, _last in _UNSETTLED]


def is_settled(code_point: int) -> bool:
    """Return whether every Java from 17 on knows the same about this code point."""
    if code_point < 0x19B:
        return True
    at = bisect_right(_UNSETTLED_STARTS, code_point) - 1
    if at >= 0 and code_point <= _UNSETTLED[at][1]:
        return False
    is_noncharacter = 0xFDD0 <= code_point <= 0xFDEF or code_point & 0xFFFE == 0xFFFE
    return is_noncharacter or unicodedata.category(chr(code_point)) != "Cn"


def require_settled(code_point: int) -> None:
    """Raise CannotTell for a character that not every Java knows."""
    if not is_settled(code_point):
        raise CannotTell(
            f"What kind of character U+{code_point:04X} is came or changed after Unicode 13, so that it depends "
            "on the broker's version of Java."
        )


class CharacterSet(dict[int, bool]):
    """The characters that one place of a pattern takes: `characters[code_point]`.

    The dictionary holds the answers given so far. `is_basic` says that Java holds the set for one
    of characters below U+10000 only; its search then begins at both halves of a pair.
    """

    __slots__ = ("_test", "is_basic")

    def __init__(self, test: Test, *, is_basic: bool) -> None:
        super().__init__()
        self._test = test
        self.is_basic = is_basic

    def __missing__(self, code_point: int) -> bool:
        takes = self[code_point] = self._test(code_point)
        return takes

    def union(self, other: CharacterSet) -> CharacterSet:
        """Return the set of what one of the two takes."""
        return CharacterSet(
            lambda code_point: self[code_point] or other[code_point],
            is_basic=self.is_basic and other.is_basic,
        )

    def intersection(self, other: CharacterSet) -> CharacterSet:
        """Return the set of what both take."""
        return CharacterSet(
            lambda code_point: self[code_point] and other[code_point],
            is_basic=self.is_basic and other.is_basic,
        )

    def complement(self) -> CharacterSet:
        """Return the set of what this one does not take."""
        return CharacterSet(lambda code_point: not self[code_point], is_basic=False)


def one(code_point: int) -> CharacterSet:
    """Return the set of one character."""
    return CharacterSet(lambda other: other == code_point, is_basic=_is_basic(code_point, code_point))


def span(first: int, last: int) -> CharacterSet:
    """Return the set of all characters from `first` to `last`."""
    return CharacterSet(lambda other: first <= other <= last, is_basic=_is_basic(first, last))


def any_of(characters: str) -> CharacterSet:
    """Return the set of these characters."""
    wanted = frozenset(map(ord, characters))
    return CharacterSet(lambda other: other in wanted, is_basic=max(wanted) < FIRST_SURROGATE)


def _is_basic(first: int, last: int) -> bool:
    return last < FIRST_SURROGATE or (first > LAST_SURROGATE and last < FIRST_SUPPLEMENTARY)


def folded_span(first: int, last: int, *, unicode_case: bool) -> CharacterSet:
    """Return the set from `first` to `last` without regard to case."""

    def takes(other: int) -> bool:
        if first <= other <= last:
            return True
        if unicode_case:
            upper = to_upper(other)
            return first <= upper <= last or first <= to_lower(upper) <= last
        return other < _ASCII and any(first <= case <= last for case in ascii_cases(other))

    return CharacterSet(takes, is_basic=False)


def folded(code_point: int, *, unicode_case: bool) -> CharacterSet:
    """Return the set of one character without regard to case."""
    if not unicode_case:
        cases = ascii_cases(code_point) if code_point < _ASCII else (code_point,)
        return CharacterSet(lambda other: other in cases, is_basic=_is_basic(code_point, code_point))
    lower = to_lower(to_upper(code_point))
    if lower == to_upper(code_point):
        return one(code_point)
    return CharacterSet(lambda other: other == lower or to_lower(to_upper(other)) == lower, is_basic=False)


def ascii_cases(code_point: int) -> tuple[int, ...]:
    """Return the lower and upper case of an ASCII letter, or the character itself."""
    character = chr(code_point)
    return (ord(character.lower()), ord(character.upper()))


def to_lower(code_point: int) -> int:
    """Return what Java's Character.toLowerCase gives; raise CannotTell where that is not known here."""
    return _simple_case(code_point, str.lower)


def to_upper(code_point: int) -> int:
    """Return what Java's Character.toUpperCase gives; raise CannotTell where that is not known here."""
    return _simple_case(code_point, str.upper)


def _simple_case(code_point: int, change: Callable[[str], str]) -> int:
    if FIRST_SURROGATE <= code_point <= LAST_SURROGATE:
        return code_point
    require_settled(code_point)
    changed = change(chr(code_point))
    if len(changed) != 1:
        raise CannotTell(
            f"The other case of U+{code_point:04X} is more than one character, which aclweb does not compare "
            "without regard to case."
        )
    return ord(changed)


# What \p{...} can name.

_POSIX: dict[str, Test] = {
    "Lower": lambda c: 0x61 <= c <= 0x7A,
    "Upper": lambda c: 0x41 <= c <= 0x5A,
    "ASCII": lambda c: c < _ASCII,
    "Alpha": lambda c: 0x41 <= c <= 0x5A or 0x61 <= c <= 0x7A,
    "Digit": lambda c: 0x30 <= c <= 0x39,
    "Alnum": lambda c: 0x30 <= c <= 0x39 or 0x41 <= c <= 0x5A or 0x61 <= c <= 0x7A,
    "Punct": lambda c: 0x21 <= c <= 0x7E and not chr(c).isalnum(),
    "Graph": lambda c: 0x21 <= c <= 0x7E,
    "Print": lambda c: 0x20 <= c <= 0x7E,
    "Blank": lambda c: c in (0x20, 0x09),
    "Cntrl": lambda c: c < 0x20 or c == 0x7F,
    "XDigit": lambda c: 0x30 <= c <= 0x39 or 0x41 <= c <= 0x46 or 0x61 <= c <= 0x66,
    "Space": lambda c: c == 0x20 or 0x09 <= c <= 0x0D,
}
_CATEGORY_GROUPS = {
    "L": ("Lu", "Ll", "Lt", "Lm", "Lo"),
    "M": ("Mn", "Me", "Mc"),
    "N": ("Nd", "Nl", "No"),
    "Z": ("Zs", "Zl", "Zp"),
    "C": ("Cc", "Cf", "Co", "Cs", "Cn"),
    "P": ("Pd", "Ps", "Pe", "Pc", "Po", "Pi", "Pf"),
    "S": ("Sm", "Sc", "Sk", "So"),
}
_CATEGORIES = frozenset(category for group in _CATEGORY_GROUPS.values() for category in group)
_CATEGORY_GROUPS |= {
    "LC": ("Lu", "Ll", "Lt"),
    "LD": ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd"),
}
_CASED = ("Lu", "Ll", "Lt")
_NO_BREAK_SPACES = (0xA0, 0x2007, 0x202F)


def _category(code_point: int) -> str:
    require_settled(code_point)
    return unicodedata.category(chr(code_point))


def _of_categories(*names: str) -> Test:
    return lambda code_point: _category(code_point) in names


def _settled(test: Callable[[str], bool]) -> Test:
    def takes(code_point: int) -> bool:
        require_settled(code_point)
        return test(chr(code_point))

    return takes


def _is_java_white_space(code_point: int) -> bool:
    if 0x09 <= code_point <= 0x0D or 0x1C <= code_point <= 0x1F:
        return True
    return code_point not in _NO_BREAK_SPACES and _category(code_point)[0] == "Z"


_LOWER, _UPPER = _settled(str.islower), _settled(str.isupper)
_JAVA: dict[str, Test] = {
    "javaLowerCase": _LOWER,
    "javaUpperCase": _UPPER,
    "javaTitleCase": _of_categories("Lt"),
    "javaDigit": _of_categories("Nd"),
    "javaDefined": lambda c: _category(c) != "Cn",
    "javaLetter": _of_categories(*_CATEGORY_GROUPS["L"]),
    "javaLetterOrDigit": _of_categories(*_CATEGORY_GROUPS["LD"]),
    "javaSpaceChar": _of_categories(*_CATEGORY_GROUPS["Z"]),
    "javaWhitespace": _is_java_white_space,
    "javaISOControl": lambda c: c < 0x20 or 0x7F <= c <= 0x9F,
}
# After "Is", in any case of letters.
_BINARY: dict[str, Test] = {
    "LOWERCASE": _LOWER,
    "UPPERCASE": _UPPER,
    "TITLECASE": _of_categories("Lt"),
    "LETTER": _of_categories(*_CATEGORY_GROUPS["L"]),
    "DIGIT": _of_categories("Nd"),
    "CONTROL": _of_categories("Cc"),
    "PUNCTUATION": _of_categories(*_CATEGORY_GROUPS["P"]),
}
_CASE_TESTS: dict[str, Test] = {
    "Lower": _POSIX["Alpha"],
    "Upper": _POSIX["Alpha"],
    **dict.fromkeys(_CASED, _of_categories(*_CASED)),
    "LOWERCASE": lambda c: _LOWER(c) or _UPPER(c) or _category(c) == "Lt",
    "UPPERCASE": lambda c: _LOWER(c) or _UPPER(c) or _category(c) == "Lt",
    "TITLECASE": lambda c: _LOWER(c) or _UPPER(c) or _category(c) == "Lt",
    **dict.fromkeys(
        ("javaLowerCase", "javaUpperCase", "javaTitleCase"),
        lambda c: _LOWER(c) or _UPPER(c) or _category(c) == "Lt",
    ),
}


@cache
def named(name: str, *, ignores_case: bool) -> CharacterSet | None:
    """Return the set that Java calls `name` inside \\p{...}, None where that is not known here."""
    key, tests = name, {**_POSIX, **_JAVA}
    if name.startswith("Is"):
        key, tests = name.removeprefix("Is").upper(), _BINARY
    test = tests.get(key)
    if test is None:
        key = name.removeprefix("Is")
        for prefix in ("general_category=", "gc="):
            if name.lower().startswith(prefix):
                key = name[len(prefix) :]
        members = _CATEGORY_GROUPS.get(key) or ((key,) if key in _CATEGORIES else None)
        if key == "L1":
            test = lambda c: c <= 0xFF  # noqa: E731
        elif members is not None:
            test = _of_categories(*members)
    if test is None:
        return None
    if ignores_case:
        test = _CASE_TESTS.get(key, test)
    return CharacterSet(test, is_basic=name in _POSIX)
