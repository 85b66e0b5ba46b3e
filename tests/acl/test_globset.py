"""What a GlobSet finds is what trying each glob finds, and few globs are tried for it."""

from __future__ import annotations

import pickle
import random

import pytest

from aclweb.acl.matching.glob import shape_of_glob, shape_of_prefix
from aclweb.acl.matching.globset import FEW, GlobSet
from tests.acl.test_names import company_names, random_glob
from tests.each import each
from tests.random_cases import SCALE


@pytest.mark.parametrize("count", [0, 1, FEW, FEW + 1, 60, 600])
def test_a_set_finds_the_globs_that_match_one_by_one(count: int) -> None:
    rng = random.Random(f"set of {count}")
    names = company_names(rng, 150 * SCALE)
    shapes = [rng.choice((shape_of_glob, shape_of_prefix))(random_glob(rng, names)) for _ in range(count)]
    globs = GlobSet(shapes)
    found_some = 0
    for name in [*names[:100], "", "*", "a", "x" * 4_000 + rng.choice(names)]:
        expected = [place for place, shape in enumerate(shapes) if shape.matches(name)]

        assert globs.matching(name) == expected, name
        found_some += bool(expected)
    assert found_some > 10 or count <= FEW + 1


@each("seed", range(20 * SCALE))
def test_short_globs_are_found_by_their_head_their_tail_or_a_single_character(seed: int) -> None:
    rng = random.Random(f"short globs {seed}")
    shapes = [shape_of_glob("".join(rng.choice("ab?*") for _ in range(rng.randint(0, 6)))) for _ in range(40)]
    globs = GlobSet(shapes)
    for _ in range(60):
        name = "".join(rng.choice("abc") for _ in range(rng.randint(0, 7)))

        assert globs.matching(name) == [i for i, shape in enumerate(shapes) if shape.matches(name)], name


def test_equal_globs_are_tried_once_and_each_is_reported() -> None:
    globs = GlobSet([shape_of_glob("*orders*")] * 50 + [shape_of_glob(f"x{n}*") for n in range(FEW)])

    assert globs.matching("eu.orders") == list(range(50))
    assert len(globs.candidates("eu.orders")) == 1


def test_of_ten_thousand_globs_a_name_tries_a_few() -> None:
    shapes = [shape_of_glob(f"*.team{n % 500}.*v{n // 500}") for n in range(10_000)]
    globs = GlobSet(shapes)
    names = [f"nl.team{n}.orders.v{n % 20}" for n in range(500)]

    tried = [len(globs.candidates(name)) for name in names]

    assert all(globs.matching(name) for name in names)
    assert sum(tried) / len(tried) < 100


def test_a_set_travels() -> None:
    globs = GlobSet([shape_of_glob(f"a*{n}") for n in range(20)])

    assert pickle.loads(pickle.dumps(globs)).matching("abc7") == globs.matching("abc7") == [7]
