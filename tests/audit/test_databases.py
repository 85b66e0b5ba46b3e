"""What one process on SQLite cannot show: writers at the same time, and the other database."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
WRITERS, EACH = 4, 25


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request, tmp_path):
    """The address of a database of its own, with its tables."""
    if request.param == "sqlite":
        return f"sqlite:///{shutil.copy(request.getfixturevalue('tables'), tmp_path / 'audit.sqlite3')}"
    address = request.getfixturevalue("postgres_server")
    run(address, "manage.py", "migrate", "--verbosity", "0")
    return address


def start(address, *words):
    environment = {**os.environ, "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(address, *words):
    process = start(address, *words)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    return said


@pytest.mark.long
def test_processes_that_record_at_once_make_one_chain_without_a_gap(database):
    writers = [
        start(database, "-m", "tests.audit.recorder", f"writer-{number}", str(EACH))
        for number in range(WRITERS)
    ]
    said = [writer.communicate()[0] for writer in writers]

    assert [writer.returncode for writer in writers] == [0] * WRITERS, said
    kept = WRITERS * EACH * 4 // 5
    assert run(database, "manage.py", "audit", "verify").startswith(
        f"The chain is whole: {kept} events checked."
    )
