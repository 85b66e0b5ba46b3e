"""Every kind of cluster keeps the same promises: in memory, a file, a folder, ZooKeeper, brokers of 4.4, 4.3, 3.9."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from aclweb.acl.model.vocabulary import AclBinding
from aclweb.acl.notation.files import write_acls
from aclweb.clusters import (
    KINDS,
    ClusterClient,
    ClusterError,
    Connection,
    OutcomeKind,
    TopicInfo,
    Verb,
    connect,
)
from aclweb.clusters.gitops import GITOPS
from aclweb.clusters.snapshot import SNAPSHOT
from aclweb.clusters.zookeeper import ZOOKEEPER
from devstack.servers import KafkaBroker, lay_out
from tests.builders import acl, allow, deny
from tests.clusters.tls_broker import SUBJECT, TlsBroker
from tests.fake_cluster import FakeCluster
from tests.servers import USERS, create_topic, need_jars, need_java, wipe

# Both brokers in every run.
pytestmark = pytest.mark.every_run

# What the claims are held against, and which kind of cluster each is.
KIND_OF = {
    "fake": "admin",
    "snapshot": "snapshot",
    "gitops": "gitops",
    "zookeeper": "zookeeper",
    "kafka44": "admin",
    "kafka39": "admin",
    "kafka43": "admin",
    "kafka41": "admin",
    "login over TLS": "admin",
    "certificate": "admin",
}
# Brokers of versions in between, and at ports with TLS, are asked in thorough runs.
THOROUGH = [
    pytest.mark.kafka,
    pytest.mark.thorough(
        instead="tests/clusters/test_contract.py::test_reading_gives_exactly_the_acls_that_are_there_letter_by_letter"
    ),
]
SERVER = {
    "zookeeper": [pytest.mark.zookeeper],
    "kafka44": [pytest.mark.kafka],
    "kafka39": [pytest.mark.kafka],
    "kafka43": THOROUGH,
    "kafka41": THOROUGH,
    "login over TLS": THOROUGH,
    "certificate": THOROUGH,
}


def subjects(*, writable: bool = False) -> list[object]:
    """Return what the claims are held against, marked by the server that it needs."""
    chosen = [name for name, kind in KIND_OF.items() if KINDS[kind].can_write or not writable]
    return [pytest.param(name, marks=SERVER.get(name, ())) for name in chosen]


ALL = subjects()
WRITABLE = subjects(writable=True)
# Those that are known from a copy: nothing is written to them, and the copy may be gone or damaged.
COPIES = [name for name, kind in KIND_OF.items() if not KINDS[kind].can_write]
DONE = {OutcomeKind.WRITTEN, OutcomeKind.ALREADY}

PLAIN = allow("User:bob", "READ", "orders.eu")
MANY = (
    PLAIN,
    allow("User:bob", "READ", "orders.eu", pattern="PREFIXED"),
    deny("User:bob", "READ", "orders.eu"),
    allow("User:*", "DESCRIBE", "*"),
    allow("User:CN=pay,OU=eu west,O=Æther", "WRITE", "orders.eu", host="10.0.6.30"),
    allow('User:o\'neil "x" {y}', "ALL", "orders.eu", host="0:0:0:0:0:0:0:1"),
    allow("Group:a:b", "READ", "team:one two;ü", resource_type="GROUP"),
    allow("User:tx", "WRITE", "tx-", pattern="PREFIXED", resource_type="TRANSACTIONAL_ID"),
    allow("User:ops", "ALTER", "kafka-cluster", resource_type="CLUSTER"),
    allow("User:ops", "DESCRIBE_TOKENS", "User:bob", resource_type="USER"),
    allow("User:ops", "DESCRIBE", "token-1", resource_type="DELEGATION_TOKEN"),
)


@pytest.fixture(scope="module")
def tls_broker(tmp_path_factory) -> Iterator[TlsBroker]:
    need_java()
    settings = {"super.users": f"User:admin;User:{SUBJECT}"}
    folder = tmp_path_factory.mktemp("tls")
    with TlsBroker(folder, need_jars("4.4.0"), users=USERS, settings=settings) as started:
        yield started


@pytest.fixture(scope="module")
def kafka43(tmp_path_factory) -> Iterator[KafkaBroker]:
    need_java()
    with KafkaBroker(tmp_path_factory.mktemp("kafka43"), need_jars("4.3.1"), users=USERS) as started:
        yield started


@pytest.fixture(scope="module")
def kafka41(tmp_path_factory) -> Iterator[KafkaBroker]:
    need_java()
    with KafkaBroker(tmp_path_factory.mktemp("kafka41"), need_jars("4.1.1"), users=USERS) as started:
        yield started


@dataclass
class Subject:
    """One kind of cluster, empty at first, with the topics `orders.eu` of two partitions and `audit` of one.

    Of a copy also: `lose` takes it away, and `write` puts any text where its ACLs are.
    """

    connect: Callable[[], ClusterClient]
    put: Callable[[Iterable[AclBinding]], object]
    lose: Callable[[], object] | None = None
    write: Callable[[str], object] | None = None


@pytest.fixture
def subject(request, tmp_path: Path, fresh: str) -> Subject:
    kind = request.param
    if kind == "fake":
        fake = FakeCluster(topics=[TopicInfo("orders.eu", 2), TopicInfo("audit", 1)], groups=["billing"])
        return Subject(lambda: fake, fake.bindings.extend)
    if kind == "snapshot":
        return _snapshot(tmp_path / "prod.jsonl")
    if kind == "gitops":
        return _folder(tmp_path / "repository")
    if kind == "zookeeper":
        server = request.getfixturevalue("zookeeper_server")
        address = f"{server.address}/{fresh}"
        lay_out(address, cluster_id="zk-1", topics={"orders.eu": 2, "audit": 1}, broker="127.0.0.1:9092")
        return _live(Connection(ZOOKEEPER, address, timeout_seconds=60))
    broker: KafkaBroker
    if kind in ("login over TLS", "certificate"):
        broker = tls = request.getfixturevalue("tls_broker")
        connection = tls.by_certificate() if kind == "certificate" else tls.by_login_over_tls()
    else:
        broker = request.getfixturevalue(kind)
        connection = broker.connection()
    wipe(broker)
    with connect(connection) as client:
        present = {topic.name for topic in client.read_topics()}
    for name, partitions in (("orders.eu", 2), ("audit", 1)):
        if name not in present:
            create_topic(broker, name, partitions)
    return _live(connection)


def _live(connection: Connection) -> Subject:
    def put(bindings: Iterable[AclBinding]) -> None:
        with connect(connection) as client:
            assert {outcome.kind for outcome in client.write(Verb.ADD, tuple(bindings))} <= DONE
        assert holds(live, *bindings)

    live = Subject(lambda: connect(connection), put)
    return live


def _snapshot(path: Path) -> Subject:
    topics = [{"name": "orders.eu", "partitions": 2}, {"name": "audit", "partitions": 1}]
    header = {"cluster": "file-1", "topics": topics, "groups": ["billing"]}

    def put(bindings: Iterable[AclBinding]) -> None:
        path.write_text(json.dumps(header) + "\n" + write_acls(bindings, format="jsonl"), encoding="utf-8")

    put(())
    return Subject(lambda: connect(Connection(SNAPSHOT, str(path))), put, path.unlink, path.write_text)


def _folder(path: Path) -> Subject:
    topic = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaTopic\nmetadata: {{name: {}}}\nspec: {{partitions: {}}}\n"
    user = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaUser\nmetadata: {name: nobody}\n"
    acls = path / "acls.jsonl"
    path.mkdir()
    (path / "topics.yaml").write_text(
        f"{topic.format('orders.eu', 2)}---\n{topic.format('audit', 1)}---\n{user}"
    )

    def put(bindings: Iterable[AclBinding]) -> None:
        acls.write_text(write_acls(bindings, format="jsonl"), encoding="utf-8")

    return Subject(
        lambda: connect(Connection(GITOPS, str(path))), put, lambda: shutil.rmtree(path), acls.write_text
    )


def held(subject: Subject, expected: Iterable[AclBinding]) -> set[AclBinding]:
    """Return the ACLs of a cluster, once they are these: a KRaft broker hears of a write a moment after it."""
    for _ in range(600):
        with subject.connect() as client:
            reading = client.read_acls()
        assert reading.problems == ()
        assert len(set(reading.bindings)) == len(reading.bindings)
        if set(reading.bindings) == set(expected):
            break
        time.sleep(0.1)
    return set(reading.bindings)


def holds(subject: Subject, *expected: AclBinding) -> bool:
    return held(subject, expected) == set(expected)


def test_the_claims_are_held_against_every_kind():
    assert set(KIND_OF.values()) == set(KINDS)


@pytest.mark.parametrize("subject", ALL, indirect=True)
def test_a_cluster_without_acls_reads_as_one_and_not_as_a_failure(subject):
    assert holds(subject)


@pytest.mark.parametrize("subject", ALL, indirect=True)
def test_reading_gives_exactly_the_acls_that_are_there_letter_by_letter(subject):
    subject.put(MANY)

    assert holds(subject, *MANY)


@pytest.mark.parametrize("subject", ALL, indirect=True)
def test_topics_are_read_with_their_partitions(subject):
    with subject.connect() as client:
        topics = {topic.name: topic.partitions for topic in client.read_topics() if not topic.internal}

    assert topics["orders.eu"] == 2
    assert topics["audit"] == 1


@pytest.mark.parametrize("subject", ALL, indirect=True)
def test_groups_are_names_or_openly_not_known(subject, request):
    with subject.connect() as client:
        groups = client.read_groups()

    kind = KINDS[KIND_OF[request.node.callspec.params["subject"]]]
    assert isinstance(groups, tuple) if kind.lists_groups else groups is None


@pytest.mark.parametrize("subject", ALL, indirect=True)
def test_a_cluster_says_which_one_it_is(subject):
    with subject.connect() as client:
        facts = client.describe()

    assert facts.cluster_id
    assert not facts.migrating


@pytest.mark.parametrize("subject", WRITABLE, indirect=True)
def test_writing_the_same_twice_changes_nothing_more(subject):
    with subject.connect() as client:
        first = client.write(Verb.ADD, MANY)
        second = client.write(Verb.ADD, MANY)

    assert {outcome.kind for outcome in first} == {OutcomeKind.WRITTEN}
    assert {outcome.kind for outcome in second} <= DONE
    assert holds(subject, *MANY)


@pytest.mark.parametrize("subject", WRITABLE, indirect=True)
def test_there_is_one_outcome_for_each_binding_in_the_order_given_repetitions_too(subject):
    asked = (MANY[3], PLAIN, MANY[3], MANY[6])

    with subject.connect() as client:
        outcomes = client.write(Verb.ADD, asked)

    assert tuple(outcome.binding for outcome in outcomes) == asked
    assert all(outcome.sentence for outcome in outcomes)


@pytest.mark.parametrize("subject", WRITABLE, indirect=True)
def test_removing_takes_away_exactly_what_is_named(subject):
    subject.put(MANY)

    with subject.connect() as client:
        outcomes = client.write(Verb.REMOVE, (PLAIN, MANY[3]))

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.WRITTEN}
    assert holds(subject, *(set(MANY) - {PLAIN, MANY[3]}))


@pytest.mark.parametrize("subject", WRITABLE, indirect=True)
def test_removing_what_is_not_there_says_so_and_removes_nothing_else(subject):
    subject.put([PLAIN])

    with subject.connect() as client:
        (outcome,) = client.write(Verb.REMOVE, [allow("User:*", "READ", "orders.eu")])

    assert outcome.kind is OutcomeKind.ALREADY
    assert holds(subject, PLAIN)


@pytest.mark.parametrize("subject", WRITABLE, indirect=True)
def test_everything_can_be_removed_again(subject):
    subject.put(MANY)

    with subject.connect() as client:
        client.write(Verb.REMOVE, MANY)

    assert holds(subject)


@pytest.mark.parametrize(
    "bad",
    [
        allow("bob", "READ", "orders.eu"),
        allow("User:bob", "READ", ""),
        allow("User:bob", "READ", "my-cluster", resource_type="CLUSTER"),
        allow("User:bob", "READ", "orders.*", pattern="GLOB"),
        allow("User:bob", "READ", "orders", pattern="MATCH"),
        allow("User:bob", "ANY", "orders"),
        allow("User:bob", "UNKNOWN", "orders"),
        acl("ANY", "User:bob", "READ", "orders"),
        allow("User:bob", "READ", "orders", resource_type="ANY"),
    ],
    ids=lambda bad: f"{bad.principal}-{bad.operation.name}-{bad.pattern_type.name}-{bad.resource_type.name}",
)
@pytest.mark.parametrize("subject", WRITABLE, indirect=True)
def test_an_acl_that_no_cluster_takes_is_refused_in_a_sentence_and_hinders_no_other(subject, bad):
    good = (PLAIN, MANY[6])

    with subject.connect() as client:
        outcomes = client.write(Verb.ADD, (good[0], bad, good[1]))

    assert [outcome.kind for outcome in outcomes] == [
        OutcomeKind.WRITTEN,
        OutcomeKind.REFUSED,
        OutcomeKind.WRITTEN,
    ]
    assert outcomes[1].sentence.endswith(".")
    assert holds(subject, *good)


@pytest.mark.parametrize("subject", COPIES, indirect=True)
def test_a_copy_that_is_gone_after_it_was_opened_is_an_error_and_not_empty(subject):
    subject.put(MANY)

    with subject.connect() as client:
        subject.lose()
        for read in (client.read_acls, client.read_topics):
            with pytest.raises(ClusterError, match=r"\.$"):
                read()


@pytest.mark.parametrize(
    "text",
    ["", "{", "principal,operation\n", json.dumps(PLAIN.as_dict() | {"pattern_type": "GLOB"})],
    ids=["empty", "torn", "another form", "a pattern that no broker has"],
)
@pytest.mark.parametrize("subject", COPIES, indirect=True)
def test_a_damaged_copy_is_an_error_and_not_empty(subject, text):
    subject.put(MANY)

    with subject.connect() as client:
        subject.write(text)
        with pytest.raises(ClusterError, match=r"[.}]$"):
            client.read_acls()


@pytest.mark.parametrize("subject", COPIES, indirect=True)
def test_a_copy_refuses_every_write_in_a_sentence_and_stays_as_it_was(subject):
    subject.put(MANY)

    with subject.connect() as client:
        outcomes = client.write(Verb.REMOVE, MANY)

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.REFUSED}
    assert "commands" in outcomes[0].sentence
    assert holds(subject, *MANY)
