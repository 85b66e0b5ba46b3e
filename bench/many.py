"""How much memory does one site take for many large clusters, and how many bytes does an unchanged ACL cost a revision?

One cluster is synced from a file of so many ACLs, and once more with one topic more: what the database grew by is
that revision's, in which no ACL changed. The rows of the others are copies. Then the site is started as `./run` does,
and one person opens each cluster, which nobody had opened before, once the site has prepared what the one before needs.

    python -m bench.many [--clusters 20] [--acls 100000] [--keep]

Ends with 1 where a figure is above its bound: the process of the site takes at most 700 MB, the first page of a
cluster at most 2 CPU seconds, and an ACL at most 150 bytes of a revision that did not change it. --keep stores the
figures among the results.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from bench import report, site
from bench.living import acls
from bench.report import Figure

MOST_MB, MOST_CPU_SECONDS, MOST_BYTES = 700.0, 2.0, 150.0
# Longer than the site waits between two looks for what to prepare.
_IDLE_SECONDS = 6.0


@dataclass(frozen=True)
class Opened:
    """What the site took once a cluster was opened. cpu_seconds: of its first page."""

    slug: str
    cpu_seconds: float
    wall_seconds: float
    megabytes: float


def main(arguments: Sequence[str] | None = None) -> int:
    asked = parse(arguments)
    began, began_at = time.monotonic(), time.time()
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        folder = Path(directory)
        site.set_up_django(folder)
        os.environ["ACLWEB_ALLOWED_HOSTS"] = "127.0.0.1"
        site.make_tables(folder)
        grown = _stored(folder, asked.acls)
        slugs = _copied(asked.clusters)
        before, opened = _opened(folder, slugs, began_at)
    figures = list(figures_of(asked.acls, grown, before, opened))
    for figure in figures:
        print(figure.line())
    print(f"Load average {', '.join(f'{one:.1f}' for one in os.getloadavg())} on {os.cpu_count()} cores.")
    if asked.keep:
        print(report.write(figures, quick=False, seconds=time.monotonic() - began, module="bench.many"))
    return 1 if any(figure.verdict == "MISSED" for figure in figures) else 0


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what is asked for; ends with 2 and a sentence where it cannot be measured."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.many", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--acls", type=int, default=100_000)
    parser.add_argument("--keep", action="store_true", help="store the figures among the results")
    asked = parser.parse_args(arguments)
    if asked.clusters < 1 or asked.acls < 1:
        parser.error("--clusters and --acls must be at least 1.")
    return asked


def figures_of(count: int, grown: int, before: float, opened: Sequence[Opened]) -> Iterator[Figure]:
    """Yield the figures. grown: bytes of a revision without a changed ACL; before: MB before the first was opened."""
    title = f"{len(opened)} clusters of {count:,} ACLs"
    most = max(each.megabytes for each in opened)
    yield Figure(
        "many", f"{title}, all opened: the site's process", most, "MB", MOST_MB, at_most=True,
        detail=f"{before:.0f} MB before the first, {opened[-1].megabytes:.0f} after the last.",
    )  # fmt: skip
    slowest = max(opened, key=lambda each: each.cpu_seconds)
    yield Figure(
        "many", f"{title}: the first page of one that nobody had opened", slowest.cpu_seconds, "CPU s",
        MOST_CPU_SECONDS, at_most=True, detail=f"{slowest.wall_seconds:.1f} s on the clock at that load.",
    )  # fmt: skip
    yield Figure(
        "many", "a revision that changed no ACL, for each ACL", grown / count, "bytes", MOST_BYTES, at_most=True,
        detail=f"{grown:,} bytes in all.",
    )  # fmt: skip


def _stored(folder: Path, count: int) -> int:
    """Sync the first cluster twice; return by how many bytes the second revision, of one more topic, grew the file."""
    from django.db import connection

    from aclweb.inventory.models import Cluster
    from aclweb.inventory.sync import sync

    file = folder / "large.jsonl"
    cluster = Cluster.objects.create(
        slug="large-1",
        name="large-1",
        kind="snapshot",
        address=str(file),
        super_users="",
        allow_everyone=False,
    )
    sizes = []
    for topics in (1_000, 1_001):
        _write(file, count, topics)
        if not sync(cluster).read:
            raise SystemExit(f"The file was not read: {cluster.state_sentence}")
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sizes.append((folder / "aclweb.sqlite3").stat().st_size)
    if cluster.revision is None or cluster.revision.number != 2:
        raise SystemExit("The second sync stored no revision.")
    return sizes[1] - sizes[0]


def _write(file: Path, count: int, topics: int) -> None:
    bindings = chain.from_iterable(acls(count, seed=1).values())
    header = {"cluster": "large", "topics": [{"name": f"topic-{n}", "partitions": 1} for n in range(topics)]}
    with file.open("w", encoding="utf-8") as text:
        text.write(json.dumps(header) + "\n")
        text.writelines(json.dumps(binding.as_dict()) + "\n" for binding in bindings)


def _copied(clusters: int) -> list[str]:
    """Store as many clusters in all, with the rows of the first, and somebody who may see them; return their names."""
    from django.db import connections, transaction

    from aclweb.accounts.models import User
    from aclweb.inventory.models import Cluster, Revision, StoredAcl

    User.objects.create_superuser("ben", password=site.PASSWORD)
    first = Cluster.objects.get(slug="large-1")
    columns = [field.column for field in StoredAcl._meta.concrete_fields if not field.primary_key]
    slugs = [first.slug]
    for number in range(2, clusters + 1):
        with transaction.atomic(), connections["default"].cursor() as cursor:
            copy = Cluster.objects.create(
                slug=f"large-{number}", name=f"large-{number}", kind="snapshot", address=first.address,
                super_users="", allow_everyone=False, state=first.state, read_at=first.read_at, tried_at=first.tried_at,
            )  # fmt: skip
            assert first.revision is not None
            revision = Revision.objects.create(
                cluster=copy, number=1, read_at=first.revision.read_at, acls=first.revision.acls,
                acls_added=first.revision.acls, acls_removed=0, digest=first.revision.digest,
            )  # fmt: skip
            own = {"cluster_id": str(copy.pk), "added_in_id": str(revision.pk)}
            chosen = ", ".join(own.get(column, f'"{column}"') for column in columns)
            named = ", ".join(f'"{column}"' for column in columns)
            table = StoredAcl._meta.db_table
            cursor.execute(
                f"INSERT INTO {table} ({named}) SELECT {chosen} FROM {table} WHERE cluster_id = %s",
                [first.pk],
            )
            Cluster.objects.filter(pk=copy.pk).update(revision=revision)
            slugs.append(copy.slug)
    connections.close_all()
    return slugs


def _opened(folder: Path, slugs: Sequence[str], began_at: float) -> tuple[float, list[Opened]]:
    """Have one person open the list of ACLs of each cluster; return the MB before, and what each took.

    began_at: when the tables were made, in seconds since 1970.
    """
    found = []
    with site.running(folder) as (port, process):
        person = site.Browser(port)
        person.ask("GET", "/sign-in/")
        person.sign_in("ben")
        person.ask("GET", "/clusters/")
        before = site.megabytes(process)
        for slug in slugs:
            _until_idle(process)  # what is prepared of the cluster before is none of this one's page
            cpu, begun = site.cpu_seconds(process), time.perf_counter()
            answer = person.ask("GET", f"/c/{slug}/acls/")
            if answer.status != 200:
                logged = (folder / "site.log").read_text(encoding="utf-8", errors="replace")
                raise SystemExit(
                    f"The ACLs of {slug} answered {answer.status}. {_edits(began_at)}{logged[-3000:]}"
                )
            wall, spent = time.perf_counter() - begun, site.cpu_seconds(process) - cpu
            for path in (f"/c/{slug}/principals/", f"/c/{slug}/"):
                person.ask("GET", path)
            found.append(Opened(slug, spent, wall, site.megabytes(process)))
    return before, found


def _edits(since: float) -> str:
    """Return as a sentence which files of the site were edited meanwhile; empty if none was."""
    edited = site.edited_since(since)
    if not edited:
        return ""
    return f"Files of the site were edited while it ran, such as {edited[0]}: run it where nobody edits. "


def _until_idle(process: int) -> None:
    """Wait until the process takes next to no CPU time, at most two minutes."""
    deadline = time.monotonic() + 120
    spent = site.cpu_seconds(process)
    while time.monotonic() < deadline:
        time.sleep(_IDLE_SECONDS)
        before, spent = spent, site.cpu_seconds(process)
        if spent - before < 0.1:
            return


if __name__ == "__main__":
    sys.exit(main())
