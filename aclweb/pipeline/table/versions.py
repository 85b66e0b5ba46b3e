"""Which version is the access table, and how does the next one take its place at once?

A version is one JSON file. It is put at its number whole and in one step, which fails where another process has taken
the number before: two writers, one wins.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aclweb.pipeline.storage import Folder
from aclweb.pipeline.table import failpoints
from aclweb.pipeline.table.parts import BY_DAY, Part, TableError

FORMAT = 2  # of a version and of the parts; raised when a reader of the old ones could go wrong
# An aclweb that reads up to 1 knows no topics: it would forget how far they were read.
_FORMAT_WITHOUT_TOPICS = 1
PARSER = 1  # raised when a record could be read otherwise than before

VERSIONS = "versions"

_NUMBERED = re.compile(r"(\d{8,})\.json")


@dataclass(frozen=True)
class Day:
    """What a table has of one day: records, decisions, parts by data set, and the oldest parser of its rows."""

    parser: int
    lines: int
    decisions: int
    parts: Mapping[str, tuple[Part, ...]]

    def all_parts(self) -> Iterator[Part]:
        for parts in self.parts.values():
            yield from parts


@dataclass(frozen=True)
class Version:
    """One whole state of a cluster's table.

    days: by day, "" for records without a time. sources: how far each log has been read (`increments.Source`).
    offsets: how far each topic has been read (`topics.Position`), by its name and id.
    damaged: sentences about higher numbers that are not whole. highest: the highest number there was.
    """

    number: int
    cluster: str
    written_at: str
    days: Mapping[str, Day] = field(default_factory=dict)
    samples: tuple[Part, ...] = ()
    sources: tuple[Mapping[str, Any], ...] = ()
    problems: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    zones: Mapping[str, str | None] = field(default_factory=dict)
    offsets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    damaged: tuple[str, ...] = ()
    highest: int = 0

    def all_parts(self) -> Iterator[Part]:
        yield from self.samples
        for day in self.days.values():
            yield from day.all_parts()


def latest(folder: Folder) -> Version | None:
    """Return the version with the highest number that is whole; None where there is none at all.

    Raises TableError where there are versions and none is whole, or where a newer aclweb wrote the latest.
    """
    damaged: list[str] = []
    there = sorted(numbers(folder), reverse=True)
    for number in there:
        version = _read(folder, number)
        if version is not None:
            return replace(version, damaged=tuple(damaged), highest=there[0])
        damaged.append(f"{folder}/{name_of(number)} is damaged; the version before it is used.")
    if damaged:
        raise TableError(
            f"No version in {folder}/{VERSIONS} is whole; put the folder back from a backup, or make the table anew "
            "from the logs in another folder."
        )
    return None


def commit(folder: Folder, version: Version) -> None:
    """Make `version` the table; raise TableError where another process has taken its number."""
    if not folder.put_if_absent(name_of(version.number), _text_of(version).encode(), failpoints.hit):
        raise TableError(
            f"Another process changed the access table of {version.cluster} meanwhile, so nothing was added; "
            "run the job again."
        )


def numbers(folder: Folder) -> list[int]:
    """Return the numbers of the versions that are there, whole or not."""
    return numbers_in(folder.below(VERSIONS).names())


def numbers_in(names: Iterable[str]) -> list[int]:
    """Return the numbers of the versions among the names of files."""
    return [int(match[1]) for match in map(_NUMBERED.fullmatch, names) if match]


def name_of(number: int) -> str:
    """Return the name of a version's file in the cluster's folder."""
    return f"{VERSIONS}/{number:08}.json"


def names_in(folder: Folder, number: int) -> set[str]:
    """Return the names of the parts that a version has; none where it is not whole."""
    version = _read(folder, number)
    return {part.name for part in version.all_parts()} if version else set()


def _text_of(version: Version) -> str:
    body = {
        "format": FORMAT if version.offsets else _FORMAT_WITHOUT_TOPICS,
        "number": version.number,
        "cluster": version.cluster,
        "written_at": version.written_at,
        "days": {
            name: {
                "parser": day.parser,
                "lines": day.lines,
                "decisions": day.decisions,
                "parts": {kind: [part.as_list() for part in parts] for kind, parts in day.parts.items()},
            }
            for name, day in version.days.items()
        },
        "samples": [part.as_list() for part in version.samples],
        "sources": list(version.sources),
        "problems": dict(version.problems),
        "zones": dict(version.zones),
    }
    if version.offsets:
        body["offsets"] = {topic: dict(position) for topic, position in version.offsets.items()}
    return json.dumps(body | {"digest": _digest_of(body)}, indent=1, sort_keys=True) + "\n"


def _digest_of(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _read(folder: Folder, number: int) -> Version | None:
    """Return a version; None where its file is not whole."""
    try:
        with folder.copies([name_of(number)]) as (file,):
            body = json.loads(file.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(body, dict) or not isinstance(body.get("format"), int):
        return None
    # Before the digest, which a newer one may make otherwise.
    if body["format"] > FORMAT:
        raise TableError(
            f"{folder}/{name_of(number)} has the format {body['format']}, and this aclweb reads up to {FORMAT}; use "
            "the newer aclweb that wrote it."
        )
    if body.pop("digest", None) != _digest_of(body):
        return None
    return Version(
        number=body["number"],
        cluster=body["cluster"],
        written_at=body["written_at"],
        days={
            name: Day(
                day["parser"],
                day["lines"],
                day["decisions"],
                {kind: _parts(day["parts"].get(kind, ())) for kind in BY_DAY},
            )
            for name, day in body["days"].items()
        },
        samples=_parts(body["samples"]),
        sources=tuple(body["sources"]),
        problems=body.get("problems", {}),
        zones=body.get("zones", {}),
        offsets=body.get("offsets", {}),
    )


def _parts(found: Iterable[list[Any]]) -> tuple[Part, ...]:
    return tuple(Part(*values) for values in found)
