"""Backup, restore and doctor, as an operator uses them: whole files come back, damaged ones never do."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import sqlite3
import stat
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from aclweb.inventory.models import LogSource
from aclweb.operations import doctor
from aclweb.operations.backup import HEADS
from aclweb.runtime import datadir, keys
from tests.pipeline.connector_folder import connector_in
from tests.test_storage import run

pytestmark = pytest.mark.long

MAKE = """
from aclweb.accounts.models import User, Role
from aclweb.accounts import grants, tokens
from aclweb.inventory.models import Cluster
ada = User.objects.create_user("ada", password="hers alone")
login = {"sasl.password": "secret"}
cluster = Cluster.objects.create(slug="eu", name="eu", kind="admin", address="k:9092", options=login)
grants.give(actor="test", to=ada, role=Role.VIEWER, cluster=cluster)
tokens.issue(ada, "a robot", 1)
"""
ASK = """
from aclweb.inventory.models import Cluster
from aclweb.accounts.models import User
print(Cluster.objects.get().options["sasl.password"], User.objects.get().check_password("hers alone"))
"""


@pytest.fixture(scope="module")
def lived(tables, tmp_path_factory) -> Path:
    """A data directory in which somebody has worked."""
    data = tmp_path_factory.mktemp("lived")
    keys.make_missing(data)
    shutil.copy(tables, data / "aclweb.sqlite3")
    made = run(data, "manage.py", "shell", "--verbosity", "0", "-c", MAKE)
    assert made.returncode == 0, made.stderr
    return data


@pytest.fixture(scope="module")
def backed_up(lived, tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("safe") / "aclweb.tar"
    with closing(sqlite3.connect(lived / "aclweb.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # a worker writes meanwhile
        made = run(lived, "manage.py", "backup", str(file), "--json")
        other.execute("ROLLBACK")
    assert made.returncode == 0, made.stderr
    told = json.loads(made.stdout)
    assert told["counts"] == {"accounts": 1, "clusters": 1, "revisions": 0, "changes": 0, "audit events": 2}
    assert told["keys_included"] == ["secret_key", "encryption_keys"]
    assert told["audit_head"].startswith("2:")
    return file


def checked_events_of(data: Path) -> int:
    """Verify the trail, require that it is whole, and return how many events it has."""
    found = run(data, "manage.py", "audit", "verify", "--json")
    assert found.returncode == 0, found.stdout + found.stderr
    return json.loads(found.stdout)["checked"]


def stored_events_of(data: Path) -> int:
    with closing(sqlite3.connect(data / "aclweb.sqlite3")) as database:
        return int(database.execute("SELECT count(*) FROM audit_event").fetchone()[0])


def edited(file: Path, target: Path, **changed: bytes | None) -> Path:
    """Copy the backup with other bytes in some parts; None leaves a part out."""
    with tarfile.open(file) as source, tarfile.open(target, "w") as copy:
        for member in source.getmembers():
            stored = source.extractfile(member)
            assert stored is not None, member.name
            data = changed.get(member.name.replace(".", "_").replace("-", "_"), stored.read())
            if data is not None:
                member.size = len(data)
                copy.addfile(member, io.BytesIO(data))
    return target


def test_a_backup_is_its_owner_s_alone_and_never_written_over_another(backed_up, lived):
    again = run(lived, "manage.py", "backup", str(backed_up))

    assert stat.S_IMODE(backed_up.stat().st_mode) == 0o600
    assert again.returncode == 1
    assert "exists already" in again.stderr
    assert list(backed_up.parent.iterdir()) == [backed_up], "nothing is left beside it"


def test_an_installation_comes_back_in_an_empty_directory(backed_up, tmp_path):
    target = tmp_path / "new"

    restored = run(target, "manage.py", "restore", str(backed_up))

    assert restored.returncode == 0, restored.stderr
    assert "The audit trail is checked up to 2:" in restored.stdout
    asked = run(target, "manage.py", "shell", "--verbosity", "0", "-c", ASK)
    assert asked.stdout.strip() == "secret True", asked.stderr
    assert checked_events_of(target) == 2
    assert all(not path.lstat().st_mode & 0o077 for path in (target, *target.rglob("*")))


def test_what_is_there_is_put_aside_only_when_told_and_the_kept_head_begins_anew(backed_up, tmp_path):
    target = tmp_path / "used"
    assert run(target, "manage.py", "restore", str(backed_up)).returncode == 0
    run(target, "manage.py", "token", "issue", "ada", "later")
    assert stored_events_of(target) == 3

    refused = run(target, "manage.py", "restore", str(backed_up))
    assert refused.returncode == 1
    assert "holds a database already" in refused.stderr
    assert stored_events_of(target) == 3

    done = run(target, "manage.py", "restore", str(backed_up), "--replace", "--json")
    assert done.returncode == 0, done.stderr
    aside = Path(json.loads(done.stdout)["aside"])
    assert (aside / "aclweb.sqlite3").stat().st_size > 100_000
    assert checked_events_of(target) == 2


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ({"aclweb_sqlite3": b"SQLite format 3\0" + b"x" * 9_000}, "SHA-256 differs"),
        ({"secret_key": b"another key"}, "SHA-256 differs"),
        ({"secret_key": None}, "secret_key is missing"),
        ({"aclweb_sqlite3": None}, "aclweb.sqlite3 is missing"),
        ({"manifest_json": None}, "is no backup of aclweb"),
        ({"manifest_json": b"{"}, "its manifest cannot be read"),
    ],
)
def test_a_damaged_backup_changes_nothing(damage, told, backed_up, tmp_path, settings):
    target = settings.ACLWEB_DATA_DIR = tmp_path / "new"
    file = edited(backed_up, tmp_path / "damaged.tar", **damage)

    with pytest.raises(CommandError, match=re.escape(told)) as refused:
        call_command("restore", str(file))

    assert refused.value.returncode == 1
    assert {path.name for path in target.iterdir()} <= {datadir.CLAIM_NAME}


@pytest.mark.parametrize("content", [b"", b"not a tar", None])
def test_what_is_no_backup_is_reported(content, tmp_path, settings):
    settings.ACLWEB_DATA_DIR = tmp_path / "new"
    file = tmp_path / "a.tar"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(CommandError, match=re.escape(str(file))) as refused:
        call_command("restore", str(file))

    assert refused.value.returncode == 1


def test_a_backup_whose_audit_trail_was_edited_is_not_brought_back(backed_up, tmp_path):
    """Also where whoever edited it made the digests fit again."""
    with tarfile.open(backed_up) as archive:
        database = tmp_path / "edited.sqlite3"
        database.write_bytes(archive.extractfile("aclweb.sqlite3").read())
        manifest = json.loads(archive.extractfile("manifest.json").read())
    with closing(sqlite3.connect(database)) as opened:
        opened.execute("DROP TRIGGER audit_event_refuse_update")
        opened.execute("UPDATE audit_event SET actor = 'mallory' WHERE sequence = 1")
        opened.commit()
    manifest["sha256"]["aclweb.sqlite3"] = hashlib.sha256(database.read_bytes()).hexdigest()
    file = edited(
        backed_up, tmp_path / "edited.tar",
        aclweb_sqlite3=database.read_bytes(), manifest_json=json.dumps(manifest).encode(),
    )  # fmt: skip

    refused = run(tmp_path / "new", "manage.py", "restore", str(file))

    assert refused.returncode == 1
    assert "The audit trail is not as it was backed up. Event 1 is not what was recorded" in refused.stderr


def test_a_path_out_of_the_directory_is_never_unpacked(backed_up, tmp_path):
    evil = tmp_path / "evil.tar"
    with tarfile.open(evil, "w") as archive:
        entry = tarfile.TarInfo("../../outside")
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))

    refused = run(tmp_path / "a" / "b", "manage.py", "restore", str(evil))

    assert refused.returncode == 1
    assert "is no backup of aclweb" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "outside").exists()


def test_nothing_is_restored_under_a_running_aclweb(backed_up, tmp_path):
    claim = datadir.Claim(tmp_path / "running")
    try:
        refused = run(tmp_path / "running", "manage.py", "restore", str(backed_up))
    finally:
        claim.release()

    assert refused.returncode == 1
    assert "aclweb already runs on" in refused.stderr


def test_keys_of_the_environment_are_named_and_not_copied(lived, tmp_path):
    secret, key = (lived / "secret_key").read_text().strip(), (lived / "encryption_keys").read_text().strip()
    made = run(
        lived, "manage.py", "backup", str(tmp_path / "b.tar"),
        ACLWEB_SECRET_KEY=secret, ACLWEB_ENCRYPTION_KEYS=key,
    )  # fmt: skip

    assert made.returncode == 0
    assert "It does not hold ACLWEB_ENCRYPTION_KEYS; keep its value elsewhere" in made.stdout
    assert key.encode() not in (tmp_path / "b.tar").read_bytes()


# --- doctor ---


def checks(data: Path, **more: Any) -> tuple[int, dict[str, dict[str, object]]]:
    found = run(data, "manage.py", "doctor", "--json", **more)
    assert "Traceback" not in found.stderr, found.stderr
    return found.returncode, {line["name"]: line for line in map(json.loads, found.stdout.splitlines())}


def test_doctor_names_what_is_wrong_and_the_command_that_mends_it(lived):
    status, told = checks(lived)

    assert status == 1
    assert {name for name, line in told.items() if line["ok"] is False} == {"workers", "beat"}
    assert "./run" in told["workers"]["mend"]
    assert told["audit trail"]["sentence"] == "The chain is whole: 2 events."
    text = run(lived, "manage.py", "doctor").stdout
    assert "yes  database: SQLite takes writes" in text
    assert "NO   workers: " in text
    assert "     to fix it: ./run" in text


def test_doctor_finds_each_thing_that_can_be_wrong(backed_up, tmp_path):
    target = tmp_path / "ill"
    run(target, "manage.py", "restore", str(backed_up))
    with closing(sqlite3.connect(target / "aclweb.sqlite3")) as opened:
        opened.execute("DROP TRIGGER audit_event_refuse_delete")
        opened.execute("DELETE FROM audit_event WHERE sequence = 2")
        opened.commit()
    (target / "encryption_keys").unlink()
    keys.make_missing(target)

    status, told = checks(target, ACLWEB_BEHIND_PROXY="true", ACLWEB_TRUSTED_PROXIES="0")

    assert status == 1
    wrong = {name for name, line in told.items() if line["ok"] is False}
    assert wrong == {"workers", "beat", "logins of clusters", "audit triggers", "audit head", "proxy"}
    assert told["audit triggers"]["mend"] == "python manage.py audit protect"
    assert "eu" in told["logins of clusters"]["sentence"]


def test_doctor_goes_on_after_a_database_that_cannot_be_read(lived, tmp_path):
    for name in ("secret_key", "encryption_keys"):
        (tmp_path / name).write_bytes((lived / name).read_bytes())
    (tmp_path / "aclweb.sqlite3").write_bytes(b"no database at all" * 500)

    status, told = checks(tmp_path)

    assert status == 1
    assert told["database"]["ok"] is False
    assert "manage.py restore" in told["database"]["sentence"]
    assert told["audit trail"]["ok"] is None
    assert told["disk space"]["ok"] is True


def test_little_room_on_the_disk_is_reported(monkeypatch, settings, tmp_path):
    settings.ACLWEB_DATA_DIR = tmp_path
    monkeypatch.setattr(doctor, "LEAST_FREE_BYTES", 1 << 60)

    found = doctor._space()

    assert (found.ok, found.mend) == (False, "free space")


def test_doctor_says_whether_logs_in_topics_can_be_read_and_how_else(cluster, settings, tmp_path):
    settings.ACLWEB_KAFKA_CONNECTOR = str(tmp_path)

    unneeded = doctor._topics()
    LogSource.objects.create(cluster=cluster, topic="logs", topic_cluster=cluster, broker_by="key")
    missing = doctor._topics()
    connector_in(tmp_path)
    found = doctor._topics()
    settings.ACLWEB_SPARK_MASTER = ""

    assert unneeded.ok is None
    assert "Only a log in a topic needs it: python -m devstack.jars connector" in unneeded.sentence
    assert (missing.ok, missing.mend) == (
        False,
        "python -m devstack.jars connector, then start aclweb again; where ACLWEB_KAFKA_CONNECTOR is set, or another "
        "user runs aclweb, set it to the folder that this prints",
    )
    assert missing.sentence == (
        f"There is no jar in {tmp_path}, which ACLWEB_KAFKA_CONNECTOR names. So no log that is in a topic is read."
    )
    assert (found.ok, found.sentence) == (
        True,
        f"Spark 4.3.0 has its connector for Kafka, version 4.2.0, from {tmp_path}. This pair is tested.",
    )
    assert doctor._topics().ok is None


def test_the_head_of_the_trail_is_in_the_backup(backed_up):
    with tarfile.open(backed_up) as archive:
        assert HEADS in archive.getnames()
