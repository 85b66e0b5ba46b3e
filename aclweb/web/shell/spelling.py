"""How is a Kafka text shown so that no character hides?

Names, principals and hosts may hold anything: control characters, line ends, marks that
turn the writing direction, spaces at the ends, lone surrogates. A page shows each of them
as its code point, so that two names that differ look different and none can pose as
another or break the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

# Where a long name may break over two lines: after these. A short one stays in one piece. Between a hyphen and a
# letter browsers break by themselves.
_BREAK = re.compile(r"(?<=[,._:/])(?=.)|(?<=-)(?=[^A-Za-z])", re.DOTALL)
_MAY_BREAK = SafeString("<wbr>")
_SHORT = 24
# One that has a line of its own, also on a narrow screen.
SHORT_ON_A_LINE = 40


def hides(character: str) -> bool:
    """Return whether this character would not show, or would change how its neighbours show."""
    # To Python printable is what is of no category C, and of none of Z but for the space.
    return not character.isprintable()


def code_point(character: str) -> str:
    r"""Return the visible form of a character: `\u202e`."""
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def visible(text: str, *, is_name: bool = True) -> str:
    """Return `text` with hidden characters as code points: for titles, labels and plain text.

    In a name the spaces at its ends count as hidden; in a sentence they do not.
    """
    edged = _spaces_at_the_ends(text) if is_name else frozenset()
    if not edged and text.isprintable():
        return text
    return "".join(
        code_point(letter) if hides(letter) or place in edged else letter for place, letter in enumerate(text)
    )


def marked_up(text: str, *, is_name: bool = True, short: int = _SHORT) -> SafeString:
    """Return `text` as HTML: hidden characters marked, and places where a long name may break.

    In a name the spaces at its ends count as hidden; in the middle of a sentence they do not. short: up to so many
    letters a name stays in one piece.
    """
    edged = _spaces_at_the_ends(text) if is_name else frozenset()
    breaks = is_name and len(text) > short
    if not edged and text.isprintable():
        parts = _BREAK.split(text) if breaks else [text]
        return format_html_join(_MAY_BREAK, "{}", ((part,) for part in parts))
    pieces: list[SafeString] = []
    plain: list[str] = []
    for place, letter in enumerate(text):
        if hides(letter) or place in edged:
            pieces.append(conditional_escape("".join(plain)))
            plain = []
            pieces.append(format_html('<span class="escape">{}</span>', code_point(letter)))
        else:
            plain.append(letter)
            if breaks and _BREAK.match(text, place + 1):
                pieces.append(format_html("{}<wbr>", "".join(plain)))
                plain = []
    pieces.append(conditional_escape("".join(plain)))
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def with_names(sentence: str, names: Iterable[str]) -> SafeString:
    """Return a sentence as HTML in which each of `names` is set as a name of Kafka."""
    wanted = sorted({re.escape(name) for name in names if len(name) > 1}, key=len, reverse=True)
    if not wanted:
        return marked_up(sentence, is_name=False)
    parts = re.split(rf"(?<!\w)({'|'.join(wanted)})(?!\w)", sentence)
    return format_html_join(
        "",
        "{}",
        (
            (
                format_html('<span class="name">{}</span>', marked_up(part))
                if place % 2
                else marked_up(part, is_name=False),
            )
            for place, part in enumerate(parts)
        ),
    )


def _spaces_at_the_ends(text: str) -> frozenset[int]:
    """Return the places of the spaces before the first and after the last other letter."""
    head = len(text) - len(text.lstrip(" "))
    tail = len(text.rstrip(" "))
    return frozenset(range(head)) | frozenset(range(tail, len(text)))
