"""A full disk, a read-only directory, a locked, an older and a newer database are told in words."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder

from aclweb.runtime import keys, storage
from tests import forkserver

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.long

FUTURE = "INSERT INTO django_migrations (app, name, applied) VALUES ('changes', '0999_of_the_future', '2030-01-01')"
# Asks pages and readiness as a browser would, in a process of its own with a database of its own.
ASK = """
import django, json, logging, sys
django.setup()
logging.disable(logging.CRITICAL)
from django.conf import settings
from django.test import Client
from aclweb.runtime import storage
settings.ALLOWED_HOSTS = ["*"]
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
browser = Client(raise_request_exception=False)
ready = browser.get("/readyz")
page = browser.post("/sign-in/", {"username": "ada", "password": sys.argv[1]})
found = {"sign in": [page.status_code, page.content.decode()], "problem": storage.database_problem()}
print(json.dumps(found | {"ready": [ready.status_code, ready.json()["database"]]}))
"""


def skip_or_fail(reason: str) -> None:
    pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)


@pytest.fixture(scope="module")
def made(tables, tmp_path_factory) -> Path:
    """A data directory with a database of this release and the account ada."""
    data = tmp_path_factory.mktemp("made")
    keys.make_missing(data)
    script = "from aclweb.accounts.models import User; User.objects.create_user('ada', password='hers alone')"
    shutil.copy(tables, data / "aclweb.sqlite3")
    assert run(data, "manage.py", "shell", "--verbosity", "0", "-c", script).returncode == 0
    with closing(sqlite3.connect(data / "aclweb.sqlite3")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return data


@pytest.fixture
def data(made, tmp_path) -> Path:
    for name in ("aclweb.sqlite3", "secret_key", "encryption_keys"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    return tmp_path


def run(data: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment |= {"ACLWEB_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "aclweb.settings"} | more
    return forkserver.run(words, environment)


def asked(data: Path) -> dict[str, object]:
    found = run(data, "-c", ASK, "hers alone")
    assert found.returncode == 0, found.stderr[-3000:]
    return json.loads(found.stdout.splitlines()[-1])


@contextmanager
def full_disk(directory: Path, data: Path):
    """A disk of one megabyte more than the database needs, with nothing left on it."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", directory], capture_output=True)
    if made.returncode:
        skip_or_fail("No small disk could be mounted (that needs root), so a full disk was not tried.")
    try:
        for name in ("aclweb.sqlite3", "secret_key", "encryption_keys"):
            (directory / name).write_bytes((data / name).read_bytes())
        with closing(sqlite3.connect(directory / "aclweb.sqlite3")) as database:
            database.execute("PRAGMA journal_mode=WAL")
        with open(directory / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(b"x" * 4096)
        yield directory
    finally:
        subprocess.run(["umount", "-l", directory], check=True)


def test_nothing_is_wrong_with_a_database_that_works(data):
    found = asked(data)

    assert found["problem"] == ""
    assert found["sign in"][0] == 302


def test_a_full_disk_is_reported_on_the_page_in_the_terminal_and_in_readiness(data, tmp_path_factory):
    with full_disk(tmp_path_factory.mktemp("full"), data) as full:
        found = asked(full)
        command = run(full, "manage.py", "grant", "list")
        writing = run(full, "manage.py", "token", "issue", "ada", "a program")

    assert found["problem"] == storage.FULL
    assert found["ready"] == [503, storage.FULL]
    status, page = found["sign in"]
    assert status == 503
    assert "The disk that holds the database is full" in page
    # SQLite needs room even to begin to read; a process that runs already reads on.
    assert (command.returncode, command.stderr.strip()) == (1, storage.FULL)
    assert writing.returncode == 1
    assert writing.stderr.strip() == storage.FULL


def test_a_read_only_database_is_reported(data):
    if os.geteuid() == 0:
        # Root writes in spite of a mode, so the disk itself must refuse.
        subprocess.run(["mount", "--bind", data, data], check=False)
        made = subprocess.run(["mount", "-o", "remount,bind,ro", data], capture_output=True)
        if made.returncode:
            skip_or_fail("No read-only disk could be mounted.")
    else:
        (data / "aclweb.sqlite3").chmod(0o400)
        data.chmod(0o500)
    try:
        found = asked(data)
        writing = run(data, "manage.py", "token", "issue", "ada", "a program")
    finally:
        subprocess.run(["umount", "-l", data], check=False) if os.geteuid() == 0 else data.chmod(0o700)

    assert found["problem"] == storage.READ_ONLY
    assert found["ready"] == [503, storage.READ_ONLY]
    assert found["sign in"][0] == 503
    assert "read-only" in found["sign in"][1]
    assert (writing.returncode, writing.stderr.strip()) == (1, storage.READ_ONLY)


def test_a_locked_database_is_reported(data):
    with closing(sqlite3.connect(data / "aclweb.sqlite3", isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("BEGIN EXCLUSIVE")
        writing = run(data, "manage.py", "token", "issue", "ada", "a program", ACLWEB_LOCK_SECONDS="1")
        found = run(
            data,
            "-c",
            "import django; django.setup(); from aclweb.runtime import storage; print(storage.database_problem())",
        )

    assert found.stdout.strip() == storage.LOCKED
    assert (writing.returncode, writing.stderr.strip()) == (1, storage.LOCKED)


def test_a_database_of_a_newer_release_is_refused_by_every_entry_point(data):
    with closing(sqlite3.connect(data / "aclweb.sqlite3")) as database:
        database.execute(FUTURE)
        database.commit()

    for words in (
        ("manage.py", "grant", "list"),
        ("manage.py", "up", "--lite", "--port", "0"),
        ("manage.py", "migrate"),
        ("-c", "import aclweb.wsgi"),
    ):
        refused = run(data, *words)
        assert refused.returncode != 0, words
        last = refused.stderr.strip().splitlines()[-1] if refused.stderr.strip() else refused.stdout
        assert "written by a newer aclweb than this one" in last, (words, refused.stderr[-500:])
        assert "changes.0999_of_the_future" in last


def test_a_database_of_an_older_release_is_reported_with_the_command_that_mends_it(data):
    with closing(sqlite3.connect(data / "aclweb.sqlite3")) as database:
        database.execute("DELETE FROM django_migrations WHERE app = 'insights'")
        database.commit()

    refused = run(data, "manage.py", "grant", "list")

    assert refused.returncode == 1
    assert refused.stderr.startswith("The database is older than this aclweb: it lacks insights.0001_initial")
    assert refused.stderr.strip().endswith("Run: python manage.py migrate")


def test_a_database_of_this_release_is_recognised_without_loading_a_migration(db, monkeypatch):
    loading = Mock(side_effect=AssertionError("migrations were loaded"))
    monkeypatch.setattr(storage, "MigrationExecutor", loading)
    monkeypatch.setattr(storage, "MigrationLoader", loading)

    assert storage.schema_problem() == ""

    MigrationRecorder.Migration.objects.filter(app="insights").delete()
    with pytest.raises(AssertionError, match="migrations were loaded"):
        storage.schema_problem()


def test_a_database_that_was_never_made_is_reported(tmp_path):
    keys.make_missing(tmp_path)

    refused = run(tmp_path, "manage.py", "cluster", "list")

    assert refused.returncode == 1
    assert "Run: python manage.py migrate" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_file_that_is_no_database_is_reported(data):
    (data / "aclweb.sqlite3").write_bytes(b"not a database at all, but long enough to look at" * 100)

    refused = run(data, "manage.py", "cluster", "list")

    assert (refused.returncode, refused.stderr.strip()) == (1, storage.DAMAGED)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("53100", storage.FULL),
        ("25006", storage.READ_ONLY),
        ("57P03", storage.UNREACHABLE),
        ("55P03", storage.LOCKED),
    ],
)
def test_what_postgresql_says_is_reported_in_the_same_words(state, sentence):
    class FromPsycopg(Exception):
        sqlstate = state

    error = OperationalError("whatever it says")
    error.__cause__ = FromPsycopg()

    assert storage.sentence_of(error) == sentence


def test_an_error_about_something_else_is_left_alone():
    assert storage.sentence_of(ValueError("no")) == ""
    assert storage.sentence_of(FileNotFoundError(2, "No such file")) == ""
