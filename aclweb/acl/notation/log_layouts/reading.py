"""What do the records of a log in any layout say?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from aclweb.acl.notation.authorizer_log import (
    AccessEvent,
    NotDecision,
    parse_record,
    records,
    starts_record,
)
from aclweb.acl.notation.log_layouts.layout import LONGEST_RECORD, Layout, LogRecord
from aclweb.acl.notation.log_layouts.patterns import NO_LEVEL
from aclweb.acl.notation.log_layouts.times import LogTime, iso_moment

SOME_TIME = "[2000-01-01 00:00:00,000] "
"""A time and what follows it: texts of records come without theirs, and `parse_record` wants whole records."""


def events_in(lines: Iterable[str], layout: Layout) -> Iterator[AccessEvent | NotDecision]:
    """Yield what each record says. A time with a zone is written as UTC, with a Z behind it."""
    for record in layout.read(lines):
        if record.time is None:
            yield parse_record(record.text)
            continue
        event = parse_record(SOME_TIME + record.text)
        if isinstance(event, AccessEvent):
            level = None if event.level == NO_LEVEL else event.level
            event = replace(event, time=_written(record.time), level=level)
        yield event


def kafka_records(lines: Iterable[str]) -> Iterator[LogRecord]:
    """Yield the records of a log in Kafka's own layout as `records` parts them, each behind its time if it has one.

    A record whose end is cut off has a time too. `lines` of a record is how many the whole of it takes.
    """
    for record in records(lines):
        count = record.count("\n") + 1
        if starts_record(record):
            text = record[len(SOME_TIME) :][:LONGEST_RECORD]
            yield LogRecord(text, iso_moment(record[1 : len(SOME_TIME) - 2]), count)
        else:
            yield LogRecord(record[:LONGEST_RECORD], None, count)


def _written(time: LogTime) -> str | None:
    if time.micros is None:
        return None
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time.micros)
    text = at.replace(tzinfo=None).isoformat(" ", "milliseconds").replace(".", ",")
    return f"{text}Z" if time.is_utc else text
