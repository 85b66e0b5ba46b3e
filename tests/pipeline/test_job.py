"""Does the whole usage job find what a plain count with the core finds, on what real brokers wrote?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aclweb.acl.notation.files import binding_key
from aclweb.pipeline import results
from aclweb.pipeline.__main__ import main
from aclweb.pipeline.results import ResultError, new_result
from tests.pipeline import plain
from tests.pipeline.samples import BINDINGS, ODD_LOG
from tests.pipeline.usage_job import manifest_of, run


@pytest.fixture(scope="module")
def expected(counted_plainly) -> plain.Counted:
    return counted_plainly


@pytest.mark.spark
def test_every_record_is_counted_as_a_plain_count_has_it(usage, expected):
    lines = manifest_of(usage)["lines"]

    assert lines["read"] == expected.read
    assert lines["decisions"] == expected.decisions > 400
    assert lines["probes"] == expected.probes > 0
    assert lines["other"] == expected.other.total() > 0
    assert lines["unparsed"] == expected.unparsed.total() > 0


@pytest.mark.spark
def test_records_that_were_not_understood_are_counted_by_reason_and_shown(usage, expected):
    manifest = manifest_of(usage)

    assert {entry["reason"]: entry["lines"] for entry in manifest["unparsed"]} == dict(expected.unparsed)
    assert {entry["reason"]: entry["lines"] for entry in manifest["other"]} == dict(expected.other)
    assert all(entry["sample"] for entry in manifest["unparsed"])
    assert pq.read_table(usage / "unparsed.parquet").to_pylist() == manifest["unparsed"]


@pytest.mark.spark
def test_each_request_is_found_as_often_and_when_a_plain_count_has_it(usage, expected):
    rows = pq.read_table(usage / "requests.parquet").to_pylist()
    key = ("principal", "host", "operation", "resource_type", "resource_name", "allowed")

    found = {tuple(row[name] for name in key): row for row in rows}
    assert {asked: row["lines"] for asked, row in found.items()} == dict(expected.requests)
    for asked, times in expected.times.items():
        assert found[asked]["first_at"] == min(map(plain.moment, times)), asked
        assert found[asked]["last_at"] == max(map(plain.moment, times)), asked
        assert sum(entry["lines"] for entry in found[asked]["days"]) == len(times)


@pytest.mark.spark
def test_names_with_line_breaks_are_put_together_again(usage):
    names = pq.read_table(usage / "requests.parquet")["resource_name"].to_pylist()

    assert "two\nlines" in names
    assert "two\r\nlines" in names
    assert "a\n[b" in names


@pytest.mark.spark
def test_each_acl_was_used_as_often_as_a_plain_count_has_it(usage, expected):
    rows = pq.read_table(usage / "usage.parquet").to_pylist()

    found = {row["binding_key"]: [row["requests"], row["alone"], row["named"]] for row in rows}
    assert found == dict(expected.usage)
    assert binding_key(BINDINGS[-1]) not in found
    assert sum(use[0] for use in found.values()) > 50
    assert sum(use[2] for use in found.values()) > 20


@pytest.mark.spark
def test_disagreements_and_what_broker_rules_say_are_those_of_a_plain_count(usage, expected):
    manifest = manifest_of(usage)

    assert manifest["disagreements"]["lines"] == expected.differing > 0
    assert manifest["declarations"]["super_users"] == dict(expected.super_users)
    assert manifest["declarations"]["default_allow"] == expected.default_allow > 0
    assert manifest["declarations"]["default_deny_uncovered"] == expected.default_deny


@pytest.mark.spark
def test_the_manifest_names_the_snapshot_the_files_and_their_spans(usage, logs):
    from aclweb.inventory.sync.differ import digest_of

    manifest = manifest_of(usage)

    assert manifest["snapshot"]["digest"] == digest_of(map(binding_key, BINDINGS))
    assert manifest["snapshot"]["revision"] == 7
    assert [file["path"] for file in manifest["files"]] == sorted(map(str, logs))
    assert {file["state"] for file in manifest["files"]} == {"read"}
    assert all(file["first_at"] <= file["last_at"] for file in manifest["files"] if file["lines"])
    assert manifest["coverage"]["permits_seen"] is True
    assert manifest["rows"]["requests"] == pq.read_table(usage / "requests.parquet").num_rows


@pytest.mark.thorough(
    instead="tests/pipeline/test_job.py::test_an_earlier_result_stays_until_the_new_one_is_whole"
)
@pytest.mark.spark
def test_running_again_replaces_the_result_by_the_same_bytes(
    spark, snapshot_file, few_logs, usage_of_few, tmp_path
):
    out = Path(shutil.copytree(usage_of_few, tmp_path / "usage"))
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    (out / "requests.parquet").write_bytes(b"of an earlier run")

    run(spark, snapshot_file, list(reversed(few_logs)), out)

    assert {file.name: file.read_bytes() for file in out.iterdir()} == before
    assert [folder.name for folder in tmp_path.iterdir()] == ["usage"]


@pytest.mark.thorough(
    instead="tests/pipeline/test_job.py::test_a_group_of_rows_is_small_in_bytes_too_wherever_the_rows_are_parted"
)
@pytest.mark.spark
def test_requests_are_written_some_at_a_time_and_never_held_at_once(
    spark, snapshot_file, logs, usage, tmp_path, monkeypatch
):
    from pyspark.sql.classic.dataframe import DataFrame

    fetched: list[list[str]] = []
    for name in ("collect", "toArrow", "toLocalIterator"):
        real = getattr(DataFrame, name)
        monkeypatch.setattr(
            DataFrame, name, lambda self, *rest, real=real: fetched.append(self.columns) or real(self, *rest)
        )
    monkeypatch.setattr(results, "_ROWS_AT_ONCE", 20)

    again = run(spark, snapshot_file, logs, tmp_path / "usage")

    file, whole = pq.ParquetFile(again / "requests.parquet"), pq.read_table(usage / "requests.parquet")
    sizes = [file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)]
    assert file.read().equals(whole)
    assert sizes[:-1] == [20] * (whole.num_rows // 20), "groups depend on where Spark parts the rows"
    assert len(sizes) >= 3
    assert ["rows"] in fetched
    assert not [columns for columns in fetched if "resource_name" in columns]


@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_a_group_of_rows_is_small_in_bytes_too_wherever_the_rows_are_parted(monkeypatch, at_once):
    monkeypatch.setattr(results, "_ROWS_AT_ONCE", 20)
    monkeypatch.setattr(results, "_GROUP_BYTES", 1_000)
    rows = pa.table({"text": ["x" * 40] * 30 + ["y" * 300] * 10 + ["z" * 5_000] + ["x"] * 21})
    parts = [rows.slice(start, at_once) for start in range(0, rows.num_rows, at_once)]

    groups = list(results._in_groups(parts, rows.schema))

    assert pa.concat_tables(groups).equals(rows)
    assert [group.num_rows for group in groups] == [20, 10, 3, 3, 3, 1, 1, 20, 1]
    assert max(group.nbytes for group in groups if group.num_rows > 1) <= 1_000


@pytest.mark.parametrize(
    "snapshot, log, told",
    [
        ("missing.jsonl", "a.log", "cannot be read"),
        ("broken.jsonl", "a.log", "broken.jsonl:3:"),
        ("glob.jsonl", "a.log", "glob.jsonl:2: pattern_type is 'GLOB'"),
        ("plain.jsonl", "a.log", "the first line is an object with the keys cluster"),
        ("good.jsonl", "no-such.log", "No log file is at"),
    ],
)
def test_bad_input_ends_with_a_sentence_and_leaves_nothing(tmp_path, capsys, snapshot, log, told):
    (tmp_path / "a.log").write_text(ODD_LOG)
    (tmp_path / "good.jsonl").write_text('{"cluster": "x"}\n')
    glob = json.dumps({**BINDINGS[0].as_dict(), "pattern_type": "GLOB"})
    (tmp_path / "glob.jsonl").write_text(f'{{"cluster": "x"}}\n{glob}\n')
    (tmp_path / "plain.jsonl").write_text(json.dumps(BINDINGS[0].as_dict()) + "\n")
    (tmp_path / "broken.jsonl").write_text(
        '{"cluster": "x"}\n' + json.dumps(BINDINGS[0].as_dict()) + '\n{"principal": "User:a"}\n'
    )

    words = ("--snapshot", tmp_path / snapshot, "--log", tmp_path / log, "--out", tmp_path / "out")
    status = main(["usage", *map(str, words)])

    assert status == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_result_appears_whole_or_not_at_all(tmp_path):
    out = tmp_path / "out"

    with pytest.raises(RuntimeError), new_result(out) as folder:
        (folder / "half").write_text("")
        assert not out.exists()
        raise RuntimeError

    assert list(tmp_path.iterdir()) == []


def test_an_earlier_result_stays_until_the_new_one_is_whole(tmp_path):
    out = tmp_path / "out"
    with new_result(out) as folder:
        (folder / "manifest.json").write_text("first")

    with pytest.raises(RuntimeError), new_result(out) as folder:
        (folder / "manifest.json").write_text("second")
        raise RuntimeError

    assert (out / "manifest.json").read_text() == "first"


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(ResultError, match="no result of an earlier job"), new_result(tmp_path):
        pass

    assert (tmp_path / "thesis.tex").exists()
