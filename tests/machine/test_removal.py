"""A real Celery worker is killed between two batches of a removal, and the next goes on until nothing is left."""

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
from typing import Any

import pytest

from aclweb.runtime import stale_process as leftover

ROOT = Path(__file__).resolve().parents[2]
ACLS = 120_000
MAKE_AND_REMOVE = """
from django.db import connection
from django.utils import timezone
from aclweb.inventory.admin import register, removing
from aclweb.inventory.models import Revision, StoredAcl
cluster = register.add(actor="root", slug="prod", kind="admin", address="127.0.0.1:1")
revision = Revision.objects.create(
    cluster=cluster, number=1, read_at=timezone.now(), acls={acls}, acls_added={acls}, acls_removed=0, digest=""
)
with connection.cursor() as cursor:
    cursor.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {acls}) "
        "INSERT INTO inventory_storedacl (cluster_id, added_in_id, key, resource_type, resource_name, pattern_type, "
        "principal, host, operation, permission_type) SELECT {{}}, {{}}, i, 'TOPIC', 't' || i, 'LITERAL', 'User:bob', "
        "'*', 'READ', 'ALLOW' FROM n".format(cluster.pk, revision.pk)
    )
removing.remove(actor="root", cluster=cluster, confirmed="prod")
"""


@pytest.mark.thorough(
    instead="tests/inventory/test_removed_clusters.py::test_a_worker_that_is_killed_between_batches_is_gone_on_after"
)
@pytest.mark.long
def test_a_removal_goes_on_after_its_worker_was_killed_between_two_batches(tables, tmp_path):
    database = Path(shutil.copy(tables, tmp_path / "site.sqlite3"))
    environment = os.environ | {
        "ACLWEB_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{database}",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "ACLWEB_TESTS_WORKER": os.environ.get("PYTEST_XDIST_WORKER", ""),
        "ACLWEB_LEASE_SECONDS": "5",
    }
    made = subprocess.run(
        [sys.executable, "manage.py", "shell", "--verbosity", "0", "-c", MAKE_AND_REMOVE.format(acls=ACLS)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    assert left(database) == (ACLS, 0, None)

    process = subprocess.Popen(
        [sys.executable, "manage.py", "work", "searches", "beat"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: left(database)[0] < ACLS)
        killed = the_worker(process)
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        rows, counted, ended = left(database)
        assert ended is None
        assert 0 < rows < ACLS, "It was killed in the midst of it."

        wait_until(lambda: left(database)[2] is not None)

        assert the_worker(process) not in (None, killed)
        rows, counted, ended = left(database)
        assert rows == 0
        assert 0 < counted <= ACLS + 10
        process.terminate()
        process.wait(300)
    finally:
        process.kill()
        process.wait()
    assert found(database, "SELECT COUNT(*) FROM audit_event WHERE verb = 'cluster.deleted'") == [(1,)]
    assert found(database, "SELECT COUNT(*) FROM inventory_revision") == [(0,)]


def left(database: Path) -> tuple[int, int, object]:
    """Return how many ACLs are left, how many rows are counted as deleted, and when that ended."""
    ((rows,),) = found(database, "SELECT COUNT(*) FROM inventory_storedacl")
    ((counted, ended),) = found(database, "SELECT rows_deleted, deleted_at FROM inventory_cluster")
    return rows, counted, ended


def found(database: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database, timeout=60)) as connection:
        return connection.execute(sql).fetchall()


def the_worker(process: subprocess.Popen[bytes]) -> int | None:
    return next(
        (
            pid
            for pid in leftover.descendants(process.pid)
            if "--queues searches" in leftover.command_line(pid)
        ),
        None,
    )


def wait_until(claim) -> None:
    began = time.monotonic()
    while not claim():
        assert time.monotonic() < began + 300, "it did not happen within five minutes"
        time.sleep(0.02)
