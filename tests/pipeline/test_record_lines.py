"""Is each text read once and sent on once, with what every file and every day has of it?"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

from aclweb.pipeline import record_lines, schemas
from aclweb.pipeline.record_lines import said
from tests.pipeline.test_usage import frame, micros

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
        "first_at": NOON,
        "last_at": NOON,
    }
    return row | {"hours": 1 << 12, "not_utf8": False} | facts


ROWS = [
    counted(decision("bob"), lines=2),
    counted(decision("bob"), file="b.log", lines=3, last_at=EVENING),
    counted(decision("bob", api="Metadata"), last_at=EVENING),
    counted(decision("eve"), not_utf8=True),
    counted(decision("joe"), day=None, first_at=None, last_at=None),
    counted("WARN full (kafka.server.Log)", lines=4),
    counted("x" * 2_000, timed=False, day=None, first_at=None, last_at=None),
]


FILES = {None: "nobody", "a.log": "broker-a", "b.log": "broker-b"}


def broker_of(file: str) -> str:
    return FILES[file]


@pytest.fixture
def lines_of(spark, monkeypatch):
    """What a worker makes of counts that come to it some at a time."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    counts, lines = (to_arrow_schema(StructType.fromDDL(each)) for each in (schemas.COUNTS, schemas.LINES))

    def made(rows: list[dict[str, Any]], *, at_once: int = 3, most: int = 100_000) -> list[dict[str, Any]]:
        monkeypatch.setattr(record_lines, "_MOST_TEXTS", most)
        batches = pa.Table.from_pylist(rows, schema=counts).to_batches(at_once)
        return [
            row
            for batch in record_lines._said_batches(lines, broker_of, batches)
            for row in batch.to_pylist()
        ]

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
    assert (decisions["hours"], decisions["allowed"]) == (1 << 12, False)
    assert {row["first_us"] for row in told if row["day"] is None} == {None}


@pytest.mark.parametrize("at_once", [1, 2, 100])
@pytest.mark.parametrize("most", [0, 1, 100])
def test_however_little_a_worker_holds_what_it_tells_adds_up_to_the_same(lines_of, at_once, most):
    made = lines_of([*ROWS, *ROWS], at_once=at_once, most=most)

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


def test_no_counts_are_no_rows(lines_of):
    assert lines_of([]) == []


def test_a_text_that_comes_in_many_files_is_read_in_one_place(spark):
    rows = [counted(decision(f"u{number % 5}"), file=f"{number}.log") for number in range(50)]

    told = said(frame(spark, rows, schemas.COUNTS).repartition(7)).collect()

    found = [row for row in told if row.file is None]
    assert sorted(row.principal for row in found) == [f"User:u{number}" for number in range(5)]
    assert {len(row.days) for row in found} == {1}
    assert {row.days[0].lines for row in found} == {10}
    assert len({row.file for row in told}) == 51
