"""What is wrong with the database or the disk, in a sentence for whoever runs the site?

`database_problem` asks: can it be reached, written, and is it of this release? `sentence_of`
names the reason behind an error that something ran into. Both return an empty text where
nothing is wrong that they know.
"""

from __future__ import annotations

import errno
import os
import pkgutil
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# Written to find out whether the disk takes anything; about what one audit event and its log need.
_PROBE_BYTES = 64 * 1024
# Seconds that asking waits for a lock; longer than any transaction of ours should take.
_LOCK_SECONDS = 2.0

FULL = "The disk that holds the database is full. Free space on it; nothing needs to be restarted."
READ_ONLY = (
    "The database cannot be written: its file, its directory or the disk is read-only for the user that runs "
    "aclweb. Make it writable; nothing needs to be restarted."
)
LOCKED = (
    "Another process holds the database locked. Wait a moment and try again; if it stays, end that process "
    "(a copy that is being made, or a shell in the database)."
)
UNREACHABLE = "The database cannot be reached. Check that it runs, and the address in DATABASE_URL."
DISK = "The disk that holds the database does not answer properly; look at the system's log."
DAMAGED = "The database file is damaged. Stop aclweb and restore a backup with: python manage.py restore FILE"
OLDER = "The database is older than this aclweb"
NO_TABLES = f"{OLDER}: tables are missing. Run: python manage.py migrate"

# What SQLite says, and the reason.
_SQLITE = (
    ("database or disk is full", FULL),
    ("readonly database", READ_ONLY),
    ("unable to open database", READ_ONLY),
    ("database is locked", LOCKED),
    ("database table is locked", LOCKED),
    (
        "disk I/O error",
        "The disk that holds the database does not answer properly; look at the system's log.",
    ),
    ("malformed", DAMAGED),
    ("not a database", DAMAGED),
    ("no such table", NO_TABLES),
    ("no such column", NO_TABLES),
)
# SQLSTATEs of PostgreSQL, by their beginning.
_POSTGRESQL = (
    ("53100", FULL),
    ("25006", READ_ONLY),
    ("55P03", LOCKED),
    ("53300", "The database takes no more connections; raise max_connections, or run fewer processes."),
    ("42P01", NO_TABLES),
    ("42703", NO_TABLES),
    ("08", UNREACHABLE),
    ("57P", UNREACHABLE),
    ("28", "The database refuses this user or password; check DATABASE_URL."),
    ("3D000", "There is no such database; check the name at the end of DATABASE_URL."),
)
_FILES = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: "The user that runs aclweb has used up its share of the disk. Free space, or raise the quota.",
    errno.EROFS: READ_ONLY,
}


def sentence_of(error: BaseException | None) -> str:
    """Return what is wrong with the database or disk behind this error; empty if it is about something else."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if sentence := _sentence_of_one(error):
            return sentence
        error = error.__cause__ or error.__context__
    return ""


def _sentence_of_one(error: BaseException) -> str:
    if isinstance(error, OSError):
        return _FILES.get(error.errno or 0, "")
    if isinstance(error, sqlite3.Error):
        problem = next((sentence for words, sentence in _SQLITE if words in str(error)), "")
        # SQLite also says so where it could not make room for its index of the journal.
        return FULL if problem == DISK and _disk_is_full() else problem
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        return next((sentence for start, sentence in _POSTGRESQL if state.startswith(start)), "")
    if isinstance(error, DatabaseError | InterfaceError):
        # psycopg gives no state where it never reached the server.
        words = str(error).lower()
        if "connection" in words and ("refused" in words or "closed" in words or "failed" in words):
            return UNREACHABLE
    return ""


def database_problem() -> str:
    """Return why this process cannot work with the database now, as a sentence; empty where it can.

    Takes at most some two seconds. Readiness, `doctor` and the start ask it.
    """
    try:
        return schema_problem() or _cannot_write()
    except (DatabaseError, InterfaceError, OSError, sqlite3.Error) as error:
        return sentence_of(error) or f"The database does not work: {error}"


def schema_problem(using: str = DEFAULT_DB_ALIAS) -> str:
    """Return whether the database was made by another release of aclweb, as a sentence; empty if by this one."""
    connection = connections[using]
    applied = set(MigrationRecorder(connection).applied_migrations())
    # The usual answer, without loading a single migration: every command waits for it.
    if applied == _migrations_of_this_release():
        return ""
    executor = MigrationExecutor(connection)
    if problem := _newer_problem(applied, executor.loader):
        return problem
    missing = [
        f"{migration.app_label}.{migration.name}"
        for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())
    ]
    if missing:
        return f"{OLDER}: it lacks {_listed(missing)}. Run: python manage.py migrate"
    return ""


def newer_problem(applied: Iterable[tuple[str, str]]) -> str:
    """Return whether these migrations (app, name) are of a newer aclweb, as a sentence; empty if of this one."""
    return _newer_problem(applied, MigrationLoader(None))


def _newer_problem(applied: Iterable[tuple[str, str]], loader: MigrationLoader) -> str:
    known = set(loader.disk_migrations) | {
        old for migration in loader.disk_migrations.values() for old in migration.replaces
    }
    rooms = {app for app, _ in loader.disk_migrations}
    unknown = sorted(f"{app}.{name}" for app, name in applied if app in rooms and (app, name) not in known)
    if not unknown:
        return ""
    return (
        f"The database was written by a newer aclweb than this one ({settings.ACLWEB_VERSION}): it does not "
        f"know {_listed(unknown)}. Install the newer release again, or restore a backup of this one."
    )


def _migrations_of_this_release() -> set[tuple[str, str]]:
    """Return (app, name) of each migration file, found as Django finds them."""
    return {
        (app.label, name)
        for app in apps.get_app_configs()
        for _, name, is_package in pkgutil.iter_modules([str(Path(app.path) / "migrations")])
        if not is_package and name[0] not in "_~"
    }


def refuse_a_newer_database() -> None:
    """Raise ImproperlyConfigured if the database is of a newer release; one that cannot be asked is no reason."""
    try:
        problem = schema_problem()
    except (DatabaseError, InterfaceError, OSError, sqlite3.Error):
        return
    finally:
        connections[DEFAULT_DB_ALIAS].close()
    if problem and not problem.startswith(OLDER):
        raise ImproperlyConfigured(problem)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 3} more migrations" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _cannot_write() -> str:
    """Return why nothing can be written, by writing something; nothing of it stays."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SHOW transaction_read_only")
            row = cursor.fetchone()
        return READ_ONLY if row and row[0] == "on" else ""
    name = str(connection.settings_dict["NAME"])
    if not _is_in_memory(name):
        directory = Path(name).parent
        if not os.access(name, os.W_OK) or not os.access(directory, os.W_OK):
            return READ_ONLY
        _write_something(directory)
        if connection.in_atomic_block:  # this very connection writes
            return ""
        # A connection of its own, whose short patience is nobody else's.
        with closing(sqlite3.connect(name, timeout=_LOCK_SECONDS, isolation_level=None)) as own:
            own.execute("BEGIN IMMEDIATE")
            own.execute("ROLLBACK")
    return ""


def _disk_is_full() -> bool:
    name = str(connections[DEFAULT_DB_ALIAS].settings_dict["NAME"])
    try:
        _write_something(Path(name).parent)
    except OSError as error:
        return error.errno == errno.ENOSPC
    return False


def _write_something(directory: Path) -> None:
    with tempfile.TemporaryFile(dir=directory) as probe:
        probe.write(b"\0" * _PROBE_BYTES)
        probe.flush()
        os.fsync(probe.fileno())


def _is_in_memory(name: str) -> bool:
    return name == ":memory:" or name.startswith("file:memory")
