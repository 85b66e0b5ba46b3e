"""Does a job that reads the logs themselves take what is known of each: its broker, its zone, its layout?"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aclweb.pipeline.__main__ import main
from tests.pipeline.samples import BINDINGS
from tests.pipeline.test_access import run_main
from tests.pipeline.test_files import decisions
from tests.pipeline.usage_job import manifest_of

ADDED = {**BINDINGS[0].as_dict(), "principal": "User:nobody-yet", "op": "add"}


@pytest.fixture
def sources(tmp_path) -> Path:
    """A file of sources: logs in two zones, of which one is read with a pattern, and its own name."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a" / "x.log").write_text(decisions(2, "one"))
    (tmp_path / "b" / "x.log").write_text(decisions(3, "two").replace("[", "").replace("] DEBUG", " DEBUG"))
    address, pattern = f"file://{tmp_path}/b/*.log", "%d %p %m (%c)%n"
    given = [
        {"path": str(tmp_path / "a"), "broker": "berlin", "time_zone": "Europe/Berlin"},
        {"path": address, "broker": "tokyo", "time_zone": "Asia/Tokyo", "pattern": pattern},
    ]
    (tmp_path / "sources.json").write_text(json.dumps(given))
    return tmp_path / "sources.json"


@pytest.mark.thorough(
    instead="tests/pipeline/test_layouts.py::test_each_file_is_counted_as_the_core_reads_it_and_its_layout_is_named"
)
@pytest.mark.spark
def test_usage_reads_each_log_as_its_source_says(spark, snapshot_file, sources, tmp_path):
    run_main(spark, "usage", "--snapshot", snapshot_file, "--source", sources, "--out", tmp_path / "out")

    coverage = pq.read_table(tmp_path / "out" / "coverage.parquet").to_pylist()
    rows = pq.read_table(tmp_path / "out" / "requests.parquet").to_pylist()
    manifest = manifest_of(tmp_path / "out")
    assert [(row["broker"], row["hours"], row["lines"]) for row in coverage] == [
        ("berlin", [9], 2),
        ("tokyo", [1], 3),
    ]
    assert min(row["first_at"] for row in rows if row["resource_name"] == "two") == datetime(2026, 11, 20, 1)
    assert [(file["broker"], file["unparsed"]) for file in manifest["files"]] == [("berlin", 0), ("tokyo", 0)]


@pytest.mark.spark
def test_replay_takes_sources_and_a_name_for_a_broker_wins(spark, snapshot_file, sources, tmp_path):
    (tmp_path / "delta.jsonl").write_text(json.dumps(ADDED) + "\n")
    (tmp_path / "brokers.json").write_text(
        json.dumps([{"broker": "kafka-1", "path": str(tmp_path / "a" / "x.log")}])
    )
    words = ("--snapshot", snapshot_file, "--source", sources, "--delta", tmp_path / "delta.jsonl")

    run_main(spark, "replay", *words, "--brokers", tmp_path / "brokers.json", "--out", tmp_path / "out")

    manifest = manifest_of(tmp_path / "out")
    assert [file["broker"] for file in manifest["files"]] == ["kafka-1", "tokyo"]
    assert manifest["lines"]["decisions"] == 5


@pytest.mark.parametrize(
    "words, told",
    [
        (["--layout", "ecs"], "--source names the zone and the layout of each log; leave out"),
        (["--from", "2026-11-20"], "--from and --to choose days of an access table"),
        ([], "sources.json: The list of sources cannot be read"),
    ],
)
def test_what_does_not_go_with_a_file_of_sources_is_a_sentence(
    snapshot_file, tmp_path, capsys, monkeypatch, words, told
):
    monkeypatch.chdir(tmp_path)
    given = ["--snapshot", str(snapshot_file), "--source", "sources.json", "--out", "out"]

    assert main(["usage", *given, *words]) == 2

    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
