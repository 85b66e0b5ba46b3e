"""How many records of a Kafka topic does the stream job count in a second, on a real broker?"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from bench.logs import Logs
from bench.process_tree import cpu_of_tree
from devstack.jars import CONNECTOR, fetch
from devstack.servers import KafkaBroker

_TOPIC, _PARTITIONS = "authorizer-log", 4
# Changes of the table; the first one also starts Python's workers and compiles, and is not counted.
_CHANGES = 3
_ADDED = re.compile(r"Added ([0-9,]+) records? of ")


@dataclass(frozen=True)
class Streamed:
    """What came after the first change of the table: records, wall seconds, and CPU seconds of job and broker."""

    records: int
    seconds: float
    job_cpu_seconds: float
    broker_cpu_seconds: float


@dataclass(frozen=True)
class _Mark:
    """A moment at which so many records had been added, and the CPU seconds until then."""

    records: int
    at: float
    job_cpu: float
    broker_cpu: float


def streamed(logs: Logs, folder: Path, master: str, env: Mapping[str, str]) -> Streamed:
    """Read all records of some logs from a topic of a real broker; raises SystemExit where one is missing."""
    connector = ",".join(str(jar) for jar in sorted(fetch(CONNECTOR).glob("*.jar")))
    with _broker() as (broker, options):
        _send(broker, _records(logs))
        words = ["--master", master, "--conf", f"spark.jars={connector}", "--kafka", broker.bootstrap]
        words += ["--topic", _TOPIC, "--options", str(options), "--cluster", "bench", "--keep-days", "40000"]
        words += ["--out", str(folder / "topic-table"), "--at-once", str(-(-logs.lines // _CHANGES))]
        command = [sys.executable, "-m", "aclweb.pipeline", "stream", *words]
        marks = list(_marks(command, env, broker))
    first, last = marks[0], marks[-1]
    if last.records != logs.lines:
        raise SystemExit(f"{last.records:,} records of the topic were counted, and {logs.lines:,} sent.")
    return Streamed(
        last.records - first.records,
        last.at - first.at,
        last.job_cpu - first.job_cpu,
        last.broker_cpu - first.broker_cpu,
    )


def _marks(command: list[str], env: Mapping[str, str], broker: KafkaBroker) -> Iterator[_Mark]:
    """Run the job to its end, and yield a mark after each change of the table."""
    records = 0
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            command,
            env={**os.environ, **env},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            process_group=0,
        ) as job:
            assert job.stdout is not None
            assert broker.pid is not None
            try:
                for line in job.stdout:
                    if found := _ADDED.match(line):
                        records += int(found[1].replace(",", ""))
                        yield _Mark(
                            records, time.perf_counter(), cpu_of_tree(job.pid), cpu_of_tree(broker.pid)
                        )
                status = job.wait()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(job.pid, signal.SIGKILL)
        if status:
            errors.seek(0)
            raise SystemExit(f"The stream job failed: {errors.read()[-2000:]}")


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
