"""A cache of impacts by revision, edit and settings.

Paging through a what-if, a change or a comparison asks the same again for each page. What is
kept is bounded by number and by about how many bytes it takes, oldest use first; two requests
that ask the same at once wait for one answer. A refusal for its cost is kept like an answer.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

_Answer = TypeVar("_Answer")

MOST_ANSWERS = 64
MOST_BYTES = 96 * 2**20


_every: weakref.WeakSet[Kept[Any]] = weakref.WeakSet()


def forget() -> None:
    """Empty every cache of this process, as if it had just started."""
    for kept in _every:
        kept.forget()


class Kept(Generic[_Answer]):
    """The last answers of this process, by question."""

    def __init__(
        self,
        weigh: Callable[[_Answer], int],
        refusals: type[Exception],
        *,
        most_answers: int = MOST_ANSWERS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """weigh: about how many bytes an answer takes. refusals: what counts as an answer when raised."""
        self._weigh, self._refusals = weigh, refusals
        self._most_answers, self._most_bytes = most_answers, most_bytes
        self._answers: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        _every.add(self)
        self._working: dict[Hashable, threading.Lock] = {}

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def bytes(self) -> int:
        """About how much memory the answers take."""
        return self._bytes

    def remember(self, question: Hashable, work_out: Callable[[], _Answer]) -> _Answer:
        """Return the kept answer, or work it out and keep it; raises the refusal where that is the answer."""
        with self._lock:
            working = self._working.setdefault(question, threading.Lock())
        with working:
            found = self._found(question)
            if found is None:
                try:
                    answer: Any = work_out()
                    weight = self._weigh(answer)
                except self._refusals as refusal:
                    # Without its traceback, which would keep all that it was worked out with.
                    answer, weight = refusal.with_traceback(None), 1_000
                found = self._keep(question, answer, weight)
        with self._lock:
            self._working.pop(question, None)
        if isinstance(found, self._refusals):
            raise found.with_traceback(None)
        answer_kept: _Answer = found
        return answer_kept

    def forget(self) -> None:
        """Empty this cache."""
        with self._lock:
            self._answers.clear()
            self._bytes = 0

    def _found(self, question: Hashable) -> Any:
        with self._lock:
            found = self._answers.get(question)
            if found is None:
                return None
            self._answers.move_to_end(question)
            return found[0]

    def _keep(self, question: Hashable, answer: Any, weight: int) -> Any:
        with self._lock:
            self._answers[question] = (answer, weight)
            self._bytes += weight
            while len(self._answers) > 1 and (
                len(self._answers) > self._most_answers or self._bytes > self._most_bytes
            ):
                _, (_, gone) = self._answers.popitem(last=False)
                self._bytes -= gone
        return answer
