"""How many records of a Kafka topic does the stream job count in a second, on a real broker?"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from bench.logs import Logs
from bench.process_tree import Cost, cost_of
from devstack.jars import CONNECTOR, fetch
from devstack.servers import KafkaBroker

_TOPIC, _PARTITIONS = "authorizer-log", 4
# So many records are there before the first run, which so counts next to nothing.
_FIRST = 100


def runs(logs: Logs, folder: Path, master: str, env: Mapping[str, str]) -> tuple[Cost, Cost]:
    """Return what a run costs that reads next to nothing of a topic, and one that reads the rest of the logs."""
    connector = ",".join(str(jar) for jar in sorted(fetch(CONNECTOR).glob("*.jar")))
    with _broker() as (broker, options):
        words = ["--master", master, "--conf", f"spark.jars={connector}", "--kafka", broker.bootstrap]
        words += ["--topic", _TOPIC, "--options", str(options), "--cluster", "bench", "--keep-days", "40000"]
        words += ["--out", str(folder / "topic-table"), "--at-once", str(logs.lines)]
        command = [sys.executable, "-m", "aclweb.pipeline", "stream", *words]
        records = _records(logs)
        _send(broker, (next(records) for _ in range(_FIRST)))
        first = cost_of(command, env=env)
        _send(broker, records)
        rest = cost_of(command, env=env)
        if f"Added {logs.lines - _FIRST:,} records" not in rest.output:
            raise SystemExit(f"Not all records of the topic were counted: {rest.output}")
        return first, rest


@contextmanager
def _broker() -> Iterator[tuple[KafkaBroker, Path]]:
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-kafka-", ignore_cleanup_errors=True) as folder:
        with KafkaBroker(Path(folder) / "broker", fetch("4.4.0"), heap_megabytes=512) as broker:
            options = Path(folder) / "client.properties"
            options.write_text(
                "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
                "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
                f'username="admin" password="{broker.users["admin"]}";\n'
            )
            client = KafkaAdminClient(**_settings(broker))
            client.create_topics([NewTopic(_TOPIC, _PARTITIONS, 1)])
            client.close()
            yield broker, options


def _settings(broker: KafkaBroker) -> dict[str, object]:
    return {
        "bootstrap_servers": broker.bootstrap,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "admin",
        "sasl_plain_password": broker.users["admin"],
    }


def _records(logs: Logs) -> Iterator[bytes]:
    for file in logs.files:
        with file.open("rb") as lines:
            yield from lines


def _send(broker: KafkaBroker, records: Iterator[bytes]) -> None:
    producer = KafkaProducer(**_settings(broker), linger_ms=50, batch_size=1 << 20)
    for number, record in enumerate(records):
        producer.send(_TOPIC, key=b"broker-1", value=record, partition=number % _PARTITIONS)
    producer.flush()
    producer.close()
