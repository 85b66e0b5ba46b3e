"""`manage.py work`: what a deployment runs behind its site, replaced inside when it dies."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aclweb.runtime import stale_process as leftover

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.long


@pytest.fixture
def environment(tables, tmp_path):
    """The settings of an installation whose database has its tables."""
    shutil.copy(tables, tmp_path / "site.sqlite3")
    return os.environ | {
        "ACLWEB_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'site.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "ACLWEB_TESTS_WORKER": os.environ.get("PYTEST_XDIST_WORKER", ""),
    }


def work(environment, *names):
    return subprocess.Popen(
        [sys.executable, "manage.py", "work", *names],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def children(process):
    """The workers by the text that tells them apart, such as `--queues changes`."""
    found = {}
    for pid in leftover.descendants(process.pid):
        line = leftover.command_line(pid)
        for name in ("--queues changes", " beat "):
            if name in line:
                found[name.strip()] = pid
    return found


def wait_until(claim):
    deadline = time.monotonic() + 300
    while not claim():
        assert time.monotonic() < deadline, "it did not happen within five minutes"
        time.sleep(0.1)


def test_it_runs_what_is_named_replaces_what_is_killed_and_ends_when_asked(environment):
    process = work(environment, "changes", "beat")
    try:
        wait_until(lambda: len(children(process)) == 2)
        before = children(process)

        os.kill(before["--queues changes"], signal.SIGKILL)
        wait_until(
            lambda: children(process).get("--queues changes", 0) not in (0, before["--queues changes"])
        )

        assert children(process)["beat"] == before["beat"]
        following = children(process)
        process.terminate()
        _, said = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, said
    assert "The worker for changes ended by signal SIGKILL" in said
    assert all("celery" not in leftover.command_line(pid) for pid in following.values())


def test_a_worker_that_does_not_exist_is_named(environment):
    process = work(environment, "chores")
    _, said = process.communicate(timeout=300)

    assert process.returncode == 2
    assert "There is no worker 'chores'; name some of changes, syncs, searches, beat." in said
