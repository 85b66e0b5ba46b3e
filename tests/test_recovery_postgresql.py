"""Backup and restore of an installation on a real PostgreSQL, as an operator types them."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from aclweb.runtime import keys
from tests.servers import missing
from tests.servers_data import copy_of
from tests.test_recovery import ASK, MAKE
from tests.test_storage import run

FUTURE = "INSERT INTO django_migrations (app, name, applied) VALUES ('changes', '0999_of_the_future', now())"


@pytest.fixture(scope="module")
def new_database(postgres_server: str) -> Callable[..., str]:
    """Return a function that makes a database of this name and gives its address; empty, or a copy of another."""
    for program in ("pg_dump", "pg_restore", "psql"):
        if shutil.which(program) is None:
            missing(f"{program} is not installed.")

    def make(name: str, *, template: str = "template1") -> str:
        return copy_of(template, postgres_server, name)

    return make


def manage(data: Path, database: str, *words: str) -> subprocess.CompletedProcess[str]:
    return run(data, "manage.py", *words, DATABASE_URL=database)


def execute(database: str, statement: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(statement)


def tables(database: str) -> set[str]:
    with psycopg.connect(database) as connection:
        return {
            row[0] for row in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname='public'")
        }


@pytest.fixture(scope="module")
def lived(new_database, postgres_tables, tmp_path_factory) -> tuple[Path, str]:
    """A data directory and a database in which somebody has worked."""
    data, database = tmp_path_factory.mktemp("lived"), new_database("lived", template=postgres_tables)
    keys.make_missing(data)
    made = manage(data, database, "shell", "--verbosity", "0", "-c", MAKE)
    assert made.returncode == 0, made.stderr
    return data, database


@pytest.fixture(scope="module")
def backed_up(lived, tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("safe") / "aclweb.tar"
    made = manage(*lived, "backup", str(file), "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["database"] == "aclweb.pgdump"
    return file


@pytest.mark.turns(
    2, 1, instead="tests/test_recovery.py::test_an_installation_comes_back_in_an_empty_directory"
)
def test_an_installation_on_postgresql_comes_back_in_an_empty_database(backed_up, new_database, tmp_path):
    target, database = tmp_path / "new", new_database("empty")

    restored = manage(target, database, "restore", str(backed_up))

    assert restored.returncode == 0, restored.stderr
    asked = manage(target, database, "shell", "--verbosity", "0", "-c", ASK)
    assert asked.stdout.strip() == "secret True", asked.stderr
    checks = {
        check["name"]: check["ok"]
        for check in map(json.loads, manage(target, database, "doctor", "--json").stdout.splitlines())
    }
    assert {name for name, ok in checks.items() if ok is False} == {"workers", "beat"}


@pytest.mark.turns(
    2, 1, instead="tests/test_recovery.py::test_an_installation_comes_back_in_an_empty_directory"
)
def test_what_a_database_holds_is_lost_only_when_told_and_then_wholly(backed_up, new_database, tmp_path):
    target, database = tmp_path / "used", new_database("used")
    assert manage(target, database, "restore", str(backed_up)).returncode == 0
    manage(target, database, "token", "issue", "ada", "later")
    execute(database, "CREATE TABLE changes_of_a_newer_release (id int)")

    refused = manage(target, database, "restore", str(backed_up))
    assert refused.returncode == 1
    assert "The database is not empty" in refused.stderr

    done = manage(target, database, "restore", str(backed_up), "--replace")
    assert done.returncode == 0, done.stderr
    assert "changes_of_a_newer_release" not in tables(database)
    assert "What the database held is gone" in done.stdout
    assert "What was there before" not in done.stdout
    assert json.loads(manage(target, database, "audit", "verify", "--json").stdout)["checked"] == 2


def test_a_dump_of_a_newer_release_is_refused_and_nothing_has_changed(backed_up, new_database, tmp_path):
    database = new_database("newer", template="lived")
    execute(database, FUTURE)
    backup = with_dump_of(database, backed_up, tmp_path / "newer.tar")
    empty = new_database("stays_empty")

    refused = manage(tmp_path / "new", empty, "restore", str(backup))

    assert refused.returncode == 1
    assert "newer aclweb" in refused.stderr
    assert tables(empty) == set()


def with_dump_of(database: str, backup: Path, target: Path) -> Path:
    """Copy the backup with what the database holds now, and its digest in the manifest."""
    dump = subprocess.run(
        ["pg_dump", "--format=custom", "--no-owner", database], capture_output=True, check=True
    )
    with tarfile.open(backup) as source, tarfile.open(target, "w") as copy:
        for member in source.getmembers():
            stored = source.extractfile(member)
            assert stored is not None, member.name
            data = stored.read()
            if member.name == "aclweb.pgdump":
                data = dump.stdout
            elif member.name == "manifest.json":
                manifest = json.loads(data)
                manifest["sha256"]["aclweb.pgdump"] = hashlib.sha256(dump.stdout).hexdigest()
                data = json.dumps(manifest).encode()
            member.size = len(data)
            copy.addfile(member, io.BytesIO(data))
    return target
