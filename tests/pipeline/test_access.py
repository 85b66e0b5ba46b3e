"""Does the access table hold what the logs hold, and is it extended without counting anything twice?"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.acl.notation import AccessEvent, parse_record
from aclweb.acl.notation.authorizer_log import records
from aclweb.pipeline import access, schemas, totals
from aclweb.pipeline.__main__ import main
from aclweb.pipeline.job import DENIED_BY_BROKER, keeping, run_usage_of_table
from aclweb.pipeline.log_sources import LogSource
from aclweb.pipeline.schemas import REQUEST
from aclweb.pipeline.snapshot import read_snapshot
from aclweb.pipeline.sources import read_lines
from aclweb.pipeline.storage import Folder
from aclweb.pipeline.table import Table, TableError, Window, versions
from aclweb.pipeline.table.parts import ACCESS, BY_DAY, DENIED, Part
from tests.pipeline import plain
from tests.pipeline.conftest import finish
from tests.pipeline.samples import BINDINGS
from tests.pipeline.table_rows import denied_by_hour
from tests.pipeline.test_files import decisions
from tests.pipeline.usage_job import manifest_of

CLUSTER = "test-eu"
# Times in UTC are as they are written, so the results from the logs are the same.
ACCESS_WORDS = ("access", "--cluster", CLUSTER, "--time-zone", "UTC")
TABLES = ("usage", "requests", "unparsed", "coverage")
# Days of the logs; many are of the second one.
DAY, NEXT_DAY = "2026-11-20", "2026-11-21"


def run_main(spark: Any, *words: object) -> str:
    """Run a command on the session of the tests; return what it prints."""

    @contextmanager
    def shared(*_: object, **__: object) -> Iterator[Any]:
        yield spark

    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setattr("aclweb.pipeline.__main__.spark_session", shared)
        assert main([str(word) for word in words]) == 0
    return printed.getvalue()


def rows_in(table: Table, part: Part) -> list[dict[str, Any]]:
    with table.folder.copies([part.name]) as (file,):
        return pq.ParquetFile(file).read().to_pylist()


def rows_of(table: Path | Folder) -> Counter[tuple[Any, ...]]:
    """Return the lines of each access row, by its day and all that makes it one row."""
    found = Table.open(table, CLUSTER)
    rows: Counter[tuple[Any, ...]] = Counter()
    for day, held in found.version.days.items():
        for part in held.parts[ACCESS]:
            for row in rows_in(found, part):
                lines, _first, _last = (row.pop(name) for name in ("lines", "first_us", "last_us"))
                rows[day, *row.values()] += lines
    return rows


@pytest.fixture(scope="module")
def made(spark, logs, tmp_path_factory) -> tuple[Path, list[str], list[list[str]]]:
    """A table made in two runs of which the second finds the logs of the first, its reports, and what was collected."""
    from pyspark.sql.classic.dataframe import DataFrame

    table = tmp_path_factory.mktemp("table of [eu], 100%")
    collected: list[list[str]] = []
    collect = DataFrame.collect

    def noted(self: Any) -> Any:
        collected.append(self.columns)
        return collect(self)

    def refused(self: Any) -> Any:
        raise AssertionError(self.columns)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DataFrame, "collect", noted)
        for name in ("toArrow", "toPandas", "toLocalIterator"):
            patch.setattr(DataFrame, name, refused)
        reports = [
            run_main(spark, *ACCESS_WORDS, "--log", *found, "--out", table) for found in (logs[::2], logs)
        ]
    return table, reports, collected


def without_brokers(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest of a usage job on a table as that of one on the logs, which tell no brokers."""
    assert len(manifest.pop("state")) == 64
    assert manifest["rows"].pop(DENIED_BY_BROKER) > 0
    for reason in manifest["unparsed"]:
        assert sum(each["lines"] for each in reason.pop("brokers")) == reason["lines"]
    return manifest


@pytest.fixture(scope="module")
def usage_of_table(spark, made, snapshot_file, tmp_path_factory) -> Path:
    """The result of a usage job on the table."""
    out = tmp_path_factory.mktemp("usage of a table") / "out"
    run_main(spark, "usage", "--snapshot", snapshot_file, "--table", made[0], "--out", out)
    return out


@pytest.mark.spark
def test_usage_of_the_table_is_usage_of_the_logs_that_made_it(usage_of_table, usage):
    assert without_brokers(manifest_of(usage_of_table)) == manifest_of(usage)
    assert manifest_of(usage)["lines"]["decisions"] > 400
    for name in TABLES:
        written = (usage_of_table / f"{name}.parquet").read_bytes()
        assert written == (usage / f"{name}.parquet").read_bytes(), name


@pytest.mark.spark
def test_several_workers_make_of_a_table_what_one_makes(
    spark, made, usage_of_table, snapshot_file, tmp_path, monkeypatch
):
    several_make_what_one_makes(spark, made, "usage", usage_of_table, snapshot_file, tmp_path, monkeypatch)


@pytest.mark.thorough(instead="tests/pipeline/test_replay.py::test_what_turns_is_what_deciding_twice_gives")
@pytest.mark.spark
def test_several_workers_make_of_a_replay_what_one_makes(spark, made, snapshot_file, tmp_path, monkeypatch):
    several_make_what_one_makes(spark, made, "replay", None, snapshot_file, tmp_path, monkeypatch)


def several_make_what_one_makes(spark, made, job, of_one, snapshot_file, tmp_path, monkeypatch):
    removed = [json.dumps({**binding.as_dict(), "op": "remove"}) + "\n" for binding in BINDINGS[::3]]
    (tmp_path / "delta.jsonl").write_text("".join(removed))
    edit = ["--delta", tmp_path / "delta.jsonl"] if job == "replay" else []
    words = [job, "--snapshot", snapshot_file, "--table", made[0], *edit]

    if of_one is None:
        of_one = tmp_path / "one"
        run_main(spark, *words, "--out", of_one)
    monkeypatch.setattr("aclweb.pipeline.job.MOST_ROWS_OF_ONE", 0)
    monkeypatch.setattr("aclweb.pipeline.folding._ROWS_OF_A_PART", 20)
    run_main(spark, *words, "--out", tmp_path / "several")

    one, several = (sorted(folder.iterdir()) for folder in (of_one, tmp_path / "several"))
    assert {file.name: file.read_bytes() for file in one} == {
        file.name: file.read_bytes() for file in several
    }
    assert sum(manifest_of(of_one)["rows"].values()) > 30


@pytest.mark.spark
def test_a_table_tells_which_broker_denied_how_often(usage_of_table):
    by_broker = pq.read_table(usage_of_table / f"{DENIED_BY_BROKER}.parquet").to_pylist()
    requests = pq.read_table(usage_of_table / "requests.parquet").to_pylist()
    names = manifest_of(usage_of_table)["broker_names"]

    columns = ("principal", "operation", "resource_type", "resource_name")
    told, counted = Counter(), Counter()
    for row in by_broker:
        told[tuple(row[name] for name in columns)] += row["lines"]
    for row in requests:
        if not row["allowed"]:
            counted[tuple(row[name] for name in columns)] += row["lines"]
    assert told == counted
    assert len({row["broker"] for row in by_broker}) > 1
    assert {row["broker"] for row in by_broker} <= names.keys()


def denied_in(logs: list[Path], since: str = "") -> Counter[tuple[str, str, int]]:
    """Return how often each principal was denied in each hour of each day, by the core, record by record."""
    found: Counter[tuple[str, str, int]] = Counter()
    for log in logs:
        for record in records(plain.lines_of(log)):
            event = parse_record(record)
            if not isinstance(event, AccessEvent) or event.allowed or plain.is_probe(event):
                continue
            assert event.time
            at = plain.moment(event.time)
            if at.date().isoformat() >= since:
                found[at.date().isoformat(), event.principal, at.hour] += 1
    return found


@pytest.mark.spark
def test_a_table_tells_in_which_hours_each_principal_was_denied(made, logs):
    counted = denied_in(logs)

    assert denied_by_hour(made[0], CLUSTER) == counted
    assert {hour for _, _, hour in counted} == {10, 13}
    days = {day for day in Table.open(made[0], CLUSTER).version.days if day}
    assert Table.open(made[0], CLUSTER).days_by_hour(Window()) == days


@pytest.mark.spark
def test_days_that_an_earlier_aclweb_wrote_are_not_known_by_hour(spark, made, snapshot_file, tmp_path):
    shutil.copytree(made[0], tmp_path / "table")
    table = Table.open(tmp_path / "table", CLUSTER)
    file = tmp_path / "table" / f"cluster={CLUSTER}" / versions.name_of(table.version.number)
    body = json.loads(file.read_text())
    for day in body["days"].values():
        del day["parts"][DENIED]
    del body["digest"]
    file.write_text(json.dumps(body | {"digest": versions._digest_of(body)}))
    denied = {day for day, _, _ in denied_by_hour(made[0], CLUSTER)}

    assert Table.open(tmp_path / "table", CLUSTER).days_by_hour(Window()).isdisjoint(denied)
    words = (
        "anomalies",
        "--snapshot",
        snapshot_file,
        "--table",
        tmp_path / "table",
        "--out",
        tmp_path / "out",
    )
    assert f"cannot tell storms by hour up to {max(denied)}" in run_main(spark, *words)


@pytest.mark.spark
def test_a_second_run_adds_only_what_the_first_did_not_read(made, logs):
    table, reports, _ = made

    days = Table.open(table, CLUSTER).version.days
    parts = [len(day.parts[ACCESS]) for day in days.values()]
    sources = Table.open(table, CLUSTER).version.sources
    assert reports[0].startswith("Added ")
    assert f" of {len(logs[1::2])} files, " in reports[1]
    assert max(parts) == 2, "no day is in two parts, so nothing shows that parts add up"
    assert {source["path"] for source in sources} == set(map(str, logs))


@pytest.mark.spark
def test_nothing_that_grows_with_requests_is_brought_to_the_driver(made):
    _, _, collected = made

    assert collected
    for columns in collected:
        assert not {"principal", "resource_name", "raw"} & set(columns), columns


@pytest.mark.spark
def test_rows_are_added_up_in_hash_tables_and_never_sorted(spark):
    lines = spark.createDataFrame([], schemas.LINES)

    for frame in (totals.access_rows(lines, "broker", "ambiguous"), totals.coverage(lines)):
        plan = frame._jdf.queryExecution().executedPlan().toString()
        assert "HashAggregate" in plan
        assert "SortAggregate" not in plan
        assert "ObjectHashAggregate" not in plan


def test_nothing_new_starts_no_spark_and_changes_nothing(made, logs, capsys, monkeypatch):
    table, _, _ = made
    before = {file: file.stat().st_mtime_ns for file in table.rglob("*")}
    monkeypatch.setattr("aclweb.pipeline.__main__.spark_session", None)

    status = main([*ACCESS_WORDS, "--log", *map(str, logs), "--out", str(table)])

    assert status == 0
    assert capsys.readouterr().out.startswith("Nothing new since 2")
    assert {file: file.stat().st_mtime_ns for file in table.rglob("*")} == before


def test_nothing_new_loads_no_pandas(made, logs):
    words = [*ACCESS_WORDS, "--log", *map(str, logs), "--out", str(made[0])]
    script = (
        "import sys\n"
        "from aclweb.pipeline.__main__ import main\n"
        "status = main(sys.argv[1:])\n"
        "print(status, [name for name in sys.modules if name == 'pandas'])\n"
    )

    answer = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=300
    )

    assert answer.stdout.startswith("Nothing new since 2"), answer.stderr
    assert answer.stdout.endswith("\n0 []\n")


@pytest.mark.spark
def test_a_window_has_the_requests_and_the_coverage_of_its_days(spark, made, snapshot_file, tmp_path):
    table = Table.open(made[0], CLUSTER)

    run_usage_of_table(spark, read_snapshot(snapshot_file), table, Window(DAY, DAY), tmp_path / "out")

    manifest = manifest_of(tmp_path / "out")
    requests = pq.read_table(tmp_path / "out" / "requests.parquet").to_pylist()
    coverage = pq.read_table(tmp_path / "out" / "coverage.parquet").to_pylist()
    wanted = sum(lines for (day, *_), lines in rows_of(made[0]).items() if day == DAY)
    assert sum(row["lines"] for row in requests) == manifest["lines"]["decisions"] == wanted > 0
    assert wanted < sum(rows_of(made[0]).values())
    assert {entry["day"] for row in requests for entry in row["days"]} == {DAY}
    assert {row["day"] for row in coverage} == {DAY}
    assert manifest["lines"]["read"] == sum(row["lines"] for row in coverage)


@pytest.mark.spark
def test_times_of_a_named_zone_become_utc_and_count_for_the_day_there(spark, tmp_path):
    log = tmp_path / "a.log"
    times = (f"{DAY} 00:30:00,000", "2026-07-01 01:30:00,000", "2026-10-25 02:30:00,000")
    log.write_text("".join(f"[{at}] INFO x (kafka.authorizer.logger)\n" for at in times))

    with keeping() as keep:
        coverage = read_lines(spark, [str(log)], keep, zone="Europe/Berlin").coverage

    assert sorted((row["day"], str(at_utc(row["first_us"])), row["hours"]) for row in coverage) == [
        ("2026-06-30", "2026-06-30 23:30:00", 1 << 23),
        # The clock showed this hour twice.
        ("2026-10-25", "2026-10-25 00:30:00", 1 << 0),
        ("2026-11-19", "2026-11-19 23:30:00", 1 << 23),
    ]


def at_utc(micros: int) -> datetime:
    return datetime(1970, 1, 1) + timedelta(microseconds=micros)


@contextmanager
def grown(log: Path, text: str) -> Iterator[None]:
    """Let a log be longer for the length of a block, for tests that run before and after."""
    before = log.stat()
    with log.open("a") as file:
        file.write(text)
    finish(log)
    try:
        yield
    finally:
        os.truncate(log, before.st_size)
        os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.fixture(scope="module")
def extended(spark, made, logs, tmp_path_factory) -> tuple[Counter[tuple[Any, ...]], Path, access.Extended]:
    """The rows of a table, a copy of it when a log went on by three decisions, and what was added.

    Days in more than one part were folded by that, and the days before the next day left.
    """
    table = tmp_path_factory.mktemp("extended") / "table"
    shutil.copytree(made[0], table)
    before = rows_of(table)
    (log,) = (log for log in logs if log.name == "odd.log")
    later = (decisions(2, "later").replace(DAY, NEXT_DAY) + decisions(1)).replace("Allowed", "Denied")
    with grown(log, later), pytest.MonkeyPatch.context() as patch:
        patch.setattr("aclweb.pipeline.table.changing.MOST_PARTS", 2)
        patch.setattr("aclweb.pipeline.writing.MOST_SAMPLE_PARTS", 1)
        elsewhere = access.look(table, CLUSTER, [LogSource(str(log), zone="Europe/Berlin") for log in logs])
        with pytest.raises(
            TableError, match=r"odd\.log was read with the time zone UTC before; give the time"
        ):
            access.check_zones(elsewhere)
        looked = access.look(table, CLUSTER, [LogSource(str(log), zone="UTC") for log in logs])
        access.check_zones(looked)
        added = access.extend(spark, looked, keep_days=30, today=date(2026, 12, 21))
    return before, table, added


@pytest.mark.spark
def test_a_log_that_grew_is_counted_from_where_it_was_left(extended):
    before, table, added = extended

    new = rows_of(table) - before
    assert new.total() == added.decisions == 2
    assert {row[5] for row in new} == {"later"}
    assert added.files == 1
    assert {row: lines for row, lines in before.items() if row[0] >= NEXT_DAY}.items() <= rows_of(
        table
    ).items()


@pytest.mark.spark
def test_days_in_many_parts_become_one_part_with_the_same_rows(extended):
    _, table, _ = extended

    day = Table.open(table, CLUSTER).version.days[NEXT_DAY]
    assert [len(day.parts[dataset]) for dataset in BY_DAY] == [1, 1, 1, 1]
    assert sum(part.lines for part in day.parts[ACCESS]) == day.decisions


@pytest.mark.spark
def test_hours_are_folded_and_leave_with_their_days(made, extended):
    before, (_, table, _) = denied_by_hour(made[0], CLUSTER), extended

    after = denied_by_hour(table, CLUSTER)

    assert {day for day, *_ in before} > {day for day, *_ in after}
    kept = Counter({key: lines for key, lines in before.items() if key[0] >= NEXT_DAY})
    assert (after - kept).total() == 2
    assert not kept - after


@pytest.mark.spark
def test_samples_are_folded_into_the_latest_of_each_request(extended):
    _, table, _ = extended
    found = Table.open(table, CLUSTER)

    rows = [row for part in found.version.samples for row in rows_in(found, part)]
    requests = [tuple(row[name] for name in (*REQUEST, "allowed")) for row in rows]
    assert len(set(requests)) == len(requests)
    assert set(requests) == {(*row[1:6], row[6]) for row in rows_of(table)}


@pytest.mark.spark
def test_days_older_than_the_table_keeps_leave_it_and_do_not_enter(extended):
    before, table, added = extended

    assert min(day for day, *_ in before) == DAY
    assert min(filter(None, Table.open(table, CLUSTER).version.days)) == NEXT_DAY
    assert set(Table.open(table, CLUSTER).version.zones.values()) == {"UTC"}
    assert DAY not in {day for day, *_ in rows_of(table)}
    assert added.too_old == 1
    assert "1 record of days before those that the table keeps were left out." in access.summary(added)


@pytest.mark.parametrize(
    "words, told",
    [
        (
            ["access", "--log", "{log}", "--out", "{out}"],
            "needs the name of the cluster; give --cluster NAME",
        ),
        (["access", "--cluster", "eu", "--log", "no-such", "--out", "{out}"], "No log file is at 'no-such'"),
        (
            ["access", "--cluster", "eu", "--log", "{log}", "--out", "s3a://key:word@b/t"],
            "s3a:// holds a password; leave it out",
        ),
        (
            ["usage", "{snapshot}", "--table", "{out}"],
            "has no access table of the cluster 'test-eu'; make one",
        ),
        (["usage", "{snapshot}", "--log", "{log}", "--from", DAY], "give them with --table."),
        (["usage", "{snapshot}", "--table", "{out}", "--from", DAY, "--to", "2026-11-01"], "is after --to"),
    ],
)
def test_bad_words_end_with_a_sentence_and_write_nothing(snapshot_file, tmp_path, capsys, words, told):
    (tmp_path / "a.log").write_text(decisions(1))
    names = {"{log}": str(tmp_path / "a.log"), "{out}": str(tmp_path / "table")}
    given = [names.get(word, word) for word in words]
    if "{snapshot}" in given:
        given[given.index("{snapshot}")] = f"--snapshot={snapshot_file}"
        given += ["--out", str(tmp_path / "out")]

    assert main(given) == 2

    assert told in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["a.log"]


@pytest.mark.parametrize(
    "error, told",
    [
        (OSError(28, "No space left on device", "/data"), "The job failed: No space left on device: /data"),
        (TableError("part-1.parquet is missing."), "part-1.parquet is missing."),
    ],
)
def test_what_stops_a_job_is_one_line_and_exit_status_1(tmp_path, capsys, monkeypatch, error, told):
    def stopped(*_: object) -> None:
        raise error

    monkeypatch.setattr("aclweb.pipeline.__main__.look", stopped)

    assert main(["access", "--cluster", "eu", "--log", "a", "--out", str(tmp_path)]) == 1

    assert capsys.readouterr().err == f"{told}\n"


@pytest.mark.parametrize(
    "words, told",
    [
        (["--log", "a", "--table", "b"], "argument --table: not allowed with argument --log"),
        ([], "one of the arguments --log --source --table is required"),
        (["--table", "b", "--from", "1 May"], "'1 May' is no day; write it as 2026-11-01"),
    ],
)
def test_logs_and_a_table_exclude_each_other(capsys, words, told):
    with pytest.raises(SystemExit, match="2"):
        main(["usage", "--snapshot", "s", "--out", "o", *words])

    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, told",
    [
        (["--time-zone", "Mars/North"], "'Mars/North' is no time zone; write it as Europe/Berlin or UTC"),
        (["--keep-days", "0"], "'0' is no number of days; write a whole number from 1 to 99999"),
    ],
)
def test_a_zone_and_a_number_of_days_are_checked(capsys, words, told):
    with pytest.raises(SystemExit, match="2"):
        main(["access", "--cluster", "eu", "--log", "a", "--out", "o", *words])

    assert told in capsys.readouterr().err
