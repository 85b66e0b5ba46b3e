"""How does a table take up new rows, and forget what is too old or in too many pieces?

Everything is written into a folder of its own first. Parts then get their places, which nobody reads yet, and
the version that names them is the last step.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aclweb.pipeline.part_columns import NO_DAY
from aclweb.pipeline.storage import Entry, Folder, StorageError
from aclweb.pipeline.table import failpoints
from aclweb.pipeline.table.parts import (
    ACCESS,
    BY_DAY,
    SAMPLES,
    Part,
    TableError,
    adopt,
    part_of,
    place,
    place_of,
)
from aclweb.pipeline.table.versions import (
    PARSER,
    VERSIONS,
    Day,
    Version,
    commit,
    name_of,
    names_in,
    numbers_in,
)

MOST_PARTS = 8
"""A day with more parts of access rows is folded into one; one that got nothing new, with more than one."""

MOST_SAMPLE_PARTS = 16
KEPT_VERSIONS = 10
KEPT_SECONDS = 3600.0
"""Earlier versions stay for so many changes, and all of this time, so that a reader at work does not lose its parts."""

SWEPT_AFTER_SECONDS = 24 * 3600.0

_ENDING = ".parquet"
_UNFINISHED = ".unfinished-"
_BEGAN = re.compile(rf"{re.escape(_UNFINISHED)}([0-9]+)-")
_DAY = "day="


@dataclass(frozen=True)
class Written:
    """What a change wrote of one day: records, decisions, and parts by data set.

    is_folded: the parts hold what the day had before, too. is_anew: the day has this alone, and nothing of before.
    """

    lines: int
    decisions: int
    parts: Mapping[str, tuple[Part, ...]]
    is_folded: bool
    is_anew: bool = False


@contextmanager
def unfinished_folder(cluster: Folder) -> Iterator[str]:
    """Yield the name of a new folder to write into, in the cluster's folder; it is gone afterwards."""
    cluster.check_commits()
    # Some stores do not say since when a folder is there.
    name = f"{_UNFINISHED}{time.time():.0f}-{uuid.uuid4().hex}"
    cluster.make(name)
    try:
        yield name
    finally:
        # Where the store is what failed, the error that is on its way says so.
        with suppress(StorageError):
            cluster.remove(name)


def days_to_fold(base: Version | None, extended: Iterable[str]) -> set[str]:
    """Return the days whose parts become one by a change that adds to the days `extended`."""
    if base is None:
        return set()
    new = set(extended)
    return {
        name
        for name, day in base.days.items()
        if max(map(len, day.parts.values()), default=0) >= (MOST_PARTS if name in new else 2)
    }


def adopt_frames(written: str, cluster: Folder, dataset: str) -> dict[str, tuple[Part, ...]]:
    """Give the files that executors wrote into `written` their places; return the parts by day, "" without one."""
    failpoints.hit("written")
    found: dict[str, list[Part]] = {}
    for file in cluster.files(written):
        if not file.endswith(_ENDING):
            continue
        folder = file.split("/")[-2]
        day = folder.removeprefix(_DAY) if folder.startswith(_DAY) else ""
        day = "" if day == NO_DAY else day
        to = SAMPLES if dataset == SAMPLES else place_of(dataset, day)
        part = adopt(cluster, file, f"{to}/{_new_name()}", lines=None if dataset == SAMPLES else "lines")
        found.setdefault(day, []).append(part)
    return {day: tuple(parts) for day, parts in found.items()}


def write_rows(
    rows: Sequence[Mapping[str, Any]], schema: pa.Schema, unfinished: str, cluster: Folder, to: str
) -> tuple[Part, ...]:
    """Write a few rows as one part in the folder `to`; none where there are no rows."""
    if not rows:
        return ()
    name = _new_name()
    table = pa.Table.from_pylist([{name: row[name] for name in schema.names} for row in rows], schema=schema)
    with cluster.new_file(f"{unfinished}/{name}") as file:
        pq.write_table(table, file, compression="zstd")
        part = part_of(file, f"{to}/{name}", lines="lines")
    place(cluster, f"{unfinished}/{name}", part)
    return (part,)


def next_version(
    base: Version | None,
    cluster: str,
    written: Mapping[str, Written],
    *,
    samples: tuple[Part, ...],
    sources: Sequence[Mapping[str, Any]],
    problems: Mapping[str, Mapping[str, Any]],
    zones: Mapping[str, str | None] = MappingProxyType({}),
    oldest_day: str,
    offsets: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> Version:
    """Return the version after `base` with what was written; days before `oldest_day` leave.

    zones: of the clocks of brokers whose logs were read for it. offsets: how far topics were read then.

    Raises TableError where the rows of a day do not add up to its decisions.
    """
    days = {name: day for name, day in (base.days if base else {}).items() if not name or name >= oldest_day}
    for name, new in written.items():
        empty = Day(PARSER, 0, 0, {})
        old = empty if new.is_anew else days.get(name, empty)
        kept: Mapping[str, tuple[Part, ...]] = {} if new.is_folded else old.parts
        day = Day(
            min(old.parser, PARSER),
            old.lines + new.lines,
            old.decisions + new.decisions,
            {kind: (*kept.get(kind, ()), *new.parts.get(kind, ())) for kind in BY_DAY},
        )
        rows = sum(part.lines for part in day.parts[ACCESS])
        if rows != day.decisions:
            raise TableError(
                f"The access rows of {name or 'no day'} add up to {rows:,} decisions and {day.decisions:,} were "
                "counted, so nothing was added; every executor must write into the folder that this program sees."
            )
        days[name] = day
    return Version(
        number=base.highest + 1 if base else 1,
        cluster=cluster,
        written_at=datetime.now(UTC).isoformat(timespec="seconds"),
        days=days,
        samples=samples,
        sources=tuple(sources),
        problems=problems,
        zones={**(base.zones if base else {}), **zones},
        offsets={**(base.offsets if base else {}), **offsets},
    )


def commit_and_sweep(folder: Folder, version: Version) -> None:
    """Make `version` the table, then remove what no version that is kept names any more."""
    failpoints.hit("parts")
    commit(folder, version)
    # The change is made: whatever is left lying about is removed by the next one.
    with suppress(OSError, StorageError):
        sweep(folder, version.number)
    failpoints.hit("swept")


def sweep(folder: Folder, number: int) -> None:
    """Remove the versions long before `number` that are old, and old files that no version names.

    A process that still writes parts works on an earlier version, so it can no longer commit.
    """
    before = time.time() - SWEPT_AFTER_SECONDS
    versions = folder.entries(VERSIONS)
    kept, gone = _kept_and_gone(number, versions)
    # All that are kept are read, which for many is not worth it for each one that goes.
    if len(gone) >= len(kept) // KEPT_VERSIONS:
        _remove(folder, kept, gone, before)
    for entry in folder.entries(""):
        if entry.name.startswith(_UNFINISHED) and _began(entry) < before:
            folder.remove(entry.name)
    for entry in versions:
        if entry.name.startswith(".") and entry.written_at < before:
            folder.remove(f"{VERSIONS}/{entry.name}")
    folder.sync()


def _began(entry: Entry) -> float:
    """Return since when an unfinished folder is there."""
    named = _BEGAN.match(entry.name)
    return float(named[1]) if named else entry.written_at


def _kept_and_gone(number: int, versions: Sequence[Entry]) -> tuple[list[int], list[int]]:
    """Return the numbers of the versions that stay after a change to `number`, and of those that need not."""
    there = sorted((found, entry.written_at) for entry in versions for found in numbers_in([entry.name]))
    lately = time.time() - KEPT_SECONDS
    # A reader may have begun with a version until the next one took its place.
    replaced_lately = {each for (each, _), (_, after) in pairwise(there) if after >= lately}
    stays = {each for each, _ in there if each > number - KEPT_VERSIONS} | replaced_lately
    return [each for each, _ in there if each in stays], [each for each, _ in there if each not in stays]


def _remove(folder: Folder, kept: Sequence[int], gone: Sequence[int], before: float) -> None:
    """Remove versions, and the parts that no kept version names; of these only what was written before that time."""
    named = set().union(*(names_in(folder, each) for each in kept))
    for each in gone:
        folder.remove(name_of(each))
    for dataset in (*BY_DAY, SAMPLES):
        files = folder.files(dataset, before)
        unnamed = [name for name in files if name.endswith(_ENDING) and name not in named]
        for name in unnamed:
            folder.remove(name)
        for place_of_some in sorted({name.rpartition("/")[0] for name in unnamed}):
            folder.remove_if_empty(place_of_some)


def _new_name() -> str:
    return f"part-{uuid.uuid4().hex}{_ENDING}"
