import itertools
import random
import re

import pytest

from aclweb.acl.matching.glob import (
    EVERYTHING,
    Shape,
    Verdict,
    covers,
    matches,
    shape_of_glob,
    shape_of_name,
    shape_of_prefix,
)
from tests.each import each
from tests.random_cases import SCALE

NAMES = ["".join(letters) for length in range(6) for letters in itertools.product("abz", repeat=length)]


def as_regex(glob):
    written = "".join({"*": ".*", "?": "."}.get(character) or re.escape(character) for character in glob)
    return re.compile(written if glob else ".*", re.DOTALL)


def random_glob(rng, letters="aab?**", most=6):
    return "".join(rng.choice(letters) for _ in range(rng.randint(0, most)))


def random_shape(rng):
    text = random_glob(rng)
    kind = rng.choice(("glob", "glob", "prefix", "name"))
    plain = text.replace("*", "z").replace("?", "b")
    if kind == "glob":
        return shape_of_glob(text), as_regex(text)
    if kind == "prefix":
        return shape_of_prefix(plain), as_regex(plain + "*")
    return shape_of_name(plain), re.compile(re.escape(plain))


@pytest.mark.parametrize(
    ("glob", "name", "matching"),
    [
        ("orders", "orders", True),
        ("orders", "orders.eu", False),
        ("orders?", "orders", False),
        ("orders?", "orders1", True),
        ("*-accounts-*", "nl-accounts-localtopic", True),
        ("??-accounts-*", "nl-accounts-", True),
        ("??-accounts-*", "nld-accounts-x", False),
        ("HelloWo*d", "HelloWorld", True),
        ("HelloW*", "HelloWiked", True),
        ("He*m*", "Hermesmoon", True),
        ("H*World", "HappyWorld", True),
        ("", "anything", True),
        ("", "", True),
        ("*", "", True),
        ("?", "", False),
        ("?", "\U0001f600", True),
        ("?", "e\u0301", False),
        ("a.c", "abc", False),
        ("[ab]", "a", False),
        ("a\\*", "a\\b", True),
        ("a?b", "a\nb", True),
        ("a*b", "a\nb", True),
        ("ab*ba", "aba", False),
        ("*ab*ab", "ab", False),
        ("Orders", "orders", False),
    ],
)
def test_a_glob_is_read_as_the_proposal_says(glob, name, matching):
    assert matches(glob, name) is matching


@each("seed", range(20 * SCALE))
def test_a_glob_matches_what_its_regular_expression_matches(seed):
    rng = random.Random(f"glob {seed}")
    seen = set()
    for _ in range(100):
        glob = random_glob(rng, letters="aab?**.[", most=9)
        expected, shape = as_regex(glob), shape_of_glob(glob)
        for name in [random_glob(rng, letters="aab.[z\n", most=12) for _ in range(20)]:
            seen.add(shape.matches(name))
            assert shape.matches(name) == bool(expected.fullmatch(name)), (glob, name)
    assert seen == {True, False}


@each("seed", range(10 * SCALE))
def test_one_shape_covers_another_if_and_only_if_it_matches_all_its_names(seed):
    rng = random.Random(f"cover {seed}")
    verdicts = set()
    for _ in range(200):
        (wide, wide_regex), (narrow, narrow_regex) = random_shape(rng), random_shape(rng)
        cover = covers(wide, narrow)
        verdicts.add(cover.verdict)
        if cover:
            escaped = [n for n in NAMES if narrow_regex.fullmatch(n) and not wide_regex.fullmatch(n)]
            assert not escaped, (wide, narrow)
        else:
            name = cover.counterexample
            assert narrow_regex.fullmatch(name), (wide, narrow, name)
            assert not wide_regex.fullmatch(name), (wide, narrow, name)
    assert verdicts == {Verdict.YES, Verdict.NO}


@pytest.mark.parametrize(
    ("one", "other"),
    [("a**b", "a*b"), ("a*?b", "a?*b"), ("a*?*b", "a?*b"), ("", "*"), ("**", "*"), ("*??", "??*")],
)
def test_equal_patterns_have_equal_shapes(one, other):
    assert shape_of_glob(one) == shape_of_glob(other)
    assert covers(shape_of_glob(one), shape_of_glob(other))


def test_asterisks_and_question_marks_are_ordinary_in_prefixes_and_names():
    assert shape_of_prefix("a*").matches("a*b")
    assert not shape_of_prefix("a*").matches("ab")
    assert shape_of_name("a?").exact == "a?"
    assert covers(shape_of_glob("a?"), shape_of_name("a?"))
    assert not covers(shape_of_prefix("a*"), shape_of_glob("a*"))


def test_a_shape_knows_its_literal_parts():
    shape = shape_of_glob("pay*ments?eu")

    assert shape.head == "pay"
    assert shape.longest_run == "ments"
    assert shape.literal_count == 10
    assert shape.shortest == 11
    assert shape_of_glob("?ay*").head == ""
    assert EVERYTHING.longest_run == ""


A_LONG_NAME = "a" * 32_767


@pytest.mark.parametrize(
    ("glob", "matching"),
    [
        ("a*" * 10 + "ba", False),
        ("a*" * 20 + "b*a", False),
        ("*" + "a" * 2_000 + "b*", False),
        ("*" + "a" * 2_000 + "?b*", False),
        ("*a?" * 1_300, True),
        ("*" * 4_096, True),
        ("?" * 4_096 + "*", True),
    ],
)
def test_no_glob_looks_at_a_long_name_more_often_than_its_parts_allow(glob, matching):
    looks = CountingName(A_LONG_NAME)

    assert shape_of_glob(glob).matches(looks) is matching

    assert looks.count <= 2 * len(A_LONG_NAME) + 3 * len(glob)


@pytest.mark.parametrize("part", ["a?b", "aa?" * 10 + "b", "?" * 20 + "b"])
def test_a_short_part_with_holes_is_not_sought_letter_by_letter_in_the_longest_name(part):
    looks = CountingName(A_LONG_NAME)

    assert not shape_of_glob(f"*{part}*").matches(looks)

    assert looks.count <= 2 * len(part)


class CountingName(str):
    """A name that counts how often one of its characters is looked at one by one, or a part is searched."""

    count = 0  # type: ignore[assignment]

    def __getitem__(self, place):
        self.count += 1
        return super().__getitem__(place)

    def startswith(self, *given):
        self.count += 1
        return super().startswith(*given)

    def find(self, *given):
        self.count += 1
        return super().find(*given)


def test_comparing_hard_patterns_ends_in_an_answer_or_says_unknown():
    hard = shape_of_glob("*a?" * 1_300)
    other = shape_of_glob("*a*" * 1_300)

    assert covers(hard, other, steps=1_000).verdict is Verdict.UNKNOWN
    assert covers(other, hard)


def test_a_character_of_no_pattern_is_found_however_many_are_taken():
    taken = shape_of_name("".join(map(chr, range(0x20, 0x3000))))

    cover = covers(taken, Shape(((None,),)))

    assert cover.verdict is Verdict.NO
    assert cover.counterexample not in taken.characters
