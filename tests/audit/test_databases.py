"""What one process on SQLite cannot show: writers at the same time, and the other database."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests import forkserver
from tests.servers_data import copy_of

WRITERS, EACH = 4, 25


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request, tmp_path):
    """The address of a database of its own, with its tables."""
    if request.param == "sqlite":
        return f"sqlite:///{shutil.copy(request.getfixturevalue('tables'), tmp_path / 'audit.sqlite3')}"
    server, tables = request.getfixturevalue("postgres_server"), request.getfixturevalue("postgres_tables")
    return copy_of(tables, server, "audited")


def run(address, *words):
    environment = {**os.environ, "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = forkserver.run(words, environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.every_run
@pytest.mark.long
def test_processes_that_record_at_once_make_one_chain_without_a_gap(database):
    def write(number):
        return run(database, "-m", "tests.audit.recorder", f"writer-{number}", EACH)

    with ThreadPoolExecutor(WRITERS) as writers:
        list(writers.map(write, range(WRITERS)))

    kept = WRITERS * EACH * 4 // 5
    assert run(database, "manage.py", "audit", "verify").startswith(
        f"The chain is whole: {kept} events checked."
    )
