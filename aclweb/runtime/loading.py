"""How does a process make what it keeps without looking for garbage among it, then and later?

Loading makes half a million objects that live as long as the process, and hardly any garbage. Looking for it took a
fifth of each start. The index of a cluster with 100,000 ACLs is as large, and lives until the next revision: each look
through it took three quarters of a second, from one page in twenty. What is kept of what-ifs, comparisons and logs is a
hundred thousand objects more after some pages, and a look through these a tenth of a second.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LARGE = 10_000


class _OutOfSight:
    """How many objects were left out after the last look through all of them; 0 before the first."""

    objects = 0


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Collect no garbage while the process loads, and never look at what was loaded again.

    Within another one, or where garbage collection is off already, this changes nothing.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def making_what_lasts(objects: int) -> Iterator[None]:
    """Make something that is kept for long, and leave it out of every look for garbage if it is large.

    objects: about how many it has; few stay in sight, since a look at them takes milliseconds. What is left out still
    goes as soon as nobody holds it. Only what goes in circles, as the request of another thread may just now, would
    stay for good: so where twice as much is out of sight as after the last whole look, all is looked through.
    """
    if objects < _LARGE:
        yield
        return
    is_whole = _is_much_more()
    if is_whole:
        gc.unfreeze()
    gc.collect()
    with without_garbage_collection():
        yield
    if is_whole:
        _OutOfSight.objects = gc.get_freeze_count()


def leave_out_what_lasts(is_safe: Callable[[], bool]) -> None:
    """Leave all that is there by now out of every look for garbage; what is left out goes as above.

    is_safe: whether all that is there is kept for long. A request that is being answered is in circles with much of
    what it shows, and would keep it for good. How much there is, is not asked: a list of all objects holds also tuples
    that another thread is just making, which Python then refuses to finish.
    """
    if not gc.isenabled() or not is_safe():
        return
    is_whole = _is_much_more()
    if is_whole:
        gc.unfreeze()
    gc.collect()
    if not is_whole and not is_safe():
        return
    gc.freeze()
    if is_whole:
        _OutOfSight.objects = gc.get_freeze_count()


def _is_much_more() -> bool:
    """Whether twice as much is out of sight as after the last whole look."""
    return gc.get_freeze_count() > 2 * _OutOfSight.objects
