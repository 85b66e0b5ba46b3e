"""What did a container's runtime or syslog put around the lines of a log?

CRI (containerd, CRI-O) and Docker's json-file part long lines; the parts are joined. A line that has no such
frame is taken as it is.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from aclweb.acl.notation.log_layouts.times import LogTime, iso_moment

_LONGEST_LINE = 16 << 20


class Carried(NamedTuple):
    """What one or several lines of a file carry.

    time: when the frame says that it was written, where it names a whole time. stream: only parts of one stream are
    joined. is_whole: False where the rest is to come.
    """

    text: str
    lines: int = 1
    time: LogTime | None = None
    is_whole: bool = True
    stream: str = "none"


class Frame(Protocol):
    @property
    def name(self) -> str: ...

    def opened(self, line: str) -> Carried | None:
        """Return what one line carries; None if it is not framed."""

    def goes_on(self, line: str, /) -> bool:
        """Whether what the line carries goes on in a later one."""

    def lines(self, lines: Iterable[str]) -> Iterator[Carried]:
        """Yield what the lines carry, with parts joined."""


@dataclass(frozen=True)
class Plain:
    """Nothing was put around the lines."""

    name: str = ""

    def opened(self, line: str) -> Carried | None:
        return Carried(line)

    def goes_on(self, _: str, /) -> bool:
        return False

    def lines(self, lines: Iterable[str]) -> Iterator[Carried]:
        return map(Carried, lines)


class _Parted(ABC):
    """A frame whose lines may be parts."""

    @abstractmethod
    def opened(self, line: str) -> Carried | None: ...

    def goes_on(self, line: str) -> bool:
        carried = self.opened(line)
        return carried is not None and not carried.is_whole

    def lines(self, lines: Iterable[str]) -> Iterator[Carried]:
        parts: dict[str, Carried] = {}
        # What another stream carries meanwhile comes behind what began before it.
        waiting: list[Carried] = []
        for line in lines:
            carried = self.opened(line) or Carried(line)
            before = parts.pop(carried.stream, None)
            if before is not None:
                text = before.text + carried.text
                carried = carried._replace(text=text, lines=before.lines + carried.lines, time=before.time)
            if not carried.is_whole and len(carried.text) <= _LONGEST_LINE:
                parts[carried.stream] = carried
            elif parts:
                waiting.append(carried)
            else:
                yield carried
                yield from waiting
                waiting.clear()
        yield from parts.values()
        yield from waiting


_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})"
_CRI = re.compile(rf"({_ISO}) (stdout|stderr) ([FP])(?::[^ ]*)?(?: (.*))?", re.DOTALL)


@dataclass(frozen=True)
class Cri(_Parted):
    """`2026-11-20T10:00:00.000000000Z stdout F text`; P in the place of F where the line goes on."""

    name: str = "cri"

    def opened(self, line: str) -> Carried | None:
        found = _CRI.fullmatch(line)
        if found is None:
            return None
        at, stream, flag, text = found.groups()
        return Carried(text or "", 1, iso_moment(at), flag == "F", stream)


@dataclass(frozen=True)
class Docker(_Parted):
    r"""`{"log":"text\n","stream":"stdout","time":"2026-11-20T10:00:00.000000000Z"}`, without `\n` where it goes on."""

    name: str = "docker"

    def opened(self, line: str) -> Carried | None:
        if not line.startswith('{"log":'):
            return None
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return None
        text, at = found.get("log"), found.get("time")
        if not isinstance(text, str) or not isinstance(at, str):
            return None
        whole = text.endswith("\n")
        return Carried(text.removesuffix("\n"), 1, iso_moment(at), whole, str(found.get("stream", "")))


class _OneLine(ABC):
    """A frame in which each line is whole."""

    @abstractmethod
    def opened(self, line: str) -> Carried | None: ...

    def goes_on(self, _: str, /) -> bool:
        return False

    def lines(self, lines: Iterable[str]) -> Iterator[Carried]:
        for line in lines:
            yield self.opened(line) or Carried(line)


_SYSLOG_3164 = re.compile(
    rf"(?:<[0-9]{{1,3}}>)?(?:[A-Z][a-z]{{2}} [ 0-9][0-9] [0-9:]{{8}}|({_ISO})) [^ ]+ "
    r"(?:[\w./@-]+(?:\[[^\]]*\])?: )?(.*)",
    re.DOTALL,
)
_SYSLOG_5424 = re.compile(
    rf"<[0-9]{{1,3}}>1 (?:-|({_ISO})) [^ ]+ [^ ]+ [^ ]+ [^ ]+ "
    r'(?:-|(?:\[[^\]" ]+(?: [^\]= ]+="(?:[^"\\]|\\.)*")*\])+)(?: \ufeff?(.*))?',
    re.DOTALL,
)


@dataclass(frozen=True)
class Syslog3164(_OneLine):
    """`<134>Nov 20 10:00:00 host tag[1]: text` (RFC 3164); the time may be one of RFC 3339, as rsyslog writes it."""

    name: str = "syslog3164"

    def opened(self, line: str) -> Carried | None:
        found = _SYSLOG_3164.fullmatch(line)
        return found and Carried(found[2], 1, iso_moment(found[1]) if found[1] else None)


@dataclass(frozen=True)
class Syslog5424(_OneLine):
    """`<134>1 2026-11-20T10:00:00.000Z host app 1 - - text` (RFC 5424), with structured data or none."""

    name: str = "syslog5424"

    def opened(self, line: str) -> Carried | None:
        found = _SYSLOG_5424.fullmatch(line)
        return found and Carried(found[2] or "", 1, iso_moment(found[1]) if found[1] else None)


PLAIN = Plain()
FRAMES: dict[str, Frame] = {frame.name: frame for frame in (Cri(), Docker(), Syslog5424(), Syslog3164())}
