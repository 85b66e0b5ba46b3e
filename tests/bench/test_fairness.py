"""What `python -m bench.fairness` makes of what it measured; the run itself takes minutes."""

from __future__ import annotations

import pytest

from bench.fairness import Asked, Row, Told, parse, report, verdicts

ASKED = Asked(clusters=3, dead=1, large=1, acls=500, interval=10, intervals=6, slots=2)


def told(*rows: Row, failed: tuple[str, ...] = ()) -> Told:
    return Told(rows=list(rows), until=60.0, loads=[1.0, 3.0], failed=list(failed))


def row(name: str, *begins: float, what: str = "small", state: str = "ok") -> Row:
    return Row(name, what, begins, tuple(begin + 2.0 for begin in begins), state, 0)


EVERY_TEN = (5.0, 15.0, 25.0, 35.0, 45.0, 55.0)


def test_the_defaults_are_thirty_clusters_on_two_slots() -> None:
    asked = parse([])

    assert (asked.clusters, asked.dead, asked.large, asked.small, asked.acls) == (30, 10, 5, 15, 100_000)
    assert (asked.interval, asked.slots) == (60, 2)


@pytest.mark.parametrize(
    "wrong",
    [
        ("--clusters", "10", "--dead", "8", "--large", "5"),
        ("--clusters", "4", "--dead", "4", "--large", "0"),
        ("--interval", "0"),
        ("--intervals", "2"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_a_sentence(wrong, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(wrong)

    assert ended.value.code == 2
    assert "must" in capsys.readouterr().err


def test_the_longest_wait_counts_from_begin_to_begin_and_to_the_end() -> None:
    assert row("a", 5, 15, 40, 55).longest_wait(60) == 25
    assert row("a", 5, 15).longest_wait(60) == 45
    assert row("a").longest_wait(60) == 60


def test_a_sync_lasts_from_its_begin_to_its_own_end() -> None:
    assert Row("a", "small", (0.0, 10.0, 20.0), (4.0, 12.0), "ok", 0).durations() == [4.0, 2.0]


def test_a_living_cluster_that_waited_for_two_intervals_and_no_more_is_in_time() -> None:
    on_time = told(row("small-0", 5, 25, 45), row("dead-0", 5, what="closed port", state="unreachable"))
    late = told(row("small-0", 5, 25, 45.5))

    assert verdicts(ASKED, on_time) == []
    assert verdicts(ASKED, late) == ["small-0 waited for 2.05 intervals."]
    assert report(ASKED, late)[-1].endswith("2.05 intervals (20 s); at most 2 are due: MISSED.")


def test_a_state_that_cannot_be_and_a_failed_worker_are_reported() -> None:
    wrong = verdicts(
        ASKED,
        told(
            row("large-0", *EVERY_TEN, what="large", state="unreachable"),
            row("dead-0", *EVERY_TEN, what="closed port"),
            failed=("The beat was replaced.",),
        ),
    )

    assert wrong == [
        "The beat was replaced.",
        "large-0 lives, and its state is 'unreachable'.",
        "dead-0 is dead (closed port), and its state is ok.",
    ]
