"""How soon does a page show an edit that somebody made elsewhere?

Puts a cluster of many ACLs into a real ZooKeeper and runs the beat, the workers and the site on it, as a deployment
does, with an interval so long that no sync by the clock falls into the run. Then somebody adds ACLs at a shell, one
after another, and one person asks the list of ACLs again and again until each is on it. A time is from before the
session that adds the ACL is opened until the answer that shows it has been read: it holds the watch, the queue, the
sync and the page.

Prints the median, the longest, and the load of the machine. Ends with 1 where one took longer than is due, or was
never shown.

    python -m bench.elsewhere [--acls 100000] [--edits 12]
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import site
from bench.living import add_one, fill
from devstack.servers import ZooKeeperServer

MOST_SECONDS = 5.0
"""So soon an edit made elsewhere is to be on the page."""

SLUG = "prod"
_INTERVAL_SECONDS = 3_600
_ASKED_EVERY_SECONDS = 0.1
# For the first sync and the watch; and for an edit that is never shown.
_READY_SECONDS, _SHOWN_SECONDS = 300.0, 60.0
# Between two edits, so that they fall on any moment of whatever happens at intervals.
_PAUSES_SECONDS = (0.0, 7.0)


@dataclass(frozen=True)
class Asked:
    """What is measured: so many edits, one after another, of a cluster of so many ACLs."""

    acls: int
    edits: int


@dataclass(frozen=True)
class Told:
    """What a run gave. seconds: until the page showed each edit, None for never. load: average over the last minute."""

    seconds: tuple[float | None, ...]
    load: float


def main(arguments: Sequence[str] | None = None) -> int:
    asked = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        told = measure(Path(directory), asked)
    print("\n".join(report(asked, told)))
    return 0 if is_met(told) else 1


def parse(arguments: Sequence[str] | None = None) -> Asked:
    """Return what is asked for; ends with 2 and a sentence where it cannot be measured."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.elsewhere",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--acls", type=int, default=100_000, help="ACLs of the cluster (100000)")
    parser.add_argument("--edits", type=int, default=12, help="ACLs that are added, one by one (12)")
    asked = Asked(**vars(parser.parse_args(arguments)))
    if min(asked.acls, asked.edits) < 1:
        parser.error("--acls and --edits must be at least 1.")
    return asked


def is_met(told: Told) -> bool:
    return all(seconds is not None and seconds <= MOST_SECONDS for seconds in told.seconds)


def report(asked: Asked, told: Told) -> list[str]:
    """Return the lines to print."""
    shown = [seconds for seconds in told.seconds if seconds is not None]
    lines = [
        f"{asked.acls:,} ACLs in ZooKeeper, {asked.edits} edits made elsewhere; {os.cpu_count()} cores, "
        f"load average {told.load:.1f}."
    ]
    if shown:
        lines.append(
            f"A page showed them after {statistics.median(shown):.1f} s (median), {max(shown):.1f} s (longest)."
        )
    if len(shown) < len(told.seconds):
        never = len(told.seconds) - len(shown)
        lines.append(f"{never} of them were on no page within {_SHOWN_SECONDS:g} s.")
    lines.append(f"At most {MOST_SECONDS:g} s are due: {'met' if is_met(told) else 'MISSED'}.")
    return lines


def measure(directory: Path, asked: Asked) -> Told:
    """Run everything, and return what it gave."""
    site.set_up_django(directory)
    os.environ |= {
        "ACLWEB_ALLOWED_HOSTS": "127.0.0.1",
        "ACLWEB_SYNC_INTERVAL_SECONDS": str(_INTERVAL_SECONDS),
        "ACLWEB_SPARK_MASTER": "",
    }
    site.make_tables(directory)
    with ZooKeeperServer(
        directory / "zookeeper", java_options=("-Xmx768m", "-Dzookeeper.forceSync=no")
    ) as keeper:
        address = f"{keeper.address}/{SLUG}"
        fill(address, asked.acls, seed=1)
        _store(address)
        with (
            (directory / "work.log").open("w") as out,
            site.working(out),
            site.running(directory) as (port, _),
        ):
            if not _within(_READY_SECONDS, _is_watched):
                raise SystemExit(
                    "The cluster was not read and watched in time; the workers wrote: "
                    f"{(directory / 'work.log').read_text()[-1000:]}"
                )
            person = site.Browser(port)
            person.ask("GET", "/sign-in/")
            person.sign_in("ben")
            seconds = tuple(_seconds_of(person, address, number) for number in range(asked.edits))
    return Told(seconds, os.getloadavg()[0])


def _store(address: str) -> None:
    """Store the cluster, and who looks at it."""
    from django.db import connections

    from aclweb.accounts.models import User
    from aclweb.inventory.models import Cluster

    User.objects.create_superuser("ben", password=site.PASSWORD)
    Cluster.objects.create(
        slug=SLUG,
        name=SLUG,
        kind="zookeeper",
        address=address,
        authorizer="acl",
        super_users="User:admin",
        allow_everyone=False,
    )
    connections.close_all()


def _is_watched() -> bool:
    """Return whether the cluster is read, and a worker has a session that tells of edits."""
    from aclweb.inventory.models import Cluster

    return Cluster.objects.filter(
        slug=SLUG, state="ok", revision__isnull=False, watch__connected_at__isnull=False
    ).exists()


def _seconds_of(person: site.Browser, address: str, number: int) -> float | None:
    """Add an ACL, and return after how many seconds a page shows it; None for never."""
    name = f"made-elsewhere.{number}"
    path = f"/c/{SLUG}/acls/?text={name}"
    person.ask("GET", path)
    if _shows(person, name):
        raise SystemExit(f"The page shows {name!r} before it was added.")
    time.sleep(random.uniform(*_PAUSES_SECONDS))
    begun = time.monotonic()
    add_one(address, name)

    def is_shown() -> bool:
        person.ask("GET", path)
        return _shows(person, name)

    found = _within(_SHOWN_SECONDS, is_shown)
    took = time.monotonic() - begun
    print(f"{name}: {f'{took:.1f} s' if found else 'never'}", file=sys.stderr, flush=True)
    return took if found else None


def _shows(person: site.Browser, name: str) -> bool:
    """Return whether the last answer has a row of the new ACL, whose principal no field of the page holds."""
    return name in person.text and "User:new" in person.text


def _within(seconds: float, is_so: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_so():
            return True
        time.sleep(_ASKED_EVERY_SECONDS)
    return False


if __name__ == "__main__":
    sys.exit(main())
