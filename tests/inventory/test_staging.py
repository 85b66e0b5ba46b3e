"""A large snapshot is stored in short transactions, and nobody ever sees half of it."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from aclweb.clusters import TopicInfo
from aclweb.inventory.current import view as current
from aclweb.inventory.current.moments import moment_at
from aclweb.inventory.lists.revisions import history
from aclweb.inventory.models import Cluster, Revision, StoredAcl, StoredName
from aclweb.inventory.store import staging
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

ROOT = Path(__file__).resolve().parents[2]

MANY = 100_000 if os.environ.get("ACLWEB_TEST_SCALE") == "full" else 15_000
# The longest wait, as a share of the CPU time of the storing process: a busy machine changes any other measure.
# With one transaction for everything it is 1.
LONGEST_WAIT_SHARE = 0.25
WRITE_EVERY_SECONDS = 0.05

BEFORE = [allow("User:ann", "READ", f"old{number}") for number in range(5)]
AFTER = [allow("User:bob", "READ", f"new{number}") for number in range(30)] + BEFORE[:2]


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(staging, "ROWS_AT_ONCE", 7)
    monkeypatch.setattr(staging, "_KEYS_AT_ONCE", 2)


def told(cluster):
    """What pages, the API and the audit trail can show of a cluster."""
    cluster = Cluster.objects.get(pk=cluster.pk)
    current.forget()
    last = history(cluster)[0]
    return {
        "in force": frozenset(current.in_force(cluster).index),
        "stored": StoredAcl.objects.filter(
            current.stored_in_force(cluster.revision_id), cluster=cluster
        ).count(),
        "revisions": [revision.number for revision in history(cluster)],
        "last": (last.number, last.acls, last.acls_added, last.acls_removed),
        "as of": moment_at(cluster, "2999-01-01"),
    }


def test_a_large_revision_is_stored_in_the_order_of_its_keys(cluster, small_batches):
    """A key is a hash: in any other order each row goes elsewhere into the index of the keys."""
    names = [TopicInfo(f"t{number}", 1) for number in range(40)]
    sync(cluster, client=Answers(AFTER, topics=names))

    acls = list(StoredAcl.objects.order_by("pk").values_list("key", flat=True))
    topics = list(StoredName.objects.order_by("pk").values_list("resource_type", "key"))
    assert (len(acls), len(topics)) == (len(AFTER), 40)
    assert acls == sorted(acls)
    assert topics == sorted(topics)


def test_no_reader_sees_a_revision_before_its_last_row_is_there(cluster, small_batches, monkeypatch):
    sync(cluster, client=Answers(BEFORE))
    before, seen = told(cluster), []
    in_turn = staging.in_turn

    def watched():
        seen.append(told(cluster))
        return in_turn()

    monkeypatch.setattr(staging, "in_turn", watched)
    sync(cluster, client=Answers(AFTER))

    assert len(seen) > 5
    assert all(each == before for each in seen)
    after = told(cluster)
    assert after["in force"] == frozenset(AFTER)
    assert after["stored"] == len(AFTER)
    assert after["last"] == (2, len(AFTER), 30, 3)


@pytest.mark.parametrize("lost_after", range(1, 7))
def test_a_sync_lost_midway_leaves_the_old_revision_whole_and_the_next_goes_on(
    cluster, small_batches, monkeypatch, lost_after
):
    sync(cluster, client=Answers(BEFORE))
    before = told(cluster)
    turns, in_turn = [], staging.in_turn

    def dying():
        turns.append(1)
        if len(turns) > lost_after:
            raise KeyboardInterrupt
        return in_turn()

    with monkeypatch.context() as patch:
        patch.setattr(staging, "in_turn", dying)
        with pytest.raises(KeyboardInterrupt):
            sync(cluster, client=Answers(AFTER))
    assert told(cluster) == before
    assert Revision.including_unpublished.filter(published=False).count() == 1

    result = sync(cluster, client=Answers(AFTER))

    assert (result.revision.number, result.read) == (2, True)
    assert told(cluster)["in force"] == frozenset(AFTER)
    assert StoredAcl.objects.count() == len(BEFORE) + 30
    assert not Revision.including_unpublished.filter(published=False).exists()


def test_a_sync_that_another_one_overtakes_while_it_stores_is_dropped(cluster, small_batches, monkeypatch):
    sync(cluster, client=Answers(BEFORE))
    in_turn, other = staging.in_turn, []

    def overtaken():
        if not other:
            other.append(1)
            other[0] = sync(Cluster.objects.get(pk=cluster.pk), client=Answers(BEFORE[:4]))
        return in_turn()

    monkeypatch.setattr(staging, "in_turn", overtaken)
    result = sync(cluster, client=Answers(AFTER))

    assert not result.read
    assert (
        result.sentence
        == "A later sync, or a change of its connection, was stored first, so this one was dropped."
    )
    assert told(cluster)["in force"] == frozenset(BEFORE[:4])
    assert StoredAcl.objects.count() == len(BEFORE)


def test_rows_are_prepared_before_the_transaction_that_stores_them(cluster, small_batches, monkeypatch):
    """On SQLite nobody else can write while it is open."""
    turns, prepared_in = [], []
    in_turn, prepared = staging.in_turn, staging.prepared

    @contextmanager
    def turn():
        with in_turn():
            turns.append(1)
            yield
        turns.pop()

    def watched(model, fields, rows):
        for row in prepared(model, fields, rows):
            prepared_in.append(len(turns))
            yield row

    monkeypatch.setattr(staging, "in_turn", turn)
    monkeypatch.setattr(staging, "prepared", watched)
    sync(cluster, client=Answers(AFTER))

    assert prepared_in == [0] * len(AFTER)


def test_a_transaction_stores_no_more_rows_than_one_batch(cluster, monkeypatch):
    sizes = []
    insert = staging.insert_prepared
    monkeypatch.setattr(
        staging,
        "insert_prepared",
        lambda model, fields, rows: (
            held := list(rows),
            sizes.append(len(held)),
            insert(model, fields, held),
        ),
    )

    sync(cluster, client=Answers([allow("User:bob", "READ", f"t{number}") for number in range(10_000)]))

    assert sum(sizes) == 10_000
    assert max(sizes) == staging.ROWS_AT_ONCE


# --- Real processes on a real file ---


@pytest.fixture
def database(tables, tmp_path):
    """An SQLite file with the tables."""
    return shutil.copy(tables, tmp_path / "aclweb.sqlite3")


def environment(file):
    return os.environ | {"DATABASE_URL": f"sqlite:///{file}", "DJANGO_SETTINGS_MODULE": "tests.settings"}


def storing(file, *counts):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.inventory.storing", *map(str, counts)],
        cwd=ROOT,
        env=environment(file),
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.long
def test_others_write_in_between_while_very_many_acls_are_stored(database):
    process = storing(database, MANY)
    assert process.stdout.readline() == "reading\n"
    waits, began = [], cpu_seconds(process.pid)
    with closing(sqlite3.connect(database, timeout=60, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE noted (number INTEGER)")
        while process.poll() is None:
            asked = cpu_seconds(process.pid)
            connection.execute("INSERT INTO noted VALUES (1)")
            ended = cpu_seconds(process.pid)
            waits.append(ended - asked)
            time.sleep(WRITE_EVERY_SECONDS)

    assert process.stdout.read() == f"revision 1 of {MANY}\n"
    longest, all_of_it = max(waits), ended - began
    assert longest < all_of_it * LONGEST_WAIT_SHARE, f"a write waited {longest:.2f} of {all_of_it:.2f} s"
    assert len(waits) >= 10


def cpu_seconds(pid):
    """Return for how long this process of ours, which nobody has waited for yet, has computed."""
    after_its_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_its_name[11]) + int(after_its_name[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.long
def test_a_worker_killed_while_it_stores_leaves_the_old_revision_in_force(database):
    # It stops at the second of five batches or more.
    many = MANY // 3
    process = storing(database, 10, f"{many}:4000")
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with closing(sqlite3.connect(database, timeout=60)) as connection:
        rows = "SELECT COUNT(*) FROM inventory_storedacl"
        in_force = (
            "SELECT number, acls, (SELECT COUNT(*) FROM inventory_storedacl WHERE added_in_id <= revision.id "
            "AND (removed_in_id IS NULL OR removed_in_id > revision.id)) "
            "FROM inventory_cluster JOIN inventory_revision AS revision ON revision.id = revision_id"
        )
        assert connection.execute(in_force).fetchall() == [(1, 10, 10)]
        assert 10 < connection.execute(rows).fetchone()[0] < many

        following = storing(database, 5_000)
        out, _ = following.communicate(timeout=300)

        assert out.splitlines()[-1] == "revision 2 of 5000"
        assert connection.execute(in_force).fetchall() == [(2, 5_000, 5_000)]
        assert connection.execute(rows).fetchone()[0] == 5_000
