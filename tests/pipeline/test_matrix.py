"""Does the matrix have what was used beside what the core says is configured, and the topics nobody used?"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aclweb.acl.authorizer.decision import decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.logged.evidence import Wanted
from aclweb.acl.model.authorizers import AuthorizerSettings
from tests.builders import allow, ask, deny
from tests.pipeline.made_logs import Line, logged, saying
from tests.pipeline.test_load_bearing import snapshot_of
from tests.pipeline.test_pages import of_arrow, on_the_page

pytestmark = pytest.mark.spark

TOPICS = ("orders", "news", "secret", "open")  # of `snapshot_of`
TODAY = [
    allow("User:a", "READ", "*"),
    deny("User:a", "READ", "secret"),
    allow("User:b", "ALL", "o", pattern="PREFIXED"),
    allow("User:*", "DESCRIBE", "news"),
    allow("User:c", "READ", "cg", resource_type="GROUP"),
]
LINES = [
    Line("User:a", "READ", "orders", lines=5),
    Line("User:a", "READ", "orders", lines=2, days_ago=1, host="10.0.0.8"),
    Line("User:a", "READ", "secret", allowed=False, lines=3),
    Line("User:b", "WRITE", "orders", lines=4),
    Line("User:b", "WRITE", "deleted", lines=1, days_ago=9),
    Line("User:c", "READ", "cg", kind="GROUP"),
]


@pytest.fixture(scope="module")
def result(spark, tmp_path_factory) -> Path:
    from aclweb.pipeline.job import keeping
    from aclweb.pipeline.matrix import STEPS, write_matrix

    out = tmp_path_factory.mktemp("out") / "matrix"
    with keeping() as keep, saying(STEPS) as step:
        write_matrix(spark, snapshot_of(TODAY), logged(spark, LINES), out, keep, wanted=Wanted(), step=step)
    return out


def test_a_cell_has_what_one_principal_did_with_one_topic(result):
    rows = pq.read_table(result / "cells.parquet").to_pylist()
    found = {
        (row["principal"], row["operation"], row["topic"]): (
            row["lines"],
            row["denied"],
            row["days"],
            row["allowed_now"],
        )
        for row in rows
    }

    assert found == {
        ("User:a", "READ", "orders"): (7, 0, 2, True),
        ("User:a", "READ", "secret"): (3, 3, 1, False),
        ("User:b", "WRITE", "orders"): (4, 0, 1, True),
        ("User:b", "WRITE", "deleted"): (1, 0, 1, False),
    }


def test_the_csv_has_the_same_cells(result):
    with (result / "cells.csv").open(encoding="utf-8", newline="") as file:
        shown = list(csv.DictReader(file))

    rows = pq.read_table(result / "cells.parquet").to_pylist()
    assert [(row["principal"], row["topic"], int(row["lines"])) for row in shown] == [
        (row["principal"], row["topic"], row["lines"]) for row in rows
    ]


def test_what_is_configured_is_what_deciding_each_topic_gives(result):
    rows = pq.read_table(result / "rights.parquet").to_pylist()
    index = AclIndex(TODAY)

    for row in rows:
        requests = (ask(row["principal"], row["operation"], topic, host="10.9.9.9") for topic in TOPICS)
        may = sum(decide(request, index, AuthorizerSettings())[0].name == "ALLOWED" for request in requests)
        assert row["configured"] == may, row
    used = {(row["principal"], row["operation"]): (row["used"], row["lines"]) for row in rows if row["used"]}
    assert used == {("User:a", "READ"): (1, 7), ("User:b", "WRITE"): (2, 5)}
    assert ("User:b", "DELETE", 2) in {
        (row["principal"], row["operation"], row["configured"]) for row in rows
    }


def test_topics_are_used_dark_or_gone_and_the_hot_ones_come_first(result):
    rows = pq.read_table(result / "topics.parquet").to_pylist()

    assert [(row["topic"], row["state"], row["lines"], row["denied"], row["principals"]) for row in rows] == [
        ("orders", "used", 11, 0, 2),
        ("deleted", "gone", 1, 0, 1),
        ("news", "dark", 0, 0, 0),
        ("open", "dark", 0, 0, 0),
        ("secret", "dark", 0, 3, 0),
    ]
    assert (rows[0]["reads"], rows[0]["writes"]) == (7, 4)
    manifest = json.loads((result / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["topics"] == {"used": 1, "dark": 3, "no data": 0, "gone": 1}


def test_without_permits_what_was_used_is_unknown_and_not_0(spark):
    from aclweb.pipeline.matrix import by_topic, rights

    denied = [Line("User:a", "READ", "orders", allowed=False, lines=3)]
    may = spark.createDataFrame(
        [("User:a", "READ", 2)], "principal string, operation string, configured long"
    )
    cells = spark.createDataFrame(
        [("User:a", "READ", 3, 3)], "principal string, operation string, lines long, denied long"
    )

    used = rights(may, cells, names_known=True, has_permits=False).collect()
    access = logged(spark, denied).access
    topics = by_topic(spark, access, ("orders",), unused="no data", has_permits=False).collect()

    assert [tuple(row) for row in used] == [("User:a", "READ", 2, None, None)]
    assert [tuple(row) for row in topics] == [("orders", "no data", None, None, None, None, 3, None)]


@pytest.mark.parametrize("table", ["cells", "rights", "topics"])
def test_the_page_names_every_column_with_its_type(result, table):
    schema = pq.read_schema(result / f"{table}.parquet")

    assert on_the_page(f"`{table}.parquet`") == of_arrow(schema)
