"""Which files does a folder mean, with the folders in it and without, and what is said where there is none?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclweb.pipeline.__main__ import main
from aclweb.pipeline.access import look
from aclweb.pipeline.files import SourceError, log_files
from aclweb.pipeline.log_sources import LogSource, by_file, read_sources
from tests.pipeline.test_files import decisions


@pytest.fixture
def folder(tmp_path) -> Path:
    """Logs at three depths, and beside them what hides itself and a link back to the top."""
    logs = tmp_path / "logs [eu]"
    for name in ("a.log", "broker-1/b.log", "broker-1/old/c.log.1", ".git/hidden.log", "broker-1/_tmp/d.log"):
        (logs / name).parent.mkdir(parents=True, exist_ok=True)
        (logs / name).write_text(decisions(2, name.replace("/", ".")))
    (logs / "broker-1" / "back").symlink_to(logs)
    return logs


def names(files: list[str], folder: Path) -> list[str]:
    return [str(Path(file).relative_to(folder)) for file in files]


def test_a_folder_means_its_files_and_those_of_its_folders_on_request(folder):
    assert names(log_files([str(folder)]), folder) == ["a.log"]
    found = log_files([str(folder)], recursive=[str(folder)])
    assert names(found, folder) == ["a.log", "broker-1/b.log", "broker-1/old/c.log.1"]


def test_a_pattern_of_folders_means_their_files_on_request(folder):
    pattern = str(folder.parent / "logs*" / "broker-*")

    with pytest.raises(SourceError, match="No log file is at"):
        log_files([pattern])
    found = log_files([pattern], recursive=[pattern])
    assert names(found, folder) == ["broker-1/b.log", "broker-1/old/c.log.1"]


def test_each_source_says_for_itself_whether_it_is_recursive(folder, tmp_path):
    given = [
        {"path": str(folder / "broker-1"), "broker": "one", "recursive": True},
        {"path": str(folder), "broker": "top", "recursive": False},
    ]
    (tmp_path / "sources.json").write_text(json.dumps(given))

    found = by_file(read_sources(tmp_path / "sources.json").paths)

    shown = {str(Path(file).relative_to(folder)): source.broker for file, source in found.items()}
    assert shown == {"a.log": "top", "broker-1/b.log": "one", "broker-1/old/c.log.1": "one"}


def test_a_table_is_extended_from_the_folders_in_a_folder(folder, tmp_path):
    source = LogSource(str(folder), is_recursive=True)

    looked = look(tmp_path / "table", "eu", [source])

    assert names(sorted(fresh.path for fresh in looked.found.fresh), folder) == [
        "a.log",
        "broker-1/b.log",
        "broker-1/old/c.log.1",
    ]
    assert [*looked.sources.values()] == [source] * 3


@pytest.mark.parametrize(
    ("inside", "words", "told"),
    [
        ((), (), "The folder {path!r} has no file in it; name one that has, a file, or a pattern."),
        (
            (),
            ("--recursive",),
            "The folder {path!r} has no file in it; name one that has, a file, or a pattern.",
        ),
        (
            ("broker-1", "broker-2"),
            (),
            "The folder {path!r} has folders in it and no file; name one of them, or read them too (--recursive).",
        ),
        (
            ("broker-1",),
            ("--recursive",),
            "The folder {path!r} has no file in it; name one that has, a file, or a pattern.",
        ),
        ((".git",), (), "The folder {path!r} has no file in it; name one that has, a file, or a pattern."),
    ],
)
@pytest.mark.parametrize("job", ["usage", "access"])
def test_a_folder_without_files_is_named_with_what_would_be_right(
    tmp_path, snapshot_file, capsys, job, inside, words, told
):
    logs, out = tmp_path / "logs", tmp_path / "out"
    logs.mkdir()
    for name in inside:
        (logs / name).mkdir()

    given = [job, "--snapshot", str(snapshot_file), "--log", str(logs), *words, "--out", str(out)]
    assert main(given) == 2

    assert capsys.readouterr().err == told.format(path=str(logs)) + "\n"
    assert not out.exists()


@pytest.mark.parametrize(
    ("source", "words", "told"),
    [
        (
            {"path": "logs", "recursive": "yes"},
            (),
            "Source 1 has 'recursive' as 'yes'; write true or false.",
        ),
        ({"path": "logs"}, ("--recursive",), "leave out --time-zone, --layout, --pattern and --recursive."),
    ],
)
def test_where_recursive_does_not_belong_a_sentence_says_so(
    tmp_path, snapshot_file, capsys, source, words, told
):
    (tmp_path / "sources.json").write_text(json.dumps([source]))
    given = ["--source", str(tmp_path / "sources.json"), *words, "--out", str(tmp_path / "out")]

    assert main(["usage", "--snapshot", str(snapshot_file), *given]) == 2

    assert told in capsys.readouterr().err
