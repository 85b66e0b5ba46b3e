"""How fast is a result of the log loaded, and how fast do pages find what a window of it holds?

Makes a result of the usage job with many requests over 90 days, and loads it into a throw-away database: the whole
of it, the same with one more hour, and the same again. Beside it, in the same run, the plain way: a model
instance for each request with its days as JSON, in bulk. CPU seconds are those of this process, without those of a
server. On SQLite a load leaves the lock free for twice as long as it held it, which is a part of the seconds.

    python -m bench.loading [--requests 60000] [--days 90] [--quick] [--database postgres://…]

--database is an empty one, which is not emptied again; SQLite unless given.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.acl.notation import binding_key
from bench import site

LAST = datetime(2026, 11, 20, 20)  # noqa: DTZ001 - a log names no zone
_PRINCIPALS, _TOPICS = 600, 4_000


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=60_000)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--database", help="the address of an empty database")
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    asked = parser.parse_args()
    if asked.quick:
        asked.requests //= 10
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        for line in _measured(Path(directory), asked.requests, asked.days, asked.database):
            print(line, flush=True)
    return 0


def _measured(directory: Path, requests: int, days: int, database: str | None) -> Iterator[str]:
    site.set_up_django(directory, database=database)
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from django.db import connection

    from aclweb.insights.load import load
    from aclweb.inventory.models import Cluster
    from aclweb.inventory.sync import sync
    from tests.fake_cluster import FakeCluster
    from tests.insights.results import write_result

    cluster = Cluster.objects.create(slug="big", name="big", kind="snapshot", address="x")
    bindings = _bindings()
    sync(cluster, client=FakeCluster(bindings, topics=[f"topic-{n}" for n in range(_TOPICS)]))
    cluster.refresh_from_db()
    rng = random.Random(1)
    first = _requests(rng, bindings, requests, days)
    hour = _one_more_hour(rng, first)
    results = {name: directory / name for name in ("first", "hour")}
    for name, rows in (("first", first), ("hour", hour)):
        write_result(results[name], bindings, requests=rows)
    count = sum(len(row["days"]) for row in first)
    yield (
        f"{connection.vendor}: {requests:,} requests, {days} days, {count:,} rows of days; "
        f"load {os.getloadavg()[0]:.1f}"
    )
    for title, name, written in (
        ("the whole result", "first", count + 2 * requests),
        ("the same with one more hour", "hour", None),
        ("the same again", "hour", None),
    ):
        cpu, seconds = _seconds(lambda name=name: load(results[name], cluster))
        rate = f", {written / cpu:,.0f} rows/s of CPU, {written / seconds:,.0f} rows/s" if written else ""
        yield f"{title}: {cpu:.1f} CPU s, {seconds:.1f} s{rate}"
    cpu, seconds = _seconds(lambda: _plain(first))
    yield (
        f"the plain way, an instance a request with its days as JSON: {cpu:.1f} CPU s, {seconds:.1f} s, "
        f"{requests / cpu:,.0f} rows/s of CPU"
    )
    yield from _asked(cluster)


def _asked(cluster: Any) -> Iterator[str]:
    """Yield what each question about 90 days takes, the median of five."""
    from django.db.models import Sum

    from aclweb.acl.model import Resource
    from aclweb.insights import queries
    from aclweb.insights.current import current_load
    from aclweb.insights.denials import inbox
    from aclweb.insights.models import RequestTotals
    from aclweb.insights.requests import days_of, lines_by_day, requests_of
    from aclweb.insights.traffic import traffic

    shown = current_load(cluster)
    assert shown is not None
    busiest = list(requests_of(shown).order_by("-lines").values_list("request", flat=True)[:2_000])
    window = [date.fromisoformat(day) for day in days_of(shown, most=90)]
    asked: dict[str, Callable[[], object]] = {
        "the traffic of a topic": lambda: traffic(cluster, resource=Resource(ResourceType.TOPIC, "topic-1")),
        "the traffic of a principal": lambda: traffic(cluster, principal="User:u1"),
        "90 days of 2,000 requests": lambda: lines_by_day(shown, busiest, first=window[0], last=window[-1]),
        "the inbox of denials": lambda: inbox(cluster, in_force_since=lambda numbers: {}).rows[:25],
        "requests that ACLs answer otherwise by now": lambda: queries.disagreements(cluster),
        "the lines of all requests in 90 days": lambda: requests_of(shown).aggregate(Sum("lines_90")),
    }
    for title, ask in asked.items():
        ask()
        took = sorted(_seconds(ask) for _ in range(5))[2]
        yield f"{title}: {1_000 * took[0]:.0f} CPU ms, {1_000 * took[1]:.0f} ms"
    yield f"{RequestTotals.objects.count():,} rows of totals"


def _plain(rows: list[dict[str, Any]]) -> None:
    """Store an instance for each request with its days in it, and nothing else."""
    from django.db import connection, models

    from aclweb.inventory.store import in_turn

    class Plain(models.Model):  # noqa: DJ008
        principal = models.TextField()
        host = models.TextField()
        operation = models.CharField(max_length=20)
        resource_type = models.CharField(max_length=20)
        resource_name = models.TextField()
        allowed = models.BooleanField()
        lines = models.PositiveBigIntegerField()
        first_at = models.DateTimeField()
        last_at = models.DateTimeField()
        api_names = models.JSONField(default=list)
        days = models.JSONField(default=list)
        sample = models.TextField()
        decided_now = models.CharField(max_length=10)

        class Meta:
            app_label = "bench"

    with connection.schema_editor() as editor:
        editor.create_model(Plain)
    names = [
        field.name
        for field in Plain._meta.get_fields()
        if field.name not in ("id", "days", "first_at", "last_at")
    ]
    for start in range(0, len(rows), 1_000):
        made = [
            Plain(
                **{name: row[name] for name in names},
                first_at=row["first_at"].replace(tzinfo=UTC),
                last_at=row["last_at"].replace(tzinfo=UTC),
                days=[[day["day"], day["lines"]] for day in row["days"]],
            )
            for row in rows[start : start + 1_000]
        ]
        with in_turn():
            Plain.objects.bulk_create(made)


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU seconds and the seconds of one run."""
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - clock


def _bindings() -> list[AclBinding]:
    return [
        AclBinding(
            ResourceType.TOPIC,
            f"topic-{n % _TOPICS}",
            PatternType.LITERAL,
            f"User:u{n % _PRINCIPALS}",
            "*",
            Operation.READ,
            PermissionType.ALLOW,
        )
        for n in range(_TOPICS)
    ]


def _requests(rng: random.Random, bindings: list[AclBinding], count: int, days: int) -> list[dict[str, Any]]:
    """Return distinct requests that were made on each day, a tenth of them denied."""
    from tests.insights.results import request

    dates = [(LAST - timedelta(days=back)).date().isoformat() for back in reversed(range(days))]
    keys = [binding_key(binding) for binding in bindings]
    # A few hundred different ones, which many requests share in memory.
    pool = [[{"day": day, "lines": rng.randint(1, 500)} for day in dates] for _ in range(400)]
    made = []
    for n in range(count):
        allowed = n % 10 != 0
        of_days = rng.choice(pool)
        made.append(
            request(
                f"User:u{n % _PRINCIPALS}",
                "READ",
                f"topic-{n % _TOPICS}",
                host=f"10.{n // 65_536}.{n // 256 % 256}.{n % 256}",
                allowed=allowed,
                decided_now="ALLOWED" if allowed else "DENIED",
                determining=[keys[n % _TOPICS]] if allowed else [],
                lines=sum(day["lines"] for day in of_days),
                first_at=LAST - timedelta(days=days),
                last_at=LAST - timedelta(seconds=rng.randint(0, 3_600)),
                days=of_days,
                sample="[2026-11-20 20:00:00,000] INFO Principal = User:u1 is Denied operation = READ "
                + "x" * 160,
            )
        )
    return sorted(made, key=lambda row: (row["principal"], row["host"], row["resource_name"]))


def _one_more_hour(rng: random.Random, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the requests after an hour in which a fifth of them were made again."""
    return [
        row
        | {
            "lines": row["lines"] + 3,
            "days": [*row["days"][:-1], row["days"][-1] | {"lines": row["days"][-1]["lines"] + 3}],
        }
        if rng.random() < 0.2
        else row
        for row in rows
    ]


if __name__ == "__main__":
    raise SystemExit(main())
