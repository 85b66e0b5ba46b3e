"""Group the denials of a load by principal, operation and resource, once, so that no page has to.

A group has the same key in every load of a cluster; what people say of it is kept by that key.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

WINDOWS = (1, 7, 14, 30)
"""Days, up to the last one of the log, whose lines are counted apart."""

_NEWEST_DAYS = 90
_COLUMNS = ("principal", "operation", "resource_type", "resource_name")


def key_of(principal: str, operation: str, resource_type: str, resource_name: str) -> str:
    """Return the key of a group: 64 hexadecimal digits, whatever the names hold."""
    text = json.dumps([principal, operation, resource_type, resource_name])
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class _Group:
    lines: int = 0
    hosts: set[str] = field(default_factory=set)
    latest_host: str = ""
    first_at: datetime | None = None
    last_at: datetime | None = None
    days: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, host: str, lines: int, first_at: datetime, last_at: datetime, days: list[Any]) -> None:
        self.lines += lines
        self.hosts.add(host)
        if self.last_at is None or (last_at, host) > (self.last_at, self.latest_host):
            self.last_at, self.latest_host = last_at, host
        self.first_at = first_at if self.first_at is None else min(self.first_at, first_at)
        for day, of_day in days:
            self.days[day] += of_day

    def since(self, day: str) -> int:
        return sum(lines for each, lines in self.days.items() if each >= day)


def grouped(load: Any, *, seen: Any, group: Any, at_once: int = 1_000) -> Iterator[list[Any]]:
    """Yield the groups of the load's denials, unsaved, `at_once` at a time.

    seen: a query of SeenRequest. group: the model DenialGroup. A migration has both as they were then.
    """
    found: dict[tuple[str, ...], _Group] = defaultdict(_Group)
    rows = seen.filter(load=load, allowed=False).values_list(
        *_COLUMNS, "host", "lines", "first_at", "last_at", "days"
    )
    for *names, host, lines, first_at, last_at, days in rows.iterator(at_once):
        found[tuple(names)].add(host, lines, first_at, last_at, days)
    begins = _windows(load.last_at)
    made = []
    for names_of, each in found.items():
        made.append(
            group(
                load=load,
                key=key_of(*names_of),
                **dict(zip(_COLUMNS, names_of, strict=True)),
                lines=each.lines,
                **{f"lines_{days}": each.since(begin) for days, begin in begins.items()},
                hosts=len(each.hosts),
                latest_host=each.latest_host,
                first_at=each.first_at,
                last_at=each.last_at,
                days=sorted(each.days.items())[-_NEWEST_DAYS:],
            )
        )
        if len(made) == at_once:
            yield made
            made = []
    if made:
        yield made


def _windows(last_at: datetime | None) -> dict[int, str]:
    """Return the first day of each window; without a time no day is in any."""
    last = last_at.date() if last_at else date.max
    return {days: (last - timedelta(days=days - 1)).isoformat() for days in WINDOWS}
