"""Is the access table the old one or the new one, whatever happens while it changes?"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from aclweb.pipeline.storage import Folder, LocalFolder, folder_at
from aclweb.pipeline.table import Table, TableError, Window, changing, failpoints, versions
from aclweb.pipeline.table.parts import ACCESS, BY_DAY, check_content
from aclweb.pipeline.table.reading import folder_of
from aclweb.pipeline.table.versions import latest, name_of, numbers
from tests.pipeline.table_changes import CLUSTER, DAYS, change

ROOT = Path(__file__).resolve().parents[2]
FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"
KILLS = 300 if FULL else 30
# By one change: "written" for three sets of data, "part" for five parts, and each of the other points once.
POINTS_PASSED = 3 + 5 + len(failpoints.POINTS) - 2


@dataclass(frozen=True)
class Place:
    """A table: by its address, its cluster's folder, and where that folder's files really are."""

    table: Folder
    folder: Folder
    path: Path

    def file(self, number: int) -> Path:
        return self.path / name_of(number)


def lines_in(found: Table) -> dict[str, int]:
    """Return the decisions that the rows of each day add up to."""
    lines = {}
    for day in DAYS:
        with found.folder.copies([part.name for part in found.parts(ACCESS, Window(day, day))]) as files:
            lines[day] = sum(sum(pq.ParquetFile(file).read()["lines"].to_pylist()) for file in files)
    return lines


def assert_is_whole(table: Folder) -> int:
    """Return how many changes the table has; rows, coverage, totals and offsets are all of these."""
    found = Table.open(table, CLUSTER)
    check_content(found.folder, found.version.all_parts())
    offset = found.version.sources[0]["offset"]
    assert lines_in(found) == dict.fromkeys(DAYS, offset)
    assert {name: day.decisions for name, day in found.version.days.items()} == dict.fromkeys(DAYS, offset)
    assert sum(row["decisions"] for row in found.coverage(Window())) == len(DAYS) * offset
    return offset


@pytest.fixture(scope="session")
def of_ten(tmp_path_factory) -> Path:
    """The folder of a table of ten changes, so that days have been folded."""
    table = tmp_path_factory.mktemp("of-ten")
    folder = folder_of(table, CLUSTER)
    for _ in range(10):
        change(folder, latest(folder))
    return table


def copied(of_ten: Path, table: Folder, path: Path) -> Place:
    shutil.copytree(of_ten, path)
    folder = folder_of(table, CLUSTER)
    return Place(table, folder, path / f"cluster={CLUSTER}")


@pytest.fixture
def here(of_ten, tmp_path) -> Place:
    return copied(of_ten, LocalFolder(tmp_path / "table"), tmp_path / "table")


@pytest.fixture
def there(of_ten, spark, elsewhere, tmp_path) -> Place:
    address, path = elsewhere
    return copied(of_ten, folder_at(f"{address}/{tmp_path.name}", spark), path / tmp_path.name)


@pytest.fixture(params=["here", pytest.param("there", marks=pytest.mark.spark)])
def place(request) -> Place:
    """A table on this machine, and the same on a file system that Spark alone reaches."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def dying(here) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.pipeline.table_changes", str(here.path)]
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


def test_a_process_killed_at_any_moment_leaves_the_old_or_the_new_table(here, dying):
    randomly = random.Random(14)
    moments = [*range(1, POINTS_PASSED + 1)]
    moments += [randomly.randint(1, POINTS_PASSED) for _ in range(KILLS - POINTS_PASSED)]
    there, kept = 10, 0

    for moment in moments:
        status = changed(dying, moment)

        assert os.WTERMSIG(status) == signal.SIGKILL, moment
        now = assert_is_whole(here.table)
        assert now in (there, there + 1), moment
        kept += now == there
        there = now

    assert changed(dying) == 0
    assert assert_is_whole(here.table) == there + 1
    assert 0 < kept < KILLS


def test_what_killed_processes_left_is_removed_by_the_next_change(here, dying):
    for moment in range(1, POINTS_PASSED - 1):
        changed(dying, moment)
    assert list(here.path.glob(".unfinished-*"))

    for _ in range(changing.KEPT_VERSIONS):
        assert changed(dying) == 0

    named = set().union(*(versions.names_in(here.folder, number) for number in numbers(here.folder)))
    assert not list(here.path.glob(".unfinished-*"))
    assert not list((here.path / "versions").glob(".*"))
    assert {file.relative_to(here.path).as_posix() for file in here.path.rglob("*.parquet")} == named
    assert len(numbers(here.folder)) == changing.KEPT_VERSIONS
    assert_is_whole(here.table)


class DeadError(BaseException):
    """What nobody catches: the process does nothing more."""


class Mortal:
    """A file system of Hadoop that does nothing more once its process is dead."""

    def __init__(self, system: object, dead: list[str]) -> None:
        self.system, self.dead = system, dead

    def __getattr__(self, name: str) -> object:
        if self.dead:
            raise DeadError
        return getattr(self.system, name)


@pytest.mark.spark
def test_a_crash_between_any_two_steps_elsewhere_leaves_the_old_or_the_new_table(there, monkeypatch):
    was = 10
    for point in failpoints.POINTS:
        dead: list[str] = []

        def hit(name: str, dead=dead, point=point) -> None:
            if name == point:
                dead.append(name)
                raise DeadError

        mortal = replace(there.folder, system=Mortal(there.folder.system, dead))
        with monkeypatch.context() as patch:
            patch.setattr(failpoints, "hit", hit)
            with pytest.raises(DeadError):
                change(mortal, latest(mortal))

        now = assert_is_whole(there.table)
        assert now == was + (point in ("committed", "swept")), point
        was = now

    assert list(there.path.glob(".unfinished-*"))
    monkeypatch.setattr(changing, "KEPT_SECONDS", 0.0)
    monkeypatch.setattr(changing, "SWEPT_AFTER_SECONDS", -60.0)
    change(there.folder, latest(there.folder))
    named = set().union(*(versions.names_in(there.folder, number) for number in numbers(there.folder)))
    assert not list(there.path.glob(".unfinished-*"))
    assert not [file for file in (there.path / "versions").glob(".*") if file.suffix != ".crc"]
    assert {file.relative_to(there.path).as_posix() for file in there.path.rglob("*.parquet")} == named
    assert len(numbers(there.folder)) == changing.KEPT_VERSIONS
    assert assert_is_whole(there.table) == was + 1


def test_a_reader_finds_its_parts_for_an_hour_of_many_changes(here, monkeypatch):
    monkeypatch.setattr(changing, "SWEPT_AFTER_SECONDS", 0.0)
    reader = Table.open(here.table, CLUSTER)
    mine = list(reader.version.all_parts())

    for _ in range(2 * changing.KEPT_VERSIONS):
        change(here.folder, latest(here.folder))
    check_content(here.folder, mine)

    monkeypatch.setattr(changing, "KEPT_SECONDS", 0.0)
    change(here.folder, latest(here.folder))
    assert len(numbers(here.folder)) == changing.KEPT_VERSIONS
    with pytest.raises(TableError):
        check_content(here.folder, mine)


def test_many_versions_are_not_all_read_at_each_change(here, monkeypatch):
    reads: list[int] = []
    names_in = changing.names_in
    monkeypatch.setattr(changing, "names_in", lambda *where: reads.append(1) or names_in(*where))

    for _ in range(changing.KEPT_VERSIONS):
        change(here.folder, latest(here.folder))

    assert len(numbers(here.folder)) == 2 * changing.KEPT_VERSIONS
    assert not reads, "no version could go"


def test_of_two_writers_one_wins_and_the_other_says_so(place):
    base = latest(place.folder)
    change(place.folder, base)

    with pytest.raises(TableError, match="Another process changed the access table of eu meanwhile"):
        change(place.folder, base)

    assert assert_is_whole(place.table) == 11


@pytest.mark.parametrize("point", ["written", "part", "parts", "version-written"])
def test_a_full_disk_leaves_the_table_as_it_was(here, monkeypatch, point):
    def hit(name: str) -> None:
        if name == point:
            raise OSError(errno.ENOSPC, "No space left on device", "/data")

    before = here.file(10).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "hit", hit)
        with pytest.raises(OSError, match="No space left"):
            change(here.folder, latest(here.folder))

    assert here.file(10).read_bytes() == before
    assert max(numbers(here.folder)) == 10
    assert not list(here.path.glob(".unfinished-*"))
    assert assert_is_whole(here.table) == 10


@pytest.mark.parametrize("left", [0, 1, 100, -2])
def test_a_version_that_was_cut_short_is_passed_over(here, left):
    whole = here.file(10).read_bytes()
    here.file(10).write_bytes(whole[:left])

    assert latest(here.folder).number == 9


def test_a_version_that_was_cut_short_is_named(place):
    place.file(10).write_bytes(place.file(10).read_bytes()[:100])

    assert latest(place.folder).number == 9
    assert latest(place.folder).damaged == (
        f"{place.folder}/{name_of(10)} is damaged; the version before it is used.",
    )
    assert assert_is_whole(place.table) == 9
    assert change(place.folder, latest(place.folder)).number == 11
    assert assert_is_whole(place.table) == 10


def test_a_version_with_one_other_character_is_not_whole(here):
    text = here.file(10).read_text()
    here.file(10).write_text(text.replace('"decisions": 10', '"decisions": 11', 1))

    assert latest(here.folder).number == 9


def test_a_table_without_any_whole_version_is_refused(here):
    for number in numbers(here.folder):
        here.file(number).write_text("{")

    with pytest.raises(TableError, match=r"No version in .* is whole; put the folder back"):
        latest(here.folder)


def test_a_missing_or_cut_part_is_named(place):
    table = Table.open(place.table, CLUSTER)
    part = place.path / table.parts(ACCESS, Window())[0].name

    whole = part.read_bytes()
    part.write_bytes(whole[:-1])
    with pytest.raises(TableError, match=f"{part.name} has {len(whole) - 1:,} bytes and was written with"):
        Table.open(place.table, CLUSTER)
    part.unlink()
    with pytest.raises(TableError, match=f"{part.name} is missing, a part of the access table"):
        Table.open(place.table, CLUSTER)


def test_a_part_with_another_byte_is_found_where_contents_are_checked(place):
    table = Table.open(place.table, CLUSTER)
    part = place.path / table.parts(ACCESS, Window())[0].name
    content = bytearray(part.read_bytes())
    content[20] ^= 1
    part.write_bytes(content)

    check_content(place.folder, table.version.samples)
    with pytest.raises(TableError, match=f"{part.name} holds other bytes than were written"):
        check_content(place.folder, table.version.all_parts())


def test_a_newer_format_is_refused_and_an_older_one_is_read(here):
    body = json.loads(here.file(10).read_text())
    body["format"] = versions.FORMAT + 1
    here.file(10).write_text(json.dumps(body))

    with pytest.raises(TableError, match=r"has the format 3, and this aclweb reads up to 2; use the newer"):
        Table.open(here.table, CLUSTER)

    # An earlier version knew no problems, and fewer sets of data.
    del body["problems"], body["digest"]
    body["format"] = 1
    for day in body["days"].values():
        del day["parts"]["notes"]
    body["digest"] = versions._digest_of(body)
    here.file(10).write_text(json.dumps(body))
    assert assert_is_whole(here.table) == 10


def test_rows_that_do_not_add_up_to_what_was_counted_are_never_committed(here):
    base = latest(here.folder)
    lost = changing.Written(2, 2, dict.fromkeys(BY_DAY, ()), is_folded=False)

    with pytest.raises(TableError, match="rows of 2026-11-01 add up to 10 decisions and 12 were counted"):
        changing.next_version(
            base, CLUSTER, {DAYS[0]: lost}, samples=(), sources=[], problems={}, oldest_day="2025-01-01"
        )


def test_days_before_the_oldest_one_leave_the_table(here):
    base = latest(here.folder)

    version = changing.next_version(
        base, CLUSTER, {}, samples=(), sources=[], problems={}, oldest_day=DAYS[1]
    )

    assert [*version.days] == [DAYS[1]]


def test_another_cluster_than_those_in_the_table_is_named_with_them(place):
    with pytest.raises(TableError, match="has no access table of the cluster 'us'; it has 'eu'"):
        Table.open(place.table, "us")
    with pytest.raises(TableError, match="make one with"):
        Table.open(place.table.below("nowhere"), "us")
