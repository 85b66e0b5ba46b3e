"""One Spark for all tests of a run, started by the first that needs it; real logs and a snapshot."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.pipeline.samples import BINDINGS, ODD_LOG
from tests.real_outputs import DATA


@pytest.fixture(scope="session")
def logs(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("logs")
    files = [Path(shutil.copy(file, folder)) for file in sorted((DATA / "audit").glob("*.log.gz"))]
    assert len(files) >= 6
    (folder / "odd.log").write_text(ODD_LOG, encoding="utf-8")
    (folder / "windows.log").write_bytes(ODD_LOG.replace("\n", "\r\n").encode("utf-8"))
    (folder / "empty.log").write_text("")
    return [*files, folder / "odd.log", folder / "windows.log", folder / "empty.log"]


@pytest.fixture(scope="session")
def snapshot_file(tmp_path_factory) -> Path:
    header = {"cluster": "test-eu", "revision": 7, "authorizer": "standard", "kafka_version": "4.4"}
    header |= {"config": {"super.users": "User:admin", "allow.everyone.if.no.acl.found": False}}
    path = tmp_path_factory.mktemp("snapshot") / "snapshot.jsonl"
    lines = [header | {"topics": [], "groups": []}, *(binding.as_dict() for binding in BINDINGS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
