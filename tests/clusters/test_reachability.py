"""Each way in which an address is no broker's is told in its own words, at once, and one that hangs holds up nobody."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time

import pytest

from aclweb.clusters import ClusterError, ClusterState, Connection
from aclweb.clusters.admin_api import ADMIN_API
from aclweb.clusters.admin_api.client import AdminClient
from aclweb.clusters.connection.reachability import Endpoint, Probes
from aclweb.clusters.zookeeper import ZOOKEEPER
from aclweb.clusters.zookeeper.client import ZooKeeperClient
from tests.clusters.certificates import Authority
from tests.clusters.odd_servers import (
    hangs_up,
    kafka_like,
    listening,
    mail_server,
    picky_web_server,
    silent,
    web_server,
)
from tests.servers_data import free_port

CA = Authority()
SERVER_CERTIFICATE, SERVER_KEY = CA.issue("CN=broker", server=True)
# The promise is 3 s. Who waits to its end waits much longer, so that even a busy machine tells the two apart.
PATIENCE_SECONDS, QUICK_SECONDS = 120.0, 60.0


@pytest.fixture(scope="module")
def server_context(tmp_path_factory):
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    file.write_text(SERVER_KEY + SERVER_CERTIFICATE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def failure(address: str, seconds: float = PATIENCE_SECONDS, *, keeper: bool = False, **given: str) -> str:
    """Return the sentence for an address that is no broker's (or no ZooKeeper's), and hold it to its time."""
    options = {name.replace("_", "."): text for name, text in given.items()}
    began = time.monotonic()
    with pytest.raises(ClusterError) as caught:
        if keeper:
            ZooKeeperClient(Connection(ZOOKEEPER, address, options, seconds))
        else:
            AdminClient(Connection(ADMIN_API, address, options, seconds))
    assert caught.value.state is ClusterState.UNREACHABLE
    assert time.monotonic() - began < QUICK_SECONDS
    return str(caught.value)


def test_a_closed_port_is_reported_at_once():
    assert "the port is closed" in failure(f"127.0.0.1:{free_port()}")


@pytest.mark.parametrize("server", [web_server, picky_web_server])
@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_a_web_server_is_reported_as_one(server, protocol):
    with listening(server) as address:
        assert "speaks HTTP and is no Kafka broker's" in failure(address, security_protocol=protocol)


def test_another_service_is_reported_as_no_kafka():
    with listening(mail_server) as address:
        assert "does not speak as a Kafka broker does" in failure(address)


def test_a_port_that_hangs_up_is_reported_as_such():
    with listening(hangs_up) as address:
        assert "closes them without an answer" in failure(address)


def test_tls_at_a_port_that_hangs_up_on_it_is_reported_with_what_to_set():
    with listening(hangs_up) as address:
        told = failure(address, security_protocol="SSL")

    assert "does not speak TLS" in told
    assert "set it to PLAINTEXT" in told


def test_plain_talk_at_a_tls_port_is_reported_as_such(server_context):
    def talk(one: socket.socket) -> None:
        with contextlib.suppress(ssl.SSLError), server_context.wrap_socket(one, server_side=True) as secure:
            silent(secure)

    with listening(talk) as address:
        told = failure(address)

    assert "speaks TLS, and security.protocol is PLAINTEXT; set it to SSL" in told


@pytest.fixture
def over_tls(server_context):
    """Speak as a server does that hides behind TLS; what it says, it says to `talk`."""

    def wrapped(talk, context=server_context):
        def serve(one: socket.socket) -> None:
            with contextlib.suppress(ssl.SSLError), context.wrap_socket(one, server_side=True) as secure:
                talk(secure)

        return serve

    return wrapped


@pytest.mark.parametrize("given", [{}, {"security_protocol": "SSL", "ssl_ca_pem": CA.pem}])
def test_a_kafka_tls_port_given_as_zookeeper_is_reported_as_a_brokers(over_tls, given):
    with listening(over_tls(kafka_like)) as address:
        told = failure(address, keeper=True, **given)

    assert "a Kafka broker answers and no ZooKeeper" in told
    assert "set it to" not in told


def test_a_tls_port_that_wants_a_certificate_first_is_not_called_zookeepers(over_tls, tmp_path):
    (tmp_path / "server.pem").write_text(SERVER_KEY + SERVER_CERTIFICATE)
    (tmp_path / "ca.pem").write_text(CA.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    context.load_verify_locations(tmp_path / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    with listening(over_tls(kafka_like, context)) as address:
        told = failure(address, keeper=True)

    assert "speaks TLS, and security.protocol is PLAINTEXT; set it to SSL" in told
    assert "cannot tell whether it is ZooKeeper or a Kafka broker" in told


def test_a_name_that_nobody_knows_is_reported_at_once():
    assert "no-such-host.invalid:9092" in failure("no-such-host.invalid:9092")


def test_what_hangs_is_reported_as_hanging_when_the_time_is_over():
    with listening(silent) as address:
        assert "takes connections and answers nothing for 2 s" in failure(address, 2)


@pytest.mark.parametrize("keeper", [False, True])
@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_a_probe_has_a_timeout_of_its_own(keeper, protocol):
    began = time.monotonic()
    with listening(silent) as address, pytest.raises(ClusterError) as caught:
        if keeper:
            options = {} if protocol == "PLAINTEXT" else {"ssl.ca.pem": CA.pem}
            ZooKeeperClient(Connection(ZOOKEEPER, address, options, PATIENCE_SECONDS, probe_seconds=1))
        else:
            options = {"security.protocol": protocol}
            AdminClient(Connection(ADMIN_API, address, options, PATIENCE_SECONDS, probe_seconds=1))

    assert time.monotonic() - began < QUICK_SECONDS
    assert "answers nothing for 1 s" in str(caught.value)
    assert "A sync waits 120 s" in str(caught.value)


def test_a_survey_ends_its_threads():
    before = threading.active_count()
    with listening(silent) as address:
        probes = Probes([address, "127.0.0.1:1"], None, 60)
        time.sleep(0.2)
        probes.close()
        for _ in range(1200):
            if not [one for one in threading.enumerate() if one.name == "probe"]:
                break
            time.sleep(0.05)
        assert not [one for one in threading.enumerate() if one.name == "probe"]
        del probes
    assert threading.active_count() <= before + 2


@pytest.mark.kafka
def test_a_broker_is_found_beside_ports_that_are_none_however_those_behave(kafka44):
    with listening(silent) as hung, listening(hangs_up) as rude, listening(web_server) as web:
        address = ",".join([hung, rude, "127.0.0.1:1", "no-such-host.invalid:9092", web, kafka44.bootstrap])
        options = dict(kafka44.connection().options)
        for _ in range(20):
            began = time.monotonic()
            with AdminClient(Connection(ADMIN_API, address, options, PATIENCE_SECONDS)) as client:
                client.read_acls()
            assert time.monotonic() - began < QUICK_SECONDS

        found = {**Probes([hung], None, 2).all(), **Probes([rude, "127.0.0.1:1", web], None, 60).all()}
        found |= Probes([kafka44.bootstrap], None, 60).all()
    assert [found[one].endpoint for one in (hung, rude, "127.0.0.1:1", web, kafka44.bootstrap)] == [
        Endpoint.SILENT,
        Endpoint.HANGS_UP,
        Endpoint.CLOSED,
        Endpoint.HTTP,
        Endpoint.BROKER,
    ]


@pytest.mark.kafka
def test_the_port_of_a_controller_is_reported_as_one(kafka44):
    controller = int((kafka44.directory / "ports").read_text().split()[0])

    assert "is that of a KRaft controller" in failure(f"127.0.0.1:{controller}")
