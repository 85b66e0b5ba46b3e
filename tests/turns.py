"""Which part of what is too dear for one run does this run ask?

One in so many, and the runs of the following days ask the others, so nothing is left out for good: of a walk over many
pages by `due`, of dear tests by the mark `turns(parts, number, instead=...)`, of tests in Chromium by their names
(tests/groups.py). Thorough runs ask all.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

# The day; ACLWEB_TEST_TURN repeats a run of another one. All processes of a run have the same.
TURN = int(os.environ.setdefault("ACLWEB_TEST_TURN", str(int(time.time()) // 86_400)))


def is_due(parts: int, number: int, turn: int = TURN) -> bool:
    """Return whether it is the turn of the part of this number, of so many parts from 0 on."""
    assert 0 <= number < parts, f"Part {number} of {parts} never has its turn."
    return turn % parts == number


def part_of(name: str, parts: int) -> int:
    """Return the part of a thing by its name, whatever other things there are."""
    return zlib.crc32(name.encode()) % parts


def due(things: Sequence[T], parts: int, turn: int = TURN) -> list[T]:
    """Return the things of this turn: one in `parts`, and so many turns in a row return each thing once."""
    return list(things[turn % parts :: parts])
