"""What does a connection say in the settings of Kafka's own client, which Spark reads topics with?

The settings hold the password and the key as they are. They belong in a file that nobody else may read, and in no
message and on no command line.
"""

from __future__ import annotations

from cryptography.hazmat.primitives import serialization

from aclweb.clusters.client import ClusterError, ClusterState
from aclweb.clusters.connection.options import ClientOptions, check_options
from aclweb.clusters.kind import Connection

_SCRAM = "scram.ScramLoginModule"
_MODULES = {"PLAIN": "plain.PlainLoginModule", "SCRAM-SHA-256": _SCRAM, "SCRAM-SHA-512": _SCRAM}


def java_settings(connection: Connection) -> dict[str, str]:
    """Return the settings of a Java client that logs in as this connection does; each is one line.

    Raises ClusterError where the connection's own settings are at fault.
    """
    options = check_options(connection.kind, connection.options)
    if options.uses_sasl and options.mechanism not in _MODULES:
        raise ClusterError(
            f"Topics of this cluster cannot be read for logs, since Spark cannot log in with {options.mechanism} "
            "here; read the log files instead.",
            state=ClusterState.LOGIN_REFUSED,
        )
    found = {"security.protocol": options.protocol, "client.id": options.client_id}
    if options.uses_sasl:
        found["sasl.mechanism"] = str(options.mechanism)
        module = _MODULES[str(options.mechanism)]
        found["sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.{module} required "
            f"username={_quoted(options.username)} password={_quoted(options.password)};"
        )
    if options.uses_tls:
        found["ssl.endpoint.identification.algorithm"] = "https"
    if options.ca_pem:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": _on_one_line(options.ca_pem)}
    if options.certificate_pem and options.key_pem:
        found |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": _on_one_line(options.certificate_pem),
            "ssl.keystore.key": _on_one_line(_plain_key(options)),
        }
    return found


def _quoted(text: str | None) -> str:
    """Return a text as JAAS takes it, whatever signs it holds."""
    escaped = (text or "").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _on_one_line(pem: str) -> str:
    return " ".join(pem.split("\n")).strip()


def _plain_key(options: ClientOptions) -> str:
    """Return the key in the one form that Java reads, PKCS #8, without a password."""
    password = options.key_password.encode() if options.key_password else None
    text = str(options.key_pem).encode("ascii")
    try:
        key = serialization.load_pem_private_key(text, password)
    except TypeError:  # a password that is not needed
        key = serialization.load_pem_private_key(text, None)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode("ascii")
