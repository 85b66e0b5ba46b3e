"""How are many values made without Python looking for cycles among them again and again?

An impact of a hundred thousand groups is some million objects, of which nearly none are in a cycle. To look
through all of them whenever a few thousand are new takes a fifth of the whole time.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Made = TypeVar("_Made")


def without_cycle_search(make: Callable[_Parameters, _Made]) -> Callable[_Parameters, _Made]:
    """Return the same function, during which Python's search for cycles waits; it looks through all at once after it.

    Threads may call it at the same time: the first that ends lets the search go on.
    """

    @wraps(make)
    def without(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Made:
        if not gc.isenabled():
            return make(*args, **kwargs)
        gc.disable()
        try:
            return make(*args, **kwargs)
        finally:
            gc.enable()

    return without
