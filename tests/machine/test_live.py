"""An edit made elsewhere in ZooKeeper is stored without waiting for the clock, also after the watcher was killed."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from aclweb.clusters import Connection, Verb, connect
from aclweb.clusters.zookeeper import ZOOKEEPER
from aclweb.runtime import stale_process as leftover
from devstack.servers import lay_out
from tests.builders import allow

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.long, pytest.mark.zookeeper]


@pytest.fixture
def database(tables, tmp_path) -> Path:
    return Path(shutil.copy(tables, tmp_path / "site.sqlite3"))


@pytest.fixture
def environment(database) -> dict[str, str]:
    """An installation whose clock has nothing synced for an hour after the first time."""
    return os.environ | {
        "ACLWEB_DATA_DIR": str(database.parent),
        "DATABASE_URL": f"sqlite:///{database}",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "ACLWEB_TESTS_WORKER": os.environ.get("PYTEST_XDIST_WORKER", ""),
        "ACLWEB_SYNC_INTERVAL_SECONDS": "3600",
        "ACLWEB_LEASE_SECONDS": "10",
    }


def found(database: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database, timeout=60)) as connection:
        return connection.execute(sql).fetchall()


def wait_until(claim) -> float:
    """Return how many seconds it took."""
    began = time.monotonic()
    while not claim():
        assert time.monotonic() < began + 300, "it did not happen within five minutes"
        time.sleep(0.05)
    return time.monotonic() - began


def the_worker(process: subprocess.Popen[bytes]) -> int | None:
    return next(
        (pid for pid in leftover.descendants(process.pid) if "--queues syncs" in leftover.command_line(pid)),
        None,
    )


def test_an_edit_shows_at_once_and_so_it_does_after_the_watcher_was_killed(
    zookeeper_server, fresh, database, environment, record_property
):
    address = f"{zookeeper_server.address}/{fresh}"
    lay_out(address, cluster_id="zk-1", topics={"orders": 3})

    def edit(name: str) -> float:
        """Edit ACLs as somebody else does; return after how many seconds the edit is stored."""
        with connect(Connection(ZOOKEEPER, address, timeout_seconds=60)) as client:
            client.write(Verb.ADD, [allow("User:bob", "READ", name)])
        sql = f"SELECT 1 FROM inventory_storedacl WHERE resource_name = '{name}' AND removed_in_id IS NULL"
        return wait_until(lambda: found(database, sql))

    watched = "SELECT lease_owner FROM inventory_clusterwatch WHERE connected_at IS NOT NULL"
    subprocess.run(
        [sys.executable, "manage.py", "cluster", "add", "zk", "--kind", "zookeeper", "--address", address],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
    )
    process = subprocess.Popen(
        [sys.executable, "manage.py", "work", "syncs", "beat"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: found(database, watched))
        first = edit("one")
        owner, worker = found(database, watched), the_worker(process)
        assert worker is not None

        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: found(database, watched) not in ([], owner))
        second = edit("two")

        process.terminate()
        process.wait(300)
    finally:
        process.kill()
        process.wait()
    record_property("seconds", (first, second))
    print(f"Stored after {first:.2f} s, and after a kill {second:.2f} s.")
    assert process.returncode == 0
    # Whoever ends in peace gives back what it watched.
    assert found(database, "SELECT lease_owner, connected_at FROM inventory_clusterwatch") == [("", None)]
    assert found(database, "SELECT COUNT(*) FROM inventory_revision") == [(3,)]
