"""What is asked in parts leaves nothing out for good."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests import groups
from tests.turns import TURN, due, is_due


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("first", [0, 20_784])
def test_so_many_turns_in_a_row_take_each_thing_once(parts, first):
    things = [f"page {number}" for number in range(20)]

    taken = [due(things, parts, turn) for turn in range(first, first + parts)]

    assert sorted(thing for part in taken for thing in part) == sorted(things)
    assert max(map(len, taken)) - min(map(len, taken)) <= 1


def test_a_turn_takes_the_same_things_again_and_what_is_added_moves_none():
    things = list(range(10))

    assert due(things, 3, 5) == due(things, 3, 5) == [2, 5, 8]
    assert due([*things, 10, 11], 3, 5) == [2, 5, 8, 11]


def test_each_part_has_its_turn_once_in_so_many_days():
    for parts in (1, 2, 3):
        for number in range(parts):
            assert sum(is_due(parts, number, turn) for turn in range(100, 100 + parts)) == 1
    with pytest.raises(AssertionError, match="never has its turn"):
        is_due(3, 3)


@pytest.mark.parametrize(("later", "added"), [(0, []), (1, ["thorough"]), (2, ["thorough"])])
def test_a_test_whose_turn_is_another_day_is_left_out_like_thorough_ones(later, added):
    marks: list[str] = []
    turns = SimpleNamespace(args=(3, (TURN + later) % 3))
    item = SimpleNamespace(
        nodeid="tests/test_x.py::test_it",
        stash={},
        iter_markers=list,
        get_closest_marker={"turns": turns}.get,
        add_marker=marks.append,
    )

    groups.pytest_collection_modifyitems([item])

    assert marks == added
