"""Are days of the access table read again from what is still there, and older logs added to it, without a loss?"""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from aclweb.acl.notation import of_pattern
from aclweb.pipeline import access, reprocessing
from aclweb.pipeline.__main__ import main
from aclweb.pipeline.log_sources import LogSource
from aclweb.pipeline.reprocessing import Again, reprocess
from aclweb.pipeline.table import Table, TableError, Window
from aclweb.pipeline.topics import SCHEME
from tests.pipeline.conftest import finish
from tests.pipeline.table_rows import denied_by_day, denied_by_hour
from tests.pipeline.test_access import CLUSTER, DAY, NEXT_DAY, rows_of, run_main
from tests.pipeline.test_files import decisions

BEFORE = "2026-11-19"
TODAY = date(2026, 11, 22)


def lines_of(table: Path) -> dict[str, Counter[str]]:
    """How often each name was asked for on each day."""
    found: dict[str, Counter[str]] = {}
    for (day, *rest), lines in rows_of(table).items():
        found.setdefault(day, Counter())[rest[4]] += lines
    return found


def extend(spark: Any, table: Path, logs: Path) -> access.Extended:
    looked = access.look(table, CLUSTER, [LogSource(str(logs), zone="UTC")])
    return access.extend(spark, looked, today=TODAY)


def write(log: Path, *texts: str) -> None:
    log.write_text("".join(texts))
    finish(log)


@pytest.fixture(scope="module")
def made(spark, tmp_path_factory) -> tuple[Path, Path]:
    """Logs of two brokers, and their table: the newer logs were read first, and by an earlier parser."""
    folder = tmp_path_factory.mktemp("again")
    logs, table = folder / "logs", folder / "table"
    logs.mkdir()
    first = decisions(30, "first")
    write(logs / "a.log", first[: len(first) // 2].rsplit("\n", 1)[0] + "\n", first.replace(DAY, NEXT_DAY))
    write(logs / "b.log", decisions(40, "b").replace("Allowed", "Denied"))
    with pytest.MonkeyPatch.context() as patch:
        for module in ("aclweb.pipeline.table.versions", "aclweb.pipeline.table.changing"):
            patch.setattr(f"{module}.PARSER", 0)
        extend(spark, table, logs)
        write(logs / "a.log.1", decisions(50, "older").replace(DAY, BEFORE), decisions(20, "old"))
        extend(spark, table, logs)
    return logs, table


@pytest.fixture
def copied(made, tmp_path) -> tuple[Path, Path]:
    """The same table in a folder of this test, and the logs of all."""
    return made[0], Path(shutil.copytree(made[1], tmp_path / "table"))


@pytest.mark.spark
def test_logs_that_are_older_than_the_table_are_added_to_it(made):
    assert lines_of(made[1]) == {
        BEFORE: Counter(older=50),
        DAY: Counter(first=15, old=20, b=40),
        NEXT_DAY: Counter(first=30),
    }


@pytest.mark.spark
def test_a_day_is_read_again_by_the_parser_of_now_and_other_days_stay(spark, copied):
    logs, table = copied
    before, version = rows_of(table), Table.open(table, CLUSTER).version
    grown = (logs / "b.log").read_text()
    write(logs / "b.log", grown, decisions(1, "new"))

    try:
        done = reprocess(spark, table, CLUSTER, Again(DAY, DAY), layouts={}, keep_days=400, today=TODAY)
        now = Table.open(table, CLUSTER).version
        assert rows_of(table) == before, "what is new in a log waits for the next run"
        extend(spark, table, logs)
    finally:
        write(logs / "b.log", grown)

    assert (done.days, done.lines, done.kept, done.changed) == ((DAY,), 75, (), ())
    assert {day: held.parser for day, held in now.days.items()} == {BEFORE: 0, DAY: 1, NEXT_DAY: 0}
    assert now.days[NEXT_DAY] == version.days[NEXT_DAY]
    assert not set(now.days[DAY].all_parts()) & set(version.days[DAY].all_parts())
    assert now.days[DAY].lines == version.days[DAY].lines
    assert lines_of(table)[DAY] == Counter(first=15, old=20, b=40, new=1)
    by_hour: Counter[tuple[str, str]] = Counter()
    for (day, principal, _), lines in denied_by_hour(table, CLUSTER).items():
        by_hour[day, principal] += lines
    assert by_hour == denied_by_day(table, CLUSTER)
    assert by_hour.total() == 40


@pytest.mark.spark
def test_a_log_that_gives_more_now_hides_none_of_its_rotation_that_is_gone(spark, tmp_path):
    logs, table = tmp_path / "logs", tmp_path / "table"
    logs.mkdir()
    write(logs / "b.log.1", decisions(20, "rotated"))
    write(logs / "b.log", decisions(40, "undated"))
    undated = LogSource(str(logs / "b.log"), zone="UTC", layout=of_pattern("[%X] %p %m (%c)%n"))
    sources = [undated, LogSource(str(logs / "b.log.1"), zone="UTC")]
    access.extend(spark, access.look(table, CLUSTER, sources), today=TODAY)
    before = rows_of(table)
    assert lines_of(table)[DAY] == Counter(rotated=20)
    (logs / "b.log.1").unlink()

    layouts = {str(logs / "b.log"): "kafka"}
    done = reprocess(spark, table, CLUSTER, Again(DAY, DAY), layouts=layouts, keep_days=400, today=TODAY)

    assert done.days == ()
    assert [sentence for sentence in done.kept if DAY in sentence]
    assert rows_of(table) == before


@pytest.mark.spark
def test_a_day_whose_logs_are_gone_stays_unless_a_part_is_enough(spark, made, tmp_path, capsys):
    logs, table = tmp_path / "logs", tmp_path / "table"
    shutil.copytree(made[0], logs)
    extend(spark, table, logs)
    (logs / "a.log.1.gz").write_bytes(gzip.compress((logs / "a.log.1").read_bytes()))
    for log in logs.iterdir():
        finish(log)
    (logs / "a.log.1").unlink()
    (logs / "b.log").unlink()
    words = ("access", "--cluster", CLUSTER, "--time-zone", "UTC", "--log", logs, "--out", table)
    before = lines_of(table)

    with pytest.raises(AssertionError):
        run_main(spark, *words, "--reprocess", f"{BEFORE}..{DAY}")

    assert lines_of(table) == before
    told = capsys.readouterr().err
    assert f"{DAY} stays as it is: logs of it are gone ({logs}/b.log: 0 of 40 records)." in told
    assert BEFORE not in told, "it is in a file that was compressed meanwhile"

    said = run_main(spark, *words, "--reprocess", DAY, "--partial")

    assert said.splitlines()[-1] == f"Read 1 day again, {DAY} to {DAY}: 35 records, 35 of them decisions."
    assert lines_of(table) == before | {DAY: Counter(first=15, old=20)}


def rows(day: str, **lines: int) -> list[dict[str, Any]]:
    return [
        {"day": day, "file": f"/{broker}", "broker": broker, "lines": found}
        for broker, found in lines.items()
    ]


GONE_A = reprocessing._Doubts(gone=frozenset({"a"}))
OTHERWISE_A = reprocessing._Doubts(otherwise=frozenset({"a"}))
BOTH_A = reprocessing._Doubts(gone=frozenset({"a"}), otherwise=frozenset({"a"}))
SURE = reprocessing._Doubts()


@pytest.mark.parametrize(
    "known, now, doubts, told",
    [
        (rows(DAY, a=5), rows(DAY, a=5), SURE, ""),
        (rows(DAY, a=5), rows(DAY, a=3) + rows(DAY, a=4), SURE, ""),
        (rows(DAY, a=5), rows(DAY, a=3) + rows(DAY, a=4), GONE_A, "(a: 7 of 5 records). --partial takes"),
        (rows(DAY, a=5), rows(DAY, a=5), GONE_A, ""),
        (rows(DAY, a=5), rows(DAY, a=5), BOTH_A, "logs of it are gone"),
        (rows(DAY, a=5) + rows("", a=3), rows(DAY, a=8), SURE, "may move between it and other days"),
        (rows("", a=3), rows(DAY, a=3), OTHERWISE_A, "may move between it and other days"),
        (rows(DAY, a=3), rows(DAY, a=5), OTHERWISE_A, ""),
        (
            rows(DAY, a=5) + rows(NEXT_DAY, a=3),
            rows(DAY, a=5) + rows(NEXT_DAY, a=4),
            OTHERWISE_A,
            "may move between it and other days",
        ),
        (rows(DAY, a=5, b=1), rows(DAY, a=5), SURE, "are gone (b: 0 of 1 record). --partial takes"),
        (rows(DAY, a=5), rows(NEXT_DAY, a=9), SURE, "the logs that are still there have nothing of it."),
        (
            [*rows(DAY, a=5), *rows(DAY, b=1), {**rows(DAY, c=1)[0], "file": f"{SCHEME}audit/c"}],
            rows(DAY, a=5, b=1, c=1),
            SURE,
            "came from a topic (kafka:audit/c), which is not read again.",
        ),
    ],
)
def test_a_day_stays_where_something_of_it_cannot_be_read_again(known, now, doubts, told):
    kept = reprocessing._kept(known, now, Window(DAY, DAY), doubts, is_partial=False)

    assert kept.keys() == ({DAY} if told else set())
    assert told in kept.get(DAY, "")


def test_with_a_part_no_record_counts_twice_and_a_day_that_is_missing_is_named():
    moved = reprocessing._kept(rows("", a=3), rows(DAY, a=3), Window(DAY, DAY), BOTH_A, is_partial=True)
    missing = reprocessing._kept(rows(DAY, a=3), [], Window(DAY, DAY), GONE_A, is_partial=True)

    assert "may move" in moved[DAY]
    assert "have nothing of it" in missing[DAY]


@pytest.mark.parametrize(
    "words, told",
    [
        (["--partial"], "--partial is about days that are read again; give them with --reprocess."),
        (["--reprocess", DAY, "--every", "5"], "--reprocess reads days again once; leave out --every."),
    ],
)
def test_words_that_do_not_go_together_are_a_sentence(capsys, words, told):
    assert main(["access", "--cluster", "eu", "--log", "a", "--out", "o", *words]) == 2

    assert capsys.readouterr().err == f"{told}\n"


@pytest.mark.parametrize(
    "given, told",
    [
        ("1 May", "'1 May' is no day; write it as 2026-11-01"),
        (f"{DAY}..", "'' is no day"),
        (f"{NEXT_DAY}..{DAY}", "ends before it begins; name the earlier day first"),
    ],
)
def test_days_that_are_none_are_refused(capsys, given, told):
    with pytest.raises(SystemExit, match="2"):
        main(["access", "--cluster", "eu", "--log", "a", "--out", "o", "--reprocess", given])

    assert told in capsys.readouterr().err


@pytest.mark.spark
def test_a_table_that_keeps_none_of_the_days_or_is_damaged_says_so(spark, copied):
    _, table = copied
    with pytest.raises(
        reprocessing.SourceError, match=r"keeps days from 2026-11-12 on, so 2026-01-01 cannot"
    ):
        reprocess(
            spark, table, CLUSTER, Again("2026-01-01", "2026-01-01"), layouts={}, keep_days=10, today=TODAY
        )

    next((table).rglob("access/*/*.parquet")).unlink()
    with pytest.raises(TableError, match="is missing, a part of the access table"):
        reprocess(spark, table, CLUSTER, Again(DAY, DAY), layouts={}, keep_days=400, today=TODAY)
