"""What was worked out from a load, in this process's memory: nothing of a load changes once it is published.

What also depends on what people say or declare has that in its question; nothing here depends on who asks.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from aclweb.insights.models import Load

_Answer = TypeVar("_Answer")


class KeptOfLoads(Generic[_Answer]):
    """The last answers to questions about loads, by load and question; what nobody asked for the longest goes first."""

    def __init__(self, most: int, weigh: Callable[[_Answer], int] = lambda _: 1) -> None:
        """most: the weight of all answers together; the newest stays whatever it weighs."""
        self._most, self._weigh, self._weight = most, weigh, 0
        self._answers: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, load: Load, question: Hashable = None) -> _Answer | None:
        """Return the kept answer; None where there is none."""
        key = _key(load, question)
        with self._lock:
            if key not in self._answers:
                return None
            self._answers.move_to_end(key)
            found: _Answer = self._answers[key]
            return found

    def keep(self, load: Load, answer: _Answer, question: Hashable = None) -> None:
        """Keep an answer, which nobody may change from then on."""
        key = _key(load, question)
        with self._lock:
            if key in self._answers:
                self._weight -= self._weigh(self._answers.pop(key))
            self._answers[key] = answer
            self._weight += self._weigh(answer)
            while self._weight > self._most and len(self._answers) > 1:
                _, gone = self._answers.popitem(last=False)
                self._weight -= self._weigh(gone)


def _key(load: Load, question: Hashable) -> Hashable:
    # The time is part of it: a database that was put back gives numbers out again.
    return load.pk, load.loaded_at, question
