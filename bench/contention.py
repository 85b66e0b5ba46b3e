"""Do sign-ins and workers go on while the largest allowed change is submitted and approved, on SQLite?

One process submits and approves the change again and again, one signs people in through the whole
of Django, one carries approved changes out on a cluster in a directory, all on one SQLite file.
Prints how long each took; ends with 1 if one failed or the 95th percentile of the sign-ins is
above one second.

    python -m bench.contention [--sign-ins 200] [--rollouts 5]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST_SECONDS = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sign-ins", type=int, default=200)
    parser.add_argument("--rollouts", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        told = measure(Path(directory), asked.sign_ins, asked.rollouts)
    print(json.dumps(told, indent=2))
    return 0 if told["p95"] <= MOST_SECONDS and not told["failed"] else 1


def measure(directory: Path, sign_ins: int, rollouts: int) -> dict[str, Any]:
    """Return the seconds of each, and what failed."""
    from bench.pages import _set_up_django

    _set_up_django(directory)
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", verbosity=0)
    change, ready = _set_up(directory, rollouts)
    connections.close_all()
    done = directory / "done"
    thinking = _fork(lambda: _submit_and_approve(change, done))
    others = [_fork(lambda: _sign_in(sign_ins)), _fork(lambda: _carry_out(ready))]
    signed, carried = (_answer(other) for other in others)
    done.touch()
    rounds = _answer(thinking)
    seconds = signed.get("seconds", [])
    p95 = statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else float("inf")
    return {
        "sign-ins": len(seconds),
        "median": round(statistics.median(seconds), 3) if seconds else None,
        "p95": round(p95, 3),
        "slowest": round(max(seconds, default=0), 3),
        "rollouts": [round(one, 2) for one in carried.get("seconds", [])],
        "submitted and approved": rounds.get("rounds", 0),
        "answers of the change": rounds.get("differ", 0),
        "failed": [found["failed"] for found in (signed, carried, rounds) if "failed" in found],
    }


def _set_up(directory: Path, rollouts: int) -> tuple[int, list[int]]:
    """Make people, a cluster, the largest change that is allowed, and changes that wait for a worker."""
    from aclweb.accounts.models import Grant, Role, User
    from aclweb.acl.delta import Delta
    from aclweb.changes import review, tasks
    from aclweb.clusters import SourceKind
    from aclweb.inventory.current import connection_of
    from aclweb.inventory.models import Cluster
    from aclweb.inventory.sync import sync
    from bench import worlds
    from bench.effects import acl, host_of
    from tests.changes.file_cluster import FileClient, FileCluster

    tasks.apply_change.delay = lambda pk: None  # type: ignore[method-assign]
    kafka = FileCluster(directory / "kafka")
    kafka.set_topics(*worlds.topic_names(150))
    kafka.edit(add=list(dict.fromkeys(worlds.bindings(255))))
    cluster = Cluster.objects.create(
        slug="big",
        name="big",
        kind=SourceKind.ADMIN,
        address=str(kafka.directory),
        super_users="User:admin",
        allow_everyone=False,
        changes_enabled=True,
    )
    sync(cluster, client=FileClient(connection_of(cluster)))
    ada, ben = (User.objects.create_user(name, password="a long pass phrase") for name in ("ada", "ben"))
    Grant.objects.create(user=ada, cluster=cluster, role=Role.REQUESTER)
    Grant.objects.create(user=ben, cluster=cluster, role=Role.APPROVER)
    cluster.refresh_from_db()
    ready = []
    for number in range(rollouts):
        small = Delta(add=(acl(f"own-{number}", f"User:small{number}"),))
        asked = review.request(cluster=cluster, author=ada, title=f"Small {number}", delta=small)
        ready.append(review.approve(change=asked, reviewer=ben).pk)
    worst = Delta(add=tuple(acl(f"lit-{n}", f"User:q{n}", "ALL", host=host_of(n)) for n in range(5_000)))
    large = review.draft(cluster=cluster, author=ada, title="The largest that is allowed", delta=worst)
    return large.pk, ready


def _submit_and_approve(pk: int, done: Path) -> dict[str, Any]:
    """Submit and approve until the others are through; each time as if this process had just started."""
    from aclweb.accounts.models import User
    from aclweb.changes import preview, review, tasks
    from aclweb.changes.models import Change

    tasks.apply_change.delay = lambda pk: None  # type: ignore[method-assign]
    ada, ben = User.objects.get(username="ada"), User.objects.get(username="ben")
    rounds, differ = 0, 0
    while not done.exists() or not rounds:
        preview.forget()
        change = review.submit(change=Change.objects.get(pk=pk), actor=ada)
        preview.forget()
        change = review.approve(change=change, reviewer=ben)
        impact = change.impact
        differ = sum(impact.counts.values()) if impact is not None else 0
        Change.objects.filter(pk=pk).update(state=Change.State.DRAFT)
        rounds += 1
    return {"rounds": rounds, "differ": differ}


def _sign_in(count: int) -> dict[str, Any]:
    """Sign ben in, with a new session each time."""
    from django.test import Client

    seconds = []
    for _ in range(count):
        browser = Client()
        begun = time.perf_counter()
        answer = browser.post("/sign-in/", {"username": "ben", "password": "a long pass phrase"})
        seconds.append(time.perf_counter() - begun)
        if answer.status_code != 302:
            raise AssertionError(f"A sign-in answered {answer.status_code}.")
    return {"seconds": seconds}


def _carry_out(ready: list[int]) -> dict[str, Any]:
    """Carry the approved changes out, as a worker does."""
    from aclweb.changes import rollout
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
