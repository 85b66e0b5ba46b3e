"""What is known of brokers that no log says: what they are called, at which level they log, which are gone for good?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from aclweb.pipeline.coverage import broker_of
from aclweb.pipeline.files import SourceError

_KEYS = ("broker", "path", "level", "gone_since")
DEBUG, INFO = LEVELS = ("DEBUG", "INFO")
"""Those of a broker's logger: with permits, and with denials only."""


@dataclass(frozen=True)
class KnownBrokers:
    """names: what brokers are called, by `broker_of`. gone: since which day each of these names did not run.

    levels: of LEVELS, as somebody declared them, by `broker_of`.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    gone: Mapping[str, date] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)

    def over(self, other: KnownBrokers) -> KnownBrokers:
        """Return what both say; where they differ, what this one says."""
        return KnownBrokers(
            {**other.names, **self.names}, {**other.gone, **self.gone}, {**other.levels, **self.levels}
        )


def read_brokers(path: Path) -> KnownBrokers:
    """Return what a file says: a JSON list of objects with `broker`, and `path` of one of its logs or `gone_since`.

    Beside a path may be the `level` of that log.

    Raises SourceError for a file that is none.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"The brokers in {str(path)!r} cannot be read: {why}.") from error
    if not isinstance(found, list):
        raise SourceError(
            f"{str(path)!r} is no JSON list; write one object a broker, with {', '.join(_KEYS)}."
        )
    names: dict[str, str] = {}
    gone: dict[str, date] = {}
    levels: dict[str, str] = {}
    for number, given in enumerate(found, start=1):
        broker = _text(given, "broker", path, number)
        if "path" in given:
            log = broker_of(_text(given, "path", path, number))
            names[log] = broker
            if "level" in given:
                levels[log] = level_of(_text(given, "level", path, number))
        if "gone_since" in given:
            gone[broker] = _day(_text(given, "gone_since", path, number), path, number)
    return KnownBrokers(names, gone, levels)


def level_of(given: str) -> str:
    """Return a level as it was given, empty for none; raises SourceError where it is another word."""
    if given and given not in LEVELS:
        raise SourceError(f"{given!r} is no level; use {' or '.join(LEVELS)}.")
    return given


def _text(given: Any, key: str, path: Path, number: int) -> str:
    unknown = sorted(given.keys() - set(_KEYS)) if isinstance(given, dict) else [str(given)]
    if unknown:
        raise SourceError(
            f"{path}: Broker {number} has {unknown[0]!r}; write an object with {', '.join(_KEYS)}."
        )
    value = given.get(key)
    if not isinstance(value, str) or not value:
        raise SourceError(f"{path}: The {key} of broker {number} is {value!r}; write a text.")
    return value


def _day(text: str, path: Path, number: int) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise SourceError(
            f"{path}: The gone_since of broker {number} is {text!r}; write a day such as 2026-11-30."
        ) from None
