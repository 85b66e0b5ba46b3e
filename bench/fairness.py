"""Is each living cluster synced in time beside dead and large ones, and what does that cost?

One real ZooKeeper holds the living clusters, each below a chroot of its own; the others are dead, each in
another way (`bench.dead`). `manage.py work` runs the real beat and workers on one SQLite file and the file
queue, with two syncs at once, and two tries of clusters that did not answer. Meanwhile ACLs are added: once an
interval to one of the large clusters and to one of the small ones. A trigger of the database notes when each
sync begins and ends, and the memory of each process is read every second. Then the site is started on the same
database, and one person opens each large cluster, which nobody had opened before.

Prints for each cluster the longest time between two begins in intervals, and the load of the machine. Ends with 1 if
a living cluster waited for more than two intervals, was not read whole, or a worker failed.

    python -m bench.fairness [--clusters 30] [--dead 10] [--large 5] [--acls 100000]
                             [--interval 60] [--intervals 8] [--slots 2]
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from aclweb.clusters import kind_named
from aclweb.runtime import stale_process as leftover
from bench import dead, site
from bench.dead import Dead
from bench.living import add_one, fill
from devstack.servers import ZooKeeperServer

MOST_INTERVALS = 2.0
ACLS_OF_A_SMALL_ONE = 40
_FAILED = re.compile(
    r"database is locked|Traceback \(most recent call last\)|gave no heartbeat|ended (?:by|with)"
)


@dataclass(frozen=True)
class Asked:
    """What is measured: so many clusters, of which some are dead and some large; interval in seconds."""

    clusters: int
    dead: int
    large: int
    acls: int
    interval: int
    intervals: int
    slots: int

    @property
    def small(self) -> int:
        return self.clusters - self.dead - self.large


@dataclass(frozen=True)
class Row:
    """What became of one cluster. begins and ends of its syncs: seconds since the workers were started."""

    name: str
    what: str
    begins: tuple[float, ...]
    ends: tuple[float, ...]
    state: str
    failures: int

    def longest_wait(self, until: float) -> float:
        """Return the longest time from one begin to the next, or to `until` after the last, in seconds."""
        times = (*(self.begins or (0.0,)), until)
        return max(after - before for before, after in itertools.pairwise(times))

    def durations(self) -> list[float]:
        """Return how long each sync that has ended took, in seconds."""
        return [
            end - begin
            for begin, following in itertools.pairwise((*self.begins, float("inf")))
            for end in self.ends
            if begin <= end < following
        ]


@dataclass
class Process:
    """What one process took so far: the most memory in MB, CPU seconds, and seconds that it had no core."""

    megabytes: float = 0.0
    cpu_seconds: float = 0.0
    waited_seconds: float = 0.0


@dataclass
class Told:
    """What a run gave. first_pages: (cluster, page, seconds, CPU seconds, MB of the site after it)."""

    rows: list[Row] = field(default_factory=list)
    until: float = 0.0
    processes: dict[str, dict[int, Process]] = field(default_factory=dict)
    loads: list[float] = field(default_factory=list)
    first_pages: list[tuple[str, str, float, float, float]] = field(default_factory=list)
    site_megabytes: tuple[float, float] = (0.0, 0.0)
    failed: list[str] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        told = measure(Path(directory), asked)
    print("\n".join(report(asked, told)))
    return 1 if verdicts(asked, told) else 0


def parse(arguments: Sequence[str] | None = None) -> Asked:
    """Return what is asked for; ends with 2 and a sentence where it cannot be measured."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.fairness",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, default, help_ in (
        ("clusters", 30, "all of them"),
        ("dead", 10, "of those, dead ones"),
        ("large", 5, "of those, large ones; the others are small"),
        ("acls", 100_000, "ACLs of each large one"),
        ("interval", 60, "ACLWEB_SYNC_INTERVAL_SECONDS"),
        ("intervals", 8, "how many of them to measure"),
        ("slots", 2, "ACLWEB_SYNCS_AT_ONCE"),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{help_} ({default})")
    asked = Asked(**vars(parser.parse_args(arguments)))
    if asked.small < 0 or asked.dead < 0 or asked.large < 0 or asked.dead == asked.clusters:
        parser.error(
            f"{asked.clusters} clusters cannot be {asked.dead} dead and {asked.large} large ones; "
            "at least one must live."
        )
    if min(asked.acls, asked.interval, asked.slots) < 1 or asked.intervals < 3:
        parser.error("--acls, --interval and --slots must be at least 1, and --intervals at least 3.")
    return asked


def verdicts(asked: Asked, told: Told) -> list[str]:
    """Return a sentence for whatever is not as it must be."""
    wrong = list(told.failed)
    for row in told.rows:
        waited = row.longest_wait(told.until) / asked.interval
        if row.what in ("large", "small"):
            if waited > MOST_INTERVALS:
                wrong.append(f"{row.name} waited for {waited:.2f} intervals.")
            if row.state != "ok":
                wrong.append(f"{row.name} lives, and its state is {row.state or 'not known'!r}.")
        elif row.state == "ok":
            wrong.append(f"{row.name} is dead ({row.what}), and its state is ok.")
    return wrong


def report(asked: Asked, told: Told) -> list[str]:
    """Return the lines to print."""
    lines = [
        f"{asked.clusters} clusters: {asked.dead} dead, {asked.large} of {asked.acls:,} ACLs, {asked.small} of "
        f"{ACLS_OF_A_SMALL_ONE}; interval {asked.interval} s, {asked.slots} syncs at once, "
        f"{told.until:.0f} s measured.",
        f"{os.cpu_count()} cores, load average while it ran {min(told.loads):.1f} to {max(told.loads):.1f}, "
        f"mean {statistics.mean(told.loads):.1f}.",
        "",
        "| cluster | what | begun | first after s | longest wait, intervals | a sync s: median | longest |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in told.rows:
        took = row.durations()
        first = f"{row.begins[0]:.0f}" if row.begins else "never"
        times = f"{statistics.median(took):.1f} | {max(took):.1f}" if took else "- | -"
        lines.append(
            f"| {row.name} | {row.what} | {len(row.begins)} | {first} "
            f"| {row.longest_wait(told.until) / asked.interval:.2f} | {times} |"
        )
    lines += [
        "",
        "| process | MB at most | CPU s | without a core s | replaced |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, those in told.processes.items():
        lines.append(
            f"| {name} | {max(each.megabytes for each in those.values()):,.0f} "
            f"| {sum(each.cpu_seconds for each in those.values()):,.0f} "
            f"| {sum(each.waited_seconds for each in those.values()):,.0f} | {len(those) - 1} |"
        )
    if told.first_pages:
        lines += [
            "",
            f"The site took {told.site_megabytes[0]:,.0f} MB before anybody opened a cluster and "
            f"{told.site_megabytes[1]:,.0f} MB after all large ones were opened.",
            "",
            "| cluster | page | s | CPU s | MB of the site after it |",
            "| --- | --- | --- | --- | --- |",
            *(
                f"| {name} | {page} | {seconds:.2f} | {cpu:.2f} | {size:,.0f} |"
                for name, page, seconds, cpu, size in told.first_pages
            ),
        ]
    wrong = verdicts(asked, told)
    longest = max(row.longest_wait(told.until) for row in told.rows if row.what in ("large", "small"))
    firsts = [row.begins[0] for row in told.rows if row.begins]
    lines += ["", *wrong]
    lines.append(f"Each cluster was begun for the first time within {max(firsts, default=0):.0f} s.")
    verdict = "met" if longest <= MOST_INTERVALS * asked.interval else "MISSED"
    lines.append(
        f"The longest wait of a living cluster: {longest / asked.interval:.2f} intervals "
        f"({longest:.0f} s); at most {MOST_INTERVALS:g} are due: {verdict}."
    )
    return lines


def measure(directory: Path, asked: Asked) -> Told:
    """Run everything, and return what it gave."""
    site.set_up_django(directory)
    os.environ |= {
        "ACLWEB_ALLOWED_HOSTS": "127.0.0.1",
        "ACLWEB_SYNC_INTERVAL_SECONDS": str(asked.interval),
        "ACLWEB_SYNCS_AT_ONCE": str(asked.slots),
        "ACLWEB_LOG_LEVEL": "info",
        "ACLWEB_SPARK_MASTER": "",
    }
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    told = Told()
    with ZooKeeperServer(
        directory / "zookeeper", java_options=("-Xmx768m", "-Dzookeeper.forceSync=no")
    ) as keeper:
        living = [f"large-{n}" for n in range(asked.large)] + [f"small-{n}" for n in range(asked.small)]
        for number, name in enumerate(living):
            acls = asked.acls if number < asked.large else ACLS_OF_A_SMALL_ONE
            fill(f"{keeper.address}/{name}", acls, seed=number)
            _say(f"{name} is in ZooKeeper.")
        with dead.of_all_kinds(asked.dead, directory, f"{keeper.address}/{living[0]}") as dead_ones:
            titles = _store_clusters(keeper.address, living, dead_ones)
            database = _watch_begins()
            connections.close_all()
            begun = _run(directory, asked, told, keeper.address, living)
            told.rows = _rows(database, titles, begun, told.until)
    _open_pages(directory, told, living[: asked.large])
    return told


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


# --- What is there before ---


def _store_clusters(keeper: str, living: Sequence[str], dead_ones: Sequence[Dead]) -> dict[str, str]:
    """Store all clusters, in any order; return for each which sort it is, or why it is dead."""
    from aclweb.accounts.models import User
    from aclweb.inventory.models import Cluster

    User.objects.create_superuser("ben", password=site.PASSWORD)
    ways = {name: Dead(name.partition("-")[0], "zookeeper", f"{keeper}/{name}") for name in living}
    ways |= {f"dead-{number}": way for number, way in enumerate(dead_ones)}
    names = list(ways)
    random.Random(11).shuffle(names)
    for name in names:
        way = ways[name]
        Cluster.objects.create(
            slug=name,
            name=name,
            kind=way.kind,
            address=way.address,
            options=way.options,
            authorizer=kind_named(way.kind).default_authorizer,
            super_users="User:admin",
            allow_everyone=False,
        )
    return {name: way.title for name, way in ways.items()}


def _watch_begins() -> Path:
    """Have the database note when each sync begins and ends, by its own clock; return its file."""
    from django.db import connection

    from aclweb.inventory.models import Cluster

    table, now = Cluster._meta.db_table, "(julianday('now') - 2440587.5) * 86400.0"
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_syncs (cluster_id integer, what text, at real)")
        cursor.execute(
            f"CREATE TRIGGER bench_begun AFTER UPDATE OF readings_begun ON {table} "
            "WHEN NEW.readings_begun > OLD.readings_begun "
            f"BEGIN INSERT INTO bench_syncs VALUES (NEW.id, 'begin', {now}); END"
        )
        cursor.execute(
            f"CREATE TRIGGER bench_ended AFTER UPDATE OF lease_owner ON {table} "
            "WHEN NEW.lease_owner = '' AND OLD.lease_owner <> '' "
            f"BEGIN INSERT INTO bench_syncs VALUES (NEW.id, 'end', {now}); END"
        )
    return Path(connection.settings_dict["NAME"])


# --- The workers ---


def _run(directory: Path, asked: Asked, told: Told, keeper: str, living: Sequence[str]) -> float:
    """Have the workers work for the time asked for; return when they were started."""
    log = directory / "work.log"
    with log.open("w") as out, site.working(out) as master:
        begun, added = time.time(), 0
        told.until = asked.interval * asked.intervals
        while (passed := time.time() - begun) < told.until:
            if master.poll() is not None:
                told.failed.append(f"The workers ended with {master.returncode}.")
                break
            if passed >= (added + 1) * asked.interval:
                _add_acls(keeper, living, asked.large, added)
                added += 1
                _say(f"{passed:.0f} s of {told.until} s.")
            _note_processes(master.pid, told)
            time.sleep(1.0)
    told.failed += [
        f"The workers wrote: {line[:300]}" for line in log.read_text().splitlines() if _FAILED.search(line)
    ]
    told.failed += [f"The {name} was replaced." for name, those in told.processes.items() if len(those) > 1]
    return begun


def _note_processes(master: int, told: Told) -> None:
    told.loads.append(os.getloadavg()[0])
    for pid in leftover.descendants(master):
        line = leftover.command_line(pid)
        queue = re.search(r" --queues (\w+)", line)
        name = f"worker for {queue[1]}" if queue else "beat" if " beat " in line else ""
        if name:
            with suppress(OSError):  # it has ended
                found = told.processes.setdefault(name, {}).setdefault(pid, Process())
                found.megabytes = max(found.megabytes, site.megabytes(pid))
                found.cpu_seconds = site.cpu_seconds(pid)
                found.waited_seconds = max(found.waited_seconds, site.waited_seconds(pid))


def _add_acls(keeper: str, living: Sequence[str], large: int, number: int) -> None:
    """Add an ACL to one of the large clusters and to one of the small ones."""
    for names in (living[:large], living[large:]):
        if names:
            add_one(f"{keeper}/{names[number % len(names)]}", f"added.{number}")


def _rows(database: Path, titles: dict[str, str], begun: float, until: float) -> list[Row]:
    """Return what became of each cluster: large ones, small ones, dead ones, in each the longest wait first."""
    with sqlite3.connect(database) as opened:
        clusters = opened.execute("SELECT id, slug, state, failures FROM inventory_cluster").fetchall()
        noted = opened.execute("SELECT cluster_id, what, at FROM bench_syncs ORDER BY at").fetchall()
    rows = []
    for pk, slug, state, failures in clusters:
        times = {
            kind: tuple(
                at - begun for of, what, at in noted if of == pk and what == kind and at - begun <= until
            )
            for kind in ("begin", "end")
        }
        rows.append(Row(slug, titles[slug], times["begin"], times["end"], state, failures))
    order = {"large": 0, "small": 1}
    return sorted(rows, key=lambda row: (order.get(row.what, 2), -row.longest_wait(until)))


# --- The site ---


def _open_pages(directory: Path, told: Told, slugs: Sequence[str]) -> None:
    """Have one person open each large cluster, the second page after the first."""
    from django.db import connections

    from aclweb.inventory.models import StoredName

    topics = {
        slug: StoredName.objects.filter(cluster__slug=slug, resource_type="TOPIC").first() for slug in slugs
    }
    connections.close_all()
    with site.running(directory) as (port, process):
        person = site.Browser(port)
        person.ask("GET", "/sign-in/")
        person.sign_in("ben")
        person.ask("GET", "/clusters/")
        before = site.megabytes(process)
        for slug, topic in topics.items():
            if topic is None:
                told.failed.append(f"{slug} has no topic, so its pages were not opened.")
                continue
            address = f"/c/{slug}/topics/{quote(topic.name)}"
            for page, path in (
                ("topic, first of all", address),
                ("topic again", address),
                ("ACL list", f"/c/{slug}/acls/"),
                ("cluster", f"/c/{slug}/"),
            ):
                cpu, begun = site.cpu_seconds(process), time.perf_counter()
                answer = person.ask("GET", path)
                seconds = time.perf_counter() - begun
                if answer.status != 200:
                    told.failed.append(f"{path} answered {answer.status}.")
                spent = site.cpu_seconds(process) - cpu
                told.first_pages.append((slug, page, seconds, spent, site.megabytes(process)))
        told.site_megabytes = (before, site.megabytes(process))


if __name__ == "__main__":
    sys.exit(main())
