"""How long do the pages take on a cluster with 100,000 ACLs and 50,000 topics?

Loads the cluster through the same `sync` as any other into a throw-away SQLite file,
then asks pages through the whole of Django (no network) as a signed-in person, and prints
the median and the 95th percentile of each. The first request of a process builds the
index and is told apart.

The heavy states (a what-if of 2,000 ACLs, the pages of a large change, a comparison, a list of 500
changes) are asked once anew and then page by page, with what each asks of the database and how
many effects it works out: budgets of work, which do not depend on the machine. Ends with 1 where
one is exceeded.

    python -m bench.pages [--acls 100000] [--topics 50000] [--requests 60] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench import site


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--acls", type=int, default=100_000)
    parser.add_argument("--topics", type=int, default=50_000)
    parser.add_argument("--requests", type=int, default=60, help="requests for each page")
    parser.add_argument("--write", action="store_true", help="also write bench/results/pages.md")
    parser.add_argument("--changes", type=int, default=500, help="changes in the list")
    parser.add_argument("--tables", type=Path, help="an SQLite file with the tables, to save making them")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        lines, beyond = _measure(Path(directory), asked)
    print("\n".join(lines))
    if asked.write:
        report = Path(__file__).parent / "results" / "pages.md"
        report.parent.mkdir(exist_ok=True)
        report.write_text("# Pages\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return 1 if beyond else 0


def _measure(directory: Path, asked: argparse.Namespace) -> tuple[list[str], list[str]]:
    site.set_up_django(directory)
    from django.test import Client

    from aclweb.accounts.models import User
    from aclweb.inventory.current import view as current
    from aclweb.inventory.models import Cluster
    from aclweb.inventory.sync import sync
    from bench import worlds
    from tests.fake_cluster import FakeCluster

    site.make_tables(directory, asked.tables)
    topics = worlds.topic_names(asked.topics)
    cluster = Cluster.objects.create(
        slug="big",
        name="big",
        kind="admin",
        address="127.0.0.1:1",
        super_users="User:admin",
        allow_everyone=False,
    )
    begun = time.perf_counter()
    with FakeCluster(bindings=worlds.bindings(asked.acls), topics=topics) as fake:
        made = time.perf_counter()
        sync(cluster, client=fake)
    stored = time.perf_counter()
    person = User.objects.create_superuser("bench", password="not used")
    browser = Client()
    browser.force_login(person, backend="django.contrib.auth.backends.ModelBackend")

    current.forget()
    first = _seconds(browser, f"/c/big/topics/{quote(topics[0])}")
    lines = [
        f"{asked.acls:,} ACLs, {asked.topics:,} topics; {platform.python_implementation()} "
        f"{platform.python_version()}, {os.cpu_count()} cores, SQLite.",
        "",
        f"- made the cluster in {made - begun:.1f} s; read and stored it in {stored - made:.1f} s",
        f"- first page of a process, index included: {first * 1000:,.0f} ms",
        "",
        "| page | median ms | p95 ms | slowest ms | KiB |",
        "| --- | --- | --- | --- | --- |",
    ]
    chance = random.Random(7)
    for title, address in _pages(topics, chance).items():
        times, size = _times(browser, address, asked.requests)
        p95 = statistics.quantiles(times, n=20)[-1]
        lines.append(
            f"| {title} | {statistics.median(times) * 1000:,.0f} | {p95 * 1000:,.0f} "
            f"| {max(times) * 1000:,.0f} | {size / 1024:,.0f} |"
        )
    heavy, beyond = _heavy_states(browser, cluster, person, topics, asked)
    return [*lines, "", *heavy], beyond


@dataclass(frozen=True)
class Heavy:
    """A state that once took seconds: how it is asked anew, and page by page.

    queries: the most for one page. effects: how many effects all of it works out together.
    rows: the most in one table.
    """

    title: str
    ask: Callable[[int], Any]
    pages: int
    queries: int
    effects: int
    rows: int = 50


def _heavy_states(
    browser: Any, cluster: Any, person: Any, topics: list[str], asked: argparse.Namespace
) -> tuple[list[str], list[str]]:
    """Return a table of the heavy states, and a sentence for each budget that is exceeded."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from aclweb.accounts.models import User
    from aclweb.acl.model import Delta
    from aclweb.changes import comparison, impact, kept, review
    from aclweb.inventory.models import Cluster
    from tests.acl.shapes import acl

    cluster = Cluster.objects.get(pk=cluster.pk)
    author = User.objects.create_superuser("author", password="not used")
    draft = [acl(topics[n * 13 % len(topics)], f"User:new{n % 40}") for n in range(2_000)]
    delta = Delta(add=tuple(dict.fromkeys(draft)))
    large = review.request(cluster=cluster, author=author, title="Large", delta=delta)
    for number in range(asked.changes - 1):
        small = Delta(add=(acl(topics[number % len(topics)], f"User:small{number}"),))
        review.draft(cluster=cluster, author=author if number % 2 else person, title="Small", delta=small)
    listed = [each["pk"] for each in type(large).objects.filter(state="DRAFT").values("pk")]
    type(large).objects.filter(pk__in=listed).update(
        state="IN_REVIEW",
        gains=2,
        loses=0,
        recovered=0,
        depends=0,
        unchanged=9,
        plan_hash="x",
        impact_hash="x",
    )
    lines = [json.dumps({"op": "add", **binding.as_dict()}) for binding in delta.add]
    number = large.pk
    states = (
        Heavy(
            f"what-if of {len(lines):,} ACLs",
            lambda page: browser.post("/c/big/what-if/", {"line": lines, "page": page}, follow=True),
            pages=6,
            queries=26,  # a draft is stored, and then shown by its address
            effects=1,
        ),
        Heavy(
            f"a change of {len(lines):,} ACLs",
            lambda page: browser.get(f"/changes/CR-{number}/", {"page": page}),
            pages=6,
            queries=20,
            effects=1,
        ),
        Heavy(
            "compare with a change",
            lambda page: browser.get(
                "/c/big/compare/", {"other": "big", "other_change": large.key, "page": page}
            ),
            pages=6,
            queries=20,
            effects=1,
        ),
        Heavy(
            f"list of {asked.changes:,} changes",
            lambda page: browser.get("/changes/", {"tab": "all", "page": page}),
            pages=6,
            queries=20,
            effects=0,
        ),
    )
    table = [
        "| heavy state | first s | p95 of its pages ms | queries | effects worked out | rows |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    beyond: list[str] = []
    worked: list[object] = []
    for module in (impact, comparison):
        simulate = module.simulate
        module.simulate = lambda *a, simulate=simulate, **k: worked.append(a) or simulate(*a, **k)  # type: ignore[attr-defined]
    for state in states:
        kept.forget()
        worked.clear()
        times, queries, rows = [], 0, 0
        for page in range(1, state.pages + 1):
            with CaptureQueriesContext(connection) as found:
                begun = time.perf_counter()
                answer = state.ask(page)
                times.append(time.perf_counter() - begun)
            if answer.status_code != 200:
                raise SystemExit(
                    f"{state.title} answered {answer.status_code}, so there is nothing to measure."
                )
            if any("packed_impact" in query["sql"] for query in found) and "list" in state.title:
                beyond.append(f"{state.title}: the list reads a stored effect.")
            queries = max(queries, len(found))
            rows = max(rows, answer.content.count(b'<tr data-effect="') or answer.content.count(b"<tr>") - 1)
        p95 = statistics.quantiles(times[1:], n=20)[-1]
        table.append(
            f"| {state.title} | {times[0]:.2f} | {p95 * 1000:,.0f} | {queries} | {len(worked)} | {rows} |"
        )
        for what, is_now, most in (
            ("queries", queries, state.queries),
            ("effects", len(worked), state.effects),
            ("rows", rows, state.rows),
        ):
            if is_now > most:
                beyond.append(f"{state.title}: {is_now} {what}, and at most {most} are due.")
    return [*table, "", *beyond], beyond


def _pages(topics: list[str], chance: random.Random) -> dict[str, Callable[[], str]]:
    def any_topic() -> str:
        return quote(chance.choice(topics))

    def any_principal() -> str:
        return f"User%3Asvc-{chance.randrange(1_000):04d}"

    return {
        "topic": lambda: f"/c/big/topics/{any_topic()}",
        "explain": lambda: (
            f"/c/big/explain/?principal={any_principal()}&operation=READ&type=TOPIC"
            f"&name={any_topic()}&host=10.0.0.7"
        ),
        "ACL list": lambda: f"/c/big/acls/?page={chance.randrange(1, 100)}",
        "ACL list, affects a topic": lambda: (
            f"/c/big/acls/?match=affects&resource_type=TOPIC&name={any_topic()}"
        ),
        "principal": lambda: f"/c/big/principal/?name={any_principal()}",
        "topics": lambda: f"/c/big/topics/?page={chance.randrange(1, 100)}",
        "home": lambda: "/",
    }


def _times(browser, address: Callable[[], str], count: int) -> tuple[list[float], int]:
    asked = [address() for _ in range(count + 3)]
    times = [_seconds(browser, url) for url in asked][3:]
    return times, len(browser.get(asked[-1]).content)


def _seconds(browser, url: str) -> float:
    begun = time.perf_counter()
    answer = browser.get(url)
    took = time.perf_counter() - begun
    if answer.status_code != 200:
        raise SystemExit(f"{url} answered {answer.status_code}, so there is nothing to measure.")
    return took


if __name__ == "__main__":
    raise SystemExit(main())
