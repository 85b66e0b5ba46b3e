"""Run a job over the authorizer logs: `python -m aclweb.pipeline access`, then `usage` or `replay`.

Exit status: 0 the job is done; 1 it could not be run to its end; 2 bad input or usage.
"""

from __future__ import annotations

import re
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pyspark.sql import SparkSession

from aclweb.acl.model import AclError, NotationError, number_of
from aclweb.acl.notation import LAYOUTS, RECORD_LAYOUTS, of_pattern
from aclweb.pipeline.access import (
    KEPT_DAYS,
    Look,
    bytes_of,
    check_zones,
    is_noted,
    look,
    look_since,
    note_sources,
    nothing_new,
)
from aclweb.pipeline.access import summary as access_summary
from aclweb.pipeline.analyses import ANALYSES, Job, Manifest, add_history, days
from aclweb.pipeline.awaiting import executors_awaited
from aclweb.pipeline.environment import SettingError
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import SourceError, bytes_in
from aclweb.pipeline.given import text_of
from aclweb.pipeline.history import History, read_history
from aclweb.pipeline.in_force import then_summary
from aclweb.pipeline.job import (
    keeping,
    read_logs,
    read_table,
    run_usage_of_table,
    state_with,
    write_usage,
)
from aclweb.pipeline.known_brokers import KnownBrokers, read_brokers
from aclweb.pipeline.layout_counts import Keep
from aclweb.pipeline.log_sources import (
    BROKERS,
    BY_KEY,
    LogSource,
    Sources,
    TopicSource,
    by_file,
    known_brokers,
    read_sources,
)
from aclweb.pipeline.manifest import Logged, state_of, summary, warnings
from aclweb.pipeline.portions import extend_in_portions, portions_of
from aclweb.pipeline.preflight import check_executors
from aclweb.pipeline.progress import Progress, told_to, untold
from aclweb.pipeline.readings import Reading, not_understood
from aclweb.pipeline.reprocessing import Again, reprocess
from aclweb.pipeline.reprocessing import summary as reprocess_summary
from aclweb.pipeline.results import ResultError, result_at
from aclweb.pipeline.rounds import StartSpark, answers_alone, serve
from aclweb.pipeline.session import SessionError, end_jvm, part_for_cores, runs_here, spark_session
from aclweb.pipeline.shipping import write_package
from aclweb.pipeline.snapshot import Snapshot, read_snapshot
from aclweb.pipeline.storage import (
    AddressError,
    Folder,
    StorageError,
    check_address,
    folder_at,
    is_distant,
)
from aclweb.pipeline.table import NoTableError, Table, TableError, Window
from aclweb.pipeline.table.versions import latest
from aclweb.pipeline.topic_sources import extend_from_topics, note_unread
from aclweb.pipeline.topics import MESSAGES_AT_ONCE, Span, Topic, read_bound, read_client_options, stream

Decider = Callable[[SparkSession, Snapshot, Logged, Path, Keep], Manifest]

# So much text of a log is in a byte of an access table, or more.
_TEXT_IN_TABLE = 10
_TOPIC_BYTES = 64 << 20

COUNTING, READING_AGAIN, DECIDING = "Counting, parsing and adding up", "Reading days again", "Deciding"
"""Steps of `access` and `usage`; each topic has one of its own."""


def main(arguments: Sequence[str] | None = None, start_spark: StartSpark | None = None) -> int:
    """Run a command and return its exit status. start_spark: what gives it Spark, `spark_session` unless given."""
    options = _parser().parse_args(arguments)
    options.start_spark = start_spark or spark_session
    try:
        return _JOBS[options.job](options)
    except _BAD_INPUT as error:
        print(error, file=sys.stderr)
        return 2
    except _FAILURES as error:
        print(_why(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


_BAD_INPUT = (AclError, SettingError, SourceError, ResultError, NoTableError, AddressError)
_FAILURES = (SessionError, TableError, JobError, StorageError, OSError)


def _why(error: Exception) -> str:
    """Return the sentence for an error of a job."""
    if isinstance(error, OSError):
        return f"The job failed: {error.strerror or error}: {error.filename}"
    return f"The job failed: {error}" if isinstance(error, JobError) else str(error)


def _access(options: Namespace) -> int:
    """Make or extend the access table of a cluster, once or again and again until the process is stopped."""
    if options.partial and options.reprocess is None:
        raise SourceError("--partial is about days that are read again; give them with --reprocess.")
    if options.reprocess is not None and options.every is not None:
        raise SourceError("--reprocess reads days again once; leave out --every.")
    watch = _Watch(options.known)
    is_done = _extend(options, watch)
    if options.every is None:
        return 0 if is_done else 1
    while True:
        time.sleep(options.every)
        try:
            _extend(options, watch)
        except (*_BAD_INPUT, *_FAILURES) as error:
            # What is missing now may be there the next time; a JVM that is broken will not heal.
            print(_why(error), file=sys.stderr)
            end_jvm()


@dataclass
class _Watch:
    """What the looks of this process have done so far.

    known: the `state` of the result of `usage` that there is, if anybody knows it. looks: how many there were. last:
    what the last one left, at a table that Spark alone reaches.
    """

    known: str | None
    looks: int = 0
    last: Look | None = None
    _said: frozenset[str] = frozenset()

    def begin(self, sentences: Sequence[str]) -> None:
        """Count a look, and say what is wrong with the logs now, but for what the last look said already."""
        self.looks += 1
        for sentence in sentences:
            if sentence not in self._said:
                print(sentence, file=sys.stderr)
        self._said = frozenset(sentences)


def _extend(options: Namespace, watch: _Watch) -> bool:
    """Add what is new in the logs to the table; with nothing to do, no Spark is started, and nothing said again.

    Return whether all that was asked for was done: a day may not be read again whose logs are gone.
    """
    conf = _settings(options.conf)
    for given in filter(None, (options.out, options.usage)):
        check_address(given)
    snapshot = _snapshot_of_access(options)
    cluster, sources = _cluster(options, snapshot), _sources(options, options.time_zone)
    if (
        watch.last
        and not sources.topics
        and _is_as_before(options, watch, watch.last, snapshot, cluster, sources.paths)
    ):
        return True

    def started(stack: ExitStack, log_bytes: float | None) -> SparkSession:
        start: StartSpark = options.start_spark
        return stack.enter_context(
            start(options.master, conf=conf, log_bytes=log_bytes, archive=options.every is None)
        )

    with ExitStack() as stack:
        spark = None
        if is_distant(options.out):
            _progress(f"Starting Spark for the access table at {options.out}.")
            spark = started(stack, None)
        table = folder_at(options.out, spark)
        looked = look(table, cluster, sources.paths)
        watch.begin(
            [
                *(f"{path}: {state.state}. {state.reason}" for path, state in looked.found.problems),
                *(looked.base.damaged if looked.base else ()),
                *looked.found.remarks,
                *(not_understood(path, line) for path, line in sorted(looked.unknown.items())),
            ]
        )
        check_zones(looked)
        brokers = known_brokers(looked.sources)
        topics, is_done = sources.topics, True
        if not topics:
            note_unread(table, cluster, {})
        if topics or not _has_nothing_to_do(options, watch, looked, table, snapshot, brokers):
            progress = stack.enter_context(_told(options.progress, _steps(options, looked, topics)))
            if spark is None:
                what = _and_topics(number_of(len(looked.found.fresh), "log file"), topics)
                _progress(f"Starting Spark for {what} with something new.")
                # A JVM that goes on serves later looks too, and nobody knows how much those will read. Nor is it
                # known of topics; what runs once is mostly what came since the last time.
                is_known = options.every is None and options.reprocess is None
                log_bytes = bytes_of(looked) + _TOPIC_BYTES * len(topics)
                spark = started(stack, log_bytes if is_known else None)
            progress.spark = spark
            is_done = _change(spark, options, watch, looked, table, snapshot, topics, progress)
        if is_distant(options.out) and options.every is not None:
            watch.last = replace(looked, base=latest(looked.folder))
    return is_done


def _has_nothing_to_do(
    options: Namespace,
    watch: _Watch,
    looked: Look,
    table: Folder,
    snapshot: Snapshot | None,
    brokers: KnownBrokers,
) -> bool:
    """Return whether nothing is new, and nothing else is wanted; what the files are called now is noted then."""
    if looked.found.fresh:
        return False
    if watch.looks == 1:
        print(nothing_new(looked))
    note_sources(looked)
    if options.reprocess is not None:
        return False
    if snapshot is None or options.usage is None:
        return True
    opened = Table.open(table, looked.cluster)
    return watch.known == state_of(snapshot, state_with(opened, brokers))


def _is_as_before(
    options: Namespace,
    watch: _Watch,
    last: Look,
    snapshot: Snapshot | None,
    cluster: str,
    sources: Sequence[LogSource],
) -> bool:
    """Return whether the logs and all that is wanted are as the last look left them; no Spark is asked."""
    looked = look_since(last.base, last.folder, cluster, sources)
    if not is_noted(looked) or looked.base is None:
        return False
    if snapshot is None or options.usage is None:
        return True
    table = Table(looked.folder, looked.base)
    return watch.known == state_of(snapshot, state_with(table, known_brokers(looked.sources)))


def _change(
    spark: SparkSession,
    options: Namespace,
    watch: _Watch,
    looked: Look,
    table: Folder,
    snapshot: Snapshot | None,
    topics: Sequence[TopicSource],
    progress: Progress,
) -> bool:
    """Add what is new, read days again and decide, as far as that is wanted; return whether all of it was done."""
    files = [fresh.path for fresh in looked.found.fresh]
    read = list(looked.sources) if options.reprocess else files
    if read:
        _check_executors(spark, read, bytes_of(looked))
    if files:
        portions = portions_of(looked.found.fresh)
        extended = extend_in_portions(
            spark,
            looked,
            portions,
            keep_days=options.keep_days,
            begin=lambda number: _begin(progress, _counting(number, len(portions))),
        )
        for warning in extended.warnings:
            print(warning, file=sys.stderr)
        print("\n".join(access_summary(extended)))
        print(f"Written to {options.out}.", flush=True)
    elif topics:
        note_sources(looked)
    if topics:
        _read_topics(spark, options, looked, table, topics, progress)
    is_done = True
    if options.reprocess is not None:
        _begin(progress, READING_AGAIN)
        is_done = _read_again(spark, options, looked, table)
    if snapshot is not None and options.usage is not None:
        opened, brokers = Table.open(table, looked.cluster), known_brokers(looked.sources)
        if topics and watch.known == state_of(snapshot, state_with(opened, brokers)):
            return is_done
        _begin(progress, DECIDING)
        with result_at(options.usage, spark) as out:
            manifest = run_usage_of_table(spark, snapshot, opened, Window(), out, brokers)
        watch.known = manifest["state"]
        print("\n".join(summary(manifest)))
        print(f"Written to {options.usage}.", flush=True)
    return is_done


def _steps(options: Namespace, looked: Look, topics: Sequence[TopicSource]) -> list[str]:
    """Return the steps of a look in their order."""
    portions = len(portions_of(looked.found.fresh))
    steps = [_counting(number, portions) for number in range(1, portions + 1)]
    steps += list(dict.fromkeys(_reading(topic) for topic in topics))
    steps += [READING_AGAIN] if options.reprocess is not None else []
    return [*steps, DECIDING] if options.usage is not None else steps


def _counting(number: int, portions: int) -> str:
    return f"{COUNTING}, portion {number} of {portions}" if portions > 1 else COUNTING


def _reading(topic: TopicSource) -> str:
    return f"Reading the topic {topic.topic}"


@contextmanager
def _told(descriptor: int | None, steps: Sequence[str]) -> Iterator[Progress]:
    """Yield a progress that is written to an open file, or to nobody."""
    if descriptor is None:
        yield Progress(steps, untold)
        return
    with told_to(descriptor, steps) as progress:
        yield progress


def _begin(progress: Progress, step: str) -> None:
    """Say to whoever listens that a step begins."""
    _progress_of_step(step)
    progress.begin(step)


def _and_topics(files: str, topics: Sequence[TopicSource]) -> str:
    return f"{files} and {number_of(len(topics), 'topic')}" if topics else files


def _read_topics(
    spark: SparkSession,
    options: Namespace,
    looked: Look,
    table: Folder,
    topics: Sequence[TopicSource],
    progress: Progress,
) -> None:
    """Add what is new in topics. Raises JobError where nothing else is there to read and none of them can be."""
    unread = extend_from_topics(
        spark,
        topics,
        table,
        looked.cluster,
        keep_days=options.keep_days,
        report=lambda sentence: print(sentence, flush=True),
        step=lambda topic: _begin(progress, _reading(topic)),
    )
    if len(unread) == len(topics) and not looked.sources:
        raise JobError(unread[0])
    for sentence in unread:
        print(sentence, file=sys.stderr)


def _read_again(spark: SparkSession, options: Namespace, looked: Look, table: Folder) -> bool:
    """Read days of the table again; return whether all of them were."""
    first, last = options.reprocess
    done = reprocess(
        spark,
        table,
        looked.cluster,
        Again(first, last, options.partial),
        layouts={path: source.layout for path, source in looked.sources.items() if source.layout},
        keep_days=options.keep_days,
    )
    for path in done.changed:
        print(f"{path}: It changed while it was read.", file=sys.stderr)
    for sentence in done.kept:
        print(sentence, file=sys.stderr)
    print("\n".join(reprocess_summary(done)), flush=True)
    return not done.kept


def _snapshot_of_access(options: Namespace) -> Snapshot | None:
    if options.usage is not None and options.snapshot is None:
        raise SourceError("--usage decides what was asked; give the ACLs with --snapshot.")
    return read_snapshot(Path(options.snapshot)) if options.snapshot else None


def _sources(options: Namespace, zone: str | None = None) -> Sources:
    """Return the logs that the words of a command name; zone: that of `--time-zone`, where a job takes it."""
    if not options.source:
        return Sources(
            tuple(
                LogSource(path, zone=zone, layout=options.layout, is_recursive=options.recursive)
                for path in options.log
            )
        )
    if zone or options.layout or options.recursive:
        raise SourceError(
            "--source names the zone and the layout of each log; leave out --time-zone, --layout, --pattern and "
            "--recursive."
        )
    return read_sources(Path(options.source))


def _usage(options: Namespace) -> int:
    """Tell which ACLs were used, from logs or from an access table."""
    history = read_history(Path(options.history)) if options.history else None
    with _told(options.progress, (DECIDING,)) as progress:
        return _decide(options, partial(_watched_usage, progress, history), _usage_summary)


def _usage_summary(manifest: Manifest) -> list[str]:
    return [*summary(manifest), *then_summary(manifest["history"])]


def _watched_usage(
    progress: Progress,
    history: History | None,
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
) -> Manifest:
    progress.spark = spark
    progress.begin(DECIDING)
    return write_usage(spark, snapshot, logged, out, keep, history)


def _analyse(options: Namespace) -> int:
    """Run one of the analyses, and say how far it is to whoever asked for that."""
    analysis = ANALYSES[options.job]
    job = analysis.job(options)
    if options.progress is None:
        return _decide(options, partial(job, step=_progress_of_step), analysis.summary)
    with told_to(options.progress, analysis.steps) as progress:
        return _decide(options, partial(_watched, job, progress), analysis.summary)


def _watched(
    job: Job,
    progress: Progress,
    spark: SparkSession,
    snapshot: Snapshot,
    logged: Logged,
    out: Path,
    keep: Keep,
) -> Manifest:
    progress.spark = spark
    return job(spark, snapshot, logged, out, keep, step=progress.begin)


def _stream(options: Namespace) -> int:
    """Extend the access table of a cluster from a Kafka topic."""
    conf = _settings(options.conf)
    settings = text_of(Path(options.options), "The settings of the Kafka client") if options.options else ""
    topic = Topic(options.topic, options.kafka, read_client_options(settings), options.broker)
    span = Span(*(read_bound(given) if given else None for given in (options.first, options.until)))
    if span.end is not None and options.every:
        raise SourceError("--until ends where it says, and --every never ends; give one of them.")
    check_address(options.out)
    _progress(f"Starting Spark for the topic {topic.name}.")
    # How much there is, Spark finds out; what runs once is mostly what came since the last time.
    log_bytes = None if options.every else _TOPIC_BYTES
    with options.start_spark(
        options.master, conf=conf, log_bytes=log_bytes, archive=not options.every
    ) as spark:
        _check_executors(spark, [], log_bytes)
        added = stream(
            spark,
            topic,
            folder_at(options.out, spark),
            options.cluster,
            reading=Reading(options.layout or "", options.time_zone),
            keep_days=options.keep_days,
            report=lambda sentence: print(sentence, flush=True),
            every_seconds=options.every,
            messages_at_once=options.at_once,
            span=span,
        )
    print(f"Written to {options.out}." if added else "Nothing new.")
    return 0


def _check_executors(spark: SparkSession, paths: Sequence[str], log_bytes: float | None) -> None:
    """Look at what executors on other machines have before they read these paths; raises JobError.

    log_bytes: how much text they read, as `spark_session` has it.
    """
    if not runs_here(spark):
        with executors_awaited(spark):
            check_executors(spark, paths)
        part_for_cores(spark, log_bytes)


def _decide(options: Namespace, job: Decider, summarize: Callable[[Manifest], list[str]]) -> int:
    """Run a job that decides what was logged, and say what it found."""
    conf = _settings(options.conf)
    window = _window(options)
    brokers = read_brokers(Path(options.brokers)) if options.brokers else KnownBrokers()
    snapshot = read_snapshot(Path(options.snapshot))
    for given in filter(None, (options.out, options.table)):
        check_address(given)
    with ExitStack() as stack:
        start = partial(options.start_spark, options.master, conf=conf, archive=True)
        if options.table:
            spark = None
            if is_distant(options.table):
                _progress(f"Starting Spark for the access table at {options.table}.")
                spark = stack.enter_context(start())
            table = Table.open(folder_at(options.table, spark), options.cluster or snapshot.cluster)
            for sentence in table.version.damaged:
                print(sentence, file=sys.stderr)
            if spark is None:
                _progress(f"Starting Spark for the access table of {table.version.cluster}.")
                spark = stack.enter_context(start(log_bytes=_TEXT_IN_TABLE * table.bytes_in(window)))
            keep = stack.enter_context(keeping())
            _check_executors(spark, [options.table], _TEXT_IN_TABLE * table.bytes_in(window))
            _progress("Adding up and deciding.")
            logged = read_table(spark, table, window, keep, brokers)
        else:
            given = _sources(options)
            if given.topics:
                raise SourceError(
                    f"The topic {given.topics[0].topic!r} is read into an access table only; make one with `access`, "
                    "and give it with --table."
                )
            sources = by_file(given.paths)
            files = sorted(sources)
            _progress(f"Starting Spark for {number_of(len(files), 'log file')}.")
            spark = stack.enter_context(start(log_bytes=bytes_in(files)))
            keep = stack.enter_context(keeping())
            _check_executors(spark, files, bytes_in(files))
            _progress("Counting, parsing and deciding.")
            logged = read_logs(spark, files, keep, sources=sources)
            logged = replace(logged, brokers=brokers.over(logged.brokers))
        with result_at(options.out, spark) as out:
            manifest = job(spark, snapshot, logged, out, keep)
    for warning in warnings(manifest):
        print(warning, file=sys.stderr)
    print("\n".join(summarize(manifest)))
    print(f"Written to {options.out}.")
    return 0


def _cluster(options: Namespace, snapshot: Snapshot | None) -> str:
    """Return the name of the cluster that a table is for."""
    cluster = options.cluster or (snapshot.cluster if snapshot else "")
    if not cluster:
        raise SourceError(
            "The access table needs the name of the cluster; give --cluster NAME, or a --snapshot that names it."
        )
    return str(cluster)


def _window(options: Namespace) -> Window:
    """Return the days of --from and --to."""
    days = (options.first_day, options.last_day)
    if not options.table and any(days):
        raise SourceError("--from and --to choose days of an access table; give them with --table.")
    if all(days) and days[0] > days[1]:
        raise SourceError(f"--from {days[0]} is after --to {days[1]}; name the earlier day first.")
    return Window(*days)


def _day(given: str) -> str:
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        raise ArgumentTypeError(f"{given!r} is no day; write it as 2026-11-01") from None


def _days_again(given: str) -> tuple[str, str]:
    first, dots, last = given.partition("..")
    days = (_day(first), _day(last if dots else first))
    if days[0] > days[1]:
        raise ArgumentTypeError(f"{given!r} ends before it begins; name the earlier day first")
    return days


def _zone(given: str) -> str:
    try:
        return ZoneInfo(given).key
    except (OSError, ValueError, KeyError):
        raise ArgumentTypeError(f"{given!r} is no time zone; write it as Europe/Berlin or UTC") from None


def _layout(given: str) -> str:
    if given not in LAYOUTS:
        raise ArgumentTypeError(
            f"{given!r} is no layout; use {', '.join(RECORD_LAYOUTS)}, also behind cri+, docker+, syslog3164+ or "
            "syslog5424+"
        )
    return given


def _pattern(given: str) -> str:
    try:
        return of_pattern(given)
    except NotationError as error:
        raise ArgumentTypeError(str(error)) from None


def _descriptor(given: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", given):
        raise ArgumentTypeError(f"{given!r} is no open file; write the number of its descriptor")
    return int(given)


def _seconds(given: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", given) or int(given) < 1:
        raise ArgumentTypeError(
            f"{given!r} is no time between two looks; write whole seconds from 1 to 99999"
        )
    return int(given)


def _messages(given: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", given) or int(given) < 1:
        raise ArgumentTypeError(
            f"{given!r} is no number of messages; write a whole number from 1 to 999999999"
        )
    return int(given)


def _package(options: Namespace) -> int:
    directory = Path(options.out)
    try:
        packed, entry = write_package(directory)
    except OSError as error:
        print(f"{directory} cannot be written: {error.strerror or error}.", file=sys.stderr)
        return 2
    print(f"Written {packed} and {entry}. Start a job with:")
    print(f"spark-submit --py-files {packed} {entry} usage --snapshot SNAPSHOT --log PATH… --out DIR")
    return 0


def _round(_options: Namespace) -> int:
    """Run the jobs that standard input names, in one Spark application; each says how far it is among the answers."""
    with answers_alone() as answers:
        told = ("--progress", str(answers.fileno()))
        serve(lambda words, start: main([*words, *told], start), sys.stdin, answers)
    return 0


def _settings(given: Sequence[str]) -> dict[str, str]:
    """Return the settings of --conf; a value is in no message, since it may be a secret."""
    found = {}
    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key.startswith("spark."):
            shown = repr(key) if equals else "an argument without '='"
            raise SourceError(
                f"--conf is given {shown}; write KEY=VALUE with a setting of Spark, such as "
                "spark.executor.memory=4g."
            )
        found[key] = value
    return found


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m aclweb.pipeline", description="Learn from Kafka's authorizer logs with Spark."
    )
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")

    access = jobs.add_parser(
        "access", help="make or extend the access table: a log is read once, and kept by day"
    )
    access.add_argument(
        "--cluster", help="the cluster's name in the table (default: the one in the snapshot)"
    )
    access.add_argument("--snapshot", help="a file that names the cluster in its header line")
    access.add_argument(
        "--usage",
        metavar="DIR",
        help="also write the result of `usage` from the whole table into this folder",
    )
    access.add_argument(
        "--known",
        metavar="STATE",
        help="with --usage: do not write it where it would have this `state` in its manifest",
    )
    _add_logs(access.add_mutually_exclusive_group(required=True).add_argument)
    _add_recursive(access)
    _add_layouts(access)
    _add_every(access, "end after the first look")
    access.add_argument(
        "--reprocess",
        type=_days_again,
        metavar="DAY[..DAY]",
        help="then read these days again from the logs that are there; a day stays as it is where logs of it are gone",
    )
    access.add_argument(
        "--partial",
        action="store_true",
        help="with --reprocess: also where logs are gone; the table then has of the day what is there",
    )
    access.add_argument(
        "--out", required=True, metavar="TABLE", help="the folder of the table; new rows are added"
    )
    _add_table_choices(access)
    _add_progress(access)
    _add_spark(access)

    usage = jobs.add_parser("usage", help="which ACLs were used, who was refused, what the logs confirm")
    add_history(usage)
    _add_progress(usage)
    _add_reading(usage)

    for name, analysis in ANALYSES.items():
        parser_of = jobs.add_parser(name, help=analysis.help)
        if analysis.add_arguments is not None:
            analysis.add_arguments(parser_of)
        _add_progress(parser_of)
        _add_reading(parser_of)

    _add_stream(
        jobs.add_parser("stream", help="extend the access table from a Kafka topic that has the records")
    )

    jobs.add_parser("round", help="run jobs in one Spark: a JSON list of words a line, an answer a line")

    package = jobs.add_parser("package", help="write aclweb.zip and run_pipeline.py for spark-submit")
    package.add_argument("--out", required=True, help="the folder for the two files")
    return parser


def _add_progress(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--progress",
        type=_descriptor,
        metavar="FD",
        help="say how far it is as JSON lines into this open file, and end once nobody reads them",
    )


def _add_stream(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--kafka", required=True, metavar="HOST:PORT", help="brokers of the topic, parted by commas"
    )
    parser.add_argument("--topic", required=True, help="the topic; each message is one record")
    parser.add_argument(
        "--options",
        metavar="FILE",
        help="settings of the Kafka client, a KEY=VALUE a line, for TLS and the login",
    )
    parser.add_argument("--cluster", required=True, help="the cluster's name in the table")
    parser.add_argument(
        "--out", required=True, metavar="TABLE", help="the folder of the table; new rows are added"
    )
    parser.add_argument(
        "--broker",
        choices=BROKERS,
        default=BY_KEY,
        help="what names the broker of a record: the message's key, or only the topic, and then no hour counts as "
        f"covered (default: {BY_KEY})",
    )
    parser.add_argument(
        "--from",
        dest="first",
        metavar="OFFSETS|TIME",
        help="where a topic that was never read begins: offsets such as '{\"0\": 5}', or a moment of its messages such "
        "as 2026-11-01T08:00, in UTC (default: its beginning)",
    )
    parser.add_argument(
        "--until",
        metavar="OFFSETS|TIME",
        help="read no message at or behind these offsets, or of this moment or later (default: all that is there)",
    )
    _add_every(parser, "end when all that is there was read")
    parser.add_argument(
        "--at-once",
        type=_messages,
        default=MESSAGES_AT_ONCE,
        metavar="N",
        help=f"messages of one change of the table, at most (default: {MESSAGES_AT_ONCE:,})",
    )
    _add_layouts(parser)
    _add_table_choices(parser)
    _add_spark(parser)


def _add_every(parser: ArgumentParser, otherwise: str) -> None:
    parser.add_argument(
        "--every",
        type=_seconds,
        metavar="SECONDS",
        help=f"look for more so often, until the process is stopped (default: {otherwise})",
    )


def _add_table_choices(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--time-zone",
        type=_zone,
        metavar="ZONE",
        help="that of the brokers' clocks, such as Europe/Berlin (default: times stay as they are written)",
    )
    parser.add_argument(
        "--keep-days",
        type=days,
        default=KEPT_DAYS,
        metavar="N",
        help=f"days of the table; older ones leave it (default: {KEPT_DAYS})",
    )


def _add_reading(parser: ArgumentParser) -> None:
    """Add the options of a job that decides what was logged."""
    parser.add_argument(
        "--snapshot", required=True, help="the cluster: a header line, then an ACL a line (JSON)"
    )
    read = parser.add_mutually_exclusive_group(required=True)
    _add_logs(read.add_argument)
    _add_recursive(parser)
    _add_layouts(parser)
    read.add_argument("--table", help="an access table, in the place of logs")
    parser.add_argument(
        "--cluster", help="the cluster's name in the table (default: the one in the snapshot)"
    )
    parser.add_argument(
        "--from", dest="first_day", type=_day, metavar="DAY", help="the first day, with --table"
    )
    parser.add_argument("--to", dest="last_day", type=_day, metavar="DAY", help="the last day, with --table")
    parser.add_argument(
        "--brokers",
        metavar="FILE",
        help="a JSON list of brokers, each with its name and the path of a log of it, or since when it is gone",
    )
    parser.add_argument(
        "--out", required=True, help="the folder for the result; an earlier result is replaced"
    )
    _add_spark(parser)


def _add_layouts(parser: ArgumentParser) -> None:
    given = parser.add_mutually_exclusive_group()
    given.add_argument(
        "--layout",
        type=_layout,
        metavar="NAME",
        help=f"that of all logs: {', '.join(RECORD_LAYOUTS)} (default: that which the beginning of each log has)",
    )
    given.add_argument(
        "--pattern",
        type=_pattern,
        dest="layout",
        metavar="PATTERN",
        help="the PatternLayout of all logs, as log4j's configuration has it",
    )


def _add_logs(add: Callable[..., Any]) -> None:
    """Add what names logs; add: that of a group of options of which one is given."""
    add(
        "--log",
        action="extend",
        nargs="+",
        metavar="PATH",
        help="authorizer logs: files (.gz, .bz2 and .zst too), folders, or patterns in quotes",
    )
    add(
        "--source",
        metavar="FILE",
        help="a JSON list of logs, each with its path, broker, time_zone, level, layout or pattern, and recursive; for "
        "`access` also topics, each with topic, kafka, options, broker_by, time_zone and layout or pattern",
    )


def _add_recursive(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--recursive",
        action="store_true",
        help="with --log: read the files of folders in a folder too",
    )


def _add_spark(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--master",
        help="where Spark runs (default: what spark-submit, spark-defaults.conf or MASTER say, else this machine)",
    )
    parser.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting of Spark; may be given again for further ones",
    )


_JOBS = {
    "access": _access,
    "usage": _usage,
    **dict.fromkeys(ANALYSES, _analyse),
    "stream": _stream,
    "round": _round,
    "package": _package,
}


def _progress_of_step(words: str) -> None:
    _progress(f"{words}.")


def _progress(sentence: str) -> None:
    if sys.stderr.isatty():
        print(sentence, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
