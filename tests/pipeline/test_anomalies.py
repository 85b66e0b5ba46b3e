"""Does the anomalies job find what was planted, and nothing in ordinary days?"""

from __future__ import annotations

import json
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


def run(spark, out: Path, lines, days: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    from aclweb.pipeline.anomalies import STEPS, write_anomalies
    from aclweb.pipeline.job import keeping

    with keeping() as keep, saying(STEPS) as step:
        write_anomalies(spark, snapshot_of([]), logged(spark, lines, days=days), out, keep, step=step)
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
