"""Which places of a sorted list do these spans have together, and which remain without others?

A span is (start, end) with the end excluded; `Spans` are sorted and neither overlap nor touch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

Spans = list[tuple[int, int]]


def joined(spans: Iterable[tuple[int, int]]) -> Spans:
    """Return the places that any of these spans has."""
    found: Spans = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            if end > found[-1][1]:
                found[-1] = (found[-1][0], end)
        elif start < end:
            found.append((start, end))
    return found


def less(spans: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> Spans:
    """Return the places of `spans` that `others` do not have; both as `joined` returns them."""
    found: Spans = []
    for start, end in spans:
        begin = start
        here = max(0, bisect_left(others, (start,)) - 1)
        while here < len(others) and others[here][0] < end:
            if others[here][0] > begin:
                found.append((begin, others[here][0]))
            begin = max(begin, others[here][1])
            here += 1
        if begin < end:
            found.append((begin, end))
    return found


def length(spans: Iterable[tuple[int, int]]) -> int:
    """Return how many places these are."""
    return sum(end - start for start, end in spans)
