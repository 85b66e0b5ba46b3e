"""Which tests take a fifth of a second of a core or more? `./test --quick` leaves them out.

    python -m tests.dear    asks every test that starts no server and no long process, and writes tests/data/dear.txt

A test is named without its cases, and is dear if one of them is. Busy cores make tests dearer, so a list that was
written on a quiet machine is shorter.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

FILE = Path(__file__).parent / "data" / "dear.txt"
DEAR_SECONDS = 0.2


def dear_tests() -> frozenset[str]:
    """Return the names of dear tests, each with its file."""
    return frozenset(FILE.read_text(encoding="utf-8").splitlines())


class Measuring:
    """Adds up what each test takes of a core, and what the processes that it waits for take."""

    def __init__(self) -> None:
        self.taken: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        begun = _seconds()
        try:
            return (yield)
        finally:
            name = item.nodeid.partition("[")[0]
            self.taken[name] = max(self.taken[name], _seconds() - begun)


def _seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main(words: list[str]) -> int:
    """Measure the tests and write the list; a failure leaves the old one."""
    measuring = Measuring()
    failed = pytest.main(["-n", "0", "-m", "not (server or long)", *words], plugins=[measuring])
    if not failed:
        dear = sorted(name for name, taken in measuring.taken.items() if taken >= DEAR_SECONDS)
        FILE.write_text("\n".join(dear) + "\n", encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
