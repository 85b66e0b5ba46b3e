"""Does `access --every` look again and again, whatever goes wrong in between, and end when it is stopped?"""

from __future__ import annotations

import pytest

from aclweb.pipeline import __main__ as command
from aclweb.pipeline.failures import JobError
from aclweb.pipeline.files import SourceError

WORDS = ["access", "--cluster", "prod", "--log", "logs", "--out", "table", "--every", "7"]
STOPPED = KeyboardInterrupt()


@pytest.fixture
def looking(monkeypatch):
    """What each look comes to, which a test fills; how long was slept; how often the JVM was ended."""
    looks: list[BaseException | None] = []
    slept: list[float] = []
    ended: list[bool] = []

    def extend(_options, *, is_again: bool = False) -> None:
        assert is_again == bool(slept)
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
