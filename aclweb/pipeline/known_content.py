"""Which content does a log file hold: one that is known, one that goes on, or a new one?

A content is known by marks: digests of the bytes before some of its places. So it is found again under
any name, however it is compressed. Its first mark is behind 64 bytes, the last one where it is counted to.

Less than 1 KB may be equal by chance, where two brokers log the same requests in the same milliseconds. So
short a content is the same only in files of one broker, or in one file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import takewhile
from typing import Any

from aclweb.acl.notation import KAFKA
from aclweb.pipeline.contents import WINDOW, FileStamp, LogContent
from aclweb.pipeline.coverage import broker_of
from aclweb.pipeline.files import GONE, READ, FileState

Marks = tuple[tuple[int, str], ...]

CERTAIN_BYTES = 1024
"""Contents that are equal up to here are never equal by chance."""

_WHOLLY_READ = FileState(READ)
FIRST_PLACE = 64
"""Where the first mark of a content is; a record is longer."""
FIRST_PLACES = (FIRST_PLACE, 256, 1024, WINDOW)
# Marks before the end of a content, so that one that was cut and goes on is counted from near the cut.
_BACKWARDS = tuple(1 << power for power in range(12, 45, 2))


@dataclass(frozen=True)
class Source:
    """What is known of one log file: which content it holds, and how much of that is counted.

    offset: decompressed bytes that are counted. resume: where reading goes on if the file grows; before `offset`
    where the last bytes were counted though their record may not have been whole. waiting: bytes
    behind `offset` that are no whole record yet. marks: places in ascending order, each with the
    digest of up to 4,096 bytes before it; the last place is `offset`. broker: whose log it is.
    same_as: the path of the file in which this content was counted, empty if it was this one. was_cut: more was
    counted of the file than it holds, because it lost its end. layout: the name of that in which it was counted.
    """

    path: str
    broker: str
    stamp: FileStamp
    offset: int = 0
    resume: int = 0
    waiting: int = 0
    marks: Marks = ()
    state: FileState = _WHOLLY_READ
    same_as: str = ""
    was_cut: bool = False
    layout: str = KAFKA

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of a table's version."""
        stamp = self.stamp
        return {
            "path": self.path,
            "broker": self.broker,
            "size": stamp.size,
            "mtime_ns": stamp.mtime_ns,
            "inode": stamp.inode,
            "device": stamp.device,
            "offset": self.offset,
            "resume": self.resume,
            "waiting": self.waiting,
            "marks": [list(mark) for mark in self.marks],
            "same_as": self.same_as,
            "was_cut": self.was_cut,
            "layout": self.layout,
            **self.state.as_dict(),
        }

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Source:
        """Return the source that `as_dict` wrote."""
        return cls(
            path=found["path"],
            broker=found["broker"],
            stamp=FileStamp(found["size"], found["mtime_ns"], found["inode"], found["device"]),
            offset=found["offset"],
            resume=found["resume"],
            waiting=found["waiting"],
            marks=tuple((place, digest) for place, digest in found["marks"]),
            state=FileState(found["state"], found.get("reason", ""), found.get("at_byte")),
            same_as=found["same_as"],
            was_cut=found["was_cut"],
            layout=found.get("layout", KAFKA),
        )

    def gone(self) -> Source:
        """Return this source with the state of a file that is no longer there, and the marks to know a copy by."""
        marks = tuple(mark for mark in self.marks if mark[0] in FIRST_PLACES or mark[0] == self.offset)
        return replace(self, marks=marks, state=FileState(GONE, "It was read before and is gone."))


class Match(Enum):
    """How the content of a file goes with one that is known."""

    WHOLE = "it begins with all that is counted"
    PREFIX = "it is a beginning of what is counted"
    CUT = "it begins like it, and differs before the end of what is counted"


@dataclass(frozen=True)
class Matched:
    """The first `bytes_known` bytes of a file are counted, as those of `source`.

    bytes_verified: up to here its marks say so; behind it a prefix is taken for granted unless `is_compared`.
    was_cut: the file lost its end, now or earlier.
    """

    source: Source
    match: Match
    bytes_known: int
    bytes_verified: int
    is_compared: bool = True
    was_cut: bool = False


class KnownContents:
    """Sources by the beginning of their content."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._by_first: dict[tuple[int, str], list[Source]] = {}
        for source in sources:
            if source.marks:
                self._by_first.setdefault(source.marks[0], []).append(source)
        self._first_places = sorted({place for place, _ in self._by_first})

    def beginning_like(self, head: bytes) -> list[Source]:
        """Return the sources whose first mark is in a content that begins with `head`."""
        places = takewhile(lambda place: place <= len(head), self._first_places)
        return [
            source for place in places for source in self._by_first.get((place, digest(head[:place])), ())
        ]


def match_of(
    content: LogContent,
    likely: Sequence[Source],
    holds_too: Callable[[Source, int, bytes], bool | None],
) -> Matched | None:
    """Return which of these sources the content is, and how far; None for a new content.

    holds_too: whether the file of a source has these bytes before a place; None if it is not there any more.
    """
    found = [
        matched
        for source in likely
        if (matched := _matched(content, source, holds_too)) and _is_one(content, matched)
    ]
    whole = [one for one in found if one.match is Match.WHOLE]
    # A file that grows, or was cut and grows again, is no beginning of what another one held.
    if any(one.source.was_cut or _is_itself(content, one.source) for one in whole):
        found = [one for one in found if one.is_compared or _lost_its_end(content, one)]
    best = max(found, key=bytes_known, default=None)
    return best and replace(
        best, was_cut=best.source.was_cut or any(_lost_its_end(content, one) for one in found)
    )


def _lost_its_end(content: LogContent, matched: Matched) -> bool:
    return matched.match is Match.PREFIX and _is_itself(content, matched.source)


def _is_itself(content: LogContent, source: Source) -> bool:
    """Whether the source is of this very file, as it was at the last look."""
    return source.state.state != GONE and source.stamp.is_same_file(content.stamp)


def bytes_known(matched: Matched) -> tuple[int, bool]:
    """Return what orders matches by how much they say."""
    return matched.bytes_known, matched.match is Match.WHOLE


def marks_of(content: LogContent, offset: int, known: Marks = ()) -> Marks:
    """Return marks up to `offset`. known: marks that the content was found to have."""
    if not offset:
        return ()
    places = {place for place in FIRST_PLACES if place < offset} | {offset}
    if not content.is_compressed:
        places |= {offset - back for back in _BACKWARDS if offset - back > WINDOW}
    kept = {place: mark for place, mark in known if place < offset} if content.is_compressed else {}
    return tuple(
        (place, kept.get(place) or digest(content.window(place))) for place in sorted(places | kept.keys())
    )


def digest(data: bytes) -> str:
    """Return the name of these bytes, 128 bits of their SHA-256."""
    return hashlib.sha256(data).hexdigest()[:32]


def _matched(
    content: LogContent, source: Source, holds_too: Callable[[Source, int, bytes], bool | None]
) -> Matched | None:
    length = content.length
    at_hand = [place for place, _ in source.marks if place <= length]
    known = next(_verified(content, source.marks), 0)
    if known == source.offset:
        return Matched(source, Match.WHOLE, known, known)
    if not known:
        return None
    held = None if known < at_hand[-1] else holds_too(source, length, content.window(length))
    if known < at_hand[-1] or held is False:
        return Matched(source, Match.CUT, known, known)
    return Matched(source, Match.PREFIX, length, known, is_compared=held is not None)


def _verified(content: LogContent, marks: Marks) -> Iterator[int]:
    """Yield the places of the marks that the content has, the last one first."""
    for place, mark in reversed(marks):
        if place <= content.length and digest(content.window(place)) == mark:
            yield place


def _is_one(content: LogContent, matched: Matched) -> bool:
    if matched.bytes_verified >= CERTAIN_BYTES or matched.source.stamp.is_same_file(content.stamp):
        return True
    return broker_of(content.path) in (matched.source.broker, broker_of(matched.source.path))
