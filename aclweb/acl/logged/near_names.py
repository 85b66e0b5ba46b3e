"""Which principals of ACLs have nearly the name that was denied?

Kafka compares principals letter by letter. So `CN=a, OU=b` is another principal than `CN=a,OU=b`; so is one in other
letters of case, or with a letter more, less or exchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

MOST_EDITS = 2
"""Letters that differ at most, beside blanks and case."""

_SHORT = 4  # letters of a name in which an edit makes another name altogether
_NAMED = 3
_BLANKS = re.compile(r"\s+")


class NearNames:
    """Principals of ACLs, to be asked which are nearly one that was logged; made once for many questions."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = tuple((_plain(other), other) for other in set(known))

    def of(self, principal: str, *, most: int = _NAMED) -> tuple[str, ...]:
        """Return the known principals that are nearest, the nearest first; never the principal itself.

        First come those that differ in blanks or case only, then those with one or two letters more, less or exchanged.
        """
        asked = _plain(principal)
        parts = _parts(asked)
        found = []
        for written, other in self._known:
            # Of three parts at least one is as it was, wherever two letters differ.
            if not any(part in written for part in parts) or other == principal:
                continue
            allowed = 0 if min(len(_name(asked)), len(_name(written))) <= _SHORT else MOST_EDITS
            edits = _edits(asked, written, allowed)
            if edits is not None:
                found.append((edits, other))
        return tuple(other for _, other in sorted(found)[:most])


def nearest(principal: str, known: Iterable[str], *, most: int = _NAMED) -> tuple[str, ...]:
    """Return those of the known principals that are nearest, as `NearNames.of` does."""
    return NearNames(known).of(principal, most=most)


def _parts(text: str) -> tuple[str, ...]:
    """Return a text in MOST_EDITS + 1 parts of nearly the same length."""
    ends = [len(text) * place // (MOST_EDITS + 1) for place in range(MOST_EDITS + 2)]
    return tuple(text[start:end] for start, end in pairwise(ends))


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
