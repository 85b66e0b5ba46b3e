"""How is an installation put into one file, and brought back from it?

A backup is a tar of the owner's alone with the database as it was at one moment (taken while
the site runs), the key files, the kept head of the audit trail, and a manifest with the
version, counts and SHA-256 of each part. What clusters hold is not in it: a sync reads that.

Restoring trusts nothing: digests, the release and the audit chain are checked before anything is
replaced, and the chain again afterwards. What was there is put aside, never deleted. Of PostgreSQL
the chain is checked only afterwards, and what the database held is lost where that was asked for.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils import timezone

from aclweb.accounts.models import User
from aclweb.audit import heads, trail
from aclweb.audit.models import AuditError, Event
from aclweb.changes.models import Change
from aclweb.inventory.models import Cluster, Revision
from aclweb.runtime import child_process, datadir, storage

MANIFEST = "manifest.json"
SQLITE, POSTGRESQL = "aclweb.sqlite3", "aclweb.pgdump"
KEY_FILES = {"secret_key": "ACLWEB_SECRET_KEY", "encryption_keys": "ACLWEB_ENCRYPTION_KEYS"}
HEADS = "audit-heads.jsonl"
_PARTS = frozenset({MANIFEST, SQLITE, POSTGRESQL, HEADS, *KEY_FILES})
_COPY = "backup_copy"
FORMAT = 1


class BackupError(Exception):
    """A backup that cannot be made or brought back; the message says why and what would help."""


@dataclass(frozen=True)
class Manifest:
    """What a backup holds. keys_named: the variables whose values must be kept elsewhere."""

    format: int
    version: str
    made_at: str
    database: str
    audit_head: str
    audit_whole: bool
    counts: Mapping[str, int]
    keys_included: tuple[str, ...]
    keys_named: tuple[str, ...]
    sha256: Mapping[str, str]


# --- Making one ---


def make(target: Path) -> Manifest:
    """Write a backup to `target`, which must not exist yet, and return what it holds."""
    target = target.expanduser().absolute()
    if target.exists():
        raise BackupError(f"{target} exists already; name another file, so that no earlier backup is lost.")
    if not target.parent.is_dir():
        raise BackupError(f"There is no directory {target.parent}; make it first, or name another one.")
    with _private_directory(target.parent) as scratch:
        database = _copy_of_the_database(scratch)
        with _opened(scratch / database) as alias:
            verdict = trail.verify(using=alias)
            counts = _counts(alias)
        included, named = _keys_into(scratch)
        if (file := heads.path()) is not None and file.exists():
            shutil.copyfile(file, scratch / HEADS)
        parts = sorted(path.name for path in scratch.iterdir())
        manifest = Manifest(
            format=FORMAT,
            version=settings.ACLWEB_VERSION,
            made_at=timezone.now().isoformat(timespec="seconds"),
            database=database,
            audit_head=verdict.head,
            audit_whole=verdict.ok,
            counts=counts,
            keys_included=included,
            keys_named=named,
            sha256={name: _digest(scratch / name) for name in parts},
        )
        partial = scratch / "backup.partial"
        with open(partial, "xb") as handle:
            with tarfile.open(fileobj=handle, mode="w") as archive:
                text = json.dumps(asdict(manifest), indent=1, sort_keys=True).encode()
                _add(archive, MANIFEST, io.BytesIO(text), len(text))
                for name in parts:
                    with open(scratch / name, "rb") as part:
                        _add(archive, name, part, (scratch / name).stat().st_size)
            handle.flush()
            os.fsync(handle.fileno())
        os.link(partial, target)  # unlike a rename, never over a file that came meanwhile
    return manifest


def _add(archive: tarfile.TarFile, name: str, part: Any, size: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o600, int(timezone.now().timestamp())
    archive.addfile(entry, part)


def _copy_of_the_database(scratch: Path) -> str:
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "postgresql":
        _run_postgresql("pg_dump", "--format=custom", "--no-owner", f"--file={scratch / POSTGRESQL}")
        return POSTGRESQL
    # SQLite's own way to copy a database that others write to meanwhile.
    source = sqlite3.connect(f"file:{connection.settings_dict['NAME']}?mode=ro", uri=True, timeout=20)
    with closing(source), closing(sqlite3.connect(scratch / SQLITE)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
    return SQLITE


def _keys_into(scratch: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Put the key files into the backup; return their names, and the variables that hold keys instead."""
    included, named = [], []
    for name, variable in KEY_FILES.items():
        if variable in settings.SECRETS_GIVEN:
            named.append(variable)
        else:
            shutil.copyfile(Path(settings.ACLWEB_DATA_DIR) / name, scratch / name)
            included.append(name)
    return tuple(included), tuple(named)


def _counts(alias: str) -> dict[str, int]:
    return {
        "accounts": User.objects.using(alias).count(),
        "clusters": Cluster.objects.using(alias).count(),
        "revisions": Revision.objects.using(alias).count(),
        "changes": Change.objects.using(alias).count(),
        "audit events": Event.objects.using(alias).count(),
    }


# --- Bringing one back ---


def restore(source: Path, *, replace: bool = False) -> tuple[Manifest, Path | None]:
    """Bring the installation back as it was; return what the backup holds and where the former files are now.

    Raises BackupError, and has changed nothing, unless the backup is whole, of this or an
    earlier release, its audit chain is as its manifest says, and there is nothing to lose or
    `replace` was asked for. Raises DataDirectoryError while aclweb runs there.
    """
    directory = Path(settings.ACLWEB_DATA_DIR)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    claim = datadir.Claim(directory)
    try:
        with _private_directory(directory) as scratch:
            manifest = _unpacked(source, scratch)
            if manifest.database == POSTGRESQL:
                return manifest, _restore_postgresql(manifest, scratch, directory, replace=replace)
            return manifest, _restore_sqlite(manifest, scratch, directory, replace=replace)
    finally:
        claim.release()


def _restore_sqlite(manifest: Manifest, scratch: Path, directory: Path, *, replace: bool) -> Path | None:
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "sqlite":
        raise BackupError("This backup is of SQLite, and DATABASE_URL names PostgreSQL; unset it to restore.")
    with _opened(scratch / SQLITE) as alias:
        _check_chain(manifest, alias)
        problem = storage.schema_problem(alias)
        if problem and not problem.startswith(storage.OLDER):
            raise BackupError(problem)
    database = Path(str(connection.settings_dict["NAME"]))
    connection.close()
    there = [
        path
        for path in (
            *(database.with_name(database.name + ending) for ending in ("", "-wal", "-shm", "-journal")),
            *(directory / name for name in (*manifest.keys_included, "queue", "cache")),
        )
        if path.exists()
    ]
    aside = _set_aside(there, directory, must_be_empty=database.exists(), replace=replace)
    os.replace(scratch / SQLITE, database)
    _put_keys_and_heads(manifest, scratch, directory)
    _check_chain(manifest, DEFAULT_DB_ALIAS)
    return aside


def _restore_postgresql(manifest: Manifest, scratch: Path, directory: Path, *, replace: bool) -> Path | None:
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "postgresql":
        raise BackupError(
            "This backup is of PostgreSQL; set DATABASE_URL to the database that is to hold it."
        )
    if connection.introspection.table_names() and not replace:
        raise BackupError(
            "The database is not empty. Name an empty one in DATABASE_URL, or give --replace to lose what it holds."
        )
    if problem := storage.newer_problem(_migrations_of(scratch / POSTGRESQL)):
        raise BackupError(problem)
    connection.close()
    script = scratch / "restore.sql"
    _run_postgresql(
        "pg_restore", "--no-owner", *(("--clean", "--if-exists") if replace else ()),
        f"--file={script}", str(scratch / POSTGRESQL),
    )  # fmt: skip
    _run_postgresql(
        "psql", "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1",
        *((f"--command={_DROP_TABLES}",) if replace else ()), f"--file={script}",
    )  # fmt: skip
    there = [path for name in manifest.keys_included if (path := directory / name).exists()]
    aside = _set_aside(there, directory, must_be_empty=False, replace=True)
    _put_keys_and_heads(manifest, scratch, directory)
    _check_chain(manifest, DEFAULT_DB_ALIAS)
    return aside


# What a newer release added is in no older dump, and would be in the way of the next upgrade.
_DROP_TABLES = """
SET client_min_messages = warning;
DO $$ DECLARE found regclass; BEGIN
  FOR found IN
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname = current_schema()
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
  LOOP EXECUTE format('DROP TABLE IF EXISTS %s CASCADE', found); END LOOP;
END $$;
"""


def _migrations_of(dump: Path) -> set[tuple[str, str]]:
    """Return the (app, name) of each migration in a PostgreSQL dump, without a database."""
    copied = _run_postgresql("pg_restore", "--data-only", "--table=django_migrations", "--file=-", str(dump))
    rows: set[tuple[str, str]] = set()
    columns: list[str] = []
    for line in copied.splitlines():
        if found := re.match(r"COPY \S*django_migrations \((.*)\) FROM stdin;", line):
            columns = found[1].split(", ")
        elif line == "\\.":
            columns = []
        elif columns:
            row = dict(zip(columns, line.split("\t"), strict=True))
            rows.add((row["app"], row["name"]))
    return rows


def _set_aside(there: list[Path], directory: Path, *, must_be_empty: bool, replace: bool) -> Path | None:
    if must_be_empty and not replace:
        raise BackupError(
            f"{directory} holds a database already. Set ACLWEB_DATA_DIR to an empty directory, or give "
            "--replace: what is there is then put aside, in a directory beside it."
        )
    if not there:
        return None
    aside = directory / f"before-restore-{timezone.now():%Y%m%d-%H%M%S}"
    aside.mkdir(mode=0o700)
    for path in there:
        path.rename(aside / path.name)
    return aside


def _put_keys_and_heads(manifest: Manifest, scratch: Path, directory: Path) -> None:
    for name in manifest.keys_included:
        os.replace(scratch / name, directory / name)
    if (file := heads.path()) is not None and not file.exists() and (scratch / HEADS).exists():
        shutil.copyfile(scratch / HEADS, file)
    heads.begin_anew(manifest.audit_head)


def _check_chain(manifest: Manifest, alias: str) -> None:
    """Raise BackupError unless the trail ends as the manifest says and is as whole as it was."""
    try:
        verdict = trail.verify(head=manifest.audit_head, using=alias)
    except AuditError as error:
        raise BackupError(f"The manifest is damaged: {error}") from error
    if verdict.head != manifest.audit_head or (manifest.audit_whole and not verdict.ok):
        raise BackupError(f"The audit trail is not as it was backed up. {verdict.sentence}")


def _unpacked(source: Path, scratch: Path) -> Manifest:
    """Unpack the backup and return its manifest; each part is held against its digest."""
    try:
        with tarfile.open(source) as archive:
            members = archive.getmembers()
            names = [member.name for member in members]
            if MANIFEST not in names or len(set(names)) < len(names) or not set(names) <= _PARTS:
                raise BackupError(f"{source} is no backup of aclweb: it does not hold what one holds.")
            for member in members:
                part = archive.extractfile(member)
                if part is None:
                    raise BackupError(f"{source} is no backup of aclweb: {member.name} is no file.")
                with open(scratch / member.name, "xb") as copy:
                    shutil.copyfileobj(part, copy)
    except FileNotFoundError as error:
        raise BackupError(f"There is no file {source}.") from error
    except (tarfile.TarError, EOFError, IsADirectoryError, PermissionError) as error:
        raise BackupError(f"{source} cannot be read as a backup: {error}.") from error
    manifest = _manifest(source, (scratch / MANIFEST).read_text(encoding="utf-8", errors="replace"))
    for name in sorted(set(names) - {MANIFEST}):
        if manifest.sha256.get(name) != _digest(scratch / name):
            raise BackupError(f"{source} is damaged: {name} is not what was backed up (its SHA-256 differs).")
    if missing := set(manifest.sha256) - set(names) | ({manifest.database} - set(names)):
        raise BackupError(f"{source} is damaged: {', '.join(sorted(missing))} is missing.")
    return manifest


def _manifest(source: Path, text: str) -> Manifest:
    try:
        found = json.loads(text)
        manifest = Manifest(**{**found, "keys_included": tuple(found["keys_included"])})
    except (ValueError, TypeError, KeyError) as error:
        raise BackupError(f"{source} is damaged: its manifest cannot be read ({error}).") from error
    if manifest.format != FORMAT:
        raise BackupError(
            f"{source} was made by aclweb {manifest.version} in a form that this release "
            f"({settings.ACLWEB_VERSION}) does not know; restore it with that release."
        )
    if not set(manifest.keys_included) <= set(KEY_FILES):
        raise BackupError(f"{source} is damaged: its manifest names unknown keys.")
    return manifest


# --- Both ---


@contextmanager
def _private_directory(beside: Path) -> Iterator[Path]:
    """A directory of the owner's alone on the same disk, that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=".aclweb-backup-", dir=beside) as name:
        yield Path(name)


@contextmanager
def _opened(database: Path) -> Iterator[str]:
    """Make a copy of the database readable under an alias; for PostgreSQL's dump, the live one."""
    if database.name == POSTGRESQL:
        yield DEFAULT_DB_ALIAS
        return
    connections.databases[_COPY] = {
        **connections.databases[DEFAULT_DB_ALIAS],
        "NAME": str(database),
        "OPTIONS": {},
    }
    try:
        yield _COPY
    finally:
        connections[_COPY].close()
        del connections[_COPY]
        del connections.databases[_COPY]


_PROTECTION = ("sslmode", "sslrootcert", "sslcert", "sslkey")


def _digest(file: Path) -> str:
    with open(file, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _run_postgresql(program: str, *options: str) -> str:
    """Run one of PostgreSQL's client programs on the database in use, and return what it printed."""
    if shutil.which(program) is None:
        raise BackupError(
            f"{program} is not installed here; install PostgreSQL's client programs of the server's version, "
            "or back the database up with your database's own tools."
        )
    given = connections[DEFAULT_DB_ALIAS].settings_dict
    # By the environment, so that no list of processes shows the password.
    environment = child_process.environment(
        {
            "PGHOST": str(given["HOST"] or ""),
            "PGPORT": str(given["PORT"] or ""),
            "PGUSER": str(given["USER"] or ""),
            "PGPASSWORD": str(given["PASSWORD"] or ""),
            "PGDATABASE": str(given["NAME"]),
            # How the connection is protected is part of DATABASE_URL, as in ?sslmode=verify-full&sslrootcert=F.
            **{f"PG{name.upper()}": str(given.get("OPTIONS", {}).get(name, "")) for name in _PROTECTION},
        }
    )
    environment = {name: value for name, value in environment.items() if value or not name.startswith("PG")}
    done = subprocess.run([program, *options], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise BackupError(f"{program} failed: {last}")
    return done.stdout
