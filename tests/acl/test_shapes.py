"""The edits that cost most: no more work than before, refused by a sentence, and right where they are small."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pytest

from aclweb.acl.simulate import LISTS
from bench import worlds
from tests.acl.shape_figures import LARGE, SMALL, cluster, excess, kept, measured
from tests.acl.shapes import World, shapes
from tests.acl.test_groups import assert_groups_are_disjoint_and_none_can_be_joined, compared
from tests.random_cases import SCALE

FULL = SCALE > 1
EVERY = tuple(shapes())
BRIEF = {shape.title: shape for shape in (each.briefly for each in EVERY)}
WHOLE = {shape.title: shape for shape in EVERY}
TWINS = {shape.title: shape for shape in (each.in_small(12 if FULL else 4) for each in EVERY)}


@pytest.fixture(scope="module")
def clusters() -> Callable[[str], World]:
    return lru_cache(cluster)


@pytest.fixture(scope="module")
def tiny() -> World:
    return World.of(worlds.bindings(20), worlds.topic_names(8))


def test_there_are_sixty_worst_shapes_and_those_of_every_day() -> None:
    assert len(WHOLE) == len(EVERY)
    assert [
        shape.title for shape in EVERY if shape.briefly != shape and shape.briefly.title == shape.title
    ] == []
    assert sum(not shape.ordinary for shape in EVERY) >= 60
    assert sum(shape.ordinary for shape in EVERY) >= 10


TRIED = [(SMALL, title) for title in BRIEF]
if FULL:
    TRIED += [(SMALL, shape.title) for shape in EVERY if not shape.is_large and shape.title not in BRIEF]
    TRIED += [(LARGE, shape.title) for shape in EVERY]


@pytest.mark.parametrize("where, title", TRIED)
def test_a_shape_takes_at_most_half_more_work_than_is_kept(
    clusters: Callable[[str], World], where: str, title: str
) -> None:
    shape = WHOLE.get(title) or BRIEF[title]
    question = shape.question(clusters(where))
    found, sentence = measured(question)
    # Figures of the large cluster are kept once somebody has taken the hour that it takes to measure them.
    if where == SMALL or title in kept(where):
        assert list(excess(found, kept(where)[title])) == [], found
    assert not (found.refused and shape.ordinary), sentence
    if found.refused:
        assert "too large to compute here" in sentence or "Too many answers differ" in sentence
        assert ("The ACL that costs most is: " in sentence) == bool(question.delta)


@pytest.mark.half
@pytest.mark.parametrize("title", TWINS)
def test_a_shape_in_small_is_what_the_engine_of_cells_finds(tiny: World, title: str) -> None:
    asked = TWINS[title].question(tiny)
    for brief in (True, False) if FULL else (len(title) % 2 == 0,):
        impact = compared(
            asked.delta, asked.acls, asked.names, asked.settings, asked.after_settings, brief=brief
        )
        assert_groups_are_disjoint_and_none_can_be_joined(impact)
        assert {group.change for group in impact.groups} <= set(LISTS)
