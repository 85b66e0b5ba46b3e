"""Does Spark find the very records that the core finds, however a log is torn, mixed and split?"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from aclweb.acl.notation import SOME_TIME
from aclweb.acl.notation.authorizer_log import AccessEvent, parse_record, records
from aclweb.pipeline import schemas
from aclweb.pipeline.job import keeping, path_of
from aclweb.pipeline.record_lines import SAMPLE_LENGTH, said_of
from aclweb.pipeline.sources import read_lines

pytestmark = pytest.mark.spark

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
# Starting a Spark job takes longer than reading a file, so each example is many files.
RUNS, FILES = (60, 80) if FULL else (3, 30)
# In bytes. Lines are longer than the smallest; of few files too few are longer than the larger ones.
SPLITS = (512, 1024, 4096, 65536) if FULL else (512, 1024)

TIMES = ("2026-11-20 10:00:00,000", "2026-11-20 23:59:59.999", "2026-11-21 00:00:00,001")
TAIL = " (kafka.authorizer.logger)"
NAMES = st.one_of(
    st.sampled_from(["orders", "t" * 900, "caf\u00e9", "\u2603"]),
    st.lists(
        st.sampled_from(
            ["a", "\n", "\r\n", "\n[", "[", "]", " ", "\n\n", "(x)", f"b{TAIL}\n", "\t", "\n[2026-11-20 "]
        ),
        min_size=1,
        max_size=6,
    ).map("".join),
)
FOREIGN = st.sampled_from(
    [
        "java.io.IOException: broken\n\tat kafka.Foo.bar(Foo.scala:7)",
        "OpenJDK 64-Bit Server VM warning: an option is gone (deprecated)",
        "[0.123s][info][gc] GC(0) Pause Young",
        "[2026-11-20 10:00:00,000] not a level",
        "[[2026-11-20 10:00:00,000] INFO x",
        "2026-11-20 10:00:00,000] INFO a line whose bracket is gone (kafka.server.Log)",
        "[",
        "]",
        "\ufffd caf",
    ]
)
BLANK = st.sampled_from(["", " ", "\t", "\r", "\x0b", "\u00a0"])
PIECES = st.sampled_from(
    ["[", "]", "\n", "\r", "\n[", " ", f"[{TIMES[0]}] INFO ", f"{TIMES[0]}]", " INFO ", TAIL, "x"]
)


@st.composite
def decision(draw: st.DrawFn) -> str:
    number, name = draw(st.integers(0, 99)), draw(NAMES)
    return (
        f"[{draw(st.sampled_from(TIMES))}] DEBUG Principal = User:u{number} is Allowed operation = READ from host = "
        f"10.0.0.7 on resource = Topic:LITERAL:{name} for request = Fetch with resourceRefCount = 1 based on rule "
        f"DefaultAllow{TAIL}"
    )


@st.composite
def log(draw: st.DrawFn) -> tuple[bytes, int | None]:
    """A log with the number of decisions that it holds whole; None where nobody can know."""
    if draw(st.integers(0, 4)) == 0:
        text = "".join(draw(st.lists(PIECES, max_size=40)))
        # Hadoop's reader gives no empty piece at the end of a file: a last line of one bracket is not seen.
        return (text + "." * text.endswith("\n[")).encode(), None
    parts: list[str] = []
    whole = 0
    for kind in draw(st.lists(st.sampled_from("dddfbcn"), max_size=14)):
        if kind == "d":
            parts.append(draw(decision()))
            whole += 1
        elif kind == "f":
            parts.append(draw(FOREIGN))
        elif kind == "b":
            parts.append(draw(BLANK))
        elif kind == "n":
            parts.append(f"[{TIMES[0]}] WARN The disk is full (kafka.server.LogDirFailureChannel)")
        else:
            # What is left of a record when the disk is full: no more than one line, so that it cannot swallow others.
            record = draw(decision())
            parts.append(record[: draw(st.integers(40, 90))].partition("\n")[0])
    end = draw(st.sampled_from(["\n", "\r\n"]))
    if parts and parts[-1] == "[":
        parts.append("x")
    text = end.join(parts) + draw(st.sampled_from(["", end, end + end]))
    data = text.encode().replace(b"\xef\xbf\xbd caf", b"\xe9\xff caf\xe2\x82")
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + data, whole


def of_the_core(data: bytes) -> Counter[tuple[Any, ...]]:
    """What each record of a file says, with its beginning: without its time where it begins with one."""
    found: Counter[tuple[Any, ...]] = Counter()
    for record in records(data.decode("utf-8-sig", errors="replace").split("\n")):
        timed = any(record.startswith(f"[{time}] ") and record[26:27].isupper() for time in TIMES)
        timed = timed and " " in record[26:] and record[26:].partition(" ")[0].isalpha()
        text = record[len(SOME_TIME) :] if timed else record
        found[text[:SAMPLE_LENGTH], *said_of(text, timed=timed)] += 1
    return found


def of_spark(spark: Any, files: list[Path], *, scheme: str) -> dict[str, Counter[tuple[Any, ...]]]:
    """What the job finds; scheme: with one, Spark's own reader reads the files."""
    found: dict[str, Counter[tuple[Any, ...]]] = {str(file): Counter() for file in files}
    with keeping() as keep:
        # Who wrote a text is told for each of its days; here each file has a writer of its own.
        lines = read_lines(spark, [f"{scheme}{file}" for file in files], keep, broker_of=path_of).lines
        for row in lines.filter("file is null").collect():
            for entry in row.days:
                found[entry.broker][row.raw, *(row[name] for name in schemas.SAID)] += entry.lines
    return found


@settings(
    max_examples=RUNS,
    deadline=None,
    derandomize=not FULL,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
@given(logs=st.lists(log(), min_size=FILES, max_size=FILES), split_bytes=st.sampled_from(SPLITS))
def holds(
    spark: Any,
    folder: Path,
    scheme: str,
    seen: Counter[str],
    logs: list[tuple[bytes, int | None]],
    split_bytes: int,
) -> None:
    for old in folder.iterdir():
        old.unlink()
    files = [folder / f"{number}.log" for number in range(len(logs))]
    for file, (data, _) in zip(files, logs, strict=True):
        file.write_bytes(data)
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", split_bytes)
    try:
        found = of_spark(spark, files, scheme=scheme)
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)
    for file, (data, whole) in zip(files, logs, strict=True):
        assert found[str(file)] == of_the_core(data), data
        if whole is not None:
            events = [
                record
                for record in records(data.decode("utf-8-sig", errors="replace").split("\n"))
                if isinstance(parse_record(record), AccessEvent)
            ]
            assert len(events) == whole, data
            seen["decisions"] += whole
        seen["files"] += 1
        seen["over one split"] += len(data) > split_bytes


@pytest.mark.parametrize("scheme", ["", "file://"], ids=["workers", "spark"])
def test_the_job_the_core_and_a_plain_count_find_the_same_records(spark, tmp_path, scheme):
    seen: Counter[str] = Counter()

    holds(spark, tmp_path, scheme, seen)

    assert seen["files"] == RUNS * FILES
    assert seen["decisions"] > seen["files"]
    assert seen["over one split"] > 10
