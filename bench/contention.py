"""Do sign-ins and workers go on while the largest allowed change is submitted and approved, on SQLite?

Starts the site as `./run` does (gunicorn, one process of eight threads) on one SQLite file. One client
requests and approves the change that costs most of those that are allowed, another one each time, so that
nothing is remembered; one signs people in; one process carries approved changes out on a cluster in a
directory. Tells how long each took beside the load of the machine, and, whatever that is, for how much CPU
time and for how many statements a step of that change holds SQLite's lock. Ends with 1 if anything failed,
or the 95th percentile of the sign-ins is above one second.

    python -m bench.contention [--sign-ins 200] [--rollouts 5] [--quiet]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import site
from bench.site import PASSWORD
from tests.acl.shapes import Shape

MOST_SECONDS = 1.0
# The edit that costs most CPU time as a change of those that are allowed, by `bench.doors`.
WORST = "5000 x ALL on *, own principals and hosts"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sign-ins", type=int, default=200)
    parser.add_argument("--rollouts", type=int, default=5)
    parser.add_argument("--quiet", action="store_true", help="without the large change, to compare with")
    parser.add_argument("--tables", type=Path, help="an SQLite file with the tables, to save making them")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        told = measure(
            Path(directory), asked.sign_ins, asked.rollouts, quiet=asked.quiet, tables=asked.tables
        )
    print(json.dumps(told, indent=2))
    return 0 if told["sign-in"]["p95"] <= MOST_SECONDS and not told["failed"] else 1


def measure(
    directory: Path, sign_ins: int, rollouts: int, *, quiet: bool = False, tables: Path | None = None
) -> dict[str, Any]:
    """Return the seconds of each, and what failed."""
    site.set_up_django(directory)
    os.environ["ACLWEB_ALLOWED_HOSTS"] = "127.0.0.1"
    from django.db import connections

    site.make_tables(directory, tables)
    ready = _set_up(directory, rollouts)
    told: dict[str, Any] = {"hash of a password, CPU s": _hash_seconds()}
    connections.close_all()
    told["lock held"] = _answer(_fork(lambda: _locks(WORST)))
    done = directory / "done"
    with site.running(directory) as (port, process):
        before, queued = site.cpu_seconds(process), site.waited_seconds(process)
        signing = _fork(lambda: _sign_in(port, sign_ins))
        carrying = _fork(lambda: _carry_out(ready))
        thinking = None if quiet else _fork(lambda: _request_and_approve(port, WORST, done))
        signed, carried = _answer(signing), _answer(carrying)
        done.touch()
        rounds = _answer(thinking) if thinking else {}
        told["CPU s of the site"] = round(site.cpu_seconds(process) - before, 1)
        told["s that the site waited for a core"] = round(site.waited_seconds(process) - queued, 1)
    told |= {
        "load average": os.getloadavg()[0],
        "cores": os.cpu_count(),
        "sign-in": _quantiles(signed.get("seconds", [])),
        "page with the form": _quantiles(signed.get("pages", [])),
        "rollouts": [round(one, 2) for one in carried.get("seconds", [])],
        "requested and approved": rounds.get("rounds", 0),
        "request": _quantiles(rounds.get("requests", [])),
        "approval": _quantiles(rounds.get("approvals", [])),
        "failed": [
            found["failed"] for found in (signed, carried, rounds, told["lock held"]) if "failed" in found
        ],
    }
    return told


def _quantiles(seconds: list[float]) -> dict[str, float]:
    if len(seconds) < 2:
        return {"count": len(seconds), "p50": max(seconds, default=0), "p95": max(seconds, default=999)}
    return {
        "count": len(seconds),
        "p50": round(statistics.median(seconds), 3),
        "p95": round(statistics.quantiles(seconds, n=20)[-1], 3),
        "slowest": round(max(seconds), 3),
    }


# --- What is there before ---


def _set_up(directory: Path, rollouts: int) -> list[int]:
    """Make people, a cluster, and changes that wait for a worker."""
    from aclweb.accounts.models import Grant, Role, User
    from aclweb.acl.model import Delta
    from aclweb.changes import review, tasks
    from aclweb.inventory.current import connection_of
    from aclweb.inventory.models import Cluster
    from aclweb.inventory.sync import sync
    from bench import worlds
    from tests.acl.shapes import acl
    from tests.changes.file_cluster import FileClient, FileCluster

    tasks.apply_change.delay = lambda _pk: None  # type: ignore[method-assign]
    kafka = FileCluster(directory / "kafka")
    kafka.set_topics(*worlds.topic_names(150))
    kafka.edit(add=list(dict.fromkeys(worlds.bindings(255))))
    clusters = [
        Cluster.objects.create(
            slug=slug,
            name=slug,
            kind="admin",
            address=str(kafka.directory),
            super_users="User:admin",
            allow_everyone=False,
            changes_enabled=True,
        )
        # The rollouts move their cluster, so that the approvals of the large change go by another one.
        for slug in ("large", "small")
    ]
    ada, ben = (User.objects.create_user(name, password=PASSWORD) for name in ("ada", "ben"))
    for cluster in clusters:
        sync(cluster, client=FileClient(connection_of(cluster)))
        Grant.objects.create(user=ada, cluster=cluster, role=Role.REQUESTER)
        Grant.objects.create(user=ben, cluster=cluster, role=Role.APPROVER)
        cluster.refresh_from_db()
    ready = []
    for number in range(rollouts):
        small = Delta(add=(acl(f"own-{number}", f"User:small{number}"),))
        asked = review.request(cluster=clusters[1], author=ada, title=f"Small {number}", delta=small)
        ready.append(review.approve(change=asked, reviewer=ben).pk)
    return ready


def _hash_seconds() -> float:
    from django.contrib.auth.hashers import check_password, make_password

    hashed = make_password(PASSWORD)
    begun = time.process_time()
    for _ in range(5):
        check_password(PASSWORD, hashed)
    return round((time.process_time() - begun) / 5, 3)


def _shape(title: str) -> Shape:
    from tests.acl.shapes import shapes

    return next(shape for shape in shapes() if shape.title == title)


def _delta(title: str, number: int) -> Any:
    """Return the edit of this title with one more ACL, by which it differs from those of other numbers."""
    from aclweb.acl.model import Delta
    from bench import worlds
    from tests.acl.shapes import World, acl

    world = World.of(worlds.bindings(255), worlds.topic_names(150))
    delta = _shape(title).question(world).delta
    add = (*delta.add[: 4_999 - len(delta.remove)], acl(f"round-{number}", "User:round"))
    return Delta(add=add, remove=delta.remove)


# --- For how long the lock is held ---


def _locks(title: str) -> dict[str, Any]:
    """Return what the longest transaction of a request and of an approval holds SQLite's lock for."""
    from django.db import connection

    from aclweb.accounts.models import User
    from aclweb.changes import kept, review, tasks
    from aclweb.inventory.models import Cluster

    tasks.apply_change.delay = lambda _pk: None  # type: ignore[method-assign]
    ada, ben = User.objects.get(username="ada"), User.objects.get(username="ben")
    cluster = Cluster.objects.get(slug="large")
    delta = _delta(title, 1_000_000)
    held: dict[str, Any] = {}
    with _watched(connection) as request:
        begun = time.process_time()
        change = review.request(cluster=cluster, author=ada, title="Held", delta=delta)
        held["all of the request, CPU s"] = round(time.process_time() - begun, 2)
    kept.forget()
    with _watched(connection) as approval:
        review.approve(change=change, reviewer=ben)
    for step, transactions in (("request", request), ("approval", approval)):
        longest = max(transactions, key=lambda each: each["CPU s"])
        held[step] = {name: round(value, 3) for name, value in longest.items()}
    return held


@contextmanager
def _watched(connection: Any) -> Iterator[list[dict[str, float]]]:
    """Note for each write transaction the CPU time from its beginning to its end, and its statements."""
    transactions: list[dict[str, float]] = []
    begun: list[tuple[float, float]] = []
    statements = [0]

    def note(statement: str) -> None:
        statements[0] += 1
        if statement.startswith("BEGIN"):
            begun[:] = [(time.process_time(), time.perf_counter())]
            statements[0] = 0
        elif (
            statement.startswith(("COMMIT", "ROLLBACK")) and not statement.startswith("ROLLBACK TO") and begun
        ):
            cpu, wall = begun.pop()
            transactions.append(
                {
                    "CPU s": time.process_time() - cpu,
                    "seconds": time.perf_counter() - wall,
                    "statements": statements[0],
                }
            )

    connection.ensure_connection()
    connection.connection.set_trace_callback(note)
    try:
        yield transactions
    finally:
        connection.connection.set_trace_callback(None)


# --- Those who use the site ---


def _sign_in(port: int, count: int) -> dict[str, Any]:
    """Sign ben in, with a new session each time."""
    pages, seconds = [], []
    for _ in range(count):
        browser = site.Browser(port)
        begun = time.perf_counter()
        browser.ask("GET", "/sign-in/")
        shown = time.perf_counter()
        browser.sign_in("ben")
        pages.append(shown - begun)
        seconds.append(time.perf_counter() - shown)
    return {"seconds": seconds, "pages": pages}


def _request_and_approve(port: int, title: str, done: Path) -> dict[str, Any]:
    """Request and approve until the others are through, each time an edit that nobody asked for before."""
    from aclweb.web.drafts.draft import Line

    people = {}
    for name in ("ada", "ben"):
        people[name] = site.Browser(port)
        people[name].ask("GET", "/sign-in/")
        people[name].sign_in(name)
    requests, approvals = [], []
    while not done.exists() or not approvals:
        delta = _delta(title, len(requests))
        lines = [Line("add", each) for each in delta.add] + [Line("remove", each) for each in delta.remove]
        paste = "\n".join(line.as_text() for line in lines)
        people["ada"].ask("GET", "/c/large/what-if/")
        begun = time.perf_counter()
        answer = people["ada"].ask(
            "POST", "/c/large/what-if/change/", {"paste": paste, "title": "The largest"}
        )
        requests.append(time.perf_counter() - begun)
        if answer.status != 302:
            raise AssertionError(f"A request answered {answer.status}.")
        address = str(answer.headers["Location"])
        people["ben"].ask("GET", address)
        action = re.search(r'class="decision-bar" method="post" action="([^"]+)"', people["ben"].text)
        if action is None:
            raise AssertionError("The change cannot be approved.")
        form = {"step": "approve", "plan_hash": people["ben"].field("plan_hash")}
        begun = time.perf_counter()
        answer = people["ben"].ask("POST", action[1], form)
        approvals.append(time.perf_counter() - begun)
        if answer.status != 302:
            raise AssertionError(f"An approval answered {answer.status}.")
    return {"rounds": len(approvals), "requests": requests, "approvals": approvals}


def _carry_out(ready: list[int]) -> dict[str, Any]:
    """Carry the approved changes out, as a worker does."""
    from aclweb.changes.rollout import run as rollout
    from tests.changes.file_cluster import FileClient

    rollout.connect = FileClient  # type: ignore[assignment]
    seconds = []
    for pk in ready:
        begun = time.perf_counter()
        state = rollout.apply(pk)
        seconds.append(time.perf_counter() - begun)
        if state != "APPLIED":
            raise AssertionError(f"CR-{pk} ended as {state}.")
    return {"seconds": seconds}


def _fork(work: Callable[[], dict[str, Any]]) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    try:
        told = work()
    except BaseException as error:
        told = {"failed": f"{type(error).__name__}: {error}"}
    with os.fdopen(writing, "w") as out:
        json.dump(told, out)
    os._exit(0)


def _answer(forked: tuple[int, int]) -> dict[str, Any]:
    child, reading = forked
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    told: dict[str, Any] = json.loads(text) if text else {"failed": "a process died"}
    return told


if __name__ == "__main__":
    sys.exit(main())
