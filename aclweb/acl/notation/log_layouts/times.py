"""Which moment does a time in a log name, by the format that wrote it?

Formats are those of log4j's `%d`: its named ones, and patterns as Java's SimpleDateFormat and
DateTimeFormatter have them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from aclweb.acl.model import NotationError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class LogTime(NamedTuple):
    """When a record was written.

    micros: microseconds since 1970, in UTC if `is_utc`, else as the clock showed them; None for a time that no
    clock shows, and for one without a day.
    """

    micros: int | None
    is_utc: bool


NO_TIME = LogTime(None, is_utc=False)


def moment(at: datetime) -> LogTime:
    """Return the time of a datetime; one without a zone is what a clock showed."""
    try:
        aware = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError:
        return NO_TIME
    return LogTime((aware - _EPOCH) // _MICROSECOND, at.tzinfo is not None)


def iso_moment(text: str) -> LogTime:
    """Return the time of ISO 8601 text, with a zone or without; digits behind the microseconds are dropped."""
    try:
        return moment(datetime.fromisoformat(text.replace(",", ".", 1)))
    except ValueError:
        return NO_TIME


def epoch_moment(seconds: float | int, *, per_second: int = 1) -> LogTime:
    """Return the time of a number since 1970 in UTC, `per_second` of which make a second."""
    micros = seconds * 1_000_000 // per_second if isinstance(seconds, int) else seconds * 1e6 / per_second
    if not -62_135_596_800_000_000 <= micros < 253_402_300_800_000_000:
        return NO_TIME
    return LogTime(round(micros), is_utc=True)


@dataclass(frozen=True)
class TimeFormat:
    """How a time is written.

    source: what finds it, a regular expression without groups. is_iso: it is ISO 8601, which is read faster.
    """

    source: str
    fields: re.Pattern[str]
    zone: tzinfo | None = None
    is_iso: bool = False

    def read(self, text: str) -> LogTime:
        """Return the moment of a text that `source` matches."""
        if self.is_iso:
            return iso_moment(text)
        found = self.fields.fullmatch(text)
        if found is None:
            return NO_TIME
        part = found.groupdict()
        if part.get("epoch"):
            return epoch_moment(int(part["epoch"]), per_second=1000 if len(part["epoch"]) > 11 else 1)
        if "day" not in part or "month" not in part or "year" not in part:
            return NO_TIME
        try:
            at = datetime(
                _year(part["year"]),
                _month(part["month"]),
                int(part["day"]),
                _hour(part),
                int(part.get("minute") or 0),
                int(part.get("second") or 0),
                int((part.get("fraction") or "0")[:6].ljust(6, "0")),
                tzinfo=_offset(part.get("zone")) or self.zone,
            )
        except ValueError:
            return NO_TIME
        return moment(at)


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _year(text: str) -> int:
    return int(text) + 2000 if len(text) == 2 else int(text)


def _month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS.index(text[:3].lower()) + 1


def _hour(part: dict[str, str | None]) -> int:
    hour = int(part.get("hour") or 0) % 24
    if half := part.get("half"):
        return hour % 12 + (12 if half.lower().startswith("p") else 0)
    return hour


def _offset(text: str | None) -> tzinfo | None:
    """Return the zone that a time names; None for a name such as CET, which several zones have."""
    if text is None:
        return None
    if text in ("Z", "UTC", "GMT"):
        return UTC
    digits = re.sub("[^0-9]", "", text)
    if not digits:
        return None
    delta = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4] or 0))
    return timezone(-delta if "-" in text else delta)


_NAMED = {
    "DEFAULT": "yyyy-MM-dd HH:mm:ss,SSS",
    "DEFAULT_MICROS": "yyyy-MM-dd HH:mm:ss,SSSSSS",
    "DEFAULT_NANOS": "yyyy-MM-dd HH:mm:ss,SSSSSSSSS",
    "DEFAULT_PERIOD": "yyyy-MM-dd HH:mm:ss.SSS",
    "ABSOLUTE": "HH:mm:ss,SSS",
    "ABSOLUTE_MICROS": "HH:mm:ss,SSSSSS",
    "ABSOLUTE_NANOS": "HH:mm:ss,SSSSSSSSS",
    "ABSOLUTE_PERIOD": "HH:mm:ss.SSS",
    "COMPACT": "yyyyMMddHHmmssSSS",
    "DATE": "dd MMM yyyy HH:mm:ss,SSS",
    "DATE_PERIOD": "dd MMM yyyy HH:mm:ss.SSS",
    "ISO8601_BASIC": "yyyyMMdd'T'HHmmss,SSS",
    "ISO8601_BASIC_PERIOD": "yyyyMMdd'T'HHmmss.SSS",
    "ISO8601_PERIOD": "yyyy-MM-dd'T'HH:mm:ss.SSS",
    "ISO8601_PERIOD_MICROS": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd'T'HH:mm:ss,SSSX",
    "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXX",
    "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXXX",
    "US_MONTH_DAY_YEAR2_TIME": "dd/MM/yy HH:mm:ss.SSS",
    "US_MONTH_DAY_YEAR4_TIME": "dd/MM/yyyy HH:mm:ss.SSS",
}
# What SimpleDateFormat and log4j 1 call ISO8601 has a blank, what log4j 2 calls so has a T.
_ISO = "yyyy-MM-dd HH:mm:ss,SSS"
_ZONE = {
    "Z": r"[+-][0-9]{4}",
    "X": r"(?:Z|[+-][0-9]{2})",
    "XX": r"(?:Z|[+-][0-9]{4})",
    "XXX": r"(?:Z|[+-][0-9]{2}:[0-9]{2})",
    "z": r"(?:GMT[+-][0-9]{2}:[0-9]{2}|[A-Z]{1,5})",
}
_FIELDS = {
    "y": "year",
    "u": "year",
    "M": "month",
    "L": "month",
    "d": "day",
    "H": "hour",
    "k": "hour",
    "h": "hour",
    "K": "hour",
    "m": "minute",
    "s": "second",
    "S": "fraction",
    "n": "fraction",
    "a": "half",
    "E": "",
}


def time_format(name: str = "", zone: str = "") -> TimeFormat:
    """Return the format that `%d{name}{zone}` of log4j writes.

    Raises NotationError for one that cannot be read back.
    """
    given = name or "DEFAULT"
    if given in ("UNIX", "UNIX_MILLIS"):
        digits = "[0-9]{9,11}" if given == "UNIX" else "[0-9]{12,14}"
        return TimeFormat(digits, re.compile(f"(?P<epoch>{digits})"))
    shown = _zone_named(zone)
    source, fields = _compiled(_ISO if given == "ISO8601" else _NAMED.get(given, given), given)
    if given == "ISO8601":
        source, fields = source.replace(r"\ ", "[ T]"), fields.replace(r"\ ", "[ T]")
    # Kafka's own layout; a setting of the JVM may turn its comma into a full stop.
    if given.startswith("DEFAULT"):
        source, fields = source.replace(",", "[,.]"), fields.replace(",", "[,.]")
    return TimeFormat(source, re.compile(fields), shown, given in ("DEFAULT", "ISO8601") and shown is None)


def _zone_named(zone: str) -> tzinfo | None:
    if not zone:
        return None
    offset = re.fullmatch(r"(?:GMT|UTC)([+-])([0-9]{1,2})(?::?([0-9]{2}))?", zone)
    try:
        if offset is None:
            return ZoneInfo(zone)
        return _offset(f"{offset[1]}{offset[2].zfill(2)}{offset[3] or ''}")
    except (OSError, ValueError, KeyError):
        raise NotationError(f"{zone!r} is no time zone; write it as Europe/Berlin or GMT+1.") from None


_PIECE = re.compile(
    r"(?P<letters>(?P<letter>[A-Za-z])(?P=letter)*)|'(?P<quoted>(?:[^']|'')*)'|(?P<literal>.)", re.S
)


def _compiled(pattern: str, given: str) -> tuple[str, str]:
    """Return a regular expression without groups, and one that names its fields."""
    source, fields = "", ""
    for piece in _PIECE.finditer(pattern):
        if piece["letters"] is None:
            quoted = piece["quoted"]
            text = re.escape(piece["literal"] if quoted is None else quoted.replace("''", "'") or "'")
            source, fields = source + text, fields + text
            continue
        field, found = _letters(piece["letters"], given)
        source += found
        fields += f"(?P<{field}>{found})" if field and f"(?P<{field}>" not in fields else found
    return source, fields


def _letters(letters: str, given: str) -> tuple[str, str]:
    """Return the field that letters of a format mean, and what finds it."""
    letter, count = letters[0], len(letters)
    if letter in "ZXxz":
        found = _ZONE.get(letters.replace("x", "X") if letter == "x" else "z" if letter == "z" else letters)
        if found is not None:
            return "zone", found
    if letter not in _FIELDS or (letter in "Sn" and count < 3):
        raise NotationError(
            f"The time format {given!r} has {letters!r}, which cannot be read back; use one such as "
            "yyyy-MM-dd HH:mm:ss,SSS."
        )
    if letter in "yu":
        return "year", "[0-9]{2}" if count == 2 else "[0-9]{4}"
    if letter == "a":
        return "half", "[AaPp]\\.?[Mm]\\.?"
    if letter == "E" or (letter in "ML" and count > 2):
        return _FIELDS[letter], "[A-Za-z]{3}" if count < 4 else "[A-Za-z]+"
    if letter in "Sn":
        return "fraction", f"[0-9]{{{count}}}"
    return _FIELDS[letter], "[0-9]{1,2}" if count == 1 else "[0-9]{2}"
