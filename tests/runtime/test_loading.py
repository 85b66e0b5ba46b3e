"""Is what a process keeps left out of every look for garbage, and let go of all the same?"""

from __future__ import annotations

import gc
import weakref

import pytest

from aclweb.runtime import loading

LARGE = 20_000


class Thing:
    """Something that can be watched, and that garbage collection looks at."""


@pytest.fixture(autouse=True)
def _settled(monkeypatch):
    """Leave the collector as it was, with nothing out of sight."""
    gc.unfreeze()
    monkeypatch.setattr(loading._OutOfSight, "objects", 0)
    yield
    gc.unfreeze()


def is_in_sight(thing: object) -> bool:
    return any(each is thing for each in gc.get_objects())


@pytest.mark.parametrize(("objects", "is_looked_at"), [(LARGE, False), (20, True)])
def test_what_is_large_and_lasts_is_never_looked_at_again(objects, is_looked_at):
    with loading.making_what_lasts(objects):
        kept = Thing()

    assert gc.isenabled()
    assert is_in_sight(kept) is is_looked_at


def test_what_is_left_out_goes_as_soon_as_nobody_holds_it():
    with loading.making_what_lasts(LARGE):
        kept = Thing()
    gone = weakref.ref(kept)
    del kept

    assert gone() is None


def test_garbage_in_circles_is_not_kept_for_good():
    with loading.making_what_lasts(LARGE):
        circle = Thing()
        circle.itself = circle
    gone = weakref.ref(circle)
    del circle
    gc.collect()
    assert gone() is not None

    with loading.making_what_lasts(LARGE):
        pass

    assert gone() is None


def test_all_is_looked_through_only_where_much_more_is_out_of_sight():
    out_of_sight = []
    for _ in range(3):
        with loading.making_what_lasts(LARGE):
            out_of_sight.append(gc.get_freeze_count())

    # Once, from nothing; then what is there by now is known.
    assert out_of_sight[:2] == [0, 0]
    assert out_of_sight[2] > 0
