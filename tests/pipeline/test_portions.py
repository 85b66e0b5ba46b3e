"""Is much text added in a few portions, of which a run that is killed keeps those that it committed?"""

from __future__ import annotations

import os

import pytest

from aclweb.pipeline import access, portions
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.log_sources import LogSource
from aclweb.pipeline.portions import extend_in_portions, portions_of
from aclweb.pipeline.table import Table, Version, failpoints
from tests.pipeline.test_access import CLUSTER, rows_of
from tests.pipeline.test_files import decisions

KEEP = 9999


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """Five logs of 3 records each, one a portion, written one after another in the order of their numbers."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in (3, 1, 5, 2, 4):
        file = folder / f"{number}.log"
        file.write_text(decisions(3, f"topic-{number}"))
        os.utime(file, ns=(number * 10**9,) * 2)
    monkeypatch.setattr(portions, "PORTION_BYTES", 1)
    return folder


def look(tmp_path, logs):
    return access.look(tmp_path / "table", CLUSTER, [LogSource(str(logs))])


def names(found):
    return [[fresh.path.rpartition("/")[2] for fresh in portion] for portion in found]


def test_files_that_were_written_first_come_first(tmp_path, logs):
    assert names(portions_of(look(tmp_path, logs).found.fresh)) == [
        [f"{number}.log"] for number in range(1, 6)
    ]


def test_there_are_few_portions_and_little_text_is_one(tmp_path, logs, monkeypatch):
    fresh = look(tmp_path, logs).found.fresh

    monkeypatch.setattr(portions, "MOST_PORTIONS", 2)
    assert names(portions_of(fresh)) == [["1.log", "2.log", "3.log"], ["4.log", "5.log"]]
    monkeypatch.setattr(portions, "PORTION_BYTES", 1 << 30)
    assert len(portions_of(fresh)) == 1
    assert portions_of([]) == []


class Killed(BaseException):
    """Stands for the end of a process, which nothing catches."""


@pytest.mark.spark
def test_a_run_that_is_killed_keeps_its_portions_and_the_next_one_reads_the_rest(
    spark, tmp_path, logs, monkeypatch
):
    committed, begun = [], []

    def dying(name):
        if name == "committed":
            committed.append(name)
            if len(committed) == 2:
                raise Killed

    looked = look(tmp_path, logs)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(failpoints, "hit", dying)
        extend_in_portions(spark, looked, portions_of(looked.found.fresh), keep_days=KEEP, begin=begun.append)
    again = look(tmp_path, logs)
    # The others are one portion, so that not each costs a run of Spark.
    extended = extend_in_portions(spark, again, [again.found.fresh], keep_days=KEEP, begin=begun.append)

    assert begun == [1, 2, 1]
    assert sorted(names([again.found.fresh])[0]) == ["3.log", "4.log", "5.log"]
    assert (extended.files, extended.lines) == (3, 9)
    table = Table.open(tmp_path / "table", CLUSTER)
    assert sum(rows_of(tmp_path / "table").values()) == 15
    assert {source["path"] for source in table.version.sources} == set(map(str, logs.iterdir()))
    assert look(tmp_path, logs).found.fresh == ()


def test_a_portion_of_which_nothing_can_be_read_costs_itself(tmp_path, logs, monkeypatch):
    looked = look(tmp_path, logs)

    def extend(_spark, looked, *, keep_days, wanted, counted):
        if wanted[0].path.endswith(("2.log", "4.log")) or all_fail:
            raise JobError(f"{wanted[0].path} cannot be read.")
        return access.Extended(Version(1, CLUSTER, ""), 1, 3, 3, 0, (), tuple(wanted))

    monkeypatch.setattr(portions, "extend", extend)
    found = portions_of(looked.found.fresh)
    all_fail = False
    extended = extend_in_portions(None, looked, found, keep_days=KEEP, begin=lambda number: None)

    assert (extended.files, extended.lines) == (3, 9)
    assert [warning.rpartition("/")[2] for warning in extended.warnings] == [
        "2.log cannot be read.", "4.log cannot be read."
    ]  # fmt: skip
    assert names([extended.counted]) == [["1.log", "3.log", "5.log"]]
    all_fail = True
    with pytest.raises(JobError, match=r"1\.log cannot be read"):
        extend_in_portions(None, looked, found, keep_days=KEEP, begin=lambda number: None)
