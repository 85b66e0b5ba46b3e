"""Does the least-privilege job propose what the core proposes, for every principal, and prove it?"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.logged.evidence import Wanted
from aclweb.acl.logged.generalising import Choices
from aclweb.acl.logged.least_privilege import propose
from aclweb.acl.logged.proposal import Used
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.notation.files import binding_key, read_delta
from tests.builders import allow, deny
from tests.pipeline.made_logs import Line, logged, saying
from tests.pipeline.test_load_bearing import grown, snapshot_of
from tests.pipeline.test_pages import of_arrow, on_the_page

pytestmark = pytest.mark.spark

TODAY = [
    allow("User:a", "ALL", "*"),
    allow("User:a", "READ", "*", resource_type="GROUP"),
    allow("User:b", "READ", "news"),
    allow("User:idle", "READ", "orders"),
    allow("User:*", "DESCRIBE", "open"),
    deny("User:a", "READ", "secret"),
    allow("User:idle", "WRITE", "orders"),
]
YOUNG = TODAY[-1]
LINES = [
    Line("User:a", "READ", "orders", lines=4),
    Line("User:a", "READ", "orders", lines=3, days_ago=2),
    Line("User:a", "DESCRIBE", "orders", lines=2),
    Line("User:a", "READ", "secret", allowed=False, lines=5),
    Line("User:a", "READ", "app-one", kind="GROUP"),
    Line("User:a", "READ", "app-two", kind="GROUP"),
    Line("User:b", "READ", "news", lines=6),
    # It was allowed then; the snapshot denies it.
    Line("User:b", "WRITE", "news", lines=2),
    # It was denied then; the snapshot allows it, so the proposal must allow it too.
    Line("User:b", "DESCRIBE", "news", allowed=False, lines=3),
    Line("User:a", "WRITE", "late", allowed=False),
    Line("User:unknown", "DESCRIBE", "open"),
]
WHY_KEPT = "It was added on 2026-11-10, within the 30 days, so it may be needed yet."
PRINCIPALS = ("User:a", "User:b", "User:idle")


def run(
    spark, out: Path, lines, *, days: int = 31, principals=(), choices: Choices | None = None
) -> dict[str, Any]:
    from aclweb.pipeline.job import keeping
    from aclweb.pipeline.least_privilege import STEPS, write_least_privilege

    with keeping() as keep, saying(STEPS) as step:
        return write_least_privilege(
            spark,
            snapshot_of(TODAY),
            logged(spark, lines),
            out,
            keep,
            choices=Choices(),
            wanted=Wanted(),
            principals=principals,
            history=grown(TODAY, {YOUNG}),
            step=step,
        )


@pytest.fixture(scope="module")
def result(spark, tmp_path_factory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("out") / "least"
    run(spark, out, LINES)
    return out, json.loads((out / "manifest.json").read_text(encoding="utf-8"))


def test_each_principal_gets_what_the_core_proposes_for_its_permits(result):
    rows = pq.read_table(result[0] / "acls.parquet").to_pylist()
    found = {
        (row["principal"], row["change"], row["binding_key"], row["lines"], row["reason"]) for row in rows
    }
    expected = set()
    for principal in PRINCIPALS:
        sums: dict[Any, int] = defaultdict(int)
        for line in LINES:
            by_now = line.name == "late" or (line.principal, line.operation) == ("User:b", "DESCRIBE")
            if line.principal == principal and (line.allowed or by_now):
                sums[line.request] += line.lines
        logged_permits = [Used(*item) for item in sums.items()]
        answer = propose(
            principal, logged_permits, AclIndex(TODAY), AuthorizerSettings(), keep={YOUNG: WHY_KEPT}
        )
        for held in answer.today:
            change = "keep" if held.stays else "remove"
            expected.add((principal, change, binding_key(held.binding), held.lines, held.reason))
        for each in answer:
            if each.is_new:
                expected.add((principal, "add", binding_key(each.binding), each.lines, each.reason))

    assert found == expected
    assert {row["change"] for row in rows} == {"add", "remove", "keep"}


def test_the_edit_is_a_file_that_whatif_reads_and_replay_proves(result):
    out, manifest = result
    delta = read_delta((out / "delta.jsonl").read_text(encoding="utf-8"), source="delta.jsonl")

    assert set(delta.remove) == {TODAY[0], TODAY[1], TODAY[3]}
    assert set(delta.add) == {
        allow("User:a", "READ", "orders"),
        allow("User:a", "WRITE", "late"),
        allow("User:a", "READ", "app-", resource_type="GROUP", pattern="PREFIXED"),
    }
    assert (manifest["replay"]["denied"], manifest["replay"]["allowed"]) == (0, 0)
    assert manifest["replay"]["unchanged"] == sum(line.lines for line in LINES)


def test_an_acl_that_was_added_lately_stays_though_nothing_used_it(result):
    rows = pq.read_table(result[0] / "acls.parquet").to_pylist()
    kept = [row for row in rows if row["reason"] == WHY_KEPT]

    assert [(row["binding_key"], row["change"]) for row in kept] == [(binding_key(YOUNG), "keep")]


def test_the_summary_warns_where_the_ages_of_removed_acls_are_unknown(result):
    from aclweb.pipeline.least_privilege import summary

    known = result[1]
    unknown = known | {"ages_known": False}
    warning = (
        "The ages of ACLs are not known: one that was added lately may be among those to remove; "
        "give --history."
    )

    assert (known["ages_known"], known["ages_unknown"]) == (True, 0)
    assert warning not in summary(known)
    assert warning in summary(unknown)
    assert warning not in summary(unknown | {"delta": {"add": 0, "remove": 0}})


def test_the_sums_by_principal_say_what_is_covered_and_which_rights_go(result):
    out, manifest = result
    rows = {row["principal"]: row for row in pq.read_table(out / "principals.parquet").to_pylist()}

    assert [(rows[name]["logged"], rows[name]["covered"]) for name in PRINCIPALS] == [
        (12, 12),
        (11, 9),
        (0, 0),
    ]
    assert (rows["User:idle"]["rights"], rows["User:idle"]["rights_removed"]) == (2, 1)
    assert rows["User:a"]["rights_removed"] == rows["User:a"]["rights"] - 1
    assert (manifest["covered"]["lines"], manifest["covered"]["covered"]) == (23, 21)


def test_a_principal_that_no_acl_names_is_refused_with_a_sentence(spark, tmp_path):
    from aclweb.pipeline.files import SourceError

    with pytest.raises(SourceError) as caught:
        run(spark, tmp_path / "out", LINES, principals=["User:nobody"])

    assert str(caught.value) == (
        "No ACL of the snapshot allows anything to 'User:nobody' by name; give a principal of one, "
        "such as User:orders-api."
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("heading", "table"),
    [("`acls.parquet` of `least-privilege`", "acls"), ("`principals.parquet`", "principals")],
)
def test_the_page_names_every_column_with_its_type(result, heading, table):
    assert on_the_page(heading) == of_arrow(pq.read_schema(result[0] / f"{table}.parquet"))
