"""What is asked in parts leaves nothing out for good."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

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


NOTHING: dict[str, Any] = {"args": (), "kwargs": {}}


class Item:
    """A test with these marks."""

    stash: dict[object, object]

    def __init__(self, nodeid="tests/test_x.py::test_it", subject="", **marks):
        self.nodeid, self.stash, self.added = nodeid, {}, []
        self.callspec = SimpleNamespace(params={"subject": subject})
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


def named(number):
    return f"tests/test_x.py::test_{number}[a]"


def of_a_file(number):
    return f"tests/test_{number}.py::test_it"


@pytest.mark.parametrize(("mark", "days", "is_by_file"), groups.TURNS)
def test_of_what_is_dear_each_day_asks_a_part_and_all_days_ask_all(monkeypatch, mark, days, is_by_file):
    name = of_a_file if is_by_file else named

    def asked(day, **marks):
        monkeypatch.setattr(groups, "is_due", partial(is_due, turn=day))
        items = [Item(name(number), **{mark: NOTHING}, **marks) for number in range(40)]
        other = {"kwargs": {"instead": name(7).partition("[")[0]}}
        groups.pytest_collection_modifyitems([*items, Item("tests/test_y.py::test_it", thorough=other)])
        return {item.nodeid for item in items if "thorough" not in item.added}

    parts = [asked(day) for day in range(days)]

    assert set.intersection(*parts) == {name(7)}
    assert sum(len(part - {name(7)}) for part in parts) == len(set.union(*parts) - {name(7)}) == 39
    assert min(map(len, parts)) > 40 / days / 2
    assert [asked(day, every_run=NOTHING) for day in range(days)] == [set.union(*parts)] * days


def test_what_two_brokers_are_asked_one_of_them_is_asked_a_day(monkeypatch):
    def asked(day, **marks):
        monkeypatch.setattr(groups, "is_due", partial(is_due, turn=day))
        items = [
            Item("tests/test_x.py::test_it", subject, **marks) for subject in ("kafka44", "kafka39", "fake")
        ]
        groups.pytest_collection_modifyitems(items)
        return [item.callspec.params["subject"] for item in items if "thorough" not in item.added]

    assert [asked(0), asked(1)] == [["kafka39", "fake"], ["kafka44", "fake"]]
    assert asked(0, every_run=NOTHING) == asked(1, every_run=NOTHING) == ["kafka44", "kafka39", "fake"]


def test_of_the_ways_to_ask_kafka_s_classes_a_day_asks_half(monkeypatch):
    def asked(day):
        monkeypatch.setattr(groups, "is_due", partial(is_due, turn=day))
        items = [Item(named(number), jvm=NOTHING) for number in range(40)]
        groups.pytest_collection_modifyitems(items)
        return {item.nodeid for item in items if "thorough" not in item.added}

    assert len(asked(0) | asked(1)) == 40
    assert not asked(0) & asked(1)
    assert min(len(asked(0)), len(asked(1))) > 10
