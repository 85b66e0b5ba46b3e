"""Does one bad byte, torn file or odd name cost itself only, and is it named?"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import read_through
from tests.pipeline.test_job import run

pytestmark = pytest.mark.spark

DECISION = (
    "[2026-11-20 10:00:{second:02},000] DEBUG Principal = User:u{number} is Allowed operation = READ from host = "
    "10.0.0.7 on resource = Topic:LITERAL:{name} for request = Fetch with resourceRefCount = 1 based on rule "
    "DefaultAllow (kafka.authorizer.logger)\n"
)


def decisions(count: int, name: str = "orders", start: int = 0) -> str:
    return "".join(
        DECISION.format(second=number % 60, number=start + number, name=name) for number in range(count)
    )


def job(spark: Any, snapshot_file: Path, folder: Path, *files: Path) -> dict[str, Any]:
    out = run(spark, snapshot_file, list(files), folder / "out")
    return json.loads((out / "manifest.json").read_text(encoding="utf-8"))


def state_of(manifest: dict[str, Any], file: Path) -> dict[str, Any]:
    return next(entry for entry in manifest["files"] if entry["path"] == str(file))


def test_a_foreign_line_costs_no_decision(spark, snapshot_file, tmp_path):
    """The rule in container logs: ten decisions, each followed by a warning of the JVM or a stack trace."""
    foreign = [
        "java.io.IOException: gone",
        "\tat kafka.Foo.bar(Foo.java:7)",
        "[0.123s][info][gc] pause",
        "  ",
    ]
    lines = decisions(11).splitlines(keepends=True)
    mixed = "".join(line + foreign[place % 4] + "\n" for place, line in enumerate(lines))
    (tmp_path / "a.log").write_text(mixed)

    lines = job(spark, snapshot_file, tmp_path, tmp_path / "a.log")["lines"]

    assert lines["decisions"] == 11


def test_a_byte_that_is_not_utf8_costs_nothing_and_is_counted_and_shown(spark, snapshot_file, tmp_path):
    latin = decisions(1, "caf\N{LATIN SMALL LETTER E WITH ACUTE}", 7).encode("latin-1")
    parted = decisions(1, "two\nlines \N{LATIN SMALL LETTER E WITH ACUTE}", 8).encode("latin-1")
    cut = "\N{EURO SIGN}".encode()[:2]
    (tmp_path / "a.log").write_bytes(decisions(2).encode() + latin + parted + decisions(2).encode() + cut)
    (tmp_path / "b.log").write_text(decisions(3))

    manifest = job(spark, snapshot_file, tmp_path, tmp_path / "a.log", tmp_path / "b.log")

    assert manifest["lines"]["decisions"] == 9
    assert manifest["lines"]["not_utf8"] == 3
    assert state_of(manifest, tmp_path / "a.log")["not_utf8"] == 3
    assert "\ufffd" in manifest["not_utf8_sample"]
    names = pq.read_table(tmp_path / "out" / "requests.parquet")["resource_name"].to_pylist()
    assert {"caf\ufffd", "two\nlines \ufffd"} < set(names)


def test_a_bad_file_costs_itself_and_is_named_with_its_state(spark, snapshot_file, tmp_path):
    whole = gzip.compress(decisions(20_000).encode())
    torn, named, packed, gone, good = (
        tmp_path / name for name in ("torn.gz", "plain.gz", "packed.log", "gone.log", "good.log")
    )
    torn.write_bytes(whole[: len(whole) // 2])
    named.write_text(decisions(3))
    packed.write_bytes(gzip.compress(decisions(4).encode()))
    good.write_text(decisions(5, start=90_000))

    manifest = job(spark, snapshot_file, tmp_path, torn, named, packed, gone, good)

    assert state_of(manifest, good) | {"state": "read", "decisions": 5} == state_of(manifest, good)
    assert state_of(manifest, torn)["state"] == "truncated"
    assert state_of(manifest, torn)["at_byte"] == len(whole) // 2
    assert 5_000 < state_of(manifest, torn)["decisions"] < 15_000
    assert state_of(manifest, torn)["unparsed"] <= 1
    assert state_of(manifest, named)["state"] == "not a gzip file"
    assert state_of(manifest, packed)["state"] == "refused"
    assert state_of(manifest, gone)["state"] == "gone"
    assert all(entry["reason"].endswith(".") for entry in manifest["files"] if entry["state"] != "read")


def test_a_file_that_vanishes_while_files_are_listed_costs_itself_only(
    spark, snapshot_file, tmp_path, monkeypatch
):
    from aclweb.pipeline import sources
    from aclweb.pipeline.files import look

    (tmp_path / "a.log").write_text(decisions(2))
    (tmp_path / "b.log").write_text(decisions(3))

    def looked_too_early(file):
        found = look(file)
        Path(file).unlink() if file.endswith("a.log") else None
        return found

    monkeypatch.setattr(sources, "look", looked_too_early)

    manifest = job(spark, snapshot_file, tmp_path, tmp_path / "a.log", tmp_path / "b.log")

    assert state_of(manifest, tmp_path / "a.log")["state"] == "gone"
    assert manifest["lines"]["decisions"] == 3


def test_where_no_file_can_be_read_the_job_fails_with_the_reason(spark, snapshot_file, tmp_path):
    (tmp_path / "plain.gz").write_text(decisions(3))

    with pytest.raises(JobError, match=r"plain\.gz: not a gzip file"):
        job(spark, snapshot_file, tmp_path, tmp_path / "plain.gz")

    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_may_have_any_name(spark, snapshot_file, tmp_path, compressed):
    names = [
        "a[1].log",
        "{x}.log",
        "st*r?.log",
        "100%41 of it.log",
        "back\\slash,comma.log",
        "hash#tag;p=1.log",
    ]
    files = [tmp_path / (name + ".gz" * compressed) for name in names]
    for number, file in enumerate(files):
        data = decisions(number + 1, start=10 * number).encode()
        file.write_bytes(gzip.compress(data) if compressed else data)
    (tmp_path / "star.log").write_text(decisions(50))

    manifest = job(spark, snapshot_file, tmp_path, *files)

    assert {entry["path"]: entry["decisions"] for entry in manifest["files"]} == {
        str(file): number + 1 for number, file in enumerate(files)
    }


def test_a_time_that_no_clock_shows_costs_its_own_record_only(spark, snapshot_file, tmp_path):
    good = decisions(1)
    bad = [good.replace("10:00:00", "25:61:00"), good.replace("2026-11-20", "2026-02-30")]
    (tmp_path / "a.log").write_text(
        "".join([good, bad[0], good, bad[1], good]) + good.replace("2026", "0000")
    )

    manifest = job(spark, snapshot_file, tmp_path, tmp_path / "a.log")

    assert (manifest["lines"]["decisions"], manifest["lines"]["unparsed"]) == (3, 3)
    assert manifest["coverage"]["first_at"] == "2026-11-20 10:00:00.000"


def test_a_clock_that_was_never_set_is_in_no_span(spark, snapshot_file, tmp_path):
    good = decisions(1)
    (tmp_path / "a.log").write_text(good + good.replace("2026", "1970") + good.replace("2026", "9999"))

    manifest = job(spark, snapshot_file, tmp_path, tmp_path / "a.log")

    assert manifest["lines"]["decisions"] == 3
    assert manifest["coverage"]["first_at"] == manifest["coverage"]["last_at"] == "2026-11-20 10:00:00.000"


def test_a_second_run_in_one_session_sees_what_changed(spark, snapshot_file, tmp_path):
    log = tmp_path / "a.log"
    log.write_text(decisions(3) + "[foreign\n")
    kept = spark.sparkContext._jsc.getPersistentRDDs().size()
    before = job(spark, snapshot_file, tmp_path, log)["lines"]["decisions"]

    log.write_text(decisions(3) + decisions(4, "other"))
    after = job(spark, snapshot_file, tmp_path, log)["lines"]["decisions"]

    assert (before, after) == (3, 7)
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == kept


def test_the_coverage_names_broker_and_hours(spark, snapshot_file, tmp_path):
    for broker in ("b1", "b2"):
        (tmp_path / broker).mkdir()
    permit = decisions(1)
    refusal = (
        permit.replace("Allowed", "Denied").replace("DEBUG", "INFO").replace("DefaultAllow", "DefaultDeny")
    )
    (tmp_path / "b1" / "a.log").write_text(permit + refusal.replace("10:00:00", "23:59:59"))
    (tmp_path / "b1" / "a.log.2026-11-19.gz").write_bytes(
        gzip.compress(permit.replace("-20 10", "-19 00").encode())
    )
    (tmp_path / "b2" / "a.log").write_text(refusal)

    files = [tmp_path / "b1" / "a.log", tmp_path / "b1" / "a.log.2026-11-19.gz", tmp_path / "b2" / "a.log"]
    manifest = job(spark, snapshot_file, tmp_path, *files)

    rows = pq.read_table(tmp_path / "out" / "coverage.parquet").to_pylist()
    shown = ("broker", "day", "lines", "permits", "hours", "permit_hours")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("b1/a.log", "2026-11-19", 1, 1, [0], [0]),
        ("b1/a.log", "2026-11-20", 2, 1, [10, 23], [10]),
        ("b2/a.log", "2026-11-20", 1, 0, [10], []),
    ]
    assert manifest["rows"]["coverage"] == 3
    assert [(entry["name"], entry["broker"]) for entry in manifest["files"]] == [
        ("b1/a.log", "b1/a.log"),
        ("a.log.2026-11-19.gz", "b1/a.log"),
        ("b2/a.log", "b2/a.log"),
    ]


def test_what_stands_behind_the_damage_of_a_file_is_not_guessed(tmp_path):
    whole = bytearray(gzip.compress(decisions(20_000).encode()) + gzip.compress(decisions(3).encode()))
    (tmp_path / "whole.gz").write_bytes(bytes(whole))
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "damaged.gz").write_bytes(bytes(whole))

    assert read_through(str(tmp_path / "whole.gz")).state == "read"
    assert read_through(str(tmp_path / "damaged.gz")).state == "truncated"
