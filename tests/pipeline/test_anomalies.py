"""Does the anomalies job find what was planted, and nothing in ordinary days?"""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.pipeline.made_logs import Line, logged, saying
from tests.pipeline.test_load_bearing import snapshot_of
from tests.pipeline.test_pages import of_arrow, on_the_page

pytestmark = pytest.mark.spark

ORDINARY = [
    Line(principal, "READ", "orders", lines=3, days_ago=back)
    for principal in ("User:a", "User:b")
    for back in range(60)
]
# Denied every day, so that many denials are usual for it.
LOUD = [Line("User:loud", "READ", "x", allowed=False, lines=200, days_ago=back) for back in range(60)]
PLANTED = [
    Line("User:new", "READ", "orders", host="10.9.9.9", days_ago=2),
    Line("User:a", "READ", "orders", host="10.1.1.1", days_ago=3, allowed=False),
    Line("User:b", "WRITE", "payments", days_ago=6),
    Line("User:b", "READ", "orders", allowed=False, lines=101, days_ago=1),
    Line("User:b", "READ", "orders", allowed=False, lines=500, days_ago=20),
    Line("User:loud", "READ", "x", allowed=False, lines=1_801, days_ago=4),
    Line("User:sleeper", "READ", "orders", days_ago=45),
    Line("User:sleeper", "READ", "orders", lines=4, days_ago=5),
    Line("User:rare", "READ", "orders", days_ago=30),
    Line("User:rare", "READ", "orders", days_ago=5),
]


def run(spark, out: Path, lines, days: int, without_hours=()) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    from aclweb.pipeline.anomalies import STEPS, write_anomalies
    from aclweb.pipeline.job import keeping

    with keeping() as keep, saying(STEPS) as step:
        log = logged(spark, lines, days=days, without_hours=without_hours)
        write_anomalies(spark, snapshot_of([]), log, out, keep, step=step)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return manifest, pq.read_table(out / "anomalies.parquet").to_pylist()


@pytest.fixture(scope="module")
def result(spark, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out") / "anomalies"
    run(spark, out, [*ORDINARY, *LOUD, *PLANTED], 60)
    return out


def test_what_was_planted_is_found_and_nothing_else(result):
    rows = pq.read_table(result / "anomalies.parquet").to_pylist()
    found = {
        (
            row["kind"],
            row["day"],
            row["principal"],
            row["host"] or row["resource_name"],
            row["lines"],
            row["denied"],
        )
        for row in rows
    }

    assert found == {
        ("new principal", "2026-11-18", "User:new", "", 1, 0),
        ("new host", "2026-11-17", "User:a", "10.1.1.1", 1, 1),
        ("new resource", "2026-11-14", "User:b", "payments", 1, 0),
        ("denials", "2026-11-19", "User:b", "", 104, 101),
        ("denials", "2026-11-16", "User:loud", "", 2_001, 2_001),
        ("back", "2026-11-15", "User:sleeper", "", 4, 0),
    }
    assert [row["usual"] for row in rows if row["kind"] == "denials"] == [0, 200]
    assert [row["quiet_days"] for row in rows if row["kind"] == "back"] == [39]


def test_a_storm_of_a_whole_day_has_its_worst_hour(result):
    rows = pq.read_table(result / "anomalies.parquet").to_pylist()

    hours = ("principal", "hour", "hour_denied", "hour_usual", "hours")
    assert [tuple(row[name] for name in hours) for row in rows if row["kind"] == "denials"] == [
        ("User:b", 12, 101, 0, 1),
        ("User:loud", 12, 2_001, 200, 1),
    ]
    assert {row["hour"] for row in rows if row["kind"] != "denials"} == {None}


# Every night so many that a storm at noon is not seen in the sum of the day.
NIGHTLY = [
    Line("User:batch", "READ", "x", allowed=False, lines=1_000, days_ago=back, hour=2) for back in range(30)
]
NOON = [
    Line("User:batch", "READ", "x", allowed=False, lines=300, days_ago=2, hour=12),
    Line("User:batch", "READ", "y", allowed=False, lines=200, days_ago=2, hour=13),
    Line("User:batch", "READ", "x", allowed=False, lines=100, days_ago=2, hour=13),
    Line("User:batch", "READ", "x", allowed=False, lines=99, days_ago=2, hour=14),
    # Over ten times its median of one hour and at least 100, which is one more than no storm.
    *(Line("User:edge", "READ", "x", allowed=False, lines=10, days_ago=back, hour=5) for back in range(16)),
    Line("User:edge", "READ", "x", allowed=False, lines=90, days_ago=1, hour=5),
    Line("User:edge", "READ", "x", allowed=False, lines=91, days_ago=0, hour=5),
]


def storms(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("day", "principal", "denied", "hour", "hour_denied", "hour_usual", "hours")
    return [tuple(row[name] for name in names) for row in rows if row["kind"] == "denials"]


def test_a_storm_of_an_hour_is_seen_where_the_day_as_a_whole_is_as_usual(spark, tmp_path):
    manifest, rows = run(spark, tmp_path / "out", [*NIGHTLY, *NOON], 30)

    assert storms(rows) == [
        ("2026-11-20", "User:edge", 101, 5, 101, 10, 1),
        ("2026-11-18", "User:batch", 1_699, 12, 300, 0, 2),
    ]
    assert manifest["hours_known"] == {"days": 30, "unknown": 0, "last_unknown": None, "unknown_lately": 0}


def test_hours_are_told_of_the_days_that_have_them_only(spark, tmp_path):
    from aclweb.pipeline.anomalies import summary

    before = [(date(2026, 11, 20) - timedelta(days=back)).isoformat() for back in range(3, 30)]
    quiet = [Line("User:b", "READ", "x", allowed=False, lines=500, days_ago=4, hour=9)]

    manifest, rows = run(spark, tmp_path / "out", [*NIGHTLY, *NOON, *quiet], 30, without_hours=before)

    # Of three days, a hundred denials at five are usual; in the whole day there are more than usual all the same.
    assert storms(rows) == [
        ("2026-11-20", "User:edge", 101, None, None, None, None),
        ("2026-11-18", "User:batch", 1_699, 12, 300, 0, 2),
        ("2026-11-16", "User:b", 500, None, None, None, None),
    ]
    assert manifest["hours_known"] == {
        "days": 3,
        "unknown": 27,
        "last_unknown": "2026-11-17",
        "unknown_lately": 4,
    }
    assert any("cannot tell storms by hour up to 2026-11-17" in sentence for sentence in summary(manifest))


def test_the_manifest_counts_each_kind(result):
    manifest = json.loads((result / "manifest.json").read_text(encoding="utf-8"))

    assert manifest["anomalies"] == {
        "new principal": 1,
        "new host": 1,
        "new resource": 1,
        "denials": 2,
        "back": 1,
    }


@pytest.mark.parametrize(
    "first, since, known",
    [("2026-11-13", "2026-11-14", True), ("2026-11-14", "2026-11-14", False), (None, "9999-12-31", False)],
)
def test_what_is_new_is_known_where_the_log_has_an_earlier_day(first, since, known):
    from aclweb.pipeline.anomalies import _is_new_known

    # A day without a log in between takes nothing away.
    assert _is_new_known([first, "2026-11-20"] if first else [], since) is known


def test_a_log_no_longer_than_the_days_asked_about_calls_nothing_new(spark, tmp_path):
    from aclweb.pipeline.anomalies import summary

    manifest, rows = run(spark, tmp_path / "out", [Line("User:a", "READ", "orders")], 7)

    assert rows == []
    assert manifest["new_known"] is False
    assert "The log has 7 days, so it cannot tell what is new in the last 7." in summary(manifest)


def test_the_page_names_every_column_with_its_type(result):
    schema = pq.read_schema(result / "anomalies.parquet")

    assert on_the_page("`anomalies.parquet`") == of_arrow(schema)
