"""A worker as a process of its own, which a test can kill: `python -m tests.changes.worker ACTION ...`.

The database is DATABASE_URL and has its tables; the cluster is the directory ACLWEB_TEST_KAFKA or, if it is
set, the real ZooKeeper at ACLWEB_TEST_ZOOKEEPER. It dies at the point ACLWEB_TEST_CRASH. Tasks are run
at once where they are rung, so what the sweep would ring is what runs; only `setup` rings nobody.

    setup         make the cast, a cluster and one approved change; print its id
    apply ID      be a worker that was rung for the change
    expire        let every lease run out, as time would
    sweep         sweep until nothing waits, then print the end as JSON
    race ID N     N threads that were rung for the change at the same moment
    serve         start such workers on request: each is a fork of its own, without the cost of importing Django
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.db.models.functions import Now  # noqa: E402

from aclweb import clusters  # noqa: E402
from aclweb.accounts.models import Grant, Role, User  # noqa: E402
from aclweb.acl.model.delta import Delta  # noqa: E402
from aclweb.audit import trail  # noqa: E402
from aclweb.audit.models import Event  # noqa: E402
from aclweb.changes import review, tasks  # noqa: E402
from aclweb.changes.models import UNDER_WAY, Change  # noqa: E402
from aclweb.changes.rollout import hold  # noqa: E402
from aclweb.changes.rollout import run as rollout  # noqa: E402
from aclweb.clusters import ClusterClient, Connection  # noqa: E402
from aclweb.clusters.zookeeper import ZOOKEEPER  # noqa: E402
from aclweb.inventory.current.view import connection_of  # noqa: E402
from aclweb.inventory.models import Cluster  # noqa: E402
from aclweb.inventory.sync.run import sync  # noqa: E402
from tests.builders import allow, deny  # noqa: E402
from tests.changes.dying import crash_at  # noqa: E402
from tests.changes.file_cluster import FileClient, FileCluster  # noqa: E402

BEFORE = (
    allow("User:bob", "READ", "orders"),
    deny("User:eve", "READ", "orders"),
    allow("User:zed", "READ", "notes"),
)
ADDED = (deny("User:bob", "WRITE", "orders"), allow("User:bob", "DELETE", "orders"))
REMOVED = BEFORE[:2]


def connect(connection: Connection) -> ClusterClient:
    zookeeper = os.environ.get("ACLWEB_TEST_ZOOKEEPER")
    if zookeeper:
        return clusters.connect(Connection(ZOOKEEPER, zookeeper))
    return FileClient(replace(connection, address=os.environ["ACLWEB_TEST_KAFKA"]))


def setup() -> None:
    kafka = FileCluster(Path(os.environ["ACLWEB_TEST_KAFKA"]))
    kafka.set_topics("orders", "notes")
    kafka.edit(add=BEFORE)
    cluster = Cluster.objects.create(
        slug="test-eu",
        name="test-eu",
        kind="admin",
        address="a directory",
        super_users="",
        allow_everyone=False,
        changes_enabled=True,
    )
    people = {}
    for name, role in (("ada", Role.REQUESTER), ("ben", Role.APPROVER)):
        people[name] = User.objects.create_user(name)
        Grant.objects.create(user=people[name], cluster=cluster, role=role)
    sync(cluster, client=connect(connection_of(cluster)))
    change = review.draft(
        cluster=cluster, author=people["ada"], title="All four phases", delta=Delta(add=ADDED, remove=REMOVED)
    )
    review.submit(change=change, actor=people["ada"])
    review.approve(change=change, reviewer=people["ben"])
    print(change.pk)


def apply(change_id: str) -> None:
    tasks.apply_change(int(change_id))


def expire() -> None:
    Change.objects.update(lease_until=Now(), not_before=None)


def sweep() -> None:
    deadline = time.monotonic() + 300
    while Change.objects.filter(state__in=("QUEUED", *UNDER_WAY)).exists() and time.monotonic() < deadline:
        tasks.sweep()
        time.sleep(0.05)
    report()


def race(change_id: str, threads: str) -> None:
    start = threading.Barrier(int(threads))

    def run() -> None:
        start.wait()
        try:
            tasks.apply_change(int(change_id))
        finally:
            connection.close()

    runners = [threading.Thread(target=run) for _ in range(int(threads))]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    report()


def report() -> None:
    change = Change.objects.latest("pk")
    print(
        json.dumps(
            {
                "state": change.state,
                "sentence": change.sentence,
                "attempts": change.attempts,
                "items": [item.state for item in change.items.all()],
                "chain": trail.verify().sentence,
                "whole": trail.verify().ok,
                "outcomes": [
                    item["position"]
                    for event in Event.objects.filter(
                        verb__in=("change.wrote", "change.checked", "change.settled")
                    )
                    for item in event.facts["items"]
                    if item["state"] == "APPLIED"
                ],
            }
        )
    )


def serve() -> None:
    """Read one request a line, fork a worker for it, and answer with its exit status when it has ended."""
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            work(asked)
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


def work(asked: dict[str, Any]) -> NoReturn:
    """Be the worker that was asked for, with its environment, and end."""
    os.environ.update(asked["environment"])
    connection.settings_dict["NAME"] = os.environ["DATABASE_URL"].removeprefix("sqlite:///")
    settings.ACLWEB_LEASE_SECONDS = int(os.environ.get("ACLWEB_LEASE_SECONDS", "120"))
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    status = 0
    try:
        main(*asked["arguments"])
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main(action: str, *arguments: str) -> None:
    rollout.connect = connect  # type: ignore[attr-defined]
    hold.BARRIER_SECONDS = 0
    crash_at(os.environ.get("ACLWEB_TEST_CRASH", ""))
    tasks.apply_change.delay = (lambda _: None) if action == "setup" else tasks.apply_change
    actions: dict[str, Callable[..., None]] = {
        "setup": setup,
        "apply": apply,
        "expire": expire,
        "sweep": sweep,
        "race": race,
        "serve": serve,
    }
    actions[action](*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
