"""A worker that dies anywhere leaves a change that the sweep finishes, exactly as approved."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, Operation, ResourceType
from aclweb.changes import failpoints
from aclweb.clusters import Connection, Verb, connect
from aclweb.clusters.zookeeper import ZOOKEEPER
from devstack.servers import lay_out
from tests.builders import allow, deny
from tests.changes.file_cluster import FileCluster

BEFORE = {
    allow("User:bob", "READ", "orders"),
    deny("User:eve", "READ", "orders"),
    allow("User:zed", "READ", "notes"),
}
AFTER = {
    deny("User:bob", "WRITE", "orders"),
    allow("User:bob", "DELETE", "orders"),
    allow("User:zed", "READ", "notes"),
}
ITEMS = 4  # one in each phase

# Each point once, and those that a run passes once a phase also in the middle of the run.
PROJECT = Path(__file__).parents[2]

KILLS = [
    *(f"{point}:kill9" for point in (*failpoints.POINTS, "sent")),
    *(
        f"{point}:kill9:3"
        for point in ("intent", "before-call", "sent", "replied", "recorded", "between-phases")
    ),
]


@dataclass(frozen=True)
class Ended:
    """A worker process that has ended; a negative status is the signal that killed it."""

    status: int
    printed: str
    complained: str


class World:
    """A database and a cluster in a directory, and the workers that run on them."""

    def __init__(self, directory: Path, fork_server: subprocess.Popen[str]) -> None:
        self.directory = directory
        self.kafka = FileCluster(directory / "kafka")
        self._server = fork_server

    def run(self, *arguments: str, **environment: str) -> Ended:
        """Run a worker to its end."""
        asked = {
            "arguments": arguments,
            "environment": self._environment(**environment),
            "out": str(self.directory / "out"),
            "err": str(self.directory / "err"),
        }
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        print(json.dumps(asked), file=self._server.stdin, flush=True)
        status = json.loads(self._server.stdout.readline())
        return Ended(status, (self.directory / "out").read_text(), (self.directory / "err").read_text())

    def killed(self, *arguments: str, **environment: str) -> None:
        """Run a worker that must be killed on the way."""
        ended = self.run(*arguments, **environment)
        assert ended.status == -signal.SIGKILL, ended

    def told(self, *arguments: str, **environment: str) -> dict[str, Any]:
        """Run a worker that must live, and return what it printed as JSON; an empty object for nothing."""
        ended = self.run(*arguments, **environment)
        assert ended.status == 0, ended.complained
        answer: dict[str, Any] = json.loads(ended.printed.splitlines()[-1]) if ended.printed else {}
        return answer

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start a worker from scratch and return while it runs."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.changes.worker", *arguments],
            cwd=PROJECT,
            env={**os.environ, **self._environment(**environment)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _environment(self, **more: str) -> dict[str, str]:
        return {
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": f"sqlite:///{self.directory / 'aclweb.sqlite3'}",
            "ACLWEB_TEST_KAFKA": str(self.directory / "kafka"),
            "ACLWEB_TEST_CRASH": "",
            **more,
        }


@pytest.fixture(scope="session")
def fork_server() -> Iterator[subprocess.Popen[str]]:
    """The process that workers are forked from, so that each of dozens need not import Django."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": "sqlite:///nowhere",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "tests.changes.worker", "serve"],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


@pytest.fixture(scope="session")
def prepared(
    tmp_path_factory: pytest.TempPathFactory, fork_server: subprocess.Popen[str], tables: Path
) -> tuple[Path, str]:
    """A world with one approved change, made once and copied for each test."""
    directory = tmp_path_factory.mktemp("prepared")
    shutil.copy(tables, directory / "aclweb.sqlite3")
    change = World(directory, fork_server).told("setup")
    return directory, str(change)


@pytest.fixture
def world(prepared: tuple[Path, str], tmp_path: Path, fork_server: subprocess.Popen[str]) -> World:
    shutil.copytree(prepared[0], tmp_path / "world")
    return World(tmp_path / "world", fork_server)


@pytest.fixture
def change(prepared: tuple[Path, str]) -> str:
    return prepared[1]


def assert_in_force_as_approved(world: World, told: dict[str, Any]) -> None:
    assert told["state"] == "APPLIED", told
    assert world.kafka.bindings == AFTER
    assert told["items"] == ["APPLIED"] * ITEMS
    assert sorted(told["outcomes"]) == list(range(ITEMS))  # one record an effect
    assert told["whole"], told["chain"]
    approved = (AFTER - BEFORE) | (BEFORE - AFTER)
    assert all(set(call["bindings"]) <= approved for call in world.kafka.calls())
    assert_no_transient_grant(world)


def assert_no_transient_grant(world: World) -> None:
    """On the way nobody was allowed what is refused both before and after."""
    questions = [
        AccessRequest(principal, "10.0.0.1", operation, ResourceType.TOPIC, topic)
        for principal in ("User:bob", "User:eve", "User:zed", "User:nobody")
        for operation in (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.DESCRIBE)
        for topic in ("orders", "notes")
    ]

    def allowed(bindings: set[AclBinding] | frozenset[AclBinding]) -> set[AccessRequest]:
        index = AclIndex(bindings)
        return {question for question in questions if authorize(question, index).allowed}

    both = allowed(BEFORE) | allowed(AFTER)
    for call in world.kafka.calls():
        assert allowed(call["after"]) <= both


@pytest.mark.parametrize("failpoint", KILLS)
def test_a_killed_workers_change_is_finished_by_the_sweep(world, change, failpoint):
    world.killed("apply", change, ACLWEB_TEST_CRASH=failpoint)

    world.told("expire")
    told = world.told("sweep")

    assert_in_force_as_approved(world, told)
    assert told["attempts"] == (1 if failpoint.startswith("finished") else 2)


def test_a_lease_runs_out_by_itself(world, change):
    world.killed("apply", change, ACLWEB_TEST_CRASH="replied:kill9", ACLWEB_LEASE_SECONDS="3")

    told = world.told("sweep")

    assert_in_force_as_approved(world, told)


def test_nobody_takes_over_while_a_lease_holds(world, change):
    world.killed("apply", change, ACLWEB_TEST_CRASH="intent:kill9")

    world.told("apply", change)

    assert world.kafka.calls() == []


def test_ten_deliveries_at_once_write_once(world, change):
    told = world.told("race", change, "10")

    assert_in_force_as_approved(world, told)
    assert told["attempts"] == 1
    assert len(world.kafka.calls()) == ITEMS


def test_a_change_that_kills_every_worker_is_stopped_after_five_tries(world, change):
    for _ in range(5):
        world.killed("apply", change, ACLWEB_TEST_CRASH="before-call:kill9")
        world.told("expire")

    told = world.told("sweep")

    assert told["state"] == "QUARANTINED"
    assert told["attempts"] == 5
    assert world.kafka.bindings == BEFORE
    assert told["whole"]


def test_a_worker_that_slept_past_its_lease_sends_nothing_more(world, change):
    sleeper = world.start("apply", change, ACLWEB_TEST_CRASH="intent:stop:2", ACLWEB_LEASE_SECONDS="10")
    try:
        os.waitpid(sleeper.pid, os.WUNTRACED)
        told = world.told("sweep")
        assert_in_force_as_approved(world, told)
        world.kafka.edit(add=[allow("User:bob", "READ", "orders")])
        after = world.kafka.bindings
        calls = len(world.kafka.calls())

        os.kill(sleeper.pid, signal.SIGCONT)
        sleeper.communicate(timeout=300)
    finally:
        if sleeper.poll() is None:
            sleeper.kill()
            sleeper.communicate()

    assert sleeper.returncode == 0
    assert world.kafka.bindings == after
    assert len(world.kafka.calls()) == calls


def test_no_variable_of_the_product_can_make_a_worker_die(world, change):
    world.told("apply", change, ACLWEB_FAILPOINTS="true", ACLWEB_FAILPOINT="claimed:kill9")

    assert world.kafka.bindings == AFTER


@pytest.mark.thorough(
    instead="tests/changes/test_crashes.py::test_a_killed_workers_change_is_finished_by_the_sweep"
)
@pytest.mark.zookeeper
@pytest.mark.parametrize(
    "failpoint", [f"{point}:kill9" for point in failpoints.POINTS] + ["intent:kill9:3", "replied:kill9:3"]
)
def test_a_killed_workers_change_is_finished_in_a_real_zookeeper(
    world, change, zookeeper_server, fresh, failpoint
):
    address = f"{zookeeper_server.address}/{fresh}"
    lay_out(address, cluster_id="file-cluster", topics={"orders": 1, "notes": 1})
    with connect(Connection(ZOOKEEPER, address)) as somebody:
        somebody.write(Verb.ADD, sorted(BEFORE, key=str))

    world.killed("apply", change, ACLWEB_TEST_CRASH=failpoint, ACLWEB_TEST_ZOOKEEPER=address)
    world.told("expire")
    told = world.told("sweep", ACLWEB_TEST_ZOOKEEPER=address)

    assert told["state"] == "APPLIED", told
    assert told["items"] == ["APPLIED"] * ITEMS
    assert sorted(told["outcomes"]) == list(range(ITEMS))
    assert told["whole"]
    with connect(Connection(ZOOKEEPER, address)) as somebody:
        assert set(somebody.read_acls().bindings) == AFTER
