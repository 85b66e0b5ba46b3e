"""An edit costs little or is refused by naming the ACL that costs most, and nobody's ordinary edit is refused.

All shapes on a small and on a large cluster: `python -m bench.effects`.
"""

from __future__ import annotations

import pytest

from aclweb.acl.simulate.budget import ON_A_SITE
from bench import worlds
from bench.effects import faults, in_a_process, work_out
from tests.acl.shapes import Shape, World, shapes

SHAPES = {shape.title: shape for shape in shapes()}

WORST = (
    "600 x ALL on *, own principals and hosts",
    "60 x READ on *, everybody, own hosts",
    "5000 x ALL on *, own principals",
    "DENY User:* ALL on *",
    "1,400 nested prefixes",
    "240 nested prefixes, everybody",
    "5,000 literal topics, ALL, own principals and hosts",
    "500 address ranges on *, one principal",
    "24 ranges in ranges, everybody",
    "everything on the cluster, everybody, 5,000 hosts",
    "5000 new topics and ALL on * for everybody",
    "600 mixed",
)


@pytest.fixture(scope="module")
def small() -> World:
    return World.of(worlds.bindings(255), worlds.topic_names(150))


@pytest.mark.thorough(
    instead="tests/acl/test_shapes.py::test_a_shape_takes_at_most_half_more_work_than_is_kept"
)
@pytest.mark.long
@pytest.mark.parametrize("title", WORST)
def test_the_worst_edits_are_cheap_or_refused_with_a_sentence(small: World, title: str) -> None:
    found = in_a_process(small, SHAPES[title], ON_A_SITE)

    assert faults(SHAPES[title], found) == []


@pytest.mark.parametrize(
    "shape", [each for each in SHAPES.values() if each.ordinary], ids=lambda each: each.title
)
def test_an_ordinary_edit_is_never_refused(small: World, shape: Shape) -> None:
    assert "counts" in work_out(shape.question(small), ON_A_SITE)


def test_what_once_took_a_quarter_of_a_gigabyte_is_stored_in_little(small: World) -> None:
    shape = SHAPES["600 x ALL on *, own principals and hosts"]

    found = work_out(shape.question(small), ON_A_SITE)

    assert sum(found["counts"].values()) > 1_000_000
    assert found["stored"] < 100_000
