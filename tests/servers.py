"""A real ZooKeeper, real Kafka brokers and Spark for tests, started when first asked for, once per session.

Where Java or a broker's jars are missing, the tests that need them are skipped with a
loud reason; with CI=true that is an error instead.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import KafkaError

from aclweb.acl.model.vocabulary import AclBinding
from aclweb.clusters import OutcomeKind, Verb
from aclweb.clusters.admin_api.client import AdminClient
from aclweb.runtime.java import JavaError
from devstack.jars import kafka_jars
from devstack.java import find_java, java_home
from devstack.servers import KafkaBroker, ZooKeeperServer, zookeeper_jars

SETTLED_SECONDS = 120.0
"""How long a broker may take to learn of what was written to its cluster."""

USERS = {name: f"{name}-secret" for name in ("admin", "alice", "bob", "carol", "dave")}

TOKENS_ON: dict[str, str | None] = {"delegation.token.secret.key": "known-to-tests"}
"""The setting with which brokers issue delegation tokens."""


def missing(sentence: str) -> None:
    """Skip loudly, or fail where nothing may be missing."""
    told = f"{sentence} So this claim was NOT tested."
    if os.environ.get("CI") == "true":
        pytest.fail(told)
    pytest.skip(told)


def need_java() -> None:
    try:
        find_java()
        zookeeper_jars()
    except JavaError as error:
        missing(str(error))


def need_jars(version: str) -> Path:
    """Return the folder of the broker's jars; never fetches, since a test must not hang on the network."""
    folder = kafka_jars(version)
    if folder is None:
        missing(f"The jars of Kafka {version} are not here; run python -m devstack.jars {version}.")
        raise AssertionError
    return folder


@pytest.fixture(scope="session")
def zookeeper_server() -> Iterator[ZooKeeperServer]:
    """A real ZooKeeper. Every test takes a chroot of its own."""
    need_java()
    with tempfile.TemporaryDirectory(prefix="aclweb-zookeeper-", ignore_cleanup_errors=True) as directory:
        with ZooKeeperServer(directory) as server:
            yield server


@pytest.fixture(scope="session")
def kafka44() -> Iterator[KafkaBroker]:
    """A real broker of Kafka 4.4: KRaft, StandardAuthorizer, super user admin, others by USERS."""
    need_java()
    jars = need_jars("4.4.0")
    with tempfile.TemporaryDirectory(prefix="aclweb-kafka44-", ignore_cleanup_errors=True) as directory:
        with KafkaBroker(directory, jars, users=USERS, settings=TOKENS_ON) as broker:
            yield broker


@pytest.fixture(scope="session")
def kafka39(zookeeper_server: ZooKeeperServer) -> Iterator[KafkaBroker]:
    """A real broker of Kafka 3.9 on ZooKeeper with AclAuthorizer; its `zookeeper` is the address with the chroot."""
    jars = need_jars("3.9.2")
    address = f"{zookeeper_server.address}/kafka39"
    with tempfile.TemporaryDirectory(prefix="aclweb-kafka39-", ignore_cleanup_errors=True) as directory:
        with KafkaBroker(
            directory, jars, engine="acl", zookeeper=address, users=USERS, settings=TOKENS_ON
        ) as broker:
            yield broker


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """One Spark on this machine."""
    need_java()
    os.environ["JAVA_HOME"] = str(java_home())
    from aclweb.pipeline.session import spark_session

    # More than the one partition that tiny logs get, so that what is in several is added up in tests too.
    with spark_session("local[2]", log_bytes=1, conf={"spark.sql.shuffle.partitions": "2"}) as session:
        yield session


@pytest.fixture
def fresh() -> str:
    """A word that no other test uses, for names on servers that tests share."""
    return f"t{uuid.uuid4().hex[:10]}"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have probes give a server seconds: on a busy machine a JVM's first handshake takes longer than one may wait."""
    monkeypatch.setattr("aclweb.inventory.checks.checking._PROBE_SECONDS", 60.0)
    monkeypatch.setattr("aclweb.clusters.connection.reachability._HANDSHAKE_SECONDS", 30.0)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Halt a process, and go on once each of its threads has stopped: the signal alone only asks for it."""
    os.kill(pid, signal.SIGSTOP)
    try:
        deadline = time.monotonic() + 60
        while any(not _has_stopped(task) for task in Path(f"/proc/{pid}/task").iterdir()):
            assert time.monotonic() < deadline, f"The process {pid} did not stop."
            time.sleep(0.01)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _has_stopped(task: Path) -> bool:
    """Whether a thread is stopped, or gone."""
    try:
        stat = (task / "stat").read_text()
    except OSError:
        return True
    # The name of a thread stands in brackets and may hold anything.
    return stat.rpartition(")")[2].split()[0] in "TtZX"


def wipe(broker: KafkaBroker) -> None:
    """Remove every ACL of a broker, and wait until it knows: KRaft tells a broker a moment after the write."""
    with AdminClient(broker.connection()) as client:
        for _ in range(1200):
            present = client.read_acls().bindings
            if not present:
                return
            client.write(Verb.REMOVE, present)
            time.sleep(0.05)
    raise AssertionError("The ACLs of the broker cannot be removed.")


def settle(broker: KafkaBroker, *, add: Iterable[AclBinding] = (), remove: Iterable[AclBinding] = ()) -> None:
    """Add and remove ACLs, and wait until the broker knows."""
    added, removed = list(add), list(remove)
    with AdminClient(broker.connection()) as client:
        for verb, bindings in ((Verb.ADD, added), (Verb.REMOVE, removed)):
            for outcome in client.write(verb, bindings):
                assert outcome.kind in (OutcomeKind.WRITTEN, OutcomeKind.ALREADY), outcome
        deadline = time.monotonic() + SETTLED_SECONDS
        while time.monotonic() < deadline:
            held = set(client.read_acls().bindings)
            if held.issuperset(added) and not held.intersection(removed):
                return
            time.sleep(0.02)
    raise AssertionError("The broker does not learn its ACLs.")


def settings_of(broker: KafkaBroker, user: str) -> dict[str, object]:
    """How a plain Kafka client logs in as this user."""
    return {
        "bootstrap_servers": broker.bootstrap,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": user,
        "sasl_plain_password": broker.users[user],
    }


def create_topic(broker: KafkaBroker, name: str, partitions: int = 1) -> None:
    client = KafkaAdminClient(**settings_of(broker, "admin"))
    try:
        client.create_topics([NewTopic(name, partitions, 1)])
    finally:
        client.close()


def produce(broker: KafkaBroker, user: str, topic: str) -> str | None:
    """Send one record as this user; return None if the broker took it, else the name of its error."""
    producer = KafkaProducer(
        **settings_of(broker, user),
        enable_idempotence=False,
        acks=1,
        retries=0,
        max_block_ms=60_000,
        request_timeout_ms=60_000,
        delivery_timeout_ms=60_000,
        linger_ms=0,
    )
    try:
        producer.send(topic, b"hello").get(timeout=60)
    except KafkaError as error:
        return type(error).__name__
    else:
        return None
    finally:
        producer.close(timeout=5)
