"""How fast are the pages of the log on a site that has logged for 400 days, whatever 90 of them are asked for?

Makes a busy cluster (20,000 ACLs, 50,000 topics, 800 principals, twelve brokers, 2,000 rows of owners) and a log of
50,000 distinct requests, loads it as of several days, and asks each page for the last 90 days of each: once for the
first time and then again. A page keeps what it worked out, so the first time is what counts; modules, templates and the
index of the ACLs are there before, as on a site that runs. CPU seconds of this process, on SQLite.

    python -m bench.windows [--requests 50000] [--acls 20000] [--topics 50000] [--ends 2] [--quick]

Ends with 1 where a page takes over GOAL_SECONDS.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench import site
from bench.logged import BROKERS, DAYS_LOGGED, PRINCIPALS, cluster_of, result_of, world_of

GOAL_SECONDS = 0.3
APART_DAYS = 45
"""So many days lie between the ends of the windows."""

_AGAIN = 5
_LAST = datetime(2026, 11, 20, 20)  # noqa: DTZ001 - a log names no zone


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--acls", type=int, default=20_000)
    parser.add_argument("--topics", type=int, default=50_000)
    parser.add_argument("--ends", type=int, default=2, help="as of so many days the log is loaded and asked")
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    asked = parser.parse_args()
    if asked.quick:
        asked.requests, asked.acls, asked.topics = (
            number // 10 for number in (asked.requests, asked.acls, asked.topics)
        )
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        return _measured(Path(directory), asked)


def _measured(directory: Path, asked: argparse.Namespace) -> int:
    site.set_up_django(directory)
    from django.test import Client

    from aclweb.accounts.models import User
    from aclweb.insights.load import load
    from aclweb.inventory.current import in_force

    site.make_tables(directory)
    small = cluster_of("small", world_of(200, 100, 100))
    world = world_of(asked.requests, asked.acls, asked.topics)
    cluster, other = cluster_of("big", world), cluster_of("other", world)
    print(
        f"{asked.requests:,} requests, {asked.acls:,} ACLs, {asked.topics:,} topics, {PRINCIPALS} principals, "
        f"{BROKERS} brokers, {DAYS_LOGGED} days; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    person = User.objects.create_superuser("bench", password="not used")
    browser = Client()
    browser.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    load(result_of(directory, "small", world_of(200, 100, 100), _LAST), small)
    for address in _pages(small, "other", 90).values():
        _seconds(browser, address)
    slow = []
    for back in reversed(range(asked.ends)):
        last = _LAST - timedelta(days=APART_DAYS * back)
        folder = result_of(directory, f"to-{last:%Y-%m-%d}", world, last)
        for each in (cluster, other):
            taken, _ = _timed(lambda each=each, folder=folder: load(folder, each))
            in_force(each).loaded.prepare()
        print(f"\n90 days to {last:%Y-%m-%d} (loaded in {taken:.0f} CPU s)", flush=True)
        for title, address in _pages(cluster, other.slug, 90).items():
            first = _seconds(browser, address)
            again = statistics.median(_seconds(browser, address) for _ in range(_AGAIN))
            verdict = "" if max(first, again) <= GOAL_SECONDS else f" (goal <= {GOAL_SECONDS:.1f}: MISSED)"
            slow += [title] if verdict else []
            print(f"{title}: {first:.3f} CPU s, then {again:.3f}{verdict}", flush=True)
    return 1 if slow else 0


def _pages(cluster: Any, other: str, days: int) -> dict[str, str]:
    """Return the addresses of the pages that read the log, about what it holds most of."""
    from django.db.models import Sum

    from aclweb.insights.current import current_load
    from aclweb.insights.models import AclUse, DenialGroup
    from aclweb.insights.requests import requests_of

    shown = current_load(cluster)
    assert shown is not None
    lines = requests_of(shown)
    topics = lines.filter(request__resource_type="TOPIC").values_list("request__resource_name")
    (topic, _) = topics.annotate(n=Sum("lines")).order_by("-n")[0]
    (principal, _) = lines.values_list("request__principal").annotate(n=Sum("lines")).order_by("-n")[0]
    denied = DenialGroup.objects.filter(load=shown).order_by("-lines").values_list("key", flat=True)[0]
    used = AclUse.objects.filter(load=shown).order_by("-requests").values_list("key", flat=True)[0]
    owner = cluster.owned_names.order_by("pk").values_list("owner", flat=True)[0]

    def of(path: str, **query: object) -> str:
        return f"/c/{cluster.slug}/{path}?{urlencode(query)}"

    use, beside = "insights/use/", "insights/use/beside/"
    return {
        "use map": of(use, days=days),
        "map of denials": of(use, show="denied", days=days),
        "use, denials and ACLs": of(use, show="all", days=days),
        "use by owner": of(f"{use}owners/", days=days),
        "names of an owner": of(f"{use}owners/", days=days, owner=owner),
        "topics of two clusters": of(beside, other=other, what="topics", days=days),
        "principals of two clusters": of(beside, other=other, what="principals", days=days),
        "ACLs of two clusters": of(beside, other=other, what="acls", days=days),
        "days of a principal": of(f"{use}days/", principal=principal, days=days),
        "days of a topic": of(f"{use}days/", type="TOPIC", name=topic, days=days),
        "days of an ACL": of(f"{use}days/", acl=used, days=days),
        "a topic with its traffic": of(f"topics/{topic}"),
        "a principal with its traffic": of("principal/", name=principal),
        "fewer rights for a principal": of("principal/least-privilege/", name=principal, days=days),
        "denials": of("insights/", days="all"),
        "denials of 30 days": of("insights/", days=30),
        "one denial": of("insights/", days="all", open=denied),
        "week": of("insights/week/"),
        "coverage": of("insights/coverage/", days=days),
        "coverage of 400 days": of("insights/coverage/", days=DAYS_LOGGED),
        "unused ACLs": of("acls/", use="unused"),
        "ACLs by requests": of("acls/", sort="requests"),
    }


def _seconds(browser: Any, address: str) -> float:
    seconds, answer = _timed(lambda: browser.get(address))
    if answer.status_code != 200:
        raise SystemExit(f"{address} answered {answer.status_code}, so there is nothing to measure.")
    return seconds


def _timed(work: Any) -> tuple[float, Any]:
    """Return the CPU seconds of one run, and what it returned."""
    begun = time.process_time()
    answer = work()
    return time.process_time() - begun, answer


if __name__ == "__main__":
    raise SystemExit(main())
