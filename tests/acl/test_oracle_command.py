"""`python -m tests.oracle` asks what it is told to ask, says what it found, and ends accordingly."""

from __future__ import annotations

import contextlib

import pytest

from devstack import jars
from tests.oracle import __main__ as command
from tests.oracle.comparing import Difference
from tests.oracle.targets import TARGETS
from tests.oracle.worlds import make_world
from tests.servers import need_jars


@pytest.mark.jvm
def test_compare_tells_seed_target_and_balance_and_ends_with_0_where_nothing_differs(capsys):
    need_jars("4.4.0")

    status = command.main(
        ["compare", "--decisions", "1000", "--by-type", "100", "--seed", "abc", "--target", "standard 4.4.0"]
    )

    told = capsys.readouterr().out
    assert status == 0
    assert "Seed abc." in told
    assert "standard 4.4.0: " in told
    assert "asked name: " in told
    assert told.strip().endswith(": 0 differences.")


def test_a_release_that_cannot_be_asked_about_whole_types_is_not(monkeypatch):
    asked: dict[str, tuple[int, int]] = {}

    def none(program, target, seed, *, decisions, type_decisions, **others):
        asked[str(target)] = (decisions, type_decisions)
        return iter(())

    monkeypatch.setattr(command, "compare", none)
    monkeypatch.setattr(command, "_program", lambda target: contextlib.nullcontext())
    targets = [f"--target={target}" for target in TARGETS]

    assert command.main(["compare", "--decisions", "1000", "--by-type", "90", "--seed", "abc", *targets]) == 0
    assert asked["acl 2.4.1"] == (100, 0)
    assert asked["acl 2.8.2"] == asked["standard 4.4.0"] == (100, 10)


@pytest.mark.jvm
def test_compare_ends_with_1_and_prints_a_difference_at_its_smallest(capsys, monkeypatch):
    need_jars("4.4.0")

    def one(program, target, seed, **counts):
        world = make_world("x/1", "standard", "3.3")
        yield Difference(target, world, next(world.requests()), "DENIED by itself", "decides ALLOWED")

    monkeypatch.setattr(command, "compare", one)
    status = command.main(["compare", "--seed", "abc", "--target", "standard 4.4.0"])

    told = capsys.readouterr().out
    assert status == 1
    assert "DIFFERENT: standard 4.4.0, world x/1" in told
    assert '"expected": "DENIED"' in told
    assert "1 differences." in told


def test_a_target_that_is_none_is_reported_with_those_that_are(capsys):
    status = command.main(["compare", "--target", "standard 9.9.9"])

    assert status == 2
    assert "no target 'standard 9.9.9'; use one of standard 3.9.2, " in capsys.readouterr().err


def test_versions_whose_jars_are_not_here_are_told_and_without_any_nothing_is_asked(
    capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("ACLWEB_KAFKA_HOME", str(tmp_path))

    status = command.main(["compare"])

    told = capsys.readouterr()
    assert status == 2
    assert told.out.count("NOT ASKED: ") == len(TARGETS)
    assert "run python -m tests.oracle fetch" in told.err


def test_fetch_fetches_the_jars_of_every_version(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(jars, "fetch", asked.append)

    assert command.main(["fetch"]) == 0
    assert {target.version for target in TARGETS} <= set(asked)
