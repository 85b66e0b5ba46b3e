"""What a replay says would be denied or allowed: is that what real clients meet once the edit is made?

Clients ask a real broker for all that is probed, and its own log is replayed with an edit. Then the edit is made,
and the clients ask again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aclweb.acl.model import AclBinding, Delta, Operation, ResourceType
from aclweb.acl.notation.files import write_delta
from aclweb.pipeline.replaying import ALLOWED, DENIED
from devstack.java import java_home
from tests.builders import acl
from tests.clusters.probing import Asked, Ground, met, probes_of
from tests.servers import settle

ROOT = Path(__file__).resolve().parents[2]
FEWEST = 50


def acls_of(ground: Ground) -> list[AclBinding]:
    """alice may do everything on the team's names; bob reads what begins with one prefix; carol may nothing."""
    team, _, dotted, *_ = ground.prefixes
    kinds = ("TOPIC", "GROUP", "TRANSACTIONAL_ID")
    everything = (
        acl("ALLOW", "User:alice", "ALL", team, pattern="PREFIXED", resource_type=kind) for kind in kinds
    )
    return [
        *everything,
        acl("ALLOW", "User:bob", "READ", dotted, pattern="PREFIXED"),
        acl("ALLOW", "User:bob", "READ", ground.groups[0], resource_type="GROUP"),
        acl("ALLOW", "User:bob", "ALL", "*", resource_type="TRANSACTIONAL_ID", host="127.0.0.1"),
    ]


def edit_of(ground: Ground, present: list[AclBinding]) -> Delta:
    """Take alice's right on topics away and some of bob's with a denial; let carol write and see."""
    team, pay, dotted, *_ = ground.prefixes
    of_topics = tuple(binding for binding in present if binding.resource_name == team)[:1]
    return Delta(
        add=(
            acl("ALLOW", "User:alice", "READ", ground.topics[0]),
            acl("DENY", "User:*", "DESCRIBE", ground.groups[0], resource_type="GROUP"),
            acl("DENY", "User:bob", "READ", ground.topics[1], host="127.0.0.1"),
            acl("DENY", "User:bob", "ALL", "*", resource_type="TRANSACTIONAL_ID"),
            acl("ALLOW", "User:carol", "WRITE", dotted, pattern="PREFIXED"),
            acl("ALLOW", "User:carol", "ALL", pay, pattern="PREFIXED", resource_type="GROUP"),
            acl("ALLOW", "User:carol", "DESCRIBE_CONFIGS", "*"),
        ),
        remove=of_topics,
    )


def replayed(folder: Path, log: bytes, present: Iterable[AclBinding], edit: Delta) -> dict[Asked, bool]:
    """Return what the command says of each logged request whose answer turns: whether it would be allowed."""
    config = {"super.users": "User:admin", "allow.everyone.if.no.acl.found": False}
    header = {"cluster": "real", "authorizer": "standard", "kafka_version": "4.4", "config": config}
    lines = [header, *(binding.as_dict() for binding in present)]
    (folder / "snapshot.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    (folder / "edit.jsonl").write_text(write_delta(edit), encoding="utf-8")
    (folder / "authorizer.log").write_bytes(log)
    words = (
        "--snapshot",
        "snapshot.jsonl",
        "--delta",
        "edit.jsonl",
        "--log",
        "authorizer.log",
        "--out",
        "found",
    )
    environment = {**os.environ, "JAVA_HOME": str(java_home()), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "aclweb.pipeline", "replay", "--master", "local[1]", *words]
    job = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert job.returncode == 0, job.stderr
    found = {}
    for row in pq.read_table(folder / "found" / "flips.parquet").to_pylist():
        assert row["change"] in (DENIED, ALLOWED), row
        user = row["principal"].removeprefix("User:")
        kind = ResourceType[row["resource_type"]]
        asked = (user, Operation[row["operation"]], kind, row["resource_name"])
        found[asked] = row["change"] == ALLOWED
    return found


@pytest.mark.long
@pytest.mark.thorough(instead="tests/pipeline/test_replay.py::test_what_turns_is_what_deciding_twice_gives")
def test_real_clients_meet_what_the_replay_of_their_own_log_says(kafka44, fresh, tmp_path):
    with probes_of(kafka44, fresh) as (ground, probes):
        present = acls_of(ground)
        edit = edit_of(ground, present)
        settle(kafka44, add=present)
        first = met(probes)
        start = kafka44.authorizer_log.stat().st_size
        was = met(probes, first)
        log = kafka44.authorizer_log.read_bytes()[start:]
        flips = replayed(tmp_path, log, present, edit)
        foretold = was | {asked: allowed for asked, allowed in flips.items() if asked in was}

        settle(kafka44, add=edit.add, remove=edit.remove)
        is_now = met(probes, foretold)

    assert is_now == foretold
    confirmed = [asked for asked in flips if asked in is_now]
    assert all(was[asked] != is_now[asked] for asked in confirmed)
    assert min(len(confirmed), sum(was.values())) >= FEWEST
    assert {flips[asked] for asked in confirmed} == {True, False}
