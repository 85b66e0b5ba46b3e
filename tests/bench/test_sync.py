"""What `python -m bench.sync` makes of what it measured; the run itself takes minutes."""

from __future__ import annotations

import pytest

from bench.sync import STEPS, Asked, Cost, bounds, figures_of, parse

ASKED = Asked(100_000, 2, ("zookeeper",), ("sqlite",), False)
BARE = Cost(2.0, 3.0, 80.0, 50_000, 100_000)


def verdicts(kind: str, step: str, cost: Cost, asked: Asked = ASKED) -> list[str]:
    return [figure.verdict for figure in figures_of(kind, "sqlite", step, asked, cost, BARE)]


def test_the_defaults_are_a_hundred_thousand_acls_on_both_databases() -> None:
    asked = parse([])

    assert (asked.acls, asked.acls_a_node, asked.kinds, asked.databases) == (
        100_000,
        2,
        ("zookeeper",),
        ("sqlite", "postgresql"),
    )
    assert parse(["--kind", "all"]).kinds == ("zookeeper", "admin")


@pytest.mark.parametrize("wrong", [("--acls", "0"), ("--acls-a-node", "0"), ("--kind", "file")])
def test_what_cannot_be_measured_is_refused_with_a_sentence(wrong, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(wrong)

    assert ended.value.code == 2
    assert "--" in capsys.readouterr().err


def test_each_step_is_held_to_its_own_bounds_and_the_others_to_none() -> None:
    assert bounds("zookeeper", "first sync", 100_000) == (6.0, 250.0, None)
    assert bounds("zookeeper", "first sync", 1_000_000) == (60.0, 1_500.0, None)
    assert bounds("zookeeper", "quiet sync", 1_000_000) == (None, None, 50)
    assert bounds("admin", "quiet sync", 100_000) == (2.0, None, None)
    for step in STEPS:
        if step not in ("first sync", "quiet sync"):
            assert bounds("admin", step, 100_000) == (None, None, None)


def test_a_figure_above_its_bound_is_missed() -> None:
    assert verdicts("zookeeper", "first sync", Cost(6.0, 9.0, 250.0, 80_000, 100_000)) == ["met", "met", ""]
    assert verdicts("zookeeper", "first sync", Cost(6.1, 9.0, 251.0, 80_000, 100_000)) == [
        "MISSED",
        "MISSED",
        "",
    ]
    assert verdicts("zookeeper", "quiet sync", Cost(9.0, 9.0, 900.0, 51, 100_000)) == ["", "", "MISSED"]
    assert verdicts("admin", "quiet sync", Cost(2.1, 9.0, 900.0, None, 100_000)) == ["MISSED", ""]


def test_each_figure_stands_beside_the_bare_read_of_its_run() -> None:
    (cpu, *_) = figures_of(
        "zookeeper", "sqlite", "whole sync", ASKED, Cost(5.0, 6.0, 200.0, 1, 100_000), BARE
    )

    assert "2.50 of a bare read" in cpu.line()
