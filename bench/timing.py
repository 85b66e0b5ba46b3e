"""How long does something take on a machine that has other work, too?

CPU time instead of the clock's, the smallest of several rounds, and rounds of what is compared
taken in turn, so that a slow minute slows both.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fastest(*works: Callable[[], object], rounds: int = 5) -> list[float]:
    """Return the CPU seconds of the fastest run of each, taken in turn."""
    return fastest_of(*(lambda work=work: cpu_seconds(work) for work in works), rounds=rounds)


def fastest_of(*timed: Callable[[], float], rounds: int = 5) -> list[float]:
    """Return the smallest of the seconds that each of these reports, taken in turn."""
    best = [float("inf")] * len(timed)
    for _ in range(rounds):
        for place, measure in enumerate(timed):
            best[place] = min(best[place], measure())
    return best
