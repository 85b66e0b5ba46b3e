"""Do the clocks of the brokers seem to agree, by the last lines of their logs?

A log cannot prove it: a broker that nobody asks writes no line. But a last line that is whole hours behind, or ahead,
is what a time zone that nobody declared looks like.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from aclweb.acl.model import number_of
from aclweb.insights.coverage import LogFile

_HOUR = timedelta(hours=1)
_NEAR_AN_HOUR = timedelta(minutes=2)
_LARGEST_ZONE = timedelta(hours=27)
_CLOSE = timedelta(minutes=1)


@dataclass(frozen=True)
class Clocks:
    """What the last lines show. agree: they are close to each other; None where one of them could be idle."""

    agree: bool | None
    sentence: str


def clocks(files: Iterable[LogFile]) -> Clocks | None:
    """Return what the last lines of the brokers show; None where fewer than two brokers have a time."""
    last: dict[str, datetime] = {}
    for file in files:
        if file.broker and file.last_at:
            moment = datetime.fromisoformat(file.last_at)
            last[file.broker] = max(last.get(file.broker, moment), moment)
    if len(last) < 2:
        return None
    newest = max(last.values())
    behind = {broker: newest - moment for broker, moment in last.items()}
    oldest = max(behind, key=lambda broker: (behind[broker], broker))
    if behind[oldest] <= _CLOSE:
        seconds = max(1, round(behind[oldest].total_seconds()))
        return Clocks(
            True, f"The last lines of {len(last):,} brokers are within {number_of(seconds, 'second')}."
        )
    shifted = sorted(broker for broker, gap in behind.items() if _is_whole_hours(gap))
    if shifted:
        return Clocks(
            False,
            f"The last line of {shifted[0]} is {number_of(round(behind[shifted[0]] / _HOUR), 'hour')} behind that of "
            "another broker. Its clock may be of another time zone than its source says.",
        )
    return Clocks(
        None,
        f"Cannot tell whether the clocks agree: the last line of {oldest} is {_in_words(behind[oldest])} behind that "
        "of another broker, which may have had more requests.",
    )


def _is_whole_hours(gap: timedelta) -> bool:
    hours = round(gap / _HOUR)
    return hours > 0 and gap <= _LARGEST_ZONE and abs(gap - hours * _HOUR) <= _NEAR_AN_HOUR


def _in_words(gap: timedelta) -> str:
    if gap >= timedelta(days=2):
        return number_of(gap.days, "day")
    if gap >= 2 * _HOUR:
        return number_of(int(gap / _HOUR), "hour")
    return number_of(int(gap.total_seconds() // 60), "minute")
