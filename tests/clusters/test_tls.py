"""A company's cluster with an own CA is added, checked and read by the commands that the README shows, TLS and mTLS."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from aclweb.clusters import ClusterError, ClusterState, Connection, connect
from aclweb.clusters.admin_api import ADMIN_API
from aclweb.clusters.admin_api.client import AdminClient
from aclweb.clusters.zookeeper import ZOOKEEPER
from aclweb.inventory.models import Cluster
from tests.builders import allow
from tests.clusters.certificates import Authority
from tests.clusters.tls_broker import CA, OWN, SUBJECT, UNKNOWN, TlsBroker
from tests.servers import USERS, need_jars, need_java, settle, wipe

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("patient"),
]


@pytest.fixture(scope="module")
def broker(tmp_path_factory) -> Iterator[TlsBroker]:
    need_java()
    jars = need_jars("4.4.0")
    settings = {"allow.everyone.if.no.acl.found": None}
    with TlsBroker(tmp_path_factory.mktemp("tls"), jars, users=USERS, settings=settings) as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("ca.crt", CA.pem), ("aclweb.crt", OWN[0]), ("aclweb.key", OWN[1])):
        (tmp_path / name).write_text(text)
    (tmp_path / "prod.options").write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=alice\nsasl.password=alice-secret\n"
        "ssl.ca.pem=@ca.crt\n"
    )
    return tmp_path


def checked(capsys, slug: str, *words: str, status: int = 0) -> dict:
    try:
        call_command("cluster", "check", slug, "--json", *words)
        ended = 0
    except SystemExit as error:
        ended = int(error.code or 0)
    told = json.loads(capsys.readouterr().out)
    assert ended == status, told
    return told


def answers(told: dict) -> dict[str, str]:
    return {right["right"]: right["answer"] for right in told["rights"]}


def grant(broker: TlsBroker, *acls) -> None:
    wipe(broker)
    settle(broker, add=acls)


def test_sasl_over_tls_with_an_own_ca_is_added_and_read_by_the_readmes_commands(broker, folder, capsys):
    grant(broker, allow("User:alice", "DESCRIBE", "kafka-cluster", resource_type="CLUSTER"))
    call_command(
        *("cluster", "add", "prod", "--kind", "admin", "--address", broker.sasl_ssl),
        *("--options", folder / "prod.options"),
    )
    assert "Trusts CN=Example CA" in capsys.readouterr().out

    told = checked(capsys, "prod")
    assert told["principal"] == "User:alice"
    assert answers(told) == {
        "reach": "yes",
        "TLS": "yes",
        "log in": "yes",
        "cluster id": "yes",
        "Describe": "yes",
        "Alter": "no",
        "DescribeConfigs": "no",
        "topics": "no",
        "groups": "yes",
        "version": "yes",
        "authorizer": "unknown",
    }
    commands = {right["right"]: right["command"] for right in told["rights"] if right["command"]}
    start = f"kafka-acls --bootstrap-server {broker.sasl_ssl} --command-config admin.properties --add --allow-principal"
    assert commands == {
        "Alter": f"{start} User:alice --operation Alter --cluster",
        "DescribeConfigs": f"{start} User:alice --operation DescribeConfigs --cluster",
        "topics": f"{start} User:alice --operation Describe --topic '*'",
    }
    checked(capsys, "prod", "--strict", status=1)

    call_command("sync", "prod", "--json")
    assert json.loads(capsys.readouterr().out)["read"]


def test_what_the_printed_commands_grant_makes_every_line_yes_and_facts_are_read(broker, folder, capsys):
    rights = [
        allow("User:alice", operation, "kafka-cluster", resource_type="CLUSTER")
        for operation in ("DESCRIBE", "ALTER", "DESCRIBE_CONFIGS")
    ]
    grant(broker, *rights, allow("User:alice", "DESCRIBE", "*"))
    call_command(
        *("cluster", "add", "prod", "--kind", "admin", "--address", broker.sasl_ssl),
        *("--options", folder / "prod.options", "--changes", "on"),
    )
    capsys.readouterr()

    told = checked(capsys, "prod", "--strict")
    assert set(answers(told).values()) == {"yes"}

    call_command("sync", "prod")
    cluster = Cluster.objects.get(slug="prod")
    assert cluster.settings_read["authorizer_class"].endswith(".StandardAuthorizer")
    assert cluster.settings_read["where"] == "broker 1"
    assert cluster.allow_everyone is False  # absent on the broker, so at its default
    assert cluster.super_users is None  # hidden, so still to be declared


def test_mutual_tls_is_added_with_files_on_the_command_line_and_its_subject_is_named(broker, folder, capsys):
    grant(broker)
    call_command(
        *("cluster", "add", "prod", "--kind", "admin", "--address", broker.mutual, "--ca", folder / "ca.crt"),
        *("--certificate", folder / "aclweb.crt", "--key", folder / "aclweb.key"),
    )
    assert f"Shows itself as {SUBJECT}" in capsys.readouterr().out

    refused = checked(capsys, "prod", status=1)
    assert f"the certificate of {SUBJECT}" in refused["sentence"]
    assert answers(refused)["Describe"] == "no"

    names = ("DESCRIBE", "DESCRIBE_CONFIGS")
    settle(
        broker,
        add=[allow(f"User:{SUBJECT}", name, "kafka-cluster", resource_type="CLUSTER") for name in names],
    )
    told = checked(capsys, "prod")
    assert told["principal"] == f"User:{SUBJECT}"
    call_command("sync", "prod", "--json")
    assert json.loads(capsys.readouterr().out)["read"]


def test_an_expired_certificate_is_refused_when_it_is_given(broker, folder):
    certificate, key = CA.issue("CN=late", days=-1)
    (folder / "late.crt").write_text(certificate)
    (folder / "late.key").write_text(key)

    with pytest.raises(
        CommandError, match=r"is not valid now: CN=late, issued by CN=Example CA, valid until"
    ):
        call_command(
            *(
                "cluster",
                "add",
                "prod",
                "--kind",
                "admin",
                "--address",
                broker.mutual,
                "--ca",
                folder / "ca.crt",
            ),
            *("--certificate", folder / "late.crt", "--key", folder / "late.key"),
        )


def failure(address: str, **given: str) -> str:
    options = {name.replace("_", "."): text for name, text in given.items()}
    with (
        pytest.raises(ClusterError) as caught,
        AdminClient(Connection(ADMIN_API, address, options, 15)) as client,
    ):
        client.read_acls()
    assert caught.value.state in (ClusterState.UNREACHABLE, ClusterState.LOGIN_REFUSED)
    return str(caught.value)


def test_every_wrong_way_to_a_tls_port_has_its_own_sentence(broker):
    foreign = Authority("Another CA").issue("CN=stranger")
    login = {"sasl_mechanism": "PLAIN", "sasl_username": "alice", "sasl_password": "alice-secret"}

    assert "speaks TLS, and security.protocol is PLAINTEXT; set it to SSL" in failure(broker.mutual)
    assert "speaks TLS, and security.protocol is SASL_PLAINTEXT; set it to SASL_SSL" in failure(
        broker.sasl_ssl, **login
    )
    assert "does not speak TLS" in failure(broker.bootstrap, ssl_ca_pem=CA.pem)
    assert "wants a client certificate" in failure(broker.mutual, ssl_ca_pem=CA.pem)
    refused = failure(
        broker.mutual, ssl_ca_pem=CA.pem, ssl_certificate_pem=foreign[0], ssl_key_pem=foreign[1]
    )
    assert "refuses the certificate of this client" in refused
    assert "CN=stranger, issued by CN=Another CA" in refused
    assert "is not to be trusted" in failure(broker.mutual, ssl_ca_pem=Authority("Another CA").pem)
    assert "ask for a login" in failure(broker.sasl_ssl, ssl_ca_pem=CA.pem)


def test_an_advertised_name_that_nobody_knows_is_named(broker):
    told = failure(broker.plaintext)

    assert f"answers at {broker.plaintext}, and advertises {UNKNOWN} to its clients" in told
    assert "name service does not know" in told


# The promise is 3 s, and a client that waits to its end waits PATIENCE; the machine may be busy.
PATIENCE, SOON = 240, 120


def failure_as_zookeeper(address: str, options: dict[str, str]) -> str:
    begun = time.monotonic()
    with pytest.raises(ClusterError) as caught:
        connect(Connection(ZOOKEEPER, address, options, PATIENCE))
    assert time.monotonic() - begun < SOON
    assert caught.value.state is ClusterState.UNREACHABLE
    return str(caught.value)


def test_a_kafka_port_with_tls_is_not_taken_for_zookeeper(broker):
    ca = {"ssl.ca.pem": CA.pem}
    own = {**ca, "ssl.certificate.pem": OWN[0], "ssl.key.pem": OWN[1]}

    for address, options in ((broker.sasl_ssl, {}), (broker.sasl_ssl, ca), (broker.mutual, own)):
        sentence = failure_as_zookeeper(address, options)
        assert f"At {address} a Kafka broker answers and no ZooKeeper; give ZooKeeper's address" in sentence


def test_a_port_that_wants_a_client_certificate_is_taken_for_neither(broker):
    sentence = failure_as_zookeeper(broker.mutual, {})

    assert f"{broker.mutual}" in sentence
    assert "cannot tell whether it is ZooKeeper or a Kafka broker" in sentence
