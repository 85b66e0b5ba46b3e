"""A list whose rows are made when they are asked for, so that one page costs its own rows alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

Row = TypeVar("Row")


class LazyRows(Sequence[Row]):
    """So many rows; `made(start, stop)` returns those between two places of the list."""

    def __init__(self, length: int, made: Callable[[int, int], Sequence[Row]]) -> None:
        self._length, self._made = length, made

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step != 1:
                raise ValueError("Rows are asked for one after the other.")
            return self._made(start, stop) if start < stop else ()
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        start = place % len(self)
        return self._made(start, start + 1)[0]

    def __iter__(self) -> Iterator[Row]:
        return iter(self[:])
