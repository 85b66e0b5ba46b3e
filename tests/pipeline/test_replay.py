"""Does a replay of what real brokers wrote find what deciding each request twice finds?"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AccessRequest, Operation, ResourceType
from aclweb.acl.notation.files import write_delta
from aclweb.pipeline.__main__ import main
from aclweb.pipeline.replaying import CHANGES
from tests.builders import acl, allow, deny
from tests.pipeline.made_logs import saying
from tests.pipeline.samples import BINDINGS, RULES
from tests.pipeline.test_pages import of_arrow, on_the_page

pytestmark = pytest.mark.spark

EDIT = Delta(
    add=(
        deny("User:*", "READ", "*"),
        allow("User:*", "ALL", "*", resource_type="GROUP"),
        acl("UNKNOWN", "User:*", "WRITE", "*"),
    ),
    remove=tuple(binding for binding in BINDINGS if binding.resource_type.name == "CLUSTER"),
)


@pytest.fixture(scope="module")
def expected(counted_plainly) -> dict[tuple[Any, ...], tuple[str, int]]:
    """Return what becomes of each request, and how often it was logged."""
    before, after = AclIndex(BINDINGS), AclIndex(EDIT.applied_to(BINDINGS))
    lines: Counter[tuple[Any, ...]] = Counter()
    for (*asked, _allowed), count in counted_plainly.requests.items():
        lines[tuple(asked)] += count
    found = {}
    for words, count in lines.items():
        principal, host, operation, kind, name = words
        request = AccessRequest(principal, host, Operation[operation], ResourceType[kind], name)
        old, new = (authorize(request, index, RULES).result.name for index in (before, after))
        change = "unchanged" if old == new else "unclear" if "UNDECIDED" in (old, new) else new.lower()
        found[words] = (change, count)
    assert {change for change, _ in found.values()} == set(CHANGES)
    return found


@pytest.fixture(scope="module")
def result(spark, logs, snapshot_file, tmp_path_factory) -> Path:
    return run(spark, snapshot_file, logs, tmp_path_factory.mktemp("out"))


def run(spark, snapshot_file: Path, logs: list[Path], folder: Path) -> Path:
    from aclweb.pipeline.job import keeping, read_logs
    from aclweb.pipeline.replay import STEPS, read_edit_file, write_replay
    from aclweb.pipeline.snapshot import read_snapshot

    edit = folder / "edit.jsonl"
    edit.write_text(write_delta(EDIT), encoding="utf-8")
    out = folder / "replay"
    with keeping() as keep, saying(STEPS) as step:
        logged = read_logs(spark, [str(log) for log in logs], keep)
        delta = read_edit_file(edit)
        write_replay(spark, read_snapshot(snapshot_file), logged, out, keep, delta=delta, step=step)
    return out


def rows(result: Path, name: str) -> list[dict[str, Any]]:
    return pq.read_table(result / f"{name}.parquet").to_pylist()


def test_what_turns_is_what_deciding_twice_gives(result, expected):
    shown = {
        tuple(row[name] for name in ("principal", "host", "operation", "resource_type", "resource_name")): (
            row["change"],
            row["lines"],
        )
        for row in rows(result, "flips")
    }

    assert shown == {request: found for request, found in expected.items() if found[0] != "unchanged"}


@pytest.mark.parametrize(
    ("table", "places"), [("by_principal", (0,)), ("by_resource", (3, 4))], ids=["principal", "resource"]
)
def test_sums_by_principal_and_by_resource_are_those_of_the_requests(result, expected, table, places):
    sums: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for request, (change, count) in expected.items():
        sums[tuple(request[place] for place in places)][change] += count
    names = {"by_principal": ("principal",), "by_resource": ("resource_type", "resource_name")}[table]

    shown = {tuple(row[name] for name in names): {c: row[c] for c in CHANGES} for row in rows(result, table)}
    assert shown == {key: {c: counts[c] for c in CHANGES} for key, counts in sums.items()}


def test_the_manifest_has_the_sums_and_those_of_the_days_are_the_same(result, expected):
    manifest = json.loads((result / "manifest.json").read_text(encoding="utf-8"))
    sums: Counter[str] = Counter()
    for change, count in expected.values():
        sums[change] += count

    assert {name: manifest["replay"][name]["lines"] for name in CHANGES} == {c: sums[c] for c in CHANGES}
    by_day: Counter[str] = Counter()
    for row in rows(result, "by_day"):
        by_day.update({name: row[name] for name in CHANGES})
    assert by_day == sums
    assert manifest["lines"]["decisions"] == sums.total()
    assert (manifest["job"], manifest["delta"]["add"], manifest["delta"]["removed_already"]) == (
        "replay",
        3,
        0,
    )


@pytest.mark.parametrize(
    ("heading", "tables"),
    [("`flips.parquet`", ("flips",)), ("`by_principal.parquet`", ("by_principal", "by_resource", "by_day"))],
)
def test_the_page_names_every_column_with_its_type(result, heading, tables):
    columns: dict[str, str] = {}
    for table in tables:
        columns |= of_arrow(pq.read_schema(result / f"{table}.parquet"))

    assert on_the_page(heading) == columns


def test_each_row_shows_when_it_was_logged_and_a_record_of_it(result):
    for row in rows(result, "flips"):
        assert row["first_at"] <= row["last_at"]
        assert row["principal"].split("\n")[0][:20] in row["sample"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "The edit cannot be read: No such file or directory."),
        (b"\xff", "The edit is not UTF-8 text (byte 1)."),
        (b'{"op": "maybe"}\n', "edit.jsonl:1:"),
    ],
    ids=["no file", "no text", "no edit"],
)
def test_a_bad_edit_ends_with_a_sentence_and_writes_nothing(snapshot_file, tmp_path, capsys, text, told):
    edit, out = tmp_path / "edit.jsonl", tmp_path / "out"
    if text is not None:
        edit.write_bytes(text)
    words = ["replay", "--snapshot", snapshot_file, "--delta", edit, "--log", edit, "--out", out]

    assert main([str(word) for word in words]) == 2
    assert told in capsys.readouterr().err
    assert not out.exists()
