"""Which real clients talk to edge-eu, so that its broker has a real authorizer log?

Each logs in with its own account and does its day's work a few times: tills produce,
the bridge consumes, and some ask for what they have no right to, as they would in life.
Whatever the broker refuses is part of the picture and never an error here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError

_CLIENT_LOGS = ("kafka",)


@dataclass(frozen=True, slots=True)
class Work:
    """What one account does: produce to topics, consume topics in a group, or look around."""

    user: str
    produces: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()
    group: str | None = None
    looks: bool = False


WORK = (
    Work("till-service", produces=("tills.sales.v1", "tills.returns.v1", "tills.heartbeats.v1")),
    Work("price-sync", produces=("prices.local.v1",), consumes=("prices.local.v1",), group="price-sync"),
    Work(
        "label-printer",
        produces=("labels.print-jobs.v1",),
        consumes=("prices.local.v1",),
        group="label-printer",
    ),
    # The second topic is allowed from the shops' network alone, and this client is not in it.
    Work("stock-counter", produces=("stock.counts.v1", "stock.corrections.v1")),
    Work("camera-hub", produces=("cameras.events.v1",)),
    # Nobody has given the door control the right to write the audit trail.
    Work("door-control", produces=("doors.events.v1", "edge.audit.v1")),
    # The DENY on the cameras stands above the bridge's right on all topics.
    Work(
        "edge-sync",
        produces=("edge.sync.v1",),
        consumes=("tills.sales.v1", "cameras.events.v1"),
        group="edge-sync",
    ),
    # Its group is missing among its rights.
    Work("store-reports", consumes=("tills.sales.v1",), group="store-reports"),
    Work("edge-monitor", produces=("edge.audit.v1",), looks=True),
)


def drive(*, bootstrap: str, passwords: Mapping[str, str], rounds: int = 2, seconds: float = 2.0) -> int:
    """Let every client work on a running edge-eu; return how many pieces of work the broker refused.

    passwords: by account. seconds: how long a piece of work may wait for the broker.
    """
    refused = 0
    with _silence():
        for _ in range(rounds):
            for work in WORK:
                login = _login(bootstrap, work.user, passwords[work.user])
                refused += sum(not _produce(login, topic, seconds) for topic in work.produces)
                refused += sum(not _consume(login, topic, work.group, seconds) for topic in work.consumes)
                if work.looks:
                    refused += not _look(login)
    return refused


def _login(bootstrap: str, user: str, password: str) -> dict[str, object]:
    return {
        "bootstrap_servers": bootstrap,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": user,
        "sasl_plain_password": password,
        "client_id": user,
    }


def _produce(login: Mapping[str, object], topic: str, seconds: float) -> bool:
    """Send a few messages; return whether the broker took them."""
    producer = None
    try:
        producer = KafkaProducer(**login, enable_idempotence=False, max_block_ms=int(seconds * 1000))
        for number in range(3):
            producer.send(topic, f"{topic} {number}".encode()).get(timeout=seconds)
    except KafkaError:
        return False
    finally:
        if producer is not None:
            producer.close(timeout=seconds)
    return True


def _consume(login: Mapping[str, object], topic: str, group: str | None, seconds: float) -> bool:
    """Read what there is in `seconds`; return whether the broker let us."""
    consumer = None
    try:
        consumer = KafkaConsumer(topic, **login, group_id=group, auto_offset_reset="earliest")
        consumer.poll(timeout_ms=int(seconds * 1000))
        consumer.commit()
    except KafkaError:
        return False
    finally:
        if consumer is not None:
            consumer.close(autocommit=False)
    return True


def _look(login: Mapping[str, object]) -> bool:
    """List topics and groups, as a monitor does."""
    admin = None
    try:
        admin = KafkaAdminClient(**login)
        admin.list_topics()
        admin.list_groups()
    except KafkaError:
        return False
    finally:
        if admin is not None:
            admin.close()
    return True


class _silence:
    """Keep the client library from logging the denials that we provoke, for the length of a block."""

    def __enter__(self) -> None:
        self._levels = {name: logging.getLogger(name).level for name in _CLIENT_LOGS}
        for name in _CLIENT_LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)

    def __exit__(self, *error: object) -> None:
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
