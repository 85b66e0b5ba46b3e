"""Does what a broker decided arrive on the pages through a topic, each record once, and stay when the broker is gone?

A real broker writes its authorizer log, a shipper of ours puts that log into a topic of the same broker, and an
administrator names the topic on the page. Nothing in between stands in for anything.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from kafka import KafkaProducer

from aclweb.acl.notation.authorizer_log import AccessEvent, parse_record, records
from aclweb.insights import tasks
from aclweb.insights.current import current_load
from aclweb.insights.requests import requests_of
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from aclweb.pipeline.table import Table, Window
from aclweb.pipeline.topics import Position
from devstack.jars import CONNECTOR
from devstack.servers import KafkaBroker
from tests.builders import allow, deny
from tests.servers import USERS, create_topic, need_jars, need_java, produce, settings_of, settle

pytestmark = [
    *(pytest.mark.kafka, pytest.mark.spark, pytest.mark.own_server),
    pytest.mark.thorough(
        instead="tests/pipeline/test_topics.py::"
        "test_a_topic_that_cannot_be_read_costs_itself_and_the_table_says_so_until_it_can"
    ),
    # What is rolled back would lock the database for the thread that keeps the lease.
    pytest.mark.django_db(transaction=True),
]

TOPIC = "kafka-authorizer-log"
SHIPPED_BY = "broker-1"
# So few lines are read before generated code has been compiled.
FEW_LINES = "spark.sql.codegen.wholeStage false\nspark.sql.codegen.factoryMode NO_CODEGEN\n"

Asked = tuple[str, str, str, str, str, bool]


class Shipper:
    """Puts what is new in the authorizer log of a broker into the topic, a record a message, keyed by its broker."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.broker = broker
        self.offset = 0
        self.shipped: list[str] = []

    def ship(self) -> int:
        """Return how many records were shipped."""
        whole = self.broker.authorizer_log.read_bytes()
        # The broker may be in the middle of a line.
        text = whole[self.offset : whole.rfind(b"\n") + 1]
        self.offset += len(text)
        found = list(records(text.decode().removesuffix("\n").split("\n")))
        producer = KafkaProducer(**settings_of(self.broker, "admin"))
        for number, record in enumerate(found):
            producer.send(TOPIC, key=SHIPPED_BY.encode(), value=record.encode(), partition=number % 2)
        producer.flush()
        producer.close()
        self.shipped += found
        return len(found)

    def decisions(self) -> Counter[Asked]:
        """Return how often each request and answer was shipped, read by the core."""
        events = (parse_record(record) for record in self.shipped)
        return Counter(
            (
                event.principal,
                event.host,
                event.operation.name,
                event.resource_type.name,
                event.resource_name,
                event.allowed,
            )
            for event in events
            if isinstance(event, AccessEvent)
        )


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    """A broker of this test alone, which ends it."""
    need_java()
    jars = need_jars("4.4.0")
    with tempfile.TemporaryDirectory(prefix="aclweb-kafka44-", ignore_cleanup_errors=True) as folder:
        with KafkaBroker(folder, jars, users=USERS) as started:
            yield started


@pytest.fixture
def known(cluster: Cluster, broker, settings, tmp_path, monkeypatch) -> Cluster:
    """The broker's cluster with its stored login, synced once; log jobs start quickly and have the connector."""
    for topic in ("orders", "payments", TOPIC):
        create_topic(broker, topic, partitions=2)
    settle(broker, add=[allow("User:alice", "WRITE", "orders"), deny("User:bob", "WRITE", "orders")])
    cluster.address = broker.bootstrap
    cluster.options = dict(broker.connection().options)
    cluster.save(update_fields=["address", "options"])
    sync(cluster)
    cluster.refresh_from_db()
    (tmp_path / "spark-defaults.conf").write_text(FEW_LINES)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    settings.ACLWEB_ACCESS_TABLE = tmp_path / "access"
    settings.ACLWEB_KAFKA_CONNECTOR = str(need_jars(CONNECTOR))
    settings.ACLWEB_SPARK_MASTER = "local[2]"
    return cluster


def shown(browser: Any, address: str) -> str:
    page = browser.get(address)
    assert page.status_code == 200, address
    return unescape(page.content.decode())


def loaded(cluster: Cluster) -> Counter[Asked]:
    """Return how often the pages count each request and answer."""
    rows: Counter[Asked] = Counter()
    load = current_load(cluster)
    assert load is not None
    for row in requests_of(load).select_related("request"):
        asked = row.request
        key = (asked.principal, asked.host, asked.operation, asked.resource_type, asked.resource_name)
        rows[*key, asked.allowed] += row.lines
    return rows


def test_a_topic_is_read_each_hour_with_the_stored_login_and_each_record_counts_once(
    known, broker, dot, signed_in, tmp_path
):
    browser, shipper = signed_in(dot), Shipper(broker)
    home = f"/c/{known.slug}"
    assert produce(broker, "alice", "orders") is None
    assert produce(broker, "bob", "orders") == "TopicAuthorizationFailedError"
    first = shipper.ship()

    page = browser.post(
        f"{home}/log-sources/",
        {"topic": TOPIC, "topic_on": known.slug, "broker_by": "key", "time_zone": "UTC"},
        follow=True,
    )
    assert "Added. The next refresh of the logs reads it." in unescape(page.content.decode())
    tasks.refresh_all()

    coverage = browser.get(f"/api/v1/clusters/{known.slug}/coverage/").json()
    assert coverage["problem"] == ""
    assert {row["broker"] for row in coverage["coverage"]} == {SHIPPED_BY}
    assert sum(row["lines"] for row in coverage["coverage"]) == first
    assert loaded(known) == shipper.decisions()
    denied = {
        (principal, operation, kind, name)
        for principal, _, operation, kind, name, is_allowed in shipper.decisions()
        if not is_allowed
    }
    told = browser.get(f"/api/v1/clusters/{known.slug}/denials/").json()["denials"]
    assert denied == {
        (row["principal"], row["operation"], row["resource_type"], row["resource_name"]) for row in told
    }
    assert {principal for principal, *_ in denied} == {"User:bob"}
    assert "User:bob" in shown(browser, f"{home}/insights/")
    used = browser.get(f"/api/v1/clusters/{known.slug}/use/").json()["use"]
    assert "User:alice" in {row["principal"] for row in used}
    assert f"topic {TOPIC}" in shown(browser, f"{home}/insights/coverage/")

    # The first round logged in too, so the log has grown by more than what people did.
    assert produce(broker, "carol", "payments") == "TopicAuthorizationFailedError"
    second = shipper.ship()
    before = current_load(known)
    tasks.refresh_all()

    assert second > 0
    assert current_load(known) != before
    assert current_load(known).lines_read == first + second
    assert loaded(known) == shipper.decisions()
    table = Table.open(tmp_path / "access", known.slug)
    (position,) = table.version.offsets.values()
    assert sum(Position.from_dict(position).following.values()) == first + second
    assert sum(row["lines"] for row in table.coverage(Window())) == first + second
    assert "User:carol" in shown(browser, f"{home}/insights/")

    broker.stop()
    before = current_load(known)
    tasks.refresh_all()

    told = browser.get(f"/api/v1/clusters/{known.slug}/coverage/").json()["problem"]
    assert told in shown(browser, f"{home}/insights/coverage/")
    assert told.endswith(
        f"The topic {TOPIC} of {broker.bootstrap} cannot be read. Nobody answered within 30 seconds; check that its "
        "brokers run, and that this machine reaches them."
    )
    assert USERS["admin"] not in told
    assert current_load(known) == before
    assert loaded(known) == shipper.decisions()
    assert all(name in shown(browser, f"{home}/insights/") for name in ("User:bob", "User:carol"))
