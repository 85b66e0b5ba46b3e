"""Does the disagreement job tell changed ACLs, wrong declarations and what nobody knows apart?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.acl.model.errors import NotationError
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.pipeline.history import read_history
from tests.builders import allow, deny
from tests.pipeline.made_logs import Line, logged, saying
from tests.pipeline.test_load_bearing import snapshot_of
from tests.pipeline.test_pages import of_arrow, on_the_page

pytestmark = pytest.mark.spark

ADDED = allow("User:added", "READ", "orders")
REMOVED = allow("User:removed", "READ", "orders")
KEPT = allow("User:kept", "READ", "orders")
LATER_DENY = deny("User:kept", "READ", "orders")
SNAPSHOT = [ADDED, KEPT, LATER_DENY]
FIRST, FOURTH, NINTH = "2026-11-01T00:00:00+00:00", "2026-11-10T00:00:00+00:00", "2026-11-18T00:00:00+00:00"
HISTORY = [
    (KEPT, 1, FIRST, None, None),
    (REMOVED, 1, FIRST, 9, NINTH),
    (ADDED, 4, FOURTH, None, None),
    (LATER_DENY, 9, NINTH, None, None),
]
LINES = [
    Line("User:added", "READ", "orders", allowed=False, lines=5, days_ago=15),
    Line("User:removed", "READ", "orders", lines=4, days_ago=10),
    Line("User:kept", "READ", "orders", lines=3, days_ago=5),
    Line("User:removed", "READ", "orders", lines=2, days_ago=30),
    Line("User:removed", "WRITE", "orders", lines=1, days_ago=8),
    # Both agree, so it is in no row.
    Line("User:added", "READ", "orders", lines=90),
]


def history_file(folder: Path, rows: list[tuple[AclBinding, int, str, int | None, str | None]]) -> Path:
    names = ("from_revision", "from_at", "to_revision", "to_at")
    path = folder / "history.jsonl"
    lines = [json.dumps(binding.as_dict() | dict(zip(names, row, strict=True))) for binding, *row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def result(spark, tmp_path_factory) -> Path:
    from aclweb.pipeline.disagreement import STEPS, write_disagreement
    from aclweb.pipeline.job import keeping

    out = tmp_path_factory.mktemp("out") / "disagreement"
    history = read_history(history_file(out.parent, HISTORY))
    with keeping() as keep, saying(STEPS) as step:
        found = logged(spark, LINES)
        write_disagreement(spark, snapshot_of(SNAPSHOT), found, out, keep, history=history, step=step)
    return out


@pytest.fixture(scope="module")
def found(result) -> tuple[dict[str, Any], dict[tuple[str, str], Any]]:
    rows = pq.read_table(result / "disagreements.parquet").to_pylist()
    manifest = json.loads((result / "manifest.json").read_text(encoding="utf-8"))
    return manifest, {(row["principal"], row["day"]): row for row in rows}


def test_a_change_of_the_acls_is_named_by_the_revision_that_turned_the_answer(found):
    causes = {key: (row["cause"], row["revision"], row["lines"]) for key, row in found[1].items()}

    assert causes == {
        ("User:added", "2026-11-05"): ("changed", 4, 5),
        ("User:removed", "2026-11-10"): ("changed", 9, 4),
        ("User:kept", "2026-11-15"): ("changed", 9, 3),
        ("User:removed", "2026-10-21"): ("before history", None, 2),
        ("User:removed", "2026-11-12"): ("unknown", None, 1),
    }
    assert found[0]["disagreement"] == {"changed": 12, "declaration": 0, "before history": 2, "unknown": 1}


def test_without_a_history_the_cause_is_unknown_and_the_summary_asks_for_one(found):
    from aclweb.acl.model import AuthorizerSettings
    from aclweb.pipeline.disagreement import _cause, summary

    manifest, rows = found

    assert {_cause(row, AuthorizerSettings(), None) for row in rows.values()} == {("unknown", None)}
    assert "give one with --history." in summary(manifest | {"history": None})[-1]
    assert "no ACLs of that day give the logged answer." in summary(manifest)[-1]


@pytest.mark.parametrize(
    ("facts", "is_wrong"),
    [
        ({"broker_rule": "SuperUser"}, True),
        ({"broker_rule": "DefaultAllow"}, True),
        ({"broker_rule": "DefaultDeny", "basis_now": "DEFAULT_ALLOW"}, True),
        ({"basis_now": "SUPER_USER"}, True),
        ({"broker_rule": "MatchingAcl", "basis_now": "ALLOW_ACL"}, False),
        ({"broker_rule": "DefaultDeny", "basis_now": "ALLOW_ACL"}, False),
    ],
)
def test_a_declaration_is_wrong_where_the_brokers_own_reason_contradicts_it(facts, is_wrong):
    from aclweb.acl.model import AuthorizerSettings
    from aclweb.pipeline.disagreement import DECLARATION, _cause

    row = {"principal": "User:a", "broker_rule": "", "basis_now": "NO_ALLOW_ACL", "day": "2026-11-20"} | facts

    assert (_cause(row, AuthorizerSettings(), None)[0] == DECLARATION) == is_wrong


def test_the_page_names_every_column_with_its_type(found, result):
    assert on_the_page("`disagreements.parquet`") == of_arrow(
        pq.read_schema(result / "disagreements.parquet")
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (None, "The history cannot be read: No such file or directory."),
        ("{}", "history.jsonl:1: The key 'from_revision' is missing;"),
        (
            json.dumps(
                KEPT.as_dict() | {"from_revision": "1", "from_at": FIRST, "to_revision": None, "to_at": None}
            ),
            "history.jsonl:1: The revision is '1'; write a whole number.",
        ),
        (
            json.dumps(
                KEPT.as_dict() | {"from_revision": 1, "from_at": "soon", "to_revision": None, "to_at": None}
            ),
            "history.jsonl:1: The time is 'soon'; write it as 2026-11-20T12:00:00+00:00.",
        ),
    ],
)
def test_a_bad_history_is_refused_with_a_sentence(tmp_path, line, told):
    path = tmp_path / "history.jsonl"
    if line is not None:
        path.write_text(f"{line}\n", encoding="utf-8")

    with pytest.raises(NotationError) as caught:
        read_history(path)

    assert told in str(caught.value)
