"""A ZooKeeper with an own CA is read by files named on the command line; each wrong way has its own sentence."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from django.core.management import call_command

from aclweb.clusters import ClusterError, ClusterState, Connection
from aclweb.clusters.zookeeper import ZOOKEEPER
from aclweb.clusters.zookeeper.client import ZooKeeperClient
from devstack.servers import ZooKeeperServer, lay_out
from tests.clusters.certificates import Authority
from tests.clusters.odd_servers import hangs_up, listening, silent, web_server
from tests.servers import need_java
from tests.servers_data import free_port

pytestmark = [pytest.mark.zookeeper, pytest.mark.usefixtures("patient")]

CA = Authority("Example CA")
OWN = CA.issue("O=Example", "CN=aclweb")
# Who waits to its end waits much longer than is promised, so that even a busy machine tells the two apart.
PATIENCE_SECONDS, QUICK_SECONDS = 120.0, 60.0


class SecureServer(ZooKeeperServer):
    secure: str  # the address that speaks TLS


@pytest.fixture(scope="module")
def keeper(tmp_path_factory) -> Iterator[SecureServer]:
    """A ZooKeeper with a second port that speaks TLS and wants client certificates."""
    need_java()
    directory = tmp_path_factory.mktemp("keeper")
    certificate, key = CA.issue("CN=zookeeper", server=True)
    (directory / "ca.pem").write_text(CA.pem)
    (directory / "server.pem").write_text(key + certificate)
    port = free_port()
    settings = {
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "secureClientPort": str(port),
        "secureClientPortAddress": "127.0.0.1",
        "ssl.keyStore.location": str(directory / "server.pem"),
        "ssl.keyStore.type": "PEM",
        "ssl.trustStore.location": str(directory / "ca.pem"),
        "ssl.trustStore.type": "PEM",
        "ssl.clientAuth": "need",
        "authProvider.x509": "org.apache.zookeeper.server.auth.X509AuthenticationProvider",
    }
    with SecureServer(directory / "server", settings=settings) as server:
        lay_out(server.address, cluster_id="zk-tls", topics={"orders": 1})
        server.secure = f"127.0.0.1:{port}"
        yield server


@pytest.mark.django_db(transaction=True)
def test_mutual_tls_is_added_checked_and_read_with_files_on_the_command_line(keeper, tmp_path, capsys):
    for name, text in (("ca.crt", CA.pem), ("own.crt", OWN[0]), ("own.key", OWN[1])):
        (tmp_path / name).write_text(text)
    call_command(
        *("cluster", "add", "zk", "--kind", "zookeeper", "--address", keeper.secure),
        *("--ca", tmp_path / "ca.crt", "--certificate", tmp_path / "own.crt", "--key", tmp_path / "own.key"),
    )
    assert "Shows itself as CN=aclweb,O=Example" in capsys.readouterr().out

    call_command("cluster", "check", "zk", "--json")
    told = json.loads(capsys.readouterr().out)
    assert {right["right"]: right["answer"] for right in told["rights"]} == {
        "reach": "yes",
        "TLS": "yes",
        "log in": "yes",
        "cluster id": "yes",
        "Describe": "yes",
        "znode write": "yes",
        "topics": "yes",
        "groups": "unknown",
        "version": "unknown",
        "authorizer": "unknown",
    }

    call_command("sync", "zk", "--json")
    read = json.loads(capsys.readouterr().out)
    assert (read["read"], read["topics_known"], read["groups_known"]) == (True, "all", "unknown")


def failure(address: str, **given: str) -> str:
    options = {name.replace("_", "."): text for name, text in given.items()}
    began = time.monotonic()
    with pytest.raises(ClusterError) as caught:
        ZooKeeperClient(Connection(ZOOKEEPER, address, options, PATIENCE_SECONDS))
    assert caught.value.state is ClusterState.UNREACHABLE
    assert time.monotonic() - began < QUICK_SECONDS
    return str(caught.value)


def test_every_wrong_way_to_zookeeper_has_its_own_sentence_at_once(keeper):
    foreign = Authority("Another CA").issue("CN=stranger")
    own = {"ssl_certificate_pem": OWN[0], "ssl_key_pem": OWN[1]}

    assert "speaks TLS, and security.protocol is PLAINTEXT; set it to SSL" in failure(keeper.secure)
    assert "does not speak TLS" in failure(keeper.address, ssl_ca_pem=CA.pem, **own)
    assert "wants a client certificate" in failure(keeper.secure, ssl_ca_pem=CA.pem)
    refused = failure(
        keeper.secure, ssl_ca_pem=CA.pem, ssl_certificate_pem=foreign[0], ssl_key_pem=foreign[1]
    )
    assert "refuses the certificate of this client" in refused
    assert "CN=stranger, issued by CN=Another CA" in refused
    assert "is not to be trusted" in failure(keeper.secure, ssl_ca_pem=Authority("Another CA").pem, **own)
    assert "no-such-host.invalid:2181 is not known" in failure("no-such-host.invalid:2181/kafka")
    assert "the port is closed" in failure("127.0.0.1:1")
    with listening(web_server) as web, listening(hangs_up) as rude:
        assert "speaks HTTP" in failure(web)
        assert "without an answer" in failure(rude)


@pytest.mark.kafka
def test_a_kafka_port_is_reported_as_one(kafka44):
    assert "a Kafka broker answers and no ZooKeeper" in failure(kafka44.bootstrap)


def test_a_server_that_hangs_holds_up_nobody(keeper):
    with listening(silent) as hung:
        for _ in range(5):
            began = time.monotonic()
            servers = Connection(ZOOKEEPER, f"{hung},{keeper.address}", {}, PATIENCE_SECONDS)
            with ZooKeeperClient(servers) as client:
                assert client.read_acls().bindings == ()
            assert time.monotonic() - began < QUICK_SECONDS
