"""Is the access table the old one or the new one, whatever happens while it changes?"""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aclweb.pipeline.table import Table, TableError, Window, changing, failpoints, versions
from aclweb.pipeline.table.parts import ACCESS, BY_DAY, check_content
from aclweb.pipeline.table.reading import folder_of
from aclweb.pipeline.table.versions import latest, numbers, path_of
from tests.pipeline.table_changes import CLUSTER, DAYS, change

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
KILLS = 300 if FULL else 30
# By one change: "written" for three sets of data, "part" for five parts, and each of the other points once.
POINTS_PASSED = 3 + 5 + len(failpoints.POINTS) - 2


def lines_in(table: Path) -> dict[str, int]:
    """Return the decisions that the rows of each day add up to."""
    found = Table.open(table, CLUSTER)
    return {
        day: sum(
            sum(pq.ParquetFile(found.folder / part.name).read()["lines"].to_pylist())
            for part in found.parts(ACCESS, Window(day, day))
        )
        for day in DAYS
    }


def assert_is_whole(table: Path) -> int:
    """Return how many changes the table has; rows, coverage, totals and offsets are all of these."""
    found = Table.open(table, CLUSTER)
    check_content(found.folder, found.version.all_parts())
    offset = found.version.sources[0]["offset"]
    assert lines_in(table) == dict.fromkeys(DAYS, offset)
    assert {name: day.decisions for name, day in found.version.days.items()} == dict.fromkeys(DAYS, offset)
    assert sum(row["decisions"] for row in found.coverage(Window())) == len(DAYS) * offset
    return offset


@pytest.fixture
def folder(tmp_path) -> Path:
    """A table of ten changes, so that days have been folded."""
    folder = folder_of(tmp_path, CLUSTER)
    for _ in range(10):
        change(folder, latest(folder))
    return folder


@pytest.fixture
def dying(folder) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.pipeline.table_changes", str(folder)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        if process.stdin:
            process.stdin.close()


def changed(process: subprocess.Popen[str], dies_at: int = 0) -> int:
    """Return the status of a process that changes the table and dies at a point."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{dies_at}\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def test_a_process_killed_at_any_moment_leaves_the_old_or_the_new_table(folder, dying):
    randomly = random.Random(14)
    moments = [*range(1, POINTS_PASSED + 1)]
    moments += [randomly.randint(1, POINTS_PASSED) for _ in range(KILLS - POINTS_PASSED)]
    there, kept = 10, 0

    for moment in moments:
        status = changed(dying, moment)

        assert os.WTERMSIG(status) == signal.SIGKILL, moment
        now = assert_is_whole(folder.parent)
        assert now in (there, there + 1), moment
        kept += now == there
        there = now

    assert changed(dying) == 0
    assert assert_is_whole(folder.parent) == there + 1
    assert 0 < kept < KILLS


def test_what_killed_processes_left_is_removed_by_the_next_change(folder, dying):
    for moment in range(1, POINTS_PASSED - 1):
        changed(dying, moment)
    assert list(folder.glob(".unfinished-*"))

    for _ in range(changing.KEPT_VERSIONS):
        assert changed(dying) == 0

    named = set().union(*(versions.names_in(folder, number) for number in numbers(folder)))
    assert not list(folder.glob(".unfinished-*"))
    assert not list((folder / "versions").glob(".*"))
    assert {file.relative_to(folder).as_posix() for file in folder.rglob("*.parquet")} == named
    assert len(numbers(folder)) == changing.KEPT_VERSIONS
    assert_is_whole(folder.parent)


def test_a_reader_finds_its_parts_for_an_hour_of_many_changes(folder, monkeypatch):
    monkeypatch.setattr(changing, "SWEPT_AFTER_SECONDS", 0.0)
    reader = Table.open(folder.parent, CLUSTER)
    mine = list(reader.version.all_parts())

    for _ in range(2 * changing.KEPT_VERSIONS):
        change(folder, latest(folder))
    check_content(folder, mine)

    monkeypatch.setattr(changing, "KEPT_SECONDS", 0.0)
    change(folder, latest(folder))
    assert len(numbers(folder)) == changing.KEPT_VERSIONS
    with pytest.raises(TableError):
        check_content(folder, mine)


def test_many_versions_are_not_all_read_at_each_change(folder, monkeypatch):
    reads: list[int] = []
    names_in = changing.names_in
    monkeypatch.setattr(changing, "names_in", lambda *where: reads.append(1) or names_in(*where))

    for _ in range(changing.KEPT_VERSIONS):
        change(folder, latest(folder))

    assert len(numbers(folder)) == 2 * changing.KEPT_VERSIONS
    assert not reads, "no version could go"


def test_of_two_writers_one_wins_and_the_other_says_so(folder):
    base = latest(folder)
    change(folder, base)

    with pytest.raises(TableError, match="Another process changed the access table of eu meanwhile"):
        change(folder, base)

    assert assert_is_whole(folder.parent) == 11


@pytest.mark.parametrize("point", ["written", "part", "parts", "version-written"])
def test_a_full_disk_leaves_the_table_as_it_was(folder, monkeypatch, point):
    def hit(name: str) -> None:
        if name == point:
            raise OSError(errno.ENOSPC, "No space left on device", "/data")

    before = path_of(folder, 10).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "hit", hit)
        with pytest.raises(OSError, match="No space left"):
            change(folder, latest(folder))

    assert path_of(folder, 10).read_bytes() == before
    assert max(numbers(folder)) == 10
    assert not list(folder.glob(".unfinished-*"))
    assert assert_is_whole(folder.parent) == 10


@pytest.mark.parametrize("left", [0, 1, 100, -2])
def test_a_version_that_was_cut_short_is_passed_over_and_named(folder, left):
    whole = path_of(folder, 10).read_bytes()
    path_of(folder, 10).write_bytes(whole[:left])

    assert latest(folder).number == 9
    assert latest(folder).damaged == (f"{path_of(folder, 10)} is damaged; the version before it is used.",)
    assert assert_is_whole(folder.parent) == 9
    assert change(folder, latest(folder)).number == 11
    assert assert_is_whole(folder.parent) == 10


def test_a_version_with_one_other_character_is_not_whole(folder):
    text = path_of(folder, 10).read_text()
    path_of(folder, 10).write_text(text.replace('"decisions": 10', '"decisions": 11', 1))

    assert latest(folder).number == 9


def test_a_table_without_any_whole_version_is_refused(folder):
    for number in numbers(folder):
        path_of(folder, number).write_text("{")

    with pytest.raises(TableError, match=r"No version in .* is whole; put the folder back"):
        latest(folder)


def test_a_missing_or_cut_part_is_named(folder):
    table = Table.open(folder.parent, CLUSTER)
    part = folder / table.parts(ACCESS, Window())[0].name

    whole = part.read_bytes()
    part.write_bytes(whole[:-1])
    with pytest.raises(TableError, match=f"{part.name} has {len(whole) - 1:,} bytes and was written with"):
        Table.open(folder.parent, CLUSTER)
    part.unlink()
    with pytest.raises(TableError, match=f"{part.name} is missing, a part of the access table"):
        Table.open(folder.parent, CLUSTER)


def test_a_part_with_another_byte_is_found_where_contents_are_checked(folder):
    table = Table.open(folder.parent, CLUSTER)
    part = folder / table.parts(ACCESS, Window())[0].name
    content = bytearray(part.read_bytes())
    content[20] ^= 1
    part.write_bytes(content)

    check_content(folder, table.version.samples)
    with pytest.raises(TableError, match=f"{part.name} holds other bytes than were written"):
        check_content(folder, table.version.all_parts())


def test_a_newer_format_is_refused_and_an_older_one_is_read(folder):
    body = json.loads(path_of(folder, 10).read_text())
    body["format"] = versions.FORMAT + 1
    path_of(folder, 10).write_text(json.dumps(body))

    with pytest.raises(TableError, match=r"has the format 3, and this aclweb reads up to 2; use the newer"):
        Table.open(folder.parent, CLUSTER)

    # An earlier version knew no problems, and fewer sets of data.
    del body["problems"], body["digest"]
    body["format"] = 1
    for day in body["days"].values():
        del day["parts"]["notes"]
    body["digest"] = versions._digest_of(body)
    path_of(folder, 10).write_text(json.dumps(body))
    assert assert_is_whole(folder.parent) == 10


def test_rows_that_do_not_add_up_to_what_was_counted_are_never_committed(folder):
    base = latest(folder)
    lost = changing.Written(2, 2, dict.fromkeys(BY_DAY, ()), is_folded=False)

    with pytest.raises(TableError, match="rows of 2026-11-01 add up to 10 decisions and 12 were counted"):
        changing.next_version(
            base, CLUSTER, {DAYS[0]: lost}, samples=(), sources=[], problems={}, oldest_day="2025-01-01"
        )


def test_days_before_the_oldest_one_leave_the_table(folder):
    base = latest(folder)

    version = changing.next_version(
        base, CLUSTER, {}, samples=(), sources=[], problems={}, oldest_day=DAYS[1]
    )

    assert [*version.days] == [DAYS[1]]


def test_another_cluster_than_those_in_the_table_is_named_with_them(folder):
    with pytest.raises(TableError, match="has no access table of the cluster 'us'; it has 'eu'"):
        Table.open(folder.parent, "us")
    with pytest.raises(TableError, match="make one with"):
        Table.open(folder.parent / "nowhere", "us")
