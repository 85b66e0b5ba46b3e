"""Is a log counted alike in every layout: by Spark, split or not, and while it grows?"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.acl.notation import (
    KAFKA,
    SOME_TIME,
    UNKNOWN,
    AccessEvent,
    LogTime,
    events_in,
    layout_of,
    parse_record,
)
from aclweb.pipeline import access, worker_lines
from aclweb.pipeline.__main__ import main
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import SourceError
from aclweb.pipeline.job import read_logs, read_table
from aclweb.pipeline.log_sources import LogSource, broker_names, known_brokers, read_sources
from aclweb.pipeline.manifest import broker_names as names_of
from aclweb.pipeline.manifest import warnings
from aclweb.pipeline.table import Table
from aclweb.pipeline.table.reading import Window
from tests.layouts.framing import FRAMED, framed
from tests.layouts.recorded import WRITTEN, Written, recorded
from tests.pipeline.log_folder import Reader, packed
from tests.pipeline.usage_job import manifest_of, run

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
NAMED = [written for written in WRITTEN if not written.layout.startswith("pattern:")]
# The last one is counted by Spark's own code alone.
PACKED = {"logstash": ".gz", "gelf": ".bz2", "gcp": ".zst", "kafka-reload4j": ".zst"}
# A job reads the files of each layout by themselves, so few are in a frame unless counts are full.
IN_FRAMES = (
    dict.fromkeys(("kafka", "strimzi", "ecs"), FRAMED) if FULL else {"ecs": FRAMED[:1], "kafka": FRAMED[-1:]}
)
# A job reads the files of each layout by themselves, so unless counts are full it reads those that differ most: two
# orders of a line, two kinds of JSON, two frames, two ways to compress. All layouts are read by the same code in
# tests/acl/test_log_layouts.py and, while they grow, below.
IN_THE_JOB = (
    {written.file for written in NAMED} if FULL else {"kafka", "kafka-reload4j", "strimzi", "ecs", "gelf"}
)
FOREIGN = "java.io.IOException: caf\u00e9\n\tat kafka.Foo.bar(Foo.java:7)\n\n"


def content(written: Written, frame: str = "") -> str:
    """What a layout wrote, with foreign lines here and there, perhaps in a frame."""
    text = recorded()[written.file].decode()
    lines = text.splitlines(keepends=True) if "json" in written.file else text.split("\n")
    whole = "".join(lines) if "json" in written.file else "\n".join(lines)
    if frame:
        return "\n".join(framed(frame, whole.removesuffix("\n").split("\n"))) + "\n"
    # Two files of the same bytes would be counted once.
    return FOREIGN.replace("IOException", f"IOException of {written.file}") + whole


def expected(name: str, text: str) -> Counter[str]:
    """How many decisions and other records the core reads in a log, by what the pipeline calls them."""
    found: Counter[str] = Counter()
    for event in events_in(text.split("\n"), layout_of(name)):
        found["lines"] += 1
        found["decisions"] += isinstance(event, AccessEvent)
    return found


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> dict[Path, tuple[str, str]]:
    """Files of every layout, each with the name of its layout and its text."""
    folder = tmp_path_factory.mktemp("layouts")
    found: dict[Path, tuple[str, str]] = {}
    for written in NAMED:
        if written.file not in IN_THE_JOB:
            continue
        frames = IN_FRAMES.get(written.file, ())
        for frame in ("", *frames):
            name = f"{frame}+{written.layout}" if frame else written.layout
            text = content(written, frame)
            ending = PACKED.get(written.file, "")
            path = folder / f"{written.file}-{frame}.log{ending}"
            path.write_bytes(packed(path.name, text.encode()) if ending else text.encode())
            found[path] = (name, text)
    path = folder / "unknown.log"
    path.write_text("2026/11/20 something\n\nelse\n")
    found[path] = (UNKNOWN, path.read_text())
    return found


@pytest.fixture(scope="module")
def counted(spark, snapshot_file, logs, tmp_path_factory) -> tuple[dict[str, Any], Counter[tuple[Any, ...]]]:
    """The manifest of one job on all of them, and how often it counted each request; files are in many splits."""
    folder = tmp_path_factory.mktemp("result")
    before = {name: spark.conf.get(name) for name in SPLITS}
    for name in SPLITS:
        spark.conf.set(name, SPLIT_BYTES)
    try:
        out = run(spark, snapshot_file, list(logs), folder / "out")
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    requests: Counter[tuple[Any, ...]] = Counter()
    for row in pq.read_table(out / "requests.parquet").to_pylist():
        requests[row["principal"], row["resource_name"], row["allowed"]] += row["lines"]
    return json.loads((out / "manifest.json").read_text()), requests


# Of a file's bytes; files of three splits and more have edges that a record crosses.
SPLIT_BYTES = 150_000
SPLITS = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")


@pytest.mark.spark
def test_each_file_is_counted_as_the_core_reads_it_and_its_layout_is_named(counted, logs):
    manifest, _ = counted

    files = {Path(entry["path"]): entry for entry in manifest["files"]}
    assert files.keys() == logs.keys()
    for path, (name, text) in logs.items():
        entry, counts = files[path], expected(name, text)
        assert entry["layout"] == name, path
        assert (entry["lines"], entry["decisions"] + entry["probes"]) == (
            counts["lines"],
            counts["decisions"],
        ), path
    assert sum(path.stat().st_size > SPLIT_BYTES for path in logs) > (5 if FULL else 2)


@pytest.mark.spark
def test_the_same_requests_are_counted_in_every_layout(counted, logs):
    _, requests = counted

    wanted: Counter[tuple[Any, ...]] = Counter()
    for name, text in logs.values():
        for event in events_in(text.split("\n"), layout_of(name)):
            if isinstance(event, AccessEvent):
                wanted[event.principal, event.resource_name, event.allowed] += 1
    assert {key: lines for key, lines in requests.items() if wanted[key] != lines} == {}
    # Probes of brokers are no requests.
    assert requests.total() > wanted.total() * 0.9


@pytest.mark.thorough(instead="tests/pipeline/test_layouts.py::test_a_clock_is_set_to_utc_by_its_zone")
@pytest.mark.spark
def test_a_time_with_a_zone_is_utc_in_the_table_and_one_without_is_of_the_zone_given(spark, tmp_path):
    folder = tmp_path / "logs"
    (folder / "a").mkdir(parents=True)
    (folder / "b").mkdir()
    strimzi = next(written for written in NAMED if written.file == "strimzi")
    ecs = next(written for written in NAMED if written.file == "ecs")
    (folder / "a" / "x.log").write_text(content(strimzi))
    (folder / "b" / "x.log").write_text(content(ecs))

    (tmp_path / "sources.json").write_text(
        json.dumps(
            [
                {"path": f"{folder}/a", "broker": "one", "time_zone": "Europe/Berlin", "level": "DEBUG"},
                {"path": f"{folder}/*/*", "layout": "ecs", "time_zone": "Asia/Tokyo"},
            ]
        )
    )
    looked = access.look(tmp_path / "table", "eu", read_sources(tmp_path / "sources.json").paths)
    # The records are of a whole year. Each day is written for itself, so few are kept: of summer and of winter time.
    keep_days = 4000 if FULL else 80
    access.extend(spark, looked, keep_days=keep_days, today=date(2026, 12, 31))

    table = Table.open(tmp_path / "table", "eu")
    rows: dict[str, Counter[tuple[Any, ...]]] = {}
    for row in table.access(spark, Window()).collect():
        key = (row.day, row.principal, row.resource_name, row.allowed, row.lines, row.first_us, row.last_us)
        rows.setdefault(row.broker.split("/")[-2], Counter())[key] += 1
    assert rows["a"] == rows["b"]
    assert rows["a"].total() > (500 if FULL else 100)
    days = [day for day, *_ in rows["a"]]
    assert min(days) < "2026-10-25" < max(days)
    assert {source["layout"] for source in table.version.sources} == {"strimzi", "ecs"}
    logged = read_table(spark, table, Window(), lambda frame: frame, known_brokers(looked.sources))
    assert sorted(names_of(logged.coverage, logged.brokers.names).values()) == ["b/x.log", "one"]
    assert logged.brokers.levels == {f"{folder}/a/x.log": "DEBUG"}
    assert logged.table_state != read_table(spark, table, Window(), lambda frame: frame).table_state


@pytest.mark.spark
def test_files_at_an_address_are_read_each_in_its_layout(spark, tmp_path):
    for file in ("strimzi", "ecs"):
        (tmp_path / f"{file}.log.gz").write_bytes(gzip.compress(recorded()[file]))

    logged = read_logs(spark, [f"file://{tmp_path}/*.gz"], lambda frame: frame)

    assert {Path(source.path).name: source.layout for source in logged.sources.values()} == {
        "strimzi.log.gz": "strimzi",
        "ecs.log.gz": "ecs",
    }
    assert sum(row["lines"] for row in logged.coverage) == 2000


@pytest.mark.parametrize(
    ("time", "placed"),
    [
        (LogTime(0, is_utc=True), ("1970-01-01", 0, 0)),
        (LogTime(0, is_utc=False), ("1969-12-31", 23, -3_600_000_000)),
        # The clock showed 02:30 twice on that day; the first is taken.
        (LogTime(1_792_895_400_000_000, is_utc=False), ("2026-10-25", 0, 1_792_888_200_000_000)),
        (LogTime(None, is_utc=False), (None, 0, None)),
        (LogTime(10**18, is_utc=True), (None, 0, None)),
    ],
)
def test_a_clock_is_set_to_utc_by_its_zone(time, placed):
    assert worker_lines.placed(time, "Europe/Berlin") == placed


# --- While logs grow ---


@pytest.mark.half
@pytest.mark.parametrize("written", NAMED, ids=lambda written: written.file)
@pytest.mark.parametrize("seed", range(2))
def test_every_record_of_a_log_that_grows_and_rotates_is_counted_once(tmp_path, written, seed):
    rng = random.Random(f"{written.file} {seed}")
    frame = rng.choice(["", *FRAMED]) if "+" not in written.layout else ""
    data = content(written, frame).encode()[: rng.randint(40_000, 60_000)]
    data = data[: data.rindex(b"\n") + 1]
    log = tmp_path / "broker" / "a.log"
    log.parent.mkdir()
    reader = Reader(tmp_path / "*" / "*")

    at, now = 0, 1_800_000_000 * 10**9
    while at < len(data):
        at = min(len(data), at + rng.choice((1, 80, 700, 9000)))
        log.write_bytes(data[:at])
        os.utime(log, ns=(now, now))
        reader.read(now)
    rotated = log.with_name("a.log.1.gz")
    rotated.write_bytes(gzip.compress(data))
    log.write_bytes(b"")
    reader.read(now)

    name = f"{frame}+{written.layout}" if frame else written.layout
    whole = list(layout_of(name).read(data.decode("utf-8", "replace").split("\n")))
    wanted = Counter(record.text for record in whole if record.time is not None)
    assert {source.layout for source in reader.known if source.offset} == {name}
    found = Counter(reader.counted)
    assert {text: (found[text], times) for text, times in wanted.items() if found[text] != times} == {}
    assert sum(isinstance(parse_record(SOME_TIME + text), AccessEvent) for text in wanted) > 30


def test_a_log_of_an_unknown_layout_is_found_to_have_one_when_its_records_come(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("starting\n")
    reader = Reader(log)
    reader.read()
    assert [source.layout for source in reader.known] == [UNKNOWN]

    log.write_bytes(b"starting\n" + recorded()["kafka"])
    reader.read()

    assert [source.layout for source in reader.known] == [KAFKA]
    assert len(reader.counted) > 950


def test_a_layout_that_somebody_names_is_looked_for_in_every_frame(tmp_path):
    text = recorded()["utc"].decode()
    (tmp_path / "a.log").write_text("\n".join(framed("cri", text.split("\n"))))
    pattern = next(written.layout for written in WRITTEN if written.file == "utc")

    looked = access.look(tmp_path / "table", "eu", [LogSource(str(tmp_path / "a.log"), layout=pattern)])

    assert [fresh.source.layout for fresh in looked.found.fresh] == [f"cri+{pattern}"]


# --- What cannot be read ---


@pytest.mark.spark
def test_a_log_of_an_unknown_layout_costs_itself_however_long_it_is(spark, snapshot_file, tmp_path):
    (tmp_path / "good.log").write_bytes(recorded()["kafka"][:1000])
    (tmp_path / "odd.log").write_text("2026/11/20 what is this\n" * 1000)
    files = [tmp_path / "good.log", tmp_path / "odd.log"]

    manifest = manifest_of(run(spark, snapshot_file, files, tmp_path / "out"))

    good, odd = manifest["files"]
    assert (good["layout"], good["decisions"] > 0) == ("kafka", True)
    assert (odd["layout"], odd["unparsed"], odd["lines"]) == ("unknown", 1000, 1000)
    (told,) = warnings(manifest)
    assert told.startswith(
        f"{tmp_path}/odd.log: Its layout is unknown, so 1,000 lines of it cannot be read; "
    )
    # What its lines ask, nobody knows.
    assert "odd.log" in manifest["unread"]


@pytest.mark.spark
def test_a_job_fails_where_all_lines_are_of_an_unknown_layout(spark, snapshot_file, tmp_path):
    (tmp_path / "empty.log").write_text("")
    (tmp_path / "odd.log").write_text("2026/11/20 what is this\n" * 3)

    with pytest.raises(JobError) as error:
        run(spark, snapshot_file, [tmp_path / "empty.log", tmp_path / "odd.log"], tmp_path / "out")

    assert str(error.value).startswith(f"The layout of {tmp_path}/odd.log is unknown, so 3 of 3 lines")
    assert "It begins with '2026/11/20 what is this'; name its layout with --layout" in str(error.value)
    assert not (tmp_path / "out").exists()


def test_a_log_of_an_unknown_layout_beside_read_ones_does_not_stop_their_table(tmp_path):
    """It may be the only one that grows for hours, and was the reason why nothing was read any more."""
    good, odd = tmp_path / "good.log", tmp_path / "odd.log"
    good.write_bytes(recorded()["kafka"][:1000])
    odd.write_text("2026/11/20 what is this\n")

    looked = access.look(tmp_path / "table", "eu", [LogSource(str(tmp_path / "*.log"))])

    assert looked.unknown == {str(odd): "2026/11/20 what is this"}
    assert {fresh.path for fresh in looked.found.fresh} == {str(good), str(odd)}
    good.unlink()
    with pytest.raises(JobError, match="nothing of it can be read"):
        access.look(tmp_path / "table", "eu", [LogSource(str(odd))])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_beside_read_logs_is_named_and_costs_itself(tmp_path, encoding):
    (tmp_path / "good.log").write_bytes(recorded()["kafka"][:1000])
    (tmp_path / "odd.log").write_bytes(recorded()["kafka"][:1000].decode().encode(encoding))

    looked = access.look(tmp_path / "table", "eu", [LogSource(str(tmp_path))])

    ((path, state),) = looked.found.problems
    assert (path, state.state) == (str(tmp_path / "odd.log"), "refused")
    assert state.reason.startswith("It looks like UTF-16; convert it to UTF-8")
    assert [fresh.path for fresh in looked.found.fresh] == [str(tmp_path / "good.log")]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "The layout of {file} is unknown, so nothing of it can be read. It begins with 'what is this'"),
        (["--layout", "strimzi"], "The layout of {file} is unknown, so nothing of it can be read."),
    ],
)
def test_a_log_of_an_unknown_layout_ends_the_job_without_spark(tmp_path, capsys, monkeypatch, given, told):
    file = tmp_path / "odd.log"
    file.write_text("what is this\nand that\n")
    monkeypatch.setattr("aclweb.pipeline.__main__.spark_session", None)

    status = main(["access", "--cluster", "eu", "--log", str(file), "--out", str(tmp_path / "table"), *given])

    assert status == 1
    assert told.format(file=file) in capsys.readouterr().err
    assert not (tmp_path / "table").exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--layout", "log5j"], "'log5j' is no layout; use kafka, strimzi, json"),
        (["--pattern", "%q"], "The pattern '%q' has %q, which cannot be read back."),
        (["--pattern", "[%d] %m%n", "--layout", "kafka"], "not allowed with argument"),
    ],
)
def test_a_layout_that_cannot_be_read_is_refused(capsys, given, told):
    with pytest.raises(SystemExit, match="2"):
        main(["access", "--cluster", "eu", "--log", "a", "--out", "o", *given])

    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{", "cannot be read: Expecting property name"),
        ("[]", "are no list; write it as"),
        ('[{"broker": "x"}]', "Source 1 has no 'path'; name a file, a folder or a pattern, or a"),
        ('[{"path": "a"}, {"path": "a", "zone": "UTC"}]', "Source 2 has 'zone', which is no key or no text"),
        ('[{"path": "a", "time_zone": "Mars/North"}]', "Source 1: 'Mars/North' is no time zone; write it as"),
        ('[{"path": "a", "level": "TRACE"}]', "Source 1: 'TRACE' is no level; use DEBUG or INFO."),
        ('[{"path": "a", "layout": "log5j"}]', "Source 1: 'log5j' is no layout"),
        ('[{"path": "a", "pattern": "%q"}]', "Source 1: The pattern '%q' has %q"),
        ('[{"topic": "logs"}]', "Source 1: The topic 'logs' has no 'kafka'; name its brokers as HOST:PORT."),
        (
            '[{"topic": "logs", "path": "a"}]',
            "Source 1 has 'path', which is no key or no text; the keys are topic,",
        ),
        (
            '[{"topic": "logs", "kafka": "h:1", "broker_by": "value"}]',
            "Source 1: 'broker_by' is 'value'; use key or topic.",
        ),
        (
            '[{"path": "a", "pattern": "%d %m%n", "layout": "kafka"}]',
            "It has a layout and a pattern; give one",
        ),
    ],
)
def test_a_file_of_sources_that_is_none_is_refused_with_a_sentence(tmp_path, written, told):
    (tmp_path / "sources.json").write_text(written)

    with pytest.raises(SourceError) as error:
        read_sources(tmp_path / "sources.json")

    assert told in str(error.value)


def test_a_zone_beside_a_file_of_sources_is_refused(tmp_path, capsys):
    words = ["access", "--cluster", "eu", "--source", "s.json", "--out", str(tmp_path / "table")]

    assert main([*words, "--time-zone", "UTC"]) == 2

    assert (
        "--source names the zone and the layout of each log; leave out --time-zone" in capsys.readouterr().err
    )


def test_one_name_for_several_logs_hides_no_silent_broker():
    one = LogSource("/logs/*/a.log", broker="kafka")
    files = {"/logs/b1/a.log": one, "/logs/b1/a.log.1.gz": one, "/logs/b2/a.log": one}
    alone = LogSource("/other/a.log", broker="edge")

    names = broker_names(files | {"/other/a.log": alone})

    assert names == {
        "/logs/b1/a.log": "kafka: b1/a.log",
        "/logs/b2/a.log": "kafka: b2/a.log",
        "/other/a.log": "edge",
    }
