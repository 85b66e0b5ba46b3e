"""Do the access table and results keep their promises on a file system that Spark alone reaches?

It is Hadoop's own viewfs, mapped onto a folder of this machine: no path of this machine leads there by its address.
What test_table.py says about crashes, two writers and damage, it says of this file system too.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from aclweb.pipeline import storage
from aclweb.pipeline.__main__ import main
from aclweb.pipeline.storage import AddressError, DistantFolder, StorageError, check_address, folder_at
from aclweb.pipeline.table import Table
from tests.pipeline.conftest import finish
from tests.pipeline.test_access import ACCESS_WORDS, CLUSTER, DAY, TABLES, rows_in, run_main, without_brokers
from tests.pipeline.test_files import decisions
from tests.pipeline.usage_job import manifest_of

pytestmark = pytest.mark.spark

FULL = os.environ.get("ACLWEB_TEST_SCALE") == "full"


@pytest.fixture
def place(elsewhere, tmp_path) -> tuple[str, Path]:
    """The address of a folder of this test that is not there yet, and where its files really are."""
    address, really = elsewhere
    return f"{address}/{tmp_path.name}", really / tmp_path.name


def names_in(spark: Any, address: str, cluster: str) -> Counter[str]:
    """How often each resource was asked for, as the table has it."""
    found = Table.open(folder_at(address, spark), cluster)
    names: Counter[str] = Counter()
    for day in found.version.days.values():
        for part in day.parts["access"]:
            for row in rows_in(found, part):
                names[row["resource_name"]] += row["lines"]
    return names


# --- Whole runs ---


def test_a_table_and_results_elsewhere_say_what_those_here_do(
    spark, few_logs, usage_of_few, snapshot_file, place
):
    address, really = place
    words = [*ACCESS_WORDS, "--snapshot", snapshot_file, "--log", *few_logs, "--out", f"{address}/table"]

    said = run_main(spark, *words, "--usage", f"{address}/usage")
    again = run_main(spark, *words)
    decide = ["usage", "--snapshot", snapshot_file, "--table", f"{address}/table"]
    run_main(spark, *decide, "--out", f"{address}/again")

    assert f"Written to {address}/table." in said
    assert f"Written to {address}/usage." in said
    assert again.startswith("Nothing new since ")
    for result in (really / "usage", really / "again"):
        assert without_brokers(manifest_of(result)) == manifest_of(usage_of_few)
        for name in TABLES:
            written = (result / f"{name}.parquet").read_bytes()
            assert written == (usage_of_few / f"{name}.parquet").read_bytes(), name
    assert {file.name for file in really.iterdir()} == {"table", "usage", "again"}
    assert {file.name for file in (really / "table").iterdir()} == {f"cluster={CLUSTER}"}


@pytest.mark.thorough(
    instead="tests/pipeline/test_elsewhere.py::test_a_table_and_results_elsewhere_say_what_those_here_do"
)
def test_new_bytes_enter_a_table_elsewhere_once_and_days_are_read_again(spark, place, tmp_path, monkeypatch):
    # Everything is folded at each change, and copies are put where other machines see them.
    monkeypatch.setattr("aclweb.pipeline.table.changing.MOST_PARTS", 1)
    monkeypatch.setattr("aclweb.pipeline.writing.MOST_SAMPLE_PARTS", 1)
    monkeypatch.setattr(storage, "runs_here", lambda _spark: False)
    address, cluster = place[0], "eu west, 100%25"
    log = tmp_path / "a.log"
    words = ["access", "--cluster", cluster, "--time-zone", "UTC", "--log", log, "--out", address]

    log.write_text(decisions(3, "first") + decisions(1, "waits").rstrip("\n"))
    run_main(spark, *words)
    log.write_text(decisions(3, "first") + decisions(1, "waits") + decisions(2, "second"))
    finish(log)
    said = run_main(spark, *words, "--reprocess", DAY)

    assert f"Read 1 day again, {DAY} to {DAY}: 6 records" in said
    assert names_in(spark, address, cluster) == Counter(first=3, waits=1, second=2)
    version = Table.open(folder_at(address, spark), cluster).version
    assert (version.number, len(version.days[DAY].parts["access"])) == (3, 1)


def test_a_look_at_the_same_logs_starts_no_spark_for_a_table_elsewhere(
    spark, place, tmp_path, monkeypatch, capsys
):
    log = tmp_path / "a.log"
    log.write_text(decisions(2))
    finish(log)
    sessions: list[int] = []
    # That new lines enter such a table is asked above in thorough runs, and with every look at full scale.
    new = [lambda: log.write_text(decisions(2) + decisions(1, "new")), None] if FULL else []
    looks = iter([None, None, *new])

    @contextmanager
    def start(*_: object, **__: object) -> Iterator[Any]:
        sessions.append(1)
        yield spark

    def sleep(_seconds: float) -> None:
        step = next(looks, KeyboardInterrupt())
        if isinstance(step, KeyboardInterrupt):
            raise step
        if step is not None:
            step()
            finish(log)

    # Not that of the module `time`, which the thread of py4j has too.
    monkeypatch.setattr("aclweb.pipeline.__main__.time", type("Time", (), {"sleep": staticmethod(sleep)}))

    words = ["access", "--cluster", "eu", "--log", str(log), "--out", place[0], "--every", "7"]
    assert main(words, start_spark=start) == 130

    assert len(sessions) == (2 if FULL else 1)
    assert names_in(spark, place[0], "eu") == Counter(orders=2, new=1 if FULL else 0)
    assert capsys.readouterr().err == ""


# --- Results ---


def write(spark: Any, address: str, content: str) -> None:
    from aclweb.pipeline.results import result_at

    with result_at(address, spark) as out:
        out.mkdir()
        (out / "table.parquet").write_text(content)
        (out / "manifest.json").write_text(content)


@pytest.mark.parametrize("is_object_store", [False, True])
def test_a_result_takes_the_place_of_an_earlier_one_and_of_nothing_else(
    spark, place, monkeypatch, is_object_store
):
    monkeypatch.setattr(DistantFolder, "is_object_store", is_object_store)
    address, really = place

    for content in ("old", "new"):
        write(spark, f"{address}/out", content)

    assert [file.name for file in really.iterdir()] == ["out"]
    files = {file.name: file.read_text() for file in (really / "out").iterdir() if file.suffix != ".crc"}
    assert files == {"table.parquet": "new", "manifest.json": "new"}

    (really / "out" / "manifest.json").unlink()
    with pytest.raises(Exception, match=r"/out is there already and is no result of an earlier job; name an"):
        write(spark, f"{address}/out", "third")
    assert (really / "out" / "table.parquet").read_text() == "new"


@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_a_result_that_cannot_be_put_leaves_the_earlier_one(spark, place, monkeypatch, fails_at):
    address, really = place
    write(spark, f"{address}/out", "old")
    steps: list[str] = []

    def stumbling(does: Any) -> Any:
        def step(self: Any, *words: Any) -> None:
            steps.append(str(words))
            if len(steps) == fails_at:
                raise StorageError("The store is full.")
            does(self, *words)

        return step

    with monkeypatch.context() as patch:
        for name in ("send", "move"):
            patch.setattr(DistantFolder, name, stumbling(getattr(DistantFolder, name)))
        with pytest.raises(StorageError, match="full"):
            write(spark, f"{address}/out", "new")

    assert (really / "out" / "manifest.json").read_text() == "old"
    assert [file.name for file in really.iterdir()] == ["out"]


# --- Stores that put an object whole when it is closed, as s3a:// does ---


class Store:
    """Hadoop's FileSystem of a store in which a file is put in `close`, and only where none is, if that is asked."""

    def __init__(self, spark: Any, system: Any, *, can: bool = True, loses_answers: bool = False) -> None:
        self.spark, self.system, self.can, self.loses_answers = spark, system, can, loses_answers
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.system, name)

    def hasPathCapability(self, _path: Any, name: str) -> bool:
        return self.can and name == "fs.option.create.conditional.overwrite"

    def createFile(self, path: Any) -> Any:
        store, written = self, bytearray()

        class Stream:
            def create(self) -> Stream:
                return self

            def overwrite(self, _may: bool) -> Stream:
                return self

            def must(self, name: str, value: bool) -> Stream:
                store.asked.append(f"{name}={value}")
                return self

            def build(self) -> Stream:
                return self

            def write(self, data: bytearray) -> None:
                written.extend(data)

            def close(self) -> None:
                if store.system.exists(path):
                    store.fail()
                stream = store.system.create(path, False)
                stream.write(written)
                stream.close()
                if store.loses_answers:
                    store.fail()

        return Stream()

    def fail(self) -> None:
        """Raise what a call into Java raises."""
        self.spark._jvm.java.lang.Integer.parseInt("412 Precondition failed")


@pytest.mark.parametrize("loses_answers", [False, True])
def test_of_two_writers_of_an_object_store_one_wins_also_where_answers_are_lost(spark, place, loses_answers):
    folder = folder_at(place[0], spark)
    store = Store(spark, folder.system, loses_answers=loses_answers)
    folder = DistantFolder(str(folder), folder.hadoop, store)

    assert folder.put_if_absent("versions/1.json", b"one")
    assert not folder.put_if_absent("versions/1.json", b"other")

    assert (place[1] / "versions" / "1.json").read_bytes() == b"one"
    assert store.asked == ["fs.option.create.conditional.overwrite=True"] * 2
    assert folder.is_object_store


def test_an_object_store_that_can_put_nothing_only_where_none_is_takes_no_table(spark, place):
    folder = folder_at(place[0], spark)
    old = DistantFolder("s3a://bucket/table", folder.hadoop, Store(spark, folder.system, can=False))

    with pytest.raises(AddressError, match=r"this s3a:// cannot put a file only where none is, so of two"):
        old.put_if_absent("versions/1.json", b"one")


def test_where_nothing_can_be_put_the_cause_is_said_and_nobody_won(spark, place):
    folder = folder_at(place[0], spark)
    place[1].write_text("a file where the folder should be")

    with pytest.raises(StorageError, match=rf"{place[0]}/1.json cannot be written: "):
        folder.put_if_absent("1.json", b"one")


# --- Addresses ---


@pytest.mark.parametrize(
    "given, status, told",
    [
        (
            "nofs://host/table",
            2,
            "Spark has no file system for nofs:// here (nofs://host/table); give its jars",
        ),
        (
            "s3a://bucket/table",
            2,
            "Spark has no file system for s3a:// here (s3a://bucket/table); give its jars",
        ),
        ("hdfs://me:word@host/table", 2, "An address with hdfs:// holds a password; leave it out"),
        ("file://host/table", 2, "write a folder of this machine as file:///FOLDER."),
        (
            "hdfs:///table",
            2,
            "hdfs:///table is no address of a folder: IOException: Incomplete HDFS URI, no host",
        ),
        ("1://x", 2, "'1://x' is no address; write a folder of this machine, or one as hdfs://HOST/FOLDER."),
        (
            "hdfs://127.0.0.1:1/table",
            1,
            "hdfs://127.0.0.1:1/table/cluster=eu/versions cannot be read: Connect",
        ),
        ("viewfs://aclweb/elsewhere", 1, "is not within a mount point"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_sentence(spark, tmp_path, capsys, given, status, told):
    (tmp_path / "a.log").write_text(decisions(1))
    finish(tmp_path / "a.log")

    @contextmanager
    def start(*_: object, **__: object) -> Iterator[Any]:
        yield spark

    words = ["access", "--cluster", "eu", "--log", str(tmp_path / "a.log"), "--out", given]
    assert main(words, start_spark=start) == status

    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert "word@" not in line


def test_rights_that_are_missing_are_said_without_a_secret(spark, monkeypatch):
    # Hadoop's own words, of which one shall be a secret.
    monkeypatch.setattr(spark.sparkContext._conf, "getAll", lambda: [("spark.hadoop.x.secret", "readonly")])
    folder = folder_at("viewfs://aclweb", spark)

    with pytest.raises(StorageError) as failed:
        folder.make("elsewhere")

    assert isinstance(failed.value.__cause__, Py4JJavaError)
    assert "readonly" in str(failed.value.__cause__)
    assert str(failed.value) == (
        "viewfs://aclweb/elsewhere cannot be written: AccessControlException: InternalDir of ViewFileSystem is …, "
        "operation mkdirs not permitted on path /elsewhere."
    )


def test_a_folder_of_this_machine_may_be_written_as_an_address(tmp_path):
    folder = folder_at(f"file://{tmp_path}/a table")

    assert folder.put_if_absent("1.json", b"one")
    assert (tmp_path / "a table" / "1.json").read_bytes() == b"one"
    check_address("abfs://container@account/folder")
