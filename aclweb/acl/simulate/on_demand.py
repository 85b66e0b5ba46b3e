"""What is a list whose things are made one by one, when somebody asks for them?"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar, overload

_Thing = TypeVar("_Thing")


class OnDemand(Sequence[_Thing]):
    """Things that are made when they are asked for; equal to any list of equal things."""

    @abstractmethod
    def _between(self, start: int, stop: int) -> Iterator[_Thing]:
        """Yield the things from one place, of 0 and more, to before another."""

    def __iter__(self) -> Iterator[_Thing]:
        return self._between(0, len(self))

    @overload
    def __getitem__(self, place: int) -> _Thing: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[_Thing, ...]: ...

    def __getitem__(self, place: int | slice) -> _Thing | tuple[_Thing, ...]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step < 0:
                return tuple(self)[place]
            return tuple(islice(self._between(start, stop), 0, None, step))
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        start = place % len(self)
        return next(self._between(start, start + 1))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, OnDemand | tuple | list):
            return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))
