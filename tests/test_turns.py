"""What is asked in parts leaves nothing out for good."""

from __future__ import annotations

from functools import partial
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


class Item:
    """A test with these marks."""

    stash: dict[object, object]

    def __init__(self, name="test_it", **marks):
        self.nodeid, self.stash, self.added = f"tests/test_x.py::{name}", {}, []
        self.marks = {mark: SimpleNamespace(name=mark, **given) for mark, given in marks.items()}

    def iter_markers(self):
        return self.marks.values()

    def get_closest_marker(self, name):
        return self.marks.get(name)

    def add_marker(self, mark):
        self.added.append(mark)


@pytest.mark.parametrize(("later", "added"), [(0, []), (1, ["thorough"]), (2, ["thorough"])])
def test_a_test_whose_turn_is_another_day_is_left_out_like_thorough_ones(later, added):
    item = Item(turns={"args": (3, (TURN + later) % 3), "kwargs": {"instead": "tests/test_y.py::test_it"}})

    groups.pytest_collection_modifyitems([item])

    assert item.added == added


def test_of_the_tests_in_chromium_each_day_asks_a_part_and_all_days_ask_all(monkeypatch):
    browser = {"args": (), "kwargs": {}}
    names = [f"test_{number}[a]" for number in range(40)]

    def asked(**marks):
        items = [Item(name, browser=browser, **marks) for name in names]
        groups.pytest_collection_modifyitems([*items, *others])
        return {item.nodeid for item in items if "thorough" not in item.added}

    def on_each_day(**marks):
        days = []
        for day in range(groups.BROWSER_PARTS):
            monkeypatch.setattr(groups, "is_due", partial(is_due, turn=day))
            days.append(asked(**marks))
        return days

    others = [Item(thorough={"kwargs": {"instead": "tests/test_x.py::test_7"}})]
    first, second = on_each_day()
    assert first & second == {"tests/test_x.py::test_7[a]"}
    assert len(first | second) == 40
    assert min(len(first), len(second)) > 10
    assert on_each_day(every_run=browser) == [first | second] * 2
