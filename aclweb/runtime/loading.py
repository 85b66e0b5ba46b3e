"""How does a process make what it keeps without looking for garbage among it, then and later?

Loading makes half a million objects that live as long as the process, and hardly any garbage. Looking for it took a
fifth of each start. The index of a cluster with 100,000 ACLs is as large, and lives until the next revision: each look
through it took three quarters of a second, from one page in twenty.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
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
    is_whole = gc.get_freeze_count() > 2 * _OutOfSight.objects
    if is_whole:
        gc.unfreeze()
    gc.collect()
    with without_garbage_collection():
        yield
    if is_whole:
        _OutOfSight.objects = gc.get_freeze_count()
