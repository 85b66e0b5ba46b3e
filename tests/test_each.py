"""A claim that is tried on many values in one test is tried on all of them, and names the one that breaks it."""

from __future__ import annotations

import inspect

import pytest

from tests.each import each


def test_a_claim_on_each_value_fails_with_the_value_in_its_report():
    tried = []

    @each("one, other", [(1, 2), (3, 4), (5, 6)])
    def claim(other, one):
        tried.append((one, other))
        assert one < 3

    with pytest.raises(AssertionError) as broken:
        claim()

    assert tried == [(1, 2), (3, 4)]
    assert broken.value.__notes__ == ["It was tried on one=3, other=4."]


def test_the_arguments_that_are_left_are_those_of_pytest(tmp_path):
    tried = []

    @each("number", range(5))
    def claim(tmp_path, number):
        tried.append((tmp_path, number))

    claim(tmp_path=tmp_path)

    assert tried == [(tmp_path, number) for number in range(5)]
    assert list(inspect.signature(claim).parameters) == ["tmp_path"]
