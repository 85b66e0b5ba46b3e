"""Is each record of a Kafka topic counted exactly once, whatever is killed in between?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer

from aclweb.acl.notation.authorizer_log import records
from aclweb.pipeline import topic_sources, topics
from aclweb.pipeline.__main__ import main
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import SourceError
from aclweb.pipeline.log_sources import TopicSource, read_sources
from aclweb.pipeline.storage import LocalFolder
from aclweb.pipeline.table import Table, Window
from aclweb.pipeline.table.changing import next_version
from aclweb.pipeline.table.parts import ACCESS, TableError
from aclweb.pipeline.table.versions import commit, latest
from aclweb.pipeline.topics import (
    Bound,
    Position,
    Span,
    Topic,
    _ranges,
    read_bound,
    read_client_options,
)
from devstack.jars import CONNECTOR as LOCK
from devstack.java import java_home
from tests.pipeline import plain
from tests.pipeline.samples import BINDINGS, RULES
from tests.pipeline.test_access import rows_in
from tests.servers import create_topic, need_jars, settings_of

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
# The logs of one broker, and those with odd lines; all of them are read elsewhere.
LOGS = slice(None) if FULL else slice(-4, None)
CLUSTER = "test-eu"
# So few lines are counted before generated code has been compiled.
FEW_LINES = (
    "spark.sql.codegen.wholeStage=false",
    "spark.sql.codegen.factoryMode=NO_CODEGEN",
    "spark.sql.shuffle.partitions=2",
)
BROKERS = ("broker-1", "broker-2", "")
REQUEST = ("principal", "host", "operation", "resource_type", "resource_name", "allowed")


@pytest.fixture
def sent(kafka44, fresh, logs) -> tuple[str, int]:
    """A topic of three partitions, each with the records of one broker; one broker's have no key."""
    create_topic(kafka44, fresh, partitions=3)
    producer = KafkaProducer(**settings_of(kafka44, "admin"))
    written = [record for log in logs[LOGS] for record in records(plain.lines_of(log))]
    for number, record in enumerate(written):
        broker = BROKERS[number % 3]
        key = broker.encode() if broker else None
        producer.send(fresh, partition=number % 3, key=key, value=record.encode())
    producer.close()
    return fresh, len(written)


def written_options(broker, folder: Path) -> str:
    options = folder / "client.properties"
    options.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
        f'  username="admin" password="{broker.users["admin"]}";\n'
    )
    return str(options)


def words_of_stream(broker, topic: str, folder: Path, *more: str) -> list[str]:
    words = ["stream", "--kafka", broker.bootstrap, "--topic", topic, "--time-zone", "UTC"]
    return [*words, "--options", written_options(broker, folder), *more, *words_of_table(folder)]


def words_of_source(broker, topic: str, folder: Path) -> list[str]:
    """The job that the site runs each hour, with the topic as the one source."""
    source = {"topic": topic, "kafka": broker.bootstrap, "time_zone": "UTC"}
    source["options"] = written_options(broker, folder)
    (folder / "sources.json").write_text(json.dumps([source]))
    return ["access", "--source", str(folder / "sources.json"), *words_of_table(folder)]


def words_of_table(folder: Path) -> list[str]:
    jars = ",".join(str(jar) for jar in sorted(need_jars(LOCK).glob("*.jar")))
    words = ["--master", "local[2]", *([] if FULL else [f"--conf={setting}" for setting in FEW_LINES])]
    words += ["--conf", f"spark.jars={jars}", "--cluster", CLUSTER]
    return [*words, "--out", str(folder / "table"), "--keep-days", "9999"]


# Runs a job a line in one Spark, as `aclweb.pipeline round` does for the jobs of the site, whichever job it is.
RUNS_JOBS = """
import sys
from aclweb.pipeline.__main__ import main
from aclweb.pipeline.rounds import answers_alone, serve
with answers_alone() as answers:
    serve(main, sys.stdin, answers)
"""


def started(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "JAVA_HOME": str(java_home())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def answered(jobs: subprocess.Popen[str], words: list[str]) -> dict[str, Any]:
    """Run one job in a Spark that runs several, and return how it ended."""
    assert jobs.stdout is not None
    print(json.dumps(words), file=jobs.stdin, flush=True)
    return dict(json.loads(jobs.stdout.readline() or jobs.communicate()[1]))


def counted(table: Path) -> Counter[tuple[Any, ...]]:
    found = Table.open(table, CLUSTER)
    rows: Counter[tuple[Any, ...]] = Counter()
    for held in found.version.days.values():
        for part in held.parts[ACCESS]:
            for row in rows_in(found, part):
                rows[tuple(row[name] for name in REQUEST)] += row["lines"]
    return rows


def read_of(version, topic: str) -> int:
    """Return how many messages of a topic the table has read."""
    (position,) = (found for key, found in version.offsets.items() if key.startswith(f"{topic} "))
    return sum(Position.from_dict(position).following.values())


@pytest.mark.turns(
    2,
    0,
    instead="tests/pipeline/test_topics.py::test_a_topic_that_cannot_be_read_costs_itself_and_the_table_says_so_until_it_can",
)
@pytest.mark.long
def test_a_range_of_a_topic_and_what_follows_it_count_each_record_once(kafka44, sent, logs, tmp_path):
    topic, number = sent

    # A range first, in two changes of the table; the first partition ends earlier than the others.
    until = json.dumps({"0": 1})
    first = words_of_stream(kafka44, topic, tmp_path, "--at-once", str(number // 3), "--until", until)
    with started(["-c", RUNS_JOBS]) as jobs:
        assert answered(jobs, first) == {"status": 0, "errors": ""}
        begun = Table.open(tmp_path / "table", CLUSTER).version
        assert answered(jobs, words_of_source(kafka44, topic, tmp_path)) == {"status": 0, "errors": ""}
        jobs.communicate()

    assert begun.number > 1, "several changes"
    assert 0 < read_of(begun, topic) < number
    each_record_was_counted_once(tmp_path, topic, number, logs)


@pytest.mark.thorough(
    instead="tests/pipeline/test_topics.py::test_a_topic_that_cannot_be_read_costs_itself_and_the_table_says_so_until_it_can"
)
@pytest.mark.long
def test_a_run_killed_after_its_first_change_and_the_next_count_each_record_once(
    kafka44, sent, logs, tmp_path
):
    topic, number = sent

    # A range first, in two changes of the table; the first partition ends earlier than the others.
    until = json.dumps({"0": 1})
    words = words_of_stream(kafka44, topic, tmp_path, "--at-once", str(number // 3), "--until", until)
    first = started(["-m", "aclweb.pipeline", *words])
    told = first.stdout.readline()
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    begun = Table.open(tmp_path / "table", CLUSTER).version
    second = started(["-m", "aclweb.pipeline", *words_of_source(kafka44, topic, tmp_path)])
    answer, errors = second.communicate(timeout=300)

    assert "Added" in told
    assert 0 < read_of(begun, topic) < number
    assert second.returncode == 0, errors
    assert f"records of {topic}, " in answer
    assert kafka44.users["admin"] not in answer + errors
    each_record_was_counted_once(tmp_path, topic, number, logs)

    if FULL:
        before = Table.open(tmp_path / "table", CLUSTER).version.number
        third = started(["-m", "aclweb.pipeline", *words_of_stream(kafka44, topic, tmp_path)])
        answer, errors = third.communicate(timeout=300)
        assert (third.returncode, answer) == (0, "Nothing new.\n"), errors
        assert Table.open(tmp_path / "table", CLUSTER).version.number == before


def each_record_was_counted_once(folder: Path, topic: str, number: int, logs) -> None:
    expected = plain.count(logs[LOGS], BINDINGS, RULES)
    assert counted(folder / "table") == expected.requests
    table = Table.open(folder / "table", CLUSTER)
    assert read_of(table.version, topic) == number
    coverage = table.coverage(Window())
    assert sum(row["lines"] for row in coverage) == number
    assert {row["broker"] for row in coverage} == {"broker-1", "broker-2", topic}
    # Whose broker nobody knows covers no hour.
    assert {row["hours"] for row in coverage if row["broker"] == topic} == {0}
    assert any(row["permit_hours"] for row in coverage if row["broker"] != topic)


def source_of(tmp_path, topic: str) -> dict[str, str]:
    return {
        "topic": topic,
        "kafka": "h:1",
        "options": str(tmp_path / "client.properties"),
        "time_zone": "UTC",
    }


@pytest.fixture
def streamed(monkeypatch) -> list[Topic]:
    """The topics that were read; `gone` cannot be."""
    read: list[Topic] = []

    def stream(_spark, topic, _table, _cluster, **_options):
        if topic.name == "gone":
            raise JobError("The topic gone of h:1 cannot be read. It is not there.")
        read.append(topic)
        return 1

    monkeypatch.setattr(topic_sources, "stream", stream)
    return read


def read_all(tmp_path, *topics: str, report=lambda sentence: None) -> tuple[str, ...]:
    (tmp_path / "client.properties").write_text("sasl.jaas.config=secret words\n")
    (tmp_path / "sources.json").write_text(json.dumps([source_of(tmp_path, topic) for topic in topics]))
    sources = read_sources(tmp_path / "sources.json")
    return topic_sources.extend_from_topics(
        None, sources.topics, tmp_path, "eu", keep_days=9, report=report, step=lambda topic: None
    )


def test_a_topic_that_cannot_be_read_costs_itself_and_the_table_says_so_until_it_can(tmp_path, streamed):
    noted(tmp_path, "logs a", Position({0: 5}, None))

    told = read_all(tmp_path, "gone", "logs")
    unread = latest(LocalFolder(tmp_path / "cluster=eu"))
    read_all(tmp_path, "gone", "logs")
    same = latest(LocalFolder(tmp_path / "cluster=eu"))
    read_all(tmp_path, "logs")

    assert told == ("The topic gone of h:1 cannot be read. It is not there.",)
    assert [topic.options for topic in streamed] == [{"sasl.jaas.config": "secret words"}] * 3
    assert unread.problems == {"kafka:gone/": {"state": "refused", "reason": told[0]}}
    assert same.number == unread.number
    assert latest(LocalFolder(tmp_path / "cluster=eu")).problems == {}


def test_options_that_are_not_there_cost_their_topic_alone(tmp_path, streamed):
    source = TopicSource("logs", "h:1", str(tmp_path / "gone.properties"))

    told = topic_sources.extend_from_topics(
        None, [source], tmp_path, "eu", keep_days=9, report=print, step=lambda topic: None
    )

    assert len(told) == 1
    assert "gone.properties: The settings of the Kafka client cannot be read" in told[0]
    assert streamed == []


def test_a_job_that_reads_logs_themselves_takes_no_topic(tmp_path, capsys):
    (tmp_path / "sources.json").write_text(json.dumps([source_of(tmp_path, "logs")]))
    (tmp_path / "snapshot.jsonl").write_text('{"cluster": "eu"}\n')
    words = ["--snapshot", str(tmp_path / "snapshot.jsonl"), "--source", str(tmp_path / "sources.json")]

    assert main(["usage", *words, "--out", str(tmp_path / "out")]) == 2

    assert "The topic 'logs' is read into an access table only" in capsys.readouterr().err


@pytest.mark.spark
def test_without_the_connector_the_sentence_says_what_to_give(spark):
    with pytest.raises(JobError, match=r"Spark has no connector for Kafka here; give it .*spark\.jars"):
        _ranges(spark, Topic("logs", "127.0.0.1:1"))


def test_settings_of_a_client_are_read_as_kafkas_tools_take_them():
    text = '# login\nsasl.jaas.config=a.B required \\\n  password="x=y\x85";\r\n\nssl.truststore.type = PEM\n'

    assert read_client_options(text) == {
        "sasl.jaas.config": 'a.B required   password="x=y\x85";',
        "ssl.truststore.type": "PEM",
    }


@pytest.mark.parametrize(
    "text, told",
    [
        ("a=b\nsecret words", "Line 2 of the options is no KEY=VALUE"),
        ("bootstrap.servers=h:1", "Line 1 of the options sets bootstrap.servers, which the job itself sets"),
    ],
)
def test_a_wrong_line_of_the_settings_is_named_and_not_repeated(text, told):
    with pytest.raises(SourceError, match=told) as caught:
        read_client_options(text)

    assert "secret words" not in str(caught.value)


@pytest.mark.parametrize(
    "content, told",
    [(None, "cannot be read: No such file"), (b"a=\xff", "is not UTF-8 text (byte 3)")],
)
def test_settings_that_cannot_be_read_end_the_command_as_bad_input(tmp_path, capsys, content, told):
    options = tmp_path / "client.properties"
    if content is not None:
        options.write_bytes(content)

    command = ["stream", "--kafka", "h:1", "--topic", "logs", "--options", str(options)]
    status = main([*command, "--cluster", "prod", "--out", str(tmp_path / "table")])

    assert status == 2
    assert f"{options}: The settings of the Kafka client {told}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "x" * 250])
def test_what_is_no_name_of_a_topic_is_refused(name):
    with pytest.raises(SourceError, match="is no name of a topic"):
        Topic(name, "h:1")


def test_a_position_comes_back_from_the_table_as_it_went():
    position = Position({0: 5, 11: 7}, "Europe/Berlin")

    assert Position.from_dict(json.loads(json.dumps(position.as_dict()))) == position


def positioned(
    tmp_path,
    monkeypatch,
    topic_id: str,
    *,
    ends: dict[int, tuple[int, int]],
    zone: str | None = None,
    span: Span = topics.WHOLE,
):
    """Return where a run would begin whose topic has this id and these offsets."""
    monkeypatch.setattr(topics, "_ranges", lambda spark, topic: (topic_id, ends))
    return topics._start(None, Topic("logs", "h:1"), LocalFolder(tmp_path / "cluster=eu"), zone, span)


def noted(tmp_path, key: str, position: Position) -> None:
    base = latest(LocalFolder(tmp_path / "cluster=eu"))
    version = next_version(
        base, "eu", {}, samples=(), sources=(), problems={}, oldest_day="", offsets={key: position.as_dict()}
    )
    commit(LocalFolder(tmp_path / "cluster=eu"), version)


def test_topics_of_one_name_on_two_clusters_do_not_reset_each_other(tmp_path, monkeypatch):
    noted(tmp_path, "logs a", Position({0: 5}, None))

    other = positioned(tmp_path, monkeypatch, "b", ends={0: (0, 9)})
    noted(tmp_path, "logs b", Position({0: 9}, None))
    same = positioned(tmp_path, monkeypatch, "a", ends={0: (2, 9), 1: (0, 4)})

    assert other.position.following == {0: 0}
    assert other.remarks == ("Another topic logs was read before; this one is read from its beginning.",)
    assert (same.position.following, same.remarks, same.is_end) == ({0: 5, 1: 0}, (), False)


def test_messages_that_left_or_were_lost_are_told(tmp_path, monkeypatch):
    noted(tmp_path, "logs a", Position({0: 5}, None))

    assert positioned(tmp_path, monkeypatch, "a", ends={0: (8, 8)}).remarks == (
        "3 messages of logs left the topic before anybody read them.",
    )
    with pytest.raises(JobError, match="Partition 0 of logs ends at offset 3, and 5 was read before"):
        positioned(tmp_path, monkeypatch, "a", ends={0: (0, 3)})


def test_a_first_run_begins_and_ends_where_it_is_told(tmp_path, monkeypatch):
    span = Span(read_bound('{"0": 3, "1": 0}'), read_bound('{"0": 7, "2": 99}'))

    start = positioned(tmp_path, monkeypatch, "a", ends={0: (0, 9), 1: (2, 5), 2: (0, 4)}, span=span)

    assert start.position.following == {0: 3, 1: 2, 2: 0}
    assert start.end == {0: 7, 1: 5, 2: 4}


def test_a_range_begins_where_what_was_read_ends_and_leaves_no_gap(tmp_path, monkeypatch):
    noted(tmp_path, "logs a", Position({0: 5}, None))

    def at(offset: int, until: int = 9):
        span = Span(Bound({0: offset}), Bound({0: until}))
        return positioned(tmp_path, monkeypatch, "a", ends={0: (0, 9)}, span=span)

    assert (at(5).position.following, at(5).remarks) == ({0: 5}, ())
    assert at(2).position.following == {0: 5}
    assert at(2).remarks == (
        "3 messages of logs after --from were read before, or left out then; they are not read again.",
    )
    assert at(2, until=4).is_end
    with pytest.raises(TableError, match="up to offset 5, so --from 8 would leave 3 messages out for ever"):
        at(8)
    with pytest.raises(SourceError, match="logs has no partition 4; it has 1 partition, counted from 0"):
        positioned(tmp_path, monkeypatch, "a", ends={0: (0, 9)}, span=Span(Bound({4: 1})))


def test_a_moment_is_the_offset_of_its_first_message_or_the_end(tmp_path, monkeypatch):
    asked = []

    def offsets_at(_spark, _topic, milliseconds, _ranges):
        asked.append(milliseconds)
        return {0: 4, 1: 6}

    monkeypatch.setattr(topics, "_offsets_at", offsets_at)
    span = Span(end=read_bound("2026-11-01T09:00+01:00"))

    start = positioned(tmp_path, monkeypatch, "a", ends={0: (0, 9), 1: (0, 6)}, span=span)

    assert asked == [1793520000000]
    assert start.end == {0: 4, 1: 6}


@pytest.mark.parametrize("text", ["", "yesterday", "{}", "[5]", '{"0": -1}', '{"0": "5"}', '{"x": 5}', "{"])
def test_what_is_no_place_in_a_topic_is_refused_with_what_is(text):
    with pytest.raises(SourceError, match="such as"):
        read_bound(text)


def test_a_range_that_never_ends_is_refused(tmp_path, capsys):
    words = ["stream", "--kafka", "h:1", "--topic", "logs", "--cluster", "eu", "--out", str(tmp_path)]

    assert main([*words, "--until", '{"0": 5}', "--every", "5"]) == 2

    assert "--until ends where it says, and --every never ends" in capsys.readouterr().err


def test_a_topic_is_read_with_one_zone(tmp_path, monkeypatch):
    noted(tmp_path, "logs a", Position({0: 5}, "UTC"))

    with pytest.raises(
        TableError, match="was read with the time zone UTC before; give --time-zone UTC again"
    ):
        positioned(tmp_path, monkeypatch, "a", ends={0: (0, 9)}, zone="Europe/Berlin")


def test_most_of_many_records_must_be_readable():
    topic = Topic("logs", "h:1")
    topics._check_read([{"lines": 999, "unparsed": 999}], topic)
    topics._check_read([{"lines": 2000, "unparsed": 1000}], topic)

    with pytest.raises(
        JobError, match="1,001 of 2,000 records of logs cannot be read, so none of them was added"
    ):
        topics._check_read([{"lines": 2000, "unparsed": 1001}], topic)
