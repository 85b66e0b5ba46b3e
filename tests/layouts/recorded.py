"""What the layouts of log4j 2 and of reload4j wrote of the same thousand events.

python -m tests.layouts.recorded     makes the cases anew, with Java, PySpark's log4j 2 and the reload4j of Kafka 3.9
"""

from __future__ import annotations

import io
import json
import lzma
import random
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from aclweb.acl.notation.authorizer_log import LOGGER, AccessEvent
from tests.log_records import FAMILIES, decisions, message_of
from tests.real_outputs import DATA

FILE = DATA / "layouts.tar.xz"
COUNT = 1000
ZONE = "Europe/Berlin"
THREAD = "data-plane-kafka-network-thread-0-ListenerName(PLAIN-9092)-SASL-3"


@dataclass(frozen=True)
class Written:
    """A file that a layout wrote. layout: its name, or its pattern behind `pattern:`. has_zone: its times have one."""

    file: str
    kind: str
    option: str
    layout: str
    has_zone: bool = False


def _pattern(
    file: str, option: str, *, layout: str = "", kind: str = "pattern", has_zone: bool = False
) -> Written:
    return Written(file, kind, option, layout or f"pattern:{option}", has_zone)


WRITTEN = (
    _pattern("kafka", "[%d] %p %m (%c)%n", layout="kafka"),
    _pattern("kafka-reload4j", "[%d] %p %m (%c)%n", layout="kafka", kind="reload4j"),
    _pattern("strimzi", "%d{ISO8601} %p %m (%c) [%t]%n", layout="strimzi"),
    _pattern("strimzi-reload4j", "%d{ISO8601} %p %m (%c) [%t]%n", layout="strimzi", kind="reload4j"),
    _pattern("message-last", "%d{ISO8601} %-5p [%t] %c{1}: %m%n"),
    _pattern("access-time", "[%d{dd/MMM/yyyy:HH:mm:ss,SSS Z}] %m (%c{1.})%n", has_zone=True),
    _pattern("offset", "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %5p %X{client} %m [%t]%n", has_zone=True),
    _pattern("unix", "%d{UNIX_MILLIS} %p{length=1} %m%n", has_zone=True),
    _pattern("utc", "%d{yyyy-MM-dd HH:mm:ss.SSS}{GMT+0} %c{2} %p - %m%n", has_zone=True),
    _pattern("date-reload4j", "%d{DATE} %-5p %.10c %m%n", kind="reload4j"),
    Written("json", "json", "compact", "json", True),
    Written("json-pretty", "json", "", "json", True),
    Written("json-template", "template", "JsonLayout.json", "json", True),
    Written("ecs", "template", "EcsLayout.json", "ecs", True),
    Written("logstash", "template", "LogstashJsonEventLayoutV1.json", "logstash", True),
    Written("gelf", "template", "GelfLayout.json", "gelf", True),
    Written("gcp", "template", "GcpLayout.json", "gcp", True),
    Written("syslog3164", "syslog3164", "", "syslog3164+kafka"),
    Written("syslog5424", "syslog5424", "", "syslog5424+kafka"),
)


@cache
def recorded() -> Mapping[str, bytes]:
    """Return the content of each file: `cases.jsonl` and those of WRITTEN."""
    with tarfile.open(FILE) as packed:
        return {name: packed.extractfile(name).read() for name in packed.getnames()}  # type: ignore[union-attr]


def cases() -> list[dict[str, Any]]:
    """Return millis (since 1970, UTC), level, logger, thread, message and is_decision of each event."""
    return [json.loads(line) for line in recorded()["cases.jsonl"].decode().splitlines()]


def _events() -> list[AccessEvent]:
    found: list[AccessEvent] = []

    @seed(14)
    @settings(
        max_examples=COUNT,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        derandomize=False,
    )
    @given(st.sampled_from(FAMILIES).flatmap(decisions))
    def collect(event: AccessEvent) -> None:
        found.append(event)

    collect()
    return found


def _made() -> list[dict[str, Any]]:
    rng = random.Random(14)
    events = _events()
    made = []
    for number in range(COUNT):
        is_decision = number % 20 != 7
        event = events[number % len(events)]
        made.append(
            {
                "millis": 1_767_225_600_000 + rng.randrange(365 * 86_400_000),
                "level": "DEBUG" if event.allowed else "INFO",
                "logger": LOGGER if is_decision else "kafka.log.Log",
                "thread": THREAD,
                "message": message_of(event) if is_decision else f"Note {number} (x)",
            }
        )
    return made


def make() -> None:
    import pyspark  # the jars of log4j 2

    # Its bridge from log4j 1 has the names of reload4j, which is why that comes first.
    jars = [*Path("~/.cache/aclweb/kafka/3.9.2").expanduser().glob("reload4j-*")]
    jars.append(Path(pyspark.__file__).parent / "jars" / "*")
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = ":".join(map(str, jars))
        made = "".join(json.dumps(case) + "\n" for case in _made())
        (folder / "cases.jsonl").write_text(made)
        wanted = [{"file": one.file, "kind": one.kind, "option": one.option} for one in WRITTEN]
        (folder / "wanted").write_text("".join(json.dumps(one) + "\n" for one in wanted))
        subprocess.run(
            [
                "java",
                "-cp",
                path,
                str(here / "Layouts.java"),
                folder / "cases.jsonl",
                folder / "wanted",
                folder,
            ],
            check=True,
        )
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for file in ("cases.jsonl", *(one.file for one in WRITTEN)):
                archive.add(folder / file, file, filter=_nameless)
        FILE.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def _nameless(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return the entry without what this machine adds to it."""
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    make()
