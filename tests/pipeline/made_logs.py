"""Logs as the jobs get them, made of one line per fact, without a file to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from aclweb.acl.logged.proposal import Used
from aclweb.acl.model.vocabulary import AccessRequest, Operation, ResourceType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from aclweb.pipeline.manifest import Logged

LAST_DAY = date(2026, 11, 20)
ALL_HOURS = (1 << 24) - 1


@dataclass(frozen=True)
class Line:
    """A decision that was logged `lines` times in one hour of one day."""

    principal: str
    operation: str
    name: str
    allowed: bool = True
    lines: int = 1
    kind: str = "TOPIC"
    host: str = "10.0.0.7"
    days_ago: int = 0
    hour: int = 12
    api: str = "Fetch"

    @property
    def request(self) -> AccessRequest:
        return AccessRequest(
            self.principal, self.host, Operation[self.operation], ResourceType[self.kind], self.name
        )

    @property
    def used(self) -> Used:
        return Used(self.request, self.lines)

    @property
    def key(self) -> tuple[str, ...]:
        return (self.principal, self.host, self.operation, self.kind, self.name)

    def refused(self) -> Line:
        return replace(self, allowed=False)


def logged(
    spark: SparkSession,
    lines: Iterable[Line],
    *,
    days: int = 31,
    brokers: Iterable[str] = "ab",
    without_hours: Iterable[str] = (),
) -> Logged:
    """Return the logs of brokers that wrote in every hour of so many days, with these decisions in them.

    without_hours: days whose denials are not known by hour.
    """
    from aclweb.pipeline import schemas, totals
    from aclweb.pipeline.files import READ, FileState
    from aclweb.pipeline.folding import Rows
    from aclweb.pipeline.manifest import ByHour, Logged, Source

    access: list[dict[str, Any]] = []
    denied: list[dict[str, Any]] = []
    latest: dict[tuple[Any, ...], tuple[int, str]] = {}
    for line in lines:
        first, words = micros(line), dict(zip(schemas.REQUEST, line.key, strict=True))
        access.append(
            {
                "day": (LAST_DAY - timedelta(days=line.days_ago)).isoformat(),
                **words,
                "allowed": line.allowed,
                "api_name": line.api,
                "broker_rule": None,
                "named_key": None,
                "broker": "logs/a",
                "ambiguous": False,
                "lines": line.lines,
                "first_us": first,
                "last_us": first + 1_000_000,
            }
        )
        if not line.allowed:
            of_hour = {"principal": line.principal, "hour": line.hour, "lines": line.lines}
            denied.append({"day": access[-1]["day"]} | of_hour)
        key = (*line.key, line.allowed)
        latest[key] = max(latest.get(key, (0, "")), (first + 1_000_000, f"INFO {line.principal} {line.name}"))
    samples = [
        dict(zip((*schemas.REQUEST, "allowed", "last_us", "raw"), (*key, *last), strict=True))
        for key, last in latest.items()
    ]
    coverage = [_coverage(broker, back) for broker in brokers for back in range(days)]
    days_by_hour = frozenset(row["day"] for row in coverage) - frozenset(without_hours)
    latest_samples = spark.createDataFrame(samples, schemas.SAMPLES)
    return Logged(
        rows=Rows(
            totals.logged_on(in_lists(spark.createDataFrame(access, schemas.ACCESS)), latest_samples),
            len(access),
        ),
        samples=latest_samples,
        by_hour=ByHour(spark.createDataFrame(denied, schemas.DENIED), days_by_hour),
        coverage=coverage,
        notes=[],
        sources={row["source"]: Source(row["source"], FileState(READ)) for row in coverage},
    )


def in_lists(access: DataFrame) -> DataFrame:
    """Return access rows with the days of each request in one row (schemas.LOGGED), without records."""
    from pyspark.sql import functions as F

    from aclweb.pipeline import schemas

    of_day = F.struct("day", "lines", "first_us", "last_us")
    return access.groupBy(*schemas.ACCESS_KEY).agg(
        F.sum("lines").alias("lines"),
        F.min("first_us").alias("first_us"),
        F.max("last_us").alias("last_us"),
        F.collect_list(of_day).alias("days"),
    )


@contextmanager
def saying(steps: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Yield what a job tells its steps, which have to be these, in order."""
    told: list[str] = []
    yield told.append
    assert told == list(steps)


def micros(line: Line) -> int:
    noon = datetime(LAST_DAY.year, LAST_DAY.month, LAST_DAY.day, line.hour, tzinfo=UTC)
    return int((noon - timedelta(days=line.days_ago)).timestamp()) * 1_000_000


def _coverage(broker: str, back: int) -> dict[str, Any]:
    day = datetime(LAST_DAY.year, LAST_DAY.month, LAST_DAY.day, tzinfo=UTC) - timedelta(days=back)
    first = int(day.timestamp()) * 1_000_000
    times = {"first_us": first, "last_us": first + 86_399_000_000}
    times |= {"first_permit_us": first, "last_permit_us": first + 86_399_000_000}
    sums = {"lines": 24, "decisions": 24, "permits": 24}
    sums |= dict.fromkeys(("probes", "other", "unparsed", "ambiguous", "not_utf8"), 0)
    where = {"file": f"logs/{broker}", "source": f"logs/{broker}", "broker": f"logs/{broker}"}
    return {"day": day.date().isoformat(), **where, **sums, **times} | dict.fromkeys(
        ("hours", "permit_hours"), ALL_HOURS
    )
