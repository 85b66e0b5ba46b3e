"""ZooKeeper is read to the last odd node, and written only where nothing can be lost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from kazoo.client import KazooClient
from kazoo.security import ACL, Id, make_acl

from aclweb.acl.notation import znodes
from aclweb.clusters import (
    ClusterError,
    ClusterState,
    Connection,
    OutcomeKind,
    Verb,
    connect,
)
from aclweb.clusters.admin_api.client import AdminClient
from aclweb.clusters.zookeeper import ZOOKEEPER
from aclweb.clusters.zookeeper.client import ZooKeeperClient
from aclweb.clusters.zookeeper.write import LARGEST_TRANSACTION
from devstack.servers import ZooKeeperServer, lay_out
from tests.builders import allow, deny
from tests.clusters.certificates import certificates
from tests.servers import create_topic, need_java, produce, stopped
from tests.servers_data import free_port

pytestmark = pytest.mark.zookeeper

BOB = allow("User:bob", "READ", "orders")
ANN = allow("User:ann", "READ", "orders")
OTHER = allow("User:bob", "READ", "payments")


@pytest.fixture
def address(zookeeper_server, fresh) -> str:
    """A chroot laid out as Kafka does it, without ACLs."""
    address = f"{zookeeper_server.address}/{fresh}"
    lay_out(address, cluster_id="zk-1", topics={"orders": 3})
    return address


@pytest.fixture
def raw(address) -> Iterator[KazooClient]:
    """Somebody else who writes to the same ZooKeeper, without any manners."""
    keeper = KazooClient(hosts=address)
    keeper.start(timeout=60)
    yield keeper
    keeper.stop()
    keeper.close()


def client_of(address: str, **options: str) -> ZooKeeperClient:
    timeout = float(options.pop("timeout", "60"))
    client = connect(Connection(ZOOKEEPER, address, options, timeout))
    assert isinstance(client, ZooKeeperClient)
    return client


def node(*bindings) -> bytes:
    return znodes.encode(bindings)


# --- reading -----------------------------------------------------------------------------

ENTRY = {"principal": "User:bob", "permissionType": "Allow", "operation": "Read", "host": "*"}
UNREADABLE = {
    "version two": json.dumps({"version": 2, "acls": [ENTRY]}),
    "no version": json.dumps({"acls": [ENTRY]}),
    "no acls": json.dumps({"version": 1}),
    "acls that are no list": json.dumps({"version": 1, "acls": "all of them"}),
    "an entry without host": json.dumps({"version": 1, "acls": [{**ENTRY, "host": None}]}),
    "a principal without a type": json.dumps({"version": 1, "acls": [{**ENTRY, "principal": "bob"}]}),
    "a list": "[]",
    "cut off": node(BOB).decode()[:-7],
    "nothing": "",
    "no JSON": "these are not the ACLs you are looking for",
    "no UTF-8": b"\xff\xfe\x00",
    "nested too deeply": "[" * 20_000,
    "markup": "<script>alert(1)</script>",
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_a_node_that_kafka_cannot_have_written_is_told_by_path_and_others_are_read(address, raw, data):
    broken = data if isinstance(data, bytes) else data.encode()
    raw.create("/kafka-acl/Topic/broken", broken)
    raw.create("/kafka-acl/Topic/payments", node(OTHER))

    with client_of(address) as client:
        reading = client.read_acls()

    assert reading.bindings == (OTHER,)
    assert [(pattern.name, pattern.pattern_type.name) for pattern in reading.unreadable] == [
        ("broken", "LITERAL")
    ]
    assert {problem.where for problem in reading.problems} == {"/kafka-acl/Topic/broken"}
    assert all(problem.sentence.endswith(".") and problem.hazard for problem in reading.problems)


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_a_node_that_cannot_be_understood_is_never_overwritten(address, raw, data):
    broken = data if isinstance(data, bytes) else data.encode()
    raw.create("/kafka-acl/Topic/orders", broken)

    with client_of(address) as client:
        refused, written = client.write(Verb.ADD, [BOB, OTHER])

    assert refused.kind is OutcomeKind.REFUSED
    assert "not overwritten" in refused.sentence
    assert written.kind is OutcomeKind.WRITTEN
    assert raw.get("/kafka-acl/Topic/orders")[0] == broken


def test_a_word_that_kafka_does_not_know_is_read_as_unknown_and_reported_as_a_hazard(address, raw):
    raw.create(
        "/kafka-acl/Topic/orders",
        json.dumps({"version": 1, "acls": [{**ENTRY, "operation": "Fly"}]}).encode(),
    )

    with client_of(address) as client:
        reading = client.read_acls()
        (outcome,) = client.write(Verb.ADD, [ANN])

    assert [binding.operation.name for binding in reading.bindings] == ["UNKNOWN"]
    assert reading.problems[0].hazard
    assert "Fly" in reading.problems[0].sentence
    assert outcome.kind is OutcomeKind.REFUSED


def test_keys_that_kafka_does_not_write_are_read_over_but_not_written_over(address, raw):
    data = json.dumps({"version": 1, "acls": [{**ENTRY, "why": "ticket 7"}]}).encode()
    raw.create("/kafka-acl/Topic/orders", data)

    with client_of(address) as client:
        reading = client.read_acls()
        (outcome,) = client.write(Verb.REMOVE, [BOB])

    assert reading.bindings == (BOB,)
    assert outcome.kind is OutcomeKind.REFUSED
    assert "'why'" in outcome.sentence
    assert raw.get("/kafka-acl/Topic/orders")[0] == data


def test_nodes_in_places_where_kafka_keeps_none_are_reported_and_not_read(address, raw):
    raw.create("/kafka-acl/Satellite/x", node(BOB), makepath=True)
    raw.create("/kafka-acl-extended/glob/Topic/x", node(BOB), makepath=True)
    raw.create("/kafka-acl/Group/a/b", node(BOB), makepath=True)
    raw.set("/kafka-acl/Group/a", node(allow("User:bob", "READ", "a", resource_type="GROUP")))

    with client_of(address) as client:
        reading = client.read_acls()

    assert [binding.resource_name for binding in reading.bindings] == ["a"]
    assert {problem.where for problem in reading.problems} == {
        "/kafka-acl/Satellite",
        "/kafka-acl-extended/glob",
        "/kafka-acl/Group/a",
    }


def test_a_cluster_whose_brokers_never_had_an_authorizer_says_so(zookeeper_server, fresh):
    keeper = KazooClient(hosts=zookeeper_server.address)
    keeper.start(timeout=60)
    keeper.create(f"/{fresh}/brokers/topics", b"", makepath=True)
    keeper.stop()

    with client_of(f"{zookeeper_server.address}/{fresh}") as client:
        reading = client.read_acls()

    assert reading.bindings == ()
    assert "no broker with AclAuthorizer has ever started" in reading.problems[0].sentence


@pytest.mark.parametrize("chroot", ["/not-there", ""])
def test_a_place_without_kafka_is_no_cluster_without_acls(tmp_path, zookeeper_server, chroot):
    with client_of(f"{zookeeper_server.address}{chroot or '/zookeeper'}") as client:
        with pytest.raises(ClusterError, match="chroot") as caught:
            client.read_acls()

    assert caught.value.state is ClusterState.UNREADABLE


def test_a_topic_with_damaged_data_is_still_listed(address, raw):
    raw.create("/brokers/topics/odd", b"{")

    with client_of(address) as client:
        topics = {topic.name: topic.partitions for topic in client.read_topics()}

    assert topics == {"orders": 3, "odd": None}


def test_thousands_of_nodes_are_read_whole(address):
    many = [allow(f"User:u{number % 7}", "READ", f"topic-{number}") for number in range(2500)]

    with client_of(address) as client:
        written = client.write(Verb.ADD, many)
        reading = client.read_acls()

    assert {outcome.kind for outcome in written} == {OutcomeKind.WRITTEN}
    assert set(reading.bindings) == set(many)


# --- where nobody answers, or not for us ---------------------------------------------------


def test_a_closed_port_is_reported_as_unreachable_with_the_address():
    with pytest.raises(ClusterError, match=r"127\.0\.0\.1:1: the port is closed") as caught:
        client_of("127.0.0.1:1/kafka", timeout="1")

    assert caught.value.state is ClusterState.UNREACHABLE


@pytest.mark.parametrize(
    "wrong", ["", "localhost", "localhost:", ":2181", "localhost:zk", "a:1,b", "h:2181/../x"]
)
def test_an_address_that_is_none_is_reported_with_what_would_be_right(wrong):
    with pytest.raises(ClusterError, match="write") as caught:
        client_of(wrong)

    assert repr(wrong) in str(caught.value)


def test_a_server_that_falls_silent_leaves_the_outcome_unknown_and_raises_nothing(tmp_path):
    need_java()
    with ZooKeeperServer(tmp_path) as server:
        lay_out(server.address, cluster_id="zk-1")
        with client_of(server.address, timeout="2") as client:
            client.write(Verb.ADD, [OTHER])
            with stopped(server.pid):
                outcomes = client.write(Verb.ADD, [BOB, OTHER])
                with pytest.raises(ClusterError) as caught:
                    client.read_acls()

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.UNKNOWN}
    assert caught.value.state is ClusterState.UNREACHABLE


# --- writing -----------------------------------------------------------------------------


def test_a_write_leaves_a_change_node_for_the_brokers_and_an_idle_one_leaves_none(address, raw):
    prefixed = deny("User:bob", "WRITE", "pay", pattern="PREFIXED")
    with client_of(address) as client:
        client.write(Verb.ADD, [BOB, prefixed])
        client.write(Verb.ADD, [BOB, prefixed])

    (literal,) = raw.get_children("/kafka-acl-changes")
    (extended,) = raw.get_children("/kafka-acl-extended-changes")
    assert literal == "acl_changes_0000000000"
    assert raw.get(f"/kafka-acl-changes/{literal}")[0] == b"TOPIC:orders"
    assert json.loads(raw.get(f"/kafka-acl-extended-changes/{extended}")[0]) == {
        "version": 1,
        "resourceType": "TOPIC",
        "name": "pay",
        "patternType": "PREFIXED",
    }


def test_the_last_acl_of_a_pattern_takes_its_node_with_it(address, raw):
    with client_of(address) as client:
        client.write(Verb.ADD, [BOB, ANN])
        client.write(Verb.REMOVE, [BOB])
        assert znodes.decode(BOB.pattern, raw.get("/kafka-acl/Topic/orders")[0]) == (ANN,)
        client.write(Verb.REMOVE, [ANN])

    assert raw.exists("/kafka-acl/Topic/orders") is None
    assert len(raw.get_children("/kafka-acl-changes")) == 3


def test_new_nodes_get_the_permissions_of_their_parents(address, raw):
    careful = [ACL(31, Id("ip", "127.0.0.1")), make_acl("world", "anyone", read=True)]
    raw.set_acls("/kafka-acl/Topic", careful)
    raw.set_acls("/kafka-acl-changes", careful)

    with client_of(address) as client:
        client.write(Verb.ADD, [BOB])

    (change,) = raw.get_children("/kafka-acl-changes")
    assert set(raw.get_acls("/kafka-acl/Topic/orders")[0]) == set(careful)
    assert set(raw.get_acls(f"/kafka-acl-changes/{change}")[0]) == set(careful)


def rival(client: ZooKeeperClient, act, *, times: int) -> list[int]:
    """Let `act` happen between this client's reading and its writing, the first `times` times."""
    happened: list[int] = []
    session = client._session
    fetch = session.fetch

    def fetched(paths, **options):
        answer = fetch(paths, **options)
        if paths != ["/migration"] and len(happened) < times:
            happened.append(1)
            act(len(happened))
        return answer

    session.fetch = fetched  # type: ignore[method-assign]
    return happened


def test_a_rivals_write_in_between_is_seen_and_kept(address, raw):
    raw.create("/kafka-acl/Topic/orders", node(ANN))
    carl = allow("User:carl", "READ", "orders")

    with client_of(address) as client:
        rival(client, lambda _: raw.set("/kafka-acl/Topic/orders", node(ANN, carl)), times=1)
        (outcome,) = client.write(Verb.ADD, [BOB])

    assert outcome.kind is OutcomeKind.WRITTEN
    assert outcome.evidence["rereads"] == 1
    assert set(znodes.decode(BOB.pattern, raw.get("/kafka-acl/Topic/orders")[0])) == {ANN, BOB, carl}


def test_a_rival_who_makes_the_node_first_is_seen_and_kept(address, raw):
    with client_of(address) as client:
        rival(client, lambda _: raw.create("/kafka-acl/Topic/orders", node(ANN)), times=1)
        (outcome,) = client.write(Verb.ADD, [BOB])

    assert outcome.kind is OutcomeKind.WRITTEN
    assert set(znodes.decode(BOB.pattern, raw.get("/kafka-acl/Topic/orders")[0])) == {ANN, BOB}


def test_a_rival_who_never_stops_makes_the_write_give_up_and_say_so(address, raw):
    raw.create("/kafka-acl/Topic/orders", node(ANN))

    with client_of(address) as client:
        tried = rival(client, lambda _: raw.set("/kafka-acl/Topic/orders", node(ANN)), times=1000)
        (outcome,) = client.write(Verb.ADD, [BOB])

    assert len(tried) == 11
    assert outcome.kind is OutcomeKind.REFUSED
    assert "somebody else" in outcome.sentence
    assert znodes.decode(BOB.pattern, raw.get("/kafka-acl/Topic/orders")[0]) == (ANN,)
    assert raw.get_children("/kafka-acl-changes") == []


def test_one_conflict_in_a_transaction_loses_none_of_its_other_patterns(address, raw):
    raw.create("/kafka-acl/Topic/orders", node(ANN))
    others = [allow("User:bob", "READ", f"topic-{number}") for number in range(20)]

    with client_of(address) as client:
        rival(client, lambda _: raw.set("/kafka-acl/Topic/orders", node(ANN)), times=1)
        outcomes = client.write(Verb.ADD, [*others, BOB])
        reading = client.read_acls()

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.WRITTEN}
    assert set(reading.bindings) == {ANN, BOB, *others}


def test_a_write_larger_than_one_transaction_goes_in_several(address):
    long = "x" * 150
    many = [allow(f"User:{long}{number}", "READ", f"topic-{number % 4}") for number in range(4000)]
    assert sum(len(binding.principal) for binding in many) > LARGEST_TRANSACTION

    with client_of(address) as client:
        outcomes = client.write(Verb.ADD, many)
        reading = client.read_acls()

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.WRITTEN}
    assert set(reading.bindings) == set(many)


def test_a_node_too_large_for_zookeeper_is_refused_before_anything_is_sent(address, raw):
    many = [allow(f"User:{'x' * 150}{number}", "READ", "orders") for number in range(4000)]

    with client_of(address) as client:
        outcomes = client.write(Verb.ADD, many)

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.REFUSED}
    assert "KB" in outcomes[0].sentence
    assert raw.exists("/kafka-acl/Topic/orders") is None


@pytest.mark.parametrize("name", ["a/b", ".", "..", "tab\tname", "line\nbreak", "nul\0", "smile😀"])
def test_a_name_that_zookeeper_cannot_hold_is_refused_by_name(address, name):
    with client_of(address) as client:
        outcomes = client.write(Verb.ADD, [allow("User:bob", "READ", name, resource_type="GROUP"), BOB])

    assert [outcome.kind for outcome in outcomes] == [OutcomeKind.REFUSED, OutcomeKind.WRITTEN]


def test_a_type_that_this_kafka_has_no_place_for_is_refused(address, raw):
    raw.delete("/kafka-acl/User")

    with client_of(address) as client:
        (outcome,) = client.write(
            Verb.ADD, [allow("User:ops", "DESCRIBE_TOKENS", "User:bob", resource_type="USER")]
        )

    assert outcome.kind is OutcomeKind.REFUSED
    assert "/kafka-acl/User" in outcome.sentence


@pytest.mark.parametrize("data", [b'{"version":0,"kraft_controller_id":3000}', b"", b"who knows"])
def test_nothing_is_written_while_a_cluster_migrates_to_kraft(address, raw, data):
    raw.create("/migration", data)

    with client_of(address) as client:
        (outcome,) = client.write(Verb.ADD, [BOB])
        facts = client.describe()

    assert outcome.kind is OutcomeKind.REFUSED
    assert "KRaft" in outcome.sentence
    assert facts.migrating
    assert raw.exists("/kafka-acl/Topic/orders") is None


# --- logins and TLS ------------------------------------------------------------------------


class SecureServer(ZooKeeperServer):
    """A ZooKeeper with a second port that speaks TLS, and the certificate that its own is signed with."""

    secure_address: str
    authority: str


@pytest.fixture(scope="module")
def guarded(tmp_path_factory) -> Iterator[ZooKeeperServer]:
    """A ZooKeeper with logins, where only the user kafka may write ACLs, and TLS on a second port."""
    need_java()
    directory = tmp_path_factory.mktemp("guarded")
    jaas = directory / "jaas.conf"
    jaas.write_text(
        'Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_kafka="right" user_ann="ann"; };\n'
    )
    authority, server_pem = certificates("127.0.0.1")
    (directory / "authority.pem").write_text(authority)
    (directory / "server.pem").write_text(server_pem)
    secure_port = free_port()
    server = SecureServer(
        directory / "server",
        settings={
            "authProvider.sasl": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
            "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
            "secureClientPort": str(secure_port),
            "secureClientPortAddress": "127.0.0.1",
            "ssl.keyStore.location": str(directory / "server.pem"),
            "ssl.keyStore.type": "PEM",
            "ssl.trustStore.location": str(directory / "authority.pem"),
            "ssl.trustStore.type": "PEM",
            "ssl.clientAuth": "none",
        },
        java_options=[f"-Djava.security.auth.login.config={jaas}"],
    )
    with server:
        lay_out(server.address, cluster_id="zk-1")
        keeper = KazooClient(
            hosts=server.address,
            sasl_options={"mechanism": "DIGEST-MD5", "username": "kafka", "password": "right"},
        )
        keeper.start(timeout=60)
        for path in ("/kafka-acl/Topic", "/kafka-acl-changes"):
            keeper.set_acls(
                path, [make_acl("sasl", "kafka", all=True), make_acl("world", "anyone", read=True)]
            )
        keeper.stop()
        server.secure_address = f"127.0.0.1:{secure_port}"
        server.authority = authority
        yield server


def login(user: str, password: str, protocol: str = "SASL_PLAINTEXT") -> dict[str, str]:
    return {
        "security.protocol": protocol,
        "sasl.mechanism": "DIGEST-MD5",
        "sasl.username": user,
        "sasl.password": password,
    }


def test_the_brokers_user_writes_and_its_nodes_stay_guarded(guarded):
    with client_of(guarded.address, **login("kafka", "right")) as client:
        (outcome,) = client.write(Verb.ADD, [BOB])

    assert outcome.kind is OutcomeKind.WRITTEN
    keeper = KazooClient(hosts=guarded.address)
    keeper.start(timeout=60)
    permissions = {
        (acl.id.scheme, acl.id.id, acl.perms) for acl in keeper.get_acls("/kafka-acl/Topic/orders")[0]
    }
    keeper.stop()
    assert permissions == {("sasl", "kafka", 31), ("world", "anyone", 1)}


def test_a_wrong_password_is_reported_as_a_refused_login_without_the_password(guarded):
    with pytest.raises(ClusterError, match="refused the login as 'kafka'") as caught:
        client_of(guarded.address, timeout="5", **login("kafka", "hunter2"))

    assert caught.value.state is ClusterState.LOGIN_REFUSED
    assert "hunter2" not in str(caught.value)


def test_another_user_reads_and_is_told_why_it_may_not_write(guarded):
    with client_of(guarded.address, **login("ann", "ann")) as client:
        client.read_acls()
        (outcome,) = client.write(Verb.ADD, [OTHER])

    assert outcome.kind is OutcomeKind.REFUSED
    assert "log in as the user that the brokers use" in outcome.sentence


def test_tls_works_where_the_certificate_is_trusted_and_names_the_host(guarded):
    options = {"security.protocol": "SSL", "ssl.ca.pem": guarded.authority}

    with client_of(guarded.secure_address, **options) as client:
        assert client.describe().cluster_id == "zk-1"


def test_tls_is_refused_where_the_certificate_names_another_host(guarded):
    options = {"security.protocol": "SSL", "ssl.ca.pem": guarded.authority}
    port = guarded.secure_address.rpartition(":")[2]

    with pytest.raises(ClusterError) as caught:
        client_of(f"localhost:{port}", timeout="3", **options)

    assert caught.value.state is ClusterState.UNREACHABLE


def test_tls_is_refused_where_nobody_vouches_for_the_certificate(guarded):
    with pytest.raises(ClusterError) as caught:
        client_of(guarded.secure_address, timeout="3", **{"security.protocol": "SSL"})

    assert caught.value.state is ClusterState.UNREACHABLE


# --- and the brokers do as it says -----------------------------------------------------------


@pytest.mark.kafka
def test_a_running_broker_honours_what_was_written_to_zookeeper(kafka39, fresh):
    create_topic(kafka39, fresh)
    grants = [allow("User:bob", "WRITE", fresh[:6], pattern="PREFIXED"), allow("User:bob", "DESCRIBE", fresh)]
    assert produce(kafka39, "bob", fresh) is not None

    with client_of(str(kafka39.zookeeper)) as client:
        outcomes = client.write(Verb.ADD, grants)

    assert {outcome.kind for outcome in outcomes} == {OutcomeKind.WRITTEN}
    with AdminClient(kafka39.connection()) as broker:
        assert eventually(lambda: set(grants) <= set(broker.read_acls().bindings))
        assert produce(kafka39, "bob", fresh) is None
        with client_of(str(kafka39.zookeeper)) as client:
            client.write(Verb.REMOVE, grants)
        assert eventually(lambda: not set(grants) & set(broker.read_acls().bindings))
    assert produce(kafka39, "bob", fresh) is not None


def eventually(claim, seconds: float = 120.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if claim():
            return True
        time.sleep(0.05)
    return False
