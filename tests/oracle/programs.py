"""The programs that ask Kafka's own classes, each in one JVM that serves every test of a run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Protocol

import pytest

from tests.oracle.jvm import JavaProgram, need_program

MOST_AT_ONCE = 4
"""So many JVMs are kept; the one that was asked for longest ago gives way."""


class Programs(Protocol):
    def __call__(
        self, name: str, version: str, *, arguments: Sequence[str] = (), seconds: float = 60
    ) -> JavaProgram: ...


@pytest.fixture(scope="session")
def java_program() -> Iterator[Programs]:
    """Return a function that gives a program of tests/oracle/java on the classes of one version of Kafka."""
    kept: OrderedDict[tuple[str, ...], JavaProgram] = OrderedDict()

    def program(
        name: str, version: str, *, arguments: Sequence[str] = (), seconds: float = 60
    ) -> JavaProgram:
        key = (name, version, *arguments)
        found = kept.pop(key, None) or need_program(name, version, arguments=arguments)
        found.seconds = seconds
        kept[key] = found
        if len(kept) > MOST_AT_ONCE:
            kept.popitem(last=False)[1].end()
        return found

    yield program
    for each in kept.values():
        each.close()
