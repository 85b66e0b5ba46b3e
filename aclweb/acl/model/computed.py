"""How is a value kept once it was computed, without making other threads wait?

Python 3.11's `functools.cached_property` holds one lock for all instances of a class while it computes: a
page of a small cluster would wait until another thread has filed the ACLs of a large one. Later versions have no lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

_Value = TypeVar("_Value", covariant=True)


class computed_once(Generic[_Value]):
    """A property that computes its value when it is first asked for, and keeps it in the instance.

    Two threads that ask an instance for the first time at once may both compute: the values are equal, and
    one is kept. The class of the instance must have a `__dict__`.
    """

    def __init__(self, compute: Callable[[Any], _Value]) -> None:
        self._compute, self._name = compute, compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | _Value:
        if instance is None:
            return self
        # Python looks here first, so that it comes here once for each instance.
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
