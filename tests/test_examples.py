"""A claim is tried on as many examples as it should be, and its failure names the shortest one."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.examples import EXAMPLES, assume, given, integers, lists, sampled_from, strings
from tests.hostile import acls, damaged

numbers = integers(0, 99)


def test_a_claim_is_tried_on_examples_that_differ():
    seen = []

    @given(numbers, numbers)
    def claim(one, other):
        seen.append((one, other))

    claim()

    assert len(seen) == EXAMPLES
    assert len(set(seen)) > EXAMPLES / 2


def test_a_claim_is_tried_on_the_same_examples_again():
    seen: list[list[str]] = [[], []]

    @given(strings(most=20))
    def claim(again, text):
        seen[again].append(text)

    for again in (0, 1):
        claim(again=again)

    assert seen[0] == seen[1]


def test_an_example_that_does_not_suit_is_replaced():
    seen = []

    @given(numbers)
    def claim(number):
        assume(number % 5 == 0)
        seen.append(number)

    claim()

    assert len(seen) == EXAMPLES


def test_a_claim_that_no_example_suits_fails():
    @given(numbers)
    def claim(number):
        assume(number > 99)

    with pytest.raises(AssertionError, match="too few suit the claim"):
        claim()


def test_a_claim_fails_with_the_shortest_example_that_breaks_it(capsys):
    @given(lists(numbers, most=20))
    def claim(drawn):
        assert sum(drawn) < 100, drawn

    with pytest.raises(AssertionError) as broken:
        claim()

    assert "examples fail, such as drawn=[" in capsys.readouterr().err
    assert len(str(broken.value).split("\n")[0].split(",")) <= 3


def test_examples_that_are_given_first_are_tried(capsys):
    @given(numbers, first=((1_000,),))
    def claim(number):
        assert number < 1_000

    with pytest.raises(AssertionError):
        claim()

    assert "1 examples fail, such as number=1000" in capsys.readouterr().err


def test_arguments_that_are_not_drawn_are_those_of_pytest(tmp_path):
    @given(sampled_from("ab"), number=numbers)
    def claim(tmp_path, number, letter):
        assert (tmp_path.is_dir(), letter in "ab", number in range(100)) == (True, True, True)

    claim(tmp_path=tmp_path)


def test_hostile_acls_and_damaged_texts_are_of_many_forms():
    met: Counter[str] = Counter()

    @given(acls(), damaged(strings("abc \n", least=5, most=20)))
    def claim(acl, text):
        met.update({f"operation {acl.operation.name}": 1, "an empty name": not acl.resource_name})
        met["a line break in a name"] += "\n" in acl.resource_name
        met["not ASCII"] += not acl.principal.isascii()
        met["as it was"] += 5 <= len(text) <= 20 and set(text) <= set("abc \n")
        met["a long text"] += len(text) > 1_000

    claim()

    assert len([word for word in met if word.startswith("operation")]) >= 14
    assert min(met.values()) >= 2, met
