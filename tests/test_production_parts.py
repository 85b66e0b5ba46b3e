"""What a company runs instead of the embedded parts, PostgreSQL and Redis, keeps the same promises."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from gunicorn.workers.gthread import ThreadWorker

from aclweb.site_worker import SiteWorker
from tests import forkserver
from tests.conftest import TEMPLATE_VARIABLE
from tests.turns import is_due

ROOT = Path(__file__).resolve().parents[1]

# The database's share of the promises: locks, triggers, conditional updates, odd texts; of what is read, and of what a
# rollout makes of edits by others, in a thorough run. At full scale the rooms with tables are asked everything.
FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
ROLLOUT = "tests/changes/test_rollout.py"
CLAIMS_OF_THE_ROLLOUT = (
    "a_foreign_edit_with_the_same_effect_goes_on_with_a_note",
    "an_item_altered_in_the_database_is_refused",
    "nothing_is_sent_when_its_audit_event_cannot_be_written",
    "a_partly_written_change_goes_on_where_it_stopped",
    "what_a_lost_worker_wrote_is_reported_as_ours_by_whoever_reads_it_first",
    "a_sync_under_way_is_waited_for_and_not_for_ever",
    "one_change_at_a_time_is_under_way_on_a_cluster",
    "the_next_change_of_a_cluster_is_enqueued_when_one_is_done",
    "behind_a_change_that_is_done_one_of_its_own_cluster_is_next",
    "the_sweep_rings_for_queued_changes_and_lost_leases_only",
    "a_worker_whose_row_was_taken_over_stores_nothing",
    "a_worker_whose_lease_ran_out_stops_even_if_nobody_took_over",
    "each_claim_has_an_epoch_of_its_own",
    "a_change_tried_five_times_is_stopped_unwritten_and_says_why",
)
ROOMS = (
    (
        "tests/audit",
        "tests/accounts",
        "tests/inventory",
        "tests/changes",
        "tests/insights/test_kept_requests.py",
    )
    if FULL
    else (
        "tests/audit",
        *(f"{ROLLOUT}::test_{claim}" for claim in CLAIMS_OF_THE_ROLLOUT),
        # Every other day, like test_recovery_postgresql.py on the days between.
        *(["tests/insights/test_kept_requests.py"] if is_due(2, 0) else []),
    )
)
MORE_ROOMS = (
    *("tests/inventory/test_sync.py", "tests/inventory/test_tasks.py", ROLLOUT),
    "tests/insights/test_kept_requests.py",
)

# What concerns no other database than it concerns SQLite: rows as a migration found them, leases that run out by
# waiting, processes that start Django.
ELSEWHERE = (
    "tests/audit/test_verbs.py::test_a_process_that_only_starts_django_knows_every_verb_that_the_code_registers",
    f"{ROLLOUT}::test_a_step_longer_than_the_lease_keeps_it",
)

READ_A_FILE = """
import sys, time
import django
django.setup()
from aclweb.inventory.models import Cluster
from aclweb.inventory.tasks import sync_cluster
cluster = Cluster.objects.create(slug="file", name="file", kind="snapshot", address=sys.argv[1])
sync_cluster.delay(cluster.pk)
deadline = time.monotonic() + 120
while not cluster.state and time.monotonic() < deadline:
    time.sleep(0.2)
    cluster.refresh_from_db()
print(cluster.state, cluster.revision.acls if cluster.revision else None)
"""


@pytest.mark.postgres
def test_the_rooms_with_tables_hold_on_postgresql(postgres_server, postgres_tables):
    hold_on_postgresql(ROOMS, postgres_server, postgres_tables)


@pytest.mark.thorough(instead="tests/test_production_parts.py::test_the_rooms_with_tables_hold_on_postgresql")
@pytest.mark.skipif(FULL, reason="the rooms are asked everything")
@pytest.mark.postgres
def test_what_is_read_from_clusters_and_written_to_them_is_kept_on_postgresql(
    postgres_server, postgres_tables
):
    hold_on_postgresql(MORE_ROOMS, postgres_server, postgres_tables)


def hold_on_postgresql(rooms, postgres_server, postgres_tables):
    environment = dict(os.environ) | {"DATABASE_URL": postgres_server, TEMPLATE_VARIABLE: postgres_tables}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}

    answer = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", *rooms, "-p", "no:xdist", "-p", "no:randomly"),
            # Which starts processes with databases of their own, and does so on PostgreSQL in any case.
            *("-m", "not server", "--ignore", "tests/audit/test_databases.py"),
            *(() if FULL else map("--deselect={}".format, ELSEWHERE)),
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=3600 if FULL else 900,
    )

    assert answer.returncode == 0, answer.stdout[-6000:] + answer.stderr[-2000:]


def work_through(broker_url, tables, tmp_path):
    """Start a worker on this broker, have it read a file of ACLs, and return what the row of the cluster says."""
    environment = dict(os.environ) | {
        "ACLWEB_DATA_DIR": str(tmp_path / "data"),
        "CELERY_BROKER_URL": broker_url,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'site.sqlite3'}",
    }
    shutil.copy(tables, tmp_path / "site.sqlite3")
    acls = tmp_path / "acls.csv"
    acls.write_text(
        "resource_type,resource_name,pattern_type,principal,host,operation,permission_type\n"
        "TOPIC,orders,LITERAL,User:bob,*,READ,ALLOW\n"
    )
    words = ["-m", "celery", "-A", "aclweb.celery", "worker", "--pool", "solo", "--loglevel", "ERROR"]
    with open(os.devnull, "r+b") as nothing:
        worker = forkserver.start(words, environment, files=[nothing] * 3)
    try:
        answer = forkserver.run(["-c", READ_A_FILE, acls], environment)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout.split()
    finally:
        worker.terminate()
        worker.wait(60)


@pytest.mark.every_run
@pytest.mark.long
def test_a_worker_takes_tasks_from_the_embedded_queue(tables, tmp_path):
    assert work_through("acfs://", tables, tmp_path) == ["ok", "1"]


@pytest.mark.redis
def test_a_worker_takes_tasks_from_redis(redis_server, tables, tmp_path):
    assert work_through(redis_server, tables, tmp_path) == ["ok", "1"]


@pytest.mark.rabbitmq
def test_a_worker_takes_tasks_from_rabbitmq(rabbitmq_server, tables, tmp_path):
    assert work_through(rabbitmq_server, tables, tmp_path) == ["ok", "1"]


def test_a_thread_that_computes_gives_way_to_the_others_soon(monkeypatch):
    monkeypatch.setattr(ThreadWorker, "init_process", lambda worker: None)
    before = sys.getswitchinterval()
    try:
        SiteWorker.init_process(object.__new__(SiteWorker))

        assert sys.getswitchinterval() < before / 5
    finally:
        sys.setswitchinterval(before)
