"""Does one bad byte, torn file or odd name cost itself only, and is it named?"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import read_through
from aclweb.pipeline.manifest import summary, warnings
from tests.pipeline.log_folder import packed
from tests.pipeline.usage_job import manifest_of, run

pytestmark = pytest.mark.spark

DECISION = (
    "[2026-11-20 10:00:{second:02},000] DEBUG Principal = User:u{number} is Allowed operation = READ from host = "
    "10.0.0.7 on resource = Topic:LITERAL:{name} for request = Fetch with resourceRefCount = 1 based on rule "
    "DefaultAllow (kafka.authorizer.logger)\n"
)


def decisions(count: int, name: str = "orders", start: int = 0) -> str:
    """Return so many decisions; after a thousand principals the first asks again."""
    return "".join(
        DECISION.format(second=number % 60, number=start + number % 1000, name=name)
        for number in range(count)
    )


def job(spark: Any, snapshot_file: Path, folder: Path, *files: Path) -> dict[str, Any]:
    out = run(spark, snapshot_file, list(files), folder / "out")
    return json.loads((out / "manifest.json").read_text(encoding="utf-8"))


def state_of(manifest: dict[str, Any], file: Path) -> dict[str, Any]:
    return next(entry for entry in manifest["files"] if entry["path"] == str(file))


# --- One job on many odd files, each of which is counted for itself ---

WHOLE = gzip.compress(decisions(20_000).encode())
FOREIGN = ("java.io.IOException: gone", "\tat kafka.Foo.bar(Foo.java:7)", "[0.123s][info][gc] pause", "  ")
NAMES = [
    "a[1].log",
    "{x}.log",
    "st*r?.log",
    "100%41 of it.log",
    "back\\slash,comma.log",
    "hash#tag;p=1.log",
]
LONG = 5_000_000
COPIED = decisions(5, start=95_000).encode()


def torn(name: str, start: int) -> bytes:
    """Compressed decisions that end too early."""
    whole = packed(name, decisions(20_000, start=start).encode())
    return whole[: len(whole) * 3 // 4]


def zipped(content: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("a.log", content)
    return written.getvalue()


def no_logs() -> dict[str, bytes]:
    """What lies about in folders of logs, by name: no file of it is one that can be read."""
    text = decisions(3)
    return {
        "by-windows.log": text.encode("utf-16"),
        "without-mark.log": text.encode("utf-16-le"),
        "packed-by-windows.log.gz": gzip.compress(text.encode("utf-16")),
        "heap.log": random.Random(14).randbytes(1 << 16),
        "kafka-authorizer.log.xz": lzma.compress(text.encode()),
        "renamed-xz.log": lzma.compress(text.encode()),
        "old-logs.zip": zipped(text.encode()),
        "renamed-zip.log": zipped(text.encode()),
    }


def long_lines() -> bytes:
    """Three decisions, one of them with a name of 5 MB, and a foreign line that is as long."""
    names = ("orders", "n" * LONG, "orders")
    first, second, third = (decisions(1, name, 80_000 + number) for number, name in enumerate(names))
    return f"{first}{second}{'x' * LONG}\n{third}".encode()


@pytest.fixture(scope="module")
def odd(spark, snapshot_file, tmp_path_factory) -> tuple[Path, dict[str, Any]]:
    """A folder of odd files and the manifest of a job on them."""
    folder = tmp_path_factory.mktemp("odd")
    lines = decisions(11).splitlines(keepends=True)
    latin = decisions(1, "caf\N{LATIN SMALL LETTER E WITH ACUTE}", 7).encode("latin-1")
    parted = decisions(1, "two\nlines \N{LATIN SMALL LETTER E WITH ACUTE}", 8).encode("latin-1")
    cut = "\N{EURO SIGN}".encode()[:2]
    contents = {
        "foreign.log": "".join(line + FOREIGN[place % 4] + "\n" for place, line in enumerate(lines)).encode(),
        "latin.log": decisions(2).encode() + latin + parted + decisions(2).encode() + cut,
        "torn.gz": WHOLE[: len(WHOLE) // 2],
        "torn.bz2": torn("torn.bz2", 2_000),
        "torn.zst": torn("torn.zst", 3_000),
        "plain.gz": decisions(3).encode(),
        "packed.log": gzip.compress(decisions(4).encode()),
        "good.log": decisions(5, start=90_000).encode(),
        "twice.log": COPIED,
        "again.log": COPIED,
        "again.log.2026-11-20.gz": gzip.compress(COPIED),
        "long.log": long_lines(),
        **no_logs(),
    }
    for number, name in enumerate(NAMES):
        contents[name] = decisions(number + 1, start=10 * number).encode()
        contents[f"{name}.gz"] = gzip.compress(decisions(number + 21, start=500 + 10 * number).encode())
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    # A pattern that somebody may take the names for matches these.
    (folder / "star.log").write_text(decisions(50))
    (folder / "star.log.gz").write_bytes(gzip.compress(decisions(50).encode()))
    return folder, job(
        spark, snapshot_file, folder, *(folder / name for name in contents), folder / "gone.log"
    )


def test_a_foreign_line_costs_no_decision(odd):
    """The rule in container logs: ten decisions, each followed by a warning of the JVM or a stack trace."""
    folder, manifest = odd

    assert state_of(manifest, folder / "foreign.log")["decisions"] == 11


def test_a_byte_that_is_not_utf8_costs_nothing_and_is_counted_and_shown(odd):
    folder, manifest = odd

    latin = state_of(manifest, folder / "latin.log")
    assert (latin["decisions"], latin["not_utf8"]) == (6, 3)
    assert manifest["lines"]["not_utf8"] == 3
    assert "\ufffd" in manifest["not_utf8_sample"]
    names = pq.read_table(folder / "out" / "requests.parquet")["resource_name"].to_pylist()
    assert {"caf\ufffd", "two\nlines \ufffd"} < set(names)


def test_a_bad_file_costs_itself_and_is_named_with_its_state(odd):
    folder, manifest = odd

    found = {name: state_of(manifest, folder / name) for name in ("good.log", "torn.gz", "plain.gz")}
    assert (found["good.log"]["state"], found["good.log"]["decisions"]) == ("read", 5)
    assert found["torn.gz"]["state"] == "truncated"
    assert found["torn.gz"]["at_byte"] == len(WHOLE) // 2
    assert 5_000 < found["torn.gz"]["decisions"] < 15_000
    assert found["torn.gz"]["unparsed"] <= 1
    for name in ("torn.bz2", "torn.zst"):
        entry = state_of(manifest, folder / name)
        assert (entry["state"], entry["unparsed"] <= 1) == ("truncated", True)
        assert 9_000 < entry["decisions"] < 20_000, name
    assert found["plain.gz"]["state"] == "not a gzip file"
    assert state_of(manifest, folder / "packed.log")["state"] == "refused"
    assert state_of(manifest, folder / "gone.log")["state"] == "gone"
    assert all(entry["reason"].endswith(".") for entry in manifest["files"] if entry["state"] != "read")
    assert manifest["lines"]["decisions"] == sum(entry["decisions"] for entry in manifest["files"])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        *(
            (name, "It looks like UTF-16; convert it to UTF-8")
            for name in ("by-windows.log", "without-mark.log", "packed-by-windows.log.gz")
        ),
        ("heap.log", "It holds binary data and no log; name files of logs only."),
        *(
            (name, "It is compressed in a way that is not read here; use .gz, .bz2 or .zst.")
            for name in ("kafka-authorizer.log.xz", "renamed-xz.log", "old-logs.zip", "renamed-zip.log")
        ),
    ],
)
def test_what_is_no_log_is_said_to_be_what_it_is(odd, name, told):
    folder, manifest = odd

    entry = state_of(manifest, folder / name)
    assert (entry["state"], entry["lines"]) == ("refused", 0)
    assert entry["reason"].startswith(told)
    assert f"{folder / name}: refused. {entry['reason']}" in warnings(manifest)
    assert "could not be read or understood" in manifest["unread"]


def test_lines_of_5_mb_are_read_like_short_ones(odd):
    folder, manifest = odd

    long = state_of(manifest, folder / "long.log")
    assert (long["decisions"], long["unparsed"], long["lines"]) == (3, 1, 4)
    names = pq.read_table(folder / "out" / "requests.parquet")["resource_name"].to_pylist()
    assert "n" * LONG in names


def test_a_content_that_is_there_again_is_counted_once_and_that_is_said(odd):
    folder, manifest = odd

    names = ("twice.log", "again.log", "again.log.2026-11-20.gz")
    found = {name: state_of(manifest, folder / name) for name in names}
    (first,) = (name for name, entry in found.items() if entry["state"] == "read")
    assert found[first]["decisions"] == 5
    assert first.endswith(".log")
    for name in {*names} - {first}:
        assert (found[name]["state"], found[name]["decisions"]) == ("copy", 0)
        told = f"copy. All that it holds is also in {folder / first}, and is counted once."
        assert f"{folder / name}: {told}" in warnings(manifest)


def test_acls_of_another_cluster_are_named_as_such(odd, usage):
    """The snapshot allows nothing of what the odd logs say was allowed, and most of what the real ones say."""
    _, manifest = odd
    of_others, of_these = summary(manifest), summary(manifest_of(usage))

    told = "the ACLs of 'test-eu', revision 7, may be those of another cluster than the log's."
    assert [line.endswith(told) for line in of_others].count(True) == 1
    assert manifest_of(usage)["disagreements"]["requests"] > 0
    assert not [line for line in of_these if line.endswith(told)]


@pytest.mark.parametrize(("ending", "least"), [("", 1), (".gz", 21)])
def test_a_file_may_have_any_name(odd, ending, least):
    folder, manifest = odd

    found = [state_of(manifest, folder / f"{name}{ending}")["decisions"] for name in NAMES]
    assert found == [least + number for number in range(len(NAMES))]
    assert str(folder / f"star.log{ending}") not in {entry["path"] for entry in manifest["files"]}


# --- One job on files whose times matter ---


@pytest.fixture(scope="module")
def timed(
    spark, snapshot_file, tmp_path_factory
) -> tuple[Path, dict[str, Any], dict[str, list[tuple[Any, ...]]]]:
    """The logs of brokers, their manifest, and their rows of coverage by broker."""
    folder = tmp_path_factory.mktemp("timed")
    for broker in ("b1", "b2"):
        (folder / broker).mkdir()
    good = permit = decisions(1)
    refusal = (
        permit.replace("Allowed", "Denied").replace("DEBUG", "INFO").replace("DefaultAllow", "DefaultDeny")
    )
    bad = [good.replace("10:00:00", "25:61:00"), good.replace("2026-11-20", "2026-02-30")]
    contents = {
        "b1/a.log": permit + refusal.replace("10:00:00", "23:59:59"),
        "b1/a.log.2026-11-19.gz": permit.replace("-20 10", "-19 00"),
        "b2/a.log": refusal,
        "no-time.log": "".join([good, bad[0], good, bad[1], good]) + good.replace("2026", "0000"),
        "never-set.log": good + good.replace("2026", "1970") + good.replace("2026", "9999"),
    }
    for name, text in contents.items():
        (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    manifest = job(spark, snapshot_file, folder, *(folder / name for name in contents))
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for row in pq.read_table(folder / "out" / "coverage.parquet").to_pylist():
        shown = tuple(row[name] for name in ("day", "lines", "permits", "hours", "permit_hours"))
        rows.setdefault(row["broker"], []).append(shown)
    return folder, manifest, rows


def test_a_time_that_no_clock_shows_costs_its_own_record_only(timed):
    folder, manifest, rows = timed

    found = state_of(manifest, folder / "no-time.log")
    assert (found["decisions"], found["unparsed"]) == (3, 3)
    assert rows["no-time.log"] == [("2026-11-20", 3, 3, [10], [10])]


def test_a_clock_that_was_never_set_is_in_no_span(timed):
    folder, manifest, rows = timed

    assert state_of(manifest, folder / "never-set.log")["decisions"] == 3
    assert rows["never-set.log"] == [("2026-11-20", 1, 1, [10], [10])]
    assert manifest["coverage"]["first_at"] == "2026-11-19 00:00:00.000"
    assert manifest["coverage"]["last_at"] == "2026-11-20 23:59:59.000"


def test_the_coverage_names_broker_and_hours(timed):
    _, manifest, rows = timed

    assert rows["b1/a.log"] == [("2026-11-19", 1, 1, [0], [0]), ("2026-11-20", 2, 1, [10, 23], [10])]
    assert rows["b2/a.log"] == [("2026-11-20", 1, 0, [10], [])]
    assert manifest["rows"]["coverage"] == sum(map(len, rows.values())) == 5
    assert [
        (entry["name"], entry["broker"]) for entry in manifest["files"] if "b" in entry["broker"][:1]
    ] == [
        ("b1/a.log", "b1/a.log"),
        ("a.log.2026-11-19.gz", "b1/a.log"),
        ("b2/a.log", "b2/a.log"),
    ]


# --- Jobs of their own ---


@pytest.mark.thorough(
    instead="tests/pipeline/test_files.py::test_a_bad_file_costs_itself_and_is_named_with_its_state"
)
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


def test_a_log_that_grows_while_it_is_read_loses_and_doubles_nothing(
    spark, snapshot_file, tmp_path, monkeypatch
):
    from aclweb.pipeline import sources

    log, lines = tmp_path / "a.log", decisions(6, start=70_000)
    there = lines.index("[", len(lines) // 2) + 40
    log.write_text(lines[:there])
    real = sources.lines_of_files

    def grown_meanwhile(*given, **named):
        found = real(*given, **named)
        with log.open("a") as opened:
            opened.write(lines[there:])
        return found

    monkeypatch.setattr(sources, "lines_of_files", grown_meanwhile)

    job(spark, snapshot_file, tmp_path, log)

    rows = pq.read_table(tmp_path / "out" / "requests.parquet").to_pylist()
    assert {row["lines"] for row in rows} == {1}
    found = {row["principal"] for row in rows}
    assert {f"User:u{70_000 + number}" for number in range(3)} <= found
    assert found <= {f"User:u{70_000 + number}" for number in range(6)}


def test_where_no_file_can_be_read_the_job_fails_with_the_reason(spark, snapshot_file, tmp_path):
    (tmp_path / "plain.gz").write_text(decisions(3))

    with pytest.raises(JobError, match=r"plain\.gz: not a gzip file"):
        job(spark, snapshot_file, tmp_path, tmp_path / "plain.gz")

    assert not (tmp_path / "out").exists()


@pytest.mark.thorough(
    instead="tests/pipeline/test_increments.py::test_a_file_that_grew_is_read_from_where_it_was_read_to"
)
def test_a_second_run_in_one_session_sees_what_changed(spark, snapshot_file, tmp_path):
    log = tmp_path / "a.log"
    log.write_text(decisions(3) + "[foreign\n")
    kept = spark.sparkContext._jsc.getPersistentRDDs().size()
    before = job(spark, snapshot_file, tmp_path, log)["lines"]["decisions"]

    log.write_text(decisions(3) + decisions(4, "other"))
    after = job(spark, snapshot_file, tmp_path, log)["lines"]["decisions"]

    assert (before, after) == (3, 7)
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == kept


def test_what_stands_behind_the_damage_of_a_file_is_not_guessed(tmp_path):
    whole = bytearray(gzip.compress(decisions(20_000).encode()) + gzip.compress(decisions(3).encode()))
    (tmp_path / "whole.gz").write_bytes(bytes(whole))
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "damaged.gz").write_bytes(bytes(whole))

    assert read_through(str(tmp_path / "whole.gz")).state == "read"
    assert read_through(str(tmp_path / "damaged.gz")).state == "truncated"
