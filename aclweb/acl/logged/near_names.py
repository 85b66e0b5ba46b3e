"""Which principals of ACLs have nearly the name that was denied?

Kafka compares principals letter by letter. So `CN=a, OU=b` is another principal than `CN=a,OU=b`; so is one in other
letters of case, or with a letter more, less or exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST_EDITS = 2
"""Letters that differ at most, beside blanks and case."""

_SHORT = 4  # letters of a name in which an edit makes another name altogether
_NAMED = 3
_BLANKS = re.compile(r"\s+")


def nearest(principal: str, known: Iterable[str], *, most: int = _NAMED) -> tuple[str, ...]:
    """Return those of the known principals that are nearest, the nearest first; never the principal itself.

    First come those that differ in blanks or case only, then those with one or two letters more, less or exchanged.
    """
    asked = _plain(principal)
    found = []
    for other in set(known) - {principal}:
        written = _plain(other)
        allowed = 0 if min(len(_name(asked)), len(_name(written))) <= _SHORT else MOST_EDITS
        edits = _edits(asked, written, allowed)
        if edits is not None:
            found.append((edits, other))
    return tuple(other for _, other in sorted(found)[:most])


def _plain(principal: str) -> str:
    return _BLANKS.sub("", principal).casefold()


def _name(principal: str) -> str:
    return principal.partition(":")[2]


def _edits(one: str, other: str, most: int) -> int | None:
    """Return how many letters must be added, removed or exchanged; None if more than `most`."""
    if one == other:
        return 0
    if abs(len(one) - len(other)) > most:
        return None
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        above, row[0] = row[0], place
        for column, against in enumerate(other, start=1):
            above, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, above + (letter != against)),
            )
        if min(row) > most:
            return None
    return row[-1] if row[-1] <= most else None
