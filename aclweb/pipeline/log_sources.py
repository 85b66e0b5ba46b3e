"""Where are the logs of a cluster, and what is known of each: whose it is, its zone, its layout?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from aclweb.acl.model import NotationError
from aclweb.acl.notation import LAYOUTS, of_pattern
from aclweb.pipeline.coverage import broker_of, short_names
from aclweb.pipeline.files import SourceError, log_files
from aclweb.pipeline.given import text_of
from aclweb.pipeline.known_brokers import KnownBrokers, level_of

_KEYS = ("path", "broker", "time_zone", "layout", "pattern", "level")
_RECURSIVE = "recursive"
_TOPIC_KEYS = ("topic", "kafka", "options", "broker_by", "time_zone", "layout", "pattern")

BY_KEY, BY_TOPIC = "key", "topic"
BROKERS = (BY_KEY, BY_TOPIC)
"""What names the broker of a record of a topic: the message's key, or nothing but the topic."""


@dataclass(frozen=True)
class LogSource:
    """Log files of one kind.

    path: a file, a folder or a pattern. broker: whose they are, empty to name it after the files. zone: that of its
    clock, None to keep times as they are written. layout: a name for `layout_of`, None to look for it. level: one of
    `known_brokers.LEVELS`, empty where nobody said it. is_recursive: a folder means the files of those in it too.
    """

    path: str
    broker: str = ""
    zone: str | None = None
    layout: str | None = None
    level: str = ""
    is_recursive: bool = False


@dataclass(frozen=True)
class TopicSource:
    """A topic whose messages are records.

    kafka: HOST:PORT,… of its brokers. options: a file of settings of a Kafka client, empty for none. broker_by: of
    BROKERS. zone and layout: as a LogSource has them.
    """

    topic: str
    kafka: str
    options: str = ""
    broker_by: str = BY_KEY
    zone: str | None = None
    layout: str | None = None


@dataclass(frozen=True)
class Sources:
    """All places where the records of a cluster are."""

    paths: tuple[LogSource, ...] = ()
    topics: tuple[TopicSource, ...] = ()


def by_file(sources: Sequence[LogSource]) -> dict[str, LogSource]:
    """Return the source of each file that is there now; of several that mean it, the first."""
    found: dict[str, LogSource] = {}
    for source in sources:
        for file in log_files([source.path], recursive=[source.path] if source.is_recursive else ()):
            found.setdefault(file, source)
    return found


def broker_names(files: Mapping[str, LogSource]) -> dict[str, str]:
    """Return the names that somebody gave to brokers, by `broker_of`.

    One name for the logs of several brokers would hide that one of them is silent, so each keeps its own beside it.
    """
    logs: dict[str, set[str]] = {}
    for file, source in files.items():
        if source.broker:
            logs.setdefault(source.broker, set()).add(broker_of(file))
    names: dict[str, str] = {}
    for name, found in logs.items():
        own = short_names(found)
        names |= {log: name if len(found) == 1 else f"{name}: {own[log]}" for log in found}
    return names


def broker_levels(files: Mapping[str, LogSource]) -> dict[str, str]:
    """Return the levels that somebody declared, by `broker_of`; none for a broker of which two were declared."""
    found: dict[str, set[str]] = {}
    for file, source in files.items():
        if source.level:
            found.setdefault(broker_of(file), set()).add(source.level)
    return {broker: min(levels) for broker, levels in found.items() if len(levels) == 1}


def known_brokers(files: Mapping[str, LogSource]) -> KnownBrokers:
    """Return what the sources of some files say of their brokers."""
    return KnownBrokers(broker_names(files), levels=broker_levels(files))


def read_sources(path: Path) -> Sources:
    """Return the sources in a file: a JSON list of objects with the keys of docs/pipeline.md.

    Raises NotationError for a file that cannot be read, SourceError for one that is no such list.
    """
    text = text_of(path, "The list of sources")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"The sources in {str(path)!r} cannot be read: {error}.") from error
    if not isinstance(found, list) or not found:
        raise SourceError(
            f'The sources in {str(path)!r} are no list; write it as [{{"path": "/var/log/kafka"}}].'
        )
    read = [_source(one, number) for number, one in enumerate(found, 1)]
    return Sources(
        tuple(one for one in read if isinstance(one, LogSource)),
        tuple(one for one in read if isinstance(one, TopicSource)),
    )


def _source(found: Any, number: int) -> LogSource | TopicSource:
    is_topic = isinstance(found, dict) and "topic" in found
    if not is_topic and not (isinstance(found, dict) and found.get("path")):
        raise SourceError(f"Source {number} has no 'path'; name a file, a folder or a pattern, or a 'topic'.")
    keys = _TOPIC_KEYS if is_topic else _KEYS
    told = {key: value for key, value in found.items() if is_topic or key != _RECURSIVE}
    wrong = next((key for key, value in told.items() if key not in keys or not isinstance(value, str)), None)
    if wrong is not None:
        shown = ", ".join(keys if is_topic else (*keys, _RECURSIVE))
        raise SourceError(f"Source {number} has {wrong!r}, which is no key or no text; the keys are {shown}.")
    is_recursive = found.get(_RECURSIVE, False)
    if not isinstance(is_recursive, bool):
        raise SourceError(f"Source {number} has {_RECURSIVE!r} as {is_recursive!r}; write true or false.")
    try:
        if is_topic:
            return _topic(found)
        level = level_of(found.get("level", ""))
        return LogSource(
            found["path"], found.get("broker", ""), _zone(found), _layout(found), level, is_recursive
        )
    except (NotationError, SourceError) as error:
        raise SourceError(f"Source {number}: {error}") from error


def _topic(found: Mapping[str, str]) -> TopicSource:
    broker_by = found.get("broker_by") or BY_KEY
    if broker_by not in BROKERS:
        raise SourceError(f"'broker_by' is {broker_by!r}; use {' or '.join(BROKERS)}.")
    if not found.get("kafka"):
        raise SourceError(f"The topic {found['topic']!r} has no 'kafka'; name its brokers as HOST:PORT.")
    return TopicSource(
        found["topic"], found["kafka"], found.get("options", ""), broker_by, _zone(found), _layout(found)
    )


def _zone(found: Mapping[str, str]) -> str | None:
    name = found.get("time_zone")
    if not name:
        return None
    try:
        return ZoneInfo(name).key
    except (OSError, ValueError, KeyError):
        raise SourceError(f"{name!r} is no time zone; write it as Europe/Berlin or UTC.") from None


def _layout(found: Mapping[str, str]) -> str | None:
    name, pattern = found.get("layout"), found.get("pattern")
    if name and pattern:
        raise SourceError("It has a layout and a pattern; give one of them.")
    if name and name not in LAYOUTS:
        raise SourceError(f"{name!r} is no layout; docs/pipeline.md names them.")
    return of_pattern(pattern) if pattern else name or None
