"""A command at a terminal, or one that prints JSON, shows what was asked for, and no log beside it but warnings."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_storage import ROOT, data, made, run  # noqa: F401

pytestmark = pytest.mark.long

ADD = ("cluster", "add", "eu", "--kind", "admin", "--address", "127.0.0.1:1")


def at_terminal(data: Path, *words: str, **more: str) -> str:  # noqa: F811
    """Return what somebody sees who runs the command at a terminal."""
    ours, theirs = pty.openpty()
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment | {"ACLWEB_DATA_DIR": str(data)} | more,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # the other end is closed
            some = b""
        if not some:
            break
        seen += some
    os.close(ours)
    assert process.wait(60) == 0, seen.decode()
    return seen.decode().replace("\r\n", "\n")


def test_a_command_at_a_terminal_shows_its_answer_alone(data):  # noqa: F811
    told = at_terminal(data, *ADD, ACLWEB_LOG_LEVEL="info")

    assert told == "eu is known now. `cluster check eu` tries it, `sync eu` reads it at once.\n"


def test_a_command_that_prints_json_prints_nothing_else(data):  # noqa: F811
    told = run(data, "manage.py", *ADD, "--json")

    assert json.loads(told.stdout)["cluster"] == "eu"
    assert told.stderr == ""


def test_where_logs_are_collected_or_asked_for_they_are_reported(data):  # noqa: F811
    collected = run(data, "manage.py", *ADD)
    asked = at_terminal(data, "cluster", "set", "eu", "--name", "Europe", ACLWEB_LOG_LEVEL="debug")

    assert "The head of the audit trail is" in collected.stderr
    assert "The head of the audit trail is" in asked
