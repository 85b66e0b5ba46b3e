"""Does the refusals job group what was denied, and say of each group what the core says?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.authorizer.remedies import smallest_fix
from aclweb.acl.logged.causes import likely_cause
from aclweb.acl.model.authorizers import AuthorizerSettings
from tests.builders import allow, deny
from tests.pipeline.made_logs import Line, logged, saying
from tests.pipeline.test_load_bearing import snapshot_of
from tests.pipeline.test_pages import of_arrow, on_the_page

pytestmark = pytest.mark.spark

TODAY = [
    allow("User:CN=orders-api, OU=shop", "READ", "orders"),
    allow("User:fixed", "READ", "orders"),
    allow("User:moved", "READ", "orders", host="10.0.0.1"),
    deny("User:barred", "READ", "orders"),
]
LINES = [
    Line("User:CN=orders-api,OU=shop", "READ", "orders", lines=5),
    Line(
        "User:CN=orders-api,OU=shop",
        "READ",
        "orders",
        lines=2,
        days_ago=3,
        host="10.0.0.9",
        api="ListOffsets",
    ),
    Line("User:fixed", "READ", "orders", lines=3, days_ago=1),
    Line("User:moved", "READ", "orders", host="10.0.0.2"),
    Line("User:barred", "READ", "orders", lines=4),
    Line("User:scanner", "DESCRIBE", "a"),
    Line("User:scanner", "DESCRIBE", "b"),
]
DENIED = [line.refused() for line in LINES]
PERMITTED = [
    Line("User:moved", "READ", "orders", host="10.0.0.1", lines=7),
    Line("User:other", "READ", "orders"),
]


@pytest.fixture(scope="module")
def result(spark, tmp_path_factory) -> Path:
    from aclweb.pipeline.job import keeping
    from aclweb.pipeline.refusals import STEPS, write_refusals

    out = tmp_path_factory.mktemp("out") / "refusals"
    with keeping() as keep, saying(STEPS) as step:
        found = logged(spark, [*DENIED, *PERMITTED])
        write_refusals(spark, snapshot_of(TODAY), found, out, keep, step=step)
    return out


@pytest.fixture(scope="module")
def rows(result) -> dict[tuple[str, str], dict[str, Any]]:
    found = pq.read_table(result / "groups.parquet").to_pylist()
    return {(row["principal"], row["resource_name"]): row for row in found}


def test_denials_of_one_principal_operation_and_resource_are_one_group(rows):
    lines = Counter[tuple[str, str]]()
    for line in DENIED:
        lines[line.principal, line.name] += line.lines

    assert {key: row["lines"] for key, row in rows.items()} == lines
    row = rows["User:CN=orders-api,OU=shop", "orders"]
    assert (row["hosts"], row["host_names"]) == (2, ["10.0.0.7", "10.0.0.9"])
    assert row["api_names"] == ["Fetch", "ListOffsets"]
    assert row["days"] == [{"day": "2026-11-17", "lines": 2}, {"day": "2026-11-20", "lines": 5}]
    assert (row["first_at"].day, row["last_at"].day) == (17, 20)
    assert row["sample"].startswith("[2026-11-20 12:00:01,000] ")


def test_a_group_says_how_often_the_same_was_allowed_and_how_many_names_were_tried(rows):
    assert rows["User:moved", "orders"]["permitted"] == 7
    assert rows["User:fixed", "orders"]["permitted"] == 0
    assert rows["User:scanner", "a"]["names"] == 2


def test_each_group_has_the_cause_and_the_smallest_acl_that_the_core_gives(rows):
    index = AclIndex(TODAY)
    causes = set()
    for line in DENIED:
        row = rows[line.principal, line.name]
        if row["days"][-1]["day"] != "2026-11-20" or line.days_ago:
            continue
        decision = authorize(line.request, index, AuthorizerSettings())
        cause, smallest = likely_cause(decision, index), smallest_fix(decision)
        assert (row["decided_now"], row["cause"], row["sentence"]) == (
            decision.result.name,
            cause.kind,
            cause.sentence,
        )
        assert row["smallest_acl"] == (json.dumps(smallest.as_dict()) if smallest else None)
        causes.add(cause.kind)
    assert causes == {"name", "host", "deny", "no-rule"}
    assert rows["User:fixed", "orders"]["cause"] == "allowed-now"
    assert rows["User:barred", "orders"]["smallest_acl"] is None


def test_a_principal_with_a_blank_too_few_is_shown_the_name_that_the_acl_has(rows):
    assert rows["User:CN=orders-api,OU=shop", "orders"]["near_principals"] == ["User:CN=orders-api, OU=shop"]
    assert rows["User:scanner", "a"]["near_principals"] == []


def test_the_days_and_the_manifest_add_up_to_what_was_denied(result):
    manifest = json.loads((result / "manifest.json").read_text(encoding="utf-8"))
    days = pq.read_table(result / "by_day.parquet").to_pylist()

    assert manifest["refusals"] == {"groups": 6, "lines": 17, "principals": 5}
    assert [(row["day"], row["lines"], row["groups"], row["principals"]) for row in days] == [
        ("2026-11-17", 2, 1, 1),
        ("2026-11-19", 3, 1, 1),
        ("2026-11-20", 12, 5, 4),
    ]


@pytest.mark.parametrize(
    ("heading", "table"),
    [("`groups.parquet`", "groups"), ("`by_day.parquet` of `refusals`", "by_day")],
)
def test_the_page_names_every_column_with_its_type(result, heading, table):
    assert on_the_page(heading) == of_arrow(pq.read_schema(result / f"{table}.parquet"))
