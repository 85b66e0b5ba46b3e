"""What one installation keeps is its owner's alone, whatever the directory was before, at every entry point."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from aclweb.runtime import datadir, keys
from tests import forkserver

ROOT = Path(__file__).resolve().parents[1]
pytestmark = [pytest.mark.long, pytest.mark.every_run]

NOBODY = 65534
# What another user could learn, run as that user: the paths it can open.
READER = """
import os, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for folder, folders, files in os.walk(sys.argv[1]):
    for name in files:
        try:
            open(os.path.join(folder, name), "rb").close()
            print(os.path.join(folder, name))
        except OSError:
            pass
"""
ENTRY_POINTS = {
    # One room's tables are enough to make the file of the database.
    "manage.py": ["manage.py", "migrate", "contenttypes", "--verbosity", "0"],
    "wsgi": ["-c", "import aclweb.wsgi"],
    "celery": ["-c", "import aclweb.celery, django; django.setup()"],
}


@pytest.fixture
def loose():
    """A data directory as a careless start of an earlier release left it: open to everybody."""
    outer = Path(tempfile.mkdtemp(prefix="aclweb-private-"))
    outer.chmod(0o755)
    data = outer / "data"
    for folder in (data, data / "logs", data / "demo"):
        folder.mkdir()
        folder.chmod(0o755)
    keys.make_missing(data)
    for name in ("aclweb.sqlite3-journal", "logs/site.log", "demo/prod-eu-file.jsonl"):
        (data / name).write_text("everything that is known")
        (data / name).chmod(0o644)
    (data / "aclweb.sqlite3-journal").unlink()
    yield data
    shutil.rmtree(outer)


def started(words: list[str], data: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ACLWEB_")}
    environment.pop("DATABASE_URL", None)
    environment["ACLWEB_DATA_DIR"] = str(data)
    return forkserver.run(words, environment, umask=0o022)


def open_to_others(directory: Path) -> list[str]:
    return [
        f"{stat.S_IMODE(path.lstat().st_mode):o} {path}"
        for path in (directory, *directory.rglob("*"))
        if not path.is_symlink() and path.lstat().st_mode & 0o077
    ]


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_every_entry_point_makes_private_what_is_there_and_what_it_makes(entry, loose):
    assert open_to_others(loose)

    run = started(ENTRY_POINTS[entry], loose)

    assert run.returncode == 0, run.stderr[-2000:]
    assert (loose / "aclweb.sqlite3").exists() == (entry != "celery")
    assert open_to_others(loose) == []


def test_what_every_entry_point_writes_later_is_private_too(loose):
    script = (
        "import {}; import pathlib, os; pathlib.Path(os.environ['ACLWEB_DATA_DIR'], 'later').write_text('x')"
    )
    for module in ("aclweb.wsgi", "aclweb.celery"):
        assert started(["-c", script.format(module)], loose).returncode == 0
        assert stat.S_IMODE((loose / "later").stat().st_mode) == 0o600, module
        (loose / "later").unlink()


def test_another_user_of_the_machine_can_read_no_file(loose):
    if os.geteuid() != 0:
        reason = "Only root can become another user, so what nobody can read was not tried."
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    # The interpreter itself may be root's alone; one that everybody can run reads as well.
    python = next(path for path in ("/usr/bin/python3", sys.executable) if Path(path).exists())
    before = subprocess.run([python, "-c", READER, loose], capture_output=True, text=True, check=True)
    assert "site.log" in before.stdout, "the test itself must see what is open"

    assert started(ENTRY_POINTS["manage.py"], loose).returncode == 0
    (loose / "logs").chmod(0o755)  # as a careless person might, later
    after = subprocess.run([python, "-c", READER, loose], capture_output=True, text=True, check=True)

    assert after.stdout == ""


def test_a_directory_of_somebody_else_that_everybody_reads_is_refused(loose, monkeypatch):
    def not_the_owner(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", not_the_owner)

    with pytest.raises(datadir.DataDirectoryError) as refused:
        datadir.make_private(loose)

    assert str(loose) in str(refused.value)
    assert "chmod -R go=" in str(refused.value)


def test_a_directory_that_only_a_group_of_ours_shares_is_taken_as_it_is(loose, monkeypatch):
    for path in (loose, *loose.rglob("*")):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & 0o770 | 0o070)
    monkeypatch.setattr(os, "chmod", lambda *_: (_ for _ in ()).throw(PermissionError(1, "no")))

    datadir.make_private(loose)


def test_a_link_out_of_the_directory_is_left_alone(loose, tmp_path):
    (tmp_path / "elsewhere").write_text("not ours")
    (tmp_path / "elsewhere").chmod(0o644)
    (loose / "link").symlink_to(tmp_path / "elsewhere")

    datadir.make_private(loose)

    assert stat.S_IMODE((tmp_path / "elsewhere").stat().st_mode) == 0o644


@pytest.mark.parametrize(
    "shared", ["/", "/etc", "/tmp", "/var/lib", str(datadir.PROJECT), str(datadir.PROJECT.parent)]
)
def test_a_directory_that_holds_the_files_of_others_is_refused(shared, monkeypatch):
    monkeypatch.setattr(os, "chmod", lambda path, mode: pytest.fail(f"{path} was changed"))

    with pytest.raises(
        datadir.DataDirectoryError, match=f"ACLWEB_DATA_DIR is {shared}; set it to a directory of its own"
    ):
        datadir.make_private(Path(shared))


def test_a_file_in_the_place_of_the_directory_is_refused_unchanged(tmp_path):
    file = tmp_path / "hosts"
    file.write_text("127.0.0.1 localhost")
    file.chmod(0o644)

    with pytest.raises(datadir.DataDirectoryError, match="hosts, a file; set it to a directory of its own"):
        datadir.make_private(file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_the_home_directory_is_never_changed(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    tmp_path.chmod(0o755)

    with pytest.raises(datadir.DataDirectoryError, match="directory of its own"):
        datadir.make_private(tmp_path)

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


# --- Commands without keys, or with settings that cannot be read ---


def manage(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return forkserver.run(["manage.py", *words], kept | environment)


def test_a_command_without_keys_ends_in_one_sentence(tmp_path):
    run = manage("audit", "verify", ACLWEB_DATA_DIR=str(tmp_path / "none"))

    assert run.returncode == 2
    assert run.stderr.startswith("There is no ACLWEB_SECRET_KEY: set that environment variable")
    assert run.stderr.count("\n") == 1
    assert not (tmp_path / "none").exists()


def test_a_setting_that_is_no_number_ends_in_one_sentence(loose):
    run = manage("audit", "head", ACLWEB_DATA_DIR=str(loose), ACLWEB_PAGE_SIZE="many")

    assert run.returncode == 2
    assert "ACLWEB_PAGE_SIZE" in run.stderr
    assert "'many'" in run.stderr
    assert run.stderr.count("\n") == 1
