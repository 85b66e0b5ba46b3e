"""Which documents does a YAML file hold, each value the text that it is in the file?

A topic may be called `on` or `123`, so nothing becomes a number or a truth value. Lists in lists in lists would end
the process, and aliases of aliases fill its memory, so both are counted before anything is made of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from aclweb.acl.model import NotationError

MOST_MIB = 8
"""Of one file: in memory it takes up to two hundred times as much."""
MOST_LEVELS = 100
MOST_VALUES = 5_000_000
"""Of one document with each alias written out."""
MOST_DIRECTIVES = 10_000
"""Of one file: the parser compares each that a document has with all others of it."""

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def documents(text: str) -> Iterator[Any]:
    """Yield each document; raises yaml.YAMLError, and NotationError for what costs too much."""
    if len(text) > MOST_MIB << 20:
        raise NotationError(
            f"it has more than {MOST_MIB} MiB of YAML; part it into several files, or write it as JSON."
        )
    if sum(line.startswith("%") for line in text.splitlines()) > MOST_DIRECTIVES:
        raise NotationError(
            f"more than {MOST_DIRECTIVES:,} of its lines begin with %; leave such directives out."
        )
    _check_levels(text)
    for document in yaml.load_all(text, Loader=_LOADER):
        if _values_in(document, {}) > MOST_VALUES:
            raise NotationError(f"its aliases unfold to more than {MOST_VALUES:,} values; write them out.")
        yield document


def _check_levels(text: str) -> None:
    level = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            level += 1
            if level > MOST_LEVELS:
                where = f"line {event.start_mark.line + 1}" if event.start_mark else "it"
                raise NotationError(f"{where} is nested more than {MOST_LEVELS} levels deep.")
        elif isinstance(event, yaml.CollectionEndEvent):
            level -= 1


def _values_in(value: Any, known: dict[int, float]) -> float:
    """Return how many values there are with each alias written out; known: of what is shared, by its id."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = float("inf")  # where it holds itself
        parts = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_values_in(part, known) for part in parts)
    return known[id(value)]
