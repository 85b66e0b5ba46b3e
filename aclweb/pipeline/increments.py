"""Which bytes of the logs are new since they were last read?

A log file is known by its content, so what rotation, compression, truncation, copies and later runs do to its
name counts nothing twice and loses nothing. A record that is still being written waits until it is whole,
or until its file is finished: compressed, rotated away while a newer file is written, or unchanged for a
day. Unchanged files are not opened.

What was read is known only from what the caller stores: `Found.after` gives it, to be stored together with
what was counted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from aclweb.acl.notation import UNKNOWN, layout_of
from aclweb.pipeline.contents import (
    WINDOW,
    FileChangedError,
    FileStamp,
    LogContent,
    Work,
    is_compressed,
)
from aclweb.pipeline.coverage import broker_of
from aclweb.pipeline.files import (
    GONE,
    READ,
    REFUSED,
    TRUNCATED,
    FileState,
    SourceError,
    log_files,
    readable_state,
    state_of_unknown,
    truncated,
    why_not_opened,
)
from aclweb.pipeline.known_content import (
    CERTAIN_BYTES,
    FIRST_PLACE,
    FIRST_PLACES,
    KnownContents,
    Match,
    Matched,
    Source,
    bytes_known,
    digest,
    marks_of,
    match_of,
)
from aclweb.pipeline.readings import layout_in
from aclweb.pipeline.record_ends import end_of_records, may_go_on, start_of_record

FINISHED_AFTER_SECONDS = 24 * 60 * 60
"""A file that did not change for so long is finished, whatever its last line looks like."""


_ATTEMPTS = 5


@dataclass(frozen=True)
class Fresh:
    """Bytes to count now: of the decompressed content of a file, from `start` up to `end`.

    source: what is known of the file once they are counted; it has the broker. is_whole_file: Spark may read the
    file where it is, if `is_still_there` holds afterwards; of any other file the bytes are copied with `copy_bytes`.
    """

    path: str
    start: int
    end: int
    source: Source
    is_whole_file: bool


@dataclass(frozen=True)
class Copy:
    """A file that holds the beginning of another one that was looked at in the same look."""

    source: Source
    of_path: str


@dataclass(frozen=True)
class Found:
    """What a look at the log files found.

    unchanged: files without bytes to count; most were not opened. skipped: files whose content is counted in
    another file, before or now, each with the path of that. gone: sources whose files were there at the last
    look. problems: files that cannot be read, or not to their end. remarks: sentences about what may be counted
    again. work: what the look cost. sources and copies: what is known once all of `fresh` is counted.
    known: what was known before.
    """

    fresh: tuple[Fresh, ...]
    unchanged: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    gone: tuple[Source, ...]
    problems: tuple[tuple[str, FileState], ...]
    remarks: tuple[str, ...]
    work: Work
    sources: tuple[Source, ...]
    copies: tuple[Copy, ...]
    known: tuple[Source, ...]

    def after(self, counted: Collection[Fresh], *, written_since_ns: int = 0) -> tuple[Source, ...]:
        """Return the sources to store once these bytes are counted; the next look finds the other ones again.

        written_since_ns: files that are gone and were last written before are forgotten; in nanoseconds since 1970.
        """
        failed = {fresh.path for fresh in self.fresh} - {fresh.path for fresh in counted}
        kept = [source for source in self.sources if source.path not in failed]
        kept += [copy.source for copy in self.copies if copy.of_path not in failed]
        if failed:
            # What was known before stays true; more of it than needed does no harm.
            names = {(source.path, source.stamp, source.offset) for source in kept}
            kept += [one for one in self.known if (one.path, one.stamp, one.offset) not in names]
        return tuple(
            source
            for source in kept
            if source.state.state != GONE or source.stamp.mtime_ns >= written_since_ns
        )


class NotTheSameError(Exception):
    """A file that was replaced after it was looked at; nothing of it may be counted now."""


def look_for_new(
    paths: Sequence[str],
    known: Sequence[Source],
    *,
    layouts: Mapping[str, str] | None = None,
    recursive: Collection[str] = (),
    now_ns: int | None = None,
) -> Found:
    """Return which bytes of the files that `paths` mean are not counted yet.

    known: the sources stored with what was counted. layouts: those that are known of some
    files, perhaps in a frame that is looked for. recursive: as `log_files` has it. now_ns: the time now, in
    nanoseconds since 1970.
    Raises SourceError for a path that means no file or no file of this machine, and where files never cease to
    be replaced.
    """
    distant = next((path for path in paths if "://" in path), None)
    if distant is not None:
        raise SourceError(
            f"{distant!r} is not on this machine, so it is unknown what is new in it; name files of this machine."
        )
    now_ns = time.time_ns() if now_ns is None else now_ns
    for _ in range(_ATTEMPTS):
        try:
            return _Look(known, now_ns, layouts or {}).at(log_files(paths, recursive=recursive))
        except (FileChangedError, FileNotFoundError):
            continue
    raise SourceError(f"The log files changed during each of {_ATTEMPTS} looks at them; try again.")


def copy_bytes(fresh: Fresh, folder: Path) -> Path:
    """Copy the bytes of `fresh`, decompressed, into a new file in `folder`; return its path.

    Raises NotTheSameError if the file is not the one any more that was looked at.
    """
    copied = folder / f"{digest(os.fsencode(fresh.path))}-{fresh.start}.log"
    # The bytes before the end tell whether these are the bytes that were looked at.
    at = max(0, min(fresh.start, fresh.end - WINDOW))
    last = b""
    try:
        with open(fresh.path, "rb") as opened, open(copied, "xb") as target:
            for piece in LogContent(fresh.path, opened).pieces(at, fresh.end):
                target.write(piece[max(0, fresh.start - at) :])
                at += len(piece)
                last = (last + piece)[-WINDOW:]
        is_the_same = at == fresh.end and digest(last) == fresh.source.marks[-1][1]
    except (FileNotFoundError, FileChangedError):
        is_the_same = False
    if not is_the_same:
        copied.unlink(missing_ok=True)
        raise NotTheSameError(f"{fresh.path} was replaced after it was looked at.")
    return copied


def is_still_there(fresh: Fresh) -> bool:
    """Whether the file of `fresh` is under its name as it was looked at, so that a reader has read that one."""
    try:
        return FileStamp.of(os.stat(fresh.path)) == fresh.source.stamp
    except OSError:
        return False


@dataclass(frozen=True)
class _Opened:
    """What a file was found to hold: what is known of it then, what of it is to be counted, and its ends.

    head: its first bytes; window: its last ones.
    """

    source: Source
    fresh: Fresh | None
    matched: Matched | None
    length: int
    head: bytes
    window: bytes


@dataclass
class _Look:
    """One look at all files of a cluster.

    wanted: the layouts that somebody named. newest: when a log of each broker was last written, compressed ones apart.
    """

    known: Sequence[Source]
    now_ns: int
    wanted: Mapping[str, str] = field(default_factory=dict)
    work: Work = field(default_factory=Work)
    stamps: dict[str, FileStamp] = field(default_factory=dict)
    unchanged: dict[str, Source] = field(default_factory=dict)
    opened: list[_Opened] = field(default_factory=list)
    unreadable: dict[str, FileState] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)

    def at(self, files: Sequence[str]) -> Found:
        contents = KnownContents(self.known)
        for path in self._changed(files):
            self._open(path, contents)
        firsts, copies = self._parted()
        seen = [*self.unchanged.values(), *(one.source for one in firsts)]
        everything = [*seen, *(copy.source for copy in copies)]
        missing = self._missing(everything)
        skipped = sorted((source.path, source.same_as) for source in everything if source.same_as)
        fresh = [one.fresh for one in firsts if one.fresh is not None]
        handled = {one.path for one in fresh} | {path for path, _ in skipped}
        states = {source.path: source.state for source in everything if source.state.state != READ}
        refused = [
            Source(path, broker_of(path), self.stamps[path], state=state)
            for path, state in self.unreadable.items()
            if path in self.stamps
        ]
        return Found(
            fresh=tuple(fresh),
            unchanged=tuple(sorted(source.path for source in seen if source.path not in handled)),
            skipped=tuple(skipped),
            gone=tuple(source for source in missing if source.state.state != GONE),
            problems=tuple(sorted((states | self.unreadable).items(), key=lambda problem: problem[0])),
            remarks=tuple(remark for one in firsts if (remark := _remark(one))),
            work=self.work,
            sources=(*seen, *refused, *self._unread(), *(source.gone() for source in missing)),
            copies=tuple(copies),
            known=tuple(self.known),
        )

    def _changed(self, files: Sequence[str]) -> list[str]:
        """Return the files that have to be opened."""
        by_stamp: dict[FileStamp, list[Source]] = {}
        for source in self.known:
            if source.state.state not in (GONE, REFUSED):
                by_stamp.setdefault(source.stamp, []).append(source)
        for path in files:
            try:
                path.encode()
                self.stamps[path] = FileStamp.of(os.stat(path))
            except (OSError, UnicodeEncodeError) as error:
                self.unreadable[path] = why_not_opened(error)
        for path, stamp in self.stamps.items():
            if stamp.size and not is_compressed(path):
                broker = broker_of(path)
                self.newest[broker] = max(self.newest.get(broker, 0), stamp.mtime_ns)
        changed = []
        for path, stamp in self.stamps.items():
            same = by_stamp.get(stamp, [])
            found = next((one for one in same if one.path == path), same[0] if same else None)
            if found is not None and self._is_unchanged(found, path, stamp):
                self.unchanged[path] = replace(found, path=path)
            else:
                changed.append(path)
        return changed

    def _is_unchanged(self, source: Source, path: str, stamp: FileStamp) -> bool:
        # A new name may say otherwise how the content is compressed.
        if is_compressed(source.path) != is_compressed(path):
            return False
        return not source.waiting or source.state.state == TRUNCATED or not self._is_finished(path, stamp)

    def _open(self, path: str, contents: KnownContents) -> None:
        try:
            with open(path, "rb") as opened:
                content = LogContent(path, opened, self.work)
                self.stamps[path] = content.stamp
                state = readable_state(path, content.first_bytes())
                looked_into = None
                if state.is_readable:
                    looked_into = self._looked_into(content, self._match(content, contents))
                    if looked_into.source.layout == UNKNOWN:
                        state = state_of_unknown(looked_into.head)
                if looked_into is not None and state.is_readable:
                    self.opened.append(looked_into)
                else:
                    self.unreadable[path] = state
        except FileChangedError:
            self.unreadable[path] = FileState(REFUSED, "It was cut while it was looked at; look again.")
        except OSError as error:
            self.unreadable[path] = why_not_opened(error)

    def _match(self, content: LogContent, contents: KnownContents) -> Matched | None:
        likely = contents.beginning_like(content.read(0, WINDOW))
        content.find_windows({*FIRST_PLACES, *(place for source in likely for place, _ in source.marks)})
        return match_of(content, likely, self._holds_too)

    def _open_again(self, one: _Opened, matched: Matched) -> _Opened:
        """Return what a file holds if it is known like that."""
        with open(one.source.path, "rb") as opened:
            content = LogContent(one.source.path, opened, self.work)
            if content.stamp != one.source.stamp:
                raise FileChangedError
            return self._looked_into(content, matched)

    def _looked_into(self, content: LogContent, matched: Matched | None) -> _Opened:
        head = content.read(0, WINDOW)
        source = Source(
            path=content.path,
            broker=matched.source.broker if matched else broker_of(content.path),
            stamp=content.stamp,
            state=truncated(content.damage) if content.damage else FileState(READ),
            layout=self._layout(content, matched),
        )
        fresh = None
        if matched is not None and matched.bytes_known == content.length:
            source = self._known_copy(content, source, matched)
        else:
            source, fresh = self._with_new_bytes(content, source, matched)
        window = content.window(content.length)
        return _Opened(source, fresh, matched, content.length, head, window)

    def _layout(self, content: LogContent, matched: Matched | None) -> str:
        """Return the name of the content's layout; what is known of it stays, unless somebody names another one."""
        wanted = self.wanted.get(content.path)
        if wanted is None and matched is not None and matched.source.layout != UNKNOWN:
            return matched.source.layout
        return layout_in(content.read, wanted)

    def _known_copy(self, content: LogContent, source: Source, matched: Matched) -> Source:
        """Return what is known of a file all of whose bytes are counted."""
        known, length = matched.source, content.length
        resume = known.resume
        if matched.match is not Match.WHOLE:
            layout = layout_of(source.layout)
            whole = end_of_records(content.read, 0, length, layout)
            resume = whole if may_go_on(content.read, whole, length, layout) else length
        is_there = known.path != source.path and self.stamps.get(known.path) == known.stamp
        return replace(
            source,
            offset=length,
            resume=resume,
            marks=marks_of(content, length, known.marks),
            same_as=known.path if is_there else "",
            was_cut=matched.was_cut,
        )

    def _with_new_bytes(
        self, content: LogContent, source: Source, matched: Matched | None
    ) -> tuple[Source, Fresh | None]:
        """Return what is known of a file with bytes that are not counted, and which of them are to be counted."""
        known = matched.source if matched is not None and matched.match is Match.WHOLE else None
        layout = layout_of(source.layout)
        # Nothing was read of what had no layout.
        start = known.resume if known and (known.layout == source.layout or known.layout != UNKNOWN) else 0
        if matched is not None and known is None:
            start = start_of_record(content.read, matched.bytes_known, layout)
        length = content.length
        whole = end_of_records(content.read, start, length, layout)
        is_finished = not content.damage and self._is_finished(content.path, content.stamp)
        end = length if is_finished else whole
        if end <= start:
            kept = (
                replace(known, path=source.path, stamp=source.stamp, state=source.state, layout=source.layout)
                if known
                else source
            )
            was_cut = matched is not None and matched.was_cut
            return replace(kept, waiting=length - kept.offset, was_cut=was_cut), None
        source = replace(
            source,
            offset=end,
            resume=whole if end > whole and may_go_on(content.read, whole, end, layout) else end,
            waiting=length - end,
            marks=marks_of(content, end, known.marks if known else ()),
            was_cut=matched is not None and matched.was_cut,
        )
        is_whole = start == 0 and end == length and is_finished
        return source, Fresh(content.path, start, end, source, is_whole)

    def _holds_too(self, source: Source, place: int, window: bytes) -> bool | None:
        """Whether the file of a source has these bytes before a place; None if that file is not there any more."""
        if self.stamps.get(source.path) != source.stamp:
            return None
        found = self._window(source.path, source.stamp, place)
        return None if found is None else found == window

    def _window(self, path: str, stamp: FileStamp, place: int) -> bytes | None:
        """Return the bytes before a place of a file that was looked at; None if it was replaced or is shorter."""
        try:
            with open(path, "rb") as opened:
                content = LogContent(path, opened, self.work)
                content.find_windows([place])
                is_there = content.stamp.is_same_file(stamp) and place <= content.length
                return content.window(place) if is_there else None
        except (OSError, FileChangedError):
            return None

    def _parted(self) -> tuple[list[_Opened], list[Copy]]:
        """Return the files whose contents differ, and those that hold the beginning of one of them."""
        longest_first = sorted(
            self.opened, key=lambda one: (-one.length, is_compressed(one.source.path), one.source.path)
        )
        groups: dict[bytes, list[list[_Opened]]] = {}
        for one in longest_first:
            likely = groups.setdefault(one.head[:FIRST_PLACE], [])
            group = next((group for group in likely if self._begins_with(group[0], one)), None)
            if group is None:
                likely.append([one])
            else:
                group.append(one)
        found = [group for likely in groups.values() for group in likely]
        copies = [
            Copy(replace(one.source, waiting=0, same_as=first.source.path), first.source.path)
            for first, *others in found
            for one in others
        ]
        return [self._as_known(first, others) for first, *others in found], copies

    def _as_known(self, first: _Opened, others: Sequence[_Opened]) -> _Opened:
        """Return the longest file of a content; more of it may be known of another one, which is short or moved."""
        best = max((one.matched for one in others if one.matched), key=bytes_known, default=None)
        if best is None or (first.matched is not None and bytes_known(first.matched) >= bytes_known(best)):
            return first
        is_cut = best.was_cut or (first.matched is not None and first.matched.was_cut)
        return self._open_again(first, replace(best, was_cut=is_cut))

    def _begins_with(self, longer: _Opened, one: _Opened) -> bool:
        # In fewer bytes there is no record.
        if one.length < FIRST_PLACE or longer.head[: one.length] != one.head:
            return False
        source, other = one.source, longer.source
        if one.length < CERTAIN_BYTES and broker_of(source.path) != broker_of(other.path):
            return source.stamp.is_same_file(other.stamp)
        if longer.length == one.length:
            return longer.window == one.window
        return self._window(other.path, other.stamp, one.length) == one.window

    def _is_finished(self, path: str, stamp: FileStamp) -> bool:
        """Whether nothing more will be written into a file, as far as names and times say."""
        if is_compressed(path) or self.now_ns - stamp.mtime_ns >= FINISHED_AFTER_SECONDS * 1_000_000_000:
            return True
        broker = broker_of(path)
        return path != broker and self.newest.get(broker, 0) > stamp.mtime_ns

    def _missing(self, seen: Sequence[Source]) -> list[Source]:
        """Return the known sources that no file was found for, without those whose content another file has."""
        contents = {(source.marks[0], source.marks[-1]) for source in seen if source.marks}
        return [
            source
            for source in self._not_found()
            if source.path not in self.unreadable and (source.marks[0], source.marks[-1]) not in contents
        ]

    def _unread(self) -> list[Source]:
        """Return the known sources whose files cannot be read now."""
        return [source for source in self._not_found() if source.path in self.unreadable]

    def _not_found(self) -> Iterator[Source]:
        stamps = {source.stamp for source in self.unchanged.values()}
        found = {
            one.matched.source for one in self.opened if one.matched and one.matched.match is Match.WHOLE
        }
        for source in self.known:
            if source.offset and source.stamp not in stamps and source not in found:
                yield source


def _remark(one: _Opened) -> str | None:
    """Return a sentence where the marks leave it open what is counted, None elsewhere."""
    matched, path = one.matched, one.source.path
    if matched is None or matched.match is Match.WHOLE:
        return None
    if one.fresh is not None:
        return (
            f"{path} begins like what was counted before and differs somewhere behind byte {matched.bytes_verified:,}; "
            f"its bytes from {one.fresh.start:,} on are counted, also those that were counted before."
        )
    if matched.was_cut and not matched.is_compared:
        return (
            f"{path} lost its end; its {one.length:,} bytes are taken for those that were counted before, which is "
            f"certain for the first {matched.bytes_verified:,}."
        )
    return None
