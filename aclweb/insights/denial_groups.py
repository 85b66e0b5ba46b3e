"""Group the denials of a load by principal, operation and resource, once, so that no page has to.

A group has the same key in every load of a cluster; what people say of it is kept by that key.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

WINDOWS = (1, 7, 14, 30)
"""Days, up to the last one of the log, whose lines are counted apart."""

NEWEST_DAYS = 90
"""So many days of the log, at most, are kept of a group."""

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

    def since(self, day: str) -> int:
        return sum(lines for each, lines in self.days.items() if each >= day)


class Groups:
    """The groups of the denials that were added so far."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, ...], _Group] = defaultdict(_Group)

    def add(
        self,
        names: tuple[str, ...],
        *,
        host: str,
        lines: int,
        first_at: datetime,
        last_at: datetime,
        days: Iterable[tuple[str, int]],
    ) -> None:
        """Add one denied request; names: principal, operation, resource type and resource name."""
        group = self._found[names]
        group.lines += lines
        group.hosts.add(host)
        if group.last_at is None or (last_at, host) > (group.last_at, group.latest_host):
            group.last_at, group.latest_host = last_at, host
        group.first_at = first_at if group.first_at is None else min(group.first_at, first_at)
        for day, of_day in days:
            group.days[day] += of_day

    def facts(self, log_end: datetime | None) -> Iterator[dict[str, Any]]:
        """Yield what a DenialGroup keeps of each group, by the names of its fields.

        log_end: the last record of the log, up to which the windows are counted.
        """
        begins = _windows(log_end)
        before = (log_end.date() - timedelta(days=1)).isoformat() if log_end else ""
        for names, group in self._found.items():
            yield {
                "key": key_of(*names),
                **dict(zip(_COLUMNS, names, strict=True)),
                "lines": group.lines,
                **{f"lines_{days}": group.since(begin) for days, begin in begins.items()},
                "lines_before": group.days.get(before, 0),
                "hosts": len(group.hosts),
                "latest_host": group.latest_host,
                "first_at": group.first_at,
                "last_at": group.last_at,
                "days": sorted(group.days.items())[-NEWEST_DAYS:],
            }


def _windows(last_at: datetime | None) -> dict[int, str]:
    """Return the first day of each window; without a time no day is in any."""
    last = last_at.date() if last_at else date.max
    return {days: (last - timedelta(days=days - 1)).isoformat() for days in WINDOWS}
