"""Does a connection say the same in the settings of Kafka's own client?"""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from aclweb.clusters import ClusterError, Connection, kind_named
from aclweb.clusters.connection import java_settings
from aclweb.clusters.connection.java_client import _plain_key
from aclweb.clusters.connection.options import ClientOptions


def connection(**options: str) -> Connection:
    given = {name.replace("_", "."): value for name, value in options.items()}
    return Connection(kind=kind_named("admin"), address="h:1", options=given)


def test_a_login_by_password_is_one_line_of_jaas_whatever_signs_it_has():
    found = java_settings(
        connection(sasl_mechanism="SCRAM-SHA-512", sasl_username="ann", sasl_password='a"b\\c; =')
    )

    assert found == {
        "security.protocol": "SASL_PLAINTEXT",
        "client.id": "aclweb",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="ann" password="a\\"b\\\\c; =";',
    }


def test_plain_has_a_module_of_its_own_and_tls_compares_names():
    found = java_settings(
        connection(security_protocol="SASL_SSL", sasl_mechanism="PLAIN", sasl_username="a", sasl_password="b")
    )

    assert found["sasl.jaas.config"].startswith("org.apache.kafka.common.security.plain.PlainLoginModule")
    assert found["ssl.endpoint.identification.algorithm"] == "https"
    assert "ssl.truststore.type" not in found, "without authorities given, those of the machine count"


@pytest.mark.parametrize("password", [None, "secret words"])
def test_a_key_is_given_to_java_in_the_one_form_that_it_reads(password):
    key = ec.generate_private_key(ec.SECP256R1())
    how = (
        serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
    )
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, how
    ).decode()

    found = _plain_key(ClientOptions(key_pem=text, key_password=password))

    assert found.startswith("-----BEGIN PRIVATE KEY-----")
    read = serialization.load_pem_private_key(found.encode(), None)
    assert read.private_numbers() == key.private_numbers()


def test_settings_at_fault_are_told_as_everywhere():
    with pytest.raises(ClusterError, match=r"sasl\.password is missing"):
        java_settings(connection(sasl_mechanism="PLAIN", sasl_username="a"))
