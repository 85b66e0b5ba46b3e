"""Does each line of a file come in the range in which it begins, and nowhere else?"""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclweb.pipeline import file_ranges
from aclweb.pipeline.contents import DamagedError
from aclweb.pipeline.file_ranges import Range, lines_in, shared_out, sizes_of

CONTENT = st.lists(
    st.sampled_from([b"\n", b"\n\n", b"\r\n", b"a", b"bc" * 9, b"\xff", b"\xef\xbb\xbf"]), max_size=30
)


@pytest.fixture
def small(monkeypatch):
    """Chunks and lines of a few bytes."""
    monkeypatch.setattr(file_ranges, "_CHUNK_BYTES", 7)
    monkeypatch.setattr(file_ranges, "_SHORT_CHUNK_BYTES", 3)


def lines_of(path: Path, start: int, end: int) -> list[bytes]:
    wanted = Range(str(path), start, end, is_last=True)
    return [line for lines in lines_in(wanted) for line in lines.to_pylist()]


@given(parts=CONTENT, cuts=st.sets(st.integers(1, 120), max_size=4))
def every_line_is_in_one_range(parts: list[bytes], cuts: set[int]) -> None:
    data = b"".join(parts)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.log"
        path.write_bytes(data)
        places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
        found = [lines_of(path, start, end) for start, end in pairwise(places)]

    # Only a line feed ends a line.
    wanted = [line + b"\n" for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    wanted[-1] = wanted[-1][:-1]
    assert [line for lines in found for line in lines] == (wanted if wanted[-1] else wanted[:-1])


def test_every_line_is_in_the_range_in_which_it_begins(small):
    every_line_is_in_one_range()


def test_a_line_belongs_where_it_begins_also_at_the_very_border(tmp_path, small):
    (tmp_path / "a.log").write_bytes(b"one\ntwo\nthree")

    assert lines_of(tmp_path / "a.log", 0, 4) == [b"one\n"]
    assert lines_of(tmp_path / "a.log", 4, 5) == [b"two\n"]
    assert lines_of(tmp_path / "a.log", 5, 8) == []
    assert lines_of(tmp_path / "a.log", 8, 13) == [b"three"]


def test_of_a_line_that_is_too_long_the_beginning_is_given(tmp_path, small, monkeypatch):
    monkeypatch.setattr(file_ranges, "LONGEST_RECORD", 5)
    monkeypatch.setattr(file_ranges, "_LONGEST_BYTES", 20)
    (tmp_path / "a.log").write_bytes("é".encode() * 100 + b"\nnext\n" + b"x" * 50)

    assert lines_of(tmp_path / "a.log", 0, 300) == ["é".encode() * 5, b"next\n", b"xxxxx"]
    assert lines_of(tmp_path / "a.log", 0, 201) == ["é".encode() * 5]
    assert lines_of(tmp_path / "a.log", 201, 300) == [b"next\n", b"xxxxx"]


def test_what_is_written_behind_the_range_meanwhile_is_not_read(tmp_path, small):
    (tmp_path / "a.log").write_bytes(b"one\ntwo\n")

    assert lines_of(tmp_path / "a.log", 0, 4) == [b"one\n"]


def test_files_are_shared_out_whole_but_for_those_larger_than_a_share():
    shares = shared_out({"a": 100, "b": 90, "c": 10, "d": 0}, least=1, most=1_000, workers=2)

    assert sorted(sum(each.end - each.start for each in share) for share in shares) == [100, 100]
    assert all(each.is_whole for share in shares for each in share)
    assert {each.path for share in shares for each in share} == {"a", "b", "c", "d"}

    (one,), (other,) = sorted(
        shared_out({"a": 100}, least=1, most=50, workers=1), key=lambda share: share[0].start
    )
    assert (one, other) == (Range("a", 0, 50, is_last=False), Range("a", 50, 100, is_last=True))


def test_workers_read_as_often_as_each_other():
    shares = shared_out({f"{number}": 10 for number in range(70)}, least=1, most=100, workers=2)

    assert [sum(each.end - each.start for each in share) for share in shares] == [
        90,
        90,
        90,
        90,
        90,
        90,
        80,
        80,
    ]
    assert len(shared_out({f"{number}": 10 for number in range(5_000)}, least=4, most=10**9, workers=8)) == 8


def test_a_few_bytes_are_read_by_one_worker():
    (share,) = shared_out({"a": 10, "b": 10}, least=1_000, most=10_000, workers=8)

    assert len(share) == 2


def test_a_file_is_called_as_spark_calls_it():
    assert Range("/logs/a b%20[1].log", 0, 1, is_last=True).file == "file:///logs/a%20b%2520%5B1%5D.log"


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_compressed_file_is_one_range_with_all_its_lines(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(file_ranges, "_CHUNK_BYTES", 1_000)
    lines = [b"line %d\n" % number for number in range(5_000)]
    path = tmp_path / f"a.log.{ending}"
    with pa.CompressedOutputStream(str(path), {"gz": "gzip", "zst": "zstd"}[ending]) as packed:
        packed.write(b"".join(lines))

    ((whole,),) = shared_out(sizes_of([str(path)]), least=1, most=100, workers=4)

    assert whole.is_whole
    assert [line for found in lines_in(whole) for line in found.to_pylist()] == lines


def test_what_is_before_a_damage_is_read_by_who_wants_it_all_the_same(tmp_path):
    path = tmp_path / "a.log.gz"
    lines = [b"line %d\n" % number for number in range(50_000)]
    path.write_bytes(gzip.compress(b"".join(lines))[:-50_000])
    wanted = Range(str(path), 0, 1, is_last=True)

    with pytest.raises(DamagedError):
        list(lines_in(wanted))
    found = [line for some in lines_in(wanted, tolerant=True) for line in some.to_pylist()]
    assert found[:-1] == lines[: len(found) - 1]
    assert len(found) > 1_000


def test_a_file_that_is_gone_is_left_out_by_who_wants_the_others_all_the_same(tmp_path):
    wanted = Range(str(tmp_path / "gone.log"), 0, 10, is_last=True)

    with pytest.raises(FileNotFoundError):
        list(lines_in(wanted))
    assert list(lines_in(wanted, tolerant=True)) == []
