"""Does a worker read each text once, keep the latest of each request, and send no other text of a decision on?"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from aclweb.pipeline import record_lines, schemas
from aclweb.pipeline.record_lines import said
from tests.pipeline.test_usage import frame

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


def rows_of(spark: Any) -> list[Any]:
    return said(frame(spark, ROWS, schemas.COUNTS).coalesce(1)).collect()


def test_each_record_is_told_with_its_count_and_only_notes_keep_their_text(spark):
    told = [row for row in rows_of(spark) if row.kind != schemas.SAMPLE]

    assert [(row.principal, row.lines, row.kind) for row in told] == [
        ("User:bob", 2, "decision"),
        ("User:bob", 3, "decision"),
        ("User:bob", 1, "decision"),
        ("User:eve", 1, "decision"),
        ("User:joe", 1, "unparsed"),
        (None, 4, "other"),
        (None, 1, "unparsed"),
    ]
    assert told[4].reason == record_lines.IMPOSSIBLE_TIME
    assert [row.raw for row in told[:3]] == [None] * 3
    assert told[3].raw == decision("eve")
    assert [len(row.raw) for row in told[5:]] == [len(ROWS[5]["raw"]), record_lines.SAMPLE_LENGTH]


@pytest.mark.parametrize("most", [1, 100_000])
def test_the_sample_of_a_request_is_its_latest_text_however_little_a_worker_holds(spark, monkeypatch, most):
    monkeypatch.setattr(record_lines, "_MOST_TEXTS", most)
    schema = spark.createDataFrame([], schemas.LINES).schema
    batches = (
        frame(spark, ROWS, schemas.COUNTS)
        .select(*record_lines._COUNTED, "raw", "timed")
        .toArrow()
        .to_batches(1)
    )

    from pyspark.sql.pandas.types import to_arrow_schema

    made = [
        row
        for batch in record_lines._said_batches(to_arrow_schema(schema), batches)
        for row in batch.to_pylist()
        if row["kind"] == schemas.SAMPLE
    ]

    latest: dict[str, tuple[Any, str]] = {}
    for row in made:
        assert (row["lines"], row["file"]) == (0, None)
        latest[row["principal"]] = max(
            latest.get(row["principal"], (datetime.min, "")), (row["last_at"], row["raw"])
        )
    assert latest == {
        "User:bob": (EVENING, decision("bob", api="Metadata")),
        "User:eve": (NOON, decision("eve")),
    }
    assert len(made) >= 2
