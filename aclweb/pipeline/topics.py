"""How do the records of a Kafka topic become rows of the access table, each exactly once?

Spark's Structured Streaming reads the topic through Spark's own connector. Each micro-batch is one change of the
table, and the version that it makes holds, beside the rows, how far the topic was read. A run starts there; so
whatever was killed in between counts no message twice and leaves none out. A message is one record. Its key names
the broker that wrote it; without one nobody can say whether every broker logged, and no hour counts as covered.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from aclweb.acl.model import number_of
from aclweb.acl.notation import KAFKA, UNKNOWN
from aclweb.pipeline import totals
from aclweb.pipeline.connector import CONNECTOR
from aclweb.pipeline.coverage import Row
from aclweb.pipeline.failures import SPARK_ERRORS, JobError, cause_of
from aclweb.pipeline.files import SourceError
from aclweb.pipeline.job import keeping
from aclweb.pipeline.layout_counts import lines_of_messages
from aclweb.pipeline.log_sources import BY_KEY, BY_TOPIC
from aclweb.pipeline.readings import Reading, layout_in
from aclweb.pipeline.storage import Folder
from aclweb.pipeline.table.changing import unfinished_folder
from aclweb.pipeline.table.parts import TableError, check
from aclweb.pipeline.table.reading import folder_of
from aclweb.pipeline.table.versions import latest
from aclweb.pipeline.writing import Writing

MESSAGES_AT_ONCE = 1_000_000
"""Of one micro-batch, at most."""

SCHEME = "kafka:"
"""What stands before a topic where a table names the file of a record."""

_PATIENCE_SECONDS = 30
_MOST_ROWS = 50_000
_LONGEST_KEY = 249
_LOOKED_AT = 200
_MANY_RECORDS = 1_000
_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_SECRET = re.compile(r"password|secret|jaas|token|\.key$", re.IGNORECASE)
# Of every reader: what a person may not say otherwise.
_OURS = frozenset(("bootstrap.servers", "key.deserializer", "value.deserializer", "auto.offset.reset"))


@dataclass(frozen=True)
class Topic:
    """Where records are: name, bootstrap (HOST:PORT,…) and further settings of a Kafka client.

    broker: BY_KEY or BY_TOPIC, what names the broker that wrote a record.
    """

    name: str
    bootstrap: str
    options: Mapping[str, str] = field(default_factory=dict)
    broker: str = BY_KEY

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name in (".", ".."):
            raise SourceError(
                f"{self.name!r} is no name of a topic; one has letters, digits, '.', '_' and '-'."
            )

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may repeat."""
        return tuple(value for key, value in self.options.items() if _SECRET.search(key))

    def client(self) -> dict[str, str]:
        return {**self.options, "bootstrap.servers": self.bootstrap}


@dataclass(frozen=True)
class Position:
    """How far a topic was read: for each partition the offset that comes next. zone: that of the brokers' clocks."""

    following: Mapping[int, int]
    zone: str | None

    def as_dict(self) -> dict[str, Any]:
        return {"next": {str(number): at for number, at in self.following.items()}, "zone": self.zone}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Position:
        return cls({int(number): int(at) for number, at in found["next"].items()}, found["zone"])


@dataclass(frozen=True)
class Bound:
    """A place in a topic that a person named: the offset of some partitions, or a moment for all.

    milliseconds: since 1970, where a moment was named; it means the first message of that time or later.
    """

    offsets: Mapping[int, int] = field(default_factory=dict)
    milliseconds: int | None = None


@dataclass(frozen=True)
class Span:
    """Which messages of a topic a run may read: from `first` on, and before `end`. None: what is there."""

    first: Bound | None = None
    end: Bound | None = None


WHOLE = Span()


@dataclass(frozen=True)
class Start:
    """Where a run begins.

    key: of the topic in the table, its name and its id, since a topic may be made anew, and another cluster may have
    one of its name. noted: what the table says about it. remarks: sentences about messages that nobody can read now.
    end: the offset behind the last message of each partition to read, as far as is known at the start.
    """

    key: str
    noted: Mapping[str, Any] | None
    position: Position
    remarks: tuple[str, ...]
    end: Mapping[int, int]

    @property
    def is_end(self) -> bool:
        return all(at >= self.end[number] for number, at in self.position.following.items())


Report = Callable[[str], None]


def read_bound(text: str) -> Bound:
    """Return a place in a topic: `{"0": 5, "1": 7}`, or a moment such as 2026-11-01T08:00, in UTC unless it says.

    Raises SourceError for anything else.
    """
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except ValueError:
            found = {}
        if not found or not all(
            re.fullmatch(r"[0-9]{1,9}", number) and type(at) is int and at >= 0
            for number, at in found.items()
        ):
            raise SourceError(
                f'{text!r} names no offsets; write the offset of each partition, such as \'{{"0": 5, "1": 7}}\'.'
            )
        return Bound({int(number): at for number, at in found.items()})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise SourceError(
            f"{text!r} is no place in a topic; write a moment such as 2026-11-01T08:00, or offsets such as "
            '\'{"0": 5, "1": 7}\'.'
        ) from None
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return Bound(milliseconds=round(zoned.timestamp() * 1000))


def read_client_options(text: str) -> dict[str, str]:
    """Return the settings of a client from a file of KEY=VALUE lines, as Kafka's own tools take them.

    Raises SourceError naming the line; a value is in no message, since it may be a secret.
    """
    found: dict[str, str] = {}
    # Not where str.splitlines does, since a password may hold a sign that ends a line there.
    for number, written in enumerate(re.split(r"\r\n|\r|\n", text.replace("\\\n", "")), 1):
        line = written.strip()
        if not line or line.startswith(("#", "!")):
            continue
        key, equals, value = line.partition("=")
        key = key.strip()
        if not equals or not re.fullmatch(r"[a-z0-9.-]+", key):
            raise SourceError(f"Line {number} of the options is no KEY=VALUE of a Kafka client.")
        if key in _OURS:
            raise SourceError(
                f"Line {number} of the options sets {key}, which the job itself sets; leave it out."
            )
        found[key] = value.strip()
    return found


def stream(
    spark: SparkSession,
    topic: Topic,
    table: Folder | Path,
    cluster: str,
    *,
    reading: Reading,
    keep_days: int,
    report: Report,
    every_seconds: int | None = None,
    messages_at_once: int = MESSAGES_AT_ONCE,
    span: Span = WHOLE,
) -> int:
    """Add what is in a topic to the access table of a cluster; return how many records were added.

    reading: layout "" looks for that of the first messages. report: is given a sentence for each change of the table.
    every_seconds: how often to look for more, until somebody stops the process; None ends when what was there at
    the start has been read. span: the messages to read; with an end, every_seconds is None.

    Raises JobError where the topic cannot be read, and TableError where the table cannot be changed.
    """
    folder = folder_of(table, cluster)
    start = _start(spark, topic, folder, reading.zone, span)
    for remark in start.remarks:
        report(remark)
    if start.is_end and every_seconds is None:
        return 0
    with tempfile.TemporaryDirectory(prefix="aclweb-checkpoint-") as checkpoint:
        adding = _Adding(spark, topic, folder, cluster, reading, keep_days, report, Path(checkpoint), start)
        if span.end is not None:
            _read_up_to(start.end, adding, messages_at_once)
        else:
            _run(_messages(spark, topic, start.position, messages_at_once), adding, every_seconds)
    return adding.lines


def _read_up_to(end: Mapping[int, int], adding: _Adding, most: int) -> None:
    """Add the messages before `end`, so many at once at most; Spark's stream of a topic knows no end of its own."""
    first = adding.start.position.following
    number = sum(end[each] - at for each, at in first.items())
    changes = -(-number // most)
    begin = dict(first)
    for change in range(1, changes + 1):
        upto = {each: at + (end[each] - at) * change // changes for each, at in first.items()}
        try:
            adding.add_all(_messages_between(adding.spark, adding.topic, begin, upto), upto)
        except SPARK_ERRORS as error:
            topic = adding.topic
            raise JobError(
                f"The topic {topic.name} cannot be read to its end. {_cause(error, topic)}"
            ) from error
        begin = upto


def _messages_between(
    spark: SparkSession, topic: Topic, first: Mapping[int, int], end: Mapping[int, int]
) -> DataFrame:
    reader = spark.read.format("kafka").option("subscribe", topic.name)
    for key, value in topic.client().items():
        reader = reader.option(f"kafka.{key}", value)
    reader = reader.option("startingOffsets", _offsets_of(topic, first))
    return reader.option("endingOffsets", _offsets_of(topic, end)).load()


def _offsets_of(topic: Topic, offsets: Mapping[int, int]) -> str:
    """Return offsets as Spark's connector takes them."""
    return json.dumps({topic.name: {str(number): at for number, at in sorted(offsets.items())}})


def _run(messages: DataFrame, adding: _Adding, every_seconds: int | None) -> None:
    writer = messages.writeStream.foreachBatch(adding.add)
    # The table knows how far the topic was read; what Spark notes beside it is for this run alone.
    writer = writer.option("checkpointLocation", adding.checkpoint.as_uri())
    trigger = (
        {"availableNow": True} if every_seconds is None else {"processingTime": f"{every_seconds} seconds"}
    )
    query = writer.trigger(**trigger).start()
    try:
        query.awaitTermination()
    except SPARK_ERRORS as error:
        if adding.failure is not None:
            raise adding.failure from error
        topic = adding.topic
        raise JobError(f"The topic {topic.name} cannot be read to its end. {_cause(error, topic)}") from error
    finally:
        query.stop()


def _messages(spark: SparkSession, topic: Topic, position: Position, most: int) -> DataFrame:
    reader = spark.readStream.format("kafka").option("subscribe", topic.name)
    for key, value in topic.client().items():
        reader = reader.option(f"kafka.{key}", value)
    reader = reader.option("startingOffsets", _offsets_of(topic, position.following))
    return reader.option("maxOffsetsPerTrigger", most).load()


def _start(spark: SparkSession, topic: Topic, folder: Folder, zone: str | None, span: Span = WHOLE) -> Start:
    """Return where a run begins: where the table says, or for a topic of another id at the beginning of the topic."""
    topic_id, ranges = _ranges(spark, topic)
    first = {number: begin for number, (begin, _) in ranges.items()}
    end = {number: behind for number, (_, behind) in ranges.items()}
    wanted = _placed(spark, topic, span.first, ranges, {})
    end |= _placed(spark, topic, span.end, ranges, end)
    base = latest(folder)
    offsets = base.offsets if base else {}
    key = f"{topic.name} {topic_id}"
    noted = offsets.get(key)
    if noted is None:
        others = [name for name in offsets if name.partition(" ")[0] == topic.name]
        another = f"Another topic {topic.name} was read before; this one is read from its beginning."
        begun = first | {number: max(first[number], at) for number, at in wanted.items()}
        return Start(key, None, Position(begun, zone), (another,) if others else (), _at_least(begun, end))
    known = Position.from_dict(noted)
    if known.zone != zone:
        given = f"with the time zone {known.zone}" if known.zone else "without a time zone"
        again = f"give --time-zone {known.zone} again" if known.zone else "leave --time-zone out"
        raise TableError(
            f"The topic {topic.name} was read {given} before; {again}, or make the table anew in another folder."
        )
    following, gone, repeated = {}, 0, 0
    for number, (begin, behind) in ranges.items():
        next_one = known.following.get(number, begin)
        if next_one > behind:
            raise JobError(
                f"Partition {number} of {topic.name} ends at offset {behind:,}, and {next_one:,} was read before; "
                "messages were lost on the brokers. Make the table anew in another folder."
            )
        asked = wanted.get(number, next_one)
        if number in known.following and asked > max(next_one, begin):
            raise TableError(
                f"Partition {number} of {topic.name} was read up to offset {next_one:,}, so --from {asked:,} would "
                f"leave {number_of(asked - next_one, 'message')} out for ever; begin at {next_one:,}, or leave --from "
                "out."
            )
        repeated += max(0, next_one - asked)
        gone += max(0, begin - next_one)
        following[number] = max(begin, next_one, asked)
    remarks = []
    if repeated:
        remarks.append(
            f"{number_of(repeated, 'message')} of {topic.name} after --from were read before, or left out then; "
            "they are not read again."
        )
    if gone:
        remarks.append(
            f"{number_of(gone, 'message')} of {topic.name} left the topic before anybody read them."
        )
    return Start(key, noted, Position(following, zone), tuple(remarks), _at_least(following, end))


def _at_least(begin: Mapping[int, int], end: Mapping[int, int]) -> dict[int, int]:
    """Return the ends, none of them before where its partition begins."""
    return {number: max(at, end[number]) for number, at in begin.items()}


def _placed(
    spark: SparkSession,
    topic: Topic,
    bound: Bound | None,
    ranges: Mapping[int, tuple[int, int]],
    otherwise: Mapping[int, int],
) -> dict[int, int]:
    """Return the offsets that a bound means; otherwise: those of partitions that it does not name."""
    if bound is None:
        return dict(otherwise)
    unknown = sorted(bound.offsets.keys() - ranges.keys())
    if unknown:
        raise SourceError(
            f"{topic.name} has no partition {unknown[0]}; it has {number_of(len(ranges), 'partition')}, counted from 0."
        )
    found = bound.offsets
    if bound.milliseconds is not None:
        found = _offsets_at(spark, topic, bound.milliseconds, ranges)
    # What is not there yet is no part of this run.
    return dict(otherwise) | {number: min(at, ranges[number][1]) for number, at in found.items()}


def _ranges(spark: SparkSession, topic: Topic) -> tuple[str, dict[int, tuple[int, int]]]:
    """Return the topic's id, and the first offset and the one behind the last of each partition."""
    with _asking(spark, topic) as asked:
        names = asked.jvm.java.util.Collections.singletonList(topic.name)
        described = (
            asked.admin.describeTopics(names)
            .allTopicNames()
            .get(_PATIENCE_SECONDS, asked.seconds)
            .get(topic.name)
        )
        numbers = [partition.partition() for partition in described.partitions()]
        spec = asked.jvm.org.apache.kafka.clients.admin.OffsetSpec
        first, end = (asked.offsets(numbers, make) for make in (spec.earliest, spec.latest))
        return described.topicId().toString(), {
            number: (first[number], end[number]) for number in sorted(first)
        }


def _offsets_at(
    spark: SparkSession, topic: Topic, milliseconds: int, ranges: Mapping[int, tuple[int, int]]
) -> dict[int, int]:
    """Return the offset of the first message at a moment or later; the end of a partition that has none."""
    with _asking(spark, topic) as asked:
        spec = asked.jvm.org.apache.kafka.clients.admin.OffsetSpec
        found = asked.offsets(ranges, lambda: spec.forTimestamp(milliseconds))
    return {number: at if at >= 0 else ranges[number][1] for number, at in found.items()}


@dataclass(frozen=True)
class _Asking:
    """A connection to the brokers of a topic. seconds: Java's word for them."""

    jvm: Any
    admin: Any
    topic: str
    seconds: Any

    def offsets(self, numbers: Iterable[int], spec: Callable[[], Any]) -> dict[int, int]:
        """Return the offset that a spec means in each partition."""
        wanted = self.jvm.java.util.HashMap()
        for number in numbers:
            wanted.put(self.jvm.org.apache.kafka.common.TopicPartition(self.topic, number), spec())
        found = self.admin.listOffsets(wanted).all().get(_PATIENCE_SECONDS, self.seconds)
        return {place.partition(): int(found.get(place).offset()) for place in wanted.keySet()}


@contextmanager
def _asking(spark: SparkSession, topic: Topic) -> Iterator[_Asking]:
    """Yield a connection to the brokers; raises JobError with the cause where they do not answer."""
    jvm = spark._jvm
    assert jvm is not None
    properties = jvm.java.util.Properties()
    for key, value in topic.client().items():
        properties.setProperty(key, value)
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(properties)
    except TypeError as error:
        raise JobError(without_connector()) from error
    except SPARK_ERRORS as error:
        raise JobError(f"The settings of the Kafka client do not do. {_cause(error, topic)}") from error
    try:
        yield _Asking(jvm, admin, topic.name, jvm.java.util.concurrent.TimeUnit.SECONDS)
    except SPARK_ERRORS as error:
        raise JobError(
            f"The topic {topic.name} of {topic.bootstrap} cannot be read. {_cause(error, topic)}"
        ) from error
    finally:
        admin.close(jvm.java.time.Duration.ofSeconds(5))


def without_connector() -> str:
    """Return the sentence for a Spark that has no connector for Kafka."""
    return (
        "Spark has no connector for Kafka here; give it as local files with --conf spark.jars=A.jar,B.jar, or with "
        f"--conf spark.jars.packages={','.join(CONNECTOR)}."
    )


def _cause(error: BaseException, topic: Topic) -> str:
    cause = cause_of(error, secrets=topic.secrets)
    if cause != "TimeoutException":
        return cause
    # Java's own, of a wait that is over, says nothing more.
    return (
        f"Nobody answered within {_PATIENCE_SECONDS} seconds; check that its brokers run, and that this machine "
        "reaches them."
    )


@dataclass
class _Adding:
    """What happens to the micro-batches of a run."""

    spark: SparkSession
    topic: Topic
    folder: Folder
    cluster: str
    reading: Reading
    keep_days: int
    report: Report
    checkpoint: Path
    start: Start
    lines: int = 0
    failure: Exception | None = None

    def __post_init__(self) -> None:
        # What the table says about the topic while nobody else reads it.
        self._noted = self.start.noted

    def add(self, messages: DataFrame, batch: int) -> None:
        """Add a micro-batch to the table; called by Spark, which shows no error of ours as it is."""
        try:
            self._add(messages, self._end_of(batch))
        except Exception as error:
            self.failure = error
            raise

    def add_all(self, messages: DataFrame, following: Mapping[int, int]) -> None:
        """Add messages to the table, behind which each partition is at `following`."""
        self._add(messages, Position(following, self.reading.zone))

    def _end_of(self, batch: int) -> Position:
        """Return the position behind a micro-batch, which Spark notes before it hands it over."""
        lines = (self.checkpoint / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()
        found = json.loads(lines[-1])[self.topic.name]
        return Position({int(number): int(at) for number, at in found.items()}, self.reading.zone)

    def _add(self, messages: DataFrame, end: Position) -> None:
        base = latest(self.folder)
        if (base.offsets.get(self.start.key) if base else None) != self._noted:
            raise TableError(
                f"Another process reads the topic {self.topic.name} into the same table, so nothing more was added; "
                "run one of them."
            )
        today = datetime.now(UTC).date()
        oldest_day = (today - timedelta(days=self.keep_days)).isoformat()
        with unfinished_folder(self.folder) as unfinished, keeping() as keep:
            if base:
                check(self.folder, base.all_parts())
            written = messages.filter(F.col("value").isNotNull())
            if not self.reading.layout:
                self.reading = replace(self.reading, layout=_layout_of(written, self.topic))
            placed = written.select(_file_of(self.topic).alias("file"), "value")
            # Where no message says anything yet, the next ones tell the layout.
            reading = self.reading if self.reading.layout else replace(self.reading, layout=KAFKA)
            lines = keep(lines_of_messages(placed, reading, partial(_broker_of, self.topic.name)))
            coverage = _coverage(lines, self.topic)
            _check_read(coverage, self.topic)
            writing = Writing(self.spark, self.folder, self.cluster, base, unfinished, oldest_day)
            added = writing.add(
                lines,
                coverage,
                sources=base.sources if base else (),
                problems=base.problems if base else {},
                zones={row["broker"]: self.reading.zone for row in coverage},
                offsets={self.start.key: end.as_dict()},
            )
        self._noted = end.as_dict()
        self.lines += added.lines
        self.report(
            f"Added {number_of(added.lines, 'record')} of {self.topic.name}, {added.decisions:,} of them decisions."
        )


def _file_of(topic: Topic) -> Column:
    """Return what stands for the file of a message: the topic, and the broker that its key names."""
    start = f"{SCHEME}{topic.name}/"
    if topic.broker == BY_TOPIC:
        return F.lit(start)
    key = F.make_valid_utf8(F.col("key").cast("string"))
    return F.concat(F.lit(start), F.coalesce(F.substring(F.trim(key), 1, _LONGEST_KEY), F.lit("")))


def _broker_of(topic: str, file: str) -> str:
    """Return the broker that `file` names, and the topic where it names none."""
    return file.removeprefix(f"{SCHEME}{topic}/") or topic


def _coverage(lines: DataFrame, topic: Topic) -> list[Row]:
    """Return the coverage of a micro-batch by broker; without the name of one, no hour is covered."""
    start = f"{SCHEME}{topic.name}/"
    found = totals.coverage(lines).limit(_MOST_ROWS + 1).collect()
    if len(found) > _MOST_ROWS:
        raise JobError(
            f"The keys of the messages of {topic.name} are no names of brokers: there are too many. "
            "Give --broker topic; then no hour counts as covered."
        )
    rows = []
    for row in (row.asDict() for row in found):
        broker = {"broker": _broker_of(topic.name, row["file"])}
        rows.append(row | broker | ({"hours": 0, "permit_hours": 0} if row["file"] == start else {}))
    return rows


def _check_read(coverage: Sequence[Row], topic: Topic) -> None:
    """Raise JobError where most of many records cannot be read: their layout is another one."""
    lines, lost = (sum(row[name] for row in coverage) for name in ("lines", "unparsed"))
    if lines >= _MANY_RECORDS and lost * 2 > lines:
        raise JobError(
            f"{lost:,} of {lines:,} records of {topic.name} cannot be read, so none of them was added; name their "
            "layout with --layout, or their log4j pattern with --pattern."
        )


def _layout_of(messages: DataFrame, topic: Topic) -> str:
    """Return the layout that the first messages have, empty where they are blank."""
    first = [bytes(row.value) for row in messages.select("value").limit(_LOOKED_AT).collect()]
    first = [value for value in first if value.strip()]
    if not first:
        return ""
    data = b"\n".join(first)
    layout = layout_in(lambda start, end: data[start:end])
    if layout == UNKNOWN:
        shown = first[0].decode("utf-8", "replace").strip()[:120]
        raise JobError(
            f"The layout of the messages of {topic.name} is unknown, so nothing of them can be read. The first is "
            f"{shown!r}; name their layout with --layout, or their log4j pattern with --pattern."
        )
    return layout
