"""SQLite is opened by several processes at once, also right after a restore."""

from __future__ import annotations

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from aclweb.inventory.findings import Findings
from aclweb.inventory.models import LintRun, Revision
from aclweb.runtime.sqlite.base import DatabaseWrapper

ROUNDS, OPENERS = 40, 6


@pytest.fixture(autouse=True)
def only_sqlite():
    if connection.vendor != "sqlite":
        pytest.skip("The tests run on another database than SQLite.")


def open_as_the_site(file, **options):
    wanted = settings.DATABASES["default"]["OPTIONS"] | options
    database = DatabaseWrapper({**connection.settings_dict, "NAME": str(file), "OPTIONS": wanted}, "other")
    return closing(database.get_new_connection(database.get_connection_params()))


def restored(file):
    """Make a file as a backup keeps it: without a write-ahead log."""
    with closing(sqlite3.connect(file)) as copy:
        copy.execute("CREATE TABLE noted (number INTEGER)")
        copy.commit()
    return file


def test_connections_that_open_a_restored_file_at_once_all_open_it(tmp_path):
    assert connection.settings_dict["ENGINE"] == "aclweb.runtime.sqlite"
    for number in range(ROUNDS):
        file, all_here = restored(tmp_path / f"{number}.sqlite3"), threading.Barrier(OPENERS)

        def mode_of(_, file=file, all_here=all_here):
            all_here.wait()
            with open_as_the_site(file) as opened:
                return opened.execute("PRAGMA journal_mode").fetchone()[0]

        with ThreadPoolExecutor(OPENERS) as openers:
            assert list(openers.map(mode_of, range(OPENERS))) == ["wal"] * OPENERS


def test_opening_gives_up_on_a_lock_that_stays(tmp_path):
    file, start = restored(tmp_path / "held.sqlite3"), time.monotonic()
    with closing(sqlite3.connect(file)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            open_as_the_site(file, timeout=0.2)

    assert time.monotonic() - start >= 0.2


def test_what_is_no_lock_is_told_at_once(tmp_path):
    file = tmp_path / "none.sqlite3"
    file.write_bytes(b"no database at all" * 100)

    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        open_as_the_site(file, timeout=3_600)


@pytest.mark.django_db
def test_dismissed_findings_are_counted_without_a_look_at_all_of_the_run(cluster):
    revision = Revision.objects.create(
        cluster=cluster, number=1, read_at=timezone.now(), acls=0, acls_added=0, acls_removed=0, digest=""
    )
    run = LintRun.objects.create(
        cluster=cluster, revision=revision, key="", asked_at=timezone.now(), rung_at=timezone.now()
    )

    with CaptureQueriesContext(connection) as queries:
        assert len(Findings(run).left_out) == 0

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {queries[0]['sql']}")
        assert "findings_dismissed (search_id=? AND dismissed_until>?)" in str(cursor.fetchall())
