"""What does a sync of a cluster cost, and what does reading the same server barely cost?

A real ZooKeeper, or a real broker of Kafka 4.4, holds so many ACLs. Each measurement is a process of its own on a
throw-away database: a bare read (kazoo fetches each node and decodes its JSON; kafka-python lists the ACLs), the first
sync, a quiet one, one after somebody else's edit, and one that reads everything again. CPU seconds are those of the
process from its first connection on, without its start and without servers; MB is the most that it held, with the
whole of Django. Requests are those to ZooKeeper.

    python -m bench.sync [--acls 100000] [--acls-a-node 2] [--kind zookeeper|admin|all]
                         [--database sqlite|postgresql|all] [--keep]

Ends with 1 where a figure is above its bound: the first sync of 100,000 ACLs takes at most 6 s CPU and 250 MB, of
1,000,000 at most 60 s and 1,500 MB; a quiet one at most 50 requests on ZooKeeper, and 2 s CPU on brokers. --keep
stores the figures among the results.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet

from bench import report, site
from bench.living import acls, add_one, fill
from bench.report import Figure
from devstack.jars import kafka_jars
from devstack.servers import KafkaBroker, ZooKeeperServer

FIRST_CPU_SECONDS, FIRST_MB = 6.0, 250.0
LARGE_CPU_SECONDS, LARGE_MB = 60.0, 1_500.0
QUIET_REQUESTS, QUIET_CPU_SECONDS = 50, 2.0
STEPS = ("bare read", "first sync", "quiet sync", "sync after an edit", "whole sync")
_BY_CREATE = 2_000  # ACLs in one request that writes them to a broker


@dataclass(frozen=True)
class Asked:
    acls: int
    acls_a_node: int
    kinds: tuple[str, ...]
    databases: tuple[str, ...]
    keep: bool


@dataclass(frozen=True)
class Cost:
    """What one step took. requests: None where nobody counted them; acls: what it found or stored."""

    cpu_seconds: float
    wall_seconds: float
    megabytes: float
    requests: int | None
    acls: int


def main(arguments: Sequence[str] | None = None) -> int:
    asked = parse(arguments)
    began, figures = time.monotonic(), list[Figure]()
    for kind in asked.kinds:
        with (
            tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory,
            _server(kind, asked, directory) as server,
        ):
            for database in asked.databases:
                with _database(database) as address:
                    figures += _measured(kind, server, database, address, asked)
    for figure in figures:
        print(figure.line())
    print(f"Load average {', '.join(f'{one:.1f}' for one in os.getloadavg())} on {os.cpu_count()} cores.")
    if asked.keep:
        print(report.write(figures, quick=False, seconds=time.monotonic() - began, module="bench.sync"))
    return 1 if any(figure.verdict == "MISSED" for figure in figures) else 0


def parse(arguments: Sequence[str] | None = None) -> Asked:
    """Return what is asked for; ends with 2 and a sentence where it cannot be measured."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.sync", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--acls", type=int, default=100_000)
    parser.add_argument("--acls-a-node", type=int, default=2, help="how many ACLs one resource has (2)")
    parser.add_argument("--kind", choices=("zookeeper", "admin", "all"), default="zookeeper")
    parser.add_argument("--database", choices=("sqlite", "postgresql", "all"), default="all")
    parser.add_argument("--keep", action="store_true", help="store the figures among the results")
    given = parser.parse_args(arguments)
    if given.acls < 1 or not 1 <= given.acls_a_node <= 1_000:
        parser.error("--acls must be at least 1, and --acls-a-node 1 to 1000.")
    return Asked(
        given.acls,
        given.acls_a_node,
        ("zookeeper", "admin") if given.kind == "all" else (given.kind,),
        ("sqlite", "postgresql") if given.database == "all" else (given.database,),
        given.keep,
    )


def bounds(kind: str, step: str, acls: int) -> tuple[float | None, float | None, int | None]:
    """Return the most CPU seconds, MB and requests that a step may take; None where nothing is asked of it."""
    if step == "first sync" and acls <= 100_000:
        return FIRST_CPU_SECONDS, FIRST_MB, None
    if step == "first sync" and acls <= 1_000_000:
        return LARGE_CPU_SECONDS, LARGE_MB, None
    if step == "quiet sync":
        is_bounded = kind == "admin" and acls <= 100_000
        return (
            QUIET_CPU_SECONDS if is_bounded else None,
            None,
            QUIET_REQUESTS if kind == "zookeeper" else None,
        )
    return None, None, None


def figures_of(kind: str, database: str, step: str, asked: Asked, cost: Cost, bare: Cost) -> list[Figure]:
    """Return the figures of one step beside the bare read of the same run."""
    cpu, megabytes, requests = bounds(kind, step, asked.acls)
    where = "brokers" if kind == "admin" else "ZooKeeper"
    part, title = f"Sync of {asked.acls:,} ACLs from {where}", f"{step}, {database}"
    ratio = f", {cost.cpu_seconds / bare.cpu_seconds:.2f} of a bare read" if bare.cpu_seconds else ""
    detail = f"{cost.acls:,} ACLs, {cost.wall_seconds:.1f} s wall{ratio}"
    found = [
        Figure(part, title, cost.cpu_seconds, "s CPU", cpu, at_most=True, detail=detail),
        Figure(part, title, cost.megabytes, "MB", megabytes, at_most=True),
    ]
    if cost.requests is not None:
        found.append(Figure(part, title, cost.requests, "requests", requests, at_most=True))
    return found


def _measured(kind: str, server: dict[str, Any], database: str, address: str, asked: Asked) -> list[Figure]:
    figures: list[Figure] = []
    bare: Cost | None = None
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        key = Fernet.generate_key().decode()
        settings = {**server, "kind": kind, "directory": directory, "database": address, "key": key}
        _child("tables", settings)
        for step in STEPS:
            if step == "sync after an edit":
                _edit(kind, server)
            cost = _child(step, settings)
            bare = bare or cost
            figures += figures_of(kind, database, step, asked, cost, bare)
            print(figures[-2 if cost.requests is None else -3].line(), file=sys.stderr, flush=True)
    return figures


def _child(step: str, settings: dict[str, Any]) -> Cost:
    """Do one step in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.sync", "--step", step, json.dumps(settings)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"The {step} failed.")
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


# --- servers ---------------------------------------------------------------------------


@contextmanager
def _server(kind: str, asked: Asked, directory: str) -> Iterator[dict[str, Any]]:
    """Run a server that holds the ACLs; yields its address and the options of a connection."""
    if kind == "zookeeper":
        java = ("-Xmx1536m", "-Dzookeeper.forceSync=no", f"-Djute.maxbuffer={64 * 1024 * 1024}")
        with ZooKeeperServer(directory, java_options=java) as keeper:
            address = f"{keeper.address}/kafka"
            fill(address, asked.acls, seed=1, acls_a_node=asked.acls_a_node)
            yield {"address": address, "options": {}}
        return
    jars = kafka_jars("4.4.0")
    if jars is None:
        raise SystemExit("The jars of Kafka 4.4.0 are not here; run python -m devstack.jars 4.4.0.")
    with KafkaBroker(directory, jars, users={"admin": "admin-secret"}) as broker:
        _fill_broker(broker, asked)
        connection = broker.connection()
        yield {"address": connection.address, "options": dict(connection.options)}


def _fill_broker(broker: KafkaBroker, asked: Asked) -> None:
    from aclweb.clusters import OutcomeKind, Verb, connect

    wanted = [
        one for some in acls(asked.acls, seed=1, acls_a_node=asked.acls_a_node).values() for one in some
    ]
    with connect(broker.connection(timeout_seconds=120)) as client:
        for start in range(0, len(wanted), _BY_CREATE):
            outcomes = client.write(Verb.ADD, wanted[start : start + _BY_CREATE])
            if wrong := [one for one in outcomes if one.kind is not OutcomeKind.WRITTEN]:
                raise SystemExit(f"The broker did not take the ACLs: {wrong[0].sentence}")


def _edit(kind: str, server: dict[str, Any]) -> None:
    """Edit ACLs as somebody else does."""
    name = f"edited-{time.monotonic_ns()}"
    if kind == "zookeeper":
        add_one(server["address"], name)
        return
    from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType
    from aclweb.clusters import Connection, Verb, connect, kind_named

    edit = AclBinding(
        ResourceType.TOPIC, name, PatternType.LITERAL, "User:new", "*", Operation.READ, PermissionType.ALLOW
    )
    with connect(Connection(kind_named(kind), server["address"], server["options"], 60.0)) as client:
        client.write(Verb.ADD, [edit])


@contextmanager
def _database(name: str) -> Iterator[str]:
    """Yield the address of an empty database, an empty text for SQLite."""
    if name == "sqlite":
        yield ""
        return
    from tests.servers_data import running_postgres

    with running_postgres() as address:
        yield address


# --- one step, in a process of its own -------------------------------------------------


def _step(step: str, settings: dict[str, Any]) -> Cost:
    site.set_up_django(
        Path(settings["directory"]), database=settings["database"] or None, encryption_key=settings["key"]
    )
    works: dict[str, Callable[[], int]] = {
        "tables": lambda: _make_tables(settings),
        "bare read": lambda: _bare_read(settings),
        "whole sync": lambda: _sync(whole=True),
    }
    return _taken(works.get(step, lambda: _sync(whole=False)), counts=settings["kind"] == "zookeeper")


def _taken(work: Callable[[], int], *, counts: bool) -> Cost:
    count = _count_requests() if counts else None
    wall, cpu = time.monotonic(), time.process_time()
    found = work()
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(
        time.process_time() - cpu, time.monotonic() - wall, megabytes, count() if count else None, found
    )


def _count_requests() -> Callable[[], int]:
    """Count the requests to ZooKeeper from here on."""
    from kazoo.client import KazooClient

    asked = 0
    ask = KazooClient._call

    def counted(self: Any, request: Any, answer: Any) -> Any:
        nonlocal asked
        asked += 1
        return ask(self, request, answer)

    KazooClient._call = counted
    return lambda: asked


def _make_tables(settings: dict[str, Any]) -> int:
    from django.core.management import call_command

    from aclweb.inventory.models import Cluster

    call_command("migrate", verbosity=0)
    kind = settings["kind"]
    Cluster.objects.create(
        slug="bench",
        name="bench",
        kind=kind,
        address=settings["address"],
        options=settings["options"],
        authorizer="acl" if kind == "zookeeper" else "standard",
    )
    return 0


def _sync(*, whole: bool) -> int:
    from django.db.models.functions import Now

    from aclweb.inventory.models import Cluster
    from aclweb.inventory.sync import sync

    cluster = Cluster.objects.get(slug="bench")
    if whole:
        Cluster.objects.filter(pk=cluster.pk).update(sync_asked_at=Now())
    result = sync(cluster)
    if not result.read or result.revision is None:
        raise SystemExit(f"The sync stored nothing: {result.sentence}")
    return result.revision.acls


def _bare_read(settings: dict[str, Any]) -> int:
    """Read all ACLs as a script would, and return how many they are."""
    if settings["kind"] == "zookeeper":
        return _bare_read_of_zookeeper(settings["address"])
    from kafka import KafkaAdminClient
    from kafka.admin import (
        ACLFilter,
        ACLOperation,
        ACLPermissionType,
        ACLResourcePatternType,
        ResourcePatternFilter,
        ResourceType,
    )

    options = settings["options"]
    client = KafkaAdminClient(
        bootstrap_servers=settings["address"],
        security_protocol=options["security.protocol"],
        sasl_mechanism=options["sasl.mechanism"],
        sasl_plain_username=options["sasl.username"],
        sasl_plain_password=options["sasl.password"],
        request_timeout_ms=120_000,
        receive_message_max_bytes=100_000_000,
    )
    everything = ACLFilter(
        None,
        None,
        ACLOperation.ANY,
        ACLPermissionType.ANY,
        ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY),
    )
    found, _ = client.describe_acls(everything)
    client.close()
    return len(found)


def _bare_read_of_zookeeper(address: str) -> int:
    from kazoo.client import KazooClient

    keeper = KazooClient(hosts=address, timeout=30.0)
    keeper.start(timeout=60)
    count = 0
    for root in ("/kafka-acl", "/kafka-acl-extended/prefixed"):
        for kind in keeper.get_children(root):
            names = keeper.get_children(f"{root}/{kind}")
            for start in range(0, len(names), 1000):
                sent = [keeper.get_async(f"{root}/{kind}/{name}") for name in names[start : start + 1000]]
                count += sum(len(json.loads(one.get()[0])["acls"]) for one in sent)
    keeper.stop()
    keeper.close()
    return count


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        print(json.dumps(vars(_step(sys.argv[2], json.loads(sys.argv[3])))))
    else:
        raise SystemExit(main())
