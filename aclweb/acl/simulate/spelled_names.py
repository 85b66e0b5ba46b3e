"""Which names are a class of their own whatever an edit is: those that exist, and those of the LITERALs in force?

There can be a hundred thousand, and what-ifs over the same cluster share them. So they are sorted once for the
ACLs in force and the names that exist, and what an edit adds is put among them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

from aclweb.acl.authorizer import ResourceShelf
from aclweb.acl.model import WILDCARD, computed_once
from aclweb.acl.simulate.sets import set_of

_MOST_KEPT = 4
"""So many lists of names that exist are kept for the same ACLs in force: each edit may name new ones."""

_FEW = 100
"""So few more names are put among the others one by one."""


@dataclass(frozen=True)
class SpelledNames:
    """The names of one resource type. given: those that exist; ungiven: those that a LITERAL in force names beside."""

    given: frozenset[str]
    ungiven: frozenset[str]

    @computed_once
    def sorted(self) -> tuple[str, ...]:
        """All of them in order."""
        return _merged(sorted(self.given), self.ungiven)

    @computed_once
    def places_given(self) -> int:
        """The places of those that exist, as a set."""
        return _places_of(self.given, self.sorted)

    def with_more(self, more: Collection[str]) -> tuple[Sequence[str], int]:
        """Return all of them and others in order, and the set of the places of those that exist."""
        if not more:
            return self.sorted, self.places_given
        names = _merged(list(self.sorted), more)
        if len(more) > _FEW:
            return names, _places_of(self.given, names)
        given = self.places_given
        for place in sorted(bisect_left(names, name) for name in more):
            given = given >> place << place + 1 | given & (1 << place) - 1
        return names, given


def spelled_names(shelf: ResourceShelf | None, given: Sequence[str]) -> SpelledNames:
    """Return the names that exist and those that the LITERALs of a shelf name."""
    if shelf is None:
        return SpelledNames(frozenset(given), frozenset())
    key = tuple(given)
    with _lock:
        kept = _kept.setdefault(shelf, {})
        found = kept.get(key)
        if found is None:
            members = frozenset(key)
            while len(kept) >= _MOST_KEPT:
                del kept[next(iter(kept))]
            found = kept[key] = SpelledNames(members, frozenset(shelf.literals.keys() - members - {WILDCARD}))
        return found


_kept: WeakKeyDictionary[ResourceShelf, dict[tuple[str, ...], SpelledNames]] = WeakKeyDictionary()
_lock = Lock()


def _merged(ordered: list[str], more: Collection[str]) -> tuple[str, ...]:
    """Return names that are in order, and others, in order. The list is used up."""
    # Two lists in order are merged faster than one is sorted.
    ordered += sorted(more)
    ordered.sort()
    return tuple(ordered)


def _places_of(names: Collection[str], among: Sequence[str]) -> int:
    if len(names) < len(among) // 32:
        return set_of(place for place, name in enumerate(among) if name in names)
    digits = bytes(map(names.__contains__, among)).translate(_DIGITS)[::-1]
    return int(digits or b"0", 2)


_DIGITS = bytes.maketrans(b"\0\1", b"01")
