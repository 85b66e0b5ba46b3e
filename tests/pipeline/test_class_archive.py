"""Is the archive of Spark's classes made once, used afterwards, and no harm where it cannot be?"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from aclweb.pipeline import class_archive
from aclweb.pipeline.class_archive import archive_of, made, to_make, to_use

JAVA = Path("/usr/bin/java")


@pytest.fixture
def archive(tmp_path) -> Path:
    return archive_of(tmp_path / "cache", JAVA)


def unfinished_of(archive: Path) -> Path:
    (option,) = (option for option in to_make(archive) if "ArchiveClassesAtExit" in option)
    return Path(option.partition("=")[2])


def test_a_jvm_that_ended_well_leaves_the_archive_for_the_next(archive):
    assert to_use(archive) == ()
    unfinished_of(archive).write_bytes(b"classes")

    made(archive, ended_well=True)

    assert archive.read_bytes() == b"classes"
    assert f"-XX:SharedArchiveFile={archive}" in to_use(archive)
    assert to_make(archive) == ()
    assert list(archive.parent.iterdir()) == [archive]


def test_what_a_killed_jvm_left_is_used_by_nobody_and_made_again(archive):
    unfinished_of(archive).write_bytes(b"half")

    made(archive, ended_well=False)

    assert to_use(archive) == ()
    assert not list(archive.parent.iterdir())
    assert to_make(archive)


def test_a_java_that_makes_none_is_asked_once(archive):
    assert to_make(archive)

    made(archive, ended_well=True)

    assert (to_use(archive), to_make(archive)) == ((), ())


def test_a_cache_that_cannot_be_written_costs_only_the_archive(tmp_path):
    (tmp_path / "cache").write_text("a file where a folder would be")

    archive = archive_of(tmp_path / "cache", JAVA)

    assert (to_use(archive), to_make(archive)) == ((), ())
    made(archive, ended_well=True)


def test_what_killed_processes_left_goes_after_an_hour(archive):
    archive.parent.mkdir(parents=True)
    old, new = archive.with_name("a.1.unfinished"), archive.with_name("a.2.unfinished")
    for left in (old, new):
        left.write_bytes(b"half")
    past = time.time() - class_archive._ABANDONED_SECONDS - 60
    os.utime(old, (past, past))

    assert to_make(archive)

    assert (old.exists(), new.exists()) == (False, True)


def test_archives_that_were_not_used_for_the_longest_go_when_another_is_made(archive):
    archive.parent.mkdir(parents=True)
    others = [archive.with_name(f"{number}.jsa") for number in range(5)]
    for age, other in enumerate(others):
        other.write_bytes(b"classes")
        os.utime(other, (1_000_000 - age, 1_000_000 - age))
    assert to_use(others[4])
    unfinished_of(archive).write_bytes(b"classes")

    made(archive, ended_well=True)

    assert set(archive.parent.iterdir()) == {archive, others[4], others[0], others[1]}


def test_another_java_has_another_archive(tmp_path):
    java = tmp_path / "java"
    java.write_text("one")
    first = archive_of(tmp_path, java)
    os.utime(java, (1, 1))

    assert archive_of(tmp_path, java) != first
    assert archive_of(tmp_path, tmp_path / "other") != first
