"""Does `access --every` look again and again, whatever goes wrong in between, and end when it is stopped?"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from aclweb.pipeline import __main__ as command
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import SourceError
from aclweb.pipeline.increments import look_for_new
from aclweb.pipeline.manifest import state_of
from aclweb.pipeline.table.changing import commit_and_sweep, next_version
from aclweb.pipeline.table.reading import folder_of
from tests.pipeline.log_folder import decisions

WORDS = ["access", "--cluster", "prod", "--log", "logs", "--out", "table", "--every", "7"]
STOPPED = KeyboardInterrupt()


@pytest.fixture
def looking(monkeypatch):
    """What each look comes to, which a test fills; how long was slept; how often the JVM was ended."""
    watches: set[int] = set()
    looks: list[BaseException | None] = []
    slept: list[float] = []
    ended: list[bool] = []

    def extend(_options, watch) -> None:
        watches.add(id(watch))
        assert len(watches) == 1, "what one look said and wrote, the next one knows"
        outcome = looks.pop(0)
        if outcome is not None:
            raise outcome

    monkeypatch.setattr(command, "_extend", extend)
    monkeypatch.setattr(command.time, "sleep", slept.append)
    monkeypatch.setattr(command, "end_jvm", lambda: ended.append(True))
    return looks, slept, ended


def test_a_look_that_fails_is_said_and_the_next_one_begins_with_a_new_jvm(looking, capsys):
    looks, slept, ended = looking
    looks += [None, SourceError("No log file is at 'logs'."), None, JobError("gone"), None, STOPPED]

    status = command.main(WORDS)

    assert (status, looks) == (130, [])
    assert slept == [7] * 5
    assert ended == [True] * 2
    assert capsys.readouterr().err == "No log file is at 'logs'.\nThe job failed: gone\n"


def test_what_is_wrong_at_the_first_look_ends_the_command(looking, capsys):
    looks, slept, _ = looking
    looks += [SourceError("No log file is at 'logs'.")]

    assert command.main(WORDS) == 2
    assert slept == []
    assert capsys.readouterr().err == "No log file is at 'logs'.\n"


@pytest.mark.parametrize("given", ["0", "-1", "soon"])
def test_what_is_no_number_of_seconds_is_refused(given, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main([*WORDS[:-1], given])

    assert ended.value.code == 2
    assert given in capsys.readouterr().err


# --- With a real table and real logs, in which nothing is new: Spark is what is not there ---


@pytest.fixture
def logs(tmp_path):
    """A folder with a log that the table holds, and a file that cannot be read."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "b1.log").write_bytes(decisions(0, 3))
    found = look_for_new([str(folder)], [])
    version = next_version(
        None,
        "test-eu",
        {},
        samples=(),
        sources=[source.as_dict() for source in found.after(found.fresh)],
        problems={},
        oldest_day="",
    )
    commit_and_sweep(folder_of(tmp_path / "table", "test-eu"), version)
    (folder / "b2.log.gz").write_bytes(b"no gzip")
    return folder


@pytest.fixture
def acls(snapshot_file, tmp_path):
    return Path(shutil.copy(snapshot_file, tmp_path / "acls.jsonl"))


@pytest.fixture
def watch(logs, acls, tmp_path, monkeypatch):
    """Return a function that watches, with a step before each look after the first; and the sessions that began."""
    sessions: list[object] = []

    @contextmanager
    def session(*_words, **_facts):
        sessions.append(object())
        yield sessions[-1]

    def decided(_spark, snapshot, table, _window, _out, names):
        return {"state": state_of(snapshot, command.state_with(table, names))}

    monkeypatch.setattr(command, "spark_session", session)
    monkeypatch.setattr(command, "run_usage_of_table", decided)
    monkeypatch.setattr(command, "summary", lambda _manifest: ["Decided."])
    words = ["access", "--cluster", "test-eu", "--snapshot", str(acls), "--log", str(logs)]
    words += ["--usage", str(tmp_path / "usage"), "--out", str(tmp_path / "table"), "--every", "7"]

    def watched(*steps):
        left = list(steps)

        def sleep(_seconds):
            if not left:
                raise STOPPED
            left.pop(0)()

        monkeypatch.setattr(command.time, "sleep", sleep)
        return command.main(words)

    return watched, sessions


def nothing():
    """Happen between two looks."""


def test_a_result_that_was_written_is_not_written_again_while_nothing_is_new(watch, capsys):
    watched, sessions = watch

    assert watched(nothing, nothing, nothing) == 130

    assert len(sessions) == 1
    assert capsys.readouterr().out.count("Decided.") == 1


def test_other_acls_are_decided_at_the_next_look(watch, acls):
    watched, sessions = watch

    def change():
        acls.write_text("".join(acls.read_text().splitlines(keepends=True)[:-1]))

    assert watched(nothing, change, nothing) == 130

    assert len(sessions) == 2


def test_what_is_wrong_with_the_logs_is_said_when_it_begins(watch, logs, capsys):
    watched, _ = watch
    broken = logs / "b2.log.gz"

    watched(nothing, broken.unlink, nothing, lambda: broken.write_bytes(b"no gzip"), nothing)

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"{broken}: ") for line in lines)
