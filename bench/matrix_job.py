"""What does the matrix of a large company take: 1,000 principals on 100,000 topics, from a log of as many requests?

    python -m bench.matrix_job [--topics N] [--acls N] [--requests N] [--lines N] [--memory 1g]

Makes the ACLs and a log of a day, runs the job `matrix` on the log as a command of its own, and prints what it took,
the rows of each table and the size of the result. One principal is checked topic by topic against the core.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.model import AccessRequest, AclBinding, AuthorizerSettings, ResourceType, operations_of
from bench import worlds
from bench.logs import write_log
from bench.process_tree import cost_of
from devstack.java import java_home

SETTINGS = AuthorizerSettings()
CHECKED = "User:svc-0007"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--topics", type=int, default=100_000)
    parser.add_argument("--acls", type=int, default=20_000)
    parser.add_argument("--requests", type=int, default=300_000, help="different ones in the log")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--memory", default="1g", help="of Spark's driver")
    options = parser.parse_args()
    topics = worlds.topic_names(options.topics)
    acls = list(worlds.bindings(options.acls))
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as name:
        folder = Path(name)
        snapshot, log, out = folder / "snapshot.jsonl", folder / "kafka-authorizer.log", folder / "out"
        _write_snapshot(snapshot, acls, topics)
        write_log(log, _requests(acls, topics, options.requests), options.lines, AclIndex(acls))
        words = ("matrix", "--snapshot", str(snapshot), "--log", str(log), "--out", str(out))
        command = [sys.executable, "-m", "aclweb.pipeline", *words, "--master", "local[2]"]
        command += ["--conf", f"spark.driver.memory={options.memory}"]
        cost = cost_of(command, env={"JAVA_HOME": str(java_home())})
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        sizes = {file.name: file.stat().st_size for file in sorted(out.iterdir())}
        checked = _check(out, acls, topics)
    print(f"{cost.cpu_seconds:.0f} CPU s, {cost.wall_seconds:.0f} s at load {os.getloadavg()[0]:.0f},")
    print(
        f"the largest process held {cost.peak_bytes / 1e6:,.0f} MB; log {log.name}: {options.lines:,} lines"
    )
    print(f"rows {manifest['rows']}, cells {manifest['cells']:,}, topics {manifest['topics']}")
    print(f"bytes {sizes}")
    print(f"{checked} operations of {CHECKED} are as the core has them")
    return 0


def _write_snapshot(file: Path, acls: Sequence[AclBinding], topics: Sequence[str]) -> None:
    header = {
        "cluster": "bench",
        "revision": 1,
        "authorizer": "standard",
        "kafka_version": "4.4",
        "config": {},
    }
    header |= {"topics": topics, "topics_known": "all", "groups": []}
    rows = [header, *(acl.as_dict() for acl in acls)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _requests(acls: Sequence[AclBinding], topics: Sequence[str], count: int) -> list[AccessRequest]:
    """Return different requests of 1,000 principals; half are near an ACL, and the others are about any topic."""
    chance = random.Random(11)
    near = worlds.near_questions([acl for acl in acls if acl.resource_type is ResourceType.TOPIC], count // 2)
    found = {request for request in near if request.operation in worlds.OPERATIONS[:2]}
    while len(found) < count:
        principal = f"User:svc-{chance.randrange(1_000):04d}"
        operation = chance.choice(worlds.OPERATIONS[:2])
        found.add(AccessRequest(principal, "10.1.2.3", operation, ResourceType.TOPIC, chance.choice(topics)))
    return sorted(
        found, key=lambda request: (request.principal, request.resource_name, request.operation.name)
    )


def _check(out: Path, acls: Sequence[AclBinding], topics: Sequence[str]) -> int:
    """Compare what one principal may do, as the job counted it, with the core's answer for each topic."""
    rows = pq.read_table(out / "rights.parquet", filters=[("principal", "=", CHECKED)]).to_pylist()
    told = {row["operation"]: row["configured"] for row in rows}
    index = AclIndex(acls)
    host = "192.0.2.1"
    for operation in operations_of(ResourceType.TOPIC, SETTINGS):
        asked = (AccessRequest(CHECKED, host, operation, ResourceType.TOPIC, name) for name in topics)
        allowed = sum(decide(request, index, SETTINGS)[0] is Result.ALLOWED for request in asked)
        if allowed != told.get(operation.name, 0):
            raise SystemExit(
                f"{CHECKED} may {operation.name} {allowed:,} topics, not {told.get(operation.name)}"
            )
    return len(told)


if __name__ == "__main__":
    raise SystemExit(main())
