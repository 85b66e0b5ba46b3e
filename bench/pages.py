"""How long do the pages take on a cluster with 100,000 ACLs and 50,000 topics?

Loads the cluster through the same `sync` as any other into a throw-away SQLite file,
then asks pages through the whole of Django (no network) as a signed-in person, and prints
the median and the 95th percentile of each. The first request of a process builds the
index and is told apart.

    python -m bench.pages [--acls 100000] [--topics 50000] [--requests 60] [--write]
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--acls", type=int, default=100_000)
    parser.add_argument("--topics", type=int, default=50_000)
    parser.add_argument("--requests", type=int, default=60, help="requests for each page")
    parser.add_argument("--write", action="store_true", help="also write bench/results/pages.md")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        lines = _measure(Path(directory), asked)
    print("\n".join(lines))
    if asked.write:
        report = Path(__file__).parent / "results" / "pages.md"
        report.parent.mkdir(exist_ok=True)
        report.write_text("# Pages\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


def _measure(directory: Path, asked: argparse.Namespace) -> list[str]:
    _set_up_django(directory)
    from django.core.management import call_command
    from django.test import Client

    from aclweb.accounts.models import User
    from aclweb.clusters import SourceKind
    from aclweb.inventory import current
    from aclweb.inventory.models import Cluster
    from aclweb.inventory.sync import sync
    from bench import worlds
    from tests.fake_cluster import FakeCluster

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    topics = worlds.topic_names(asked.topics)
    cluster = Cluster.objects.create(
        slug="big",
        name="big",
        kind=SourceKind.ADMIN,
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
    return lines


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


def _set_up_django(directory: Path) -> None:
    from cryptography.fernet import Fernet

    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "aclweb.settings",
        "ACLWEB_DATA_DIR": str(directory),
        "ACLWEB_SECRET_KEY": "a key for one measurement, thrown away with it, long enough",
        "ACLWEB_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "ACLWEB_ALLOWED_HOSTS": "testserver",
        "ACLWEB_LOG_LEVEL": "error",
    }
    os.environ.pop("DATABASE_URL", None)
    import django

    django.setup()


if __name__ == "__main__":
    main()
