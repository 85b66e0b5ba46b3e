"""How does log4j write a record by a PatternLayout, and how is it read back?

A pattern becomes regular expressions: what a record starts with up to its message, and what follows the message.
The message is cut off from both ends, because names in it may hold any text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from aclweb.acl.model import NotationError
from aclweb.acl.notation.authorizer_log import LOGGER
from aclweb.acl.notation.log_layouts.times import NO_TIME, LogTime, TimeFormat, time_format

NO_LEVEL = "UNKNOWN"
"""Stands where a layout does not write the level."""

_ANOTHER = "another.logger"
# How a message of the authorizer begins; tells where a pattern does not write the logger.
_MESSAGE = re.compile(r"Principal = |principal = |operation = |No acl found for resource ")
# How a decision ends where nothing stands behind the message.
_DECISION_END = (
    r"(?: with resourceRefCount = [0-9]+| based on rule (?:SuperUser|DefaultAllow|DefaultDeny)"
    r"|, permissionType=[A-Z]+[\])]\))"
)
_CONVERSION = re.compile(
    r"%(?:(?P<percent>%)|(?P<left>-)?(?P<zeros>0)?(?P<least>[0-9]+)?(?:\.(?P<cut>-?[0-9]+))?(?P<word>[A-Za-z]+)"
    r"(?P<options>(?:\{[^{}]*\})*))"
)
_NOT_IN_A_LOGGER = r"^()\s"
_TEXT = r"[^\n]*?"
# What log4j may write for each conversion word that is not read. Exceptions are written on lines of their own.
_OTHERS = {
    **dict.fromkeys(("t", "tn", "thread", "threadName"), _TEXT),
    **dict.fromkeys(("x", "NDC", "X", "mdc", "MDC", "K", "map", "MAP"), _TEXT),
    **dict.fromkeys(("C", "class", "F", "file", "M", "method", "l", "location"), _TEXT),
    **dict.fromkeys(("marker", "markerSimpleName"), _TEXT),
    **dict.fromkeys(("L", "line", "pid", "processId"), "[0-9?]+"),
    **dict.fromkeys(("r", "relative", "sn", "sequenceNumber", "N", "nano"), "[0-9]+"),
    **dict.fromkeys(("T", "tid", "threadId", "tp", "threadPriority"), "[0-9]+"),
    **dict.fromkeys(("u", "uuid"), "[0-9a-f-]+"),
    **dict.fromkeys(("endOfBatch",), "(?:true|false)"),
    **dict.fromkeys(("fqcn",), r"[\w.$]+"),
    **dict.fromkeys(("ex", "exception", "throwable", "rEx", "rThrowable", "rException"), ""),
    **dict.fromkeys(("xEx", "xThrowable", "xException"), ""),
}
_READ = {
    **dict.fromkeys(("d", "date"), "time"),
    **dict.fromkeys(("p", "level"), "level"),
    **dict.fromkeys(("m", "msg", "message"), "message"),
    **dict.fromkeys(("c", "logger"), "logger"),
    "n": "end",
}
_WORDS = sorted({*_OTHERS, *_READ}, key=len, reverse=True)


@dataclass
class _Parts:
    """What is known of a pattern so far. sources: of both sides of the message."""

    given: str
    sources: list[str] = field(default_factory=lambda: [""])
    ends: str = ""
    time: TimeFormat | None = None
    logger: str | None = None
    seen: set[str] = field(default_factory=set)

    def add(self, source: str, ending: str | None = None) -> None:
        """Add what comes next. ending: what it is behind a decision, if that is known."""
        if "end" in self.seen and source.strip("\\ "):
            raise self.refused("has something behind %n; a record has to end there")
        self.sources[-1] += source
        if "message" in self.seen:
            self.ends += re.sub(r"\(\?P<\w+>", "(?:", source) if ending is None else ending

    def refused(self, why: str) -> NotationError:
        return NotationError(
            f"The pattern {self.given!r} {why}. A pattern is one such as [%d] %p %m (%c)%n, Kafka's own."
        )


@dataclass(frozen=True)
class PatternBody:
    """Records that a PatternLayout wrote. logger: how it writes the authorizer's name; None where it writes none."""

    start: re.Pattern[str]
    whole: re.Pattern[str]
    decision_end: re.Pattern[str]
    record_end: re.Pattern[str] | None
    time: TimeFormat | None
    logger: str | None
    is_line_by_line: bool = False

    def starts(self, line: str) -> bool:
        return self.start.match(line) is not None

    def end_of(self, lines: Sequence[str]) -> int:
        if len(lines) == 1:
            return 1
        return _last(lines, self.decision_end) or _last(lines, self.record_end) or len(lines)

    def read(self, text: str) -> tuple[LogTime, str] | None:
        ended = text.rstrip("\r\n")
        found = self.whole.fullmatch(ended)
        if found is None:
            return self._damaged(ended)
        part = found.groupdict()
        message = part["message"]
        is_several = "\n" in message or ended != text
        if self.record_end is None and is_several and not self.decision_end.search(message):
            # Nothing tells lines of a name from lines behind the record, nor its line end from that of the log.
            return self._time(part), f"{_level(part)} {message}"
        return self._time(part), f"{_level(part)} {message} ({self._logger(part.get('logger'), message)})"

    def _damaged(self, text: str) -> tuple[LogTime, str] | None:
        """Return a record that does not end as one, so that its text does not either."""
        found = self.start.match(text)
        if found is None:
            return None
        part = found.groupdict()
        return self._time(part), f"{_level(part)} {text[found.end() :].removesuffix(')')}"

    def _time(self, part: dict[str, str | None]) -> LogTime:
        text = part.get("time")
        return NO_TIME if text is None or self.time is None else self.time.read(text)

    def _logger(self, written: str | None, message: str) -> str:
        written = written and written.strip()
        is_authorizer = _MESSAGE.match(message) is not None if self.logger is None else written == self.logger
        return LOGGER if is_authorizer else written or _ANOTHER


def _level(part: dict[str, str | None]) -> str:
    return (part.get("level") or NO_LEVEL).strip().upper()


def _last(lines: Sequence[str], ending: re.Pattern[str] | None) -> int | None:
    if ending is None:
        return None
    return next((at for at in range(len(lines), 0, -1) if ending.search(lines[at - 1])), None)


@lru_cache(maxsize=64)
def pattern_body(pattern: str) -> PatternBody:
    """Return what reads the records of a PatternLayout; raises NotationError for a pattern that cannot be read back."""
    parts = _Parts(pattern)
    at = 0
    for found in _CONVERSION.finditer(pattern):
        _add_literal(parts, pattern[at : found.start()])
        if found["percent"]:
            parts.add("%")
        else:
            _add_conversion(parts, found)
        at = found.end()
    _add_literal(parts, pattern[at:])
    if "message" not in parts.seen:
        raise parts.refused("has no message (%m)")
    before, behind = parts.sources
    if "(?P<time>" not in before and "(?P<level>" not in before:
        raise parts.refused("does not say where a record starts; put the time (%d) before the message (%m)")
    record_end = re.sub(r"\(\?P<\w+>", "(?:", behind) + r"\r?$"
    decision_end = ("" if parts.logger and "logger>" in behind else _DECISION_END) + parts.ends + r"\r?$"
    return PatternBody(
        start=re.compile(before),
        whole=re.compile(f"{before}(?P<message>.*){behind}", re.DOTALL),
        decision_end=re.compile(decision_end),
        record_end=re.compile(record_end) if behind else None,
        time=parts.time,
        logger=parts.logger,
    )


def _add_literal(parts: _Parts, text: str) -> None:
    if "%" in text:
        raise parts.refused(f"has {text[text.index('%') :]!r}, which log4j does not write")
    text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "").replace("\\\\", "\\")
    head, line_end, rest = text.partition("\n")
    if head:
        parts.add(re.escape(head))
    if line_end:
        parts.seen.add("end")
        if rest.strip():
            parts.add(re.escape(rest))


def _add_conversion(parts: _Parts, found: re.Match[str]) -> None:
    word = next((word for word in _WORDS if found["word"].startswith(word)), None)
    if word is None or (word != found["word"] and found["options"]):
        raise parts.refused(f"has %{found['word']}, which cannot be read back")
    options = re.findall(r"\{([^{}]*)\}", found["options"])
    kind = _READ.get(word, "")
    if kind in parts.seen and kind != "end":
        raise parts.refused(f"has %{word} twice")
    if kind:
        parts.seen.add(kind)
    if kind == "message":
        if found["cut"] or any(option not in ("", "nolookups") for option in options):
            raise parts.refused("cuts or changes the message (%m), so names in it cannot be read back")
        parts.sources.append("")
    elif kind == "time":
        parts.time = time_format(*options[:2])
        parts.add(f"(?P<time>{parts.time.source})")
    elif kind == "level":
        parts.add(f"(?P<level>{_wide('A-Za-z' if options else 'A-Z', found['least'])})")
    elif kind == "logger":
        parts.logger = _cut(_abbreviated(parts, options[0] if options else ""), found["cut"])
        width = int(found["least"] or 0)
        written = parts.logger.ljust(width) if found["left"] else parts.logger.rjust(width)
        parts.add(f"(?P<logger>{_wide(_NOT_IN_A_LOGGER, found['least'])})", re.escape(written))
    elif not kind:
        parts.add(f" *{_OTHERS[word]} *" if found["least"] and _OTHERS[word] else _OTHERS[word])
    _add_literal(parts, found["word"][len(word) :])


def _wide(signs: str, least: str | None) -> str:
    """Return what finds a word of these signs that blanks make at least so wide."""
    width = int(least or 0)
    return f"[{signs}]{{{width},}}|[{signs} ]{{{width}}}" if width > 1 else f"[{signs}]+"


def _abbreviated(parts: _Parts, precision: str) -> str:
    """Return how `%c{precision}` writes the authorizer's logger."""
    names = LOGGER.split(".")
    if not precision:
        return LOGGER
    if re.fullmatch(r"-?[0-9]{1,3}", precision):
        count = int(precision)
        if count < 0:
            return ".".join(names[-count:]) or LOGGER
        return ".".join(names[-count:]) if count else LOGGER
    if found := re.fullmatch(r"([0-9]?)\.", precision):
        kept = int(found[1] or 0)
        return ".".join([*(name[:kept] for name in names[:-1]), names[-1]])
    raise parts.refused(f"has %c{{{precision}}}, which cannot be read back; use a number, or 1.")


def _cut(text: str, most: str | None) -> str:
    """Return the text as the width of a conversion leaves it: its end, or its beginning where that is negative."""
    if most is None:
        return text
    return text[: int(most[1:])] if most.startswith("-") else text[-int(most) :]
