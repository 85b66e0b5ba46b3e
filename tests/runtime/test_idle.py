"""Does a process leave what it keeps out of looks for garbage, and nothing of a request that is being answered?"""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from django.core import signals
from django.dispatch import Signal

from aclweb.runtime import idle, loading
from tests.runtime.test_loading import Thing, _settled, is_in_sight  # noqa: F401 fixture

MANY = 3_000


class Requests:
    """Requests that begin and end as Django tells it, without what else listens to that."""

    def __init__(self, monkeypatch) -> None:
        self._started, self._finished = Signal(), Signal()
        monkeypatch.setattr(signals, "request_started", self._started)
        monkeypatch.setattr(signals, "request_finished", self._finished)

    def begin(self) -> None:
        self._started.send(sender=None, environ={})

    def end(self) -> None:
        self._finished.send(sender=None)

    def answer(self) -> None:
        self.begin()
        self.end()


@pytest.fixture
def requests(monkeypatch):
    """Requests that are counted, without the thread."""
    told = Requests(monkeypatch)
    monkeypatch.setattr(idle, "_answering", idle._Answering())
    monkeypatch.setattr(threading.Thread, "start", lambda self: None)
    idle.watch()
    return told


class Circle:
    """Something that only a look for garbage ends."""

    def __init__(self) -> None:
        self.itself = self


def test_what_is_kept_is_left_out_once_nobody_is_answered(requests):
    requests.begin()
    kept = [Thing() for _ in range(MANY)]
    idle.use()
    assert is_in_sight(kept[0])

    requests.end()
    idle.use()
    assert not is_in_sight(kept[0])

    gone = weakref.ref(kept[0])
    kept.clear()
    assert gone() is None


def test_of_two_requests_the_last_to_end_counts(requests):
    kept = [Thing() for _ in range(MANY)]
    requests.begin()
    requests.begin()
    requests.end()
    idle.use()
    assert is_in_sight(kept[0])

    requests.end()
    idle.use()
    assert not is_in_sight(kept[0])


def test_what_a_request_left_in_circles_goes_before(requests):
    kept = [Thing() for _ in range(MANY)]
    circle = Circle()
    gone = weakref.ref(circle)
    del circle

    requests.answer()
    idle.use()

    assert not is_in_sight(kept[0])
    assert gone() is None


def test_a_process_that_answered_nobody_since_looks_at_nothing(requests):
    requests.answer()
    idle.use()
    few = [Thing() for _ in range(100)]
    looks = gc.get_stats()[2]["collections"]

    idle.use()

    assert is_in_sight(few[0])
    assert gc.get_stats()[2]["collections"] == looks


def test_no_other_thread_is_kept_from_finishing_a_tuple(requests, monkeypatch):
    """A list of all objects holds tuples that are just being made: Python then ends a request with a SystemError."""
    for name in ("get_objects", "get_referrers"):
        monkeypatch.setattr(gc, name, lambda *_: pytest.fail("asked for objects that may be half made"))
    frozen = gc.get_freeze_count()
    kept = [Thing() for _ in range(MANY)]

    requests.answer()
    idle.use()

    assert gc.get_freeze_count() > frozen + len(kept) / 2


def test_circles_that_were_left_out_go_once_much_more_is_out_of_sight(requests, monkeypatch):
    kept = [[Thing() for _ in range(MANY)]]
    requests.answer()
    idle.use()
    circle = Circle()
    kept.append([Thing() for _ in range(MANY)])
    requests.answer()
    idle.use()
    gone = weakref.ref(circle)
    del circle
    # As if half of what is out of sight, and a little less, had been there at the last whole look.
    monkeypatch.setattr(loading._OutOfSight, "objects", (gc.get_freeze_count() + 3 * MANY) // 2)
    while gone() is not None:
        assert len(kept) < 10
        kept.append([Thing() for _ in range(MANY)])
        requests.answer()
        idle.use()
