"""Java's regular expressions: its dialect, its captures, its refusals, and an end to every question."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclweb.acl.principals.java_regex import (
    CannotTell,
    InvalidPattern,
    InvalidReplacement,
    JavaPattern,
    RefusedPattern,
    RegexError,
    machine,
)
from aclweb.acl.principals.java_regex.java_text import Text
from aclweb.acl.principals.java_regex.machine import Machine
from aclweb.acl.principals.java_regex.parser import parse
from aclweb.acl.principals.java_regex.program import compiled
from tests.hostile import round_trip
from tests.random_cases import SCALE
from tests.random_patterns import random_pattern


def found(pattern: str, text: str) -> list[str]:
    subject = Text(text)
    return [subject.part(spans[0]) for spans in JavaPattern.read(pattern).find_all(text)]


def groups(pattern: str, text: str) -> list[str | None]:
    subject = Text(text)
    spans = JavaPattern.read(pattern).matches(text)
    assert spans is not None
    return [None if span == (-1, -1) else subject.part(span) for span in spans[1:]]


# The dialect. Every line was asked of Java.


@pytest.mark.parametrize(
    "pattern, text",
    [
        (r"\Qa.b*\E+", "a.b**"),
        (r"\x41\u0042\x{1F600}\0103\cA", "AB\U0001f600C\x01"),
        (r"[a-c[x-z]&&[^b]]+", "acxyz"),
        (r"[]a]+", "]a"),
        (r"[a-]+", "a-"),
        (r"[^-a]", "b"),
        (r"\p{Lower}\p{javaUpperCase}\pL\P{Nd}", "aBéx"),
        (r"(?i)aBÉ", "AbÉ"),
        (r"(?iu)é", "É"),
        (r"(?x) a b # and so on", "ab"),
        (r"(?s).", "\n"),
        (r"(?d).", "\r"),
        (r"a{2}{3}", "aa"),
        (r"(?<word>\w+)-\k<word>", "ab-ab"),
        (r"(?>a|ab)c", "ac"),
        (r"(?=ab)a.", "ab"),
        (r"(?!b)a", "a"),
        (r"\R\h\v", "\r\n\xa0\x0b"),
        (r"\R\n", "\r\n"),
        (r"\R{2}", "\r\n\n"),
        (".", "\U0001f600"),
    ],
)
def test_a_pattern_of_java_s_dialect_matches(pattern, text):
    assert JavaPattern.read(pattern).matches(text) is not None


@pytest.mark.parametrize(
    "pattern, text",
    [
        (r"(?i)é", "É"),
        (r"\w", "é"),
        (r"\d", "\u0663"),
        (r".", "\u2028"),
        (r"(?>a|ab)c", "abc"),
        (r"a++a", "aa"),
        # Java does not go back into a line break with a quantifier.
        (r"\R?\n", "\r\n"),
        (r"[a-c&&b-d]", "a"),
        (r"(\2a|(b))+", "ba"),
        # No character is the one before it.
        (r"((?!\1).)*", "aa"),
    ],
)
def test_a_pattern_of_java_s_dialect_does_not_match(pattern, text):
    assert JavaPattern.read(pattern).matches(text) is None


@pytest.mark.parametrize(
    "pattern, text, expected",
    [
        ("(a|b)*", "ab", ["b"]),
        ("(a*)*", "aa", [""]),
        ("(a*)+", "b"[:0], [""]),
        ("()*", "", [None]),
        ("(){0,1}", "", [""]),
        # Java forgets to put these back.
        ("(?:(a)b)*(?:ab)?c|.*", "abab", ["a"]),
        ("(?:(b)*B{1,2}x{2}){1,}", "bbBxxbBxx", ["b"]),
        # A turn of a loop sees what the turn before it captured.
        (r"((?=(\1)\2|..)[ab])+.", "abbbc", ["b", "b"]),
        # Java captures again on its way back from a match, but not where the next turn has another length.
        ("(?:.{0,3}a(..)*){2}", "axx--a..//", ["--"]),
        ("(?:.{0,2}[\U0001f600a](..)*){2}", "a-,-.a\U0001f600-_-;", ["-;"]),
    ],
)
def test_groups_hold_what_java_leaves_in_them(pattern, text, expected):
    assert groups(pattern, text) == expected


def test_a_loop_in_a_repeated_atomic_group_tries_no_place_twice():
    assert JavaPattern.read("(?>(?:()?+a+)+b)*aa").matches("aa") == [(0, 2), (1, 1)]
    assert JavaPattern.read("(?=(()?+(a)+)+b)?aa").matches("aa") == [(0, 2), (-1, -1), (1, 1), (-1, -1)]


def test_where_a_match_is_empty_the_next_search_begins_one_unit_later():
    assert JavaPattern.read("x*").replace_all("ab", "-") == "-a-b-"
    assert JavaPattern.read(".*").replace_all("ab", "-") == "--"
    assert JavaPattern.read("|a").replace_all("a", "-") == "-a-"
    # Between the halves of a character too.
    assert JavaPattern.read("x*").replace_all("\U0001f600", "-") == "-\ud83d-\ude00-"


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "[a", "*a", "a**", "{", "a{2,1}", "a{x}", "[b-a]", r"\q", r"\p{", r"\x4", r"\u12", "(?z)", "(?<1a>b)",
     "(?<a>b)(?<a>c)", r"\k<a>", "\\", "(?", r"[\b]", r"\pX", r"\x{110000}", r"\E"],
)  # fmt: skip
def test_what_java_refuses_is_invalid_and_says_where(pattern):
    with pytest.raises(InvalidPattern, match=r"Java refuses the pattern .* at character [0-9]+: .*[.]"):
        JavaPattern.read(pattern)


@pytest.mark.parametrize(
    "pattern, construct",
    [
        ("(?<=a)b", "a look-behind `(?<=`"),
        ("(?<!a)b", "a look-behind `(?<!`"),
        (r"\X", r"`\X`"),
        (r"\N{COMMA}", r"`\N`"),
        (r"\b{g}", r"`\b{g}`"),
        ("(?U)a", "the flag `(?U)`"),
        (r"\p{IsLatin}", r"the property `\p{IsLatin}`"),
        (r"\p{IsAlphabetic}", r"the property `\p{IsAlphabetic}`"),
        (r"\p{InGreek}", r"the property `\p{InGreek}`"),
        ("[a&&]", "`&&` with nothing after it"),
        ("\ud83d", "half of a surrogate pair"),
        ("a{100001}", "more than 100,000 repetitions"),
        ("(" * 100 + ")" * 100, "more than 80 levels of brackets"),
        (r"(?iu)(a)\1", "a reference back to a group under `(?iu)`"),
        ("a" * 20_001, "pattern length"),
    ],
)
def test_what_is_not_evaluated_is_refused_by_its_name(pattern, construct):
    with pytest.raises(RefusedPattern) as refusal:
        JavaPattern.read(pattern)

    assert refusal.value.construct == construct
    assert "aclweb" in str(refusal.value)


@pytest.mark.parametrize(
    "pattern, text, answer",
    [
        # Every Java finds the difference inside of the group, or none behind it.
        (r"(?i)(..)\1..", "a\U0001f600b\U0001f600ab", False),
        (r"(?i)(..)(.)\1(.)", "a\U0001f600-A\U0001f600-", True),
        (r"(..)\1", "a\U0001f600a\U0001f600", True),
        # Before Java 19 the search goes beyond the group: to another character, or off the text.
        (r"(?i)(..)(.)\1(.)", "a\U0001f600-A\U0001f600+", None),
        (r"(?i)(..)\1", "a\U0001f600A\U0001f600", None),
    ],
)
def test_a_reference_back_to_pairs_is_answered_where_all_javas_agree(pattern, text, answer):
    if answer is None:
        with pytest.raises(CannotTell, match="depends on the broker's version of Java"):
            JavaPattern.read(pattern).matches(text)
    else:
        assert (JavaPattern.read(pattern).matches(text) is not None) is answer


@pytest.mark.parametrize(
    "pattern, begins",
    [
        # Where Java holds no set by itself that may take such characters, it begins at the second half too.
        (r"(?!\x{1F600}a)", [1, 2, 3]),
        (r"(?!\x{1F600}a|.{3})", [1, 2, 3]),
        (r"(?iu)kk|(?!\x{1F600}a)", [1, 2, 3]),
        (r"[à-ÿ]|(?!\x{1F600}a)", [1, 2, 3]),
        (r"(?!\x{1F600})", [2, 3]),
        ("(?!\U0001f600a)", [2, 3]),
        (r"(?iu)k|(?!\x{1F600}a)", [2, 3]),
        (r"(?iu)kkk?|(?!\x{1F600}a)", [2, 3]),
        (r"(?i)[à-ÿ]|(?!\x{1F600}a)", [2, 3]),
        (r"[^a]{9}|(?!\x{1F600}a)", [2, 3]),
    ],
)
def test_a_search_begins_inside_of_a_pair_where_java_s_does(pattern, begins):
    assert [spans[0][0] for spans in JavaPattern.read(pattern).find_all("\U0001f600a")] == begins


def test_what_depends_on_the_version_of_java_is_not_reported():
    # The edge of a word beside é: Java 18 and Java 19 differ.
    with pytest.raises(CannotTell):
        JavaPattern.read(r"\bé").find("é")
    # A letter of Unicode 15.
    with pytest.raises(CannotTell):
        JavaPattern.read(r"\pL").find("\U00031350")
    assert JavaPattern.read(r"\b.").find("a") is not None


@pytest.mark.parametrize(
    "pattern, replacement, expected",
    [
        ("(a)(b)?", "$1$2-", "a-c"),
        ("(a)", "$12", "a2c"),
        ("(?<n>a)", "${n}!", "a!c"),
        ("a", r"\$\1\\", "$1\\c"),
    ],
)
def test_a_replacement_names_groups_as_in_java(pattern, replacement, expected):
    assert JavaPattern.read(pattern).replace_all("ac", replacement) == expected


@pytest.mark.parametrize("replacement", ["$1", "$", "$x", "\\", "${", "${n", "${n}", "${1}", "x$2"])
def test_a_replacement_that_java_cannot_use_fails_only_where_something_matches(replacement):
    pattern = JavaPattern.read("a")

    assert pattern.replace_all("b", replacement) == "b"
    with pytest.raises(InvalidReplacement):
        pattern.replace_all("a", replacement)


# Work.


CATASTROPHES = [
    "(a+)+$x",
    "(a|a)*x",
    "(a|aa)+x",
    "(.*)*x",
    "(?:a*)*x",
    "(x+x+)+y|(a*a*)*y",
    ".*.*.*.*x",
    "(a?){50}a{50}x",
]


def steps(pattern: str, text: str) -> int:
    """How many steps it takes to know whether the text matches."""
    program = compiled(parse(pattern))
    budget = 10
    while True:
        try:
            Machine(program, Text(text), steps=budget).matches()
        except CannotTell:
            budget *= 2
        else:
            return budget


@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_no_pattern_without_references_back_takes_more_than_linear_work(pattern):
    short, long = steps(pattern, "a" * 60), steps(pattern, "a" * 480)

    assert long <= 16 * short
    assert JavaPattern.read(pattern).matches("a" * 480) is None


@pytest.mark.parametrize(
    "pattern", [r"(?:(a*)(b?))*\1\2c", r"(?:(?>(a|aa))+?)+?x", r"(?:(?:(a)|(a))+?)+?(?=(a))x"]
)
def test_a_pattern_that_winds_in_java_too_is_given_up(pattern):
    with pytest.raises(CannotTell, match="given up"):
        JavaPattern.read(pattern).matches("a" * 200)


def test_a_long_name_is_answered():
    name = "CN=" + "a" * 32_000 + ",O=b"

    assert groups("CN=(.*?),O=(.*)", name) == ["a" * 32_000, "b"]
    assert groups("(?:CN=)(.*),O=(.*)é?", name) == ["a" * 32_000, "b"]


# Python's engine where it is used, and anything at all.


def test_python_s_engine_agrees_with_the_machine_wherever_it_is_used(monkeypatch):
    monkeypatch.setattr(machine, "MOST_STEPS", 50_000)
    rng = random.Random(7)
    used = 0
    for _ in range(1_250 * SCALE):
        drawn = random_pattern(rng)
        try:
            pattern = JavaPattern.read(drawn.pattern)
        except RegexError:
            continue
        text = drawn.text.replace("\n", "").encode("ascii", "ignore").decode()
        if pattern.native.takes(text):
            used += 1
            assert pattern.native.matches(text) == Machine(pattern.program, Text(text)).matches(), drawn
            assert pattern.native.find_all(text) == Machine(pattern.program, Text(text)).find_all(), drawn

    assert used > 300, used


@round_trip
@given(
    st.one_of(st.text(max_size=40), st.text("()[]{}|*+?.^$\\ab1,-&<>:=!iQEpLkx ", max_size=30)),
    st.text("ab1 \n\r\U0001f600\ud83d", max_size=20),
    st.text("ab$1{}\\", max_size=8),
)
def test_any_pattern_on_any_text_ends_in_an_answer_or_a_sentence(pattern, text, replacement):
    before = machine.MOST_STEPS
    machine.MOST_STEPS = 5_000
    try:
        read = JavaPattern.read(pattern)
        read.matches(text)
        read.replace_all(text, replacement)
        read.replace_first(text, replacement)
    except RegexError as error:
        sentence = str(error)
    else:
        sentence = "."
    finally:
        machine.MOST_STEPS = before
    assert sentence.endswith(".")
