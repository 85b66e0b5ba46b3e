"""Which bytes of a log are counted, and when, through every change that its files go through?"""

from __future__ import annotations

import gzip
import os
import shutil
import tracemalloc
from pathlib import Path

import pytest

from aclweb.pipeline.files import SourceError
from aclweb.pipeline.increments import NotTheSameError, copy_bytes, is_still_there, look_for_new
from tests.pipeline.log_folder import NOW, Reader, decision, decisions, packed

HOUR = 60 * 60 * 1_000_000_000


@pytest.fixture
def log(tmp_path) -> Path:
    """The log of a broker that is written now."""
    (tmp_path / "broker-1").mkdir()
    return tmp_path / "broker-1" / "kafka-authorizer.log"


@pytest.fixture
def reader(tmp_path) -> Reader:
    return Reader(tmp_path / "*" / "*")


def write(file: Path, data: bytes, hours: int = 0) -> None:
    """Write a whole file, so many hours after NOW."""
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    os.utime(file, ns=(NOW + hours * HOUR, NOW + hours * HOUR))


def ranges(found) -> list[tuple[int, int]]:
    return [(fresh.start, fresh.end) for fresh in found.fresh]


def is_counted_once(reader: Reader, first: int, behind: int) -> bool:
    return sorted(reader.counted) == sorted(decision(number).rstrip("\n") for number in range(first, behind))


# --- Files that grow ---


def test_a_file_that_grew_is_read_from_where_it_was_read_to(log, reader):
    write(log, decisions(0, 100))
    reader.read()

    write(log, decisions(0, 130))
    found = reader.read()

    assert ranges(found) == [(len(decisions(0, 100)), len(decisions(0, 130)))]
    assert is_counted_once(reader, 0, 130)


def test_a_short_file_is_the_same_when_it_has_grown_long(log, reader):
    for behind in (0, 1, 2, 5, 20, 200):
        write(log, decisions(0, behind))
        reader.read()

    assert is_counted_once(reader, 0, 200)


NAMED = decision(1, "caf\N{LATIN SMALL LETTER E WITH ACUTE}\nof two lines").encode()


@pytest.mark.parametrize(
    "place",
    [NAMED.index(b"Principal"), NAMED.index(b"\xa9"), NAMED.index(b"of two"), len(NAMED) - 1, 10],
    ids=["in a line", "in a character", "in a name of two lines", "before the line end", "in the time"],
)
def test_a_record_that_is_being_written_waits_until_it_is_whole(log, reader, place):
    write(log, decisions(0, 1) + NAMED[:place])
    first = reader.read()
    write(log, decisions(0, 1) + NAMED + decisions(2, 3), hours=1)
    second = reader.read()

    assert ranges(first) == [(0, len(decisions(0, 1)))]
    assert ranges(second) == [(len(decisions(0, 1)), len(decisions(0, 1) + NAMED + decisions(2, 3)))]
    assert reader.counted[1] == NAMED.decode().rstrip("\n")


def test_a_name_whose_first_line_ends_like_a_record_is_read_whole(log, reader):
    named = decision(1, "orders (kafka.server.Server)\nand more")
    write(log, decisions(0, 1) + named.encode()[: named.index("\n") + 1])
    reader.read()

    write(log, decisions(0, 1) + named.encode(), hours=1)
    reader.read()

    assert reader.counted == [decision(0).rstrip("\n"), named.rstrip("\n")]


def test_lines_that_are_no_record_wait_for_the_record_behind_them(log, reader):
    write(log, decisions(0, 1) + b"java.io.IOException: broken\n")
    reader.read()
    write(log, decisions(0, 1) + b"java.io.IOException: broken\n\tat kafka.Foo\n" + decisions(1, 2), hours=1)
    reader.read()

    assert reader.counted[1] == "java.io.IOException: broken\n\tat kafka.Foo"
    assert len(reader.counted) == 3


def test_a_log_without_any_record_is_read_line_by_line(log, reader):
    write(log, b'{"message": "one"}\n{"message": "two"}\n{"mess')

    assert ranges(reader.read()) == [(0, 38)]


# --- Half a record at the end of a file that is finished ---

HALF = decisions(0, 3) + decision(3).encode()[:100]


def finish_by_age(log: Path) -> None:
    os.utime(log, ns=(NOW - 25 * HOUR, NOW - 25 * HOUR))


def finish_by_compressing(log: Path) -> None:
    write(log.with_name(f"{log.name}.1.gz"), gzip.compress(log.read_bytes()))
    log.unlink()


def finish_by_rotating(log: Path) -> None:
    log.rename(log.with_name(f"{log.name}.1"))
    write(log, decisions(10, 11), hours=1)


@pytest.mark.parametrize("finish", [finish_by_age, finish_by_compressing, finish_by_rotating])
def test_half_a_record_is_counted_when_its_file_is_finished(log, reader, finish):
    write(log, HALF)
    reader.read()

    finish(log)
    reader.read()
    found = reader.read()

    assert found.fresh == ()
    assert decision(3)[:100] in reader.counted
    assert len(reader.counted) == 4 + (finish is finish_by_rotating)


def test_half_a_record_waits_where_the_newer_log_is_still_empty(log, reader):
    write(log, HALF)
    reader.read()

    log.rename(log.with_name(f"{log.name}.1"))
    write(log, b"", hours=1)

    assert reader.read().fresh == ()


def test_a_record_is_counted_whole_if_its_finished_half_goes_on_after_all(log, reader):
    write(log, HALF, hours=-30)
    reader.read()
    write(log, decisions(0, 5))
    reader.read()

    assert [decision(number).rstrip("\n") in reader.counted for number in range(5)] == [True] * 5
    assert len(reader.counted) == 6


# --- Files that change their names ---


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst"])
def test_a_file_is_the_same_under_another_name_and_compressed(log, reader, ending):
    rotated = log.with_name(f"{log.name}.1")
    write(log, decisions(0, 100))
    reader.read()

    log.rename(rotated)
    write(log, decisions(100, 130), hours=1)
    reader.read()
    write(rotated.with_name(f"{log.name}.2{ending}"), packed(ending, rotated.read_bytes()))
    rotated.unlink()
    found = reader.read()

    assert found.fresh == ()
    assert is_counted_once(reader, 0, 130)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst"])
def test_what_was_written_before_a_file_was_compressed_is_read_from_there(log, reader, ending):
    write(log, decisions(0, 100))
    reader.read()

    write(log.with_name(f"{log.name}.1{ending}"), packed(ending, decisions(0, 120)))
    log.unlink()
    found = reader.read()

    assert ranges(found) == [(len(decisions(0, 100)), len(decisions(0, 120)))]
    assert is_counted_once(reader, 0, 120)


def test_a_log_that_is_copied_and_emptied_goes_on_in_its_copy(log, reader):
    write(log, decisions(0, 100))
    reader.read()

    shutil.copy(log, log.with_name(f"{log.name}.1"))
    with open(log.with_name(f"{log.name}.1"), "ab") as copy:
        copy.write(decisions(100, 105))
    write(log, decisions(105, 107), hours=1)
    reader.read()

    assert is_counted_once(reader, 0, 107)


def test_two_files_of_one_content_are_read_once_and_the_other_is_named(log, reader):
    copy = log.with_name(f"{log.name}.1.gz")
    write(log, decisions(0, 100))
    write(copy, gzip.compress(decisions(0, 60)))

    found = reader.read()

    assert found.skipped == ((str(copy), str(log)),)
    assert is_counted_once(reader, 0, 100)
    assert reader.read().skipped == found.skipped


def test_a_file_that_was_removed_and_comes_back_is_known(log, reader):
    write(log, decisions(0, 100))
    other = log.with_name("other.log")
    write(other, b"")
    reader.read()
    log.unlink()
    gone = reader.read().gone

    write(log.with_name("restored.log"), decisions(0, 100), hours=2)

    assert [source.path for source in gone] == [str(log)]
    assert reader.read().fresh == ()


def test_a_file_that_is_gone_is_forgotten_when_its_records_are_too_old(log, reader):
    write(log, decisions(0, 100))
    write(log.with_name("other.log"), b"")
    reader.read()
    log.unlink()
    found = reader.look()

    kept, left = (found.after((), written_since_ns=NOW + late) for late in (0, 1))

    assert [source.path for source in kept if source.offset] == [str(log)]
    assert [source.path for source in left if source.offset] == []


def test_another_file_under_the_same_name_is_read_from_its_beginning(log, reader):
    write(log, decisions(0, 100))
    reader.read()

    write(log, decisions(200, 210), hours=1)
    reader.read()

    assert len(reader.counted) == len(set(reader.counted)) == 110


# --- Contents that are alike ---


def test_two_brokers_may_begin_with_the_same_record(log, reader):
    other = log.parent.parent / "broker-2" / log.name
    write(log, decisions(0, 1))
    write(other, decisions(0, 1))
    reader.read()

    write(log, decisions(0, 1) + decisions(10, 12), hours=1)
    write(other, decisions(0, 1) + decisions(20, 22), hours=1)
    reader.read()

    assert len(reader.counted) == 6


def test_a_short_log_of_another_broker_is_new_though_its_record_is_known(log, reader):
    write(log, decisions(0, 1))
    reader.read()

    write(log.parent.parent / "broker-2" / log.name, decisions(0, 1))
    reader.read()

    assert len(reader.counted) == 2


def test_a_short_log_that_has_grown_is_known_where_a_copy_is_found_first(log, reader):
    write(log, decisions(0, 2))
    reader.read()

    write(log, decisions(0, 30), hours=1)
    write(log.parent.parent / "backup" / log.name, decisions(0, 30), hours=1)
    reader.read()

    assert is_counted_once(reader, 0, 30)


def test_a_file_that_leaves_a_longer_one_early_is_read_if_that_is_there(log, reader):
    write(log, decisions(0, 1000))
    reader.read()

    write(log.with_name("other.log"), decisions(0, 30) + decisions(2000, 2010), hours=1)
    reader.read()

    new = [decision(number).rstrip("\n") for number in range(2000, 2010)]
    assert [record for record in new if record not in reader.counted] == []


def test_a_longer_copy_in_another_folder_is_no_log_of_another_broker(log, reader):
    write(log, decisions(0, 10))
    write(log.parent.parent / "backup" / log.name, decisions(0, 10))

    reader.read()

    assert is_counted_once(reader, 0, 10)


def test_contents_that_begin_alike_and_differ_later_are_both_read(log, reader):
    other = log.with_name("other.log")
    write(log, decisions(0, 100))
    write(other, decisions(0, 60) + decisions(200, 260))

    reader.read()
    write(log, decisions(0, 110), hours=1)
    write(other, decisions(0, 60) + decisions(200, 270), hours=1)
    reader.read()

    last = [decision(number).rstrip("\n") for number in (*range(60, 110), *range(200, 270))]
    assert [record for record in last if reader.counted.count(record) != 1] == []


# --- Files that lose their end ---


def test_a_file_that_lost_its_end_goes_on_where_it_was_cut(log, reader):
    write(log, decisions(0, 100))
    reader.read()
    os.truncate(log, len(decisions(0, 50)) + 30)
    found = reader.read()
    with open(log, "ab") as opened:
        opened.write(b"\n" + decisions(200, 210))
    reader.read()

    assert found.fresh == ()
    assert [remark for remark in found.remarks if "lost its end" in remark] != []
    assert [decision(number).rstrip("\n") in reader.counted for number in range(200, 210)] == [True] * 10
    assert len(reader.counted) == len(set(reader.counted)) == 111


def test_a_file_cut_and_continued_unseen_loses_nothing_and_says_so(log, reader):
    write(log, decisions(0, 1000))
    reader.read()

    write(log, decisions(0, 990) + decisions(2000, 2100), hours=1)
    found = reader.read()

    counted = {decision(number).rstrip("\n") for number in (*range(1000), *range(2000, 2100))}
    assert set(reader.counted) == counted
    assert len(reader.counted) - len(counted) < 25
    assert [remark for remark in found.remarks if "also those that were counted before" in remark] != []


# --- Files that cannot be read to their end ---


def test_what_a_damaged_file_still_gives_is_counted_once(log, reader):
    whole = gzip.compress(decisions(0, 20_000))
    file = log.with_name(f"{log.name}.1.gz")
    write(file, whole[: len(whole) // 2])
    found = reader.read()
    before = len(reader.counted)

    write(file, whole, hours=1)
    reader.read()

    assert [(path, state.state) for path, state in found.problems] == [(str(file), "truncated")]
    assert 5_000 < before < 15_000
    assert is_counted_once(reader, 0, 20_000)


def test_a_damaged_file_is_named_at_every_look_and_not_read_again(log, reader):
    whole = gzip.compress(decisions(0, 1_000))
    write(log.with_name("a.log.gz"), whole[: len(whole) // 2])
    reader.read()

    found = reader.read()

    assert [state.state for _, state in found.problems] == ["truncated"]
    assert found.work.files_opened == 0


@pytest.mark.parametrize(
    ("name", "content", "state", "reason"),
    [
        ("plain.gz", decisions(0, 3), "not a gzip file", "no gzip data"),
        ("gzip.log", gzip.compress(decisions(0, 3)), "refused", "does not end in .gz"),
        ("bzip2.log", packed(".bz2", decisions(0, 3)), "refused", "does not end in .bz2"),
        ("zstandard.log", packed(".zst", decisions(0, 3)), "refused", "does not end in .zst"),
        ("other.xz", decisions(0, 3), "refused", "use .gz, .bz2 or .zst"),
    ],
)
def test_a_file_whose_name_and_content_differ_is_refused_until_renamed(
    log, reader, name, content, state, reason
):
    write(log.with_name(name), content)
    found = reader.read()
    assert [(problem.state, reason in problem.reason) for _, problem in found.problems] == [(state, True)]
    assert found.fresh == ()

    ending = {b"[2": "", b"\x1f\x8b": ".gz", b"BZ": ".bz2", b"\x28\xb5": ".zst"}[content[:2]]
    log.with_name(name).rename(log.with_name(f"renamed.log{ending}"))

    assert reader.read().problems == ()
    assert is_counted_once(reader, 0, 3)


def test_a_file_that_cannot_be_opened_now_is_still_known_later(log, reader, monkeypatch):
    write(log, decisions(0, 10))
    reader.read()
    write(log, decisions(0, 12), hours=1)

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr("aclweb.pipeline.increments.LogContent", refused)
        found = reader.read()
    reader.read()

    assert [state.reason for _, state in found.problems] == ["The system says: Permission denied."]
    assert is_counted_once(reader, 0, 12)


def test_a_path_of_another_file_system_is_refused_with_a_sentence():
    with pytest.raises(SourceError, match=r"'hdfs://names/logs' is not on this machine"):
        look_for_new(["hdfs://names/logs"], ())


# --- Between looking and counting ---


def test_what_is_not_counted_is_found_again(log, reader):
    write(log, decisions(0, 100))
    write(log.parent.parent / "broker-2" / log.name, decisions(200, 300))
    reader.read(counts=lambda fresh: "broker-2" in fresh.path)

    found = reader.read()

    assert [fresh.path for fresh in found.fresh] == [str(log)]
    assert len(reader.counted) == len(set(reader.counted)) == 200


def test_a_file_that_was_replaced_after_the_look_is_not_copied(log, reader, tmp_path):
    write(log, decisions(0, 100))
    (fresh,) = reader.look().fresh
    log.rename(log.with_name(f"{log.name}.1"))

    for replaced in (None, b"", decisions(0, 50), decisions(300, 500)):
        if replaced is not None:
            write(log, replaced)
        with pytest.raises(NotTheSameError):
            copy_bytes(fresh, tmp_path)
    assert list(tmp_path.glob("*.log")) == []


def test_a_file_that_grew_after_the_look_is_copied_as_it_was(log, reader, tmp_path):
    write(log, decisions(0, 100))
    (fresh,) = reader.look().fresh

    write(log, decisions(0, 150))

    assert copy_bytes(fresh, tmp_path).read_bytes() == decisions(0, 100)


def test_only_a_finished_file_is_read_where_it_is(log, reader):
    write(log, decisions(0, 100), hours=-1)
    write(log.with_name("old.log"), decisions(200, 300), hours=-30)
    write(log.with_name("packed.log.gz"), gzip.compress(decisions(300, 400)), hours=-1)

    found = reader.look()

    assert sorted(Path(fresh.path).name for fresh in found.fresh if fresh.is_whole_file) == [
        "old.log",
        "packed.log.gz",
    ]
    assert all(map(is_still_there, found.fresh))
    log.rename(log.with_name(f"{log.name}.1"))
    assert [is_still_there(fresh) for fresh in found.fresh if fresh.path == str(log)] == [False]


# --- What a look costs ---


def test_files_that_did_not_change_are_not_opened_even_under_new_names(log, reader):
    for number in range(1, 5):
        write(
            log.with_name(f"{log.name}.{number}"), decisions(100 * number, 100 * number + 50), hours=-number
        )
    write(log.with_name(f"{log.name}.5.gz"), gzip.compress(decisions(0, 50)))
    reader.read()

    for number in range(5, 0, -1):
        ending = ".gz" if number == 5 else ""
        log.with_name(f"{log.name}.{number}{ending}").rename(
            log.with_name(f"{log.name}.{number + 1}{ending}")
        )
    found = reader.read()

    assert (found.work.files_opened, found.work.bytes_read) == (0, 0)
    assert (found.fresh, found.gone) == ((), ())


def test_a_look_at_a_large_file_that_grew_reads_little_of_it(log, reader):
    large = b"".join(decisions(1000 * part, 1000 * part + 1000) for part in range(100))
    write(log, large)
    reader.look()
    first = reader.read()
    write(log, large + decisions(200_000, 200_001), hours=1)
    second = reader.look()

    assert len(large) > 20_000_000
    # The layout is looked for in 65,536 of them.
    assert first.work.bytes_read < 150_000
    assert second.work.bytes_read < 100_000


def test_a_compressed_file_is_read_once_and_in_constant_memory(log, reader, tmp_path):
    large = decisions(0, 4_000) * 100
    file = log.with_name(f"{log.name}.1.gz")
    write(file, gzip.compress(large, 1))
    size = file.stat().st_size
    length = len(large)
    del large

    tracemalloc.start()
    found = reader.look()
    (fresh,) = found.fresh
    copied = copy_bytes(fresh, tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert copied.stat().st_size == length > 90_000_000
    assert peak < 8_000_000
    assert size < found.work.bytes_read < size + 200_000
