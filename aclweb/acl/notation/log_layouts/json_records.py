"""What does a record say that was written as JSON?

By log4j 2 (JsonLayout, and the templates of JsonTemplateLayout), one record a line or over several lines; or
as a decision record: a decision as an object with keys of its own, from whatever program made it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aclweb.acl.notation.authorizer_log import DecisionRecordError, decision_record_text
from aclweb.acl.notation.log_layouts.patterns import NO_LEVEL
from aclweb.acl.notation.log_layouts.times import NO_TIME, LogTime, epoch_moment, iso_moment

_SEVERITIES = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")
_NOT_IN_A_LOGGER = re.compile(r"[()\s]")


@dataclass(frozen=True)
class JsonBody:
    """Records of log4j. The names are keys; a key with a dot may also be nested."""

    time: str
    level: str
    message: str
    logger: str
    is_line_by_line: bool = True

    def starts(self, line: str) -> bool:
        return line.lstrip(", ").startswith("{")

    def end_of(self, lines: Sequence[str]) -> int:
        return _end_of_object(lines)

    def read(self, text: str) -> tuple[LogTime, str] | None:
        found = _object(text)
        if found is None:
            return None
        message, logger = _value(found, self.message), _value(found, self.logger)
        if not isinstance(message, str) or not isinstance(logger, str):
            return None
        level = _level(_value(found, self.level))
        return self._time(found), _sane(f"{level} {message} ({_NOT_IN_A_LOGGER.sub('_', logger) or '_'})")

    def _time(self, found: dict[str, Any]) -> LogTime:
        value = _value(found, self.time)
        if value is None and self.time == "instant":
            return _time_of(found.get("timeMillis"), per_second=1000)
        if isinstance(value, dict):
            seconds, nanos = value.get("epochSecond"), value.get("nanoOfSecond", 0)
            if not isinstance(seconds, int) or not isinstance(nanos, int) or not 0 <= nanos < 10**9:
                return NO_TIME
            return epoch_moment(seconds * 10**9 + nanos, per_second=10**9)
        if self.time == "timestampSeconds" and isinstance(value, int):
            nanos = found.get("timestampNanos", 0)
            return epoch_moment(value * 10**9 + (nanos if isinstance(nanos, int) else 0), per_second=10**9)
        return _time_of(value)


@dataclass(frozen=True)
class DecisionBody:
    """Decision records, each an object on a line."""

    is_line_by_line: bool = True

    def starts(self, line: str) -> bool:
        return line.startswith("{")

    def end_of(self, lines: Sequence[str]) -> int:
        return _end_of_object(lines)

    def read(self, text: str) -> tuple[LogTime, str] | None:
        found = _object(text)
        if found is None:
            return None
        try:
            told = decision_record_text(found)
        except DecisionRecordError:
            return None
        return _time_of(found.get("time")), _sane(told)


def _end_of_object(lines: Sequence[str]) -> int:
    """Return how many of the lines are the first object, whose last line is a bracket for itself if it has several."""
    if lines[0].strip(", \t\r") != "{":
        return 1
    return next((at for at, line in enumerate(lines, 1) if line.rstrip(" \t\r,") == "}"), 1)


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text.strip(", \t\r\n"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _sane(text: str) -> str:
    """Return the text without halves of characters, which no UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


def _value(found: dict[str, Any], key: str) -> Any:
    if key in found or "." not in key:
        return found.get(key)
    outer, _, inner = key.partition(".")
    nested = found.get(outer)
    return _value(nested, inner) if isinstance(nested, dict) else None


def _time_of(value: object, *, per_second: int = 1) -> LogTime:
    """Return the time of a text in ISO 8601, or of a number since 1970: of seconds or milliseconds."""
    if isinstance(value, str):
        return iso_moment(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return NO_TIME
    return epoch_moment(value, per_second=1000 if value >= 10**11 else per_second)


def _level(value: object) -> str:
    if isinstance(value, int) and 0 <= value < len(_SEVERITIES):
        return _SEVERITIES[value]
    return value.upper() if isinstance(value, str) and value.isascii() and value.isalpha() else NO_LEVEL
