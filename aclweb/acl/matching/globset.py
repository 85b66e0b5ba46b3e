"""Which of many globs match a name?

Each shape is filed under one text that every name it matches must hold: four characters of its
longest text where it has so many, else its beginning or its end, else the one to three characters
that it has. Of the texts that a shape offers the one that fewest others offer is taken. So a name
brings a few candidates, which are then tried; shapes without any character are tried always.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from aclweb.acl.matching.glob import Shape

FEW = 8
"""So many shapes are tried one by one sooner than looked up."""

_GRAM = 4
_CUTS_A_SHAPE = 16  # so many texts can be cut out of a name and looked up while one shape is tried

_Filed = tuple[str, Shape, int]
"""A text that matching names hold, the shape, and its place among the distinct shapes."""


class GlobSet:
    """Shapes in a given order; `matching` tells the places of those that match a name."""

    __slots__ = ("_everything", "_grams", "_heads", "_loose", "_places", "_tails", "shapes")

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self.shapes: tuple[Shape, ...] = tuple(shapes)
        places: dict[Shape, list[int]] = {}
        for place, shape in enumerate(self.shapes):
            places.setdefault(shape, []).append(place)
        self._places: tuple[list[int], ...] = tuple(places.values())
        self._everything: list[_Filed] = [
            (shape.longest_run, shape, number) for number, shape in enumerate(places)
        ]
        # Texts by their length, so that a name is cut only into lengths that occur.
        self._grams: dict[int, dict[str, list[_Filed]]] = {}
        self._heads: dict[int, dict[str, list[_Filed]]] = {}
        self._tails: dict[int, dict[str, list[_Filed]]] = {}
        self._loose: list[_Filed] = []
        if len(self._everything) > FEW:
            self._file()

    def __len__(self) -> int:
        return len(self.shapes)

    def matching(self, name: str) -> list[int]:
        """Return the places of all shapes that match the name, ascending."""
        found: list[int] = []
        for _, shape, number in self.candidates(name):
            if shape.matches(name):
                found += self._places[number]
        found.sort()
        return found

    def candidates(self, name: str) -> list[_Filed]:
        """Return what has to be tried on the name, each distinct shape at most once."""
        cuts = len(name) * len(self._grams)
        if len(self._everything) <= FEW or cuts > _CUTS_A_SHAPE * len(self._everything):
            return self._everything
        found = list(self._loose)
        for length, filed in self._heads.items():
            found += filed.get(name[:length], ())
        for length, filed in self._tails.items():
            found += filed.get(name[-length:], ())
        for length, filed in self._grams.items():
            for gram in {name[start : start + length] for start in range(len(name) - length + 1)}:
                if gram in filed:
                    found += [entry for entry in filed[gram] if entry[0] in name]
        return found

    def _file(self) -> None:
        offered = [list(_grams(run)) for run, _, _ in self._everything]
        popular = Counter(gram for grams in offered for gram in set(grams))
        for entry, grams in zip(self._everything, offered, strict=True):
            run, shape, _ = entry
            if grams:
                _put(self._grams, min(grams, key=popular.__getitem__), entry)
            elif shape.head:
                _put(self._heads, shape.head, entry)
            elif tail := _tail(shape):
                _put(self._tails, tail, entry)
            elif run:
                _put(self._grams, run, entry)
            else:
                self._loose.append(entry)


def _grams(text: str) -> Iterator[str]:
    return (text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1))


def _tail(shape: Shape) -> str:
    """Return the characters with which every matching name ends."""
    last = shape.parts[-1]
    start = len(last)
    while start and last[start - 1] is not None:
        start -= 1
    return "".join(character for character in last[start:] if character is not None)


def _put(filed: dict[int, dict[str, list[_Filed]]], text: str, entry: _Filed) -> None:
    filed.setdefault(len(text), {}).setdefault(text, []).append(entry)
