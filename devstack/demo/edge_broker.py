"""Which release does the broker of edge-eu run, and does it take a record from this account?"""

from __future__ import annotations

from kafka import KafkaProducer
from kafka.errors import KafkaError

RELEASE = "4.4.0"


def send_one(*, bootstrap: str, username: str, password: str, topic: str) -> str | None:
    """Send one record to a topic; return None if the broker took it, else the name of the client's error."""
    try:
        producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            client_id="aclweb-demo",
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="PLAIN",
            sasl_plain_username=username,
            sasl_plain_password=password,
            # A producer that numbers its batches would also need a right on the cluster.
            enable_idempotence=False,
            acks=1,
            retries=0,
            max_block_ms=15_000,
            request_timeout_ms=15_000,
            delivery_timeout_ms=20_000,
            linger_ms=0,
        )
        try:
            producer.send(topic, b"one record").get(timeout=20)
        finally:
            producer.close(timeout=5)
    except KafkaError as error:
        return type(error).__name__
    return None
