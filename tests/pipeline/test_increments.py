"""Is every line of a log counted exactly once, whatever happens to its files?"""

from __future__ import annotations

import gzip

from tests.pipeline.log_folder import Reader, decisions


def test_a_file_that_grew_is_read_from_where_it_was_read_to(tmp_path):
    log = tmp_path / "a.log"
    log.write_bytes(decisions(0, 100))
    reader = Reader(tmp_path)
    reader.read()

    log.write_bytes(decisions(0, 130))
    found = reader.read()

    assert [(fresh.start, fresh.end) for fresh in found.fresh] == [
        (len(decisions(0, 100)), len(decisions(0, 130)))
    ]
    assert len(reader.counted) == 130


def test_a_file_is_the_same_under_another_name_and_compressed(tmp_path):
    log, rotated, packed = tmp_path / "a.log", tmp_path / "a.log.1", tmp_path / "a.log.2.gz"
    log.write_bytes(decisions(0, 100))
    reader = Reader(tmp_path)
    reader.read()

    log.rename(rotated)
    log.write_bytes(decisions(100, 130))
    reader.read()
    packed.write_bytes(gzip.compress(rotated.read_bytes()))
    rotated.unlink()
    found = reader.read()

    assert found.fresh == ()
    assert len(reader.counted) == len(set(reader.counted)) == 130
