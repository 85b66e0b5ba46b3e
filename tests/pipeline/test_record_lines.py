"""Is each text read once and sent on once, with what every file and every day has of it?"""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from aclweb.pipeline import record_lines, schemas
from aclweb.pipeline.job import keeping
from aclweb.pipeline.record_lines import Tally
from aclweb.pipeline.sources import read_lines
from tests.pipeline.test_usage import micros

pytestmark = pytest.mark.spark

DAY = "2026-11-20"
NOON, EVENING = (datetime(2026, 11, 20, hour) for hour in (12, 20))


def decision(user: str, *, api: str = "Fetch") -> str:
    return (
        f"INFO Principal = User:{user} is Denied operation = READ from host = 10.0.0.7 on resource = Topic:LITERAL:pay "
        f"for request = {api} with resourceRefCount = 1 based on rule DefaultDeny (kafka.authorizer.logger)"
    )


def counted(raw: str, **facts: Any) -> dict[str, Any]:
    row = {
        "file": "a.log",
        "day": DAY,
        "raw": raw,
        "timed": True,
        "lines": 1,
        "at": (NOON,),
        "not_utf8": False,
    }
    return row | facts


ROWS = [
    counted(decision("bob"), lines=2),
    counted(decision("bob"), file="b.log", lines=3, at=(NOON, EVENING, NOON)),
    counted(decision("bob", api="Metadata"), at=(EVENING,)),
    counted(decision("eve"), not_utf8=True),
    counted(decision("joe"), day=None),
    counted("WARN full (kafka.server.Log)", lines=4),
    counted("x" * 2_000, timed=False, day=None),
]


FILES = {None: "nobody", "a.log": "broker-a", "b.log": "broker-b"}


def broker_of(file: str) -> str:
    return FILES[file]


def add(tally: Tally, row: dict[str, Any]) -> None:
    """Count the records of a row, one by one."""
    for number in range(row["lines"]):
        at = row["at"][number % len(row["at"])]
        place = (row["day"], at.hour, micros(at)) if row["day"] else (None, 0, None)
        tally.add(row["file"], row["raw"], timed=row["timed"], at=place, not_utf8=row["not_utf8"])


@pytest.fixture(scope="module")
def schema(spark) -> Any:
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    return to_arrow_schema(StructType.fromDDL(schemas.LINES))


@pytest.fixture
def lines_of(schema, monkeypatch):
    """What a worker sends on of rows that come to it."""

    def made(rows: list[dict[str, Any]], *, most: int = 100_000, at_once: int = 100) -> list[dict[str, Any]]:
        monkeypatch.setattr(record_lines, "_MOST_TEXTS", most)
        monkeypatch.setattr(record_lines, "_LINES_AT_ONCE", at_once)
        monkeypatch.setattr(record_lines, "_COLUMNS_AT_ONCE", at_once)
        tally = Tally(schema, broker_of)
        sent: list[pa.RecordBatch] = []
        for row in rows:
            add(tally, row)
            if tally.is_full:
                sent += tally.taken()
                tally = Tally(schema, broker_of)
        return [row for batch in (*sent, *tally.taken()) for row in batch.to_pylist()]

    return made


def texts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["file"] is None]


def test_a_text_is_told_once_with_what_each_broker_wrote_of_it_on_each_day(lines_of):
    told = texts(lines_of(ROWS))

    assert [(row["principal"], row["lines"], row["kind"]) for row in told] == [
        ("User:bob", 5, "decision"),
        ("User:bob", 1, "decision"),
        ("User:eve", 1, "decision"),
        ("User:joe", 1, "unparsed"),
        (None, 4, "other"),
        (None, 1, "unparsed"),
    ]
    of_a, of_b = told[0]["days"]
    assert of_a == {
        "broker": "broker-a",
        "day": DAY,
        "lines": 2,
        "first_us": micros(NOON),
        "last_us": micros(NOON),
    }
    assert (of_b["broker"], of_b["lines"], of_b["last_us"]) == ("broker-b", 3, micros(EVENING))
    assert told[3]["reason"] == record_lines.IMPOSSIBLE_TIME
    assert (told[3]["days"][0]["day"], told[3]["last_us"]) == (None, None)
    assert [row["not_utf8"] for row in told] == [False, False, True, False, False, False]
    assert [len(row["raw"]) for row in told[4:]] == [len(ROWS[5]["raw"]), record_lines.SAMPLE_LENGTH]


def test_a_file_is_told_with_what_it_holds_of_each_day_by_kind(lines_of):
    told = [row for row in lines_of(ROWS) if row["file"]]

    found: Counter[tuple[Any, ...]] = Counter()
    for row in told:
        found[row["file"], row["day"], row["kind"], row["not_utf8"]] += row["lines"]
    assert found == {
        ("a.log", DAY, "decision", False): 3,
        ("a.log", DAY, "decision", True): 1,
        ("a.log", DAY, "other", False): 4,
        ("a.log", None, "unparsed", False): 2,
        ("b.log", DAY, "decision", False): 3,
    }
    decisions, *_ = (row for row in told if row["kind"] == "decision" and not row["not_utf8"])
    assert (decisions["file"], decisions["day"]) == ("a.log", DAY)
    assert (decisions["first_us"], decisions["last_us"]) == (micros(NOON), micros(EVENING))
    assert (decisions["hours"], decisions["allowed"]) == (1 << 12 | 1 << 20, False)
    assert {row["first_us"] for row in told if row["day"] is None} == {None}


@pytest.mark.parametrize("most", [0, 100_000])
def test_a_file_is_told_with_who_was_denied_in_which_hour(lines_of, most):
    permit = decision("bob").replace("Denied", "Allowed")
    made = lines_of([*ROWS, counted(permit, lines=9)], most=most)

    told: Counter[tuple[Any, ...]] = Counter()
    for row in made:
        for entry in row["denied"] or ():
            told[row["file"], row["day"], entry["principal"], entry["hour"]] += entry["lines"]
    assert told == {
        ("a.log", DAY, "User:bob", 12): 2,
        ("a.log", DAY, "User:bob", 20): 1,
        ("a.log", DAY, "User:eve", 12): 1,
        ("b.log", DAY, "User:bob", 12): 2,
        ("b.log", DAY, "User:bob", 20): 1,
    }


@pytest.mark.parametrize("at_once", [1, 2, 100])
@pytest.mark.parametrize("most", [0, 1, 100])
def test_however_little_a_worker_holds_what_it_tells_adds_up_to_the_same(lines_of, at_once, most):
    made = lines_of([*ROWS, *ROWS], most=most, at_once=at_once)

    by_text: Counter[tuple[Any, ...]] = Counter()
    by_file: Counter[tuple[Any, ...]] = Counter()
    for row in made:
        if row["file"]:
            by_file[row["file"], row["day"], row["kind"]] += row["lines"]
        for entry in row["days"] or ():
            by_text[row["raw"], entry["broker"], entry["day"]] += entry["lines"]

    once: Counter[tuple[Any, ...]] = Counter()
    for row in ROWS:
        once[row["raw"][: record_lines.SAMPLE_LENGTH], FILES[row["file"]], row["day"]] += 2 * row["lines"]
    assert by_text == once
    assert sum(by_file.values()) == 2 * sum(row["lines"] for row in ROWS)
    assert by_file["a.log", DAY, "decision"] == 8


def test_nothing_counted_is_no_row(lines_of):
    assert lines_of([]) == []


@pytest.mark.parametrize("at_once", [1, 4, 1_000])
@pytest.mark.parametrize("most", [10, 1_000_000])
def test_many_records_at_once_add_up_as_one_by_one(schema, monkeypatch, at_once, most):
    monkeypatch.setattr(record_lines, "_LINES_AT_ONCE", at_once)
    monkeypatch.setattr(record_lines, "_COLUMNS_AT_ONCE", at_once)
    monkeypatch.setattr(record_lines, "_MOST_COUNTS", most)
    dice = random.Random(at_once)
    found = [
        (f"{dice.randrange(3)}.log", NOON + timedelta(hours=dice.randrange(-80, 80)), f"u{dice.randrange(9)}")
        for _ in range(300)
    ]
    single, columns = Tally(schema, None), Tally(schema, None)
    for start in range(0, len(found), 50):
        some = found[start : start + 50]
        columns.add_columns(
            np.array([columns.number_of_file(file) for file, *_ in some], np.int64),
            np.array([micros(at) for _, at, _ in some], np.int64),
            pa.array([decision(user) for *_, user in some]),
        )
    for file, at, user in found:
        place = (at.date().isoformat(), at.hour, micros(at))
        single.add(file, decision(user), timed=True, at=place, not_utf8=False)

    one, other = (rows_in_order(tally.taken()) for tally in (single, columns))

    assert one == other
    assert sum(row["lines"] for row in one if row["file"]) == len(found)
    hours = Counter((at.date().isoformat(), f"User:{user}", at.hour) for _, at, user in found)
    told: Counter[tuple[str, str, int]] = Counter()
    for row in one:
        for entry in row["denied"] or ():
            told[row["day"], entry["principal"], entry["hour"]] += entry["lines"]
    assert told == hours
    assert len({row["day"] for row in one}) > 5


def rows_in_order(batches: Any) -> list[dict[str, Any]]:
    rows = [row for batch in batches for row in batch.to_pylist()]
    for row in rows:
        row["days"] = sorted((row["days"] or ()), key=lambda entry: entry["day"])
    return sorted(rows, key=repr)


def test_a_text_that_comes_in_many_files_is_sent_on_once(spark, tmp_path):
    for number in range(50):
        text = f"[{DAY} 12:00:00,000] {decision(f'u{number % 5}')}\n"
        (tmp_path / f"{number}.log").write_text(text)

    with keeping() as keep:
        told = read_lines(spark, sorted(map(str, tmp_path.iterdir())), keep).lines
        workers, told = told.rdd.getNumPartitions(), told.collect()

    found = [row for row in told if row.file is None]
    assert {row.principal for row in found} == {f"User:u{number}" for number in range(5)}
    assert 5 <= len(found) <= 5 * workers
    assert {len(row.days) for row in found} == {1}
    assert sum(row.days[0].lines for row in found) == 50
    assert len({row.file for row in told}) == 51
