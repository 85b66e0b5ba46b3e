"""Does the compare job tell what clusters share, what one alone uses, and what another denies?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.acl.logged import Wanted, pair_sentence
from aclweb.pipeline.__main__ import main
from aclweb.pipeline.compare import RIGHT, STEPS, check_names, summary, write_comparison
from aclweb.pipeline.files import SourceError
from tests.builders import allow, deny
from tests.pipeline.made_logs import Line, logged, saying
from tests.pipeline.test_load_bearing import snapshot_of
from tests.pipeline.test_pages import of_arrow, on_the_page

EU = [
    Line("User:a", "READ", "orders", lines=5),
    Line("User:a", "WRITE", "news", lines=2),
    Line("User:b", "READ", "orders", lines=3),
    Line("User:d", "READ", "secret", allowed=False, lines=4),
    Line("User:a", "READ", "billing", kind="GROUP", lines=7, host="10.0.0.8"),
    Line("User:a", "READ", "billing", kind="GROUP", lines=1),
]
US = [
    Line("User:a", "READ", "orders", lines=1, days_ago=3),
    Line("User:b", "READ", "orders", allowed=False, lines=9),
    Line("User:c", "READ", "stock", lines=6),
]
# It has no permits of all its brokers, so what it does not use is unknown.
ASIA = [Line("User:a", "READ", "orders", lines=2), Line("User:c", "READ", "stock", allowed=False, lines=8)]
LOGS = {"eu": EU, "us": US, "asia": ASIA}


# eu's would allow what c reads on us from an address that only us knows; asia's allow news to an address of its own.
ACLS = {
    "eu": [allow("User:c", "READ", "sto", pattern="PREFIXED"), allow("User:b", "READ", "orders")],
    "us": [allow("User:b", "READ", "orders"), deny("User:b", "ALL", "ord", pattern="PREFIXED")],
    "asia": [allow("User:a", "ALL", "news", host="10.9.9.9"), allow("User:*", "READ", "secret")],
}


def snapshots() -> list[Any]:
    return [replace(snapshot_of(ACLS[name]), cluster=name) for name in LOGS]


def log_of(spark: Any, name: str) -> Any:
    return logged(spark, LOGS[name], days=5 if name == "asia" else 31)


@pytest.fixture(scope="module")
def result(spark, tmp_path_factory) -> Path:
    from aclweb.pipeline.job import keeping

    out = tmp_path_factory.mktemp("out") / "compare"
    first, *others = snapshots()
    with keeping() as keep, saying(STEPS) as step:
        write_comparison(
            spark,
            first,
            log_of(spark, "eu"),
            out,
            keep,
            wanted=Wanted(),
            others=others,
            read=lambda spark, name, _: log_of(spark, name),
            step=step,
        )
    return out


def rows_of(result: Path, table: str) -> list[dict[str, Any]]:
    return pq.read_table(result / f"{table}.parquet").to_pylist()


def plain(lines: Mapping[str, list[Line]], key: Any) -> dict[Any, tuple[Any, ...]]:
    """Return of each key which clusters use it, deny it, do not use it, and may or may not, and its numbers."""
    permitted: Counter[tuple[Any, str]] = Counter()
    denied: Counter[tuple[Any, str]] = Counter()
    for name, some in lines.items():
        for line in some:
            if key(line) is not None:
                (permitted if line.allowed else denied)[key(line), name] += line.lines
    keys = {each for each, _ in (*permitted, *denied)}
    found = {}
    for each in keys:
        used = [name for name in lines if permitted[each, name]]
        refused = [name for name in lines if denied[each, name] and name not in used]
        rest = [name for name in lines if name not in (*used, *refused)]
        idle, unknown = [name for name in rest if name != "asia"], [name for name in rest if name == "asia"]
        sums = (sum(counted[each, name] for name in lines) for counted in (permitted, denied))
        found[each] = (used, refused, idle, unknown, *sums)
    return found


KEYS = {
    "rights": lambda line: (line.principal, line.operation, line.kind, line.name),
    "principals": lambda line: (line.principal,),
    "topics": lambda line: (line.name,) if line.kind == "TOPIC" else None,
}


@pytest.mark.spark
@pytest.mark.parametrize("table", KEYS)
def test_each_row_says_which_clusters_use_deny_or_do_not_use_it(result, table):
    columns = {"rights": RIGHT, "principals": ("principal",), "topics": ("topic",)}[table]
    values = ("used_on", "denied_on", "not_used_on", "unknown_on", "permitted", "denied")
    found = {
        tuple(row[name] for name in columns): tuple(row[name] for name in values)
        for row in rows_of(result, table)
    }

    assert found == plain(LOGS, KEYS[table])


@pytest.mark.spark
def test_rights_have_their_relation_and_those_that_differ_most_come_first(result):
    found = [(row["principal"], row["resource_name"], row["relation"]) for row in rows_of(result, "rights")]

    assert found == [
        ("User:c", "stock", "denied elsewhere"),
        ("User:b", "orders", "denied elsewhere"),
        ("User:a", "billing", "used in part"),
        ("User:a", "news", "used in part"),
        ("User:d", "secret", "denied"),
        ("User:a", "orders", "used on all"),
    ]


@pytest.mark.spark
def test_clusters_whose_acls_allow_what_they_do_not_use_are_named(result):
    rights = {
        (row["principal"], row["resource_name"]): row["allowed_on"] for row in rows_of(result, "rights")
    }

    assert rights == {
        ("User:c", "stock"): ["eu"],
        ("User:b", "orders"): [],
        ("User:a", "billing"): [],
        ("User:a", "news"): ["asia"],
        ("User:d", "secret"): ["asia"],
        ("User:a", "orders"): [],
    }
    topics = {row["topic"]: row["allowed_on"] for row in rows_of(result, "topics")}
    assert topics == {"stock": ["eu"], "orders": [], "news": ["asia"], "secret": ["asia"]}
    assert {row["principal"]: row["allowed_on"] for row in rows_of(result, "principals")} == {
        "User:a": [],
        "User:b": [],
        "User:c": ["eu"],
        "User:d": ["asia"],
    }


@pytest.mark.spark
def test_of_each_two_clusters_it_is_counted_what_one_uses_and_the_other_does_not(result):
    manifest = json.loads((result / "manifest.json").read_text())
    pairs = {(pair.pop("used_on"), pair.pop("not_on")): pair for pair in manifest["pairs"]["rights"]}

    assert pairs["eu", "us"] == {"used": 4, "rows": 3, "allowed": 0, "unknown": 0}
    assert pairs["us", "eu"] == {"used": 2, "rows": 1, "allowed": 1, "unknown": 0}
    assert pairs["eu", "asia"] == {"used": 4, "rows": 0, "allowed": 0, "unknown": 3}
    assert len(pairs) == 6
    manifest = json.loads((result / "manifest.json").read_text())
    assert "us uses 2 rights; eu does not use 1 of them, and its ACLs allow 1 of these." in summary(manifest)


@pytest.mark.spark
def test_the_same_is_there_as_json_lines_with_the_sums_in_the_manifest(result):
    told = [json.loads(line) for line in (result / "rights.jsonl").read_text().splitlines()]
    manifest = json.loads((result / "manifest.json").read_text())

    assert [row["used_on"] for row in told] == [row["used_on"] for row in rows_of(result, "rights")]
    assert manifest["compare"]["rights"] == {
        "denied elsewhere": 2,
        "used in part": 2,
        "denied": 1,
        "unknown": 0,
        "used on all": 1,
    }
    assert [each["cluster"] for each in manifest["clusters"]] == ["eu", "us", "asia"]
    assert [bool(each["evidence"]["missing"]) for each in manifest["clusters"]] == [False, False, True]
    assert any("Cannot tell what asia does not use" in sentence for sentence in summary(manifest))
    assert "6 rights: 1 used on all, 2 in part" in " ".join(summary(manifest))


@pytest.mark.spark
@pytest.mark.parametrize("table", KEYS)
def test_the_page_names_every_column_with_its_type(result, table):
    assert on_the_page(f"`{table}.parquet` of `compare`") == of_arrow(
        pq.read_schema(result / f"{table}.parquet")
    )


def test_one_cluster_or_the_same_one_twice_is_a_sentence():
    one = snapshots()[0]

    with pytest.raises(SourceError, match="give the snapshot of another one with --beside"):
        check_names([one])
    with pytest.raises(SourceError, match="Two snapshots are of the cluster 'eu'"):
        check_names([one, one])


def test_logs_in_the_place_of_a_table_are_a_sentence(capsys, tmp_path, snapshot_file):
    words = ["compare", "--snapshot", str(snapshot_file), "--beside", str(snapshot_file), "--log", "x.log"]

    assert main([*words, "--out", str(tmp_path / "out")]) == 2
    assert "give it with --table, in the place of logs." in capsys.readouterr().err


def test_brokers_of_other_clusters_are_given_for_each_or_for_none(capsys, tmp_path, snapshot_file):
    words = ["compare", "--snapshot", str(snapshot_file), "--beside", str(snapshot_file), "--table", "t"]

    assert (
        main([*words, "--beside-brokers", "a", "--beside-brokers", "b", "--out", str(tmp_path / "out")]) == 2
    )
    assert "--beside-brokers is given 2 times and --beside 1 times" in capsys.readouterr().err


@pytest.mark.parametrize(
    "numbers, told",
    [
        ((0, 0, 0, 0), "eu uses no right."),
        ((1, 0, 0, 0), "eu uses 1 right; us does too."),
        ((1, 1, 0, 0), "eu uses 1 right; us does not, and its ACLs do not allow it."),
        ((1, 1, 1, 0), "eu uses 1 right; us does not, and its ACLs allow it."),
        ((1, 0, 0, 1), "eu uses 1 right; nobody can tell whether us does."),
        ((2, 0, 0, 0), "eu uses 2 rights; us uses all of them."),
        ((2, 0, 0, 1), "eu uses 2 rights; of 1 nobody can tell whether us does."),
        ((2, 0, 0, 2), "eu uses 2 rights; nobody can tell which of them us uses."),
        ((2, 2, 1, 0), "eu uses 2 rights; us uses none of them, and its ACLs allow 1 of these."),
        ((2, 1, 0, 0), "eu uses 2 rights; us does not use 1 of them, and its ACLs allow none of these."),
        (
            (9, 3, 1, 5),
            "eu uses 9 rights; us does not use 3 of them, and its ACLs allow 1 of these. Of 5 nobody can tell.",
        ),
    ],
)
def test_what_one_cluster_uses_and_another_does_not_is_a_sentence(numbers, told):
    pair = dict(zip(("used", "rows", "allowed", "unknown"), numbers, strict=True))

    assert pair_sentence(pair, "eu", "us", "right") == told
