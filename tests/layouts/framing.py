"""What container runtimes and syslog put around the lines of a log, made as their documents have it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

FRAMED = ("cri", "docker", "syslog3164", "syslog5424")
PART = 100
"""Characters of a part here; containerd and Docker part lines at 16 KB."""

_AT = "2026-11-20T10:00:00.123456789Z"


def framed(frame: str, lines: Iterable[str]) -> list[str]:
    """Return the lines of a file in which this frame is around each of the lines."""
    return [made for line in lines for made in _FRAMES[frame](line)]


def _cri(line: str) -> Iterator[str]:
    parts = _parts(line)
    for place, part in enumerate(parts, 1):
        yield f"{_AT} stdout {'F' if place == len(parts) else 'P'} {part}"


def _docker(line: str) -> Iterator[str]:
    parts = _parts(line)
    for place, part in enumerate(parts, 1):
        text = part + "\n" * (place == len(parts))
        yield json.dumps(
            {"log": text, "stream": "stdout", "time": _AT}, separators=(",", ":"), ensure_ascii=False
        )


def _syslog3164(line: str) -> Iterator[str]:
    yield f"<134>Nov 20 10:00:00 broker-1 kafka[7]: {line}"


def _syslog5424(line: str) -> Iterator[str]:
    yield f'<134>1 {_AT} broker-1 kafka 7 - [x@1 a="]\\""] {line}'


def _parts(line: str) -> list[str]:
    return [line[start : start + PART] for start in range(0, len(line), PART)] or [""]


_FRAMES = {"cri": _cri, "docker": _docker, "syslog3164": _syslog3164, "syslog5424": _syslog5424}
